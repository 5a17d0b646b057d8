//! What feeds the handlers on one machine, as event source mappings and schedules do on AWS: letters to intake, steps
//! to replay, the minute to sweep.

use domain::id::{MessageId, QueueArn};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::DeadMessage;
use domain::replay::Receipt;
use domain::time::Span;
use office::error::chain;
use office::office::{Office, StepMessage};
use office::{intake, replay, sweep};
use queue::{QueueError, Received};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::watch;

/// Letters or receipts that are handled at once, at most: what a batch of an event source mapping would be.
const INTAKE_BATCH_MAX: usize = 100;
/// How long a receive waits for the first message: SQS's longest.
const LONG_POLL: Span = Span::from_secs(20);
/// A queue that fails is tried again after so long.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Ends when the office stops. Clone one for each feed.
pub type Stop = watch::Receiver<bool>;

/// Waits until the office stops.
async fn stopped(stop: &mut Stop) {
    // An error means that the sender is gone, which is a stop too.
    let _ = stop.wait_for(|stop| *stop).await;
}

/// Takes letters off a dead-letter queue into custody, until the office stops.
pub async fn letters(office: Office, dlq: QueueArn, mut stop: Stop) {
    loop {
        let received = tokio::select! {
            received = receive_many(&office, &dlq) => received,
            () = stopped(&mut stop) => return,
        };
        match received {
            Ok(messages) => keep(&office, &dlq, messages).await,
            Err(error) => {
                tracing::error!(queue = %dlq, error = chain(&error), "letters could not be received; trying again");
                tokio::select! { () = tokio::time::sleep(RETRY_AFTER) => {}, () = stopped(&mut stop) => return }
            }
        }
    }
}

/// Up to [`INTAKE_BATCH_MAX`] messages: waits for the first, takes what is there of the others.
async fn receive_many(office: &Office, dlq: &QueueArn) -> Result<Vec<Received>, QueueError> {
    let mut messages = office.queue.receive(dlq, BATCH_ENTRIES_MAX, LONG_POLL, None).await?;
    let mut full = messages.len() == BATCH_ENTRIES_MAX;
    while full && messages.len() < INTAKE_BATCH_MAX {
        let more = office.queue.receive(dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await?;
        full = more.len() == BATCH_ENTRIES_MAX;
        messages.extend(more);
    }
    Ok(messages)
}

/// Keeps messages, and deletes from the queue exactly those that are kept.
async fn keep(office: &Office, dlq: &QueueArn, received: Vec<Received>) {
    if received.is_empty() {
        return;
    }
    let handles: Vec<(MessageId, String)> =
        received.iter().map(|r| (r.message_id.clone(), r.receipt_handle.clone())).collect();
    let messages = received.into_iter().map(|received| DeadMessage {
        dlq: dlq.clone(),
        message_id: received.message_id,
        content: received.content,
        system: received.system,
    });
    let report = intake::keep(office, messages.collect()).await;
    let failed: BTreeSet<_> = report.failed.iter().collect();
    let kept: Vec<String> =
        handles.iter().filter(|(id, _)| !failed.contains(id)).map(|(_, handle)| handle.clone()).collect();
    delete(office, dlq, &kept).await;
}

/// A message that is not deleted comes again, and is then a duplicate: harmless.
async fn delete(office: &Office, queue: &QueueArn, handles: &[String]) {
    for batch in handles.chunks(BATCH_ENTRIES_MAX) {
        match office.queue.delete_batch(queue, batch).await {
            Ok(answers) => {
                for failure in answers.into_iter().filter_map(Result::err) {
                    tracing::warn!(%queue, error = chain(&failure), "a message was not deleted; it will come again");
                }
            }
            Err(error) => {
                tracing::warn!(%queue, error = chain(&error), "messages were not deleted; they will come again")
            }
        }
    }
}

/// Takes receipts of consumers, until the office stops. What is none stays on the queue, for its redrive policy: it may
/// be somebody's letter, sent there by mistake.
pub async fn receipts(office: Office, queue: QueueArn, mut stop: Stop) {
    loop {
        let received = tokio::select! {
            received = receive_many(&office, &queue) => received,
            () = stopped(&mut stop) => return,
        };
        match received {
            Ok(received) => take(&office, &queue, received).await,
            Err(error) => {
                tracing::error!(%queue, error = chain(&error), "receipts could not be received; trying again");
                tokio::select! { () = tokio::time::sleep(RETRY_AFTER) => {}, () = stopped(&mut stop) => return }
            }
        }
    }
}

async fn take(office: &Office, queue: &QueueArn, received: Vec<Received>) {
    let is_receipt = |message: &Received| Receipt::parse(&message.content.body).is_some();
    let (receipts, others): (Vec<_>, Vec<_>) = received.into_iter().partition(is_receipt);
    if !others.is_empty() {
        tracing::warn!(%queue, count = others.len(), "messages on the queue of receipts are none; they stay there");
    }
    let messages = receipts.iter().map(|r| (r.message_id.clone(), r.content.body.clone()));
    let failed: BTreeSet<_> = replay::take_receipts(office, messages.collect()).await.into_iter().collect();
    let taken = receipts.into_iter().filter(|r| !failed.contains(&r.message_id));
    delete(office, queue, &taken.map(|r| r.receipt_handle).collect::<Vec<_>>()).await;
}

/// Hands step messages to the replay handler, until the office stops.
pub async fn steps(office: Office, executor: String, mut stop: Stop) {
    let queue = office.steps.clone();
    loop {
        let received = tokio::select! {
            received = office.queue.receive(&queue, BATCH_ENTRIES_MAX, LONG_POLL, None) => received,
            () = stopped(&mut stop) => return,
        };
        match received {
            Ok(messages) => {
                for message in messages {
                    step(&office, &message, &executor).await;
                }
            }
            Err(error) => {
                tracing::error!(%queue, error = chain(&error), "steps could not be received; trying again");
                tokio::select! { () = tokio::time::sleep(RETRY_AFTER) => {}, () = stopped(&mut stop) => return }
            }
        }
    }
}

async fn step(office: &Office, message: &Received, executor: &str) {
    let done = match serde_json::from_str::<StepMessage>(&message.content.body) {
        Ok(step) => match replay::handle(office, &step, executor).await {
            Ok(()) => true,
            Err(error) => {
                // It stays in the queue and comes again; what was done is recorded, so that it goes on from there.
                tracing::error!(replay = %step.replay, error = chain(&error), "a step of a replay failed; it will be tried again");
                false
            }
        },
        Err(error) => {
            tracing::error!(error = chain(&error), "a message on the queue of steps is none of ours; it is removed");
            true
        }
    };
    if done {
        delete(office, &office.steps, std::slice::from_ref(&message.receipt_handle)).await;
    }
}

/// Sweeps at once and then at each interval, until the office stops.
pub async fn minutes(office: Office, interval: Duration, mut stop: Stop) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! { _ = ticks.tick() => {}, () = stopped(&mut stop) => return }
        if let Err(error) = sweep::run(&office).await {
            tracing::error!(error = chain(&error), "a sweep failed; the next one tries again");
        }
    }
}
