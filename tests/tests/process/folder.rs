//! Two offices on one folder: the second refuses, and the first goes on.

use domain::role::Role;
use harness::running::{Demo, program};
use std::process::Command;
use wire::GroupsAnswer;

#[tokio::test]
async fn a_second_office_on_a_folder_says_why_it_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let viewer = demo.sign_in(Role::Viewer).await;
    let second = Command::new(program()).args(["demo", "--port", "0", "--data"]).arg(folder.path()).output();
    let second = second.expect("the program starts");
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(!second.status.success(), "{said}");
    assert!(said.contains("another office is running with the folder"), "{said}");
    let _: GroupsAnswer = viewer.get("/groups").await;
}
