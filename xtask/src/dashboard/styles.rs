//! One stylesheet instead of several: each would be a request before the first paint.

use super::page::attribute;
use crate::failure::{Outcome, at};
use crate::hash;
use std::path::Path;

/// Joins the page's stylesheets in their order, and returns the page that names the joined one.
pub fn joined(page: &str, stage: &Path) -> Outcome<String> {
    let links: Vec<&str> = links(page).collect();
    let Some(first) = links.first() else { return Ok(page.to_owned()) };
    let mut css = Vec::new();
    for href in links.iter().filter_map(|link| attribute(link, "href")) {
        let path = stage.join(href.trim_start_matches('/'));
        css.extend(at("read", &path, std::fs::read(&path))?);
        css.push(b'\n');
        at("remove", &path, std::fs::remove_file(&path))?;
    }
    let name = format!("styles-{}.css", hash::hex(&css));
    let path = stage.join(&name);
    at("write", &path, std::fs::write(&path, css))?;
    let page = page.replacen(first, &format!("<link rel=\"stylesheet\" href=\"/{name}\">"), 1);
    Ok(links[1..].iter().fold(page, |page, link| page.replacen(link, "", 1)))
}

/// The page's own stylesheets, whole tags.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.match_indices("<link").filter_map(|(start, _)| {
        let tag = &page[start..start + page[start..].find('>')? + 1];
        let own = attribute(tag, "href")?.starts_with('/');
        (own && attribute(tag, "rel")? == "stylesheet").then_some(tag)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stylesheets_become_one_in_their_order() {
        let stage = std::env::temp_dir().join(format!("xtask-styles-{}", std::process::id()));
        std::fs::create_dir_all(&stage).expect("a folder");
        std::fs::write(stage.join("a-1.css"), "a{}").expect("written");
        std::fs::write(stage.join("b-2.css"), "b{}").expect("written");
        let page = "<head><link href=/b-2.css rel=stylesheet><link rel=icon href=/i.svg>\
            <link rel=\"stylesheet\" href=\"/a-1.css\"></head>";
        let edited = joined(page, &stage).expect("joined");
        let name = format!("styles-{}.css", hash::hex(b"b{}\na{}\n"));
        let expected = format!("<head><link rel=\"stylesheet\" href=\"/{name}\"><link rel=icon href=/i.svg></head>");
        assert_eq!(edited, expected);
        assert_eq!(std::fs::read_to_string(stage.join(name)).expect("written"), "b{}\na{}\n");
        assert!(!stage.join("a-1.css").exists() && !stage.join("b-2.css").exists());
        std::fs::remove_dir_all(&stage).expect("removed");
    }

    #[test]
    fn a_page_without_styles_stays() {
        assert_eq!(joined("<main></main>", Path::new(".")).expect("nothing to do"), "<main></main>");
    }
}
