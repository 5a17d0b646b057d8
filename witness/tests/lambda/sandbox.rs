//! One execution environment: the extension, the runtime behind the wrapper, and Lambda, which resets both.

use crate::queue::{Evidence, ReportsQueue};
use crate::service::{ARN, Invocation, PATIENCE, Posted, Service, now_ms};
use domain::report::Report;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A limit that a function which sleeps always exceeds.
pub const LIMIT: Duration = Duration::from_secs(1);

pub const WITNESS: &str = env!("CARGO_BIN_EXE_dlo-witness");
/// The memory of the function, MB: Lambda's least. Python with its libraries needs half of it.
const MEMORY_MB: u64 = 128;
/// The time that Lambda gives an extension at the end.
const SHUTDOWN: Duration = Duration::from_millis(2_000);
/// How often the memory of the runtime is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// How the function is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Extension and wrapper.
    On,
    /// The wrapper without its extension: extensions are switched off.
    WrapperOnly,
    /// `dlo-witness run -- …`.
    Run,
    /// No layer.
    Off,
}

/// How an invocation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Posted(Posted),
    Timeout,
    Exit(Option<ExitStatus>),
    OutOfMemory,
    /// The runtime ended before it asked for an invocation.
    Init(Option<String>),
}

pub struct Sandbox {
    pub service: Arc<Service>,
    /// What the extension printed.
    pub said: Arc<Mutex<String>>,
    pub layer: Layer,
    pub extension: Option<Child>,
    runtime: Option<Child>,
    /// What reads the output of the runtime.
    readers: Vec<JoinHandle<()>>,
    command: Vec<String>,
    environment: BTreeMap<String, String>,
    limit: Duration,
    is_enforced: bool,
    count: usize,
}

pub struct Options {
    pub layer: Layer,
    pub refuses_telemetry: bool,
    pub port: u16,
    pub limit: Duration,
    /// Whether Lambda ends an invocation at its limit.
    pub is_enforced: bool,
}

impl Default for Options {
    fn default() -> Self {
        // Longer than any test waits: only those about the limit set one.
        Self { layer: Layer::On, refuses_telemetry: false, port: free_port(), limit: 2 * PATIENCE, is_enforced: true }
    }
}

