//! Relative links lead to files that exist, and to headings that they have. Other hosts are not asked.

use super::markdown::{Line, anchors, lines, targets};
use super::{Fault, File};
use std::path::{Component, Path, PathBuf};

pub fn faults(pages: &[File]) -> Vec<Fault> {
    faults_among(pages, &|path| path.exists())
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
}
