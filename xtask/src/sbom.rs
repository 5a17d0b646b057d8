//! `cargo xtask sbom`: what each released program is built from, as a CycloneDX document in `target/sbom`.
//!
//! Cargo says which packages are in a program, and their licences; Cargo.lock has the hashes of their archives.

use crate::failure::{Failure, Outcome, at};
use crate::lockfile;
use crate::paths::Paths;
use crate::{run, say};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

/// The released programs: the package, its features and its target.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("dlo", "aws", "x86_64-unknown-linux-gnu"),
    ("dlo-functions", "", "x86_64-unknown-linux-gnu"),
    ("dlo-dashboard", "", "wasm32-unknown-unknown"),
];
const SPEC: &str = "1.5";

pub fn command(paths: &Paths) -> Outcome<ExitCode> {
    write_all(paths)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the document of each program. Returns how many it wrote.
pub fn write_all(paths: &Paths) -> Outcome<u64> {
    let mut cargo = run::cargo(paths);
    let metadata = run::stdout_of(cargo.args(["metadata", "--locked", "--all-features", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|cause| Failure::new(format!("cargo metadata cannot be read: {cause}.")))?;
    let lock = paths.root.join("Cargo.lock");
    let hashes = lockfile::checksums(&at("read", &lock, std::fs::read_to_string(&lock))?);
    let folder = paths.target.join("sbom");
    at("create", &folder, std::fs::create_dir_all(&folder))?;
    for (package, features, target) in PROGRAMS {
        let mut tree = run::cargo(paths);
        tree.args(["tree", "--locked", "--package", package, "--features", features, "--target", target]);
        tree.args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
        let inside = packages_in(&run::captured(&mut tree)?);
        let document = document(package, &inside, &metadata, &hashes)?;
        let file = folder.join(format!("{package}.cdx.json"));
        at("write", &file, std::fs::write(&file, format!("{document:#}\n")))?;
        say::note(&format!("{package} is built from {} packages: {}", inside.len(), file.display()));
    }
    Ok(PROGRAMS.len() as u64)
}

/// A package by name and version.
type Package = (String, String);

/// Reads lines of `cargo tree`: `serde v1.0.228`, `dlo v0.1.0 (/x/local/dlo)`, `syn v2.0.1 (proc-macro)`.
fn packages_in(tree: &str) -> BTreeSet<Package> {
    let packages = tree.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    });
    packages.collect()
}

/// Describes a program: the packages inside it, and which of them needs which.
fn document(
    root: &str,
    inside: &BTreeSet<Package>,
    metadata: &Value,
    hashes: &BTreeMap<Package, String>,
) -> Outcome<Value> {
    let all = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let text = |package: &Value, name: &str| package[name].as_str().unwrap_or_default().to_owned();
    let key = |package: &Value| (text(package, "name"), text(package, "version"));
    let mut refs: BTreeMap<&str, String> = BTreeMap::new();
    let (mut components, mut main) = (Vec::new(), None);
    for package in all.iter().filter(|package| inside.contains(&key(package))) {
        let (name, version) = key(package);
        let reference = format!("pkg:cargo/{name}@{version}");
        refs.insert(package["id"].as_str().unwrap_or_default(), reference.clone());
        let is_main = name == root;
        let mut component = json!({
            "type": if is_main { "application" } else { "library" },
            "bom-ref": reference,
            "purl": reference,
            "name": name,
            "version": version,
            "scope": "required",
        });
        if let Some(license) = package["license"].as_str() {
            // Crates of before 2018 write a slash for OR.
            component["licenses"] = json!([{ "expression": license.replace(" / ", " OR ").replace('/', " OR ") }]);
        }
        if let Some(hash) = hashes.get(&(name, version)) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": hash }]);
        }
        if let Some(url) = package["repository"].as_str() {
            component["externalReferences"] = json!([{ "type": "vcs", "url": url }]);
        }
        if is_main { main = Some(component) } else { components.push(component) }
    }
    let main = main.ok_or_else(|| Failure::new(format!("cargo metadata has no package `{root}`.")))?;
    if components.len() + 1 != inside.len() {
        return Err(Failure::new(format!(
            "{root} is built from {} packages, and cargo metadata has {} of them.",
            inside.len(),
            components.len() + 1
        )));
    }
    let nodes = metadata["resolve"]["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let dependencies = nodes.iter().filter_map(|node| {
        let needed = node["dependencies"].as_array()?.iter();
        let needed: BTreeSet<&String> = needed.filter_map(|id| refs.get(id.as_str()?)).collect();
        Some(json!({ "ref": refs.get(node["id"].as_str()?)?, "dependsOn": needed }))
    });
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": SPEC,
        "version": 1,
        "metadata": { "component": main },
        "components": components,
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_cargos_tree() {
        let tree =
            "dlo v0.1.0 (/x/local/dlo)\nserde v1.0.228\nserde v1.0.228 (*)\nthiserror-impl v2.0.21 (proc-macro)\n\n";
        let names: Vec<String> =
            packages_in(tree).into_iter().map(|(name, version)| format!("{name} {version}")).collect();
        assert_eq!(names, ["dlo 0.1.0", "serde 1.0.228", "thiserror-impl 2.0.21"]);
    }

    #[test]
    fn a_program_names_what_is_inside_it_and_nothing_else() {
        let package =
            |name: &str, license: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": license });
        let metadata = json!({
            "packages": [package("dlo", "MIT"), package("serde", "MIT/Apache-2.0"), package("other", "MIT")],
            "resolve": { "nodes": [
                { "id": "dlo", "dependencies": ["serde", "other"] }, { "id": "serde", "dependencies": [] },
            ] },
        });
        let of = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "1.0.0".to_owned())).collect();
        let hashes = BTreeMap::from([(("serde".to_owned(), "1.0.0".to_owned()), "ab12".to_owned())]);
        let document = document("dlo", &of(&["dlo", "serde"]), &metadata, &hashes).expect("a document");
        assert_eq!(document["metadata"]["component"]["name"], "dlo");
        assert_eq!(document["components"].as_array().map(Vec::len), Some(1));
        assert_eq!(document["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(document["components"][0]["hashes"][0]["content"], "ab12");
        assert_eq!(document["dependencies"][0]["dependsOn"], json!(["pkg:cargo/serde@1.0.0"]));
        assert!(super::document("dlo", &of(&["dlo", "gone"]), &metadata, &hashes).is_err());
    }
}
