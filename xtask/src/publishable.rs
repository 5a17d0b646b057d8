//! The crates of the workspace that may be published.

use crate::failure::{Failure, Outcome, fail};
use crate::paths::Paths;
use crate::run;
use serde_json::Value;

/// What the registry requires of a crate, besides what cargo itself checks.
const REQUIRED: [&str; 2] = ["description", "license"];

/// A crate of the workspace that may be published.
#[derive(Debug, PartialEq, Eq)]
pub struct Publishable {
    pub name: String,
    pub version: String,
    /// The names of its features, except `default`.
    pub features: Vec<String>,
}

/// Returns the crates of the workspace that may be published.
pub fn publishable(paths: &Paths) -> Outcome<Vec<Publishable>> {
    let mut cargo = run::cargo(paths);
    let metadata = run::captured(cargo.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)
        .map_err(|cause| Failure::new(format!("cargo metadata cannot be read: {cause}.")))?;
    of_metadata(&metadata)
}

fn of_metadata(metadata: &Value) -> Outcome<Vec<Publishable>> {
    let mut found = Vec::new();
    // A list of registries, empty for none; null for any.
    for package in metadata["packages"].as_array().into_iter().flatten().filter(|package| package["publish"].is_null())
    {
        let text = |member: &str| package[member].as_str().unwrap_or_default().to_owned();
        if let Some(missing) = REQUIRED.iter().find(|member| text(member).is_empty()) {
            return fail(format!("The crate {} has no {missing}, so no registry takes it.", text("name")));
        }
        let features = package["features"].as_object().into_iter().flatten().map(|(name, _)| name.clone());
        let features = features.filter(|name| name != "default").collect();
        found.push(Publishable { name: text("name"), version: text("version"), features });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn crates_without_a_list_of_registries_may_be_published() {
        let package = |name: &str, publish: Value, license: Value| {
            json!({ "name": name, "version": "1.0.0", "publish": publish, "description": "d", "license": license,
                "features": { "default": [], "tower": [] } })
        };
        let of = |packages: Value| of_metadata(&json!({ "packages": packages }));
        let found = of(json!([package("a", json!(null), json!("MIT")), package("b", json!([]), json!("MIT"))]));
        let a = Publishable { name: "a".into(), version: "1.0.0".into(), features: vec!["tower".into()] };
        assert_eq!(found.expect("one"), [a]);
        assert!(of(json!([package("a", json!(null), json!(null))])).is_err(), "it has no licence");
    }
}
