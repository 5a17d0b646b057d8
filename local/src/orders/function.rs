//! The demo service as a Lambda function: the same consumer, with messages from an event source mapping.
//!
//! `SERVICE_VERSION` in the function's environment sets the version, so changing it is a deployment. With an unknown
//! version the function does not start. The queue's own redrive policy then dead-letters its messages without a stamp.

#[cfg(test)]
mod tests;

use super::paying::{Payer, Paying};
use super::service::{Service, idempotency_key, message_type};
use super::state::State;
use super::version::Version;
use super::{Kind, Mix, SERVICE, generate};
use consumer::dynamodb::DynamoStore;
use consumer::lambda::{Answer, Batch};
use consumer::once::{Once, OnceStore};
use consumer::{Consumer, ConsumerConfig};
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::{Span, Timestamp};
use lambda::queue::SqsQueue;
use lambda::{connect, function, settings};
use queue::{EntryFailure, Outgoing, Queue, QueueError};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How long one attempt to pay may take, and how long its key is leased. The work is the write of its record, so a function
/// that dies at it blocks the order for no longer than that.
const PATIENCE: Span = Span::from_secs(3);

/// Handles events until the platform ends the process.
pub async fn run() -> Result<(), function::Error> {
    function::log();
    let version: Version = settings::required("SERVICE_VERSION")?.parse()?;
    let main = QueueArn::new(settings::required("ORDERS_QUEUE")?);
    let receipts = settings::optional("ORDERS_RECEIPTS").map(QueueArn::new);
    let config = ConsumerConfig::new(main, SERVICE, move || version.to_string());
    let connection = connect::from_env().await;
    let payments = DynamoStore::with_config(&connection, settings::required("ORDERS_PAYMENTS")?);
    let queue = Arc::new(SqsQueue::new(&connection));
    let consumer = consumer(ConsumerConfig { receipts, ..config }, version, queue, Arc::new(payments));
    function::answer(|batch, ends_at| answer(consumer.clone(), batch, ends_at)).await
}

/// Answers an event before the platform ends the invocation.
async fn answer(consumer: Consumer, batch: Batch, ends_at: Timestamp) -> Result<Answer, function::Error> {
    let since_epoch = Duration::from_millis(u64::try_from(ends_at.as_ms()).unwrap_or_default());
    Ok(consumer.handle_event(batch, SystemTime::UNIX_EPOCH + since_epoch).await?)
}

/// The payment is what the store keeps for the order's key, so an order is paid once.
fn consumer(config: ConsumerConfig, version: Version, queue: Arc<dyn Queue>, payments: Arc<dyn OnceStore>) -> Consumer {
    let now = config.now.clone();
    let clock = now.clone();
    let payer = Payer::Kept(Once::new(payments, PATIENCE).with_clock(move || clock()));
    let paying = Paying::new(payer, PATIENCE, now.clone());
    let dependencies = vec![paying.dependency()];
    let config = ConsumerConfig { message_type, idempotency_key, idempotent: |_| true, dependencies, ..config };
    let state = State { version, ..State::default() };
    Consumer::new(config, queue, Arc::new(Service { state: Arc::new(move || state.clone()), now, paying }))
}

/// Placing the orders failed.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The queue did not accept a batch.
    #[error("placing the orders failed")]
    Queue(#[from] QueueError),
    /// The queue refused an order.
    #[error("the queue refused an order")]
    Refused(#[from] EntryFailure),
}

/// Places `count` orders of one kind, or of the usual mix.
pub async fn place(
    queue: &dyn Queue,
    main: &QueueArn,
    count: u64,
    kind: Option<Kind>,
    now: Timestamp,
) -> Result<(), PlaceError> {
    let mix = kind.map_or(Mix::Usual, Mix::Only);
    // Derives the numbers from the time, so that each call places different orders.
    let first = now.as_ms().cast_unsigned() % 1_000_000;
    let numbers: Vec<u64> = (first..first + count).collect();
    for batch in numbers.chunks(BATCH_ENTRIES_MAX) {
        let orders: Vec<Outgoing> = batch.iter().map(|number| generate(main, first, *number, mix, now)).collect();
        for sent in queue.send_batch(main, &orders).await? {
            sent?;
        }
    }
    Ok(())
}
