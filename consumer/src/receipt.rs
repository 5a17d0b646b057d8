//! Receipts: tell the office that the consumer processed a message that a replay had sent.
//!
//! A receipt is sent after its message was deleted. A consumer that fails before that receives the message again and
//! has claimed nothing. (On Lambda the receipt is sent just before the delete, because Lambda deletes after the
//! function has ended.) Receipts are best effort: they never delay or fail a message. A lost receipt costs only time,
//! because the office then waits for the end of the letter's window.

use crate::call::{chain, pause};
use crate::case::Case;
use crate::config::ConsumerConfig;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::MARKER_ATTRIBUTE;
use domain::message::Content;
use domain::notice::Notice;
use domain::replay::{RECEIPT_VERSION, Receipt};
use queue::{Outgoing, Queue};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// The most receipts and notices that may wait to be sent. More means that the receipts queue is out of order; they are dropped.
pub(crate) const WAITING_MAX: usize = 1_000;
/// Attempts at one call.
const ATTEMPTS_MAX: u32 = 2;
/// How long a consumer that shuts down, or a Lambda batch that ends, waits for unsent receipts.
pub(crate) const FLUSH_MAX: Duration = Duration::from_secs(3);

/// What a consumer tells the office.
pub(crate) enum Said {
    Receipt(Receipt),
    Notice(Notice),
}

/// Returns the receipt for a processed message; `None` if no receipts queue is configured or no replay sent the message.
pub(crate) fn for_case(config: &ConsumerConfig, case: &Case, message_type: Option<&str>) -> Option<Receipt> {
    config.receipts.as_ref()?;
    let marker = case.received.content.attributes.get(MARKER_ATTRIBUTE)?.as_text()?;
    let receipt = Receipt {
        v: RECEIPT_VERSION,
        marker: marker.into(),
        message_id: case.received.message_id.clone(),
        consumer: config.consumer.clone(),
        consumer_version: case.consumer_version.clone(),
        processed_at: (config.now)(),
        idempotent: (config.idempotent)(message_type),
    };
    receipt.sending().map(|_| receipt)
}

/// Sends receipts and notices until the channel closes, in batches of whatever is waiting: a call for ten costs as much as a call for
/// one.
pub(crate) async fn send_all(config: Arc<ConsumerConfig>, queue: Arc<dyn Queue>, mut statements: mpsc::Receiver<Said>) {
    let mut batch = Vec::with_capacity(BATCH_ENTRIES_MAX);
    while statements.recv_many(&mut batch, BATCH_ENTRIES_MAX).await > 0 {
        send(&config, &*queue, &batch).await;
        batch.clear();
    }
}

/// Sends up to ten receipts and notices. Gives up on those that the queue refuses.
pub(crate) async fn send(config: &ConsumerConfig, queue: &dyn Queue, said: &[Said]) {
    let Some(to) = &config.receipts else { return };
    let mut unsent: Vec<Outgoing> = said.iter().map(outgoing).collect();
    for attempt in 1..=ATTEMPTS_MAX {
        match queue.send_batch(to, &unsent).await {
            Ok(results) => {
                let retryable =
                    results.iter().map(|result| result.as_ref().is_err_and(|refused| !refused.sender_fault));
                unsent = unsent.into_iter().zip(retryable).filter(|(_, retry)| *retry).map(|(one, _)| one).collect();
            }
            Err(error) => {
                tracing::warn!(queue = %to, attempt, error = chain(&error), "sending receipts or notices failed");
            }
        }
        if unsent.is_empty() {
            return;
        }
        if attempt < ATTEMPTS_MAX {
            pause(config, attempt).await;
        }
    }
    tracing::warn!(queue = %to, count = unsent.len(), "gave up on receipts or notices; the office waits for the letters' windows instead");
}

fn outgoing(said: &Said) -> Outgoing {
    let body = match said {
        Said::Receipt(receipt) => receipt.print(),
        Said::Notice(notice) => notice.print(),
    };
    Outgoing { content: Content { body, ..Content::default() }, ..Outgoing::default() }
}
