//! The steps for AWS: templates, and tests on endpoints of this machine that are started for each run.

use super::tally::Tally;
use super::{built, rust};
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::tools::aws;
use crate::tools::browser::Browser;
use crate::{dashboard, function, run};
use std::process::Command;

/// The templates that are deployed.
const TEMPLATES: &[&str] = &["infra/template.yaml", "infra/demo.yaml"];

pub fn templates(paths: &Paths) -> Outcome<Tally> {
    let programs = aws::ensure_sam(paths)?;
    for template in TEMPLATES {
        let mut lint = run::cleaned(Command::new(programs.join("cfn-lint")), paths);
        run::open(lint.arg(template))?;
        let mut validate = run::cleaned(Command::new(programs.join("sam")), paths);
        // The region decides which resources exist. Nothing is sent there.
        validate.env("AWS_REGION", "us-east-1").env("SAM_CLI_TELEMETRY", "0");
        run::open(validate.args(["validate", "--lint", "--template-file", template]))?;
    }
    Ok(Tally::default())
}

/// The conformance suites of the adapters.
pub fn adapters(paths: &Paths) -> Outcome<Tally> {
    aws::ensure_endpoints(paths)?;
    let programs = built::ensure(paths)?;
    built::run_all(&built::chosen(&programs, rust::AWS)?, |_| Ok(()))
}

/// The office as it is deployed.
pub fn stack(paths: &Paths) -> Outcome<Tally> {
    dashboard::ensure(paths)?;
    let browser = Browser::ensure(paths)?;
    let programs = built::ensure(paths)?;
    let functions = function::strip_built(paths)?;
    crate::aws::check(paths, &functions, |stack| {
        built::run_all(&built::chosen(&programs, rust::STACK)?, |command| {
            browser.export(command);
            stack.tell(command)
        })
    })
}
