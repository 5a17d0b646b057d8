//! The schema of a report, and the examples that write one by hand.

use crate::queue::{Mood, ReportsQueue};
use crate::sandbox::{batch, tools};
use crate::service::ARN;
use domain::report::{Report, ReportKind};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tokio::process::Command;

const QUEUE: &str = "arn:aws:sqs:eu-west-1:111122223333:orders";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the checkout")
}

#[test]
fn the_schema_is_that_of_the_type() {
    let file = root().join("docs/schema/report.json");
    let mut schema = serde_json::to_value(schemars::schema_for!(Report)).expect("JSON");
    schema["title"] = json!("Report of a failed invocation");
    if std::env::var_os("UPDATE").is_some() {
        let text = serde_json::to_string_pretty(&schema).expect("JSON");
        std::fs::write(&file, format!("{text}\n")).expect("it can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    // Not as texts: whether keys keep their order depends on what else is built.
    let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
    assert_eq!(kept, schema, "run this test with UPDATE=1, and look at the difference");
}

/// A command with the environment of a function.
fn command(program: impl AsRef<std::ffi::OsStr>, queue: &ReportsQueue) -> Command {
    let mut command = Command::new(program);
    let endpoint = queue.url.split("/1111").next().expect("a host");
    command.env("AWS_ENDPOINT_URL_SQS", endpoint).env("DLO_REPORTS", &queue.url).env("AWS_REGION", "eu-west-1");
    command.env("AWS_DEFAULT_REGION", "eu-west-1").env("AWS_ACCESS_KEY_ID", "AKID");
    command
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("AWS_SECRET_ACCESS_KEY", "a-secret")
        .env("AWS_SESSION_TOKEN", "a-token");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lambda/functions"));
    command
}

async fn run(command: &mut Command) -> String {
    let output = command.output().await.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn check(report: &Report, error_type: &str, message: &str, in_stack: &str) {
    assert_eq!((report.v, report.kind, report.request_id.as_str()), (1, ReportKind::Error, "request-1"));
    assert_eq!((report.function.as_str(), &report.queue), (ARN, &Some(QUEUE.into())));
    assert_eq!((report.version.as_deref(), report.instance.as_deref()), (Some("7"), Some("a-stream")));
    assert!(report.failed_at.as_ms() > 1_700_000_000_000, "milliseconds: {:?}", report.failed_at);
    assert_eq!((report.messages.len(), report.messages[0].receives), (1, Some(2)));
    let error = report.error.clone().unwrap_or_default();
    assert_eq!((error.error_type.as_deref(), error.message.as_deref()), (Some(error_type), Some(message)));
    assert!(error.stack.is_some_and(|stack| stack.contains(in_stack)));
}

fn event() -> Value {
    batch(&[json!({"do": "raise"})])
}

#[tokio::test]
async fn python() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let context = json!({"aws_request_id": "request-1", "invoked_function_arn": ARN, "function_version": "7",
                         "log_stream_name": "a-stream"});
    let mut python = command(tools().join("lambda-runtimes/bin/python"), &queue);
    python.arg("use_example.py").arg(root().join("docs/examples/report"));
    run(python.arg(context.to_string()).arg(event().to_string())).await;
    check(&queue.report().await, "KeyError", "'price'", "use_example.py");
}

/// A report above 64 KiB is refused, and this queue takes it only if the office can read it.
#[tokio::test]
async fn python_that_polls_and_a_long_error() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let mut python = command(tools().join("lambda-runtimes/bin/python"), &queue);
    run(python.arg("use_polling.py").arg(root().join("docs/examples/report")).arg(QUEUE)).await;
    let report = queue.report().await;
    assert_eq!((report.function.as_str(), &report.queue), ("orders-worker", &Some(QUEUE.into())));
    assert_eq!((report.messages.len(), report.messages[0].receives), (10, Some(2)));
    let bytes = serde_json::to_string(&report).expect("JSON").len();
    assert!(bytes < 64 * 1024, "{bytes} bytes");
    let error = report.error.unwrap_or_default();
    assert_eq!((error.error_type.as_deref(), error.message), (Some("ValueError"), Some("Ж".repeat(3_000))));
}

#[tokio::test]
async fn node() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    let context = json!({"awsRequestId": "request-1", "invokedFunctionArn": ARN, "functionVersion": "7",
                         "logStreamName": "a-stream"});
    // Node looks for packages in the folders above the file.
    let copy = tempfile::Builder::new().suffix(".mjs").tempfile_in(tools().join("npm")).expect("a file");
    std::fs::copy(root().join("docs/examples/report/report.mjs"), copy.path()).expect("a copy");
    let mut node = command("node", &queue);
    run(node.arg("use_example.mjs").arg(copy.path()).arg(context.to_string()).arg(event().to_string())).await;
    check(&queue.report().await, "TypeError", "no price", "use_example.mjs");
}

fn skipped(why: &str) {
    // Not `eprintln!`: the test harness would hold it back, because the test itself passes.
    let line = format!("\nSKIPPED lambda::examples::{why}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), line.as_bytes());
}

#[tokio::test]
async fn java() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    if Command::new("javac").arg("-version").output().await.is_err() {
        return skipped("java: no JDK is installed");
    }
    let folder = tempfile::tempdir().expect("a folder");
    for file in include_str!("java/Substitutes.java").split("//// ").skip(1) {
        let (name, text) = file.split_once('\n').expect("a name and a text");
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("it can be written");
    }
    std::fs::copy(root().join("docs/examples/report/Report.java"), folder.path().join("Report.java")).expect("a copy");
    run(command("javac", &queue).current_dir(&folder).arg("UseExample.java")).await;
    let printed = run(command("java", &queue).current_dir(&folder).args(["UseExample", QUEUE, ARN])).await;
    let report = Report::parse(&printed).unwrap_or_else(|| panic!("not a report: {printed}"));
    check(&report, "java.lang.IllegalStateException", "no \"price\"", "UseExample.java");
}

/// Mono, which is .NET Framework's language and library: Debian has no later .NET.
#[tokio::test]
async fn dotnet() {
    let queue = ReportsQueue::start(Mood::Takes).await;
    if Command::new("mcs").arg("--version").output().await.is_err() {
        return skipped("dotnet: Mono is not installed");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("example.exe");
    let mut compiler = command("mcs", &queue);
    compiler.arg("-debug").arg(format!("-out:{}", program.display())).arg("../dotnet/Substitutes.cs");
    run(compiler.arg(root().join("docs/examples/report/Report.cs"))).await;
    let printed = run(command("mono", &queue).arg("--debug").arg(&program).args([QUEUE, ARN])).await;
    let report = Report::parse(&printed).unwrap_or_else(|| panic!("not a report: {printed}"));
    check(&report, "System.InvalidOperationException", "no \"price\"", "UseExample.Main");
}
