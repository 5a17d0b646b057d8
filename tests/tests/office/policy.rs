//! The policy in the store: who may change it, what a change is refused for, and from when it applies.

use crate::api::{Answer, router, send};
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::group::GroupState;
use domain::limits::POLICY_AGE_MAX;
use domain::policy::{GatePolicy, Policy};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::world::{World, approve_request};
use lambda::settings::{self, SettingsError};
use office::office::Office;
use office::policy::Policies;
use office::{act, event};
use queue::Queue;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::{ErrorCode, PolicyAnswer, PolicyCheckAnswer, PolicyHistoryAnswer};

async fn call(router: &Router, method: Method, path: &str, role: &str, body: &Value) -> Answer {
    let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    let request = request.header("authorization", format!("Bearer {role}")).header("content-type", "application/json");
    send(router, request.body(Body::from(body.to_string())).unwrap()).await
}

async fn put(router: &Router, policy: &Value, version: u64) -> Answer {
    let body = json!({ "policy": policy, "version": version, "reason": "agreed on Monday" });
    call(router, Method::PUT, "/policy", "admin", &body).await
}

async fn changed(router: &Router, policy: &Value, version: u64) -> PolicyAnswer {
    let answer = put(router, policy, version).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", String::from_utf8_lossy(&answer.body));
    read(&answer)
}

fn read<T: serde::de::DeserializeOwned>(answer: &Answer) -> T {
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {:?}", answer.status))
}

async fn applies(router: &Router) -> PolicyAnswer {
    read(&call(router, Method::GET, "/policy", "viewer", &json!({})).await)
}

/// Another process over the same store.
fn other_process(world: &World) -> Office {
    let named = world.office.policies.named().clone();
    Office { policies: Arc::new(Policies::new(named)), ..world.office.clone() }
}

#[tokio::test]
async fn a_version_is_written_by_an_admin_over_the_one_that_was_read() {
    let (world, router) = router().await;
    let first = applies(&router).await;
    assert_eq!((first.version, &first.by), (0, &None));
    assert_eq!((&first.policy.queues.main, &first.named.main), (&Vec::new(), &vec![world.main.clone()]));

    let mut next = serde_json::to_value(&first.policy).unwrap();
    next["gate"]["four_eyes"] = json!(false);
    next["gate"]["quiet_ms"] = json!(60_000);
    let check = call(&router, Method::POST, "/policy/check", "operator", &json!({ "policy": next })).await;
    let check: PolicyCheckAnswer = read(&check);
    let settings: Vec<_> = check.changes.iter().map(|change| change.setting.as_str()).collect();
    assert_eq!((check.version, &check.problems[..]), (0, &[][..]));
    assert!(settings.contains(&"gate.quiet_ms"), "{settings:?}");
    assert_eq!(applies(&router).await, first, "a check changes nothing");

    let one = changed(&router, &next, 0).await;
    assert_eq!((one.version, one.by.as_ref().map(|by| by.as_str())), (1, Some("admin")));
    assert_eq!(applies(&router).await, one);
    // Only what the person gave is stored; the office adds what the deployment names.
    assert_eq!(one.policy.queues.main, []);
    assert_eq!(world.office.latest().await.unwrap().policy.queues, *world.office.policies.named());

    let stale = put(&router, &json!({}), 0).await;
    let error = stale.error();
    assert_eq!((stale.status, error.code), (StatusCode::CONFLICT, ErrorCode::Conflict));
    assert_eq!(
        error.message,
        "The policy has changed: version 1 applies now, written by admin. Read it, then make your change again."
    );
    let same = put(&router, &next, 1).await;
    assert_eq!(same.status, StatusCode::BAD_REQUEST, "a version without a change");
    changed(&router, &json!({}), 1).await;

    let history = async |query: &str| -> PolicyHistoryAnswer {
        read(&call(&router, Method::GET, &format!("/policy/history{query}"), "viewer", &json!({})).await)
    };
    let all = history("").await;
    let versions: Vec<_> = all.versions.iter().map(|row| (row.version, row.reason.as_str())).collect();
    assert_eq!((versions, all.next), (vec![(2, "agreed on Monday"), (1, "agreed on Monday")], None));
    assert_eq!((&all.versions[1].changes, &all.versions[1].policy), (&check.changes, &one.policy));
    let page = history("?limit=1").await;
    assert_eq!((page.versions.len(), page.next), (1, Some(2)));
    assert_eq!(history("?limit=1&before=2").await.versions, all.versions[1..]);
}

