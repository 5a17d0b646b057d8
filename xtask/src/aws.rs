//! `cargo aws up | demo | deploy | token | test | down`: the office deployed at an endpoint on this machine that speaks
//! AWS.
//!
//! MiniStack is started where `AWS_ENDPOINT_URL` names no endpoint. What is deployed is what `sam deploy` deploys on AWS,
//! functions included; they are only built for this machine instead of Lambda's.

mod endpoint;
mod stack;

use crate::ci::Tally;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::tools::browser::Browser;
use crate::{disk, function, run, say};
use endpoint::Endpoint;
use stack::Stack;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const HELP: &str = "\
usage: cargo aws <command>

  up                     start the endpoint, build, deploy the demo service and the office
  demo [count] [kind]    place orders (100 as in a bad week when not said); kinds: gift-card, malformed,
                         unknown-product, expired, deleted-tenant, good
  deploy <version>       another version of the demo's consumer: v1, v2 (a wrong fix), v3 (the right one);
                         any other does not start, so that its orders die by SQS's own redrive
  token <name>           a token of vera, otto, anna or ada (viewer, operator, approver, admin) for the API
  test                   the story through the deployed stack
  down                   end the endpoint and forget everything in it; at a named endpoint delete the stacks

The endpoint is MiniStack, installed from PyPI into target/tools and started on port 4566, or on another
that is free; or the one that AWS_ENDPOINT_URL names. It needs Python 3.10 or newer.
";

/// The tests of a deployed stack.
const STORIES: &[&str] = &["aws_faults", "aws_stack", "browser_stack"];

pub fn command(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let folder = place.target.join("aws");
    match words.as_slice() {
        ["up"] => up(place)?,
        ["demo", rest @ ..] if rest.len() < 3 => demo(place, rest)?,
        ["deploy", version] => {
            let endpoint = Endpoint::find(&folder)?;
            stack::deploy_version(place, &endpoint, version)?;
            println!("The consumer runs {version}.");
        }
        ["token", name] => println!("{}", Stack::find(place, &Endpoint::find(&folder)?)?.token(name)?),
        ["test"] => {
            let endpoint = Endpoint::find(&folder)?;
            run::open(&mut story(place, &Stack::find(place, &endpoint)?)?)?;
        }
        ["down"] => down(place)?,
        [] | ["help"] => print!("{HELP}"),
        _ => return Err(Failure::new("There is no such command.").remedy(HELP)),
    }
    Ok(ExitCode::SUCCESS)
}

fn up(place: &Place) -> Outcome<()> {
    disk::check(&place.root, disk::AGAIN_BYTES)?;
    let endpoint = Endpoint::ensure(place, &place.target.join("aws"))?;
    let functions = say::phase("building the functions", || function::build_here(place))?;
    let stack = stack::deploy(place, &endpoint, &functions)?;
    println!("\nThe office is at {}", stack.dashboard());
    println!("\nOpen one of these links; each is good for eight hours. Open two of them to be two people.\n");
    for (name, role) in stack::PEOPLE {
        println!("  {role:<9} {name:<5} {}signin#{}\n", stack.dashboard(), stack.token(name)?);
    }
    println!("Or sign in there as one of them, with the password {}\n", stack::PASSWORD);
    println!(
        "`cargo aws demo` places orders; the consumer runs v1, which fails on some. `cargo aws help` says the rest."
    );
    Ok(())
}

fn demo(place: &Place, words: &[&str]) -> Outcome<()> {
    let endpoint = Endpoint::find(&place.target.join("aws"))?;
    // `cargo run` takes one package.
    let mut run = run::cargo(place);
    run.args(["run", "--quiet", "--package", "dlo-tests", "--features", "aws", "--example", "aws_orders", "--"]);
    run.arg(stack::ORDERS).args(words).env("CARGO_TARGET_DIR", &place.target);
    run::open(endpoint.named_to(&mut run))
}

fn down(place: &Place) -> Outcome<()> {
    let folder = place.target.join("aws");
    match Endpoint::find(&folder) {
        Ok(endpoint) if !endpoint.is_ours() => stack::delete(place, &endpoint),
        _ => endpoint::stop(&folder),
    }
}

/// The stories' tests, told where the stack is.
fn story(place: &Place, stack: &Stack<'_>) -> Outcome<Command> {
    let mut test = cargo(place, "test");
    for story in STORIES {
        test.args(["--test", story]);
    }
    Browser::ensure(place)?.export(&mut test);
    stack.tell(&mut test)?;
    Ok(test)
}

/// For `cargo ci`: a stack of its own, and nothing left of it.
pub fn check(place: &Place, tally: impl FnOnce(&mut Command) -> Outcome<Tally>) -> Outcome<Tally> {
    let functions = say::phase("building the functions", || function::build_for_tests(place, STORIES))?;
    let folder: PathBuf = place.target.join("aws-ci");
    let endpoint = Endpoint::ensure(place, &folder)?;
    let result = stack::deploy(place, &endpoint, &functions).and_then(|stack| tally(&mut story(place, &stack)?));
    if endpoint.is_ours() { endpoint::stop(&folder) } else { stack::delete(place, &endpoint) }?;
    result
}

/// Cargo on all that speaks AWS. One selection of crates and features for checks, tests and functions: another would
/// compile much of the SDK again. The lock file decides.
pub fn cargo(place: &Place, subcommand: &str) -> Command {
    let mut cargo = run::cargo(place);
    cargo.args([subcommand, "--locked", "--package", "dlo-tests", "--package", "dlo-lambda", "--package", "dlo-local"]);
    cargo.args(["--features", "dlo-tests/aws,dlo-lambda/aws,dlo-local/aws"]).env("CARGO_TARGET_DIR", &place.target);
    cargo
}
