//! `cargo xtask storm`: all messages of a queue fail at once, and the office keeps them while people look at it.

use crate::failure::Outcome;
use crate::paths::Paths;
use crate::{demo, run};
use std::process::{Command, ExitCode};

pub fn command(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    demo::build(paths, &["--package", "dlo-harness", "--example", "storm"])?;
    let mut storm = run::cleaned(Command::new(paths.demo_program("examples/storm")), paths);
    run::open(storm.args(args))?;
    Ok(ExitCode::SUCCESS)
}
