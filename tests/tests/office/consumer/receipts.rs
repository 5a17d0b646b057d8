//! Receipts of the consumer crate: sent for messages of a replay only, and never in the way of consuming.

use super::world::{ByBody, World, content};
use consumer::{Consumer, ConsumerConfig, Outcome};
use domain::id::{LetterId, MessageId, QueueArn, ReplayId};
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::{Attribute, Content};
use domain::replay::Receipt;
use domain::time::Span;
use local::queue::QueueSettings;
use queue::{Queue, Received};
use std::collections::BTreeSet;
use std::sync::Arc;

fn receipts() -> QueueArn {
    QueueArn::from("arn:aws:sqs:eu-west-1:111122223333:receipts")
}

fn marked(body: &str, attempt: u32) -> Content {
    let marker =
        Marker { letter: LetterId::new("a".repeat(32)), replay: ReplayId::new("b".repeat(32)), attempt, seq: 3 };
    let attributes = [(MARKER_ATTRIBUTE.into(), Attribute::text(marker.print()))].into();
    Content { attributes, ..content(body) }
}

async fn world_with_receipts() -> World {
    let world = World::new(3).await;
    world.queue.create_queue(&receipts(), QueueSettings::default()).await.unwrap();
    world
}

async fn sent_receipts(world: &World) -> Vec<Receipt> {
    let sent = world.queue.peek(&receipts(), 100).await.unwrap();
    sent.iter().map(|message| Receipt::parse(&message.content.body).expect("a receipt")).collect()
}

#[tokio::test]
async fn a_receipt_is_sent_once_a_replayed_message_is_handled_and_deleted() {
    let world = world_with_receipts().await;
    let mut expected = BTreeSet::new();
    for attempt in 1..=25 {
        expected.insert((world.send(marked("good", attempt)).await, attempt));
    }
    world.send(content("good")).await;
    world.send(marked("permanent", 1)).await;
    let garbled = [(MARKER_ATTRIBUTE.into(), Attribute::text("1.x.y.z"))].into();
    world.send(Content { attributes: garbled, ..content("good") }).await;
    let mut running = world.run_on(world.queue.clone(), ByBody, |config| config.receipts = Some(receipts()));
    for _ in 0..28 {
        running.next().await;
    }
    running.shut_down().await;
    assert!(world.main_is_empty().await);
    let receipts = sent_receipts(&world).await;
    let attempt =
        |receipt: &Receipt| (receipt.message_id.clone(), receipt.sending().map_or(0, |marker| marker.attempt));
    assert_eq!(receipts.iter().map(attempt).collect::<BTreeSet<_>>(), expected);
    assert_eq!(
        (receipts[0].consumer.as_str(), receipts[0].consumer_version.as_str(), receipts.len()),
        ("orders", "v1", 25)
    );
}

#[tokio::test]
async fn a_missing_queue_of_receipts_blocks_no_message() {
    let world = World::new(3).await;
    for _ in 0..25 {
        world.send(marked("good", 1)).await;
    }
    let mut running = world.run_on(world.queue.clone(), ByBody, |config| config.receipts = Some(receipts()));
    for _ in 0..25 {
        assert_eq!(running.next().await.1, Outcome::Handled);
    }
    running.shut_down().await;
    assert!(world.main_is_empty().await && world.dead().await.is_empty());
}

async fn batch_of_three(world: &World) -> (Vec<Received>, Vec<MessageId>) {
    for body in ["good", "transient", "good"] {
        world.send(marked(body, 1)).await;
    }
    let received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    let ids = received.iter().map(|received| received.message_id.clone()).collect();
    (received, ids)
}

#[tokio::test]
async fn a_batch_of_lambda_sends_receipts_for_exactly_the_handled_messages() {
    for exists in [true, false] {
        let world = if exists { world_with_receipts().await } else { World::new(3).await };
        let (received, ids) = batch_of_three(&world).await;
        let config = ConsumerConfig { receipts: Some(receipts()), ..world.config() };
        let consumer = Consumer::new(config, world.queue.clone(), Arc::new(ByBody));
        assert_eq!(
            consumer.handle_batch(received).await.unwrap(),
            [ids[1].clone()],
            "the queue of receipts exists: {exists}"
        );
        if exists {
            let ids_sent =
                sent_receipts(&world).await.into_iter().map(|receipt| receipt.message_id).collect::<BTreeSet<_>>();
            assert_eq!(ids_sent, [ids[0].clone(), ids[2].clone()].into());
        }
    }
}
