//! The office's terminal output, and its wait for Ctrl-C.

use crate::control::Links;
use crate::sign_in::NoRandomness;
#[cfg(feature = "aws")]
use domain::id::QueueArn;
use office::{say, say_error};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Returns how to sign in: links on a terminal, where they are otherwise. What is not a terminal is often a log that
/// others read, and a link is as good as a password.
fn sign_in(links: &Links, folder: &Path) -> Result<String, NoRandomness> {
    if std::io::stdout().is_terminal() {
        let intro = "Open one of these links to sign in. Each link works once, in one browser tab.";
        return Ok(format!("{intro}\n\n{}", links.print()?));
    }
    let (program, folder) = (program(), folder.display());
    Ok(format!(
        "For sign-in links, run: {program} links --data {folder}\nThis screen prints them on a terminal only.\n"
    ))
}

/// Returns this program as it was called: it need not be in the `PATH`.
fn program() -> String {
    let called = std::env::args_os().next().filter(|program| !program.is_empty());
    called.map_or_else(|| "dlo".into(), |program| program.to_string_lossy().into_owned())
}

/// Prints the demo's first screen.
pub fn welcome(url: &str, links: &Links, folder: &Path) -> Result<(), NoRandomness> {
    let sign_in = sign_in(links, folder)?;
    say!(
        "
Dead Letter Office is running.

{sign_in}
  Open two links to play two people: the person who declares a fix cannot
  approve its replay.

  Control panel of the demo service (deploys versions of `orders`):
  panel            {url}/panel

{} Data folder: {}
",
        keys(),
        folder.display()
    );
    Ok(())
}

/// Returns what the keyboard does.
fn keys() -> &'static str {
    if prints_on_enter() { "Press Enter for new links, Ctrl-C to quit." } else { "Press Ctrl-C to quit." }
}

/// Prints the notice of an office that takes letters into custody.
#[cfg(feature = "aws")]
pub fn in_custody(dlq: &QueueArn, folder: &Path) {
    say!(
        "
Dead Letter Office takes letters from {dlq} into custody.

It deletes each letter from the queue only after storing it in {}.
From then on that folder holds the only copy: back it up, and do not delete it.
Replays send letters to the real main queue.",
        folder.display()
    );
}

/// Prints the notice of a read-only office.
#[cfg(feature = "aws")]
pub fn peeked(dlq: &QueueArn, count: usize, letters_max: usize) {
    say!(
        "
Dead Letter Office read {count} letters from {dlq}.

All of them are still in the queue, and visible again. Reading received each letter once, so its
ApproximateReceiveCount grew by one, and hid it from other consumers for two minutes at most.
This office is read-only: it cannot send or delete letters. To replay, start it with `--custody`."
    );
    if count >= letters_max {
        say!("There may be more letters: at most {letters_max} are read.");
    }
}

/// Prints how to sign in.
#[cfg(feature = "aws")]
pub fn links(links: &Links, folder: &Path) -> Result<(), NoRandomness> {
    say!("\n{}\n{}\n", sign_in(links, folder)?, keys());
    Ok(())
}

/// Whether Enter prints new links: only where a person types it and sees them.
fn prints_on_enter() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Prints new links each time Enter is pressed. Does nothing without a terminal.
pub fn links_on_enter(links: Links) {
    if !prints_on_enter() {
        return;
    }
    // A separate thread, because a terminal read cannot be cancelled. It ends with the process.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() {
                return;
            }
            match links.print() {
                Ok(text) => say!("{text}"),
                Err(error) => say_error!("{error}"),
            }
        }
    });
}

/// The signal of a process whose file has reached the limit of `ulimit -f`; the same number on Linux and macOS.
#[cfg(unix)]
const SIGXFSZ: i32 = 25;

/// Waits for Ctrl-C or, on Unix, for SIGTERM.
pub async fn until_shutdown() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Whoever handles this signal gets an error instead of being ended: the log or a database may reach the limit.
        let _handled_for_good = signal(SignalKind::from_raw(SIGXFSZ));
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        // Without signal handling the office runs until it is killed, which loses no data.
        std::future::pending::<()>().await;
    }
}
