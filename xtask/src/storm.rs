//! `cargo xtask storm`: all messages of a queue fail at once, and the office keeps them while people look at it.

use crate::failure::{Outcome, fail};
use crate::paths::Paths;
use crate::{Work, demo, run};
use std::process::{Command, ExitCode};

pub fn read(args: &[String]) -> Outcome<Work> {
    match args {
        [count] if count.parse::<u64>().is_err() => fail(format!("`{count}` is no number of letters.")),
        [] | [_] => {
            let args = args.to_vec();
            Ok(Box::new(move |paths| command(paths, &args)))
        }
        _ => fail("usage: cargo xtask storm [N]"),
    }
}

fn command(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    demo::build(paths, &["--package", "dlo-harness", "--example", "storm"])?;
    let mut storm = run::cleaned(Command::new(paths.demo_program("examples/storm")), paths);
    run::open(storm.args(args))?;
    Ok(ExitCode::SUCCESS)
}
