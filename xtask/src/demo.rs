//! `cargo demo`: from a fresh clone to the links on the terminal.

use crate::dashboard::{self, budget};
use crate::disk;
use crate::failure::{Failure, Outcome};
use crate::place::Place;
use crate::{progress, run, say, tools};
use std::process::{Command, ExitCode};

pub fn start(place: &Place, args: &[String]) -> Outcome<ExitCode> {
    let fresh = !place.dlo().is_file();
    disk::check(&place.root, if fresh { disk::FRESH_BYTES } else { disk::AGAIN_BYTES })?;
    if fresh {
        say::note(
            "The first start installs what is missing and compiles everything: 5 to 12 minutes. Later ones take seconds.",
        );
    }
    dashboard::ensure(place)?;
    budget::measure(&place.dist())?.print();
    build_office(place)?;
    become_office(Command::new(place.dlo()).arg("demo").args(args).current_dir(&place.root))
}

/// The office with the dashboard inside.
pub fn build_office(place: &Place) -> Outcome<()> {
    say::phase("building the office (the program `dlo`)", || {
        let mut cargo = run::cargo(place);
        cargo.args(["build", "--profile", "demo", "--package", "dlo-local", "--bin", "dlo"]);
        cargo.env("CARGO_TARGET_DIR", &place.target);
        progress::watched(&mut cargo).map_err(|failure| tools::no_network(failure, "the office's crates"))
    })
}

/// Turns this process into the office. So Ctrl-C, a signal and the exit status are the office's own
/// affair, and nothing is left behind.
#[cfg(unix)]
fn become_office(command: &mut Command) -> Outcome<ExitCode> {
    use std::os::unix::process::CommandExt;
    let cause = command.exec();
    Err(Failure::new(format!("Could not start {}: {cause}.", run::shown(command))))
}

#[cfg(not(unix))]
fn become_office(command: &mut Command) -> Outcome<ExitCode> {
    let status =
        command.status().map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", run::shown(command))))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
