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

use failure::Outcome;
use paths::Paths;
use std::process::ExitCode;

/// The commands of the table below, for checking what documents name.
const COMMANDS: &[&str] = &[
    "demo",
    "ci",
    "aws",
    "dashboard",
    "screenshots",
    "simulate",
    "chaos",
    "storm",
    "schemathesis",
    "fuzz",
    "tidy",
    "sbom",
    "book",
    "commands",
    "function",
    "starts",
    "costs",
    "package",
    "help",
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
    match dispatch(&args) {
        Ok(code) => code,
        Err(failure) => {
            say::failure(&failure);
            ExitCode::FAILURE
        }
    }
}

fn dispatch(args: &[String]) -> Outcome<ExitCode> {
    let (command, rest) = args.split_first().map_or(("help", args), |(c, r)| (c.as_str(), r));
    let paths = Paths::find()?;
    match command {
        "demo" => demo::start(&paths, rest),
        "aws" => aws::command(&paths, rest),
        "ci" => ci::command(&paths, rest),
        "dashboard" => dashboard::command(&paths),
        "screenshots" => ci::take_screenshots(&paths, rest),
        "simulate" => simulate::command(&paths, rest),
        "function" => function::command(&paths, rest),
        "starts" => starts::command(&paths),
        "costs" => template::print_costs(&paths),
        "book" => docs::book(&paths),
        "commands" => docs::run_long(&paths),
        "chaos" => chaos::command(&paths, rest),
        "storm" => storm::command(&paths, rest),
        "schemathesis" => ci::call_api(&paths, rest),
        "package" => package::command(&paths, rest),
        "sbom" => sbom::command(&paths),
        "fuzz" => ci::search(&paths, rest),
        "tidy" => tidy::command(&paths),
        "help" | "-h" | "--help" => {
            print!("{HELP}");
            Ok(ExitCode::SUCCESS)
        }
        other => {
            print!("{HELP}");
            failure::fail(format!("There is no command `{other}`."))
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_help_shows_every_command() {
        for command in super::COMMANDS {
            assert!(super::HELP.contains(&format!("\n  {command} ")), "{command}");
        }
    }
}
