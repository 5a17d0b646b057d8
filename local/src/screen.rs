//! What the demo says on the terminal, and how it is told to stop.

use crate::control::Links;
#[cfg(feature = "aws")]
use domain::id::QueueArn;
use std::io::{BufRead, IsTerminal};
use std::path::Path;

/// The first screen.
pub fn welcome(url: &str, links: &str, folder: &Path) {
    println!(
        "
Dead Letter Office is open.

Open one of these links. Each works once and signs in one tab; open two of them
to be two people, because whoever declares a fix may not approve it.

{links}
  The demo's control panel (deploys versions of `orders`):
  panel            {url}/panel

Enter prints new links. Ctrl-C closes the office. Its files: {}
",
        folder.display()
    );
}

/// What an office says that takes letters off a real queue.
#[cfg(feature = "aws")]
pub fn in_custody(dlq: &QueueArn, folder: &Path) {
    println!(
        "
Dead Letter Office takes letters off {dlq}.

Each is deleted there only after it is kept in {}.
That folder is the only copy from then on: back it up, and do not delete it.
Replays send to the real main queue.",
        folder.display()
    );
}

/// What an office says that only looks.
#[cfg(feature = "aws")]
pub fn looked(dlq: &QueueArn, count: usize, letters_max: usize) {
    println!(
        "
Dead Letter Office has looked at {count} letters of {dlq}.

All of them are still there and can be seen again. What looking did: each was received once more
(its ApproximateReceiveCount grew by one), and was out of sight for others meanwhile, two minutes
at most. Nothing was sent or deleted, and nothing can be from here: replays need `--custody`."
    );
    if count >= letters_max {
        println!("There may be more: it stops at {letters_max}.");
    }
}

/// How people come in.
#[cfg(feature = "aws")]
pub fn links(links: &str) {
    println!(
        "\nOpen one of these links. Each works once and signs in one tab.\n\n{links}\nEnter prints new links. Ctrl-C closes the office.\n"
    );
}

/// Prints new links each time somebody presses Enter, where there is a terminal to press it on.
pub fn links_on_enter(links: Links) {
    if !std::io::stdin().is_terminal() {
        return;
    }
    // A thread of its own, because a read of the terminal cannot be cancelled; it ends with the process.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() {
                return;
            }
            match links.print() {
                Ok(text) => println!("{text}"),
                Err(error) => eprintln!("{error}"),
            }
        }
    });
}

/// Waits for Ctrl-C or, on Unix, for the polite signal to end.
pub async fn until_told_to_stop() {
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
        // Without a way to be told, it runs until it is killed, which it survives.
        std::future::pending::<()>().await;
    }
}
