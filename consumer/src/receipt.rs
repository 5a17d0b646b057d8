//! Receipts: telling the office that a message which it had sent back was processed.
//!
//! A receipt goes out after its message was deleted: whoever fails before that gets the message again, and nothing was
//! claimed. (Lambda deletes when the function has ended and nothing of ours runs any more, so there it goes out just
//! before.) It is the least important thing here. It never makes a message wait or fail, and one that is lost costs
//! only time: the office then judges the letter by its window.

use crate::config::ConsumerConfig;
use crate::settle::{Case, chain, pause};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::MARKER_ATTRIBUTE;
use domain::message::Content;
use domain::replay::{RECEIPT_VERSION, Receipt};
use queue::{Outgoing, Queue};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Receipts that may wait to be sent; when there are more, the queue of receipts is out of order and they are dropped.
pub(crate) const WAITING_MAX: usize = 1_000;
/// Tries of one call.
const CALLS_MAX: u32 = 2;
/// How long the end of a consumer, or of a batch of Lambda's, waits for receipts that are still to be sent.
pub(crate) const LAST_MAX: Duration = Duration::from_secs(3);

/// The receipt of a message that was processed; none where nobody asks for one or the message is no replay's.
pub(crate) fn of(config: &ConsumerConfig, case: &Case) -> Option<Receipt> {
    config.receipts.as_ref()?;
    let marker = case.received.content.attributes.get(MARKER_ATTRIBUTE)?.as_text()?;
    let receipt = Receipt {
        v: RECEIPT_VERSION,
        marker: marker.into(),
        message_id: case.received.message_id.clone(),
        consumer: config.consumer.clone(),
        consumer_version: case.consumer_version.clone(),
        processed_at: (config.now)(),
    };
    receipt.sending().map(|_| receipt)
}

/// Sends receipts, as many at a time as have come together: one call for ten costs what one for one costs.
pub(crate) async fn send_all(
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    mut receipts: mpsc::Receiver<Receipt>,
) {
    let mut batch = Vec::with_capacity(BATCH_ENTRIES_MAX);
    while receipts.recv_many(&mut batch, BATCH_ENTRIES_MAX).await > 0 {
        send(&config, &*queue, &batch).await;
        batch.clear();
    }
}

/// Sends up to ten receipts. What cannot be sent is given up.
pub(crate) async fn send(config: &ConsumerConfig, queue: &dyn Queue, receipts: &[Receipt]) {
    let Some(to) = &config.receipts else { return };
    let mut left: Vec<Outgoing> = receipts.iter().map(outgoing).collect();
    for call in 1..=CALLS_MAX {
        match queue.send_batch(to, &left).await {
            Ok(answers) => {
                let refused = answers.iter().map(|answer| answer.as_ref().is_err_and(|refused| !refused.sender_fault));
                left = left.into_iter().zip(refused).filter(|(_, refused)| *refused).map(|(one, _)| one).collect();
            }
            Err(error) => {
                tracing::warn!(queue = %to, call, error = chain(&error), "receipts could not be sent");
            }
        }
        if left.is_empty() {
            return;
        }
        if call < CALLS_MAX {
            pause(config, call).await;
        }
    }
    tracing::warn!(queue = %to, count = left.len(), "receipts are given up; the office waits for the windows instead");
}

fn outgoing(receipt: &Receipt) -> Outgoing {
    Outgoing { content: Content { body: receipt.print(), ..Content::default() }, ..Outgoing::default() }
}
