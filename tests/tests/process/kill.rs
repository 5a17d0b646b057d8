//! `kill -9` of the real office at random moments, from a seed: no letter is lost or counted twice, and every replay
//! finishes. Also tests that the API refuses forbidden requests.

use domain::gate::ConditionKind;
use domain::group::GroupState;
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use domain::replay::{Ending, OutcomeKind, ReplayState};
use domain::role::{Permission, Role};
use harness::running::{Client, Demo, until, within};
use harness::samples::Chance;
use local::orders::{Kind, Version};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use wire::{ErrorBody, ErrorCode, GroupAnswer, GroupRow, GroupsAnswer, PlanAnswer, ReplayAnswer, ReplaysAnswer};

/// The deadline for most conditions.
const DEADLINE: Duration = Duration::from_secs(30);
/// The deadline for empty queues: twice the visibility timeout of the dead-letter queue.
const QUEUES_DEADLINE: Duration = Duration::from_secs(60);
/// The deadline for a replay: every kill may leave a lease of half a minute.
const REPLAY_DEADLINE: Duration = Duration::from_secs(300);

/// The source of the moments of the kills. `DLO_SEED` repeats a run.
fn chance() -> Chance {
    let seed = std::env::var("DLO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_261_121);
    println!("repeat this run with DLO_SEED={seed}");
    Chance(seed)
}

async fn groups(client: &Client) -> Vec<GroupRow> {
    client.get::<GroupsAnswer>("/groups").await.groups
}

async fn detail(client: &Client, group: &GroupId) -> GroupAnswer {
    client.get(&format!("/groups/{group}")).await
}

/// Waits until exactly one group exists and has so many open letters.
async fn one_group(client: &Client, letters: i64) -> GroupId {
    until("one group with every letter", DEADLINE, async || match &groups(client).await[..] {
        [group] if group.open.letters == letters => Some(group.id.clone()),
        _ => None,
    })
    .await
}

/// Makes gift cards die under version 1, deploys version 3, declares it as the fix and makes a plan, as the operator.
async fn planned(demo: &Demo, letters: u32, pace_per_s: u32) -> (Client, GroupId, PlanAnswer) {
    let otto = demo.sign_in(Role::Operator).await;
    demo.panel().place(letters, Kind::GiftCard).await;
    let group = one_group(&otto, letters.into()).await;
    demo.panel().deploy(Version::V3).await;
    until("the deployment", DEADLINE, async || {
        let deployed = detail(&otto, &group).await.deployment;
        deployed.filter(|deployment| deployment.version == "v3")
    })
    .await;
    let fix = json!({ "kind": "deploy", "reference": "v3" });
    let _: GroupAnswer = otto.post(&format!("/groups/{group}/fix"), fix).await;
    let options = json!({ "options": { "pace_per_s": pace_per_s } });
    let plan = otto.post(&format!("/groups/{group}/plan"), options).await;
    (otto, group, plan)
}

/// Approves as the approver as soon as the gate is open.
async fn approved(demo: &Demo, group: &GroupId, plan: &PlanAnswer) -> ReplayAnswer {
    let anna = demo.sign_in(Role::Approver).await;
    until("an open gate", DEADLINE, async || detail(&anna, group).await.gate.is_open().then_some(())).await;
    let approve = json!({ "plan_hash": plan.hash, "reason": "checked ten of them" });
    anna.post(&format!("/groups/{group}/approve"), approve).await
}

#[tokio::test]
async fn a_replay_killed_repeatedly_delivers_every_letter() {
    const LETTERS: u64 = 40;
    const KILLS: u64 = 6;
    let folder = tempfile::tempdir().expect("a folder");
    let mut chance = chance();
    let mut demo = Demo::start_with(folder.path(), &["--fresh"]);
    let (_, group, plan) = planned(&demo, LETTERS as u32, 4).await;
    let replay = approved(&demo, &group, &plan).await.replay.id().clone();
    let path = format!("/replays/{replay}");

    let is_finished = async |client: &Client| {
        let view: ReplayAnswer = client.get(&path).await;
        view.replay.is_finished().then_some(view)
    };
    // Each kill comes at a random moment after some more sends, while letters remain.
    for kill in 0..KILLS {
        let viewer = demo.sign_in(Role::Viewer).await;
        until("letters on their way", REPLAY_DEADLINE, async || {
            let view: ReplayAnswer = viewer.get(&path).await;
            (view.total.sent() >= kill * LETTERS / (KILLS + 2)).then_some(())
        })
        .await;
        let moment = Duration::from_millis(chance.below(400) as u64);
        assert!(within(moment, || is_finished(&viewer)).await.is_none(), "the replay ended before kill {kill}");
        demo.kill();
        demo = Demo::start(folder.path());
    }

    let viewer = demo.sign_in(Role::Viewer).await;
    let view = until("the end of the replay", REPLAY_DEADLINE, || is_finished(&viewer)).await;
    assert!(matches!(view.replay.state, ReplayState::Finished { ending: Ending::Completed, .. }), "{:?}", view.replay);
    assert_eq!((view.total.selected(), view.total.delivered), (LETTERS, LETTERS), "{:?}", view.total);
    ledger_equals_entries(&viewer, &view).await;

    let after = detail(&viewer, &group).await;
    assert!(matches!(after.row.state, GroupState::Resolved { .. }), "{:?}", after.row.state);
    assert_eq!(after.counts.tally(LetterStateKind::Delivered).letters as u64, LETTERS);
    assert_eq!(letters_of(&viewer, &group).await.len() as u64, LETTERS, "no letter is lost or new");
    assert_eq!(after.counts.by_state.values().map(|tally| tally.letters).sum::<i64>() as u64, LETTERS);
}

/// Checks that each number of the ledger equals its list of entries, and that entries with several sends are counted.
async fn ledger_equals_entries(client: &Client, view: &ReplayAnswer) {
    let id = view.replay.id();
    for kind in OutcomeKind::ALL {
        let entries = client.all(&format!("/replays/{id}/entries?outcome={}", kind.as_str()), "entries").await;
        assert_eq!(entries.len() as u64, view.total.get(kind), "{}", kind.as_str());
    }
    let entries = client.all(&format!("/replays/{id}/entries?"), "entries").await;
    let letters: BTreeSet<_> = entries.iter().map(|entry| entry["letter"].as_str().expect("an id")).collect();
    assert_eq!(letters.len() as u64, view.total.selected(), "each letter once");
    let twice = entries.iter().filter(|entry| entry["sends"].as_u64() > Some(1)).count();
    assert_eq!(twice as u64, view.total.sent_twice);
}

async fn letters_of(client: &Client, group: &GroupId) -> Vec<Value> {
    client.all(&format!("/groups/{group}/letters?"), "letters").await
}

#[tokio::test]
async fn letters_that_arrive_while_the_office_is_killed_are_kept_once() {
    const EACH: u32 = 300;
    const KINDS: [Kind; 6] =
        [Kind::GiftCard, Kind::Malformed, Kind::GiftCard, Kind::UnknownProduct, Kind::Expired, Kind::DeletedTenant];
    let folder = tempfile::tempdir().expect("a folder");
    let mut chance = chance();
    let mut demo = Demo::start_with(folder.path(), &["--fresh"]);
    let mut seen_at_kill = Vec::new();
    let mut viewer = demo.sign_in(Role::Viewer).await;
    for (burst, kind) in (1..).zip(KINDS) {
        let before = kept(&viewer).await;
        let panel = demo.panel();
        let placing = tokio::spawn(async move { panel.try_place(EACH, kind).await });
        // Letters of the burst before may still arrive: a kill that followed them could come before this request.
        let placed = async || (demo.panel().state().await.state.placed_count == burst * u64::from(EACH)).then_some(());
        until("a placed burst", DEADLINE, placed).await;
        let some = before + 1 + chance.below(EACH as usize / 2) as i64;
        let seen = until("some of a burst", DEADLINE, async || Some(kept(&viewer).await).filter(|n| *n >= some)).await;
        demo.kill();
        placing.await.expect("the request ends with the office");
        demo = Demo::start(folder.path());
        viewer = demo.sign_in(Role::Viewer).await;
        seen_at_kill.push(seen);
    }
    // Messages that a killed intake held become visible again after the visibility timeout of the dead-letter queue.
    queues_are_empty(&demo).await;

    let (bursts, each) = (KINDS.len() as u64, u64::from(EACH));
    assert_eq!(demo.panel().state().await.state.placed_count, bursts * each);
    let numbers = every_order_is_one_letter(&viewer, bursts, each).await;
    let in_the_end = (1..=bursts).map(|burst| numbers.iter().filter(|n| **n <= burst * each).count() as i64);
    let seen: Vec<_> = seen_at_kill.into_iter().zip(in_the_end).collect();
    println!("letters stored at each kill, and in the end: {seen:?}");
    assert!(seen.iter().all(|(seen, in_the_end)| seen <= in_the_end), "stored letters stay");
    assert!(seen.iter().any(|(seen, in_the_end)| seen < in_the_end), "no kill hit the middle of intake");
}

/// Waits until no queue has a visible or in-flight message.
async fn queues_are_empty(demo: &Demo) {
    let panel = demo.panel();
    until("empty queues", QUEUES_DEADLINE, async || {
        let state = panel.state().await;
        let waiting: u64 = state.main.into_iter().chain(state.dlq).map(|d| d.visible_count + d.in_flight_count).sum();
        (waiting == 0).then_some(())
    })
    .await;
}

async fn kept(client: &Client) -> i64 {
    groups(client).await.iter().map(|group| group.open.letters).sum()
}

/// Checks that every sent order is the body of exactly one letter, and that the counters agree. Returns the numbers of the
/// orders. Orders are numbered before they are sent in order, so a burst cut short lacks only its last numbers.
async fn every_order_is_one_letter(client: &Client, bursts: u64, each: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    for group in groups(client).await {
        let letters = letters_of(client, &group.id).await;
        let counts = detail(client, &group.id).await.counts;
        assert_eq!(counts.tally(LetterStateKind::Waiting).letters, letters.len() as i64, "{}", group.title);
        assert_eq!(counts.deaths, letters.len() as u64, "{}: each letter died once", group.title);
        for letter in letters {
            let letter: Value = client.get(&format!("/letters/{}", letter["id"].as_str().expect("an id"))).await;
            let body = letter["content"]["body"].as_str().expect("a body").to_string();
            let number = body.split_once("\"ord_").and_then(|(_, tail)| tail.get(..6)).expect("an order's id");
            numbers.push(number.parse::<u64>().expect("an order's number"));
        }
    }
    numbers.sort_unstable();
    for burst in 0..bursts {
        let first = burst * each + 1;
        let sent: Vec<u64> = numbers.iter().copied().filter(|n| (first..first + each).contains(n)).collect();
        let expected: Vec<u64> = (first..first + sent.len() as u64).collect();
        assert_eq!(sent, expected, "every order of burst {burst} once");
    }
    assert!(numbers.iter().all(|n| (1..=bursts * each).contains(n)), "only placed orders");
    numbers
}

#[tokio::test]
async fn a_closed_gate_refuses_curl_and_sends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let (otto, group, plan) = planned(&demo, 5, 20).await;
    let anna = demo.sign_in(Role::Approver).await;
    let path = format!("/groups/{group}/approve");
    let approve = json!({ "plan_hash": plan.hash, "reason": "now" });

    // The ten quiet seconds have not passed yet.
    let refused = anna.try_post(&path, approve.clone()).await;
    assert_eq!((refused.status, refused.code()), (StatusCode::CONFLICT, "gate_closed"));
    let error: ErrorBody = refused.value();
    let unmet: Vec<_> = error.unmet.iter().map(|condition| condition.kind).collect();
    assert_eq!((error.code, unmet), (ErrorCode::GateClosed, vec![ConditionKind::Quiet]));

    // A waiver of a condition that cannot be waived, an unknown plan, and a person who cannot approve.
    let waived =
        json!({ "plan_hash": plan.hash, "reason": "now", "waivers": [{ "condition": "approval", "reason": "mine" }] });
    assert_eq!(anna.try_post(&path, waived).await.status, StatusCode::BAD_REQUEST);
    let other = json!({ "plan_hash": "0".repeat(64), "reason": "now" });
    assert_eq!(anna.try_post(&path, other).await.code(), "conflict");
    assert_eq!(otto.try_post(&path, approve.clone()).await.status, StatusCode::FORBIDDEN);

    // The declarer of the fix cannot approve it, whatever their role.
    let ada = demo.sign_in(Role::Admin).await;
    let fix = json!({ "kind": "deploy", "reference": "v3" });
    let _: GroupAnswer = ada.post(&format!("/groups/{group}/fix"), fix).await;
    let plan: PlanAnswer = ada.post(&format!("/groups/{group}/plan"), json!({})).await;
    until("a gate open for another person", DEADLINE, async || {
        detail(&anna, &group).await.gate.is_open().then_some(())
    })
    .await;
    let approve = json!({ "plan_hash": plan.hash, "reason": "my own" });
    let error: ErrorBody = ada.try_post(&path, approve).await.value();
    let unmet: Vec<_> = error.unmet.iter().map(|condition| condition.kind).collect();
    assert_eq!((error.code, unmet), (ErrorCode::GateClosed, vec![ConditionKind::Approval]));

    assert!(anna.get::<ReplaysAnswer>("/replays").await.replays.is_empty());
    let counts = detail(&anna, &group).await.counts;
    assert_eq!(counts.tally(LetterStateKind::Waiting).letters, 5, "every letter still waits");
    let state = demo.panel().state().await;
    assert_eq!(state.main.map(|depth| depth.visible_count + depth.in_flight_count), Some(0), "nothing was sent");
    assert_eq!(state.state.handled_count, 0, "nothing was handled");
}

