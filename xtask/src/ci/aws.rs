//! The steps for AWS: templates, and tests on endpoints of this machine that are started for each run.

use super::tally::Tally;
use super::{built, rust};
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::tools::aws;
use crate::tools::browser::Browser;
use crate::{dashboard, function, run, template};
use std::process::Command;

/// A region that has everything, one without function URLs, and one without Cognito. CloudFormation refuses a whole
/// template in a region that does not know the type of one resource.
const REGIONS: [&str; 3] = ["us-east-1", "ca-west-1", "cn-northwest-1"];
/// The templates that are deployed.
const TEMPLATES: &[&str] = &[
    "infra/template.yaml",
    "infra/people.yaml",
    "infra/function-url.yaml",
    "infra/front.yaml",
    "infra/queues.yaml",
    "infra/attach.yaml",
    "infra/retries.yaml",
    "infra/demo.yaml",
    "infra/witness.yaml",
];

pub fn templates(paths: &Paths) -> Outcome<Tally> {
    let programs = aws::ensure_sam(paths)?;
    for template in TEMPLATES {
        let mut lint = run::cleaned(Command::new(programs.join("cfn-lint")), paths);
        run::open(lint.args(["--include-checks", "I", "--template", template, "--regions"]).args(REGIONS))?;
        let mut validate = run::cleaned(Command::new(programs.join("sam")), paths);
        // The region decides which resources exist. Nothing is sent there.
        validate.env("AWS_REGION", "us-east-1").env("SAM_CLI_TELEMETRY", "0");
        run::open(validate.args(["validate", "--lint", "--template-file", template]))?;
    }
    // Each exception stands beside its resource, with its reason. Nothing is downloaded: the rules are in the package.
    let mut checkov = run::cleaned(Command::new(aws::ensure_checkov(paths)?.join("checkov")), paths);
    checkov.args(["--skip-download", "--quiet", "--compact", "--framework", "cloudformation"]);
    run::open(checkov.args(TEMPLATES.iter().flat_map(|template| ["--file", template])))?;
    template::check(paths)?;
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
    let requests = paths.target.join("ci").join("requests.jsonl");
    // Those of an earlier run prove nothing.
    let _ = std::fs::remove_file(&requests);
    let tally = crate::aws::check(paths, &functions, |stack| {
        built::run_all(&built::chosen(&programs, rust::STACK)?, |command| {
            browser.export(command);
            command.env("DLO_REQUESTS_FILE", &requests);
            stack.tell(command, &paths.target.join("debug"))
        })
    })?;
    // Where a test has failed, what was requested is not complete, or was not written.
    if tally.failed == 0 {
        crate::aws::check_requests(paths, &requests)?;
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::TEMPLATES;

    /// The office's nested stacks are built with it. The demo is for people who have the source.
    const NOT_COPIED: [&str; 4] = ["template.yaml", "people.yaml", "function-url.yaml", "demo.yaml"];

    #[test]
    fn a_release_has_every_template_that_people_deploy() {
        let workflow = include_str!("../../../.github/workflows/release.yml");
        let lines: Vec<&str> = workflow.lines().map(str::trim).collect();
        let built =
            ["run: sam build", "run: sam build --config-env witness", "cp -r .aws-sam/witness .aws-sam/build/witness"];
        assert!(built.iter().all(|line| lines.contains(line)), "the office and the layer");
        let copied = lines.iter().find(|line| line.starts_with("cp infra/")).expect("what is copied");
        let names = TEMPLATES.iter().filter_map(|path| path.strip_prefix("infra/"));
        for name in names.filter(|name| *name != "witness.yaml" && !NOT_COPIED.contains(name)) {
            assert!(copied.contains(&format!("infra/{name} ")), "{name}");
        }
    }

    /// GitHub skips a job if one that it needs has failed.
    #[test]
    fn only_a_commit_whose_checks_passed_is_published() {
        let workflow = include_str!("../../../.github/workflows/release.yml");
        let (_, jobs) = workflow.split_once("\njobs:\n").expect("jobs");
        let job = |name: &str| {
            let (_, job) = jobs.split_once(&format!("  {name}:\n")).expect(name);
            job.lines().take_while(|line| line.is_empty() || line.starts_with("    ")).collect::<Vec<_>>()
        };
        assert!(job("publish").contains(&"    needs: [build, checked]"));
        let checked = job("checked").join("\n");
        for part in ["--workflow ci.yml", "--commit \"$GITHUB_SHA\"", "--status success", "!= 1", "exit 1"] {
            assert!(checked.contains(part), "{part}: {checked}");
        }
        assert!(include_str!("../../../.github/workflows/ci.yml").contains("branches: [main]"));
        assert_eq!(jobs.matches("gh release create").count(), 1);
    }
}
