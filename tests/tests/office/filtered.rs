//! The filter of the list is the filter of the plan: the listed letters are the planned and sent letters.

use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::id::{GroupId, LetterId};
use domain::letter::{Letter, LetterState, LetterStateKind};
use domain::limits::{NAMED_LETTERS_MAX, PAGE_MAX};
use domain::message::Content;
use domain::replay::{Plan, PlanError};
use domain::time::{Span, Timestamp};
use domain::transform::DryRun;
use harness::samples;
use harness::world::{World, approve_request, number_of};
use office::act;
use office::error::OfficeError;
use office::gate::LettersToSend;
use queue::{Outgoing, Queue, Received};
use std::collections::BTreeSet;
use wire::{DeclareFixRequest, DryRunRequest, PlanRequest, PreviewTransformRequest, SaveTransformRequest};

const BUG: &str = "orders::pricing::Overflow";

fn nothing_works(_: &Received) -> Option<&'static str> {
    Some(BUG)
}

fn everything_works(_: &Received) -> Option<&'static str> {
    None
}

/// Creates letters of one group: two types of message that fail over some minutes.
async fn world() -> (World, GroupId) {
    let world = World::new().await;
    for minute in 0..6 {
        world.place(minute * 10, 5).await;
        for n in 5..10 {
            let body = harness::world::order(minute * 10 + n).replace("order.placed", "order.refund");
            let outgoing = Outgoing { content: Content { body, ..Content::default() }, ..Outgoing::default() };
            world.queue.send_batch(&world.main, &[outgoing]).await.unwrap().remove(0).unwrap();
        }
        world.consume(&nothing_works, "v1").await;
        world.intake().await;
        world.advance(Span::from_mins(1));
    }
    let group = world.only_group().await;
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    (world, group)
}

/// Returns all letters under a filter, read page by page.
async fn listed(world: &World, group: &GroupId, filter: &LetterFilter, limit: usize) -> Vec<Letter> {
    let group = world.store.group(group).await.unwrap().unwrap();
    let (mut letters, mut cursor) = (Vec::new(), None);
    loop {
        let waiting = Some(LetterStateKind::Waiting);
        let store = &*world.store;
        let page = office::letters::list(store, &group, waiting, filter, cursor.as_ref(), limit).await.unwrap();
        assert!(page.items.len() <= limit);
        letters.extend(page.items);
        let Some(next) = page.next else { return letters };
        cursor = Some(next);
    }
}

async fn planned(world: &World, group: &GroupId, filter: &LetterFilter) -> Result<Plan, OfficeError> {
    world.advance(Span::from_ms(1));
    let request = PlanRequest { filter: filter.clone(), ..PlanRequest::default() };
    act::plan(&world.office, &world.otto(), group, &request).await?.complete()
}

fn kind(message_type: &str) -> LetterFilter {
    LetterFilter { message_type: Some(message_type.into()), ..LetterFilter::default() }
}

#[tokio::test]
async fn listed_letters_are_planned_and_sent() {
    let (world, group) = world().await;
    let all = listed(&world, &group, &LetterFilter::default(), 7).await;
    assert_eq!(all.len(), 60);
    let middle = all.iter().map(|letter| letter.died_at).nth(30);
    let filters = [
        LetterFilter::default(),
        kind("order.refund"),
        LetterFilter { died_from: middle, ..LetterFilter::default() },
        LetterFilter { died_before: middle, ..kind("order.placed") },
        LetterFilter { replays_max: Some(0), ..LetterFilter::default() },
    ];
    for filter in &filters {
        let plan = planned(&world, &group, filter).await.unwrap();
        let entries = world.entries(&plan.id).await;
        let planned_ids: Vec<LetterId> = entries.iter().map(|entry| entry.letter.clone()).collect();
        for limit in [1, 7, PAGE_MAX] {
            let shown: Vec<LetterId> =
                listed(&world, &group, filter, limit).await.into_iter().map(|letter| letter.id).collect();
            assert_eq!(shown, planned_ids, "{filter:?} in pages of {limit}");
        }
        assert_eq!((plan.letters.letters as usize, &plan.filter), (planned_ids.len(), filter));
        let left_out: u64 = plan.left_out.iter().map(|row| row.letters).sum();
        assert_eq!(
            left_out as usize + planned_ids.len(),
            60,
            "letters outside the filter are listed: {:?}",
            plan.left_out
        );
    }

    // A replay under the second filter sends its letters and no others.
    let filter = &filters[1];
    let expected: BTreeSet<u64> =
        listed(&world, &group, filter, PAGE_MAX).await.iter().map(|letter| number_of(&letter.content.body)).collect();
    let plan = planned(&world, &group, filter).await.unwrap();
    world.approve(&group, &plan).await;
    assert!(world.run(&plan.id, &everything_works, "v2").await.is_finished());
    let sent: BTreeSet<u64> = world.processed.lock().unwrap().iter().map(|body| number_of(body)).collect();
    assert_eq!((sent.len(), sent), (30, expected));
    assert_eq!(listed(&world, &group, &LetterFilter::default(), 7).await.len(), 30, "the others still wait");
}

