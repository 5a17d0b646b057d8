//! The files that index.html names with `data-trunk`: each gets the name of its contents, and the stylesheets become one,
//! because each would be a request before the first paint. Those with `data-part` become one for each part of the program
//! that they name.
//!
//! Trunk reads the same attributes, so `trunk serve` shows the same page.

use super::page::attribute;
use super::parts::Parts;
use crate::failure::{Failure, Outcome, at};
use crate::hash;
use std::collections::BTreeMap;
use std::path::Path;

/// Copies the files from `source` into `stage`, and returns the page that names the copies. The tag of the Rust program
/// goes: `page::with_program` puts its files in. Stylesheets of parts are added to their files.
pub fn placed(page: &str, source: &Path, stage: &Path, parts: &mut Parts) -> Outcome<String> {
    let (mut out, mut rest) = (String::new(), page);
    let mut css = BTreeMap::<Option<&str>, Vec<u8>>::new();
    while let Some(start) = rest.find('<') {
        let Some(length) = rest[start..].find('>') else { break };
        let tag = &rest[start..=start + length];
        out.push_str(&rest[..start]);
        rest = &rest[start + length + 1..];
        if !tag.contains(MARK) {
            out.push_str(tag);
            continue;
        }
        match (attribute(tag, "src"), attribute(tag, "rel").unwrap_or_default()) {
            (Some(script), _) => out.push_str(&named(tag, script, &copied(source, stage, script)?)),
            (None, "css") => {
                let path = source.join(file(tag)?);
                let text = at("read", &path, std::fs::read(&path))?;
                let of_parts =
                    attribute(tag, "data-part").map_or(vec![None], |parts| parts.split(' ').map(Some).collect());
                for part in of_parts {
                    let css = css.entry(part).or_default();
                    css.extend_from_slice(&text);
                    css.push(b'\n');
                }
            }
            (None, "rust") => {}
            (None, _) => {
                let name = file(tag)?;
                out.push_str(&named(tag, name, &copied(source, stage, name)?));
            }
        }
    }
    out.push_str(rest);
    let mut tag = String::new();
    for (part, css) in css {
        let css = minified(&String::from_utf8_lossy(&css));
        let name = hashed("styles.css", css.as_bytes());
        at("write", &stage.join(&name), std::fs::write(stage.join(&name), css))?;
        match part {
            None => tag = format!("<link rel=\"stylesheet\" href=\"/{name}\">"),
            Some(part) => parts.0.entry(part.to_owned()).or_default().insert(0, name),
        }
    }
    Ok(out.replacen("</head>", &format!("{tag}</head>"), 1))
}

const MARK: &str = " data-trunk";

fn file(tag: &str) -> Outcome<&str> {
    attribute(tag, "href").ok_or_else(|| Failure::new(format!("dashboard/index.html: {tag} names no file.")))
}

fn named(tag: &str, old: &str, new: &str) -> String {
    tag.replacen(MARK, "", 1).replacen(old, &format!("/{new}"), 1).replace(" />", ">")
}

fn copied(source: &Path, stage: &Path, name: &str) -> Outcome<String> {
    let path = source.join(name);
    let mut bytes = at("read", &path, std::fs::read(&path))?;
    if name.ends_with(".js") {
        bytes = without_comments(&String::from_utf8_lossy(&bytes)).into_bytes();
    }
    let name = hashed(name, &bytes);
    at("write", &stage.join(&name), std::fs::write(stage.join(&name), bytes))?;
    Ok(name)
}

fn hashed(name: &str, bytes: &[u8]) -> String {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    format!("{stem}-{}.{extension}", hash::hex(bytes))
}

/// JavaScript without the lines that are comments, and without indentation. A text over several lines would lose its own: there
/// is none, and the file is this repository's.
fn without_comments(js: &str) -> String {
    let lines = js.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// CSS without comments and with the least white space. Strings stay as they are.
fn minified(css: &str) -> String {
    let mut out = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(next) = rest.chars().next() {
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, after)| after);
        } else if next == '"' || next == '\'' {
            let end = rest[1..].find(next).map_or(rest.len(), |at| at + 2);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        } else if next.is_whitespace() {
            rest = rest.trim_start();
            let tight = |c: char| matches!(c, '{' | '}' | ';' | ',');
            let next_is_tight = rest.starts_with(tight) || rest.is_empty() || rest.starts_with("/*");
            if !(next_is_tight || out.is_empty() || out.ends_with(tight)) {
                out.push(' ');
            }
        } else {
            if next == '}' && out.ends_with(';') {
                out.pop();
            }
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_get_the_names_of_their_contents() {
        let root = std::env::temp_dir().join(format!("xtask-assets-{}", std::process::id()));
        let stage = root.join("stage");
        std::fs::create_dir_all(root.join("css")).expect("folders");
        std::fs::create_dir_all(&stage).expect("folders");
        for (name, text) in [
            ("boot.js", "// why\nif (a) {\n  // b\n  x()\n}\n"),
            ("i.svg", "<svg/>"),
            ("css/a.css", "a { b: c; }"),
            ("css/b.css", "d {}"),
            ("css/w.css", "e {}"),
            ("css/f.css", "f {}"),
        ] {
            std::fs::write(root.join(name), text).expect("written");
        }
        let page = "<head><title>t</title><script data-trunk src=\"boot.js\"></script>\
            <link data-trunk rel=\"icon\" href=\"i.svg\" type=\"image/svg+xml\" />\
            <link data-trunk rel=\"css\" href=\"css/a.css\" /><link data-trunk rel=\"css\" href=\"css/b.css\" />\
            <link data-trunk rel=\"css\" href=\"css/f.css\" data-part=\"policy work\" />\
            <link data-trunk rel=\"css\" href=\"css/w.css\" data-part=\"work\" />\
            <link data-trunk rel=\"rust\" href=\"Cargo.toml\" /></head><p>a</p>";
        let mut parts = Parts::default();
        let edited = placed(page, &root, &stage, &mut parts).expect("placed");
        let (js, svg) = (hashed("boot.js", b"if (a) {\nx()\n}"), hashed("i.svg", b"<svg/>"));
        let [css, policy, work] = ["a{b: c}d{}", "f{}", "f{}e{}"].map(|text| hashed("styles.css", text.as_bytes()));
        let expected = format!(
            "<head><title>t</title><script src=\"/{js}\"></script><link rel=\"icon\" href=\"/{svg}\" type=\"image/svg+xml\">\
             <link rel=\"stylesheet\" href=\"/{css}\"></head><p>a</p>"
        );
        assert_eq!(edited, expected);
        let of_parts = [("policy", &policy), ("work", &work)].map(|(part, css)| (part.to_owned(), vec![css.clone()]));
        assert_eq!(parts.0, BTreeMap::from(of_parts));
        for name in [&js, &svg, &css, &policy, &work] {
            assert!(stage.join(name).is_file(), "{name}");
        }
        std::fs::remove_dir_all(&root).expect("removed");
    }

    #[test]
    fn css_keeps_what_means_something() {
        for (css, short) in [
            ("a , b {\n  c: d  e;\n}\n", "a,b{c: d e}"),
            ("a::after { content: \" ; } \"; }", "a::after{content: \" ; } \"}"),
            ("/* one */ a { } /* two { */\nb { }", "a{}b{}"),
            ("a :hover { width: calc(1px + 2px) }", "a :hover{width: calc(1px + 2px)}"),
        ] {
            assert_eq!(minified(css), short, "{css}");
        }
    }
}
