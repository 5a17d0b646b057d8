//! The wrapper: starts the function's runtime, with the proxy's address where the proxy is.

use crate::proxy::{ALIVE_PATH, alive};
use crate::settings::{REPORTS, RUNTIME_API, port, proxy};
use crate::voice::say;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

/// How long the proxy may take to answer on the loopback interface: long enough for a cold processor.
const PROBE_MAX: Duration = Duration::from_millis(500);
/// The exit code of a command that cannot be run, as in shells.
const CANNOT_RUN: u8 = 127;

/// Becomes the command. Returns only if it cannot be run.
pub fn run(command: &[OsString], variable: impl Fn(&str) -> Option<String>) -> ExitCode {
    let Some((program, arguments)) = command.split_first() else { return ExitCode::from(CANNOT_RUN) };
    let mut process = Command::new(program);
    process.args(arguments);
    let port = port(&variable);
    if variable(REPORTS).is_some() && variable(RUNTIME_API).is_some_and(|upstream| is_alive(port, &upstream)) {
        process.env(RUNTIME_API, proxy(port).to_string());
    }
    let error = process.exec();
    say(&format!("cannot run {}: {error}", program.to_string_lossy()));
    ExitCode::from(CANNOT_RUN)
}

/// Whether the proxy of this Runtime API serves this port. Extensions can be switched off, and the port can belong to
/// somebody else, such as the proxy of another environment.
pub fn is_alive(port: u16, upstream: &str) -> bool {
    probe(port, &alive(upstream)).unwrap_or(false)
}

fn probe(port: u16, wanted: &str) -> std::io::Result<bool> {
    let until = Instant::now() + PROBE_MAX;
    let mut stream = TcpStream::connect_timeout(&proxy(port), PROBE_MAX)?;
    stream.set_read_timeout(Some(PROBE_MAX))?;
    stream.set_write_timeout(Some(PROBE_MAX))?;
    write!(stream, "GET {ALIVE_PATH} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    let mut buffer = [0; 512];
    // The answer is one small packet; a stranger's need not end.
    while answer.len() < 4 * buffer.len() && Instant::now() < until {
        let read = stream.read(&mut buffer)?;
        answer.extend_from_slice(&buffer[..read]);
        if memchr::memmem::find(&answer, wanted.as_bytes()).is_some() {
            return Ok(true);
        }
        if read == 0 {
            break;
        }
    }
    Ok(false)
}
