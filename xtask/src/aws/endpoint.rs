//! The endpoint: a MiniStack that this program starts on a free port, or the one that `AWS_ENDPOINT_URL` names.

use crate::failure::{Failure, Outcome, at};
use crate::paths::Paths;
use crate::tools::aws;
use crate::{run, say};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// LocalStack's port, which tools try first. If it is taken, any free port is used.
const PORT: u16 = 4566;
/// The variable that names a MiniStack's own folder.
const DATA: &str = "S3_DATA_DIR";
const START_MAX: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);
/// How much of the log a failure shows: some minutes of a test.
const LOG_LINES: usize = 300;

pub struct Endpoint {
    pub url: String,
    /// The folder of our own MiniStack; `None` for a named endpoint.
    folder: Option<PathBuf>,
}

impl Endpoint {
    /// Finds the named endpoint, or the MiniStack that runs in this folder.
    pub fn find(folder: &Path) -> Outcome<Endpoint> {
        if let Some(url) = named() {
            return Ok(Endpoint { url, folder: None });
        }
        let missing = || Failure::new("No endpoint is running.").remedy("Start one with: cargo aws up");
        let (pid, port) = read(folder).ok_or_else(missing)?;
        if !answers(port) {
            let what = format!("The endpoint on port {port} (process {pid}) no longer answers.");
            let remedy = format!("Look at {}, then: cargo aws down, cargo aws up", log_file(folder).display());
            return Err(Failure::new(what).remedy(remedy));
        }
        Ok(ours(folder, port))
    }

    /// Finds the endpoint; starts a MiniStack if there is no endpoint yet.
    pub fn ensure(paths: &Paths, folder: &Path) -> Outcome<Endpoint> {
        if named().is_some() {
            return Self::find(folder);
        }
        match read(folder) {
            Some((_, port)) if answers(port) => return Self::find(folder),
            // It died, with everything in it.
            Some(_) => stop(folder)?,
            None => {}
        }
        let programs = aws::ensure_ministack(paths)?;
        let port = free_port()?;
        say::phase(&format!("starting MiniStack on port {port}"), || start(paths, folder, &programs, port))?;
        Ok(ours(folder, port))
    }

    /// Prints the end of our own endpoint's log, which has what the functions wrote.
    pub fn print_log_end(&self) {
        let Some(text) = self.folder.as_deref().and_then(|folder| fs::read_to_string(log_file(folder)).ok()) else {
            return;
        };
        let lines: Vec<&str> = text.lines().collect();
        println!("\nThe last {LOG_LINES} lines of MiniStack's log:");
        lines.iter().skip(lines.len().saturating_sub(LOG_LINES)).for_each(|line| println!("{line}"));
    }

    /// Sets the variables that lead a command to this endpoint. MiniStack does not check credentials.
    pub fn named_to<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env("AWS_ENDPOINT_URL", &self.url).env("SAM_CLI_TELEMETRY", "0");
        for (name, value) in [
            ("AWS_REGION", "us-east-1"),
            ("AWS_DEFAULT_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
        ] {
            if self.is_ours() || std::env::var_os(name).is_none() {
                command.env(name, value);
            }
        }
        command
    }

    pub fn is_ours(&self) -> bool {
        self.folder.is_some()
    }
}

fn named() -> Option<String> {
    std::env::var("AWS_ENDPOINT_URL").ok().filter(|url| !url.is_empty())
}

fn ours(folder: &Path, port: u16) -> Endpoint {
    Endpoint { url: format!("http://127.0.0.1:{port}"), folder: Some(folder.into()) }
}

fn pid_file(folder: &Path) -> PathBuf {
    folder.join("ministack.pid")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("ministack.log")
}

/// Its process and its port.
fn read(folder: &Path) -> Option<(u32, u16)> {
    let text = fs::read_to_string(pid_file(folder)).ok()?;
    let (pid, port) = text.trim().split_once(' ')?;
    Some((pid.parse().ok()?, port.parse().ok()?))
}

fn free_port() -> Outcome<u16> {
    let bound = TcpListener::bind(("127.0.0.1", PORT)).or_else(|_| TcpListener::bind(("127.0.0.1", 0)));
    let port = bound.and_then(|listener| listener.local_addr());
    port.map(|address| address.port())
        .map_err(|cause| Failure::new(format!("No port of this machine is free: {cause}.")))
}