#[tokio::test]
async fn a_policy_is_refused_with_a_sentence() {
    let (world, router) = router().await;
    let dlq = world.dlq.as_str();
    for (policy, problem) in [
        (json!([]), "The policy is not valid: the policy must be an object of named settings, { … }"),
        (
            json!({ "gate": { "quiet": 1 } }),
            "The policy is not valid: gate.quiet cannot be read: unknown field `quiet`",
        ),
        (
            json!({ "replay": { "pace_per_s": 0 } }),
            "The policy is not valid: replay.pace_per_s is 0; it must be between 1 and 10000.",
        ),
        (
            json!({ "class_rules": [{ "name": "late\u{1b}[2K", "class": "transient" }] }),
            "The policy is not valid: the text \"late\\u{1b}[2K\" ",
        ),
        (json!({ "queues": { "main": [dlq] } }), "orders-dlq is a queue of this office or a dead-letter queue"),
        (json!({ "sign_in": { "revoked": [{ "name": "Admin" }] } }), "The list sign_in.revoked would revoke your own"),
    ] {
        let answer = put(&router, &policy, 0).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{policy}");
        assert!(answer.error().message.to_lowercase().starts_with(&problem.to_lowercase()), "{:?}", answer.error());
        let check = call(&router, Method::POST, "/policy/check", "admin", &json!({ "policy": policy })).await;
        let check: PolicyCheckAnswer = read(&check);
        assert!(matches!(&check.problems[..], [found] if found.starts_with(problem)), "{:?}", check.problems);
        assert!(check.changes.is_empty(), "{policy}");
    }
    assert_eq!(world.store.policy().await.unwrap(), None);
}

#[tokio::test]
async fn every_process_follows_a_change_within_ten_seconds() {
    let (world, router) = router().await;
    let other = other_process(&world);
    let version = async || other.current().await.unwrap().policy_version;
    assert_eq!(version().await, 0);
    changed(&router, &json!({ "sign_in": { "revoked": [{ "name": "operator" }] } }), 0).await;
    let refused = call(&router, Method::GET, "/me", "operator", &json!({})).await;
    assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "the process that wrote it follows it at once");

    world.advance(Span::from_ms(POLICY_AGE_MAX.as_ms() - 1));
    assert_eq!(version().await, 0, "known for less than ten seconds");
    world.advance(Span::from_ms(1));
    assert_eq!(version().await, 1);
    // A clock that goes back makes what is known old.
    changed(&router, &json!({}), 1).await;
    world.advance(Span::from_ms(-1));
    assert_eq!(version().await, 2);
}

#[tokio::test]
async fn an_approval_is_judged_by_the_newest_version_and_names_it() {
    let (mut world, router) = router().await;
    let gate = GatePolicy { four_eyes: false, ..world.office.policy.gate.clone() };
    world.office.policy = Arc::new(Policy { gate, ..Policy::clone(&world.office.policy) });
    let mut policy = serde_json::to_value(&*world.office.policy).unwrap();
    let group = world.one_group(3).await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    let stale = other_process(&world);
    assert_eq!(stale.current().await.unwrap().policy_version, 0);

    policy["gate"]["four_eyes"] = json!(true);
    policy["message_types"] = json!([{ "message_type": "*", "idempotent": true }]);
    changed(&router, &policy, 0).await;
    let declarer = world.otto();
    let error = act::approve(&stale, &declarer, &group, &approve_request(&plan)).await.unwrap_err();
    assert!(error.to_string().contains("the gate is closed"), "{error}");
    policy["gate"]["four_eyes"] = json!(false);
    changed(&router, &policy, 1).await;
    let replay = act::approve(&stale, &declarer, &group, &approve_request(&plan)).await.unwrap();
    assert_eq!(replay.approval().policy_version, 2);
    let state = world.store.group(&group).await.unwrap().unwrap().state;
    assert!(matches!(state, GroupState::Replaying { .. }), "{state:?}");
}

#[tokio::test]
async fn letters_are_read_by_the_stored_policy() {
    let (world, router) = router().await;
    let severe = json!({ "message_types": [{ "message_type": "*", "severity": "critical" }] });
    changed(&router, &severe, 0).await;
    world.place(0, 1).await;
    world.consume(&|_| Some("orders::Broken"), "v1").await;
    let office = other_process(&world);
    let received = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
    assert_eq!(event::letters(&office, &world.dlq, received).await, []);
    let group = world.only_group().await;
    let group = world.store.group(&group).await.unwrap().unwrap();
    assert_eq!(group.severity, domain::impact::Severity::Critical);
}

#[tokio::test]
async fn a_wrong_policy_of_the_deployment_stops_nothing_once_the_store_has_one() {
    let (world, router) = router().await;
    let deployed = async |text| settings::deployed_policy(text, &*world.store).await;
    let wrong = Some(r#"{ "gate": { "quiet": 1 } }"#);
    assert!(matches!(deployed(wrong).await, Err(SettingsError::Policy(_))), "nothing else would apply");
    assert_eq!(deployed(None).await.ok(), Some(Policy::default()));
    let quiet =
        Policy { gate: GatePolicy { quiet_ms: Span::from_secs(60), ..GatePolicy::default() }, ..Policy::default() };
    let right = serde_json::to_string(&quiet).unwrap();
    assert_eq!(deployed(Some(&right)).await.ok(), Some(quiet.clone()));

    changed(&router, &serde_json::to_value(&quiet).unwrap(), 0).await;
    let office = Office { policy: Arc::new(deployed(wrong).await.unwrap()), ..other_process(&world) };
    let current = office.current().await.unwrap();
    assert_eq!((current.policy_version, current.policy.gate.quiet_ms), (1, quiet.gate.quiet_ms), "the stored one");
}