#[tokio::test]
async fn named_letters_are_planned_and_no_others() {
    let (world, group) = world().await;
    let all = listed(&world, &group, &LetterFilter::default(), PAGE_MAX).await;
    let plan = async |letters: Vec<LetterId>, filter: LetterFilter| {
        world.advance(Span::from_ms(1));
        let request = PlanRequest { letters, filter, ..PlanRequest::default() };
        act::plan(&world.office, &world.otto(), &group, &request).await?.complete()
    };
    // Named out of order, one of them twice, and one that is not in this group.
    let mut named: Vec<LetterId> = [40, 3, 17, 3].iter().map(|at: &usize| all[*at].id.clone()).collect();
    named.push(LetterId::new("f".repeat(32)));
    let made = plan(named, LetterFilter::default()).await.unwrap();
    let entries: Vec<LetterId> = world.entries(&made.id).await.into_iter().map(|entry| entry.letter).collect();
    let expected: Vec<LetterId> = [3, 17, 40].iter().map(|at: &usize| all[*at].id.clone()).collect();
    assert_eq!((entries, made.named, made.letters.letters), (expected, true, 3), "in the order of sending");
    let left_out: Vec<(&str, u64)> = made.left_out.iter().map(|row| (row.reason.as_str(), row.letters)).collect();
    assert_eq!(left_out, [("not selected", 57), ("selected but no longer waiting in this group", 1)]);

    let none = plan(vec![LetterId::new("f".repeat(32))], LetterFilter::default()).await;
    assert!(matches!(none, Err(OfficeError::Plan(_))), "{none:?}");
    let both = plan(vec![all[0].id.clone()], kind("order.refund")).await;
    assert!(matches!(both, Err(OfficeError::Invalid(_))), "{both:?}");
    let many = (0..=NAMED_LETTERS_MAX).map(|n| LetterId::new(format!("{n:032}"))).collect();
    let many = plan(many, LetterFilter::default()).await;
    assert!(matches!(many, Err(OfficeError::Invalid(_))), "{many:?}");
}

/// Runs a dry run of the first version to its end.
async fn dry_run(world: &World, group: &GroupId, filter: &LetterFilter) -> DryRun {
    let mut continued = None;
    loop {
        // A continued run keeps its filter, whatever the request says.
        let filter = if continued.is_none() { filter.clone() } else { LetterFilter::default() };
        let request = DryRunRequest { version: 1, go_on: continued, filter };
        let run = act::dry_run(&world.office, &world.otto(), group, &request).await.unwrap();
        if run.is_whole() {
            return run;
        }
        continued = Some(run.revision);
    }
}

