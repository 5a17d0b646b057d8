//! The office's terminal output, and its wait for Ctrl-C.

use crate::control::Links;
#[cfg(feature = "aws")]
use domain::id::QueueArn;
use office::{say, say_error};
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// Prints the demo's first screen.
pub fn welcome(url: &str, links: &str, folder: &Path) {
    say!(
        "
Dead Letter Office is running.

Open one of these links to sign in. Each link works once, in one browser tab.
Open two of them to play two people: the person who declares a fix cannot
approve its replay.

{links}
  Control panel of the demo service (deploys versions of `orders`):
  panel            {url}/panel

Press Enter for new links, Ctrl-C to quit. Data folder: {}
",
        folder.display()
    );
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

/// Prints the sign-in links.
#[cfg(feature = "aws")]
pub fn links(links: &str) {
    say!(
        "\nOpen one of these links to sign in. Each link works once, in one browser tab.\n\n{links}\nPress Enter for new links, Ctrl-C to quit.\n"
    );
}

/// Prints new links each time Enter is pressed. Does nothing without a terminal.
pub fn links_on_enter(links: Links) {
    if !std::io::stdin().is_terminal() {
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

/// Waits for Ctrl-C or, on Unix, for SIGTERM.
pub async fn until_shutdown() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
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
