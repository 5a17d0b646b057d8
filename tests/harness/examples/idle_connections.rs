//! Measures the memory of a real `dlo demo` under connections that nobody has signed in on: idle ones, and ones that stop
//! in the middle of a request. At none, at 500 and at 2,000, and again after all have closed. Fails above 100 MiB.
//!
//! `cargo build --profile demo -p dlo`, then
//! `cargo run --profile demo -p dlo-harness --example idle_connections`; `DLO_BIN` names another program than
//! `target/demo/dlo`. It needs 4,200 file handles (`ulimit -Hn`), of which the office takes half.

use harness::running::{Demo, until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const STEPS: [usize; 3] = [0, 500, 2_000];
const MIB_MAX: f64 = 100.0;
/// File handles that the office opens for other purposes meanwhile, for example for readers of its store.
const OTHERS_MAX: usize = 64;
const DEADLINE: Duration = Duration::from_secs(30);
/// The whole response is a page, which nobody has to sign in for.
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
/// The bytes of a head that is as long as the office takes, less a few.
const HEAD_BYTES: usize = 16_000;
/// The same for the body of a sign-in.
const BODY_BYTES: usize = 1_000;

/// What a connection does before it falls silent.
#[derive(Clone, Copy)]
enum Start {
    Nothing,
    Request,
    HalfHead,
    HalfBody,
}

impl Start {
    const ALL: [(&'static str, Self); 4] = [
        ("that send nothing", Self::Nothing),
        ("after a request each", Self::Request),
        ("in the middle of a head", Self::HalfHead),
        ("in the middle of a body", Self::HalfBody),
    ];

    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Request => REQUEST.to_vec(),
            Self::HalfHead => {
                format!("GET / HTTP/1.1\r\nhost: localhost\r\nx: {}", "x".repeat(HEAD_BYTES)).into_bytes()
            }
            Self::HalfBody => {
                let head = "POST /api/v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
                let length = BODY_BYTES + 1;
                format!("{head}\r\ncontent-length: {length}\r\n\r\n{}", "x".repeat(BODY_BYTES)).into_bytes()
            }
        }
    }
}

#[tokio::main]
async fn main() {
    // The office inherits the limit.
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).expect("the limit is raised");
    for (name, start) in Start::ALL {
        let folder = tempfile::tempdir().expect("a folder");
        let demo = Demo::start(folder.path());
        let address = demo.url.trim_start_matches("http://").to_string();
        let handles_before = handles(demo.pid());
        println!("connections {name}");
        let mut idle = Vec::new();
        for count in STEPS {
            while idle.len() < count {
                idle.push(connect(&address, start).await);
            }
            until("every connection", DEADLINE, async || (handles(demo.pid()) >= handles_before + count).then_some(()))
                .await;
            let mib = resident_mib(demo.pid());
            println!("  {count:>5}: {mib:.1} MiB");
            assert!(mib < MIB_MAX, "at least {MIB_MAX} MiB");
        }
        drop(idle);
        let few = handles_before + OTHERS_MAX;
        until("no connection", DEADLINE, async || (handles(demo.pid()) <= few).then_some(())).await;
        println!("  all closed: {:.1} MiB", resident_mib(demo.pid()));
    }
}

/// Opens a connection, sends what it starts with, and reads the response to a whole request.
async fn connect(address: &str, start: Start) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(&start.bytes()).await.expect("it is sent");
    if matches!(start, Start::Request) {
        let mut text = Vec::new();
        while !text.ends_with(b"}") || !is_whole(&text) {
            assert!(stream.read_buf(&mut text).await.expect("a response") > 0, "closed too early");
        }
    }
    stream
}

/// Returns whether the body is as long as the head of the response says.
fn is_whole(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.and_then(|length| length.parse().ok()) == Some(body.len())
}

/// Returns how many file handles a process has open.
fn handles(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("the process runs").count()
}

/// Returns how much memory a process occupies.
fn resident_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kib / 1024.0
}
