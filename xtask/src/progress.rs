//! Shows the progress of a long command in one line, and keeps its last lines for the case of failure.

use crate::failure::{Failure, Outcome};
use crate::run::shown;
use crate::say;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// How often a log file (no terminal) gets a line.
const HEARTBEAT: Duration = Duration::from_secs(20);
/// How often a terminal's status line is drawn again.
const TICK: Duration = Duration::from_millis(250);
const KEPT_LINES: usize = 80;
const STATUS_CHARS: usize = 90;

/// Runs `command` to its end. On failure the last lines of its output are in the failure's log.
pub fn watched(command: &mut Command) -> Outcome<()> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|cause| Failure::new(format!("Could not start {}: {cause}.", shown(command))))?;
    let (lines, incoming) = mpsc::channel();
    forward(child.stdout.take(), &lines);
    forward(child.stderr.take(), &lines);
    drop(lines);
    let mut view = View::new();
    view.follow(&incoming);
    let status = child.wait().map_err(|cause| Failure::new(format!("Lost sight of {}: {cause}.", shown(command))))?;
    view.clear();
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("{} failed ({status}).", shown(command))).log(view.tail()))
}

fn forward(stream: Option<impl Read + Send + 'static>, lines: &Sender<String>) {
    let (Some(stream), lines) = (stream, lines.clone()) else {
        return;
    };
    std::thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&line);
            // Progress bars rewrite their line with \r: only the last state counts.
            let last = text.trim_end().rsplit('\r').next().unwrap_or_default();
            if lines.send(last.to_owned()).is_err() {
                return;
            }
        }
    });
}

struct View {
    terminal: bool,
    started: Instant,
    last_shown: Instant,
    kept: VecDeque<String>,
}

impl View {
    fn new() -> View {
        let now = Instant::now();
        View { terminal: std::io::stdout().is_terminal(), started: now, last_shown: now, kept: VecDeque::new() }
    }

    fn follow(&mut self, incoming: &Receiver<String>) {
        loop {
            match incoming.recv_timeout(TICK) {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) => self.keep(line),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.draw();
        }
    }

    fn keep(&mut self, line: String) {
        if self.kept.len() == KEPT_LINES {
            self.kept.pop_front();
        }
        self.kept.push_back(line);
    }

    fn draw(&mut self) {
        let due = if self.terminal { TICK } else { HEARTBEAT };
        if self.last_shown.elapsed() < due {
            return;
        }
        self.last_shown = Instant::now();
        let status = self.status();
        if self.terminal {
            print!("\r\x1b[2K    {status}");
            let _ = std::io::stdout().flush();
        } else {
            println!("    {status}");
        }
    }

    fn status(&self) -> String {
        let last = self.kept.back().map_or("", |line| line.trim());
        let text = format!("{}  {last}", say::seconds(self.started.elapsed()));
        text.chars().take(STATUS_CHARS).collect()
    }

    fn clear(&self) {
        if self.terminal {
            print!("\r\x1b[2K");
        }
    }

    fn tail(&self) -> String {
        let lines: Vec<&str> = self.kept.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_leaves_its_last_lines() {
        let mut command = Command::new("sh");
        command.args(["-c", "i=0; while [ $i -lt 100 ]; do echo line $i; i=$((i+1)); done; exit 3"]);
        let log = watched(&mut command).expect_err("exit 3").log.expect("a log");
        assert!(log.contains("line 99") && !log.contains("line 19\n"), "{log}");
    }

    #[test]
    fn both_streams_are_kept() {
        let log = watched(Command::new("sh").args(["-c", "echo one; echo two >&2; exit 1"]));
        let log = log.expect_err("exit 1").log.expect("a log");
        assert!(log.contains("one") && log.contains("two"), "{log}");
    }

    #[test]
    fn a_missing_program_is_a_sentence() {
        let failure = watched(&mut Command::new("no-such-program")).expect_err("missing");
        assert!(failure.what.starts_with("Could not start `no-such-program`"), "{}", failure.what);
    }

    #[test]
    fn a_working_command_succeeds() {
        assert!(watched(&mut Command::new("true")).is_ok());
    }
}
