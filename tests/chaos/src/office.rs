//! A `dlo demo` of its own process: started, signalled and limited from outside, and called over HTTP.

use anyhow::{Context, Result, anyhow, bail};
use local::control::Control;
use rustix::process::{Pid, Resource, Signal, kill_process};
#[cfg(target_os = "linux")]
use rustix::process::{Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The deadline for a started office to answer. A busy machine with two cores takes two seconds.
const START_MAX: Duration = Duration::from_secs(60);
/// The deadline for an office to close after SIGTERM.
const CLOSE_MAX: Duration = Duration::from_secs(30);
/// The deadline for an answer. A frozen office answers when it runs again.
const ANSWER_MAX: Duration = Duration::from_secs(20);
const TICK: Duration = Duration::from_millis(50);

/// How offices are started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program `dlo`.
    pub dlo: PathBuf,
    /// libfaketime, where this machine has it.
    pub faketime: Option<PathBuf>,
}

impl Program {
    /// Returns the command for `dlo demo` on a folder and a free port. A write beyond a file-size limit is an error for
    /// it, as on a full disk, not a signal that ends it.
    pub fn demo(&self, folder: &Path, stderr: File) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(&self.dlo);
        command.args(["demo", "--port", "0", "--orders-per-s", "0", "--data"]).arg(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        command
    }
}

/// Who calls.
#[derive(Clone, Copy, Debug)]
pub enum Person {
    /// Declares fixes and plans.
    Operator,
    /// Approves and resumes.
    Approver,
}

/// A running office. Dropping it kills its process.
pub struct Office {
    child: Child,
    /// How it is called.
    pub client: Client,
}

/// Calls one running office.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    operator: String,
    approver: String,
}

impl Office {
    /// Starts an office; returns when people have signed in. `clock` names a file with libfaketime's offset.
    pub async fn start(program: &Program, folder: &Path, log: &Path, clock: Option<&Path>) -> Result<Self> {
        // An address of an earlier process would be read as this one's.
        let _ = std::fs::remove_file(folder.join("running.json"));
        let stderr = File::options().create(true).append(true).open(log)?;
        let mut command = program.demo(folder, stderr);
        if let (Some(file), Some(library)) = (clock, &program.faketime) {
            command.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", file);
            command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
            command.env("DONT_FAKE_MONOTONIC", "1");
        }
        let child = command.spawn().context("dlo does not start")?;
        // Built before anything can fail, so that dropping it ends the process in any case.
        let mut office = Self { child, client: Client::none()? };
        let started = Instant::now();
        loop {
            if let Some(status) = office.ended() {
                bail!("dlo ended at its start ({status}): {}", tail(log));
            }
            if let Ok(control) = Control::read(folder)
                && let Ok(links) = control.new_links().await
            {
                office.client = office.client.signed_in(&control.url, &links).await?;
                return Ok(office);
            }
            if started.elapsed() > START_MAX {
                bail!("dlo did not answer within {} s: {}", START_MAX.as_secs(), tail(log));
            }
            tokio::time::sleep(TICK).await;
        }
    }

    /// The process id.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns how it ended, or `None` while it runs.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Kills it with SIGKILL.
    pub fn kill(mut self) {
        self.end();
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(self.pid(), signal)?)
    }

    /// Limits a resource of the running process; `None` gives it the limit that this process has.
    #[cfg(target_os = "linux")]
    pub fn limit(&self, resource: Resource, limit: Option<u64>) -> Result<()> {
        let own = getrlimit(resource);
        let new = limit.map_or(own, |limit| Rlimit { current: Some(limit), ..own });
        Ok(prlimit(Some(self.pid()), resource, new).map(drop)?)
    }

    /// Limits of a running process need Linux.
    #[cfg(not(target_os = "linux"))]
    pub fn limit(&self, resource: Resource, _: Option<u64>) -> Result<()> {
        bail!("limiting {resource:?} of a running process needs Linux")
    }

    /// Closes it with SIGTERM.
    pub async fn close(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let asked = Instant::now();
        while asked.elapsed() < CLOSE_MAX {
            match self.ended() {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("dlo ended with {status} after SIGTERM"),
                None => tokio::time::sleep(TICK).await,
            }
        }
        bail!("dlo did not close within {} s after SIGTERM", CLOSE_MAX.as_secs())
    }

    fn end(&mut self) {
        // Killing fails if it ended by itself; waiting collects it in any case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Office {
    fn drop(&mut self) {
        self.end();
    }
}

impl Client {
    fn none() -> Result<Self> {
        // One connection per call: a kept connection could lead to a process that was killed.
        let http = local::http::client().no_proxy().pool_max_idle_per_host(0).timeout(ANSWER_MAX).build()?;
        Ok(Self { http, url: String::new(), operator: String::new(), approver: String::new() })
    }

    /// Signs in as both people with the text that `dlo links` prints.
    async fn signed_in(&self, url: &str, links: &str) -> Result<Self> {
        let mut client = Self { url: url.to_owned(), ..self.clone() };
        client.operator = client.token(links, "operator").await?;
        client.approver = client.token(links, "approver").await?;
        Ok(client)
    }

    async fn token(&self, links: &str, role: &str) -> Result<String> {
        let line = links.lines().find(|line| line.trim_start().starts_with(role)).context("no link for a role")?;
        let code = line.rsplit_once('#').context("a link has a code")?.1.trim();
        let answer = self.call("", reqwest::Method::POST, "/api/v1/session", Some(json!({ "code": code }))).await?;
        Ok(answer["token"].as_str().context("a session has a token")?.to_owned())
    }

    /// Gets a resource of the API as the operator.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.call(&self.operator, reqwest::Method::GET, &format!("/api/v1{path}"), None).await
    }

    /// Posts a request to the API.
    pub async fn post(&self, person: Person, path: &str, body: Value) -> Result<Value> {
        let token = match person {
            Person::Operator => &self.operator,
            Person::Approver => &self.approver,
        };
        self.call(token, reqwest::Method::POST, &format!("/api/v1{path}"), Some(body)).await
    }

    /// Calls the demo's control panel: gets without a body, posts with one.
    pub async fn panel(&self, path: &str, body: Option<Value>) -> Result<Value> {
        let method = if body.is_some() { reqwest::Method::POST } else { reqwest::Method::GET };
        self.call("", method, &format!("/panel{path}"), body).await
    }

    /// Gets every page of a list, and returns the rows under `name`. The path already has a query.
    pub async fn all(&self, path: &str, name: &str) -> Result<Vec<Value>> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let mut page = self.get(&format!("{path}&limit=200{cursor}")).await?;
            rows.append(page[name].as_array_mut().context("a list")?);
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(rows),
            }
        }
    }

    async fn call(&self, token: &str, method: reqwest::Method, path: &str, body: Option<Value>) -> Result<Value> {
        let mut request = self.http.request(method.clone(), format!("{}{path}", self.url));
        if !token.is_empty() {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let bytes = answer.bytes().await?;
        if !status.is_success() {
            return Err(anyhow!("{method} {path}: {status}: {}", String::from_utf8_lossy(&bytes)));
        }
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// The last lines of a log.
pub fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(5)..].join(" / ")
}
