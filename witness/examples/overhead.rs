//! What the witness costs: invocations with it and without it, in turns, in the same run.
//!
//! ```text
//! cargo build --profile witness --package dlo-witness
//! cargo run --release --package dlo-witness --example overhead [program]
//! ```
//!
//! The Runtime API is a server in this process, and so is the runtime: it asks for an event and answers at once. So the
//! times are those of the Runtime API alone, and no function's work hides the difference.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use witness::settings::{PORT_VARIABLE, REPORTS, RUNTIME_API};

/// Invocations between two changes of the way: short against the drift of a busy machine.
const TURN: usize = 200;
const TURNS: usize = 20;
const STARTS: usize = 21;
/// The bodies of the batch: about one, ten and a thousand ordinary messages.
const BODIES_BYTES: [usize; 3] = [4 * 1024, 40 * 1024, 4 * 1024 * 1024];

fn main() -> io::Result<()> {
    let program = std::env::args().nth(1).unwrap_or_else(|| "target/witness/dlo-witness".to_owned());
    let size = std::fs::metadata(&program)?.len();
    println!("{program}: {:.1} MB\n", size as f64 / 1e6);
    println!("| event | without p50, p99 | with p50, p99 | added p50 |\n|---|---|---|---|");
    let mut memory = Vec::new();
    for bytes in BODIES_BYTES {
        let upstream = serve(event(bytes))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut witness = start(&program, upstream, port)?;
        let proxy = SocketAddr::from(([127, 0, 0, 1], port));
        let (mut without, mut with) = (Runtime::connect(upstream)?, Runtime::connect(proxy)?);
        let (mut plain, mut watched) = (Vec::new(), Vec::new());
        let turn = if bytes > 1024 * 1024 { TURN / 20 } else { TURN };
        for _ in 0..TURNS {
            plain.extend((0..turn).map(|_| without.invoke()).collect::<io::Result<Vec<_>>>()?);
            watched.extend((0..turn).map(|_| with.invoke()).collect::<io::Result<Vec<_>>>()?);
        }
        memory.push((bytes, resident_kb(witness.id())));
        witness.kill()?;
        witness.wait()?;
        let (plain, watched) = (sorted(plain), sorted(watched));
        let shown = |times: &[Duration]| format!("{:.2}, {:.2} ms", ms(times, 50), ms(times, 99));
        let added = ms(&watched, 50) - ms(&plain, 50);
        println!("| {} kB | {} | {} | {added:.2} ms |", bytes / 1024, shown(&plain), shown(&watched));
    }
    for (bytes, kb) in memory {
        println!("\nmemory after events of {} kB: {:.1} MB", bytes / 1024, kb as f64 / 1e3);
    }
    let upstream = serve(event(BODIES_BYTES[0]))?;
    let plain = sorted((0..STARTS).map(|_| started(Command::new("true"))).collect::<io::Result<Vec<_>>>()?);
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let starts = (0..STARTS).map(|_| {
        let begun = Instant::now();
        let mut witness = start(&program, upstream, port)?;
        let ready = begun.elapsed();
        witness.kill()?;
        witness.wait()?;
        Ok(ready)
    });
    let proxies = sorted(starts.collect::<io::Result<Vec<_>>>()?);
    let mut witness = start(&program, upstream, port)?;
    let wrapped = (0..STARTS).map(|_| {
        let mut wrapper = Command::new(&program);
        wrapper.arg("true");
        started(environment(wrapper, upstream, port))
    });
    let wrapped = sorted(wrapped.collect::<io::Result<Vec<_>>>()?);
    witness.kill()?;
    witness.wait()?;
    println!("\nuntil the proxy answers: {:.1} ms", ms(&proxies, 50));
    println!("the wrapper, added to the start of a process: {:.1} ms", ms(&wrapped, 50) - ms(&plain, 50));
    Ok(())
}

/// Starts the proxy and waits until it answers.
fn start(program: &str, upstream: SocketAddr, port: u16) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(["run", "--", "sleep", "600"]).stdin(Stdio::null()).stdout(Stdio::null());
    let child = environment(command, upstream, port).spawn()?;
    while !witness::wrapper::is_alive(port, &upstream.to_string()) {
        std::thread::yield_now();
    }
    Ok(child)
}

fn environment(mut command: Command, upstream: SocketAddr, port: u16) -> Command {
    command.env(RUNTIME_API, upstream.to_string()).env(PORT_VARIABLE, port.to_string());
    command.env(REPORTS, "http://127.0.0.1:9/1/reports");
    command
}

fn started(mut command: Command) -> io::Result<Duration> {
    let begun = Instant::now();
    command.status()?;
    Ok(begun.elapsed())
}

fn event(bytes: usize) -> String {
    let record = format!(
        r#"{{"messageId":"059f36b4-87a3-44ab-83d2-661975830a7d","receiptHandle":"AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a","body":"{}","attributes":{{"ApproximateReceiveCount":"1"}},"messageAttributes":{{}},"eventSource":"aws:sqs","eventSourceARN":"arn:aws:sqs:eu-west-1:111122223333:orders"}}"#,
        "x".repeat(3_700)
    );
    let count = (bytes / record.len()).max(1);
    format!("{{\"Records\":[{}]}}", vec![record; count].join(","))
}

/// A runtime's connection.
struct Runtime {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Runtime {
    fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// Takes an event and answers it. Returns how long both calls took.
    fn invoke(&mut self) -> io::Result<Duration> {
        let begun = Instant::now();
        self.call("GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: lambda\r\n\r\n")?;
        self.call("POST /2018-06-01/runtime/invocation/r-1/response HTTP/1.1\r\nHost: lambda\r\nContent-Length: 4\r\n\r\nnull")?;
        Ok(begun.elapsed())
    }

    fn call(&mut self, request: &str) -> io::Result<()> {
        self.stream.write_all(request.as_bytes())?;
        message(&mut self.stream, &mut self.buffer).map(drop)
    }
}

/// Serves the Runtime API: every `next` has the same event.
fn serve(event: String) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let event = event.clone();
            std::thread::spawn(move || answer(stream, &event));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, event: &str) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let next = format!(
        "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: r-1\r\nLambda-Runtime-Deadline-Ms: 4102444800000\r\nContent-Length: {}\r\n\r\n{event}",
        event.len()
    );
    let mut buffer = Vec::new();
    loop {
        let head = message(&mut stream, &mut buffer)?;
        let answer = match head.split(' ').nth(1) {
            Some(path) if path.ends_with("/next") && path.contains("runtime") => &next,
            Some(path) if path.ends_with("/response") => "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n",
            _ => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
        };
        stream.write_all(answer.as_bytes())?;
    }
}

/// Reads one request or response with a known length. Returns its head.
fn message(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<String> {
    buffer.clear();
    let mut piece = [0; 64 * 1024];
    let mut whole = None;
    while whole.as_ref().is_none_or(|(_, length)| buffer.len() < *length) {
        let read = stream.read(&mut piece)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.extend_from_slice(&piece[..read]);
        if whole.is_none()
            && let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n")
        {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            whole = Some((head, end + 4 + length.unwrap_or(0)));
            continue;
        }
    }
    Ok(whole.map(|(head, _)| head).unwrap_or_default())
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort();
    times
}

fn ms(times: &[Duration], percent: usize) -> f64 {
    times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3
}

fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
