//! The rule about circles: of two modules that stand beside each other, at most one knows the other, directly or by a
//! third. So every crate can be read from the bottom up.
//!
//! A module knows another if a path in it (`crate::…`, `super::…`) leads there, also through a name that their parent
//! exports (`pub use group::Row`). Test code does not count.

use super::Finding;
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

pub const NAME: &str = "circle";
pub const INSTEAD: &str = "Move what both need into one of them, or into a third module below.";

/// A module's path inside its crate.
type Module = Vec<String>;
/// From one module to a module beside it: the file and the line that lead there.
type Edges = BTreeMap<String, BTreeMap<String, (String, usize)>>;

/// Finds circles in every crate of the repository. Returns each with the file that closes it.
pub fn find(sources: &[Source]) -> Vec<(String, Finding)> {
    let mut found = Vec::new();
    for root in crates(sources) {
        let files: Vec<(&Source, Module)> =
            sources.iter().filter_map(|source| Some((source, module_of(&root, &source.path)?))).collect();
        let modules: BTreeSet<Module> = files.iter().map(|(_, module)| module.clone()).collect();
        for (parent, edges) in edges(&files, &modules) {
            for circle in circles(&edges) {
                let place: Vec<&str> = parent.iter().map(String::as_str).collect();
                let inside = [&[root.trim_end_matches("/src")], place.as_slice()].concat().join("::");
                let what = format!("{inside}: {}", circle.join(" -> "));
                let (file, line) = edges[&circle[circle.len() - 2]][&circle[circle.len() - 1]].clone();
                found.push((file, Finding::new(line, what)));
            }
        }
    }
    found
}

