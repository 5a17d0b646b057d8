//! `cargo aws`: the office deployed at an endpoint on this machine that speaks AWS.
//!
//! MiniStack is started unless `AWS_ENDPOINT_URL` names an endpoint. The stacks are those that `sam deploy` deploys on AWS,
//! with functions that are built for this machine instead of for Lambda.

mod endpoint;
mod stack;

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::tools::browser::Browser;
use crate::{Work, disk, function, native, run, say};
use endpoint::Endpoint;
pub use stack::Stack;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
usage: cargo aws <command>

  up                     start the endpoint, build, deploy the demo service and the office
  demo [count] [kind]    place orders (100 of mixed kinds if omitted); kinds: gift-card, malformed,
                         unknown-product, expired, deleted-tenant, good
  deploy <version>       another version of the demo's consumer: v1, v2 (a wrong fix), v3 (the right one);
                         any other version fails to start, so SQS redrives its orders
  token <name>           a token of vera, otto, anna or ada (viewer, operator, approver, admin) for the API
  test                   the story through the deployed stack
  test --account [office] [demo]
                         what only a real account can prove, with the credentials of the environment, on stacks that
                         `sam deploy` has deployed there; their names, if not dead-letter-office and dlo-demo
  down                   end the endpoint with everything in it; at a named endpoint, delete the stacks

The endpoint is MiniStack, installed from PyPI into target/tools and started on port 4566, or on another
that is free; or the one that AWS_ENDPOINT_URL names. It needs Python 3.11 or newer.
";

/// The kinds of orders that `demo` places.
const KINDS: &[&str] = &["gift-card", "malformed", "unknown-product", "expired", "deleted-tenant", "good"];

pub fn read(args: &[String]) -> Outcome<Work> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let work: Work = match words.as_slice() {
        ["up"] => work(up),
        ["demo", orders @ ..] if are_orders(orders) => {
            let orders: Vec<String> = orders.iter().map(ToString::to_string).collect();
            work(move |paths| demo(paths, &orders))
        }
        ["deploy", version] => {
            let version = (*version).to_owned();
            work(move |paths| deploy(paths, &version))
        }
        ["token", name] if stack::PEOPLE.iter().any(|(known, _)| known == name) => {
            let name = (*name).to_owned();
            work(move |paths| token(paths, &name))
        }
        ["test"] => work(test),
        ["test", "--account", stacks @ ..] if stacks.len() < 3 => {
            let names = [stack::OFFICE, stack::DEMO];
            let stacks = [0, 1].map(|at| stacks.get(at).copied().unwrap_or(names[at]).to_owned());
            work(move |paths| check_account(paths, None, [&stacks[0], &stacks[1]]))
        }
        ["down"] => work(down),
        [] | ["help"] => work(|_| {
            print!("{HELP}");
            Ok(())
        }),
        _ => return Err(Failure::new(format!("`cargo aws {}` is not a command.", args.join(" "))).remedy(HELP)),
    };
    Ok(work)
}

fn work(run: impl FnOnce(&Paths) -> Outcome<()> + 'static) -> Work {
    Box::new(move |paths| run(paths).map(|()| ExitCode::SUCCESS))
}

/// A count, and a kind.
fn are_orders(words: &[&str]) -> bool {
    match words {
        [] => true,
        [count] => count.parse::<u64>().is_ok(),
        [count, kind] => count.parse::<u64>().is_ok() && KINDS.contains(kind),
        _ => false,
    }
}

fn deploy(paths: &Paths, version: &str) -> Outcome<()> {
    let endpoint = Endpoint::find(&folder(paths))?;
    stack::deploy_version(paths, &endpoint, version)?;
    println!("The consumer runs {version}.");
    Ok(())
}

fn token(paths: &Paths, name: &str) -> Outcome<()> {
    println!("{}", Stack::find(paths, &Endpoint::find(&folder(paths))?)?.token(name)?);
    Ok(())
}

