//! Rules for the dashboard: what a strict CSP blocks, what would render a letter unescaped, where colours live, where
//! tests are.

use super::source::{Source, lines};
use super::{Finding, Rule};

/// The one file that may name a colour.
const TOKENS: &str = "tokens.css";

pub const RULES: &[Rule] = &[
    Rule {
        name: "inline-style",
        instead: "The CSP blocks style attributes: use a class, or `style:width=…` for a width that data decides.",
        find: inline_style,
    },
    Rule { name: "raw-html", instead: "Text from a letter must be escaped: use text nodes.", find: raw_html },
    Rule {
        name: "idle-test",
        instead: "The library is not compiled for tests (`test = false`), so this would never run: move it to dashboard/tests.",
        find: idle_test,
    },
    Rule { name: "colour", instead: "Name the colour in tokens.css and use the token.", find: colour },
];

fn inline_style(source: &Source) -> Vec<Finding> {
    if !(source.under("dashboard") && (source.is_rust() || source.path.ends_with(".html"))) {
        return Vec::new();
    }
    matching(source, |line| {
        line.match_indices("style=").any(|(at, _)| line[..at].chars().next_back().is_none_or(char::is_whitespace))
    })
}

fn raw_html(source: &Source) -> Vec<Finding> {
    if !source.under("dashboard/src") {
        return Vec::new();
    }
    let names = ["inner_html", "set_inner_html", "insert_adjacent_html", "set_outer_html"];
    matching(source, |line| names.iter().any(|name| line.contains(name)))
}

fn idle_test(source: &Source) -> Vec<Finding> {
    if !source.under("dashboard/src") {
        return Vec::new();
    }
    let marks = ["#[test]", "cfg(test)", "wasm_bindgen_test"];
    matching(source, |line| marks.iter().any(|mark| line.contains(mark)))
}

fn colour(source: &Source) -> Vec<Finding> {
    let css = source.path.ends_with(".css") && !source.path.ends_with(TOKENS);
    if !source.under("dashboard") || !(css || source.is_rust()) {
        return Vec::new();
    }
    // In CSS a colour follows a colon; in Rust it would be a whole string.
    matching(source, |line| {
        line.match_indices('#').any(|(at, _)| {
            let digits = line[at + 1..].chars().take_while(char::is_ascii_hexdigit).count();
            let after = line[at + 1 + digits..].chars().next();
            let before = &line[..at];
            let place = if css { before.contains(':') } else { before.ends_with('"') && after == Some('"') };
            let whole = !after.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
            matches!(digits, 3 | 4 | 6 | 8) && place && whole
        })
    })
}

fn matching(source: &Source, broken: impl Fn(&str) -> bool) -> Vec<Finding> {
    let found = lines(&source.text).filter(|(_, line)| broken(line));
    found.map(|(line, text)| Finding::new(line, text.trim())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::rows;
    use super::*;

    #[test]
    fn styles_are_classes() {
        rows(
            RULES,
            "inline-style",
            &[
                ("dashboard/src/a.rs", "view! {\n <p style=\"width:1px\">\n}", &[2]),
                ("dashboard/src/a.rs", "<p class=\"a\" style=move || w()>", &[1]),
                ("dashboard/index.html", "<p style=\"a\">", &[1]),
                ("dashboard/src/a.rs", "<p style:width=move || w()>\nlet style = 1;", &[]),
                ("lambda/src/a.rs", "<p style=\"a\">", &[]),
            ],
        );
    }

    #[test]
    fn letters_are_never_html() {
        rows(
            RULES,
            "raw-html",
            &[
                ("dashboard/src/a.rs", "<p inner_html=text>", &[1]),
                ("dashboard/src/a.rs", "element.set_inner_html(text);", &[1]),
                ("dashboard/src/a.rs", "<p>{text}</p>", &[]),
                ("dashboard/tests/a.rs", "panic!(\"{}\", root.inner_html())", &[]),
            ],
        );
    }

    #[test]
    fn tests_are_where_they_run() {
        rows(
            RULES,
            "idle-test",
            &[
                ("dashboard/src/a.rs", "#[cfg(test)]\nmod tests {\n    #[wasm_bindgen_test]", &[1, 3]),
                ("dashboard/src/a.rs", "#[test]", &[1]),
                ("dashboard/tests/a.rs", "#[wasm_bindgen_test]", &[]),
                ("dashboard/model/src/a.rs", "#[cfg(test)]", &[]),
            ],
        );
    }

    #[test]
    fn colours_are_tokens() {
        rows(
            RULES,
            "colour",
            &[
                ("dashboard/css/parts.css", "a {\n color: #1a56c4;\n}", &[2]),
                ("dashboard/css/parts.css", "a { border: 1px solid #fff }", &[1]),
                ("dashboard/src/a.rs", "let c = \"#fff\";", &[1]),
                ("dashboard/css/tokens.css", ":root { --accent: #1a56c4 }", &[]),
                ("dashboard/css/parts.css", "#add { color: var(--accent) }", &[]),
                ("dashboard/src/a.rs", "href=\"#main\" and \"replay #123 of\"", &[]),
            ],
        );
    }
}
