//! Letters that lie about themselves: what a message says changes no other letter, no ledger, no counter of another
//! group, and never chooses a queue that the deployment does not name.

use crate::discarded::discard_all;
use domain::audit::Act;
use domain::group::GroupCounts;
use domain::id::{GroupId, LetterId, MessageId, QueueArn, ReplayId};
use domain::letter::{Letter, LetterStateKind};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE};
use domain::message::{Attribute, Content};
use domain::read::Stamp;
use domain::reading::Class;
use domain::replay::{Entry, Ledger, OutcomeKind, PlanOptions, Replay};
use domain::time::Span;
use harness::samples::Chance;
use harness::world::{World, approve_request, order};
use office::act;
use office::error::chain;
use office::gate::LettersToSend;
use queue::{Outgoing, Queue as _, Received};
use std::sync::Arc;

const FAILS: &str = "orders::pricing::Overflow";

async fn bury(world: &World, content: Content) {
    let outgoing = Outgoing { content, ..Outgoing::default() };
    let sent = world.queue.send_batch(&world.dlq, &[outgoing]).await.unwrap();
    assert!(sent.iter().all(Result::is_ok));
}

fn marked(body: &str, marker: &Attribute) -> Content {
    let attributes = [(MARKER_ATTRIBUTE.to_string(), marker.clone())].into();
    Content { body: body.into(), attributes, ..Content::default() }
}

fn stamped(body: &str, stamp: &Stamp) -> Content {
    let attributes = [(FAILURE_ATTRIBUTE.to_string(), Attribute::text(stamp.print()))].into();
    Content { body: body.into(), attributes, ..Content::default() }
}

/// Every letter of every group.
async fn all_letters(world: &World) -> Vec<Letter> {
    let mut all = Vec::new();
    for facts in world.store.groups(i64::MAX, None, 200).await.unwrap().items {
        all.extend(world.letters(&facts.variant.id, None).await);
    }
    all
}

/// An office with a replay whose canary (2 letters) was delivered, and whose other letters wait; also what the consumer
/// received.
async fn delivered() -> (World, GroupId, Replay, Vec<Received>) {
    let world = World::new().await;
    let group = world.one_group(4).await;
    let options = PlanOptions { canary_letters: Some(2), ..PlanOptions::default() };
    let plan = world.plan_with_fix(&group, "v2", &options).await;
    let replay = world.approve(&group, &plan).await;
    let mut seen = Vec::new();
    for _ in 0..600 {
        world.steps().await;
        for message in world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap() {
            world.queue.delete_batch(&world.main, std::slice::from_ref(&message.receipt_handle)).await.unwrap();
            seen.push(message);
        }
        if world.replay(replay.id()).await.is_finished() {
            return (world, group, replay, seen);
        }
        world.advance(Span::from_secs(1));
    }
    panic!("the replay does not finish: {:?}", world.replay(replay.id()).await.state());
}

#[tokio::test]
async fn a_copied_marker_swallows_no_message() {
    let (world, group, replay, seen) = delivered().await;
    let marker = &seen[0].content.attributes[MARKER_ATTRIBUTE];
    let ledger = world.ledger(replay.id()).await;
    for n in 100..103 {
        bury(&world, marked(&order(n), marker)).await;
    }
    let report = world.intake().await;
    assert_eq!((report.kept, report.returned, report.duplicates), (3, 0, 0));
    assert_eq!(world.ledger(replay.id()).await, ledger, "the ledger is unchanged");
    assert_eq!(world.letters(&group, Some(LetterStateKind::Delivered)).await.len(), 4);
    let letters = all_letters(&world).await;
    for n in 100..103 {
        let letter = letters.iter().find(|letter| letter.content.body == order(n)).expect("a letter of its own");
        let remarks = &letter.diagnosis.remarks;
        assert!(remarks.iter().any(|remark| remark.contains("not counted as a returned letter")), "{remarks:?}");
    }
}

#[tokio::test]
async fn a_copied_marker_on_an_equal_body_is_no_return_once_the_queue_has_answered() {
    let (world, _, replay, seen) = delivered().await;
    bury(&world, seen[0].content.clone()).await;
    let report = world.intake().await;
    assert_eq!((report.kept, report.returned), (1, 0), "another message id");
    assert_eq!(world.ledger(replay.id()).await.total().delivered, 4);
}

