//! The project's own commands: `cargo demo`, `cargo ci`, `cargo aws`, `cargo xtask help`.
//!
//! This program may change the machine: it installs tools and starts processes. It is never deployed.

mod aws;
mod chaos;
mod ci;
mod dashboard;
mod demo;
mod disk;
mod docs;
mod failure;
mod function;
mod hash;
mod layer;
mod lockfile;
mod native;
mod package;
mod paths;
mod progress;
mod publishable;
mod run;
mod say;
mod sbom;
mod simulate;
mod starts;
mod storm;
mod template;
mod tidy;
mod tools;

use failure::{Failure, Outcome, fail};
use paths::Paths;
use std::process::ExitCode;

/// What a command does, once its arguments are read.
type Work = Box<dyn FnOnce(&Paths) -> Outcome<ExitCode>>;

/// Reads the arguments of a command, and runs nothing.
type Read = fn(&[String]) -> Outcome<Work>;

/// Each command, with what reads its arguments. The step `docs` reads every command that a document names.
const COMMANDS: &[(&str, Read)] = &[
    ("demo", demo::read),
    ("ci", ci::read),
    ("aws", aws::read),
    ("dashboard", |args| alone(args, dashboard::command)),
    ("screenshots", ci::read_screenshots),
    ("simulate", simulate::read),
    ("chaos", chaos::read),
    ("storm", storm::read),
    ("schemathesis", ci::read_call_api),
    ("fuzz", ci::read_search),
    ("tidy", |args| alone(args, tidy::command)),
    ("sbom", |args| alone(args, sbom::command)),
    ("book", |args| alone(args, docs::book)),
    ("commands", |args| alone(args, docs::run_long)),
    ("function", function::read),
    ("starts", |args| alone(args, starts::command)),
    ("costs", |args| alone(args, template::print_costs)),
    ("package", package::read),
    ("help", |args| alone(args, help)),
];

const HELP: &str = "\
usage: cargo xtask <command>

  demo [args]        build everything and start the office on this machine; args go to `dlo demo`
                     (also `cargo demo`)
  ci [--list]        every check; the end lists all failures and the time of each step (also `cargo ci`)
  ci --only <step>   one step of it; may be given more than once
  aws <command>      the office deployed at an endpoint on this machine (also `cargo aws`)
  dashboard          build the dashboard into dashboard/dist
  screenshots [word] every page and state, in both themes, on a laptop and a phone, as target/screenshots/index.html;
                     a word takes those of the browser tests whose names contain it
  simulate [args]    the office under simulated faults: --seeds N, --from N; --seed N runs one seed again;
                     --model checks every state of a small replay
  chaos [args]       the real office on this machine under faults, compared with an oracle: --minutes N, --seed S,
                     --offices N, --fault <name>
  storm [N]          N letters of a hundred causes at once (20,000 when not said): rates, answers, memory
  schemathesis [--minutes N]
                     call the API of a demo with inputs generated from its OpenAPI document; 5 minutes when not said
  fuzz [--minutes N] search for letters that break a reader; 5 minutes for each target when not said
  tidy               check the rules of this repository that a machine can check
  sbom               write a CycloneDX document of what each program is built from to target/sbom
  book               build docs/ into target/book
  commands           run the commands of the documents that take minutes; `cargo ci` runs the others
  function <id> <folder>
                     build a Lambda function, for `sam build`
  costs              what the stack costs per month while nothing fails, from its template
  starts             size and cold start of each function, built as for Lambda, beside the smallest possible one
  package [--since <commit>]
                     check that the crates for other people's consumers can be published, and that their versions fit
                     what has changed since the last release; uploads nothing
  help               this table
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match read(&args).and_then(|work| work(&Paths::find()?)) {
        Ok(code) => code,
        Err(failure) => {
            say::failure(&failure);
            ExitCode::FAILURE
        }
    }
}

/// Reads a command line.
fn read(args: &[String]) -> Outcome<Work> {
    let (command, rest) = args.split_first().map_or(("help", args), |(command, rest)| (command.as_str(), rest));
    let command = if ["-h", "--help"].contains(&command) { "help" } else { command };
    match COMMANDS.iter().find(|(name, _)| *name == command) {
        Some((_, read)) => read(rest),
        None => Err(Failure::new(format!("There is no command `{command}`.")).remedy(HELP)),
    }
}

/// Reads the arguments of a command that takes none.
fn alone(args: &[String], work: fn(&Paths) -> Outcome<ExitCode>) -> Outcome<Work> {
    match args.first() {
        None => Ok(Box::new(work)),
        Some(first) => fail(format!("This command takes no arguments, but got `{first}`.")),
    }
}

fn help(_: &Paths) -> Outcome<ExitCode> {
    print!("{HELP}");
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(command: &str) -> bool {
        read(&command.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).is_ok()
    }

    #[test]
    fn the_help_shows_every_command() {
        for (command, _) in COMMANDS {
            assert!(HELP.contains(&format!("\n  {command} ")), "{command}");
        }
    }

    #[test]
    fn arguments_are_read_before_anything_runs() {
        for right in [
            "",
            "--help",
            "demo --port 0",
            "ci --list",
            "ci --only tidy --only docs",
            "aws",
            "aws demo 100 gift-card",
            "aws deploy v2",
            "aws token otto",
            "aws test --account office demo",
            "screenshots story",
            "simulate --from 5 --seeds 10",
            "simulate --model",
            "chaos --minutes 10 --seed 7 --fault second-process",
            "storm 20000",
            "schemathesis --minutes 1",
            "fuzz --minutes 1",
            "function Intake folder",
            "function WitnessArm folder",
            "package --since v0.1.0",
        ] {
            assert!(is_read(right), "{right}");
        }
        for wrong in [
            "nothing",
            "tidy all",
            "ci tidy",
            "ci --only nothing",
            "aws up now",
            "aws demo many",
            "aws demo 1 gift-cards",
            "aws deploy",
            "aws token nobody",
            "aws test account",
            "aws test --account a b c",
            "screenshots two words",
            "simulate --seed",
            "simulate --seeds all",
            "chaos --minute 10",
            "chaos --fault second",
            "storm many",
            "schemathesis 5",
            "fuzz --minutes five",
            "function Intake",
            "function Nothing folder",
            "package v0.1.0",
        ] {
            assert!(!is_read(wrong), "{wrong}");
        }
    }
}
