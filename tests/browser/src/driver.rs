//! chromedriver as a process of one test: started on a free port, ended with the test, and Chromium with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(60);
const STOP_MAX: Duration = Duration::from_secs(20);

/// A chromedriver that runs.
pub struct Driver {
    child: Child,
    lines: Receiver<String>,
    port: u16,
}

impl Driver {
    /// Starts `CHROMEDRIVER`, or the one on the path.
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
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        // Made before anything can fail, so that the process ends in any case.
        let mut driver = Self { child, lines, port: 0 };
        driver.port = driver.told_port().expect("chromedriver prints its port");
        driver
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn told_port(&self) -> Option<u16> {
        let until = Instant::now() + START_MAX;
        loop {
            let line = self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            if let Some((_, rest)) = line.split_once("started successfully on port ") {
                return rest.trim_end_matches('.').parse().ok();
            }
        }
    }

    /// Asks it to end, with every Chromium it has started; killing it would leave those behind.
    fn ask_to_end(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(STOP_MAX))?;
        stream.write_all(b"GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        // It answers when the browsers are gone.
        let _ = stream.read_to_end(&mut Vec::new());
        let until = Instant::now() + STOP_MAX;
        while self.lines.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {}
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.ask_to_end();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
