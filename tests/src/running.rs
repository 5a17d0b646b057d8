//! A real `dlo demo` for tests: started as a process of its own, spoken to over HTTP, and ended with the test.
//!
//! `DLO_BIN` names the program; `cargo ci` sets it. Without it the program of `cargo demo` is taken.

use domain::role::Role;
use domain::wire::Session;
use local::orders::{Kind, Status, Version};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// From the start of the process to its last link; a loaded machine with two cores takes a second.
const START_MAX: Duration = Duration::from_secs(60);
/// How often a condition of another process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A `dlo demo` that runs. Dropping it kills it, as `kill -9` does.
pub struct Demo {
    child: Child,
    log: PathBuf,
    links: BTreeMap<&'static str, String>,
    /// Where it listens: `http://127.0.0.1:<port>`.
    pub url: String,
}

impl Demo {
    /// Starts the demo on a folder that may hold what an earlier one has left, on a free port, with no orders of its
    /// own; returns when it has printed its links.
    pub fn start(folder: &Path) -> Self {
        Self::start_with(folder, &[])
    }

    /// The same with more options.
    pub fn start_with(folder: &Path, options: &[&str]) -> Self {
        std::fs::create_dir_all(folder).expect("a folder for the demo");
        let log = folder.join("stderr.log");
        let stderr = File::options().create(true).append(true).open(&log).expect("a file for the demo's log");
        let mut child = Command::new(program())
            .args(["demo", "--port", "0", "--orders-per-s", "0", "--data"])
            .arg(folder)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("the demo starts");
        let stdout = child.stdout.take().expect("its stdout is a pipe");
        // Made before anything can fail, so that the process ends in any case.
        let mut demo = Self { child, log, links: BTreeMap::new(), url: String::new() };
        demo.links = read_links(stdout);
        let link = demo.links.get("panel").unwrap_or_else(|| panic!("no links:\n{}", demo.log_text()));
        demo.url = link.trim_end_matches("/panel").to_string();
        demo
    }

    /// The one-time link of a role.
    pub fn link(&self, role: Role) -> &str {
        &self.links[role.as_str()]
    }

    /// Kills the process as `kill -9` does: it gets no chance to tidy up.
    pub fn kill(mut self) {
        self.end();
    }

    /// What it wrote to stderr so far, the runs before it on the same folder included.
    pub fn log_text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Signs in as a role: uses up its link.
    pub async fn sign_in(&self, role: Role) -> Client {
        let code = self.link(role).rsplit_once('#').expect("a code behind the link's #").1;
        let nobody = self.nobody();
        let answer = nobody.call(Method::POST, "/session", Some(json!({ "code": code }))).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let session: Session = answer.value();
        Client { token: Some(session.token), ..nobody }
    }

    /// A client without a session.
    pub fn nobody(&self) -> Client {
        Client { http: http(), api: format!("{}/api/v1", self.url), token: None }
    }

    /// The demo's control panel.
    pub fn panel(&self) -> Panel {
        Panel { http: http(), url: format!("{}/panel", self.url) }
    }

    fn end(&mut self) {
        // It may have ended by itself; then there is nothing to kill, but still somebody to wait for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        self.end();
        if std::thread::panicking() {
            eprintln!("the demo's log:\n{}", self.log_text());
        }
    }
}

/// One connection a call: a process that was killed must not be met again through a kept one.
fn http() -> reqwest::Client {
    reqwest::Client::builder().pool_max_idle_per_host(0).build().expect("an HTTP client")
}

/// The program under test.
pub fn program() -> PathBuf {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/demo/dlo");
    let program = std::env::var_os("DLO_BIN").map_or_else(|| PathBuf::from(built), PathBuf::from);
    assert!(
        program.is_file(),
        "there is no program at {}: run `cargo ci`, which builds it, or set DLO_BIN to one",
        program.display()
    );
    program
}

/// Reads the first screen up to the panel's address. The rest is read too, so that the process never waits for us.
fn read_links(stdout: ChildStdout) -> BTreeMap<&'static str, String> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let names = Role::ALL.map(Role::as_str).into_iter().chain(["panel"]);
    let names: Vec<&'static str> = names.collect();
    let (mut links, until) = (BTreeMap::new(), Instant::now() + START_MAX);
    while links.len() < names.len() {
        let Ok(line) = told.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
        let mut words = line.split_whitespace();
        let (first, last) = (words.next(), words.next_back());
        if let (Some(name), Some(url)) = (names.iter().find(|name| first == Some(**name)), last)
            && url.starts_with("http://")
        {
            links.insert(*name, url.to_string());
        }
    }
    links
}

