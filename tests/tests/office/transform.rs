//! A payload transform as a fix: saved, dry-run, declared, approved by a second person, and applied only to sent messages.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::group::GroupState;
use domain::id::{Actor, GroupId, ReplayId};
use domain::money::{Currency, Money};
use domain::policy::{GatePolicy, Policy};
use domain::replay::{Ending, Entry, Outcome, OutcomeKind, PlanOptions, ReplayState, SkipReason};
use domain::role::Role;
use domain::time::{Span, Timestamp};
use domain::transform::{DryRun, Transform, body_hash};
use harness::world::{World, approve_request, kinds, number_of};
use http_body_util::BodyExt;
use office::act;
use office::api::{self, Api, Caller, Identify};
use office::error::OfficeError;
use queue::Received;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use tower::ServiceExt;
use transform::PREVIEWS_MAX;
use wire::{
    ApproveRequest, DeclareFixRequest, DryRunRequest, ErrorBody, ErrorCode, PreviewTransformRequest, ResumeRequest,
    SaveTransformRequest, TransformPreviewAnswer, TransformsAnswer,
};

const BUG: &str = "orders::pricing::Overflow";
/// Adds the amount in cents, which the consumer requires.
const PROGRAM: &str = ".total.cents = (.total.amount | split(\".\") | add | tonumber)";

fn nothing_works(_: &Received) -> Option<&'static str> {
    Some(BUG)
}

fn only_cents_work(message: &Received) -> Option<&'static str> {
    (!message.content.body.contains("\"cents\":")).then_some(BUG)
}

fn declare(version: &str) -> DeclareFixRequest {
    DeclareFixRequest { kind: FixKind::PayloadTransform, reference: version.into(), note: None, transform: None }
}

async fn world_with_letters(count: u64) -> (World, GroupId) {
    let world = World::new().await;
    let group = world.one_group(count).await;
    world.advance(Span::from_secs(1));
    (world, group)
}

async fn save(world: &World, group: &GroupId, program: &str) -> Transform {
    let request = SaveTransformRequest { program: program.into(), note: None };
    act::save_transform(&world.office, &world.otto(), group, &request).await.unwrap()
}

/// Runs a dry run to its end.
async fn dry_run(world: &World, group: &GroupId, version: u32) -> DryRun {
    let mut continued = None;
    loop {
        let request = DryRunRequest { version, go_on: continued, filter: LetterFilter::default() };
        let run = act::dry_run(&world.office, &world.otto(), group, &request).await.unwrap();
        if run.is_whole() {
            return run;
        }
        continued = Some(run.revision);
    }
}

async fn planned(world: &World, group: &GroupId, version: &str) -> ApproveRequest {
    act::declare_fix(&world.office, &world.otto(), group, &declare(version)).await.unwrap();
    let plan = world.plan(group, &PlanOptions::default()).await;
    approve_request(&plan)
}

async fn approved(world: &World, group: &GroupId, program: &str) -> ReplayId {
    let version = save(world, group, program).await.version;
    dry_run(world, group, version).await;
    let approve = planned(world, group, &format!("v{version}")).await;
    act::approve(&world.office, &world.anna(), group, &approve).await.unwrap().id().clone()
}

fn of_kind(entries: &[Entry], kind: OutcomeKind) -> Vec<&Entry> {
    entries.iter().filter(|entry| entry.outcome.kind() == kind).collect()
}

