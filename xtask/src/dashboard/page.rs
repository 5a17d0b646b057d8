//! Edits index.html: names the program's files, and refuses everything inline that the CSP would block.

use crate::failure::{Failure, Outcome};

/// Adds the program's files to the head: the browser fetches both at once, before it has read either. The files of the
/// parts that are loaded later are named before all scripts, for `boot.js`.
pub fn with_program(page: &str, glue: &str, wasm: &str, parts: &str) -> Outcome<String> {
    let (start, rest) =
        page.split_once("<head>").ok_or_else(|| Failure::new("dashboard/index.html has no `<head>`."))?;
    let (head, body) =
        rest.split_once("</head>").ok_or_else(|| Failure::new("dashboard/index.html has no `</head>`."))?;
    Ok(format!(
        "{start}<head>{parts}{head}<link rel=\"modulepreload\" href=\"/{glue}\" crossorigin=\"anonymous\">\
         <link rel=\"preload\" href=\"/{wasm}\" crossorigin=\"anonymous\" as=\"fetch\" type=\"application/wasm\">\
         <script type=\"module\" src=\"/{glue}\"></script></head>{body}"
    ))
}

/// Removes the white space between tags at line ends.
pub fn minified(page: &str) -> String {
    page.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n").replace(">\n<", "><")
}

/// Fails if the page needs something that `default-src 'none'; script-src 'self'; style-src 'self'` forbids.
pub fn refuse_inline(page: &str) -> Outcome<()> {
    let inline_script = has_inline_script(page).then_some("an inline script");
    let inline_style = page.contains("<style").then_some("a <style> element");
    let attribute = tags(page).find_map(forbidden_attribute);
    match inline_script.or(inline_style).or(attribute) {
        None => Ok(()),
        Some(what) => Err(Failure::new(format!("dashboard/index.html contains {what}, which the CSP blocks."))
            .remedy("Move it into a file of its own.")),
    }
}

fn has_inline_script(page: &str) -> bool {
    tags(page).any(|tag| tag.starts_with("script") && !tag.contains(" src="))
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

    #[test]
    fn the_program_goes_into_the_head() {
        let parts = "<meta name=\"part:work\" content=\"/w-1.wasm\">";
        let page = "<head>\n  <title>t</title>\n</head>\n<p>\na</p>\n";
        let page = with_program(page, "a-1.js", "a-1_bg.wasm", parts).expect("edited");
        assert!(page.contains("<script type=\"module\" src=\"/a-1.js\"></script></head>"), "{page}");
        assert!(page.contains("href=\"/a-1_bg.wasm\""), "{page}");
        assert!(refuse_inline(&page).is_ok());
        assert!(minified(&page).starts_with(&format!("<head>{parts}<title>t</title><link ")), "{}", minified(&page));
        assert!(minified(&page).ends_with("</head><p>\na</p>"), "{}", minified(&page));
        assert!(with_program("<main></main>", "a", "b", "").is_err());
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
            ("<script type=module>import i from '/app-1.js'</script>", false),
            ("<style>p{}</style>", false),
            ("<p style=\"color:red\">", false),
            ("<body onload=\"go()\">", false),
        ] {
            assert_eq!(refuse_inline(page).is_ok(), fine, "{page}");
        }
    }
}
