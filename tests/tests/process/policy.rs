//! `dlo policy`: the policy of a running office is shown, checked and replaced from a terminal.

use domain::role::Role;
use harness::running::{Demo, program};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `dlo policy` against an office. Returns its exit status and what it printed.
fn policy(office: &str, token: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(program());
    command.arg("policy").args(arguments).args(["--office", office]).env("DLO_TOKEN", token).stdin(Stdio::null());
    let output = command.output().expect("`dlo` runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn write(file: &Path, document: &Value) {
    std::fs::write(file, document.to_string()).expect("it can be written");
}

#[tokio::test]
async fn the_policy_is_shown_checked_and_replaced_over_the_version_that_was_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let (admin, operator) = (demo.sign_in(Role::Admin).await, demo.sign_in(Role::Operator).await);
    let file = folder.path().join("policy.json");
    let name = file.to_str().expect("a path in UTF-8");
    let put = ["put", name, "--reason", "agreed on Monday"];

    let (code, shown, said) = policy(&demo.url, admin.token(), &["show"]);
    assert_eq!(code, Some(0), "{said}");
    let mut document: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(document["version"], 0);
    write(&file, &document);
    let (code, unchanged, _) = policy(&demo.url, admin.token(), &["check", name]);
    assert_eq!(
        (code, unchanged.as_str()),
        (Some(0), "Nothing would change, compared with version 0.\n"),
        "what show prints"
    );

    document["policy"]["gate"]["replays_max"] = 7.into();
    write(&file, &document);
    let (code, check, _) = policy(&demo.url, operator.token(), &["check", name]);
    assert_eq!(code, Some(0), "{check}");
    assert!(
        check.ends_with("1 setting would change, compared with version 0:\n  gate.replays_max: 3 -> 7\n"),
        "{check}"
    );

    // Only an admin may write it, and then only over the version that was read.
    let (code, _, said) = policy(&demo.url, operator.token(), &put);
    assert_eq!(code, Some(1));
    assert!(said.contains("needs the role admin") && said.contains("403"), "{said}");
    let (code, written, said) = policy(&demo.url, admin.token(), &put);
    assert_eq!((code, written.as_str()), (Some(0), "Version 1 of the policy applies.\n"), "{said}");
    let (code, _, said) = policy(&demo.url, admin.token(), &put);
    assert_eq!(code, Some(1), "the file is based on version 0");
    assert!(said.contains("409"), "{said}");
    let (code, check, _) = policy(&demo.url, admin.token(), &["check", name]);
    assert_eq!(code, Some(1));
    assert!(check.starts_with("REFUSED: The file is based on version 0, but version 1 applies now."), "{check}");

    // What cannot apply is refused by both.
    document["policy"]["gate"]["replays_max"] = "many".into();
    document["version"] = 1.into();
    write(&file, &document);
    let (code, check, _) = policy(&demo.url, admin.token(), &["check", name]);
    assert!(code == Some(1) && check.starts_with("REFUSED: "), "{check}");
    let (code, _, said) = policy(&demo.url, admin.token(), &put);
    assert_eq!(code, Some(1), "{said}");
    let (_, shown, _) = policy(&demo.url, admin.token(), &["show"]);
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!((&shown["version"], &shown["policy"]["gate"]["replays_max"]), (&1.into(), &7.into()));
}

#[tokio::test]
async fn what_is_missing_is_one_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let file = folder.path().join("alone.json");
    write(&file, &serde_json::json!({ "gate": {} }));
    let name = file.to_str().expect("a path in UTF-8");
    for (office, token, arguments, sentence) in [
        (demo.url.as_str(), "", &["show"][..], "DLO_TOKEN"),
        (&demo.url, "wrong", &["show"], "signed out"),
        ("http://office.example.com", "t", &["show"], "does not use TLS"),
        ("http://127.0.0.1:1", "t", &["show"], "does not answer"),
        (&demo.url, "t", &["check", "no-such-file"], "cannot read no-such-file"),
        (&demo.url, "t", &["put", name, "--reason", "x"], "has no version"),
    ] {
        let (code, out, said) = policy(office, token, arguments);
        assert_eq!((code, out.as_str(), said.lines().count()), (Some(1), "", 1), "{arguments:?}: {said}");
        assert!(said.starts_with("dlo: ") && said.contains(sentence), "{sentence}: {said}");
    }
}
