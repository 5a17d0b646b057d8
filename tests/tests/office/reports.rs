//! Reports of consumers: a message that SQS redrove without a word gets the reason that its consumer reported, and a
//! report changes nothing else.

use domain::alert::AlertKind;
use domain::deployment::AttachedConsumer;
use domain::id::{MessageId, QueueArn};
use domain::letter::Letter;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::Content;
use domain::reading::{Category, Class};
use domain::report::clues::Clue;
use domain::report::judge::{Verdict, Why};
use domain::report::{Report, ReportKind, ReportedError, ReportedMessage};
use domain::time::Span;
use harness::carried::redrive_all;
use harness::world::World;
use office::event;
use queue::{Queue as _, Received};

const FUNCTION: &str = "arn:aws:lambda:eu-west-1:111122223333:function:orders-fn";

/// A thrown error of an ordinary Python consumer.
fn key_error() -> ReportedError {
    ReportedError {
        error_type: Some("KeyError".into()),
        message: Some("'price'".into()),
        stack: Some("  File \"/var/task/app.py\", line 18, in handler\n    total += order[\"price\"]\n".into()),
    }
}

pub(crate) fn report(world: &World, request: &str, messages: &[&MessageId]) -> Report {
    Report {
        queue: Some(world.main.clone()),
        version: Some("7".into()),
        error: Some(key_error()),
        messages: messages.iter().map(|id| ReportedMessage::new((*id).clone())).collect(),
        ..Report::new(ReportKind::Error, FUNCTION, request, world.office.now())
    }
}

/// Places orders, and lets SQS redrive them. Returns their message ids, in the order in which they were placed.
pub(crate) async fn redriven(world: &World, orders: u64) -> Vec<MessageId> {
    world.place(1, orders).await;
    redrive_all(world).await;
    let mut seen: Vec<Received> = Vec::new();
    loop {
        let received = world.queue.receive(&world.dlq, BATCH_ENTRIES_MAX, Span::ZERO, Some(Span::ZERO)).await.unwrap();
        let fresh: Vec<_> =
            received.into_iter().filter(|m| seen.iter().all(|other| other.message_id != m.message_id)).collect();
        seen.extend(fresh);
        if seen.len() as u64 == orders {
            seen.sort_by_key(|message| harness::world::number_of(&message.content.body));
            return seen.into_iter().map(|message| message.message_id).collect();
        }
    }
}

/// Hands reports to the office, as the queue does. Returns how many it refused.
pub(crate) async fn sent(world: &World, reports: &[Report], sender: Option<&str>) -> usize {
    let parts = reports.iter().flat_map(Report::parts).enumerate();
    let messages = parts.map(|(n, body)| {
        let mut message = Received {
            message_id: MessageId::new(format!("report-{n}")),
            receipt_handle: String::new(),
            content: Content { body, ..Content::default() },
            system: Default::default(),
        };
        message.system.sender_id = sender.map(Into::into);
        message
    });
    event::receipts(&world.office, messages.collect()).await.len()
}

pub(crate) async fn letters(world: &World) -> Vec<Letter> {
    let mut all = Vec::new();
    for facts in world.store.groups(i64::MAX, None, 200).await.unwrap().items {
        all.extend(world.letters(&facts.variant.id, None).await);
    }
    all.sort_by_key(|letter| harness::world::number_of(&letter.content.body));
    all
}

#[tokio::test]
async fn a_redriven_message_gets_the_reason_that_its_consumer_reported() {
    let world = World::new().await;
    let ids = redriven(&world, 2).await;
    let reports: Vec<_> = ids.iter().map(|id| report(&world, id.as_str(), &[id])).collect();
    assert_eq!(sent(&world, &reports, None).await, 0);
    assert_eq!(world.intake().await.kept, 2);
    let group = world.store.group(&world.only_group().await).await.unwrap().unwrap();
    assert!(group.title.starts_with("KeyError"), "{}", group.title);
    assert_eq!((group.classification.class, group.classification.category), (Class::Permanent, Category::ConsumerBug));
    let letter = letters(&world).await.swap_remove(0);
    let reported = letter.diagnosis.reported.as_ref().unwrap();
    assert_eq!((reported.by.as_str(), reported.verdict, reported.why), (FUNCTION, Verdict::Certain, Why::OnlyMessage));
    assert_eq!(letter.diagnosis.consumer_version.as_deref(), Some("7"));
    assert_eq!(letter.diagnosis.failure.stack, key_error().stack);
    assert_eq!((letter.original_message_id, letter.main_queue), (ids[0].clone(), Some(world.main.clone())));
}

