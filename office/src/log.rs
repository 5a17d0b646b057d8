//! Output of the office's programs that cannot fail: a closed pipe, a full disk or a reader that has stopped reading costs
//! lines, and never the process.
//!
//! The standard library's `println!` and `eprintln!` panic if they cannot write, and wait for ever if nobody reads. So the
//! programs write to [`stdout`] and [`stderr`], or with [`crate::say`] and [`crate::say_error`].

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::fmt::Arguments;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

/// What is written at a time, bytes. A pipe that is ready takes this much without blocking (`PIPE_BUF` on Linux).
const CHUNK_BYTES: usize = 4096;
/// How long a line waits for a reader that is merely slow. Once a line was lost, the next ones do not wait.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
const NO_PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Standard output or standard error, as a writer that always succeeds.
#[derive(Debug)]
pub struct Output {
    is_error: bool,
    state: Mutex<State>,
}

/// What could not be written.
#[derive(Debug)]
struct State {
    /// Lines that were lost since the last one that was written.
    lost: u64,
    /// Whether the last line was written in part.
    is_torn: bool,
}

static STDOUT: Output = Output::new(false);
static STDERR: Output = Output::new(true);

/// Returns standard output.
pub fn stdout() -> &'static Output {
    &STDOUT
}

/// Returns standard error.
pub fn stderr() -> &'static Output {
    &STDERR
}

impl Output {
    const fn new(is_error: bool) -> Self {
        Self { is_error, state: Mutex::new(State { lost: 0, is_torn: false }) }
    }

    /// Writes formatted text. Text that cannot be written is lost.
    pub fn say(&self, text: Arguments<'_>) {
        self.put(text.to_string().as_bytes());
    }

    fn put(&self, line: &[u8]) {
        match self.is_error {
            true => self.put_to(io::stderr().as_fd(), line),
            false => self.put_to(io::stdout().as_fd(), line),
        }
    }

    fn put_to(&self, to: BorrowedFd<'_>, line: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.put(to, line);
    }
}

impl Write for &Output {
    /// Writes everything, or loses it. Always returns the whole length.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.put(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl State {
    fn put(&mut self, to: BorrowedFd<'_>, line: &[u8]) {
        let wait = if self.lost == 0 { PATIENCE } else { NO_PATIENCE };
        if self.lost > 0 {
            if let Err(is_torn) = write(to, self.note(line).as_bytes(), &wait) {
                *self = Self { lost: self.lost + 1, is_torn: self.is_torn || is_torn };
                return;
            }
            *self = Self { lost: 0, is_torn: false };
        }
        if let Err(is_torn) = write(to, line, &wait) {
            *self = Self { lost: 1, is_torn };
        }
    }

    /// Returns the line that tells how many were lost, in the form of the line that follows.
    fn note(&self, next: &[u8]) -> String {
        let start = if self.is_torn { "\n" } else { "" };
        let text = format!("lines lost here because they could not be written: {}", self.lost);
        match next.first() {
            Some(b'{') => format!("{start}{{\"level\":\"WARN\",\"fields\":{{\"message\":\"{text}\"}}}}\n"),
            _ => format!("{start}{text}\n"),
        }
    }
}

/// Writes everything. The error says whether a part was written.
fn write(to: BorrowedFd<'_>, bytes: &[u8], wait: &Timespec) -> Result<(), bool> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let torn = rest.len() < bytes.len();
        if !is_ready(to, wait) {
            return Err(torn);
        }
        match rustix::io::write(to, &rest[..rest.len().min(CHUNK_BYTES)]) {
            Ok(0) => return Err(torn),
            Ok(written) => rest = &rest[written..],
            Err(Errno::INTR) => {}
            Err(_) => return Err(torn),
        }
    }
    Ok(())
}

/// Returns whether a write would not block. A file is always ready; so is a pipe without a reader, where writing fails.
fn is_ready(to: BorrowedFd<'_>, wait: &Timespec) -> bool {
    loop {
        match poll(&mut [PollFd::from_borrowed_fd(to, PollFlags::OUT)], Some(wait)) {
            Err(Errno::INTR) => {}
            ready => return ready.is_ok_and(|count| count > 0),
        }
    }
}

/// Writes a line to standard output, as `println!` does, but never fails.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => { $crate::log::stdout().say(::std::format_args!("{}\n", ::std::format_args!($($text)*))) };
}

/// Writes a line to standard error, as `eprintln!` does, but never fails.
#[macro_export]
macro_rules! say_error {
    ($($text:tt)*) => { $crate::log::stderr().say(::std::format_args!("{}\n", ::std::format_args!($($text)*))) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{PipeReader, Read, pipe};

    fn put(output: &Output, to: &impl AsFd, line: &str) {
        output.put_to(to.as_fd(), line.as_bytes());
    }

    /// Fills the pipe until it takes no more. Returns how many lines were written.
    fn fill(output: &Output, to: &impl AsFd, line: &str) -> usize {
        let lost = || output.state.lock().unwrap().lost;
        (0..)
            .take_while(|_| {
                put(output, to, line);
                lost() == 0
            })
            .count()
    }

    /// Reads as many bytes as there are for sure.
    fn drain(mut from: &PipeReader, bytes: usize) -> String {
        let mut read = vec![0; bytes];
        from.read_exact(&mut read).unwrap();
        String::from_utf8(read).unwrap()
    }

    #[test]
    fn a_closed_pipe_and_a_full_disk_cost_lines_only() {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let full = File::options().write(true).open("/dev/full").unwrap();
        for to in [writer.as_fd(), full.as_fd()] {
            let output = Output::new(true);
            put(&output, &to, "one\n");
            put(&output, &to, "two\n");
            assert_eq!(output.state.lock().unwrap().lost, 2);
        }
    }

    #[test]
    fn a_pipe_that_nobody_reads_costs_lines_and_says_how_many() {
        let (reader, writer) = pipe().unwrap();
        let output = Output::new(true);
        let line = format!("{{\"n\":\"{}\"}}\n", "x".repeat(1000));
        let written = fill(&output, &writer, &line);
        put(&output, &writer, &line);
        put(&output, &writer, &line);
        assert!(drain(&reader, written * line.len()).ends_with(&line));
        put(&output, &writer, &line);
        drop(writer);
        let mut rest = String::new();
        (&reader).read_to_string(&mut rest).unwrap();
        let note = r#"{"level":"WARN","fields":{"message":"lines lost here because they could not be written: 3"}}"#;
        assert!(rest.ends_with(&format!("{note}\n{line}")), "{rest}");
    }

    #[test]
    fn a_line_longer_than_the_pipe_is_torn_and_the_next_one_begins_anew() {
        let (reader, writer) = pipe().unwrap();
        let output = Output::new(true);
        let long = "y".repeat(1024 * 1024);
        put(&output, &writer, &long);
        assert!(output.state.lock().unwrap().is_torn);
        drain(&reader, CHUNK_BYTES * 4);
        put(&output, &writer, "next\n");
        drop(writer);
        let mut rest = String::new();
        (&reader).read_to_string(&mut rest).unwrap();
        assert!(rest.ends_with("y\nlines lost here because they could not be written: 1\nnext\n"));
    }
}
