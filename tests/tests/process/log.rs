//! The real office when its output cannot be written: lines are lost, and nothing else.

use domain::role::Role;
use harness::running::{Client, Demo, program, until};
use local::control::Control;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, pipe};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(30);
/// Forbidden calls whose log lines do not fit into a pipe (64 KiB), with a minimum of 150 bytes each.
const CALLS: usize = 600;

fn full_disk() -> File {
    File::options().write(true).open("/dev/full").expect("a file that is always full")
}

/// Makes a call that the office refuses and logs.
async fn forbidden(vera: &Client) {
    let answer = vera.call(Method::POST, "/groups/none/approve", Some(json!({})));
    let answer = tokio::time::timeout(DEADLINE, answer).await.expect("an answer in time");
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
}

#[tokio::test]
async fn a_log_that_cannot_be_written_ends_nothing() {
    let (reader, closed) = pipe().expect("a pipe");
    drop(reader);
    for (name, stderr) in [("a closed pipe", Stdio::from(closed)), ("a full disk", Stdio::from(full_disk()))] {
        let folder = tempfile::tempdir().expect("a folder");
        let demo = Demo::start_logging_to(folder.path(), &[], stderr);
        let vera = demo.sign_in(Role::Viewer).await;
        for _ in 0..3 {
            forbidden(&vera).await;
        }
        let groups: Value = vera.get("/groups").await;
        assert!(groups["groups"].is_array(), "{name}: {groups}");
    }
}

#[tokio::test]
async fn a_log_that_nobody_reads_stops_nothing_and_says_later_what_it_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut reader, writer) = pipe().expect("a pipe");
    let demo = Demo::start_logging_to(folder.path(), &[], writer.into());
    let vera = demo.sign_in(Role::Viewer).await;
    for _ in 0..CALLS {
        forbidden(&vera).await;
    }
    let read = Arc::new(Mutex::new(String::new()));
    let reads = read.clone();
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(length @ 1..) = reader.read(&mut part) {
            reads.lock().expect("the text").push_str(&String::from_utf8_lossy(&part[..length]));
        }
    });
    until("the note about lost lines", DEADLINE, async || {
        forbidden(&vera).await;
        read.lock().expect("the text").contains("lines lost here because they could not be written").then_some(())
    })
    .await;
}

/// Kills the process with the test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // Killing fails if it ended by itself; waiting collects it in any case.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_office_whose_screen_cannot_be_written_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Command::new(program())
        .args(["demo", "--port", "0", "--orders-per-s", "0", "--data"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(full_disk())
        .stderr(full_disk())
        .spawn();
    let mut demo = Killed(demo.expect("the demo starts"));
    // It writes its first screen after this file, and takes requests after that.
    until("an answer", DEADLINE, async || Control::read(folder.path()).ok()?.new_links().await.ok()).await;
    assert_eq!(demo.0.try_wait().expect("its status"), None);
}

#[test]
fn a_command_whose_output_cannot_be_written_fails_with_a_sentence() {
    let output = Command::new(program()).arg("openapi").stdout(full_disk()).output().expect("dlo starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.starts_with("dlo: cannot write the output: No space left on device"), "{error}");
}
