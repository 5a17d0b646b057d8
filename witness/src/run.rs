//! `run`: extension and wrapper in one process, for images and custom runtimes, where Lambda ignores wrappers.

use crate::extension::{Witness, follow_internally};
use crate::settings::{RUNTIME_API, Settings, proxy};
use crate::voice::say;
use crate::wrapper;
use domain::report::ReportedError;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a command that cannot be run, as in shells.
const CANNOT_RUN: u8 = 127;
/// What shells add to the number of the signal that ended a process.
const SIGNALLED: i32 = 128;
/// How long a process that ends waits for its last reports. Lambda starts the next one only then.
const LAST_REPORTS_MAX: Duration = Duration::from_millis(1_000);

/// Runs a command behind the proxy, and ends as it ends.
pub async fn run(command: &[OsString], settings: Option<Settings>) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else {
        say("usage: dlo-witness run -- <command>");
        return ExitCode::from(CANNOT_RUN);
    };
    let mut process = Command::new(program);
    process.args(arguments);
    if settings.as_ref().is_some_and(|settings| settings.reports.is_none()) {
        say("is off: set DLO_REPORTS to the URL of the receipts queue");
    }
    let witness = match settings.filter(|settings| settings.reports.is_some()) {
        // The image holds the extension, too: it does the rest.
        Some(settings) if wrapper::is_alive(settings.port, &settings.upstream) => {
            process.env(RUNTIME_API, settings.proxy().to_string());
            None
        }
        Some(settings) => {
            // Only this command looks for the proxy, so any port will do: other environments may share this machine.
            let (wanted, any) = (settings.proxy(), proxy(0));
            let witness = Witness::new(settings);
            let at = match witness.serve(wanted).await {
                Some(at) => Some(at),
                None => witness.serve(any).await,
            };
            match at {
                Some(at) => drop(process.env(RUNTIME_API, at.to_string())),
                None => say("is off: it can listen on no port"),
            }
            at.map(|_| witness)
        }
        None => None,
    };
    let mut child = match process.spawn() {
        Ok(child) => child,
        Err(error) => {
            say(&format!("cannot run {}: {error}", program.to_string_lossy()));
            return ExitCode::from(CANNOT_RUN);
        }
    };
    let Some(witness) = witness else { return code(wait(&mut child).await) };
    let status = tokio::select! {
        status = wait(&mut child) => status,
        // Never ends before the child does, unless Lambda ends everything.
        () = follow_to_the_end(&witness) => wait(&mut child).await,
    };
    let error = exited(status);
    witness.watch.never_started(error.clone());
    witness.watch.crashed(error, Duration::ZERO).await;
    witness.watch.shut_down("", LAST_REPORTS_MAX).await;
    code(status)
}

async fn follow_to_the_end(witness: &Witness) {
    follow_internally(witness).await;
    std::future::pending::<()>().await;
}

/// Waits for the child. Passes on the signals that ask a process to end: the first process of a container has no
/// default action for them.
async fn wait(child: &mut Child) -> Option<ExitStatus> {
    let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate()).ok(), signal(SignalKind::interrupt()).ok());
    loop {
        let received = async {
            match (&mut terminate, &mut interrupt) {
                (Some(terminate), Some(interrupt)) => tokio::select! {
                    _ = terminate.recv() => Signal::TERM,
                    _ = interrupt.recv() => Signal::INT,
                },
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            status = child.wait() => return status.ok(),
            received = received => {
                if let Some(pid) = pid {
                    let _ = kill_process(pid, received);
                }
            }
        }
    }
}

/// Returns the end of a process in Lambda's own words.
fn exited(status: Option<ExitStatus>) -> ReportedError {
    let how = match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("exit status {code}"),
        Some((None, Some(9))) => "signal: killed".to_owned(),
        Some((None, Some(11))) => "signal: segmentation fault".to_owned(),
        Some((None, Some(signal))) => format!("signal: {signal}"),
        _ => "unknown reason".to_owned(),
    };
    ReportedError {
        error_type: Some("Runtime.ExitError".into()),
        message: Some(format!("Runtime exited with error: {how}")),
        stack: None,
    }
}

fn code(status: Option<ExitStatus>) -> ExitCode {
    let code = status.and_then(|status| status.code().or(status.signal().map(|signal| SIGNALLED + signal)));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