impl Sandbox {
    /// An environment of a function with this command. It starts with the first invocation.
    pub async fn new(command: Vec<String>, queue: Option<&ReportsQueue>, options: Options) -> Self {
        let service = Service::start(options.refuses_telemetry).await;
        let functions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lambda/functions");
        let mut environment = BTreeMap::from(
            [
                ("AWS_LAMBDA_RUNTIME_API", service.address.as_str()),
                ("AWS_ACCESS_KEY_ID", "AKID"),
                ("AWS_SECRET_ACCESS_KEY", "a-secret"),
                ("AWS_SESSION_TOKEN", "a-token"),
                ("AWS_REGION", "eu-west-1"),
                ("AWS_LAMBDA_FUNCTION_NAME", "orders"),
                ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
                ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
                ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/orders"),
                ("AWS_LAMBDA_LOG_STREAM_NAME", "2026/11/22/[$LATEST]0123456789abcdef"),
                ("LAMBDA_TASK_ROOT", functions.to_str().expect("UTF-8")),
                ("POWERTOOLS_SERVICE_NAME", "orders"),
                // The functions are in the checkout, which tests leave as it is.
                ("PYTHONDONTWRITEBYTECODE", "1"),
                ("PATH", &std::env::var("PATH").unwrap_or_default()),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        environment.insert("DLO_WITNESS_PORT".into(), options.port.to_string());
        environment.insert("_HANDLER".into(), command.last().cloned().unwrap_or_default());
        environment.insert("NODE_MODULES".into(), tools().join("npm").display().to_string());
        environment.extend(queue.map(|queue| ("DLO_REPORTS".to_owned(), queue.url.clone())));
        Self {
            service,
            said: Arc::default(),
            layer: options.layer,
            extension: None,
            runtime: None,
            readers: Vec::new(),
            command,
            environment,
            limit: options.limit,
            is_enforced: options.is_enforced,
            count: 0,
        }
    }

    /// Sets a variable of what is started from now on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    fn spawn(&self, program: &str, arguments: &[String]) -> Child {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&self.environment).kill_on_drop(true);
        command.current_dir(&self.environment["LAMBDA_TASK_ROOT"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// Starts what is not running. Returns the error of a function that does not start.
    async fn start(&mut self) -> Result<(), Ended> {
        if self.layer == Layer::On && self.extension.is_none() {
            let mut extension = self.spawn(WITNESS, &[]);
            self.listen(&mut extension, false);
            self.extension = Some(extension);
            timeout(PATIENCE, self.service.until(|environment| environment.is_registered.then_some(())))
                .await
                .expect("the extension registers");
        }
        if self.runtime.is_none() {
            let (program, arguments) = self.command.split_first().expect("a command");
            let mut runtime = match self.layer {
                Layer::Off => self.spawn(program, arguments),
                Layer::On | Layer::WrapperOnly => self.spawn(WITNESS, &self.command),
                Layer::Run => {
                    let mut arguments = vec!["run".to_owned(), "--".to_owned()];
                    arguments.extend(self.command.iter().cloned());
                    self.spawn(WITNESS, &arguments)
                }
            };
            self.listen(&mut runtime, true);
            let ready = self.service.until(|environment| environment.is_ready.then_some(()));
            let ended = tokio::select! {
                () = ready => None,
                status = runtime.wait() => Some(status.ok()),
            };
            self.runtime = Some(runtime);
            if ended.is_some() {
                let error = self.service.change(|environment| environment.init_error.take());
                self.reset("failure", None).await;
                return Err(Ended::Init(error));
            }
        }
        Ok(())
    }

    /// Passes what a process prints on to the subscriber, and keeps it.
    fn listen(&mut self, child: &mut Child, is_function: bool) {
        let (stdout, stderr) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        let readers = [self.pass_on(stdout, is_function), self.pass_on(stderr, is_function)];
        if is_function {
            self.readers.extend(readers);
        }
    }

    fn pass_on(&self, mut output: impl AsyncReadExt + Unpin + Send + 'static, is_function: bool) -> JoinHandle<()> {
        let (service, said) = (Arc::clone(&self.service), Arc::clone(&self.said));
        tokio::spawn(async move {
            let mut buffer = vec![0; 64 * 1024];
            // Lambda delivers whole lines, however the function writes them.
            let mut begun = String::new();
            while let Ok(read @ 1..) = output.read(&mut buffer).await {
                let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
                said.lock().expect("no test panics with it").push_str(&text);
                begun.push_str(&text);
                let whole = begun.rfind('\n').map_or(0, |end| end + 1);
                if is_function && whole > 0 {
                    service.deliver("function", json!(begun[..whole])).await;
                }
                begun.drain(..whole);
            }
            if is_function && !begun.is_empty() {
                service.deliver("function", json!(begun)).await;
            }
        })
    }

    /// Invokes the function with a batch. Returns how that ended, after Lambda has done what it then does.
    pub async fn invoke(&mut self, event: &Value) -> Ended {
        if let Err(ended) = self.start().await {
            return ended;
        }
        self.count += 1;
        let id = format!("request-{}", self.count);
        let deadline_ms = now_ms() + self.limit.as_millis();
        let event = event.to_string().into();
        self.service.change(|environment| {
            environment.posted = None;
            environment.is_ready = false;
            environment.queued = Some(Invocation { id: id.clone(), event, deadline_ms });
        });
        let ended = self.wait_for_end().await;
        match &ended {
            Ended::Posted(posted) => {
                let status = if matches!(posted, Posted::Response(_)) { "success" } else { "error" };
                self.service.deliver("platform.runtimeDone", json!({"requestId": id, "status": status})).await;
                // Lambda notices a process that ends after it has answered.
                self.wait_until_ready().await;
            }
            Ended::Timeout => self.reset("timeout", Some((&id, "timeout", Value::Null, 60))).await,
            Ended::OutOfMemory => {
                self.reset("failure", Some((&id, "error", json!("Runtime.ExitError"), MEMORY_MB))).await
            }
            _ => self.reset("failure", Some((&id, "error", json!("Runtime.ExitError"), 60))).await,
        }
        ended
    }

    /// Invokes the function until its report has log lines: a report waits a moment for them, which is not always enough.
    pub async fn report_with_lines(&mut self, event: &Value, queue: &ReportsQueue) -> Report {
        let started = Instant::now();
        for count in 1.. {
            self.invoke(event).await;
            let Some(Evidence::Report(report)) = queue.wait_for(count).await.pop() else { panic!("a report") };
            if !report.logs.is_empty() {
                return *report;
            }
            assert!(started.elapsed() < PATIENCE, "no lines: {report:?}");
        }
        unreachable!("it returns or fails")
    }

    async fn wait_for_end(&mut self) -> Ended {
        let runtime = self.runtime.as_mut().expect("it runs");
        let pid = runtime.id().expect("it runs");
        let posted = self.service.until(|environment| environment.posted.clone());
        let full = async {
            while resident_mb(pid) < MEMORY_MB {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::select! {
            // A process may answer and end at once.
            biased;
            posted = posted => Ended::Posted(posted),
            status = runtime.wait() => match self.service.change(|environment| environment.posted.clone()) {
                Some(posted) => Ended::Posted(posted),
                None => Ended::Exit(status.ok()),
            },
            () = full => Ended::OutOfMemory,
            () = tokio::time::sleep(self.limit), if self.is_enforced => Ended::Timeout,
        }
    }

    async fn wait_until_ready(&mut self) {
        let runtime = self.runtime.as_mut().expect("it runs");
        let ready = self.service.until(|environment| environment.is_ready.then_some(()));
        let exited = tokio::select! {
            () = ready => false,
            _ = runtime.wait() => true,
        };
        if exited {
            self.reset("failure", None).await;
        }
    }

    /// Ends the environment as Lambda does: the runtime is killed, the extension has two seconds.
    pub async fn reset(&mut self, reason: &'static str, end: Option<(&str, &str, Value, u64)>) {
        if let Some(mut runtime) = self.runtime.take() {
            let _ = runtime.kill().await;
        }
        for reader in self.readers.drain(..) {
            let _ = reader.await;
        }
        if let Some((id, status, error_type, used_mb)) = end {
            let done = json!({"requestId": id, "status": status, "errorType": error_type});
            self.service.deliver("platform.runtimeDone", done).await;
            let metrics = json!({"maxMemoryUsedMB": used_mb, "memorySizeMB": MEMORY_MB});
            self.service
                .deliver("platform.report", json!({"requestId": id, "status": status, "metrics": metrics}))
                .await;
        }
        self.service.change(|environment| environment.shutdown = Some(reason));
        if let Some(mut extension) = self.extension.take()
            && timeout(SHUTDOWN, extension.wait()).await.is_err()
        {
            let _ = extension.kill().await;
        }
        self.service.change(|environment| {
            let refuses_telemetry = environment.refuses_telemetry;
            *environment = crate::service::Environment { refuses_telemetry, ..Default::default() };
        });
    }

    /// Returns all that the extension and the function have printed.
    pub fn said(&self) -> String {
        self.said.lock().expect("no test panics with it").clone()
    }

    /// Waits until the extension, or the function, has printed a text; returns all that they printed.
    pub async fn wait_until_said(&self, text: &str) -> String {
        let started = Instant::now();
        loop {
            let said = self.said();
            if said.contains(text) {
                return said;
            }
            assert!(started.elapsed() < PATIENCE, "not {text:?} but {said:?}");
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// An event of messages with these bodies; their ids are `m-0`, `m-1`, ….
pub fn batch(bodies: &[Value]) -> Value {
    let records: Vec<Value> = bodies.iter().enumerate().map(|(at, body)| record(&format!("m-{at}"), body)).collect();
    json!({"Records": records})
}

pub fn record(id: &str, body: &Value) -> Value {
    json!({
        "messageId": id, "receiptHandle": "AQEB…", "body": body.to_string(),
        "attributes": {"ApproximateReceiveCount": "2", "SentTimestamp": "1763805600000"},
        "messageAttributes": {}, "md5OfBody": "d41d8cd98f00b204e9800998ecf8427e", "eventSource": "aws:sqs",
        "eventSourceARN": ARN.replace("lambda", "sqs").replace(":function:", ":"), "awsRegion": "eu-west-1",
    })
}

pub fn python(handler: &str) -> Vec<String> {
    let python = tools().join("lambda-runtimes/bin/python");
    assert!(python.exists(), "{} is missing: `cargo ci --only witness` installs it", python.display());
    [python.to_str().expect("UTF-8"), "-m", "awslambdaric", handler].map(str::to_owned).into()
}

pub fn node(handler: &str) -> Vec<String> {
    let client = tools().join("npm/node_modules/aws-lambda-ric/bin/index.mjs");
    assert!(client.exists(), "{} is missing: `cargo ci --only witness` installs it", client.display());
    let client = client.to_str().expect("UTF-8");
    ["node", "--require", "./rapid_client.cjs", client, handler].map(str::to_owned).into()
}

pub fn tools() -> PathBuf {
    // Only the root is resolved: the Python of a virtual environment is a link that must be called by its own name.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the checkout");
    root.join("target/tools")
}

pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address").port()
}

/// The memory of a process that is in use, MB; 0 if it has ended.
fn resident_mb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}
