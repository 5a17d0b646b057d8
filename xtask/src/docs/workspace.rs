//! What cargo knows of the workspace: packages, their programs, examples, tests and features.

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::run;
use serde_json::Value;

pub struct Workspace(Vec<Value>);

impl Workspace {
    pub fn read(paths: &Paths) -> Outcome<Workspace> {
        let mut cargo = run::cargo(paths);
        let text = run::stdout_of(cargo.args(["metadata", "--locked", "--no-deps", "--format-version", "1"]))?;
        Workspace::parse(&text).ok_or_else(|| Failure::new("cargo metadata lists no packages."))
    }

    pub fn parse(text: &str) -> Option<Workspace> {
        let metadata: Value = serde_json::from_str(text).ok()?;
        metadata["packages"].as_array().cloned().map(Workspace)
    }

    pub fn package(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|package| package["name"] == name)
    }

    /// Whether the package, or any package where none is named, has a target of this kind and name.
    pub fn has_target(&self, package: Option<&str>, kind: &str, name: &str) -> bool {
        let packages = self.0.iter().filter(|found| package.is_none_or(|package| found["name"] == package));
        packages.into_iter().any(|package| {
            let targets = package["targets"].as_array().into_iter().flatten();
            targets.into_iter().any(|target| {
                let kinds = target["kind"].as_array().into_iter().flatten();
                target["name"] == name && kinds.into_iter().any(|found| found == kind)
            })
        })
    }

    pub fn has_feature(&self, package: &str, feature: &str) -> bool {
        self.package(package).is_some_and(|package| !package["features"][feature].is_null())
    }
}
