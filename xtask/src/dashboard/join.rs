//! Joins the two files of JavaScript that wasm-bindgen and wasm-split write into one.
//!
//! Each imports the other, so neither could have the name of its contents; and two files would be one request more.

use crate::failure::{Failure, Outcome};

/// How wasm-bindgen's file imports the other one, once for each function.
const IMPORT: &str = "import * as ";
const SPLIT: &str = "./__wasm_split.js";
/// How wasm-split's file reaches the program that wasm-bindgen's file has started.
const PROGRAM: &str = "initSync(undefined, undefined)";

/// Returns one file that needs no other. The paths of the parts in it are those that `place` returns for their names.
pub fn joined(glue: &str, split: &str, place: impl Fn(&str) -> Option<String>) -> Outcome<String> {
    let functions = loaders(split);
    if functions.is_empty() || !split.contains(PROGRAM) {
        return Err(unknown_form("wasm-split"));
    }
    let mut lines: Vec<String> = Vec::new();
    let mut is_named = false;
    for line in without_exports(glue) {
        if line.starts_with(IMPORT) && line.contains(SPLIT) {
            continue;
        }
        if line.trim_start().starts_with(&format!("\"{SPLIT}\":")) {
            if !is_named {
                lines.push(format!("\"{SPLIT}\": {{{}}},", functions.join(",")));
            }
            is_named = true;
            continue;
        }
        lines.push(line.to_owned());
    }
    if !is_named {
        return Err(unknown_form("wasm-bindgen"));
    }
    for line in split.lines().filter(|line| !line.starts_with("import ")) {
        let line = line.strip_prefix("export ").unwrap_or(line).replace(PROGRAM, "wasm");
        lines.push(placed(&line, &place)?);
    }
    Ok(lines.join("\n"))
}

/// The functions that load parts: `export const __wasm_split_load_work = …`.
fn loaders(split: &str) -> Vec<&str> {
    let named = split.lines().filter_map(|line| line.strip_prefix("export const "));
    named.filter_map(|rest| rest.split_once(" =").map(|(name, _)| name)).collect()
}

/// Exported classes, and the function that starts a program that is in memory already, are for code that imports the
/// file, and nothing does.
fn without_exports(glue: &str) -> impl Iterator<Item = &str> {
    // The line that ends what is left out.
    let mut end: Option<&str> = None;
    glue.lines().filter(move |line| {
        if let Some(last) = end {
            if line.ends_with(last) && (last != "}" || *line == "}") {
                end = None;
            }
            return false;
        }
        if line.starts_with("export class ") || line.starts_with("function initSync(") {
            end = Some("}");
        } else if line.starts_with("const ") && line.contains("Finalization = ") && !line.ends_with(';') {
            end = Some(";");
        } else {
            return !line.starts_with("if (Symbol.dispose) ");
        }
        false
    })
}

/// `new URL("./part.wasm", import.meta.url)` becomes the path of the file.
fn placed(line: &str, place: &impl Fn(&str) -> Option<String>) -> Outcome<String> {
    let Some((before, rest)) = line.split_once("new URL(\"./") else { return Ok(line.to_owned()) };
    let Some((name, after)) = rest.split_once("\", import.meta.url)") else { return Err(unknown_form("wasm-split")) };
    let path = place(name).ok_or_else(|| Failure::new(format!("wasm-split names {name}, and wrote no such file.")))?;
    Ok(format!("{before}\"{path}\"{after}"))
}

fn unknown_form(tool: &str) -> Failure {
    Failure::new(format!("{tool}'s JavaScript has another form now; xtask/src/dashboard/join.rs must learn it."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLUE: &str = "import * as import1 from \"./__wasm_split.js\"\nimport * as import2 from \"./__wasm_split.js\"\n\
        export class A {\n    free() {\n    }\n}\nif (Symbol.dispose) A.prototype[Symbol.dispose] = A.prototype.free;\n\
        const AFinalization = (typeof FinalizationRegistry === 'undefined')\n    ? {}\n    : new FinalizationRegistry(f);\n\
        let wasm;\nfunction initSync(module) {\n    if (a) {\n    }\n    return wasm;\n}\n    return {\n        \"./app_bg.js\": import0,\n        \"./__wasm_split.js\": import1,\n        \
        \"./__wasm_split.js\": import2,\n    };\nexport { initSync, __wbg_init as default };";
    const PARTS: &str = "import { initSync } from \"./app.js\";\nconst { memory } = initSync(undefined, undefined);\n\
        export const __wasm_split_load_work = f(() => fetch(new URL(\"./split_work.wasm\", import.meta.url)));\n\
        export const __wasm_split_load_sign_in = f();";

    fn place(name: &str) -> Option<String> {
        (name == "split_work.wasm").then(|| "/work-0123.wasm".to_owned())
    }

    #[test]
    fn one_file_is_left_and_names_the_parts() {
        let text = joined(GLUE, PARTS, place).expect("joined");
        assert_eq!(
            text,
            "let wasm;\n    return {\n        \"./app_bg.js\": import0,\n\
             \"./__wasm_split.js\": {__wasm_split_load_work,__wasm_split_load_sign_in},\n    };\n\
             export { initSync, __wbg_init as default };\nconst { memory } = wasm;\n\
             const __wasm_split_load_work = f(() => fetch(\"/work-0123.wasm\"));\nconst __wasm_split_load_sign_in = f();"
        );
    }

    #[test]
    fn an_unknown_form_is_refused() {
        assert!(joined(GLUE, "", place).is_err(), "no loaders");
        assert!(joined("let wasm;", PARTS, place).is_err(), "no imports");
        assert!(joined(GLUE, PARTS, |_| None).is_err(), "no file");
    }
}