#[tokio::test]
async fn a_message_that_died_with_its_batch_is_a_bystander() {
    let world = World::new().await;
    let ids = redriven(&world, 3).await;
    let mut batch = report(&world, "request", &ids.iter().collect::<Vec<_>>());
    batch.messages[1].clue = Some(Clue::Named);
    assert_eq!(sent(&world, &[batch], None).await, 0);
    world.intake().await;
    let found = letters(&world).await;
    let classes: Vec<_> = found.iter().map(|letter| letter.diagnosis.classification.category).collect();
    assert_eq!(classes, [Category::Bystander, Category::ConsumerBug, Category::Bystander]);
    assert_eq!(found[0].group, found[2].group);
    assert_ne!(found[0].group, found[1].group);
    assert_eq!(found[0].diagnosis.classification.class, Class::Transient);
    assert!(found[0].diagnosis.title.contains("KeyError"), "{}", found[0].diagnosis.title);
}

#[tokio::test]
async fn an_error_of_one_of_several_messages_is_as_unsure_as_they_are_many() {
    let world = World::new().await;
    let ids = redriven(&world, 4).await;
    let batch = report(&world, "request", &ids.iter().collect::<Vec<_>>());
    let alone = report(&world, "another request", &[&ids[3]]);
    assert_eq!(sent(&world, &[batch, alone], None).await, 0);
    world.intake().await;
    let found = letters(&world).await;
    let sure: Vec<_> = found.iter().map(|letter| letter.diagnosis.classification.confidence.as_pct()).collect();
    assert!(sure[0] == sure[1] && sure[0] * 4 <= sure[3], "{sure:?}");
    assert_eq!(found[0].diagnosis.reported.as_ref().unwrap().verdict, Verdict::Share { suspects: 4 });
    assert_eq!(found[3].diagnosis.reported.as_ref().unwrap().verdict, Verdict::Certain);
}

#[tokio::test]
async fn timeouts_crashes_and_full_memory_have_reasons_too() {
    // How the invocation ended; class and category.
    for (kind, class, category) in [
        (ReportKind::Timeout, Class::Transient, Category::Timeout),
        (ReportKind::OutOfMemory, Class::Unknown, Category::ResourceLimit),
        (ReportKind::Crash, Class::Unknown, Category::Unknown),
    ] {
        let world = World::new().await;
        let ids = redriven(&world, 1).await;
        let silent = Report { kind, error: None, ..report(&world, "request", &[&ids[0]]) };
        assert_eq!(sent(&world, &[silent], None).await, 0);
        world.intake().await;
        let letter = letters(&world).await.swap_remove(0);
        let found = &letter.diagnosis.classification;
        assert_eq!((found.class, found.category), (class, category), "{kind:?}: {}", letter.diagnosis.title);
        assert!(!letter.diagnosis.title.starts_with("No error recorded"), "{}", letter.diagnosis.title);
    }
}

#[tokio::test]
async fn a_message_without_a_report_is_left_once_if_its_consumer_reports() {
    let world = World::new().await;
    let ids = redriven(&world, 2).await;
    // Nothing is known to report yet.
    let silent = World::new().await;
    redriven(&silent, 1).await;
    assert_eq!(silent.intake().await.awaited.len(), 0);

    assert_eq!(sent(&world, &[report(&world, "first", &[&ids[0]])], None).await, 0);
    let first = world.intake().await;
    assert_eq!((first.kept, first.awaited), (1, vec![ids[1].clone()]));
    // The report comes late, but before the message comes again.
    assert_eq!(sent(&world, &[report(&world, "second", &[&ids[1]])], None).await, 0);
    world.advance(Span::from_secs(31));
    world.queue.clock_moved();
    let second = world.intake().await;
    assert_eq!((second.kept, second.awaited.len()), (1, 0));
    assert_eq!(letters(&world).await.iter().filter(|letter| letter.diagnosis.reported.is_some()).count(), 2);
    world.counters_are_exact(&world.only_group().await).await;
}

