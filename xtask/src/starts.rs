//! `cargo xtask starts`: how large the functions are, and how long the process of each takes from its start to the
//! answer to its first event, beside the smallest possible function.
//!
//! A server on loopback stands in for Lambda and speaks the runtime API: it gives one event and waits for the answer.
//! It also answers every AWS call with an empty object: only the start is measured.

use crate::failure::{Failure, Outcome, at};
use crate::function;
use crate::paths::Paths;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Starts of each function; the median is told.
const STARTS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(20);

/// An event that each function understands, and does the least for.
fn event(name: &str) -> &'static str {
    match name {
        "intake" | "replay" => r#"{"Records":[]}"#,
        "api" => {
            r#"{"version":"2.0","routeKey":"$default","rawPath":"/api/v1/me","rawQueryString":"","headers":{"host":"office"},
                "requestContext":{"accountId":"anonymous","apiId":"office","domainName":"office","domainPrefix":"office",
                "http":{"method":"GET","path":"/api/v1/me","protocol":"HTTP/1.1","sourceIp":"127.0.0.1","userAgent":"x"},
                "requestId":"r","routeKey":"$default","stage":"$default","time":"01/Jan/2026:00:00:00 +0000",
                "timeEpoch":1767225600000},"isBase64Encoded":false}"#
        }
        _ => "{}",
    }
}

pub fn command(paths: &Paths) -> Outcome<ExitCode> {
    let functions = function::build_all(paths)?;
    let failed = |cause: std::io::Error| Failure::new(format!("The runtime API cannot be simulated: {cause}."));
    println!(
        "function   file MB   zipped MB   start to first poll ms   start to first answer ms   (medians of {STARTS})"
    );
    for (name, file) in functions {
        let bytes = at("read", &file, std::fs::read(&file))?;
        let mut starts = Vec::new();
        for _ in 0..STARTS {
            starts.push(Stub::start(event(name)).map_err(failed)?.start_of(name, &file)?);
        }
        let median = |mut all: Vec<Duration>| {
            all.sort();
            all[all.len() / 2].as_secs_f64() * 1e3
        };
        let (polls, answers): (Vec<_>, Vec<_>) = starts.into_iter().unzip();
        let zipped = zipped_bytes(&bytes).map_err(failed)?;
        let mb = |bytes: usize| bytes as f64 / 1e6;
        let (file_mb, zipped_mb, poll_ms, answer_ms) = (mb(bytes.len()), mb(zipped), median(polls), median(answers));
        println!("{name:<8} {file_mb:>9.1} {zipped_mb:>11.1} {poll_ms:>24.1} {answer_ms:>26.1}");
    }
    Ok(ExitCode::SUCCESS)
}

/// The size of a zip of one file, up to a few bytes.
fn zipped_bytes(bytes: &[u8]) -> std::io::Result<usize> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes)?;
    Ok(packed.finish()?.len())
}

/// A call that the function made of the runtime API.
enum Seen {
    Poll(Instant),
    Answer(Instant),
}

/// For one process: the poll of one that has ended must not get the event of the next.
struct Stub {
    address: String,
    seen: Receiver<Seen>,
}

impl Stub {
    fn start(event: &'static str) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let (tell, seen) = mpsc::channel();
        let next = Arc::new(Mutex::new(Some(event)));
        // It listens until this program ends.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (tell, next) = (tell.clone(), next.clone());
                // The function ends its connections by ending.
                std::thread::spawn(move || drop(serve(stream, &tell, &next)));
            }
        });
        Ok(Self { address, seen })
    }

    /// From the start of the process to its first poll, and to its first answer.
    fn start_of(&self, name: &str, file: &Path) -> Outcome<(Duration, Duration)> {
        let broken = || Failure::new(format!("The function {name} did not answer."));
        let started = Instant::now();
        let child = self.spawn(name, file).map_err(|cause| Failure::new(format!("{name} did not start: {cause}.")))?;
        let _ended = Ended(child);
        let (mut poll, mut answer) = (None, None);
        while answer.is_none() {
            match self.seen.recv_timeout(PATIENCE).map_err(|_| broken())? {
                Seen::Poll(at) => poll = poll.or(Some(at)),
                Seen::Answer(at) => answer = Some(at),
            }
        }
        let (poll, answer) = (poll.ok_or_else(broken)?, answer.ok_or_else(broken)?);
        Ok((poll.saturating_duration_since(started), answer.saturating_duration_since(started)))
    }

    fn spawn(&self, name: &str, file: &Path) -> std::io::Result<Child> {
        let mut function = Command::new(file);
        function.env_clear().env("AWS_LAMBDA_RUNTIME_API", &self.address).env("AWS_LAMBDA_FUNCTION_NAME", name);
        function.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256").env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        function.env("AWS_LAMBDA_LOG_STREAM_NAME", "starts").env("AWS_LAMBDA_LOG_GROUP_NAME", "starts");
        function.env("AWS_REGION", "us-east-1").env("AWS_ENDPOINT_URL", format!("http://{}", self.address));
        function.env("AWS_ACCESS_KEY_ID", "none").env("AWS_SECRET_ACCESS_KEY", "none");
        function.env("DLO_TABLE", "none").env("DLO_STEPS", "arn:aws:sqs:us-east-1:0:steps");
        function.env("DLO_ISSUER", format!("http://{}", self.address)).env("DLO_CLIENT_ID", "none");
        function.env("DLO_NAME_CLAIM", "name").env("DLO_ROLES_CLAIM", "roles");
        function.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    }
}

/// A function is killed when it has answered.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One connection: polls get the event, answers are told, AWS's calls get an empty object.
fn serve(stream: TcpStream, tell: &Sender<Seen>, next: &Mutex<Option<&'static str>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        read_rest(&mut reader)?;
        let now = Instant::now();
        let (extra, body) = if path.ends_with("/invocation/next") {
            let _ = tell.send(Seen::Poll(now));
            // A second poll waits until its process is killed.
            let Some(event) = next.lock().ok().and_then(|mut next| next.take()) else {
                return reader.read(&mut [0; 1]).map(drop);
            };
            let about = "lambda-runtime-aws-request-id: 1\r\nlambda-runtime-deadline-ms: 99999999999999\r\n\
                         lambda-runtime-invoked-function-arn: arn:aws:lambda:us-east-1:0:function:f\r\n";
            (about, event)
        } else {
            if path.contains("/runtime/") {
                let _ = tell.send(Seen::Answer(now));
            }
            ("", "{}")
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n{extra}content-length: {length}\r\n\r\n");
        writer.write_all((head + body).as_bytes())?;
    }
}

/// Headers and body.
fn read_rest(reader: &mut BufReader<TcpStream>) -> std::io::Result<()> {
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        length = line.strip_prefix("content-length:").and_then(|value| value.trim().parse().ok()).unwrap_or(length);
        is_chunked |= line.strip_prefix("transfer-encoding:").is_some_and(|value| value.contains("chunked"));
    }
    if !is_chunked {
        return reader.read_exact(&mut vec![0; length]);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or_default();
        // Each chunk ends with a line end, the last one too.
        reader.read_exact(&mut vec![0; size + 2])?;
        if size == 0 {
            return Ok(());
        }
    }
}
