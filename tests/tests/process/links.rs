//! Sign-in links: who sees them, and what `dlo links` says when there is no office.

use domain::role::Role;
use harness::running::{Demo, program};
use reqwest::StatusCode;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use wire::MeAnswer;

fn dlo(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).arg("--data").arg(folder).stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> (Output, String, String) {
    let output = command.output().expect("`dlo` runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output, out, err)
}

#[tokio::test]
async fn links_are_not_in_a_redirected_output_and_need_no_proxy() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    assert!(!demo.screen().contains("signin"), "{}", demo.screen());
    let hint = format!("For sign-in links, run: {} links --data {}\n", program().display(), folder.path().display());
    assert!(demo.screen().contains(&hint), "{}", demo.screen());

    // Nothing listens at the proxy: a call through it would fail.
    let mut links = dlo(&["links"], folder.path());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
        links.env(name, "http://127.0.0.1:1");
    }
    let (output, links, errors) = run(links.env_remove("NO_PROXY").env_remove("no_proxy"));
    assert!(output.status.success(), "{errors}");
    let roles: Vec<_> = links.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(roles, Role::ALL.map(Role::as_str), "{links}");
    let me: MeAnswer = demo.sign_in(Role::Approver).await.get("/me").await;
    assert_eq!(me.role, Role::Approver);
}

#[tokio::test]
async fn a_killed_office_is_one_sentence_and_exit_status_1() {
    let folder = tempfile::tempdir().expect("a folder");
    Demo::start_with(folder.path(), &["--fresh"]).kill();
    for arguments in [&["links"][..], &["orders", "status"]] {
        let (output, out, err) = run(&mut dlo(arguments, folder.path()));
        assert_eq!((output.status.code(), out.as_str()), (Some(1), ""), "{err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(err.starts_with("dlo: no ") && err.contains("Start one with `dlo demo`"), "{err}");
        assert!(!err.contains("error") && !err.contains("127.0.0.1:1/"), "no cause chain: {err}");
    }
}

#[tokio::test]
async fn orders_out_of_range_are_refused_with_the_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    for count in ["0", "2001", "-1"] {
        let (output, _, err) = run(&mut dlo(&["orders", "place", count], folder.path()));
        assert_eq!(output.status.code(), Some(2), "{err}");
    }
    let (_, _, err) = run(&mut dlo(&["orders", "place", "0"], folder.path()));
    assert!(err.contains("0 is not in 1..=2000"), "{err}");
    let (output, out, _) = run(&mut dlo(&["orders", "status"], folder.path()));
    assert!(output.status.success() && out.contains("producer          off (started with --orders-per-s 0)"), "{out}");
    assert_eq!(demo.anonymous().call(reqwest::Method::GET, "/me", None).await.status, StatusCode::UNAUTHORIZED);
}
