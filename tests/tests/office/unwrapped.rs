//! Error envelopes in a deployment with a default main queue: what was moved by hand goes back as its original, and what
//! SQS redrove goes back as it lay. Only SQS says which of the two it was.

use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::MARKER_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::policy::{Policy, QueuePolicy};
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::carried::redrive_all;
use harness::world::{World, order};
use office::event;
use queue::{Outgoing, Queue as _, Received};
use std::sync::{Arc, Mutex};

/// An envelope as teams put it into a dead-letter queue by hand, around an order.
fn envelope(order: &str) -> String {
    let original = serde_json::to_string(order).unwrap();
    format!(
        r#"{{"originalMessage":{original},"messageAttributes":{{"trace":{{"DataType":"Number","StringValue":"1.50"}}}},
            "failureReason":{{"type":"PaymentError","message":"card declined"}},
            "processingContext":{{"totalAttempts":3}},"environmentContext":{{"service":"billing"}}}}"#
    )
}

/// An office whose deployment names a default main queue.
async fn world() -> World {
    let mut world = World::new().await;
    let mut policy = Policy::clone(&world.office.policy);
    policy.queues = QueuePolicy { main: Vec::new(), default_main: Some(world.main.clone()), default_dlq: None };
    world.office.policy = Arc::new(policy);
    world
}

/// Takes everything on the dead-letter queue into custody.
async fn take_in(world: &World) {
    let received = world.queue.receive(&world.dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap();
    let handles: Vec<_> = received.iter().map(|message| message.receipt_handle.clone()).collect();
    let failed = event::letters(&world.office, &world.dlq, received).await;
    assert!(failed.is_empty() && !handles.is_empty());
    world.queue.delete_batch(&world.dlq, &handles).await.unwrap();
}

async fn send(world: &World, to: &domain::id::QueueArn, content: Content) {
    let sent = world.queue.send_batch(to, &[Outgoing { content, ..Outgoing::default() }]).await.unwrap();
    assert!(sent.iter().all(Result::is_ok));
}

/// Replays the only letter; returns what the consumer received.
async fn replayed(world: &World) -> Content {
    let group = world.only_group().await;
    let plan = world.plan_with_fix(&group, "v2", &PlanOptions::default()).await;
    assert_eq!((plan.letters.letters, plan.left_out.len()), (1, 0), "{:?}", plan.left_out);
    world.approve(&group, &plan).await;
    let arrived = Mutex::new(Vec::new());
    let records = |received: &Received| {
        arrived.lock().unwrap().push(received.content.clone());
        None
    };
    assert!(world.run(&plan.id, &records, "v2").await.is_finished());
    let mut content = arrived.into_inner().unwrap().remove(0);
    assert!(content.attributes.remove(MARKER_ATTRIBUTE).is_some());
    content
}

#[tokio::test]
async fn an_envelope_that_was_moved_by_hand_goes_back_as_its_original() {
    let world = world().await;
    send(&world, &world.dlq, Content { body: envelope(&order(7)), ..Content::default() }).await;
    take_in(&world).await;
    let group = world.only_group().await;
    let letters = world.letters(&group, None).await;
    assert_eq!(letters[0].main_queue.as_ref(), Some(&world.main), "the deployment's default");
    assert_eq!(letters[0].diagnosis.attempts, Some(3));
    let attributes = [("trace".to_string(), Attribute::number("1.50"))].into();
    assert_eq!(replayed(&world).await, Content { body: order(7), attributes, ..Content::default() });
}

#[tokio::test]
async fn an_envelope_that_sqs_redrove_goes_back_as_it_lay() {
    let world = world().await;
    let attributes = [("trace".to_string(), Attribute::text("outer"))].into();
    let lay = Content { body: envelope(&order(7)), attributes, ..Content::default() };
    send(&world, &world.main, lay.clone()).await;
    redrive_all(&world).await;
    take_in(&world).await;
    assert_eq!(replayed(&world).await, lay);
}

#[tokio::test]
async fn an_ordinary_message_that_was_moved_by_hand_goes_back_as_it_is() {
    let world = world().await;
    let lay = Content { body: order(7), ..Content::default() };
    send(&world, &world.dlq, lay.clone()).await;
    take_in(&world).await;
    assert_eq!(replayed(&world).await, lay);
}
