//! A demo with letters, a plan and a replay, for a program that calls its API with generated inputs.
//!
//! Prints one line of JSON with its address, an admin's token and the ids of what it holds. Once stdin ends, it checks
//! that the office still answers, and ends. `cargo xtask schemathesis` runs it.

use domain::role::Role;
use harness::running::{Client, Demo, until};
use local::orders::{Kind, Version};
use serde_json::{Value, json};
use std::io::Read;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);
/// Orders of each kind that fails.
const ORDERS: u32 = 12;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let (operator, approver, admin) =
        (demo.sign_in(Role::Operator).await, demo.sign_in(Role::Approver).await, demo.sign_in(Role::Admin).await);
    for kind in [Kind::GiftCard, Kind::UnknownProduct, Kind::Malformed] {
        demo.panel().place(ORDERS, kind).await;
    }
    let groups = until("three groups with every letter", DEADLINE, async || {
        let groups = groups(&operator).await;
        let letters: i64 = groups.iter().filter_map(|group| group["open"]["letters"].as_i64()).sum();
        (letters >= 3 * i64::from(ORDERS)).then_some(groups)
    })
    .await;
    let ids: Vec<&str> = groups.iter().map(|group| group["id"].as_str().expect("an id")).collect();
    let replay = replayed(&demo, &operator, &approver, gift_cards(&groups)).await;
    let letters: Value = operator.get(&format!("/groups/{}/letters", ids[0])).await;
    let letter = letters["letters"][0]["id"].as_str().expect("a letter");
    println!(
        "{}",
        json!({ "url": demo.url, "token": admin.token(), "groups": ids, "letters": [letter], "replays": [replay] })
    );
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).expect("stdin ends");
    let _: Value = demo.anonymous().get("/session").await;
    let log = demo.log_text();
    assert!(!log.contains("panicked"), "the office panicked:\n{log}");
}

async fn groups(client: &Client) -> Vec<Value> {
    let answer: Value = client.get("/groups").await;
    answer["groups"].as_array().cloned().unwrap_or_default()
}

fn gift_cards(groups: &[Value]) -> &str {
    let found = groups.iter().find(|group| group["title"].as_str().is_some_and(|title| title.contains("index")));
    found.and_then(|group| group["id"].as_str()).expect("the group of the gift cards")
}

/// Starts a replay that runs for minutes, so that it can be paused, resumed and aborted. Returns its id.
async fn replayed(demo: &Demo, operator: &Client, approver: &Client, group: &str) -> String {
    demo.panel().deploy(Version::V3).await;
    let fix = json!({ "kind": "deploy", "reference": "v3" });
    until("a declared fix", DEADLINE, async || {
        operator.try_post(&format!("/groups/{group}/fix"), fix.clone()).await.status.is_success().then_some(())
    })
    .await;
    let plan: Value = operator.post(&format!("/groups/{group}/plan"), json!({ "options": { "pace_per_s": 1 } })).await;
    let approval = json!({ "plan_hash": plan["hash"], "reason": "for the fuzzer" });
    let path = format!("/groups/{group}/approve");
    let view = until("an open gate", DEADLINE, async || {
        let answer = approver.try_post(&path, approval.clone()).await;
        answer.status.is_success().then_some(answer.body)
    })
    .await;
    view["replay"]["plan"]["id"].as_str().expect("a replay").to_owned()
}