fn test(paths: &Paths) -> Outcome<()> {
    let endpoint = Endpoint::find(&folder(paths))?;
    let mut test = native::cargo(paths, "test");
    Browser::ensure(paths)?.export(&mut test);
    let programs = function::build_here(paths)?;
    Stack::find(paths, &endpoint)?.tell(&mut test, &programs)?;
    // Both packages with a test target of this name: the API's story and the browser's.
    run::open(test.args(["--test", "stack"]))
}

/// What is kept of the endpoint between two commands.
fn folder(paths: &Paths) -> PathBuf {
    paths.target.join("aws")
}

/// Checks the deployed stacks as a stranger does: at an endpoint, or with the credentials of the environment.
pub fn check_account(paths: &Paths, endpoint: Option<&Endpoint>, stacks: [&str; 2]) -> Outcome<()> {
    let python = crate::tools::aws::ensure_sam(paths)?.join("python");
    let mut check = run::cleaned(Command::new(python), paths);
    if let Some(endpoint) = endpoint {
        endpoint.named_to(&mut check);
    }
    run::open(check.arg(paths.root.join("xtask/src/aws/account.py")).args(stacks))
}

/// Checks requests that the tests of the stack have recorded against AWS's own service models: the endpoint accepts much
/// that AWS refuses.
pub fn check_requests(paths: &Paths, requests: &Path) -> Outcome<()> {
    let python = crate::tools::aws::ensure_ministack(paths)?.join("python");
    let mut check = run::cleaned(Command::new(python), paths);
    run::open(check.arg(paths.root.join("xtask/src/aws/requests.py")).arg(requests))
        .map_err(|failure| failure.remedy("Mend the adapter in `lambda/` that makes the request."))
}

fn up(paths: &Paths) -> Outcome<()> {
    disk::check(&paths.root, disk::AGAIN_BYTES)?;
    let endpoint = Endpoint::ensure(paths, &folder(paths))?;
    let functions = say::phase("building the functions", || function::build_here(paths))?;
    let stack = stack::deploy(paths, &endpoint, &functions)?;
    println!("\nThe office is at {}", stack.dashboard());
    println!("\nSign in there as one of these people. Use two tabs to act as two people.\n");
    for (name, role) in stack::PEOPLE {
        println!("  {role:<9} {name}");
    }
    println!("\nEach has the password {}\n", stack::PASSWORD);
    println!(
        "`cargo aws demo` places orders; the consumer runs v1, which fails on some. `cargo aws help` lists all commands."
    );
    Ok(())
}

fn demo(paths: &Paths, words: &[String]) -> Outcome<()> {
    let endpoint = Endpoint::find(&folder(paths))?;
    let mut run = native::plain(paths, "run");
    run.args(["--quiet", "--package", "dlo-tests", "--example", "aws_orders", "--"]).arg(stack::ORDERS).args(words);
    run::open(endpoint.named_to(&mut run))
}

fn down(paths: &Paths) -> Outcome<()> {
    let folder = folder(paths);
    match Endpoint::find(&folder) {
        Ok(endpoint) if !endpoint.is_ours() => stack::delete(paths, &endpoint),
        _ => endpoint::stop(&folder),
    }
}

/// Runs tests against a stack of their own at an endpoint, for `cargo ci`, and leaves nothing of it behind.
/// `functions` is the folder of the functions to deploy.
pub fn check<T>(paths: &Paths, functions: &Path, tests: impl FnOnce(&Stack<'_>) -> Outcome<T>) -> Outcome<T> {
    let folder: PathBuf = paths.target.join("aws-ci");
    let endpoint = Endpoint::ensure(paths, &folder)?;
    let result = stack::deploy(paths, &endpoint, functions).and_then(|stack| {
        check_account(paths, Some(&endpoint), [stack::OFFICE, stack::DEMO])?;
        tests(&stack)
    });
    if result.is_err() {
        endpoint.print_log_end();
    }
    if endpoint.is_ours() { endpoint::stop(&folder) } else { stack::delete(paths, &endpoint) }?;
    result
}
