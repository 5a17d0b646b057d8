//! The project's own commands: `cargo demo`, `cargo ci`, `cargo xtask dashboard`, `cargo xtask tidy`.
//!
//! Everything here may talk to the machine (install tools, start processes). Nothing of it ships.

mod aws;
mod ci;
mod dashboard;
mod demo;
mod disk;
mod failure;
mod function;
mod hash;
mod lockfile;
mod place;
mod progress;
mod run;
mod say;
mod simulate;
mod starts;
mod tidy;
mod tools;

use failure::Outcome;
use place::Place;
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask <command>

  demo [args]        build everything and start the office on this machine; args go to `dlo demo`
                     (also `cargo demo`)
  ci [--list]        every check, in order, stopping at the first that fails (also `cargo ci`)
  ci --only <step>   one step of it; may be given more than once
  aws <command>      the office deployed at an endpoint on this machine (also `cargo aws`)
  dashboard          build the dashboard into dashboard/dist
  simulate [args]    the office in bad weather: --seeds N, --from N; --seed N for one story again;
                     --model for every state of a small replay
  tidy               check the rules of this repository that a machine can check
  function <id> <folder>
                     build a Lambda function, for `sam build`
  starts             size and cold start of each function, built as for Lambda, beside the smallest there is
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
    let place = Place::find()?;
    match command {
        "demo" => demo::start(&place, rest),
        "aws" => aws::command(&place, rest),
        "ci" => ci::command(&place, rest),
        "dashboard" => dashboard::command(&place),
        "simulate" => simulate::command(&place, rest),
        "function" => function::command(&place, rest),
        "starts" => starts::command(&place),
        "tidy" => tidy::command(&place),
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