#[tokio::test]
async fn a_dry_run_opens_the_gate_only_for_plans_of_its_letters() {
    let (world, group) = world().await;
    let program = r#"if .type == "order.refund" then .tried = true else error("not a refund") end"#.to_string();
    let save = SaveTransformRequest { program: program.clone(), note: None };
    act::save_transform(&world.office, &world.otto(), &group, &save).await.unwrap();
    let fix =
        DeclareFixRequest { kind: FixKind::PayloadTransform, reference: "v1".into(), note: None, transform: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.unwrap();
    let (all, refunds, placed) = (LetterFilter::default(), kind("order.refund"), kind("order.placed"));

    let request = PreviewTransformRequest { program, letters_max: None, filter: refunds.clone() };
    let preview = act::preview(&world.office, &group, &request).await.unwrap();
    assert_eq!((preview.counts.changed, preview.counts.failed), (30, 0), "a preview uses the same filter");

    // The filter of the dry run, its changed and failed letters, and the plans that it opens the gate for.
    for (over, counts, opens_for) in [
        (&refunds, (30, 0), vec![&refunds]),
        (&placed, (0, 30), vec![]),
        (&all, (30, 30), vec![&all, &refunds, &placed]),
    ] {
        let run = dry_run(&world, &group, over).await;
        assert_eq!((run.counts.changed, run.counts.failed, &run.filter), (counts.0, counts.1, over));
        for filter in [&all, &refunds, &placed] {
            planned(&world, &group, filter).await.unwrap();
            let facts = world.store.group_facts(&group, 0).await.unwrap().unwrap();
            let to_send = LettersToSend::now(&world.office, &facts).await.unwrap();
            assert_eq!(&to_send.filter, filter);
            let plan = world.store.plan(&group).await.unwrap().unwrap();
            let approve = approve_request(&plan);
            // The declarer of the fix cannot approve; with a matching dry run this is the only unmet condition.
            let Err(OfficeError::GateClosed(unmet)) =
                act::approve(&world.office, &world.otto(), &group, &approve).await
            else {
                panic!("otto declared the fix")
            };
            let opens = !unmet.iter().any(|condition| condition.kind == ConditionKind::DryRun);
            assert_eq!(opens, opens_for.contains(&filter), "dry run over {over:?}, plan {filter:?}");
        }
    }
}

#[tokio::test]
async fn a_filter_without_matches_makes_no_plan() {
    let (world, group) = world().await;
    let refused = planned(&world, &group, &kind("order.lost")).await.unwrap_err();
    assert!(matches!(refused, OfficeError::Plan(PlanError::NoLetters)), "{refused}");
}

#[tokio::test]
async fn a_changed_filter_is_another_plan() {
    let (world, group) = world().await;
    let all = planned(&world, &group, &LetterFilter::default()).await.unwrap();
    let same_letters = Plan { filter: LetterFilter { replays_max: Some(9), ..LetterFilter::default() }, ..all.clone() };
    assert_ne!(all.hash(), same_letters.hash());
    // A plan stored before filters existed has the same hash.
    let text = serde_json::to_string(&all).unwrap();
    assert!(!text.contains("filter"), "{text}");
    assert_eq!(serde_json::from_str::<Plan>(&text).unwrap().hash(), all.hash());
}

#[test]
fn a_letter_matches_its_filters() {
    let at = Timestamp::from_ms;
    let mut letter = Letter {
        died_at: at(50),
        replays: 2,
        state: LetterState::Waiting,
        ..samples::letter(&samples::group_id("g"), 1)
    };
    letter.diagnosis.message_type = Some("order.placed".into());
    letter.diagnosis.tenant = Some("acme".into());
    let any = LetterFilter::default;
    let tenant = |tenant: &str| LetterFilter { tenant: Some(tenant.into()), ..any() };
    for (filter, matches) in [
        (any(), true),
        (kind("order.placed"), true),
        (kind("order.refund"), false),
        (kind("order"), false),
        (tenant("acme"), true),
        (tenant("other"), false),
        (LetterFilter { died_from: Some(at(50)), ..any() }, true),
        (LetterFilter { died_from: Some(at(51)), ..any() }, false),
        (LetterFilter { died_before: Some(at(51)), ..any() }, true),
        (LetterFilter { died_before: Some(at(50)), ..any() }, false),
        (LetterFilter { replays_max: Some(2), ..any() }, true),
        (LetterFilter { replays_max: Some(1), ..any() }, false),
        (LetterFilter { died_from: Some(at(51)), ..tenant("acme") }, false),
    ] {
        assert_eq!(filter.fits(&letter), matches, "{filter:?}");
        let text = serde_json::to_string(&filter).unwrap();
        assert_eq!(serde_json::from_str::<LetterFilter>(&text).unwrap(), filter);
    }
    let mut no_tenant = letter;
    no_tenant.diagnosis.tenant = None;
    assert!(!tenant("acme").fits(&no_tenant) && any().fits(&no_tenant));
}