#[tokio::test]
async fn every_role_is_enforced() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let (vera, anonymous) = (demo.sign_in(Role::Viewer).await, demo.anonymous());
    for endpoint in local::serve::endpoints() {
        let Some(permission) = endpoint.permission else { continue };
        let path = ["{group}", "{letter}", "{replay}"]
            .iter()
            .fold(endpoint.path.to_string(), |path, name| path.replace(name, &"0".repeat(32)));
        let call = async |client: &Client| client.call(endpoint.method.clone(), &path, Some(json!({}))).await;
        let signed_out = call(&anonymous).await;
        assert_eq!((signed_out.status, signed_out.code()), (StatusCode::UNAUTHORIZED, "signed_out"), "{path}");
        if permission != Permission::View {
            let viewer = call(&vera).await;
            assert_eq!((viewer.status, viewer.code()), (StatusCode::FORBIDDEN, "forbidden"), "{path}");
        }
    }
    let again = json!({ "code": demo.link(Role::Viewer).rsplit_once('#').expect("a code").1 });
    assert_eq!(anonymous.try_post("/session", again).await.status, StatusCode::UNAUTHORIZED, "a link works once");
    // Each connection may hold what it sends here, before anybody has signed in.
    let large = json!({ "code": "x".repeat(1_100) });
    assert_eq!(anonymous.try_post("/session", large).await.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn another_host_name_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let http = local::http::client().build().expect("a client");
    for path in ["/", "/api/v1/groups", "/api/v1/session", "/panel", "/local/links"] {
        let request = http.request(Method::GET, format!("{}{path}", demo.url)).header("host", "office.example:80");
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::MISDIRECTED_REQUEST, "{path}");
    }
}
