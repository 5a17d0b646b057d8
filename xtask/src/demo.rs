//! `cargo demo`: from a fresh clone to the links on the terminal.

use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::{Work, dashboard, disk, native, progress, run, say, tools};
use std::process::{Command, ExitCode};

const OFFICE: &[&str] = &["--package", "dlo", "--bin", "dlo"];

/// The arguments are those of `dlo demo`, which reads them.
pub fn read(args: &[String]) -> Outcome<Work> {
    let args = args.to_vec();
    Ok(Box::new(move |paths| start(paths, &args)))
}

fn start(paths: &Paths, args: &[String]) -> Outcome<ExitCode> {
    let fresh = !paths.dlo().is_file();
    disk::check(&paths.root, if fresh { disk::FRESH_BYTES } else { disk::AGAIN_BYTES })?;
    if fresh {
        say::note(
            "The first start installs the missing tools and compiles everything, which takes minutes. Later starts take seconds.",
        );
    }
    // Most of the office needs no file of the dashboard: it is compiled beside the dashboard, which leaves a core idle
    // for long.
    let early = if fresh { Some(progress::start(&mut cargo(paths, OFFICE))?) } else { None };
    dashboard::ensure_quick(paths)?;
    say::phase("building the office (the program `dlo`)", || {
        if let Some(early) = early {
            early.watched().map_err(no_crates)?;
        }
        build(paths, OFFICE)
    })?;
    become_office(Command::new(paths.dlo()).arg("demo").args(args).current_dir(&paths.root))
}

/// Builds programs in the profile that `cargo demo` uses: without the AWS SDK.
pub fn build(paths: &Paths, selection: &[&str]) -> Outcome<()> {
    progress::watched(&mut cargo(paths, selection)).map_err(no_crates)
}

fn no_crates(failure: Failure) -> Failure {
    tools::no_network(failure, "the office's crates")
}

/// Returns the cargo command of [`build`].
pub fn cargo(paths: &Paths, selection: &[&str]) -> Command {
    let mut cargo = native::plain(paths, "build");
    cargo.args(["--profile", "demo"]).args(selection);
    cargo
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
