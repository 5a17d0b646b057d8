//! `cargo xtask chaos`: the real office on this machine under faults, compared with an oracle.

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{Work, dashboard, demo, run};
use std::process::{Command, ExitCode};

/// How the program reads its arguments.
#[path = "../../tests/chaos/src/arguments.rs"]
mod arguments;

pub fn read(args: &[String]) -> Outcome<Work> {
    arguments::read(args).map_err(Failure::new)?;
    let args = args.to_vec();
    Ok(Box::new(move |paths| command(paths, &args)))
}

fn command(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    dashboard::ensure(paths)?;
    demo::build(paths, &["--package", "dlo", "--package", "dlo-chaos", "--bins"])?;
    let mut chaos = run::cleaned(Command::new(paths.demo_program("chaos")), paths);
    match run::open(chaos.args(args).env("DLO_BIN", paths.dlo())) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(_) => Err(Failure::new("The oracle found a broken promise, or the run could not begin; see above.")
            .remedy("Every violation is kept in target/chaos/<seed>, with the office's files and its log.")),
    }
}