#[tokio::test]
async fn a_message_is_not_left_twice() {
    let world = World::new().await;
    let ids = redriven(&world, 2).await;
    assert_eq!(sent(&world, &[report(&world, "first", &[&ids[0]])], None).await, 0);
    assert_eq!(world.intake().await.awaited.len(), 1);
    world.advance(Span::from_secs(31));
    world.queue.clock_moved();
    let second = world.intake().await;
    assert_eq!((second.kept, second.awaited.len()), (1, 0));
    let found = letters(&world).await;
    assert!(found[1].diagnosis.title.starts_with("No error recorded"), "{}", found[1].diagnosis.title);
}

#[tokio::test]
async fn a_report_counts_only_from_a_consumer_of_its_queue() {
    let world = World::new().await;
    let ids = redriven(&world, 1).await;
    world.attach(AttachedConsumer::default()).await;
    let forged = [report(&world, "forged", &[&ids[0]])];
    assert_eq!(sent(&world, &forged, Some("AROAEVIL:attacker-fn")).await, 1);
    assert_eq!(sent(&world, &forged, None).await, 1);
    world.intake().await;
    assert!(letters(&world).await[0].diagnosis.title.starts_with("No error recorded"));
    assert_eq!(sent(&world, &forged, Some("AROAGOOD:orders-fn")).await, 0);
}

#[tokio::test]
async fn a_report_changes_no_letter_that_says_itself_why_it_died() {
    let world = World::new().await;
    world.place(1, 1).await;
    world.consume(&|_| Some("orders::pricing::Overflow"), "v1").await;
    let dead = world.queue.receive(&world.dlq, 1, Span::ZERO, Some(Span::ZERO)).await.unwrap().swap_remove(0);
    let id = domain::read::read(&world.dead(dead), &world.office.policy).original_message_id;
    let other_queue = Report {
        queue: Some(QueueArn::from("arn:aws:sqs:local:000000000000:dlo-steps")),
        ..report(&world, "r", &[&id])
    };
    assert_eq!(sent(&world, &[report(&world, "request", &[&id]), other_queue], None).await, 0);
    world.intake().await;
    let letter = letters(&world).await.swap_remove(0);
    assert_eq!(letter.diagnosis.failure.error_type.as_deref(), Some("orders::pricing::Overflow"));
    assert_eq!((letter.diagnosis.reported, letter.main_queue), (None, Some(world.main.clone())));
}

