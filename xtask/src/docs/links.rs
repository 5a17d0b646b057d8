//! Relative links lead to files that exist, and to headings that they have. Other hosts are not asked.

use super::markdown::{Line, anchors, lines, targets};
use super::{Fault, File};
use std::path::{Component, Path, PathBuf};

/// What the book's pages are listed in. A page that it does not list is not in the book, and links to it break there.
const SUMMARY: &str = "docs/SUMMARY.md";

pub fn faults(pages: &[File]) -> Vec<Fault> {
    let mut found = faults_among(pages, &|path| path.exists());
    found.extend(unlisted(pages));
    found
}

/// Pages of the book that its summary does not list.
fn unlisted(pages: &[File]) -> Vec<Fault> {
    let Some(summary) = pages.iter().find(|page| page.path == Path::new(SUMMARY)) else { return Vec::new() };
    let folder = summary.path.parent().unwrap_or(Path::new(""));
    let listed: Vec<PathBuf> = summary.text.lines().flat_map(targets).map(|target| joined(folder, target)).collect();
    let in_book = pages.iter().filter(|page| page.path.starts_with(folder) && page.path != summary.path);
    let missing = in_book.filter(|page| !listed.contains(&page.path));
    missing.map(|page| format!("{}: {SUMMARY} does not list it", page.path.display())).collect()
}

fn faults_among(pages: &[File], exists: &dyn Fn(&Path) -> bool) -> Vec<Fault> {
    let mut found = Vec::new();
    for page in pages {
        for (line, text) in lines(&page.text) {
            let Line::Prose(text) = text else { continue };
            let wrong = targets(text).into_iter().filter_map(|target| fault(pages, page, target, exists));
            found.extend(wrong.map(|what| format!("{}:{line}: {what}", page.path.display())));
        }
    }
    found
}

fn fault(pages: &[File], page: &File, target: &str, exists: &dyn Fn(&Path) -> bool) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { page.path.clone() } else { joined(page.path.parent()?, file) };
    let linked = pages.iter().find(|other| other.path == path);
    if linked.is_none() && !exists(&path) {
        return Some(format!("the link `{target}` leads to no file"));
    }
    let missing =
        anchor.is_some_and(|anchor| linked.is_some_and(|page| !anchors(&page.text).iter().any(|a| a == anchor)));
    missing.then(|| format!("the link `{target}` leads to no heading"))
}

fn joined(folder: &Path, file: &str) -> PathBuf {
    let mut path = folder.to_path_buf();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let page = |path: &str, text: &str| File { path: path.into(), text: text.to_owned() };
        let pages = [
            page("README.md", "[a](docs/a.md#one) [b](docs/b.md) [c](docs/a.md#two)\n[d](https://x.y/#z) [e](LICENSE)"),
            page("docs/a.md", "# One\n[up](../README.md) [here](#one) [gone](../docs)"),
        ];
        let exists = |path: &Path| path == Path::new("LICENSE");
        assert_eq!(
            faults_among(&pages, &exists),
            [
                "README.md:1: the link `docs/b.md` leads to no file",
                "README.md:1: the link `docs/a.md#two` leads to no heading",
                "docs/a.md:2: the link `../docs` leads to no file",
            ]
        );
    }

    #[test]
    fn every_page_is_in_the_book() {
        let page = |path: &str, text: &str| File { path: path.into(), text: text.to_owned() };
        let summary = page("docs/SUMMARY.md", "[Start](README.md)\n- [a](design/a.md)");
        let pages = ["README.md", "docs/README.md", "docs/design/a.md", "docs/design/b.md"].map(|path| page(path, ""));
        let pages: Vec<File> = pages.into_iter().chain([summary]).collect();
        assert_eq!(unlisted(&pages), ["docs/design/b.md: docs/SUMMARY.md does not list it"]);
        assert!(unlisted(&pages[..4]).is_empty(), "without a summary there is no book");
    }
}