/// What the office answered.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Answer {
    /// The body as what it should be.
    pub fn value<T: serde::de::DeserializeOwned>(self) -> T {
        let Self { status, body } = self;
        let words = body.to_string();
        serde_json::from_value(body).unwrap_or_else(|error| panic!("{error} in the answer {status}: {words}"))
    }

    /// The body's `code`, which errors have.
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }
}

/// Somebody who calls the API.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    api: String,
    token: Option<String>,
}

impl Client {
    /// Calls an address below the API's root.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Answer {
        let mut request = self.http.request(method, format!("{}{path}", self.api));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.expect("the office answers");
        let status = response.status();
        let bytes = response.bytes().await.expect("a whole answer");
        Answer { status, body: serde_json::from_slice(&bytes).unwrap_or_default() }
    }

    /// Posts what may be refused.
    pub async fn try_post(&self, path: &str, body: Value) -> Answer {
        self.call(Method::POST, path, Some(body)).await
    }

    /// Posts what must succeed.
    pub async fn post<T: serde::de::DeserializeOwned>(&self, path: &str, body: Value) -> T {
        let answer = self.try_post(path, body).await;
        assert_eq!(answer.status, StatusCode::OK, "POST {path}: {}", answer.body);
        answer.value()
    }

    /// Gets what must be there.
    pub async fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> T {
        let answer = self.call(Method::GET, path, None).await;
        assert_eq!(answer.status, StatusCode::OK, "GET {path}: {}", answer.body);
        answer.value()
    }

    /// Gets every page of a list: the rows under `name`. The path has a query already.
    pub async fn all(&self, path: &str, name: &str) -> Vec<Value> {
        let (mut rows, mut cursor) = (Vec::new(), String::new());
        loop {
            let mut page: Value = self.get(&format!("{path}&limit=200{cursor}")).await;
            rows.append(page[name].as_array_mut().expect("a list"));
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return rows,
            }
        }
    }
}

/// The demo's control panel, as its own page calls it.
pub struct Panel {
    http: reqwest::Client,
    url: String,
}

impl Panel {
    /// Places orders of one kind; returns when the queue has taken them.
    pub async fn place(&self, count: u32, kind: Kind) {
        self.post("place", json!({ "count": count, "kind": kind })).await;
    }

    /// The same with an office that may be killed before it has taken all, or has answered.
    pub async fn place_what_it_takes(&self, count: u32, kind: Kind) {
        let body = json!({ "count": count, "kind": kind });
        let _ = self.http.post(format!("{}/place", self.url)).json(&body).send().await;
    }

    /// Deploys a version of the consumer.
    pub async fn deploy(&self, version: Version) {
        self.post("deploy", json!({ "version": version })).await;
    }

    /// What runs, what was done, what waits.
    pub async fn state(&self) -> Status {
        let answer = self.http.get(format!("{}/state", self.url)).send().await.expect("the panel answers");
        serde_json::from_slice(&answer.bytes().await.expect("a whole answer")).expect("the panel's state")
    }

    async fn post(&self, what: &str, body: Value) {
        let answer = self.http.post(format!("{}/{what}", self.url)).json(&body).send().await;
        let answer = answer.expect("the panel answers");
        assert_eq!(answer.status(), StatusCode::OK, "POST {what} {body}");
    }
}

/// Looks at a condition of another process until it holds; fails when that takes too long.
pub async fn until<T>(what: &str, at_most: Duration, look: impl AsyncFnMut() -> Option<T>) -> T {
    within(at_most, look).await.unwrap_or_else(|| panic!("waited {} s in vain for {what}", at_most.as_secs()))
}

/// The same; none when it takes too long.
pub async fn within<T>(at_most: Duration, mut look: impl AsyncFnMut() -> Option<T>) -> Option<T> {
    let found = async {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            ticks.tick().await;
            if let Some(found) = look().await {
                return found;
            }
        }
    };
    tokio::time::timeout(at_most, found).await.ok()
}