#[tokio::test]
async fn what_is_no_report_stays_on_the_queue() {
    let world = World::new().await;
    let nameless = Report { queue: None, ..report(&world, "request", &[&MessageId::from("m")]) };
    assert_eq!(sent(&world, &[nameless], None).await, 1);
    let message = Received {
        message_id: "m".into(),
        receipt_handle: String::new(),
        content: Content { body: r#"{"order":1}"#.into(), ..Content::default() },
        system: Default::default(),
    };
    assert_eq!(event::receipts(&world.office, vec![message]).await, [MessageId::from("m")]);
}

#[tokio::test]
async fn an_unknown_error_on_three_instances_is_poison() {
    // The error's type, the instance of each of three attempts, and the class.
    for (error, instances, class) in [
        ("orders.Strange", ["a", "b", "c"], Class::Permanent),
        ("orders.Strange", ["a", "b", "b"], Class::Unknown),
        // An outage meets every instance.
        ("ThrottlingException", ["a", "b", "c"], Class::Transient),
    ] {
        let world = World::new().await;
        let ids = redriven(&world, 1).await;
        let reports = instances.iter().enumerate().map(|(n, instance)| Report {
            error: Some(ReportedError { error_type: Some(error.into()), ..ReportedError::default() }),
            instance: Some((*instance).into()),
            failed_at: world.office.now().plus(Span::from_secs(n as i64)),
            ..report(&world, &format!("request {n}"), &[&ids[0]])
        });
        assert_eq!(sent(&world, &reports.collect::<Vec<_>>(), None).await, 0);
        world.intake().await;
        let letter = letters(&world).await.swap_remove(0);
        let found = &letter.diagnosis.classification;
        assert_eq!(found.class, class, "{error} {instances:?}: {}", found.reason);
        assert_eq!(found.reason.starts_with("poison"), class == Class::Permanent, "{}", found.reason);
    }
}

/// A report from the future would stay the newest of its message, and push out every later one.
#[tokio::test]
async fn a_report_from_the_future_is_no_newer_than_its_arrival() {
    let world = World::new().await;
    let message = redriven(&world, 1).await.remove(0);
    let future = world.office.now().plus(Span::from_days(400));
    let forged = Report { error: None, failed_at: future, ..report(&world, "r-0", &[&message]) };
    assert_eq!(sent(&world, &[forged], None).await, 0);
    world.advance(Span::from_secs(1));
    assert_eq!(sent(&world, &[report(&world, "r-1", &[&message])], None).await, 0);
    assert_eq!(world.intake().await.kept, 1);
    assert_eq!(letters(&world).await[0].diagnosis.failure.error_type.as_deref(), Some("KeyError"));
}

#[tokio::test]
async fn a_report_of_a_message_without_an_id_is_taken_without_it() {
    let world = World::new().await;
    let message = redriven(&world, 1).await.remove(0);
    assert_eq!(sent(&world, &[report(&world, "r-1", &[&MessageId::new(""), &message])], None).await, 0);
    assert_eq!(world.intake().await.kept, 1);
    assert_eq!(letters(&world).await[0].diagnosis.failure.error_type.as_deref(), Some("KeyError"));
}

#[tokio::test]
async fn a_mapping_that_deletes_failed_messages_is_alerted_once_a_day() {
    let world = World::new().await;
    let attach = async |reports_failures| {
        world.attach(AttachedConsumer { reports_failures, ..AttachedConsumer::default() }).await
    };
    let alerts = || world.alerts.recent(100).into_iter().filter(|alert| alert.kind == AlertKind::MessagesLost).count();
    let id = MessageId::from("m");
    let partial = |n: u64| Report { kind: ReportKind::Partial, ..report(&world, &format!("request {n}"), &[&id]) };
    let from = Some("AROAGOOD:orders-fn");
    attach(Some(true)).await;
    assert_eq!(sent(&world, &[partial(1)], from).await, 0);
    assert_eq!(alerts(), 0, "its mapping heeds the list");
    attach(Some(false)).await;
    assert_eq!(sent(&world, &[report(&world, "thrown", &[&id])], from).await, 0);
    assert_eq!(alerts(), 0, "it returns no list");
    assert_eq!(sent(&world, &[partial(2), partial(3)], from).await, 0);
    assert_eq!(alerts(), 1);
    world.advance(Span::from_days(1));
    attach(Some(false)).await;
    assert_eq!(sent(&world, &[partial(4)], from).await, 0);
    assert_eq!(alerts(), 2);
    // A clock that was ahead does not silence it until its time has come.
    world.advance(Span::from_days(10));
    attach(Some(false)).await;
    assert_eq!(sent(&world, &[partial(5)], from).await, 0);
    assert_eq!(alerts(), 3);
    world.advance(Span::from_days(-9));
    attach(Some(false)).await;
    assert_eq!(sent(&world, &[partial(6)], from).await, 0);
    assert_eq!(alerts(), 4);
    let alert = world.alerts.recent(1).remove(0);
    assert!(
        alert.title.starts_with("Messages are lost: orders returns")
            && alert.advice.contains("ReportBatchItemFailures")
    );
}
