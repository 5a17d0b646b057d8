//! What feeds the handlers on one machine, as event source mappings and a schedule do on AWS: letters to intake, steps
//! to replay, and a sweep at each interval.
//!
//! A feed only receives and deletes; what a message means is decided in [`office::event`].

use domain::id::{MessageId, QueueArn};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Span;
use office::error::chain;
use office::office::Office;
use office::{event, sweep};
use queue::{QueueError, Received};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::watch;

/// The most letters or receipts that are handled at once: what a batch of an event source mapping would hold.
const INTAKE_BATCH_MAX: usize = 100;
/// Steps are handled and deleted one by one: a run of steps takes up to half a lease, and a step that waits behind
/// others in a batch would become visible again.
const STEPS_BATCH_MAX: usize = 1;
/// How long a receive waits for the first message: SQS's longest.
const LONG_POLL: Span = Span::from_secs(20);
/// How long a feed waits after its queue has failed.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Turns true when the process shuts down. Clone one for each feed.
pub type Shutdown = watch::Receiver<bool>;

/// Waits until the process shuts down.
pub(crate) async fn begun(shutdown: &mut Shutdown) {
    // An error means that the sender is gone, which ends the feeds too.
    let _ = shutdown.wait_for(|shutdown| *shutdown).await;
}

/// Takes letters off a dead-letter queue into custody, until the process shuts down.
pub async fn letters(office: Office, dlq: QueueArn, shutdown: Shutdown) {
    feed(&office, &dlq, &Handler::Letters, INTAKE_BATCH_MAX, shutdown).await;
}

/// Takes receipts of consumers, until the process shuts down.
pub async fn receipts(office: Office, queue: QueueArn, shutdown: Shutdown) {
    feed(&office, &queue, &Handler::Receipts, INTAKE_BATCH_MAX, shutdown).await;
}

/// Hands step messages to the replay handler, until the process shuts down.
pub async fn steps(office: Office, executor: String, shutdown: Shutdown) {
    feed(&office, &office.steps, &Handler::Steps { executor }, STEPS_BATCH_MAX, shutdown).await;
}

/// Sweeps at once and then at each interval, until the process shuts down.
pub async fn minutes(office: Office, interval: Duration, mut shutdown: Shutdown) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        tokio::select! { _ = ticks.tick() => {}, () = begun(&mut shutdown) => return }
        if let Err(error) = sweep::run(&office).await {
            tracing::error!(error = chain(&error), "a sweep failed; the next one tries again");
        }
    }
}

/// Which handler a queue feeds.
enum Handler {
    Letters,
    Receipts,
    Steps { executor: String },
}

impl Handler {
    /// Handles messages; returns those that must come again.
    async fn handle(&self, office: &Office, queue: &QueueArn, messages: Vec<Received>) -> Vec<MessageId> {
        match self {
            Self::Letters => event::letters(office, queue, messages).await,
            Self::Receipts => event::receipts(office, messages).await,
            Self::Steps { executor } => event::steps(office, messages, executor).await,
        }
    }
}

/// Receives, handles, and deletes exactly what was handled.
async fn feed(office: &Office, queue: &QueueArn, handler: &Handler, batch_max: usize, mut shutdown: Shutdown) {
    loop {
        let received = tokio::select! {
            received = receive(office, queue, batch_max) => received,
            () = begun(&mut shutdown) => return,
        };
        match received {
            Ok(messages) if messages.is_empty() => {}
            Ok(messages) => {
                let of = |message: &Received| (message.message_id.clone(), message.receipt_handle.clone());
                let handles: Vec<_> = messages.iter().map(of).collect();
                let failed: BTreeSet<_> = handler.handle(office, queue, messages).await.into_iter().collect();
                let handled = handles.into_iter().filter(|(id, _)| !failed.contains(id));
                delete(office, queue, &handled.map(|(_, handle)| handle).collect::<Vec<_>>()).await;
            }
            Err(error) => {
                tracing::error!(%queue, error = chain(&error), "messages could not be received; trying again");
                tokio::select! { () = tokio::time::sleep(RETRY_AFTER) => {}, () = begun(&mut shutdown) => return }
            }
        }
    }
}

/// Receives up to `batch_max` messages: waits for the first, then takes what else is there.
async fn receive(office: &Office, queue: &QueueArn, batch_max: usize) -> Result<Vec<Received>, QueueError> {
    let at_once = batch_max.min(BATCH_ENTRIES_MAX);
    let mut messages = office.queue.receive(queue, at_once, LONG_POLL, None).await?;
    let mut full = messages.len() == at_once;
    while full && messages.len() < batch_max {
        let more = office.queue.receive(queue, at_once, Span::ZERO, None).await?;
        full = more.len() == at_once;
        messages.extend(more);
    }
    Ok(messages)
}

/// Deletes handled messages. One that is not deleted comes again and is handled as a duplicate, which is harmless.
async fn delete(office: &Office, queue: &QueueArn, handles: &[String]) {
    for batch in handles.chunks(BATCH_ENTRIES_MAX) {
        match office.queue.delete_batch(queue, batch).await {
            Ok(answers) => {
                for failure in answers.into_iter().filter_map(Result::err) {
                    tracing::warn!(%queue, error = chain(&failure), "a message was not deleted; it will be redelivered");
                }
            }
            Err(error) => {
                tracing::warn!(%queue, error = chain(&error), "messages were not deleted; they will be redelivered")
            }
        }
    }
}
