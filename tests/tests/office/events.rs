//! Messages that do not belong on a queue of the office: on AWS and on one machine, nobody deletes them, and the
//! queue's redrive policy moves them to its dead-letter queue.

use domain::id::{MessageId, QueueArn, ReplayId};
use domain::message::Content;
use domain::replay::{RECEIPT_VERSION, Receipt};
use domain::time::{Span, Timestamp};
use harness::world::World;
use lambda::batch::{Answer, Batch};
use local::feed;
use local::queue::QueueSettings;
use office::event;
use office::office::StepMessage;
use queue::{Outgoing, Queue as _};
use serde_json::json;
use tokio::sync::watch;

const NOT_A_STEP: &str = "{\"order\":7}";
const NOT_A_RECEIPT: &str = "{\"order\":7}";

/// A step of a replay that does not exist: it is handled, and there is nothing to do.
fn step() -> String {
    let step = StepMessage { replay: ReplayId::new("a".repeat(32)), nudge: false, chain: 0 };
    serde_json::to_string(&step).unwrap()
}

/// A receipt that proves nothing: it is handled, and changes nothing.
fn receipt() -> String {
    let receipt = Receipt {
        v: RECEIPT_VERSION,
        marker: format!("2.{}.{}.1.0", "a".repeat(32), "b".repeat(32)),
        message_id: "m".into(),
        consumer: "orders".into(),
        consumer_version: "v2".into(),
        processed_at: Timestamp::from_ms(1),
        idempotent: false,
    };
    receipt.print()
}

/// The event in which Lambda hands over these bodies, with the ids 0, 1 and so on.
fn batch(bodies: &[&str]) -> Batch {
    let record = |(id, body): (usize, &&str)| json!({ "messageId": id.to_string(), "body": body, "eventSourceARN": "arn:aws:sqs:r:1:q" });
    let records: Vec<_> = bodies.iter().enumerate().map(record).collect();
    serde_json::from_value(json!({ "Records": records })).unwrap()
}

fn fails(answer: Answer) -> Vec<String> {
    answer.failures.into_iter().map(|failure| failure.message_id).collect()
}

#[tokio::test]
async fn lambda_reports_a_message_that_is_not_a_step_as_failed() {
    let world = World::new().await;
    let messages = batch(&[NOT_A_STEP, &step(), "not JSON"]).received();
    let failed = event::steps(&world.office, messages, "executor").await;
    assert_eq!(fails(Answer::failing(failed)), ["0", "2"]);
}

#[tokio::test]
async fn lambda_reports_a_message_that_is_not_a_receipt_as_failed() {
    let world = World::new().await;
    let messages = batch(&[NOT_A_RECEIPT, &receipt(), "not JSON"]).received();
    let failed = event::receipts(&world.office, messages).await;
    assert_eq!(fails(Answer::failing(failed)), ["0", "2"]);
}

/// A queue whose messages are visible again at once, and move to its dead-letter queue after two receives.
async fn queue_with_redrive(world: &World) -> (QueueArn, QueueArn) {
    let (queue, dlq) = (QueueArn::from("arn:aws:sqs:local:0:q"), QueueArn::from("arn:aws:sqs:local:0:q-dlq"));
    world.queue.create_queue(&dlq, QueueSettings::default()).await.unwrap();
    let settings = QueueSettings { visibility_timeout: Span::ZERO, ..QueueSettings::default() };
    world.queue.create_queue(&queue, settings.dead_letters_to(&dlq, 2)).await.unwrap();
    (queue, dlq)
}

async fn send(world: &World, queue: &QueueArn, bodies: &[&str]) -> Vec<MessageId> {
    let outgoing = |body: &&str| Outgoing {
        content: Content { body: (*body).to_string(), ..Content::default() },
        ..Outgoing::default()
    };
    let messages: Vec<_> = bodies.iter().map(outgoing).collect();
    world.queue.send_batch(queue, &messages).await.unwrap().into_iter().map(Result::unwrap).collect()
}

/// What a feed leaves: the one message in the dead-letter queue, and none in the queue.
async fn only_the_first_is_dead_lettered(world: &World, (queue, dlq): (QueueArn, QueueArn), sent: &[MessageId]) {
    let moved = world.queue.receive(&dlq, 10, Span::from_secs(20), None).await.unwrap();
    assert_eq!(moved.iter().map(|message| &message.message_id).collect::<Vec<_>>(), [&sent[0]]);
    while !world.queue.peek(&queue, 10).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn on_one_machine_a_message_that_is_not_a_step_is_dead_lettered() {
    let world = World::new().await;
    let (queue, dlq) = queue_with_redrive(&world).await;
    let sent = send(&world, &queue, &[NOT_A_STEP, &step()]).await;
    let mut office = world.office.clone();
    office.steps = queue.clone();
    let (shutdown, shutting_down) = watch::channel(false);
    let feed = tokio::spawn(feed::steps(office, "executor".into(), shutting_down));
    only_the_first_is_dead_lettered(&world, (queue, dlq), &sent).await;
    shutdown.send(true).unwrap();
    feed.await.unwrap();
}

#[tokio::test]
async fn on_one_machine_a_message_that_is_not_a_receipt_is_dead_lettered() {
    let world = World::new().await;
    let (queue, dlq) = queue_with_redrive(&world).await;
    let sent = send(&world, &queue, &[NOT_A_RECEIPT, &receipt()]).await;
    let (shutdown, shutting_down) = watch::channel(false);
    let feed = tokio::spawn(feed::receipts(world.office.clone(), queue.clone(), shutting_down));
    only_the_first_is_dead_lettered(&world, (queue, dlq), &sent).await;
    shutdown.send(true).unwrap();
    feed.await.unwrap();
}
