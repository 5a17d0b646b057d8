//! Deletes handled and dead-lettered messages, in batches.

use crate::call::{ATTEMPTS_MAX, chain, pause};
use crate::config::ConsumerConfig;
use crate::receipt::Said;
use domain::id::MessageId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::replay::Receipt;
use queue::{EntryFailure, Queue};
use std::sync::Arc;
use tokio::sync::{mpsc, watch};

/// A settled message that remains to be deleted.
pub(crate) struct Delete {
    pub id: MessageId,
    pub handle: String,
    /// The receipt to send once the message is deleted.
    pub receipt: Option<Receipt>,
}

/// Deletes messages until the channel closes, in batches of whatever is waiting: a call for ten costs as much as a call
/// for one. After a shutdown, a queue that takes no deletes ends it: thousands may be waiting, each batch for half a minute.
pub(crate) async fn delete_all(
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    mut deletes: mpsc::Receiver<Delete>,
    receipts: mpsc::Sender<Said>,
    shutdown: watch::Receiver<bool>,
) {
    let mut batch = Vec::with_capacity(BATCH_ENTRIES_MAX);
    while deletes.recv_many(&mut batch, BATCH_ENTRIES_MAX).await > 0 {
        for attempt in 1..=ATTEMPTS_MAX {
            let handles: Vec<String> = batch.iter().map(|delete| delete.handle.clone()).collect();
            match queue.delete_batch(&config.queue, &handles).await {
                Ok(results) => {
                    let (deleted, to_repeat) = split(std::mem::take(&mut batch), &results);
                    batch = to_repeat;
                    // The channel is full only if the receipts queue is out of order, which is logged there.
                    deleted.into_iter().for_each(|receipt| drop(receipts.try_send(Said::Receipt(receipt))));
                }
                Err(error) => {
                    tracing::warn!(queue = %config.queue, attempt, error = chain(&error), "deleting messages failed");
                }
            }
            if batch.is_empty() {
                break;
            }
            pause(&config, attempt).await;
        }
        if !batch.is_empty() {
            tracing::error!(queue = %config.queue, count = batch.len(), "gave up on deleting messages; they will be received again");
            batch.clear();
            if *shutdown.borrow() || shutdown.has_changed().is_err() {
                return;
            }
        }
    }
}

/// Splits a batch into the receipts of deleted messages and the deletes to repeat. A refusal that is the sender's fault
/// is final: the handle is no longer valid, because the message is gone or was received elsewhere.
fn split(batch: Vec<Delete>, results: &[Result<(), EntryFailure>]) -> (Vec<Receipt>, Vec<Delete>) {
    let (mut receipts, mut to_repeat) = (Vec::new(), Vec::new());
    for (n, delete) in batch.into_iter().enumerate() {
        match results.get(n) {
            Some(Ok(())) => receipts.extend(delete.receipt),
            Some(Err(EntryFailure { sender_fault: true, .. })) => {}
            None | Some(Err(_)) => to_repeat.push(delete),
        }
    }
    (receipts, to_repeat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, config};
    use std::time::Duration;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_silent_queue_holds_up_a_shutdown_for_one_batch() {
        let queue = Arc::new(Fake::new(None));
        queue.hang(true);
        let silent: Arc<dyn Queue> = Arc::new(crate::timely::Timely(queue.clone()));
        let (deletes, to_delete) = mpsc::channel(100);
        for n in 0..100 {
            let handle = n.to_string();
            deletes.try_send(Delete { id: handle.as_str().into(), handle, receipt: None }).expect("room");
        }
        let ((close, shutdown), (receipts, _sent)) = (watch::channel(false), mpsc::channel(1));
        let deleting = tokio::spawn(delete_all(Arc::new(config()), silent, to_delete, receipts, shutdown));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        close.send_replace(true);
        deleting.await.expect("it ends");
        assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
        assert!(deletes.is_closed(), "handlers that wait to delete go on");
    }

    #[test]
    fn only_refusals_of_the_queue_are_repeated_and_only_deleted_messages_get_a_receipt() {
        let refused = |sender_fault| Err(EntryFailure { code: "c".into(), reason: "r".into(), sender_fault });
        let delete = |handle: &str| {
            let receipt = Receipt {
                v: 1,
                marker: handle.into(),
                message_id: handle.into(),
                consumer: "orders".into(),
                consumer_version: "v1".into(),
                processed_at: domain::time::Timestamp::from_ms(0),
                idempotent: false,
            };
            Delete { id: handle.into(), handle: handle.into(), receipt: Some(receipt) }
        };
        let batch = ["a", "b", "c", "d"].map(delete).into();
        let (receipts, to_repeat) = split(batch, &[Ok(()), refused(true), refused(false)]);
        assert_eq!(receipts.iter().map(|receipt| receipt.marker.as_str()).collect::<Vec<_>>(), ["a"]);
        assert_eq!(to_repeat.iter().map(|delete| delete.handle.as_str()).collect::<Vec<_>>(), ["c", "d"]);
    }
}