fn start(paths: &Paths, folder: &Path, programs: &Path, port: u16) -> Outcome<()> {
    at("create", &temporary(folder), fs::create_dir_all(temporary(folder)))?;
    let log = at("write", &log_file(folder), File::create(log_file(folder)))?;
    let mut ministack = run::cleaned(Command::new(programs.join("ministack")), paths);
    // Functions must call this endpoint, not AWS.
    ministack.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"));
    ministack.env("GATEWAY_PORT", port.to_string()).env("BIND_HOST", "127.0.0.1");
    // Here it unpacks the functions, some hundred megabytes, and its end leaves them.
    ministack.env("TMPDIR", temporary(folder));
    // What tells our own process from everybody else's.
    ministack.env(DATA, data(folder)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let mut child = ministack.spawn().map_err(|cause| Failure::new(format!("MiniStack did not start: {cause}.")))?;
    let said = format!("{} {port}", child.id());
    at("write", &pid_file(folder), fs::write(pid_file(folder), said))?;
    if !has_started(&mut child, || answers(port)) {
        let what = match child.try_wait() {
            Ok(Some(status)) => format!("MiniStack ended before it answered on port {port} ({status})."),
            _ => format!("MiniStack does not answer on port {port} within {} s.", START_MAX.as_secs()),
        };
        let log = fs::read_to_string(log_file(folder)).unwrap_or_default();
        stop(folder)?;
        return Err(Failure::new(what).log(log));
    }
    Ok(())
}

/// Waits until a server answers. Returns false if its process ends, or the server says nothing for too long.
///
/// The environment of the process does not tell whether it lives: the kernel shows none while a program begins.
fn has_started(child: &mut Child, mut answers: impl FnMut() -> bool) -> bool {
    let mut lives = || child.try_wait().is_ok_and(|status| status.is_none());
    // Another server may answer on the port of one that has ended.
    wait(|| !lives() || answers()) && lives()
}

/// Whether a condition came true in time.
#[expect(clippy::disallowed_methods, reason = "a pause between two looks at a condition, with a deadline")]
fn wait(mut is_so: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !is_so() {
        if started.elapsed() > START_MAX {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Whether it answers HTTP: a bound port alone may not answer yet.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let asked = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    asked.is_ok() && stream.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0)
}

fn data(folder: &Path) -> PathBuf {
    folder.join("s3")
}

fn temporary(folder: &Path) -> PathBuf {
    folder.join("tmp")
}

/// Whether this process is the MiniStack of this folder: its environment names the folder. The number of a process that
/// ended may belong to another one by now, and that may be another checkout's MiniStack.
fn is_our_process(pid: u32, folder: &Path) -> bool {
    let ours = format!("{DATA}={}", data(folder).display());
    match fs::read(format!("/proc/{pid}/environ")) {
        // A process that has ended, and waits for its parent to notice, has an empty one.
        Ok(environment) => environment.split(|byte| *byte == 0).any(|variable| variable == ours.as_bytes()),
        // Not Linux, or nobody there. With these letters, `ps` shows the environment behind the command.
        Err(_) => {
            let shown = run::captured(Command::new("ps").args(["eww", "-o", "command=", "-p", &pid.to_string()]));
            shown.is_ok_and(|line| format!("{} ", line.trim_end()).contains(&format!(" {ours} ")))
        }
    }
}

/// Ends our own MiniStack, with everything in it.
pub fn stop(folder: &Path) -> Outcome<()> {
    let Some((pid, _)) = read(folder) else {
        say::note("MiniStack is not running");
        return Ok(());
    };
    if is_our_process(pid, folder) {
        run::captured(Command::new("kill").arg(pid.to_string()))?;
        if !wait(|| !is_our_process(pid, folder)) {
            return Err(Failure::new(format!("MiniStack (process {pid}) does not end.")));
        }
        say::note(&format!("MiniStack (process {pid}) has ended"));
    }
    let unpacked = temporary(folder);
    // A function that is just ending may still write there. The next end removes what is left.
    if let Some(cause) = fs::remove_dir_all(&unpacked).err().filter(|cause| cause.kind() != ErrorKind::NotFound) {
        say::note(&format!("{} is left ({cause})", unpacked.display()));
    }
    at("remove", &pid_file(folder), fs::remove_file(pid_file(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_running_is_a_sentence_with_a_remedy() {
        let folder = std::env::temp_dir().join(format!("xtask-endpoint-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let Err(failure) = Endpoint::find(&folder) else { panic!("nothing runs") };
        assert_eq!(failure.what, "No endpoint is running.");
        // This process is not MiniStack, so a stale file ends no process.
        fs::write(pid_file(&folder), format!("{} 1", std::process::id())).expect("written");
        let Err(failure) = Endpoint::find(&folder) else { panic!("nothing answers on port 1") };
        assert!(failure.what.contains("no longer answers"), "{}", failure.what);
        stop(&folder).expect("forgotten");
        assert!(read(&folder).is_none());
        fs::remove_dir_all(&folder).expect("removed");
    }

    /// Stands in for a MiniStack of a folder: it waits for its input to end.
    fn stand_in(of: &Path) -> std::process::Child {
        let mut cat = Command::new("cat");
        cat.env(DATA, data(of)).stdin(Stdio::piped()).stdout(Stdio::null());
        let child = cat.spawn().expect("a process");
        assert!(super::wait(|| is_our_process(child.id(), of)), "the kernel shows its environment");
        child
    }

    #[test]
    fn a_server_has_started_when_it_answers_while_its_process_lives() {
        let mut wait = Command::new("cat");
        // As a program looks that has just begun.
        let mut child = wait.env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("a process");
        let mut answers = [false, false, true].into_iter();
        assert!(has_started(&mut child, || answers.next().expect("it has answered")));
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(!has_started(&mut child, || true), "another server answers");
    }

    #[test]
    fn only_the_ministack_of_this_folder_is_ended() {
        let folder = std::env::temp_dir().join(format!("xtask-ministack-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (mut own, mut other) = (stand_in(&folder), stand_in(&folder.join("another")));
        assert!(is_our_process(own.id(), &folder) && !is_our_process(other.id(), &folder));
        // The number of ours has gone to the MiniStack of another folder.
        fs::write(pid_file(&folder), format!("{} 1", other.id())).expect("written");
        stop(&folder).expect("forgotten");
        assert!(other.try_wait().expect("asked").is_none(), "the other one runs on");
        fs::write(pid_file(&folder), format!("{} 1", own.id())).expect("written");
        fs::create_dir_all(temporary(&folder).join("function")).expect("an unpacked function");
        stop(&folder).expect("ended");
        assert!(!temporary(&folder).exists(), "nothing is left of its functions");
        assert!(!own.wait().expect("ended").success(), "it was ended by a signal");
        other.kill().and_then(|()| other.wait()).expect("ended");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
