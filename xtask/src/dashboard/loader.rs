//! Makes wasm-bindgen's JavaScript start the dashboard by itself.
//!
//! An inline script would do it, but a strict CSP forbids one, and a file of its own would cost a request. So the start
//! goes to the end of the file that is loaded anyway.

use crate::failure::{Failure, Outcome};

/// The page holds a hidden element with this id, which says in words that the dashboard could not start.
const FAILED_ID: &str = "boot-failed";

pub fn self_starting(glue: &str, wasm_url: &str) -> Outcome<String> {
    let init = default_export(glue).ok_or_else(|| {
        Failure::new(
            "wasm-bindgen's JavaScript has no default export any more; xtask/src/dashboard/loader.rs must be updated.",
        )
    })?;
    Ok(format!(
        "{}\n{init}({{module_or_path:\"{wasm_url}\"}}).catch(e=>{{console.error(e);\
         const p=document.getElementById(\"{FAILED_ID}\");if(p)p.hidden=false}});\n",
        lean(glue)
    ))
}

/// Without doc comments, exports that nothing imports, and indentation: a sixth of the file. Real minifying would need
/// another tool. wasm-bindgen writes no text over several lines.
fn lean(glue: &str) -> String {
    let mut inside_comment = false;
    let kept = glue.lines().map(str::trim).filter(|line| {
        let starts = line.starts_with("/**");
        let exports = line.starts_with("export {") || line.starts_with("export{");
        let comment = inside_comment || starts || exports || line.starts_with("//") || is_comment(line);
        inside_comment = (inside_comment || starts) && !line.ends_with("*/");
        !comment && !line.is_empty()
    });
    kept.collect::<Vec<_>>().join("\n")
}

/// A comment on one line, and nothing beside it.
fn is_comment(line: &str) -> bool {
    line.starts_with("/*") && line.find("*/").is_some_and(|end| end + 2 == line.len())
}

/// The local name in `export { initSync, __wbg_init as default };`, minified or not.
fn default_export(glue: &str) -> Option<&str> {
    let exports = glue.rsplit_once("as default")?.0;
    let name = exports.trim_end().rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$')).next()?;
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_start_function_minified_or_not() {
        for (glue, name) in [
            ("function f(){}\nexport { initSync, __wbg_init as default };\n", Some("__wbg_init")),
            ("export{a as initSync,b$ as default}", Some("b$")),
            ("export { initSync };", None),
        ] {
            assert_eq!(default_export(glue), name, "{glue}");
        }
    }

    #[test]
    fn comments_and_indentation_go() {
        let glue = "/** one */\nf();\n    /**\n     * @returns {number}\n     */\n    get a() {\n        // why\n        return \"/** x\";\n    }\n";
        assert_eq!(lean(glue), "f();\nget a() {\nreturn \"/** x\";\n}");
    }

    #[test]
    fn the_start_is_appended_once() {
        let glue = "a();\nexport{a as initSync,b as default};";
        let text = self_starting(glue, "/app-0123_bg.wasm").expect("a loader");
        assert!(text.starts_with("a();\n"), "{text}");
        assert!(!text.contains("export"), "{text}");
        assert!(text.contains("\nb({module_or_path:\"/app-0123_bg.wasm\"}).catch("), "{text}");
    }
}