#[tokio::test]
async fn a_message_that_a_consumer_dead_letters_after_a_replay_is_a_return() {
    let (world, _, replay, seen) = delivered().await;
    world.fail(&seen[0], "again").await;
    assert_eq!(world.intake().await.returned, 1);
    assert_eq!(world.ledger(replay.id()).await.total().returned, 1);
}

#[tokio::test]
async fn a_return_that_only_its_own_words_prove_says_so() {
    let (world, group, replay, seen) = delivered().await;
    // Whoever can read the main queue can send this, and so does a consumer that fails late.
    world.fail(&seen[0], "failed later").await;
    assert_eq!(world.intake().await.returned, 1);
    assert_eq!(world.ledger(replay.id()).await.total().returned, 1);
    let asks = |text: &str| text.contains("check with the consumer");
    let letters = all_letters(&world).await;
    assert_eq!(letters.iter().filter(|letter| letter.diagnosis.remarks.iter().any(|text| asks(text))).count(), 1);
    let audit = world.store.audit(&group, None, 100).await.unwrap().items;
    assert!(audit.iter().any(|record| record.act == Act::LateReturn && asks(&record.detail)), "{audit:?}");
}

#[tokio::test]
async fn another_body_under_the_id_of_a_sent_message_is_kept() {
    let (world, _, replay, seen) = delivered().await;
    let forged = Received { content: Content { body: order(500), ..Content::default() }, ..seen[0].clone() };
    world.fail(&forged, "not what was sent").await;
    let report = world.intake().await;
    assert_eq!((report.kept, report.returned), (1, 0));
    assert_eq!(world.ledger(replay.id()).await.total().returned, 0);
    assert!(all_letters(&world).await.iter().any(|letter| letter.content.body == order(500)));
}

