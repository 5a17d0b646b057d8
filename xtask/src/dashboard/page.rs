//! Edits index.html: the inline loader becomes a reference, and nothing inline is left that the CSP would block.

use crate::failure::{Failure, Outcome};

/// Replaces the one inline script that loads `stem` by a reference to `script_url`.
pub fn external_loader(page: &str, stem: &str, script_url: &str) -> Outcome<String> {
    let missing = || {
        Failure::new(
            "Trunk's index.html has no inline loader any more; xtask/src/dashboard/page.rs must learn its new form.",
        )
    };
    let inline = scripts(page).find(|script| !script.external && script.text.contains(stem)).ok_or_else(missing)?;
    let reference = format!("<script type=\"module\" src=\"{script_url}\"></script>");
    Ok(page.replacen(inline.text, &reference, 1))
}

/// The page must not need what `default-src 'none'; script-src 'self'; style-src 'self'` forbids.
pub fn refuse_inline(page: &str) -> Outcome<()> {
    let inline_script = scripts(page).find(|script| !script.external).map(|_| "an inline script");
    let inline_style = page.contains("<style").then_some("a <style> element");
    let attribute = tags(page).find_map(forbidden_attribute);
    match inline_script.or(inline_style).or(attribute) {
        None => Ok(()),
        Some(what) => Err(Failure::new(format!("dashboard/index.html contains {what}, which the CSP blocks."))
            .remedy("Move it into a file of its own.")),
    }
}

struct Script<'a> {
    /// From `<script` to `</script>`.
    text: &'a str,
    external: bool,
}

fn scripts(page: &str) -> impl Iterator<Item = Script<'_>> {
    const END: &str = "</script>";
    page.match_indices("<script").filter_map(move |(start, _)| {
        let text = &page[start..start + page[start..].find(END)? + END.len()];
        let opening = &text[..text.find('>')?];
        Some(Script { text, external: opening.contains(" src=") })
    })
}

/// The value of an attribute in an opening tag, quoted or not.
pub fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let start = tag.find(&format!(" {name}="))? + name.len() + 2;
    let value = &tag[start..];
    match value.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(['"', '\'']).next(),
        None => value.split(|c: char| c.is_whitespace() || c == '>').next(),
    }
}

/// The insides of all opening tags.
fn tags(page: &str) -> impl Iterator<Item = &str> {
    page.split('<').skip(1).filter_map(|piece| piece.split('>').next())
}

fn forbidden_attribute(tag: &str) -> Option<&'static str> {
    let mut words = tag.split_whitespace().skip(1);
    words.find_map(|word| match word {
        _ if word.starts_with("style=") => Some("a style attribute"),
        _ if word.starts_with("on") && word.contains('=') => Some("an event handler attribute"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOADER: &str = "<script type=module>import i from '/app-1.js';await i('/app-1_bg.wasm')</script>";

    #[test]
    fn the_inline_loader_becomes_a_reference() {
        let page = format!("<script src=\"/theme-1.js\"></script>{LOADER}<main></main>");
        let edited = external_loader(&page, "app-1", "/app-2.js").expect("edited");
        assert_eq!(
            edited,
            "<script src=\"/theme-1.js\"></script><script type=\"module\" src=\"/app-2.js\"></script><main></main>"
        );
        assert!(refuse_inline(&edited).is_ok());
        assert!(external_loader("<main></main>", "app-1", "/app-2.js").is_err());
    }

    #[test]
    fn attributes_are_read_quoted_or_not() {
        for (tag, href) in [
            ("<link rel=icon href=/a.svg>", Some("/a.svg")),
            ("<link href=\"/a b.css\" rel=\"stylesheet\">", Some("/a b.css")),
            ("<link href='/a.css'>", Some("/a.css")),
            ("<link data-href=/a.css>", None),
        ] {
            assert_eq!(attribute(tag, "href"), href, "{tag}");
        }
    }

    #[test]
    fn what_the_csp_blocks_is_refused() {
        for (page, fine) in [
            ("<p class=\"a\" hidden>on = style</p>", true),
            (LOADER, false),
            ("<style>p{}</style>", false),
            ("<p style=\"color:red\">", false),
            ("<body onload=\"go()\">", false),
        ] {
            assert_eq!(refuse_inline(page).is_ok(), fine, "{page}");
        }
    }
}
