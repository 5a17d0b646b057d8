//! The parts of the program that are loaded later, and the files that each of them needs.

use super::page::attribute;
use crate::failure::{Failure, Outcome, at};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the bundler writes: a line for each part, its name and its files.
const WRITTEN: &str = "parts.txt";
/// `<meta name="part:work" content="/a.wasm /b.wasm">`; `dashboard/boot.js` reads it.
const META: &str = "meta name=\"part:";

/// The files of each part, by its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub BTreeMap<String, Vec<String>>);

impl Parts {
    /// Reads and removes the bundler's list.
    pub fn written(stage: &Path) -> Outcome<Parts> {
        let path = stage.join(WRITTEN);
        let text = at("read", &path, std::fs::read_to_string(&path))?;
        at("remove", &path, std::fs::remove_file(&path))?;
        let lines = text.lines().map(|line| {
            let mut words = line.split_whitespace().map(str::to_owned);
            (words.next().unwrap_or_default(), words.collect())
        });
        Ok(Parts(lines.collect()))
    }

    /// Reads the list from a finished page.
    pub fn of_page(page: &str) -> Outcome<Parts> {
        let mut parts = BTreeMap::new();
        for tag in page.split('<').filter(|tag| tag.starts_with(META)) {
            let name = attribute(tag, "name").and_then(|name| name.strip_prefix("part:"));
            let (Some(name), Some(content)) = (name, attribute(tag, "content")) else {
                return Err(Failure::new(format!("index.html: <{tag} names no part.")));
            };
            let files = content.split_whitespace().map(|path| path.trim_start_matches('/').to_owned());
            parts.insert(name.to_owned(), files.collect());
        }
        Ok(Parts(parts))
    }

    /// All files, each once.
    pub fn files(&self) -> BTreeSet<String> {
        self.0.values().flatten().cloned().collect()
    }

    pub fn rename(&mut self, names: &BTreeMap<String, String>) {
        for file in self.0.values_mut().flatten() {
            if let Some(name) = names.get(file) {
                file.clone_from(name);
            }
        }
    }

    /// The tags that name the files for the browser.
    pub fn tags(&self) -> String {
        let tag = |(name, files): (&String, &Vec<String>)| {
            let paths: Vec<String> = files.iter().map(|file| format!("/{file}")).collect();
            format!("<{META}{name}\" content=\"{}\">", paths.join(" "))
        };
        self.0.iter().map(tag).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_the_files_of_each_part() {
        let root = std::env::temp_dir().join(format!("xtask-parts-{}", std::process::id()));
        std::fs::create_dir_all(&root).expect("a folder");
        std::fs::write(root.join(WRITTEN), "sign_in chunk_3.wasm split_sign_in.wasm\nwork chunk_3.wasm\n")
            .expect("written");
        let mut parts = Parts::written(&root).expect("parts");
        assert!(!root.join(WRITTEN).exists(), "the browser does not need it");
        let all = ["chunk_3.wasm", "split_sign_in.wasm"].map(str::to_owned);
        assert_eq!(parts.files(), BTreeSet::from(all));
        parts.rename(&BTreeMap::from([("chunk_3.wasm".to_owned(), "chunk_3-0.wasm".to_owned())]));
        let tags = parts.tags();
        assert_eq!(
            tags,
            "<meta name=\"part:sign_in\" content=\"/chunk_3-0.wasm /split_sign_in.wasm\">\
             <meta name=\"part:work\" content=\"/chunk_3-0.wasm\">"
        );
        assert_eq!(Parts::of_page(&format!("<head>{tags}<title>t</title>")).expect("parts"), parts);
        std::fs::remove_dir_all(&root).expect("removed");
    }
}
