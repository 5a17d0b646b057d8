//! The demo service as a Lambda function: the same consumer, with messages from an event source mapping.
//!
//! `SERVICE_VERSION` in the function's environment sets the version, so changing it is a deployment. With an unknown
//! version the function does not start. The queue's own redrive policy then dead-letters its messages without a stamp.

use super::service::{Service, idempotency_key, message_type};
use super::state::State;
use super::version::Version;
use super::{Kind, Mix, SERVICE, generate};
use consumer::lambda::Batch;
use consumer::{Consumer, ConsumerConfig};
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Timestamp;
use lambda::queue::SqsQueue;
use lambda::{connect, function, settings};
use queue::{EntryFailure, Outgoing, Queue, QueueError};
use std::sync::Arc;

/// Handles events until the platform ends the process.
pub async fn run() -> Result<(), function::Error> {
    function::log();
    let version: Version = settings::required("SERVICE_VERSION")?.parse()?;
    let main = QueueArn::new(settings::required("ORDERS_QUEUE")?);
    let receipts = settings::optional("ORDERS_RECEIPTS").map(QueueArn::new);
    let config = ConsumerConfig::new(main, SERVICE, move || version.to_string());
    // It has no payment service and changes nothing, so handling an order twice does no harm.
    let config = ConsumerConfig { message_type, idempotency_key, idempotent: |_| true, receipts, ..config };
    let state = State { version, ..State::default() };
    let service = Service { state: Arc::new(move || state.clone()), now: config.now.clone(), payments: None };
    let queue = Arc::new(SqsQueue::new(&connect::from_env().await));
    let consumer = Consumer::new(config, queue, Arc::new(service));
    function::answer(|batch: Batch, _| {
        let consumer = consumer.clone();
        async move { Ok(consumer.handle_event(batch).await?) }
    })
    .await
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
