//! Merging: fingerprints that share a cause are one group with one plan and one fix, whatever their order of arrival and
//! wherever a sweep is cut off.

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use domain::audit::Act;
use domain::fix::FixKind;
use domain::group::GroupState;
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use domain::policy::{GroupAct, GroupRule, Policy};
use domain::replay::{Outcome, OutcomeKind, PlanOptions, ReturnCause};
use domain::role::Role;
use domain::time::{Span, Timestamp};
use harness::samples::{Chance, START, at_s};
use harness::world::World;
use http_body_util::BodyExt;
use office::api::{self, Api, Caller, Identify};
use office::error::OfficeError;
use office::office::Office;
use office::{act, intake, sweep};
use queue::{Queue, Received};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tower::ServiceExt;
use wire::{
    DeclareFixRequest, GroupAnswer, GroupChange, GroupsAnswer, LettersAnswer, ReasonRequest, RulesPreview,
    UnmergeRequest,
};

const VOLUMES: [&str; 4] = ["/srv/a", "/srv/b", "/srv/c", "/srv/d"];

fn message(volume: &str) -> String {
    format!("volume {volume} lost its index")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

/// Creates two letters of each of three volumes, which share a cause, and one letter of another cause.
async fn world_with_letters() -> World {
    let world = World::new().await;
    for n in 0..6_usize {
        world.die(n as u64, &message(VOLUMES[n % 3]), at_s(n as i64)).await;
    }
    world.die(90, "no price for the weekend", at_s(90)).await;
    world.advance(Span::from_secs(100));
    world.intake().await;
    world
}

/// Returns the title of the representative for the title of each variant. Checks that both directions of the links agree.
async fn table(world: &World) -> BTreeMap<String, String> {
    let groups = world.store.groups(i64::MAX, None, 200).await.unwrap().items;
    let groups: BTreeMap<_, _> = groups.into_iter().map(|facts| (facts.variant.id.clone(), facts.variant)).collect();
    for (id, group) in &groups {
        let merged: Vec<_> = groups.values().filter(|g| g.merge.into.as_ref() == Some(id)).map(|g| &g.id).collect();
        assert_eq!(merged, group.merge.members.iter().collect::<Vec<_>>(), "{}", group.title);
        assert!(group.merge.into.is_none() || group.merge.members.is_empty(), "{}", group.title);
    }
    let title = |id: &Option<GroupId>, own: &GroupId| groups[id.as_ref().unwrap_or(own)].title.clone();
    groups.iter().map(|(id, group)| (group.title.clone(), title(&group.merge.into, id))).collect()
}

async fn id_of(world: &World, volume: &str) -> GroupId {
    let groups = world.store.groups(i64::MAX, None, 200).await.unwrap().items;
    let title = format!(": {}", message(volume));
    groups.into_iter().find(|facts| facts.variant.title.ends_with(&title)).expect("a group").variant.id
}

/// Identifies every caller as the approver.
struct Anybody;

#[async_trait::async_trait]
impl Identify for Anybody {
    async fn who(&self, _: &str, _: Timestamp) -> Option<Caller> {
        Some(Caller::new("anna", Role::Approver))
    }
}

pub(crate) fn router(world: &World) -> Router {
    router_of(world.office.clone(), world)
}

/// Returns the API of another process of the same office.
pub(crate) fn router_of(office: Office, world: &World) -> Router {
    let api = Api { office, identify: Arc::new(Anybody), name: "test".into(), watching: [world.dlq.clone()].into() };
    api::router(api, &api::endpoints())
}

pub(crate) async fn ask<T: serde::de::DeserializeOwned>(router: &Router, path: &str, body: Option<String>) -> T {
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let request = Request::builder().method(method).uri(format!("/api/v1{path}"));
    let request = request.header("authorization", "Bearer x").header("content-type", "application/json");
    let response = router.clone().oneshot(request.body(Body::from(body.unwrap_or_default())).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(status, StatusCode::OK, "{path}: {}", String::from_utf8_lossy(&bytes));
    serde_json::from_slice(&bytes).expect("an answer")
}

fn fix(version: &str) -> DeclareFixRequest {
    DeclareFixRequest { kind: FixKind::Deploy, reference: version.into(), note: None, transform: None }
}

#[tokio::test]
async fn fingerprints_of_one_cause_are_one_group() {
    let world = world_with_letters().await;
    let router = router(&world);
    let before: GroupsAnswer = ask(&router, "/groups", None).await;
    assert_eq!(before.groups.len(), 4);
    sweep::run(&world.office).await.unwrap();
    let after: GroupsAnswer = ask(&router, "/groups", None).await;
    assert_eq!(after.groups.len(), 2);
    assert_eq!((after.summary.open_letters, &after.summary.money), (7, &before.summary.money));
    let representative = id_of(&world, "/srv/a").await;
    let row = after.groups.iter().find(|row| row.id == representative).expect("the oldest variant names the group");
    assert_eq!((row.open.letters, row.arrivals.iter().sum::<u64>()), (6, 6));

    let detail: GroupAnswer = ask(&router, &format!("/groups/{representative}"), None).await;
    assert_eq!((detail.chart.bar_ms, detail.chart.deaths.iter().sum::<u64>()), (15 * 60 * 1000, 6));
    let others: Vec<_> = detail.merged.iter().map(|other| (other.title.as_str(), other.open_letters)).collect();
    assert_eq!(
        others,
        [("StorageError: volume /srv/b lost its index", 2), ("StorageError: volume /srv/c lost its index", 2)]
    );
    assert_eq!(detail.counts.open().letters, 6);
    let member: GroupAnswer = ask(&router, &format!("/groups/{}", detail.merged[0].id), None).await;
    assert_eq!(member.merged_into.map(|into| into.id), Some(representative.clone()));

    let (mut sent, mut cursor) = (Vec::new(), String::new());
    loop {
        let page: LettersAnswer =
            ask(&router, &format!("/groups/{representative}/letters?limit=2{cursor}"), None).await;
        sent.extend(page.letters.iter().map(|letter| letter.sent_at));
        let Some(next) = page.next else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(sent, (0..6).map(at_s).collect::<Vec<_>>(), "every letter once, oldest first");
    let audit = world.store.audit(&representative, None, 10).await.unwrap().items;
    assert_eq!(audit.iter().filter(|record| record.act == Act::GroupsMerged).count(), 2);
}

#[tokio::test]
async fn a_plan_and_a_fix_cover_every_variant() {
    let world = world_with_letters().await;
    sweep::run(&world.office).await.unwrap();
    let (representative, member) = (id_of(&world, "/srv/a").await, id_of(&world, "/srv/b").await);
    let refused = act::declare_fix(&world.office, &world.otto(), &member, &fix("v2")).await;
    assert!(matches!(refused, Err(OfficeError::NotNow(_))), "people act on the whole group");
    let plan = world.plan_with_fix(&representative, "v2", &PlanOptions::default()).await;
    assert_eq!((plan.letters.letters, plan.oldest_sent_at), (6, Some(START)));
    let order: Vec<_> = world.entries(&plan.id).await.into_iter().map(|entry| entry.letter).collect();
    let letters = world.store.letters(&order).await.unwrap();
    assert!(letters.is_sorted_by_key(|letter| letter.sent_at), "oldest first, across fingerprints");
    world.approve(&representative, &plan).await;
    assert!(world.run(&plan.id, &works, "v2").await.is_finished());
    let state = world.store.group(&representative).await.unwrap().unwrap().state;
    assert!(matches!(state, GroupState::Resolved { .. }), "{state:?}");
    for volume in &VOLUMES[..3] {
        let counts = world.counters_are_exact(&id_of(&world, volume).await).await;
        assert_eq!((counts.tally(LetterStateKind::Delivered).letters, counts.deaths), (2, 2));
    }

    world.advance(Span::from_secs(60));
    world.die(50, &message("/srv/b"), world.office.now()).await;
    assert_eq!(world.intake().await.regressions, 1);
    let state = world.store.group(&representative).await.unwrap().unwrap().state;
    assert!(matches!(state, GroupState::Regressed { .. }), "a fix covers every fingerprint of its group: {state:?}");
}

#[tokio::test]
async fn a_group_is_not_resolved_while_a_letter_of_any_variant_waits() {
    let world = world_with_letters().await;
    sweep::run(&world.office).await.unwrap();
    let representative = id_of(&world, "/srv/a").await;
    let plan = world.plan_with_fix(&representative, "v2", &PlanOptions::default()).await;
    world.approve(&representative, &plan).await;
    world.die(50, &message("/srv/b"), at_s(50)).await;
    assert!(world.run(&plan.id, &works, "v2").await.is_finished());
    let state = world.store.group(&representative).await.unwrap().unwrap().state;
    assert!(
        matches!(state, GroupState::FixDeclared { .. }),
        "the letter died before the fix and may follow: {state:?}"
    );
    let next = world.plan(&representative, &PlanOptions::default()).await;
    assert_eq!(next.letters.letters, 1);
}

#[tokio::test]
async fn a_new_fingerprint_of_a_resolved_group_makes_it_regress() {
    let world = world_with_letters().await;
    sweep::run(&world.office).await.unwrap();
    let representative = id_of(&world, "/srv/a").await;
    let plan = world.plan_with_fix(&representative, "v2", &PlanOptions::default()).await;
    world.approve(&representative, &plan).await;
    world.run(&plan.id, &works, "v2").await;
    world.advance(Span::from_secs(60));
    world.die(50, &message("/srv/d"), world.office.now()).await;
    world.intake().await;
    // The first sweep merges the variant, the second one finds the regression.
    for _ in 0..2 {
        sweep::run(&world.office).await.unwrap();
    }
    let state = world.store.group(&representative).await.unwrap().unwrap().state;
    assert!(matches!(state, GroupState::Regressed { .. }), "{state:?}");
}

#[tokio::test]
async fn a_letter_that_returns_with_another_fingerprint_of_its_group_has_the_same_cause() {
    let world = world_with_letters().await;
    sweep::run(&world.office).await.unwrap();
    let representative = id_of(&world, "/srv/a").await;
    let plan = world.plan_with_fix(&representative, "v2", &PlanOptions::default()).await;
    world.approve(&representative, &plan).await;
    world.steps().await;
    let received = world.queue.receive(&world.main, 1, Span::ZERO, None).await.unwrap().remove(0);
    world.fail(&received, &message("/srv/c")).await;
    world.queue.delete_batch(&world.main, &[received.receipt_handle]).await.unwrap();
    assert_eq!(world.intake().await.returned, 1);
    let returned = world.entries(&plan.id).await.into_iter().find(|e| e.outcome.kind() == OutcomeKind::Returned);
    let Some(Outcome::Returned { cause, .. }) = returned.map(|entry| entry.outcome) else {
        panic!("no returned entry")
    };
    assert_eq!(cause, ReturnCause::SameCause);
}

#[tokio::test]
async fn a_merge_is_undone_by_a_person_and_stays_so() {
    let world = world_with_letters().await;
    sweep::run(&world.office).await.unwrap();
    let (representative, member) = (id_of(&world, "/srv/a").await, id_of(&world, "/srv/b").await);
    let silent = UnmergeRequest { fingerprint: member.clone(), reason: " ".into() };
    assert!(matches!(
        act::unmerge(&world.office, &world.otto(), &representative, &silent).await,
        Err(OfficeError::Invalid(_))
    ));
    let router = router(&world);
    let body = format!(r#"{{"fingerprint":"{member}","reason":"that volume was unplugged"}}"#);
    let detail: GroupAnswer = ask(&router, &format!("/groups/{representative}/unmerge"), Some(body)).await;
    assert_eq!((detail.merged.len(), detail.counts.open().letters), (1, 4));
    sweep::run(&world.office).await.unwrap();
    let listed: GroupsAnswer = ask(&router, "/groups", None).await;
    assert_eq!(listed.groups.len(), 3, "no sweep merges it again");
    for id in [&representative, &member] {
        let audit = world.store.audit(id, None, 10).await.unwrap().items;
        let unmerged = audit.iter().find(|record| record.act == Act::GroupsUnmerged).expect("an entry");
        assert_eq!((unmerged.actor.as_str(), unmerged.reason.as_deref()), ("anna", Some("that volume was unplugged")));
    }
    let again = UnmergeRequest { fingerprint: member.clone(), reason: "again".into() };
    assert!(matches!(
        act::unmerge(&world.office, &world.otto(), &representative, &again).await,
        Err(OfficeError::NotNow(_))
    ));
    world.declare_fix(&member, "v2").await;
    act::withdraw_fix(&world.office, &world.otto(), &member, "wrong fix").await.unwrap();
    let body = r#"{"reason":"it is the same disk"}"#;
    let detail: GroupAnswer = ask(&router, &format!("/groups/{member}/allow-merge"), Some(body.into())).await;
    assert!(!detail.unmerged);
    sweep::run(&world.office).await.unwrap();
    let detail: GroupAnswer = ask(&router, &format!("/groups/{representative}"), None).await;
    assert_eq!((detail.merged.len(), detail.counts.open().letters), (2, 6), "merged again");
    let twice = ReasonRequest { reason: "twice".into() };
    assert!(matches!(
        act::allow_merge(&world.office, &world.otto(), &member, &twice).await,
        Err(OfficeError::NotNow(_))
    ));
}

#[tokio::test]
async fn the_policy_merges_splits_and_names_after_a_preview() {
    let mut world = world_with_letters().await;
    sweep::run(&world.office).await.unwrap();
    let before = table(&world).await;
    let rule = |name: &str, title: &str, act| GroupRule {
        name: name.into(),
        fingerprints: Vec::new(),
        titles: vec![title.into()],
        act,
    };
    let rules = vec![
        rule("volume c is not a volume", "*/srv/c lost*", GroupAct::Split),
        rule("Storage", "StorageError: *", GroupAct::Merge),
    ];
    let body = serde_json::json!({ "groups": rules }).to_string();
    let preview: RulesPreview = ask(&router(&world), "/policy/preview", Some(body)).await;
    assert_eq!(table(&world).await, before, "a preview changes nothing");
    let (mut merged, mut unmerged) = (BTreeSet::new(), BTreeSet::new());
    for change in &preview.changes {
        match change {
            GroupChange::Merged { group, .. } => merged.insert(&group.id),
            GroupChange::Unmerged { group, .. } => unmerged.insert(&group.id),
            GroupChange::Renamed { .. } => false,
        };
    }
    // A group that moves from one representative to another is in both; whether one does depends on the fingerprints.
    let (joins, leaves) = (merged.difference(&unmerged).count(), unmerged.difference(&merged).count());
    assert_eq!((joins, leaves, preview.idle.len()), (1, 1, 0), "{:?}", preview.changes);
    world.office.policy = Arc::new(Policy { groups: rules, ..(*world.office.policy).clone() });
    sweep::run(&world.office).await.unwrap();
    let listed: GroupsAnswer = ask(&router(&world), "/groups", None).await;
    let mut found: Vec<_> = listed.groups.iter().map(|row| (row.title.as_str(), row.open.letters)).collect();
    found.sort();
    assert_eq!(found, [("Storage", 5), ("StorageError: volume /srv/c lost its index", 2)]);
}

#[tokio::test]
async fn a_sweep_cut_off_at_any_call_is_completed_by_the_next() {
    let expected = {
        let world = world_with_letters().await;
        sweep::run(&world.office).await.unwrap();
        table(&world).await
    };
    for after in [false, true] {
        for call in 0.. {
            let world = world_with_letters().await;
            world.faults.arm(call, after);
            let _ = sweep::run(&world.office).await;
            table(&world).await;
            if !world.faults.has_failed() {
                assert_eq!(
                    call, 14,
                    "the policy, the replays, what is known of all groups (the snapshot, a point, the groups, the snapshot \
                     again), two reads and a commit per merge, and a read and a commit of the clock"
                );
                break;
            }
            sweep::run(&world.office).await.unwrap();
            assert_eq!(table(&world).await, expected, "call {call}, after: {after}");
        }
    }
}

/// The deaths of a test: the order, its volume, and the second.
fn deaths() -> Vec<(u64, usize, i64)> {
    (0..12_usize).map(|n| (n as u64, n % VOLUMES.len(), [5, 3, 9, 3, 1, 8, 2, 7, 4, 6, 9, 1][n])).collect()
}

#[tokio::test]
async fn merging_does_not_depend_on_the_order_of_arrival() {
    let (mut tables, mut smallest) = (Vec::new(), None);
    for seed in 0..12 {
        let (world, mut chance, mut remaining) = (World::new().await, Chance(seed), deaths());
        world.advance(Span::from_secs(10));
        while !remaining.is_empty() {
            let (n, volume, at) = remaining.remove(chance.below(remaining.len()));
            world.die(n, &message(VOLUMES[volume]), at_s(at)).await;
            if chance.below(3) == 0 {
                world.intake().await;
            }
            if chance.below(3) == 0 {
                sweep::run(&world.office).await.unwrap();
            }
        }
        world.intake().await;
        sweep::run(&world.office).await.unwrap();
        let oldest = [(id_of(&world, "/srv/a").await, "/srv/a"), (id_of(&world, "/srv/d").await, "/srv/d")];
        smallest = oldest.into_iter().min().map(|(_, volume)| message(volume));
        tables.push(table(&world).await);
    }
    let representative = tables[0].values().next().unwrap();
    assert!(representative.ends_with(&smallest.unwrap()), "the smallest of equally old ids: {representative}");
    assert!(tables[0].values().all(|title| title == representative), "{:?}", tables[0]);
    assert!(tables.iter().all(|table| *table == tables[0]), "{tables:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn intakes_and_sweeps_at_once_converge() {
    let mut tables = Vec::new();
    for seed in 0..6 {
        let world = World::new().await;
        world.advance(Span::from_secs(100));
        for (n, volume, at) in deaths() {
            world.die(n, &message(VOLUMES[volume]), at_s(at)).await;
        }
        let received = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
        let more = world.queue.receive(&world.dlq, 10, Span::ZERO, None).await.unwrap();
        let mut batch: Vec<_> = received.into_iter().chain(more).map(|message| world.dead(message)).collect();
        let at = Chance(seed).below(batch.len());
        batch.rotate_left(at);
        let other = batch.split_off(4);
        let (one, two, _, _) = tokio::join!(
            intake::keep(&world.office, batch),
            intake::keep(&world.office, other),
            sweep::run(&world.office),
            sweep::run(&world.office),
        );
        assert_eq!((one.kept + two.kept, one.failed.len() + two.failed.len()), (12, 0));
        let (one, two) = tokio::join!(sweep::run(&world.office), sweep::run(&world.office));
        one.and(two).unwrap();
        sweep::run(&world.office).await.unwrap();
        tables.push(table(&world).await);
    }
    assert!(tables.iter().all(|table| *table == tables[0]), "{tables:?}");
    assert!(tables[0].values().all(|title| *title == tables[0].values().next().unwrap().as_str()));
}
