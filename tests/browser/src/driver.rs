//! A chromedriver process for one test: started on a free port, and shut down with the test, together with Chromium.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(60);
const SHUTDOWN_MAX: Duration = Duration::from_secs(20);

/// A running chromedriver.
pub struct Driver {
    child: Child,
    lines: Receiver<String>,
    port: u16,
}

impl Driver {
    /// Starts the program in `CHROMEDRIVER`, or the one on the path.
    pub fn start() -> Self {
        let program = std::env::var_os("CHROMEDRIVER").unwrap_or_else(|| "chromedriver".into());
        let started = Command::new(&program)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = started.unwrap_or_else(|error| {
            panic!("{} does not start ({error}): run `cargo ci`, which installs it", program.display())
        });
        let stdout = child.stdout.take().expect("its stdout is a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        // Created before anything can fail, so that the process always ends.
        let mut driver = Self { child, lines, port: 0 };
        driver.port = driver.printed_port().expect("chromedriver prints its port");
        driver
    }

    /// Returns the URL of its API.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn printed_port(&self) -> Option<u16> {
        let until = Instant::now() + START_MAX;
        loop {
            let line = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            if let Some((_, port)) = line.split_once("started successfully on port ") {
                return port.trim_end_matches('.').parse().ok();
            }
        }
    }

    /// Requests a shutdown, which also closes every Chromium that it started. Killing it would leave them behind.
    fn shut_down(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(SHUTDOWN_MAX))?;
        stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        // It responds when the browsers are closed.
        let _ = stream.read_to_end(&mut Vec::new());
        let until = Instant::now() + SHUTDOWN_MAX;
        while self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.shut_down();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
