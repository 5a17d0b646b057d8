//! What runs functions outside of Lambda: Amazon's own runtime clients for Python and Node, and what the test functions
//! use.

use super::find;
use super::npm::{self, Package};
use super::pypi::{self, Python};
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use std::path::PathBuf;

/// `awslambdaric`, Powertools and boto3.
const PYTHON: Python = Python { folder: "lambda-runtimes", pins: include_str!("pinned/lambda-runtimes.txt") };
/// The runtime client of Node. Its native part is not built: the tests bring a substitute for its three calls.
const NODE_CLIENT: Package = Package {
    name: "aws-lambda-ric",
    version: "3.3.0",
    integrity: "sha512-9p06TbKVK4a050NY/vYOxhMHvnIiUu5o1W0//q6yNLSqA/c91pn4BOj3C3sRTpplkUNsGJdU5qWyU2STo6L8hA==",
};
const NODE_POWERTOOLS: Package = Package {
    name: "@aws-lambda-powertools/batch",
    version: "2.35.0",
    integrity: "sha512-RdM7gs6YmblfK/llGBt1/u32XgQjGMa1sr9zlhULRzMdumAnmnPGYOqXqEGTu4gjfZAnMdYldNntYVSGkGQ8rQ==",
};
/// For the example of a report. The last versions need a newer Node than Debian has.
const NODE_SQS: Package = Package {
    name: "@aws-sdk/client-sqs",
    version: "3.803.0",
    integrity: "sha512-os2AQZAzcEkxBuxfI4AldQECSsM0IK6+m8WDVJKUW2c2JDYsGA99cZhRItEytu0t2qnATZAFCSEfL1nW4nKZqA==",
};

/// Installs all of them where they are missing. The tests read them from `target/tools`.
pub fn ensure(paths: &Paths) -> Outcome<()> {
    ensure_python(paths)?;
    for package in [&NODE_CLIENT, &NODE_POWERTOOLS, &NODE_SQS] {
        npm::ensure(paths, package, &format!("{}: tests of the layer `witness`", package.name))?;
    }
    if find::on_path("node").is_none() {
        return Err(Failure::new("Node.js is not installed, which the tests of the layer `witness` need.")
            .remedy("Install Node.js 18 or newer with npm."));
    }
    Ok(())
}

/// Installs those for Python. Returns the Python that has them.
pub fn ensure_python(paths: &Paths) -> Outcome<PathBuf> {
    let why = "Lambda's Python runtime, Powertools and boto3: tests of the layer `witness`";
    Ok(pypi::ensure(paths, &PYTHON, why)?.join("python"))
}