/// The source folders of all crates.
fn crates(sources: &[Source]) -> BTreeSet<String> {
    let roots = sources.iter().filter_map(|source| {
        let folder = ["/lib.rs", "/main.rs"].iter().find_map(|end| source.path.strip_suffix(end))?;
        folder.ends_with("src").then(|| folder.to_owned())
    });
    roots.collect()
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`; `src/lib.rs` is the crate.
fn module_of(root: &str, path: &str) -> Option<Module> {
    let inside = path.strip_prefix(root)?.strip_prefix('/')?.strip_suffix(".rs")?;
    let mut parts: Module = inside.split('/').map(str::to_owned).collect();
    // Programs beside the library are crates of their own.
    if parts.first().is_some_and(|first| first == "bin") {
        return None;
    }
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    Some(parts)
}

/// For every module with children: which child knows which.
fn edges(files: &[(&Source, Module)], modules: &BTreeSet<Module>) -> BTreeMap<Module, Edges> {
    let mut all: BTreeMap<Module, Edges> = BTreeMap::new();
    let exported = exported(files, modules);
    for (source, module) in files {
        for (line, path) in paths(source, module) {
            let known = (0..=path.len()).rev().map(|end| &path[..end]).find(|start| modules.contains(*start));
            let Some(known) = known else { continue };
            let through = path.get(known.len()).and_then(|name| exported.get(&(known.to_vec(), name.clone())));
            let known = through.map_or(known, Vec::as_slice);
            let shared = module.iter().zip(known).take_while(|(one, other)| one == other).count();
            // A parent and its child are no siblings.
            let (Some(from), Some(to)) = (module.get(shared), known.get(shared)) else { continue };
            let edges = all.entry(module[..shared].to_vec()).or_default();
            let targets = edges.entry(from.clone()).or_default();
            targets.entry(to.clone()).or_insert_with(|| (source.path.clone(), line));
        }
    }
    all
}

/// The names that modules export from their children, with the child that has each.
fn exported(files: &[(&Source, Module)], modules: &BTreeSet<Module>) -> BTreeMap<(Module, String), Module> {
    let mut all = BTreeMap::new();
    for (source, module) in files {
        for line in ["pub use ", "pub(crate) use ", "pub(super) use "] {
            for (start, words) in source.product.match_indices(line) {
                tree(&source.product[start + words.len()..], module, &mut |path: Module| {
                    let Some((name, child)) = path.split_last() else { return };
                    if child.len() > module.len() && modules.contains(child) {
                        all.insert((module.clone(), name.clone()), child.to_vec());
                    }
                });
            }
        }
    }
    all
}

/// Every path in the code that starts at the crate or at the parent, from the root.
fn paths(source: &Source, module: &[String]) -> Vec<(usize, Module)> {
    let mut found = Vec::new();
    let code = source.product.as_str();
    for (start, word) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        let before = &code[..start];
        let joined = before.chars().next_back().is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c));
        if joined {
            continue;
        }
        let mut base: Module = if word == "crate::" { Vec::new() } else { module.to_vec() };
        let mut rest = &code[start..];
        while let Some(after) = rest.strip_prefix("super::") {
            base.pop();
            rest = after;
        }
        let rest = rest.strip_prefix("crate::").unwrap_or(rest);
        let line = before.matches('\n').count() + 1;
        tree(rest, &base, &mut |path| found.push((line, path)));
    }
    found
}

/// Reads `a::b`, `{a::b, c}` and their like; returns what follows.
fn tree<'a>(text: &'a str, base: &[String], found: &mut impl FnMut(Module)) -> &'a str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = tree(rest, base, found).trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    let mut path = base.to_vec();
    if end > 0 && &text[..end] != "self" {
        path.push(text[..end].to_owned());
    }
    let rest = &text[end..];
    match rest.strip_prefix("::") {
        Some(after) if end > 0 => tree(after, &path, found),
        _ => {
            found(path);
            // `* `and ` as name`: whatever stands before the next comma or brace.
            &rest[rest.find([',', '}', ';', '\n', '(', ')']).unwrap_or(rest.len())..]
        }
    }
}

/// The shortest circle through each group of modules that reach each other, with its first module again at the end.
fn circles(edges: &Edges) -> Vec<Vec<String>> {
    let mut done: BTreeSet<&String> = BTreeSet::new();
    let mut found = Vec::new();
    for start in edges.keys() {
        if done.contains(start) {
            continue;
        }
        if let Some(circle) = shortest(edges, start) {
            let forth = reach(edges, start);
            done.extend(edges.keys().filter(|other| forth.contains(*other) && reach(edges, other).contains(start)));
            found.push(circle);
        }
    }
    found
}

fn reach<'a>(edges: &'a Edges, start: &String) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut next: Vec<&String> = edges.get(start).into_iter().flat_map(BTreeMap::keys).collect();
    while let Some(module) = next.pop() {
        if seen.insert(module) {
            next.extend(edges.get(module).into_iter().flat_map(BTreeMap::keys));
        }
    }
    seen
}

fn shortest(edges: &Edges, start: &String) -> Option<Vec<String>> {
    let mut ways: Vec<Vec<&String>> = vec![vec![start]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            for next in edges.get(way[way.len() - 1]).into_iter().flat_map(BTreeMap::keys) {
                let mut way = way.clone();
                way.push(next);
                if next == start {
                    return Some(way.into_iter().cloned().collect());
                }
                if seen.insert(next) {
                    longer.push(way);
                }
            }
        }
        ways = longer;
    }
    None
}

/// Every step between modules that lie on a circle, with the first line that takes it: for the person who cuts it.
pub fn steps(sources: &[Source]) -> Vec<String> {
    let mut shown = Vec::new();
    for root in crates(sources) {
        let files: Vec<(&Source, Module)> =
            sources.iter().filter_map(|source| Some((source, module_of(&root, &source.path)?))).collect();
        let modules: BTreeSet<Module> = files.iter().map(|(_, module)| module.clone()).collect();
        for (parent, edges) in edges(&files, &modules) {
            let on_circle = |from: &String, to: &String| reach(&edges, to).contains(from);
            let steps = edges.iter().flat_map(|(from, targets)| targets.iter().map(move |(to, at)| (from, to, at)));
            for (from, to, (file, line)) in steps.filter(|(from, to, _)| on_circle(from, to)) {
                shown.push(format!(
                    "{}: {from} -> {to}: {file}:{line}",
                    [std::slice::from_ref(&root), parent.as_slice()].concat().join("::")
                ));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        find(&sources).into_iter().map(|(file, finding)| format!("{file}:{} {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn circles_between_siblings_are_found() {
        let lib = ("a/src/lib.rs", "mod x;\nmod y;\nmod z;\npub use x::X;\n");
        let circle = [lib, ("a/src/x.rs", "use crate::y::Y;"), ("a/src/y.rs", "\nfn f() { super::x::g() }")];
        assert_eq!(found(&circle), ["a/src/y.rs:2 a: x -> y -> x"]);
        let three = [
            lib,
            ("a/src/x.rs", "use crate::{y::{Y, W}, X};"),
            ("a/src/y/inner.rs", "use super::super::z;"),
            ("a/src/y.rs", ""),
            ("a/src/z.rs", "use crate::x::*;"),
        ];
        assert_eq!(found(&three), ["a/src/z.rs:1 a: x -> y -> z -> x"]);
        let exported = [
            ("a/src/lib.rs", "mod x;\nmod y;\npub use x::{W, X};\n"),
            ("a/src/x.rs", "use crate::y::g;"),
            ("a/src/y.rs", "use crate::X;"),
        ];
        assert_eq!(found(&exported), ["a/src/y.rs:1 a: x -> y -> x"]);
        let inside = [
            lib,
            ("a/src/x.rs", "mod b; mod c;"),
            ("a/src/x/b.rs", "use crate::x::c::C;"),
            ("a/src/x/c.rs", "use super::b;"),
        ];
        assert_eq!(found(&inside), ["a/src/x/c.rs:1 a::x: b -> c -> b"]);
    }

    #[test]
    fn order_tests_and_parents_are_left_alone() {
        let lib = ("a/src/lib.rs", "mod x;\nmod y;\nuse x::X;\n");
        for files in [
            [lib, ("a/src/x.rs", "use crate::y::Y;"), ("a/src/y.rs", "use core::fmt; use crate::Thing;")],
            [
                lib,
                ("a/src/x.rs", "use crate::y::Y;"),
                ("a/src/y.rs", "// crate::x\n#[cfg(test)]\nmod tests {\n use crate::x::X;\n}"),
            ],
            [lib, ("a/src/x.rs", "use super::y;"), ("a/src/x/inner.rs", "use super::X; use crate::x::Y;")],
        ] {
            assert_eq!(found(&files), Vec::<String>::new());
        }
    }
}