#[tokio::test]
async fn a_letter_under_the_id_of_a_sent_message_is_stored_when_it_dies_again() {
    for discarded in [false, true] {
        let (world, _, _, seen) = delivered().await;
        let forged = Received { content: Content { body: order(500), ..Content::default() }, ..seen[0].clone() };
        world.fail(&forged, "not what was sent").await;
        world.intake().await;
        let of_order = |letter: &Letter| letter.content.body == order(500);
        let letter = all_letters(&world).await.into_iter().find(of_order).expect("a letter of its own");
        assert_eq!(letter.original_message_id, seen[0].message_id);
        // The sent message returns, so its death has the id.
        world.fail(&seen[0], "again").await;
        assert_eq!(world.intake().await.returned, 1);
        if discarded {
            discard_all(&world, &letter.group).await;
            world.advance(Span::from_mins(5));
            world.fail(&forged, "not what was sent").await;
        } else {
            let plan = world.plan_with_fix(&letter.group, "v3", &PlanOptions::default()).await;
            world.approve(&letter.group, &plan).await;
            world.steps().await;
            let sent = world.queue.receive(&world.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap();
            let sent = sent.iter().find(|sent| sent.content.body == order(500)).expect("the canary");
            world.fail(sent, "once more").await;
        }
        let report = world.intake().await;
        assert_eq!((report.kept + report.returned, report.failed.len()), (1, 0), "discarded: {discarded}");
        let deaths = world.store.deaths(&letter.id).await.unwrap();
        assert_eq!(deaths.iter().map(|death| death.number).collect::<Vec<_>>(), [1, 2]);
    }
}

#[tokio::test]
async fn attributes_that_were_not_sent_are_never_lost() {
    let routed = |seen: &Received, to: &str, marked: bool| {
        let mut content = seen.content.clone();
        content.attributes.retain(|name, _| marked || name != MARKER_ATTRIBUTE);
        content.attributes.insert("routing".into(), Attribute::text(to));
        Received { content, ..seen.clone() }
    };
    let kept = async |world: &World, to: &str| {
        let remark = format!("routing = {to}");
        all_letters(world).await.iter().any(|letter| {
            let is_noted = letter.diagnosis.remarks.iter().any(|text| text.contains(&remark));
            is_noted || letter.content.attributes.get("routing") == Some(&Attribute::text(to))
        })
    };
    // With the marker, each message is a return or a letter of its own. Without it, nothing shows that it is a return.
    for (marked, returned) in [(true, 1), (false, 0)] {
        let (world, _, replay, seen) = delivered().await;
        world.fail(&routed(&seen[0], "T-a", marked), "again").await;
        world.intake().await;
        assert_eq!(world.ledger(replay.id()).await.total().returned, returned, "marked: {marked}");
        world.fail(&routed(&seen[0], "T-b", marked), "again").await;
        world.fail(&routed(&seen[0], "T-b", marked), "again").await;
        assert_eq!(world.intake().await.duplicates, 1, "marked: {marked}");
        assert!(kept(&world, "T-a").await && kept(&world, "T-b").await, "marked: {marked}");
        let long = "x".repeat(5_000);
        world.fail(&routed(&seen[1], &long, marked), "again").await;
        assert_eq!(world.intake().await.kept, 1, "marked: {marked}");
        assert!(kept(&world, &long).await, "marked: {marked}");
    }
}

#[tokio::test]
async fn a_claimed_message_id_deletes_no_letter() {
    // Together in one batch, and in two.
    for separately in [false, true] {
        let world = World::new().await;
        let stamp = Stamp {
            error_type: Some(FAILS.into()),
            original_message_id: Some("the same".into()),
            main_queue: Some(world.main.clone()),
            ..Stamp::default()
        };
        let mut kept = 0;
        for n in [1, 2, 3] {
            bury(&world, stamped(&order(n), &stamp)).await;
            if separately {
                kept += world.intake().await.kept;
            }
        }
        kept += world.intake().await.kept;
        assert_eq!(kept, 3, "separately: {separately}");
        let mut letters = all_letters(&world).await;
        letters.sort_by(|a, b| a.content.body.cmp(&b.content.body));
        let bodies: Vec<_> = letters.iter().map(|letter| letter.content.body.clone()).collect();
        assert_eq!(bodies, [order(1), order(2), order(3)]);
        let own = |letter: &&Letter| letter.original_message_id != MessageId::from("the same");
        assert_eq!(letters.iter().filter(own).count(), 2);
        // A consumer that was killed before it deleted the message dead-letters it again: the same content is one letter.
        bury(&world, stamped(&order(1), &stamp)).await;
        let report = world.intake().await;
        assert_eq!((report.kept, report.duplicates), (0, 1));
    }
}

#[tokio::test]
async fn a_claim_does_not_keep_out_the_message_that_really_has_the_id() {
    let world = World::new().await;
    world.place(1, 1).await;
    let received = world.queue.receive(&world.main, 1, Span::ZERO, None).await.unwrap().remove(0);
    let stamp = Stamp {
        error_type: Some(FAILS.into()),
        original_message_id: Some(received.message_id.clone()),
        main_queue: Some(world.main.clone()),
        ..Stamp::default()
    };
    bury(&world, stamped(&order(666), &stamp)).await;
    assert_eq!(world.intake().await.kept, 1);
    // The consumer fails three times, and SQS moves the message, which keeps its id.
    for _ in 0..4 {
        world.advance(Span::from_secs(5));
        world.queue.receive(&world.main, 1, Span::ZERO, None).await.unwrap();
    }
    assert_eq!(world.intake().await.kept, 1, "the real message is not a duplicate of the claim");
    let bodies: Vec<_> = all_letters(&world).await.into_iter().map(|letter| letter.content.body).collect();
    assert!(bodies.contains(&order(1)) && bodies.contains(&order(666)), "{bodies:?}");
}

#[tokio::test]
async fn a_letter_does_not_choose_where_it_is_sent() {
    let world = World::new().await;
    let elsewhere = QueueArn::from("arn:aws:sqs:local:000000000000:payments");
    for (n, queue) in [&world.office.steps, &world.dlq, &elsewhere].into_iter().enumerate() {
        let stamp = Stamp {
            error_type: Some(FAILS.into()),
            original_message_id: Some(MessageId::new(format!("claimed-{n}"))),
            main_queue: Some(queue.clone()),
            ..Stamp::default()
        };
        bury(&world, stamped(&order(n as u64), &stamp)).await;
    }
    assert_eq!(world.intake().await.kept, 3);
    let letters = all_letters(&world).await;
    for letter in &letters {
        assert_eq!(letter.main_queue, None);
        assert!(letter.diagnosis.remarks.iter().any(|remark| remark.contains("That was ignored")));
    }
    let group = letters[0].group.clone();
    world.declare_fix(&group, "v2").await;
    world.advance(Span::from_secs(11));
    let plan = act::make_plan(&world.office, &world.otto(), &group, &PlanOptions::default()).await;
    assert!(plan.is_err(), "{plan:?}");
}

#[tokio::test]
async fn a_main_queue_that_belongs_to_the_office_closes_the_gate() {
    let (mut world, group, _, _) = delivered().await;
    world.place(50, 1).await;
    world.consume(&|_| Some(FAILS), "v1").await;
    world.intake().await;
    let plan = world.plan_with_fix(&group, "v3", &PlanOptions::default()).await;
    // As an earlier version may have stored it: the letters name a queue of the office.
    world.office.closed_queues = Arc::new([world.main.clone()].into());
    let refused = act::approve(&world.office, &world.anna(), &group, &approve_request(&plan)).await.unwrap_err();
    assert!(chain(&refused).contains("Main queue ready"), "{}", chain(&refused));
}

/// Everything that a forged letter must leave alone.
#[derive(Debug, PartialEq)]
struct Untouched {
    letters: Vec<Letter>,
    entries: Vec<Entry>,
    ledger: Ledger,
    replay: Replay,
    counts: GroupCounts,
    sendable: i64,
}

async fn untouched(world: &World, group: &GroupId, replay: &ReplayId, ids: &[LetterId]) -> Untouched {
    let letters = world.store.letters(ids).await.unwrap();
    let facts = world.store.group_facts(group, i64::MAX).await.unwrap().unwrap();
    Untouched {
        letters,
        entries: world.entries(replay).await,
        ledger: world.ledger(replay).await,
        replay: world.replay(replay).await,
        sendable: LettersToSend::now(&world.office, &facts).await.unwrap().letters.letters,
        counts: facts.counts,
    }
}

/// A hostile message: parts of real messages in any combination, around a body that no other message has.
fn hostile(chance: &mut Chance, n: u64, world: &World, seen: &[Received], letters: &[Letter]) -> Content {
    let body = match chance.below(5) {
        0 => format!("{{\"originalMessage\":{{\"forged\":{n}}},\"failureReason\":\"x\",\"processingContext\":{{}}}}"),
        1 => format!("forged {n} not JSON {{"),
        2 => format!("{{\"Records\":[{{\"messageId\":\"{}\",\"body\":\"{n}\"}}]}}", letters[0].original_message_id),
        _ => order(10_000 + n),
    };
    let mut content = Content { body, ..Content::default() };
    let received = &seen[chance.below(seen.len())];
    if chance.below(2) == 0 {
        content.attributes.insert(MARKER_ATTRIBUTE.into(), received.content.attributes[MARKER_ATTRIBUTE].clone());
    }
    let letter = &letters[chance.below(letters.len())];
    let queues = [&world.main, &world.dlq, &world.office.steps].map(QueueArn::clone);
    let ids = [&received.message_id, &letter.original_message_id].map(MessageId::clone);
    if chance.below(3) > 0 {
        let stamp = Stamp {
            error_type: Some("Forged".into()),
            class: Some(Class::Permanent),
            original_message_id: ids.get(chance.below(3)).cloned(),
            main_queue: queues.get(chance.below(4)).cloned(),
            ..Stamp::default()
        };
        content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
    }
    content
}

#[tokio::test]
async fn no_attribute_and_no_body_changes_anything_but_its_own_letter() {
    let (world, group, replay, seen) = delivered().await;
    let letters = all_letters(&world).await;
    let ids: Vec<_> = letters.iter().map(|letter| letter.id.clone()).collect();
    let before = untouched(&world, &group, replay.id(), &ids).await;
    let mut chance = Chance(13);
    for n in 0..300 {
        let content = hostile(&mut chance, n, &world, &seen, &letters);
        bury(&world, content.clone()).await;
        let report = world.intake().await;
        assert_eq!((report.kept, report.returned, report.duplicates), (1, 0, 0), "{content:?}");
    }
    assert_eq!(untouched(&world, &group, replay.id(), &ids).await, before);
    let forged: Vec<_> = all_letters(&world).await.into_iter().filter(|letter| !ids.contains(&letter.id)).collect();
    assert_eq!(forged.len(), 300);
    let queues: std::collections::BTreeSet<_> = forged.iter().filter_map(|letter| letter.main_queue.clone()).collect();
    assert_eq!(queues, [world.main.clone()].into(), "no letter goes anywhere else");
    assert_eq!(before.ledger.total().get(OutcomeKind::Delivered), 4);
}
