//! Processes that a test started, directly or through an endpoint, and how to kill one without hitting another.
//!
//! A process belongs to this test run if its environment carries [`RUN`] with the value of [`run`]. Only such a process
//! is ever killed, through a handle that keeps naming the same process even if its number is reused.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment variable that marks the processes of a test run.
pub const RUN: &str = "DLO_TEST_RUN";

/// Returns the value of [`RUN`] for this test run; no other run on this machine has the same one.
pub fn run() -> &'static str {
    static VALUE: LazyLock<String> = LazyLock::new(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is past 1970");
        format!("{}-{}", std::process::id(), since.as_millis())
    });
    &VALUE
}

/// A running process of this test run.
pub struct Process {
    pid: u32,
    #[cfg(target_os = "linux")]
    handle: std::os::fd::OwnedFd,
}

impl Process {
    /// Returns the processes of this run whose environment also has `name` set to `value`.
    pub fn with_variable(name: &str, value: &str) -> Vec<Self> {
        pids().filter(|pid| has_variable(*pid, name, value)).filter_map(Self::open).collect()
    }

    /// Returns the process of this run that has a TCP socket bound to `local`, connected to `remote`.
    pub fn at_connection(local: u16, remote: u16) -> Option<Self> {
        Self::with_socket(|socket| socket.local == local && socket.remote == remote)
    }

    /// Returns the process of this run that listens on a TCP port.
    pub fn listening_on(port: u16) -> Option<Self> {
        Self::with_socket(|socket| socket.local == port && socket.is_listening)
    }

    fn with_socket(is_wanted: impl Fn(&Socket) -> bool) -> Option<Self> {
        let links: Vec<_> = sockets().filter(is_wanted).map(|socket| format!("socket:[{}]", socket.inode)).collect();
        pids().filter(|pid| holds_any(*pid, &links)).find_map(Self::open)
    }

    /// Returns `None` if the process has ended, is the test itself, or does not belong to this run.
    #[cfg(target_os = "linux")]
    fn open(pid: u32) -> Option<Self> {
        use rustix::process::{Pid, PidfdFlags, pidfd_open};
        if pid == std::process::id() {
            return None;
        }
        // The handle first: if the number passes to another process now, the handle still names the one that ended.
        let handle = pidfd_open(Pid::from_raw(pid.try_into().ok()?)?, PidfdFlags::empty()).ok()?;
        has_variable(pid, RUN, run()).then_some(Self { pid, handle })
    }

    #[cfg(not(target_os = "linux"))]
    fn open(pid: u32) -> Option<Self> {
        panic!("process {pid}: tests that kill functions need Linux");
    }

    /// Kills the process with SIGKILL. Has no effect on a process that has ended.
    pub fn kill(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::pidfd_send_signal(&self.handle, rustix::process::Signal::KILL);
    }

    /// Returns whether the process still runs.
    pub fn is_running(&self) -> bool {
        // The kernel drops the environment with the memory, before the parent collects the process.
        has_variable(self.pid, RUN, run())
    }
}

fn pids() -> impl Iterator<Item = u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok())
}

fn has_variable(pid: u32, name: &str, value: &str) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let wanted = format!("{name}={value}");
    environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes())
}

/// Returns whether a process has one of these links among its open files.
fn holds_any(pid: u32, links: &[String]) -> bool {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let targets = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    targets.filter_map(|target| target.to_str().map(str::to_owned)).any(|target| links.contains(&target))
}

/// A TCP socket, as `/proc/net/tcp` and `/proc/net/tcp6` list it.
struct Socket {
    local: u16,
    remote: u16,
    is_listening: bool,
    inode: String,
}

impl Socket {
    fn read(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let port = |field: usize| u16::from_str_radix(fields.get(field)?.rsplit_once(':')?.1, 16).ok();
        Some(Self {
            local: port(1)?,
            remote: port(2)?,
            is_listening: *fields.get(3)? == "0A",
            inode: (*fields.get(9)?).to_owned(),
        })
    }
}

fn sockets() -> impl Iterator<Item = Socket> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let sockets = tables.iter().flat_map(|table| table.lines().skip(1).filter_map(Socket::read));
    sockets.collect::<Vec<_>>().into_iter()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};

    /// A process that waits for its input to end.
    fn child(variables: &[(&str, &str)]) -> Child {
        let mut cat = Command::new("cat");
        cat.envs(variables.iter().copied()).stdin(Stdio::piped()).stdout(Stdio::null());
        cat.spawn().expect("`cat` starts")
    }

    #[test]
    fn a_process_of_this_run_is_killed_and_no_other() {
        let mut ours = child(&[(RUN, run()), ("NAME", "ours")]);
        let mut other_run = child(&[(RUN, "1-1"), ("NAME", "ours")]);
        let mut unmarked = child(&[("NAME", "ours")]);
        // The kernel shows a new program's variables a moment after it has started.
        let started = std::time::Instant::now();
        let mut found = Process::with_variable("NAME", "ours");
        while found.is_empty() && started.elapsed() < std::time::Duration::from_secs(120) {
            std::thread::yield_now();
            found = Process::with_variable("NAME", "ours");
        }
        assert_eq!(found.iter().map(|process| process.pid).collect::<Vec<_>>(), [ours.id()]);
        assert!(found[0].is_running());
        found[0].kill();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ours.wait().expect("it ends")), Some(9));
        assert!(!found[0].is_running());
        found[0].kill();
        for child in [&mut other_run, &mut unmarked] {
            assert!(child.try_wait().expect("a state").is_none(), "it still runs");
            drop(child.stdin.take());
            assert!(child.wait().expect("it ends").success());
        }
    }

    #[test]
    fn the_test_itself_is_never_found_by_its_sockets() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let local = stream.local_addr().expect("an address").port();
        assert!(sockets().any(|socket| socket.local == port && socket.is_listening));
        assert!(sockets().any(|socket| socket.local == local && socket.remote == port));
        assert!(Process::listening_on(port).is_none());
        assert!(Process::at_connection(local, port).is_none());
    }
}
