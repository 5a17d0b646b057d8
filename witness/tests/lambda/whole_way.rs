//! The whole way through an endpoint that speaks AWS: queue, event source mapping, failing function behind
//! `dlo-witness run`, dead-letter queue and receipts queue.

use crate::sandbox::{WITNESS, free_port, python, tools};
use crate::service::PATIENCE;
use domain::report::judge::{Verdict, judge};
use domain::report::{Report, ReportKind};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Ends the server, and with it its functions, when standard input ends: with the test at the latest.
const GUARD: &str = r#""$@" & server=$!; read -r _; kill "$server"; wait "$server""#;

/// Starts MiniStack and waits until it takes connections.
async fn ministack(port: u16) -> Child {
    let program = tools().join("aws/bin/ministack");
    assert!(program.exists(), "{} is missing: `cargo ci --only witness` installs it", program.display());
    let mut guard = Command::new("sh");
    guard.args(["-c", GUARD, "guard"]).arg(program).env("GATEWAY_PORT", port.to_string());
    guard.env("BIND_HOST", "127.0.0.1").env("LOG_LEVEL", "ERROR");
    guard.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"));
    let guard = guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell");
    let started = std::time::Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        assert!(started.elapsed() < PATIENCE, "MiniStack does not answer");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    guard
}

#[tokio::test]
async fn a_message_that_dies_leaves_a_report_of_each_attempt() {
    let port = free_port();
    let mut server = ministack(port).await;
    let python = python("app.handle").swap_remove(0);
    let mut driver = Command::new(&python);
    driver.args(["whole_way.py", WITNESS, &python]);
    driver.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lambda/functions"));
    driver.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")).env("AWS_DEFAULT_REGION", "us-east-1");
    driver.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test").kill_on_drop(true);
    let driver = driver.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut driver = driver.expect("it starts");
    let mut stdin = driver.stdin.take().expect("piped");
    stdin.write_all(format!("{}\n", free_port()).as_bytes()).await.expect("it is read");
    let output = driver.wait_with_output().await.expect("it ends");
    drop(server.stdin.take());
    server.wait().await.expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let outcome: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let reports: Vec<Report> = outcome["reports"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|body| Report::parse(body.as_str()?))
        .collect();
    let receives: Vec<_> = reports.iter().map(|report| (report.kind, report.messages[0].receives)).collect();
    assert_eq!(receives, [(ReportKind::Error, Some(1)), (ReportKind::Error, Some(2))], "{outcome}");
    let sent = outcome["sent"].as_str().expect("an id");
    assert_eq!(outcome["dead"], serde_json::json!([sent]));
    let given: Vec<&Report> = reports.iter().collect();
    let judged = judge(&sent.into(), &given).expect("the reports name it");
    let error = judged.error.expect("an error");
    assert_eq!((judged.verdict, error.error_type.as_deref()), (Verdict::Certain, Some("KeyError")));
    assert!(error.stack.as_deref().is_some_and(|stack| stack.contains("app.py")));
}
