//! The README of a crate that is published links to nothing outside its package: on a registry's page such a link is dead.

use super::Finding;
use super::source::{Source, lines};

pub const NAME: &str = "packaged-readmes-link-inside";
pub const INSTEAD: &str = "Say it in the README, put the file into the crate's folder, or name it without a link.";

/// What a link begins with that needs no file.
const ELSEWHERE: &[&str] = &["https://", "http://", "mailto:", "#"];
/// What stands before a link's address: in Markdown, in a definition of Markdown, and in HTML.
const BEFORE: &[&str] = &["](", "]: ", "href=\"", "src=\""];

/// Returns the links that leave a published crate's folder, with their files.
pub fn find(sources: &[Source]) -> Vec<(String, Finding)> {
    let manifests = sources.iter().filter(|source| source.path.ends_with("/Cargo.toml"));
    let published = manifests.filter(|source| source.text.lines().any(|line| line.trim() == "publish = true"));
    let mut found = Vec::new();
    for folder in published.filter_map(|manifest| manifest.path.strip_suffix("/Cargo.toml")) {
        let Some(readme) = sources.iter().find(|source| source.path == format!("{folder}/README.md")) else { continue };
        for (line, text) in lines(&readme.text) {
            let leaving = addresses(text).filter(|address| leaves(address));
            found.extend(leaving.map(|address| (readme.path.clone(), Finding::new(line, format!("`{address}`")))));
        }
    }
    found
}

fn addresses(line: &str) -> impl Iterator<Item = &str> {
    let starts = BEFORE.iter().flat_map(move |before| line.match_indices(before).map(|(at, found)| at + found.len()));
    starts.map(|start| line[start..].split(['"', ')', ' ', '>']).next().unwrap_or_default())
}

/// Whether a relative address leads out of its folder.
fn leaves(address: &str) -> bool {
    if ELSEWHERE.iter().any(|start| address.starts_with(start)) {
        return false;
    }
    let mut depth = 0_i32;
    address.starts_with('/')
        || address.split('/').any(|part| {
            depth += match part {
                ".." => -1,
                "." | "" => 0,
                _ => 1,
            };
            depth < 0
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_out_of_a_published_crate_are_found() {
        let manifest = |publish: &str| Source::new("a/Cargo.toml", &format!("[package]\npublish = {publish}\n"));
        let found = |publish: &str, readme: &str| {
            let sources =
                [manifest(publish), Source::new("a/README.md", readme), Source::new("README.md", "[x](../x)")];
            find(&sources).into_iter().map(|(_, finding)| finding.line).collect::<Vec<_>>()
        };
        assert_eq!(found("true", "[a](../b.md)\n![c](images/c.svg)\n[d](x/../../e) [f](https://f.org/../g)"), [1, 3]);
        assert_eq!(found("true", "<img src=\"/a.svg\">\n[b]: ../b\n[c](#d) [e](./f/../g) a[0](1)"), [1, 2]);
        assert_eq!(found("false", "[a](../b.md)"), [0; 0], "nobody publishes it");
    }
}
