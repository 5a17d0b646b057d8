//! The files of a real office: who can read them, what a damaged log does, and `dlo backup`.

use domain::role::Role;
use harness::running::{Client, Demo, program, until};
use local::orders::Kind;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use wire::GroupsAnswer;

/// The deadline for conditions of the office.
const DEADLINE: Duration = Duration::from_secs(30);
/// A burst of orders, all of which become letters.
const LETTERS: u32 = 60;

/// Runs `dlo` to its end.
fn dlo(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(program());
    command.args(arguments).arg("--data").arg(folder);
    command.output().expect("dlo runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

async fn kept(client: &Client) -> i64 {
    client.get::<GroupsAnswer>("/groups").await.groups.iter().map(|group| group.open.letters).sum()
}

/// Makes gift cards die, until so many letters are in custody. Returns the operator, whose link is then used.
async fn take(demo: &Demo, letters: u32, in_all: u32) -> Client {
    let otto = demo.sign_in(Role::Operator).await;
    demo.panel().place(letters, Kind::GiftCard).await;
    until("letters in custody", DEADLINE, async || (kept(&otto).await == i64::from(in_all)).then_some(())).await;
    otto
}

/// Returns the ids of all letters.
async fn letters(client: &Client) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for group in client.get::<GroupsAnswer>("/groups").await.groups {
        let letters: Vec<Value> = client.all(&format!("/groups/{}/letters?", group.id), "letters").await;
        ids.extend(letters.iter().map(|letter| letter["id"].as_str().expect("an id").to_string()));
    }
    ids
}

#[tokio::test]
async fn backup_of_a_running_office_opens_with_every_letter() {
    let (folder, backups) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let otto = take(&demo, LETTERS, LETTERS).await;
    let before = letters(&otto).await;
    let to = backups.path().join("monday");
    let name = to.to_str().expect("a name");
    let made = dlo(&["backup", name], folder.path());
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(text(&made.stdout).starts_with("Backup complete and verified: "), "{}", text(&made.stdout));
    let again = dlo(&["backup", name], folder.path());
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("is not empty"), "{}", text(&again.stderr));
    demo.kill();
    // The office was killed, so it does not run; its backup can still be made.
    let later = backups.path().join("tuesday");
    let made = dlo(&["backup", later.to_str().expect("a name")], folder.path());
    assert!(made.status.success(), "{}", text(&made.stderr));

    for backup in [to, later] {
        let demo = Demo::start(&backup);
        let viewer = demo.sign_in(Role::Viewer).await;
        assert_eq!(letters(&viewer).await, before, "{}", backup.display());
        take(&demo, 1, LETTERS + 1).await;
    }
}

#[tokio::test]
async fn backup_needs_the_secret_of_the_folder() {
    let (folder, backups) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let demo = Demo::start(folder.path());
    let to = backups.path().join("stolen");
    let http = local::http::client().build().expect("a client");
    for secret in ["", "0123456789abcdef0123456789abcdef"] {
        let request = http.post(format!("{}/local/backup", demo.url)).header("x-dlo-control", secret);
        let answer = request.json(&serde_json::json!({ "folder": to })).send().await.expect("an answer");
        assert_eq!(answer.status(), reqwest::StatusCode::FORBIDDEN);
    }
    assert!(!to.exists());
}

/// Kills an office whose log holds commits that the file does not.
async fn killed_with_a_log(folder: &Path) -> u32 {
    let mut in_all = 0;
    loop {
        let demo = Demo::start(folder);
        in_all += LETTERS;
        take(&demo, LETTERS, in_all).await;
        demo.kill();
        // A sweep may have copied the log just before.
        if fs::metadata(folder.join("office.db-wal")).is_ok_and(|log| log.len() > 10_000) {
            return in_all;
        }
    }
}

#[tokio::test]
async fn damaged_log_is_refused_and_nothing_is_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_all = killed_with_a_log(folder.path()).await;
    let path = folder.path().join("office.db-wal");
    let whole = fs::read(&path).expect("a log");
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 40].iter_mut().for_each(|byte| *byte ^= 0x5A);
    fs::write(&path, &damaged).expect("the log can be written");
    for _ in 0..2 {
        let refused = dlo(&["demo", "--port", "0"], folder.path());
        assert_eq!(refused.status.code(), Some(1));
        let error = text(&refused.stderr);
        assert!(error.contains("has lost commits") && error.contains("Restore a backup"), "{error}");
        assert!(fs::read(&path).expect("a log") == damaged, "the evidence is unchanged");
    }
    fs::write(&path, &whole).expect("the log can be written");
    let demo = Demo::start(folder.path());
    assert_eq!(letters(&demo.sign_in(Role::Viewer).await).await.len(), in_all as usize);
    demo.kill();
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().expect("a folder");
    let folder = parent.path().join("data");
    fs::create_dir(&folder).expect("a folder");
    fs::write(folder.join("orders.json"), "{}").expect("a file of an older version");
    for (path, mode) in [(folder.clone(), 0o755), (folder.join("orders.json"), 0o644)] {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("a mode");
    }
    let demo = Demo::start(&folder);
    take(&demo, 1, 1).await;
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    let names: Vec<_> = fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    // The test itself keeps the process's log there.
    let ours = names.iter().filter(|path| !path.ends_with("stderr.log"));
    let open: Vec<_> = ours.filter(|path| mode(path) != 0o600).collect();
    assert!(names.len() > 8 && open.is_empty(), "{open:?} of {names:?}");
    assert!(demo.log_text().contains("others could read the data folder"), "{}", demo.log_text());
}
