//! Shows the progress of a long command in one line, and keeps its last lines for the case of failure.

use crate::failure::{Failure, Outcome};
use crate::run::shown;
use crate::say;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Child, Command, Stdio};
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
    start(command)?.watched()
}

/// A program that works while this one does something else. It is killed if nobody waits for it any more.
pub struct Started {
    child: Child,
    incoming: Receiver<String>,
    shown: String,
}

/// Starts `command`. What it prints is kept until it is watched.
pub fn start(command: &mut Command) -> Outcome<Started> {
    let shown = shown(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|cause| Failure::new(format!("Could not start {shown}: {cause}.")))?;
    let (lines, incoming) = mpsc::channel();
    forward(child.stdout.take(), &lines);
    forward(child.stderr.take(), &lines);
    Ok(Started { child, incoming, shown })
}

impl Started {
    /// Shows the progress until the program ends, as [`watched`] does.
    pub fn watched(mut self) -> Outcome<()> {
        let mut view = View::new();
        view.follow(&self.incoming);
        let ended = self.child.wait();
        let status = ended.map_err(|cause| Failure::new(format!("Lost sight of {}: {cause}.", self.shown)))?;
        view.clear();
        if status.success() {
            return Ok(());
        }
        Err(Failure::new(format!("{} failed ({status}).", self.shown)).log(view.tail()))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // Both fail where it has ended, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
    fn a_program_works_before_it_is_watched() {
        let done = std::env::temp_dir().join(format!("dlo-started-{}", std::process::id()));
        let mut started =
            start(Command::new("sh").arg("-c").arg(format!("echo > '{}'", done.display()))).expect("starts");
        started.child.wait().expect("it ends by itself");
        assert!(done.is_file());
        started.watched().expect("it went well");
        std::fs::remove_file(done).expect("removed");
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