#[tokio::test]
async fn letters_are_sent_changed_and_stored_unchanged() {
    let (world, group) = world_with_letters(30).await;
    let originals = world.letters(&group, None).await;
    let id = approved(&world, &group, PROGRAM).await;
    let replay = world.run(&id, &only_cents_work, "v1").await;
    assert!(matches!(replay.state(), ReplayState::Finished { ending: Ending::Completed, .. }), "{:?}", replay.state());
    assert!(matches!(world.store.group(&group).await.unwrap().unwrap().state, GroupState::Resolved { .. }));
    let processed = world.processed.lock().unwrap().clone();
    assert_eq!(processed.len(), 30);
    for original in originals {
        let kept = world.store.letter(&original.id).await.unwrap().unwrap();
        assert_eq!(kept.content, original.content, "the original is kept");
        let n = number_of(&original.content.body);
        let cents = (10 + n) * 100 + 10;
        let sent =
            original.content.body.replace(r#","currency":"EUR"}"#, &format!(r#","currency":"EUR","cents":{cents}}}"#));
        assert!(processed.contains(&sent), "{sent}");
        let entry = world.entries(&id).await.into_iter().find(|entry| entry.letter == original.id).unwrap();
        let changed = entry.changed_by.expect("the entry records the change");
        assert_eq!((changed.version, changed.body_hash), (1, body_hash(&sent)));
    }
}

#[tokio::test]
async fn failed_letters_are_skipped_and_unchanged_letters_are_sent_as_they_are() {
    let (world, group) = world_with_letters(9).await;
    let program = r#"(.order_id | ltrimstr("ord_") | tonumber) as $n
        | if $n % 3 == 0 then error("no customer for \($n)") elif $n % 3 == 1 then . else .changed = true end"#;
    let id = approved(&world, &group, program).await;
    world.run(&id, &|_| None, "v1").await;
    let entries = world.entries(&id).await;
    let skipped = of_kind(&entries, OutcomeKind::Skipped);
    assert_eq!(skipped.len(), 3);
    for entry in skipped {
        let Outcome::Skipped { reason: SkipReason::TransformFailed, detail: Some(why) } = &entry.outcome else {
            panic!("{:?}", entry.outcome)
        };
        // The program's words may hold values of the letter: only a recorded view shows them.
        assert_eq!(why, "The program failed on this letter. Its preview shows what it says.");
        let letter = world.store.letter(&entry.letter).await.unwrap().unwrap();
        assert_eq!((letter.state, letter.replays), (domain::letter::LetterState::Waiting, 0));
    }
    let delivered = of_kind(&entries, OutcomeKind::Delivered);
    assert_eq!(delivered.iter().filter(|entry| entry.changed_by.is_some()).count(), 3);
    let processed = world.processed.lock().unwrap().clone();
    for body in processed {
        let n = number_of(&body);
        let original = harness::world::order(n);
        assert_eq!(body == original, n % 3 == 1, "an unchanged letter is sent byte for byte: {body}");
    }
    world.counters_are_exact(&group).await;
}

#[tokio::test]
async fn a_returned_letter_keeps_its_original() {
    let (world, group) = world_with_letters(12).await;
    let originals = world.letters(&group, None).await;
    let id = approved(&world, &group, ".other = 1").await;
    let replay = world.run(&id, &nothing_works, "v1").await;
    assert!(replay.is_paused(), "{:?}", replay.state());
    assert_eq!(world.letters(&group, None).await.len(), originals.len(), "a return creates no new letter");
    for original in originals {
        let kept = world.store.letter(&original.id).await.unwrap().unwrap();
        assert_eq!(kept.content, original.content);
    }
    // The right program is another version. Resuming names the version that the person saw.
    world.advance(Span::from_secs(1));
    let right = save(&world, &group, PROGRAM).await;
    act::declare_fix(&world.office, &world.otto(), &group, &declare("2")).await.unwrap();
    let resume = |program_hash| ResumeRequest {
        reason: "v2 is right".into(),
        program_hash,
        fix_declared_at: None,
        waivers: Vec::new(),
    };
    let try_resume = async |request: ResumeRequest| act::resume(&world.office, &world.anna(), &id, &request).await;
    assert!(matches!(try_resume(resume(None)).await, Err(OfficeError::PlanChanged)));
    assert!(matches!(try_resume(resume(Some("another".into()))).await, Err(OfficeError::PlanChanged)));
    let named = Some(right.named().program_hash);
    let closed = try_resume(resume(named.clone())).await.unwrap_err();
    assert!(matches!(closed, OfficeError::GateClosed(unmet) if kinds(&unmet) == [ConditionKind::DryRun]));
    dry_run(&world, &group, 2).await;
    try_resume(resume(named)).await.unwrap();
    let replay = world.run(&id, &only_cents_work, "v1").await;
    assert!(replay.is_finished(), "{:?}", replay.state());
    let entries = world.entries(&id).await;
    let delivered = of_kind(&entries, OutcomeKind::Delivered);
    assert!(!delivered.is_empty());
    assert!(delivered.iter().all(|entry| entry.changed_by.as_ref().is_some_and(|by| by.version == 2)));
}

/// A program may make a small sum large.
#[tokio::test]
async fn a_transform_needs_a_second_person_wherever_the_policy_has_a_limit() {
    let (mut world, group) = world_with_letters(5).await;
    let limit = Money { amount: 1_000_000.into(), currency: Currency::parse("EUR").unwrap() };
    let gate = GatePolicy { four_eyes: false, four_eyes_from: vec![limit], ..world.office.policy.gate.clone() };
    world.office.policy = Arc::new(Policy { gate, ..(*world.office.policy).clone() });
    save(&world, &group, PROGRAM).await;
    dry_run(&world, &group, 1).await;
    act::declare_fix(&world.office, &world.otto(), &group, &declare("1")).await.unwrap();
    let plan = world.plan(&group, &PlanOptions::default()).await;
    let own = act::approve(&world.office, &world.otto(), &group, &approve_request(&plan)).await.unwrap_err();
    assert!(matches!(own, OfficeError::GateClosed(unmet) if kinds(&unmet) == [ConditionKind::Approval]));
    act::approve(&world.office, &world.anna(), &group, &approve_request(&plan)).await.unwrap();
}

#[tokio::test]
async fn the_gate_waits_for_a_dry_run_that_changes_something() {
    let (world, group) = world_with_letters(5).await;
    let unmet =
        async |approve: &ApproveRequest, who: &Actor| match act::approve(&world.office, who, &group, approve).await {
            Err(OfficeError::GateClosed(unmet)) => kinds(&unmet),
            other => panic!("{other:?}"),
        };
    let undeclared = act::declare_fix(&world.office, &world.otto(), &group, &declare("v1")).await.unwrap_err();
    assert!(matches!(undeclared, OfficeError::NoTransform(1)), "{undeclared}");
    for (program, version) in [(".", "v1"), ("error(\"no\")", "v2"), (PROGRAM, "v3")] {
        world.advance(Span::from_secs(1));
        let saved = save(&world, &group, program).await;
        let approve = planned(&world, &group, version).await;
        assert_eq!(unmet(&approve, &world.anna()).await, [ConditionKind::DryRun], "{program}: no dry run");
        let run = dry_run(&world, &group, saved.version).await;
        assert_eq!(run.counts.total(), 5);
        if program != PROGRAM {
            assert_eq!(run.counts.changed, 0);
            assert_eq!(unmet(&approve, &world.anna()).await, [ConditionKind::DryRun], "{program}: changes nothing");
            continue;
        }
        assert_eq!(unmet(&approve, &world.otto()).await, [ConditionKind::Approval], "the declarer cannot approve");
        act::approve(&world.office, &world.anna(), &group, &approve).await.unwrap();
    }
}

#[tokio::test]
async fn a_continued_dry_run_counts_each_letter_once() {
    let (world, group) = world_with_letters(450).await;
    save(&world, &group, "if (.order_id | endswith(\"0\")) then error(\"zero\") else .x = 1 end").await;
    let try_run = async |go_on| {
        let request = DryRunRequest { version: 1, go_on, filter: LetterFilter::default() };
        act::dry_run(&world.office, &world.otto(), &group, &request).await
    };
    let first = try_run(None).await.unwrap();
    assert!(!first.is_whole() && first.counts.total() < 450, "{:?}", first.counts);
    let second = try_run(Some(first.revision)).await.unwrap();
    assert!(second.counts.total() > first.counts.total());
    assert!(matches!(try_run(Some(first.revision)).await, Err(OfficeError::NotNow(_))), "no page is counted twice");
    let run = dry_run(&world, &group, 1).await;
    assert_eq!((run.counts.changed, run.counts.unchanged, run.counts.failed), (405, 0, 45));
    assert_eq!(run.failures.len(), 20);
    assert!(matches!(try_run(Some(run.revision)).await, Err(OfficeError::NotNow(_))), "the dry run is complete");
    let stored = world.store.transform(&group, 1).await.unwrap().unwrap().dry_run.unwrap();
    assert_eq!(stored, run);
}

#[tokio::test]
async fn an_endless_program_skips_its_letter_only() {
    let (world, group) = world_with_letters(6).await;
    let program = r#"if .order_id == "ord_000003" then (def f: f; f) else .x = 1 end"#;
    let id = approved(&world, &group, program).await;
    world.run(&id, &|_| None, "v1").await;
    let total = world.ledger(&id).await.total();
    assert_eq!((total.delivered, total.skipped), (5, 1), "{total:?}");
}

/// Identifies a caller by a token such as `operator:otto`.
struct ByName;

#[async_trait::async_trait]
impl Identify for ByName {
    async fn who(&self, token: &str, _: Timestamp) -> Option<Caller> {
        let (role, name) = token.split_once(':')?;
        let role = Role::ALL.into_iter().find(|one| one.as_str() == role)?;
        Some(Caller::new(name, role))
    }
}

fn router(world: &World) -> Router {
    let api = Api {
        office: world.office.clone(),
        identify: Arc::new(ByName),
        name: "test".into(),
        watching: [world.dlq.clone()].into(),
    };
    api::router(api, &api::endpoints())
}

async fn post<A: DeserializeOwned>(
    router: &Router,
    path: &str,
    request: &impl Serialize,
) -> Result<A, (StatusCode, ErrorBody)> {
    call(router, "POST", path, serde_json::to_string(request).unwrap()).await
}

async fn call<A: DeserializeOwned>(
    router: &Router,
    method: &str,
    path: &str,
    body: String,
) -> Result<A, (StatusCode, ErrorBody)> {
    let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    let request = request.header("authorization", "Bearer operator:otto").header("content-type", "application/json");
    let response = router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = response.status();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    match status {
        StatusCode::OK => Ok(serde_json::from_slice(&body).unwrap()),
        _ => Err((status, serde_json::from_slice(&body).unwrap())),
    }
}

#[tokio::test]
async fn the_api_previews_saves_dry_runs_and_lists() {
    let (world, group) = world_with_letters(50).await;
    let router = router(&world);
    let path = |suffix: &str| format!("/groups/{group}/transform{suffix}");
    let with = |program: &str| PreviewTransformRequest {
        program: program.into(),
        letters_max: None,
        filter: LetterFilter::default(),
    };

    let wrong: TransformPreviewAnswer = post(&router, &path("/preview"), &with(".a = \n foo")).await.unwrap();
    assert_eq!((wrong.faults[0].line, wrong.faults[0].column, wrong.letters.len()), (2, 2, 0));
    let save_wrong = SaveTransformRequest { program: ".a = foo".into(), note: None };
    let (status, error) = post::<Transform>(&router, &path(""), &save_wrong).await.unwrap_err();
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(error.message.contains("Line 1, column 6"), "{}", error.message);

    let fails_on_last =
        "if .order_id == \"ord_000049\" then error(\"no\") elif .order_id == \"ord_000001\" then . else del(.type) end";
    let preview: TransformPreviewAnswer = post(&router, &path("/preview"), &with(fails_on_last)).await.unwrap();
    assert_eq!((preview.counts.changed, preview.counts.unchanged, preview.counts.failed), (48, 1, 1));
    assert_eq!((preview.letters.len(), preview.cut), (50, false));
    assert!(preview.letters[0].failure.is_some(), "failures come first");
    let change = &preview.letters[1].changes[0];
    assert_eq!(
        (change.pointer.as_str(), change.before.as_deref(), change.after.as_deref()),
        ("/type", Some("\"order.placed\""), None)
    );
    let few = PreviewTransformRequest { letters_max: Some(7), ..with(PROGRAM) };
    let few: TransformPreviewAnswer = post(&router, &path("/preview"), &few).await.unwrap();
    assert_eq!((few.letters.len(), few.counts.changed), (7, 7));
    assert_eq!(world.store.transforms(&group).await.unwrap(), [], "a preview changes nothing");

    let save = SaveTransformRequest { program: PROGRAM.into(), note: Some(" cents for all ".into()) };
    let saved: Transform = post(&router, &path(""), &save).await.unwrap();
    assert_eq!((saved.version, saved.note.as_deref(), saved.saved_by.as_str()), (1, Some("cents for all"), "otto"));
    let dry_run_of = |version| DryRunRequest { version, go_on: None, filter: LetterFilter::default() };
    let run: DryRun = post(&router, &path("/dry-run"), &dry_run_of(1)).await.unwrap();
    assert_eq!((run.counts.changed, run.is_whole()), (50, true));
    let (status, _) = post::<DryRun>(&router, &path("/dry-run"), &dry_run_of(2)).await.unwrap_err();
    assert_eq!(status, StatusCode::NOT_FOUND);
    let all: TransformsAnswer = call(&router, "GET", &path(""), String::new()).await.unwrap();
    assert_eq!((all.versions.len(), &all.versions[0].transform, &all.versions[0].dry_run), (1, &saved, &Some(run)));
}

#[tokio::test]
async fn previews_above_the_limit_are_refused_and_replays_go_on() {
    let (world, group) = world_with_letters(5).await;
    let id = approved(&world, &group, PROGRAM).await;
    let saved = world.store.transforms(&group).await.unwrap();
    let transforms = world.office.transforms.clone();
    let places: Vec<_> = (0..PREVIEWS_MAX).map(|_| transforms.previewing().expect("a place")).collect();
    let router = router(&world);
    let requests = [("/preview", r#"{"program":"."}"#), ("", r#"{"program":"."}"#), ("/dry-run", r#"{"version":1}"#)];
    for (suffix, body) in requests {
        let request = Request::post(format!("/api/v1/groups/{group}/transform{suffix}"));
        let request =
            request.header("authorization", "Bearer operator:otto").header("content-type", "application/json");
        let response = router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{suffix}");
        assert_eq!(response.headers()["retry-after"], "5", "{suffix}");
        let error: ErrorBody =
            serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap();
        assert_eq!(error.code, ErrorCode::Unavailable);
        assert!(error.message.ends_with("Nothing was saved. Try again in a few seconds."), "{}", error.message);
    }
    assert_eq!(world.store.transforms(&group).await.unwrap(), saved);
    let replay = world.run(&id, &only_cents_work, "v1").await;
    assert!(matches!(replay.state(), ReplayState::Finished { ending: Ending::Completed, .. }), "{:?}", replay.state());
    drop(places);
    let preview: TransformPreviewAnswer =
        call(&router, "POST", &format!("/groups/{group}/transform/preview"), r#"{"program":"."}"#.into())
            .await
            .unwrap();
    assert_eq!(preview.faults, []);
}
