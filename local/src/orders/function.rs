//! The demo service as a function on AWS: the same consumer, handed its messages by an event source mapping.
//!
//! A deployment is a change of its environment: `SERVICE_VERSION` is what runs. A version that does not exist is one
//! that does not start, so that its messages die by the queue's own redrive, with nothing said of why.

use super::service::{Service, message_type};
use super::state::State;
use super::version::Version;
use super::{Kind, Mix, SERVICE, generate};
use consumer::{Consumer, ConsumerConfig};
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Timestamp;
use lambda::batch::{Answer, Batch};
use lambda::queue::SqsQueue;
use lambda::{connect, function, settings};

use queue::{EntryFailure, Outgoing, Queue, QueueError};
use std::sync::Arc;

/// Answers events until the platform ends the process.
pub async fn run() -> Result<(), function::Error> {
    function::log();
    let version: Version = settings::required("SERVICE_VERSION")?.parse()?;
    let main = QueueArn::new(settings::required("ORDERS_QUEUE")?);
    let receipts = settings::optional("ORDERS_RECEIPTS").map(QueueArn::new);
    let config = ConsumerConfig::new(main, SERVICE, move || version.to_string());
    let config = ConsumerConfig { message_type, receipts, ..config };
    let state = State { version, ..State::default() };
    let service = Service { state: Arc::new(move || state.clone()), now: config.now.clone(), payments: None };
    let queue = Arc::new(SqsQueue::new(&connect::from_env().await));
    let consumer = Consumer::new(config, queue, Arc::new(service));
    function::answer(|batch: Batch| {
        let consumer = consumer.clone();
        async move {
            let failed = consumer.handle_batch(batch.received()).await?;
            Ok(Answer::failing(failed))
        }
    })
    .await
}

/// The orders could not be sent.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// The queue did not take a batch.
    #[error("the orders could not be placed")]
    Queue(#[from] QueueError),
    /// The queue refused an order.
    #[error("an order was refused")]
    Refused(#[from] EntryFailure),
}

/// Places `count` orders: of one kind, or as in a bad week.
pub async fn place(
    queue: &dyn Queue,
    main: &QueueArn,
    count: u64,
    kind: Option<Kind>,
    now: Timestamp,
) -> Result<(), PlaceError> {
    let mix = kind.map_or(Mix::Usual, Mix::Only);
    // Other numbers at each call: an order is placed once.
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
