//! The consumer's loop: receive, handle, settle, until shutdown.

use crate::call::{chain, pause, to_duration};
use crate::case::Case;
use crate::config::ConsumerConfig;
use crate::failure::Failure;
use crate::panic::Caught;
use crate::receipt::{self, FLUSH_MAX, WAITING_MAX};
use crate::settle::{Settler, delete_all};
use async_trait::async_trait;
use domain::id::MessageId;
use domain::limits::{BATCH_ENTRIES_MAX, VISIBILITY_S_MAX};
use domain::reading::Class;
use domain::replay::Receipt;
use domain::time::Span;
use queue::{Queue, QueueAttributes, QueueError, Received};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

/// The age at which the queue's attributes are read again, in case its redrive policy was changed.
const ATTRIBUTES_AGE_MAX: Duration = Duration::from_secs(60);

/// Processes one message. Must tolerate duplicates: SQS may deliver the same message more than once.
///
/// ```
/// use consumer::{Classify, Failure, Handler, here};
/// use queue::Received;
///
/// struct Shipping;
///
/// #[async_trait::async_trait]
/// impl Handler for Shipping {
///     async fn handle(&self, received: &Received) -> Result<(), Failure> {
///         let order_id: u64 = received.content.body.parse().permanent(here!())?;
///         tracing::info!(order_id, "shipped");
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Handler: Send + Sync {
    /// Handles a message, or returns why it failed. The consumer cancels a handler after nine tenths of the queue's
    /// visibility timeout and records a transient failure, because another consumer would soon receive the message.
    async fn handle(&self, received: &Received) -> Result<(), Failure>;
}

/// A consumer of one queue. The crate's documentation has an example.
#[derive(Clone)]
pub struct Consumer {
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    handler: Arc<dyn Handler>,
}

impl Consumer {
    /// Creates a consumer that passes the messages of `config.queue` to `handler`.
    pub fn new(config: ConsumerConfig, queue: Arc<dyn Queue>, handler: Arc<dyn Handler>) -> Self {
        Self { config: Arc::new(config), queue, handler }
    }

    /// Runs until `shutdown` becomes true or its sender is dropped, then finishes the received messages and returns.
    /// Errors never end it: calls to a failing queue are repeated with backoff.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let (deletes, to_delete) = mpsc::channel(self.config.concurrency.max(BATCH_ENTRIES_MAX));
        let (receipts, to_send) = mpsc::channel(WAITING_MAX);
        let mut sender = tokio::spawn(receipt::send_all(self.config.clone(), self.queue.clone(), to_send));
        let deleter = tokio::spawn(delete_all(self.config.clone(), self.queue.clone(), to_delete, receipts));
        let settler = Arc::new(Settler { config: self.config.clone(), queue: self.queue.clone(), deletes });
        let mut rounds = Rounds {
            consumer: &self,
            settler,
            permits: Arc::new(Semaphore::new(self.config.concurrency.max(1))),
            working: JoinSet::new(),
            attributes: None,
        };
        let mut failures = 0;
        while !*shutdown.borrow() {
            tokio::select! {
                () = rounds.wait_for_capacity() => {}
                _ = shutdown.wait_for(|shutdown| *shutdown) => break,
            }
            match rounds.round().await {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(queue = %self.config.queue, failures, error = chain(&error), "receiving failed");
                    tokio::select! {
                        () = pause(&self.config, failures) => {}
                        _ = shutdown.wait_for(|shutdown| *shutdown) => break,
                    }
                }
            }
        }
        while rounds.working.join_next().await.is_some() {}
        // Drops the last sender of deletes, so the deleter ends once it has deleted everything.
        drop(rounds);
        if let Err(error) = deleter.await {
            tracing::error!(queue = %self.config.queue, %error, "the delete task ended early");
        }
        if tokio::time::timeout(FLUSH_MAX, &mut sender).await.is_err() {
            sender.abort();
        }
    }
}

impl Consumer {
    /// Handles messages that another process receives and deletes, such as Lambda's event source mapping. Settles
    /// failures as [`Consumer::run`] does.
    ///
    /// Returns the ids of the messages that must not be deleted, for the response to the mapping
    /// (`batchItemFailures`). After an error, no message of the batch may be deleted.
    ///
    /// ```no_run
    /// # use consumer::Consumer;
    /// # use domain::id::MessageId;
    /// # use queue::{QueueError, Received};
    /// async fn on_event(consumer: &Consumer, messages: Vec<Received>) -> Result<Vec<MessageId>, QueueError> {
    ///     let failed = consumer.handle_batch(messages).await?;
    ///     tracing::info!(count = failed.len(), "messages to receive again");
    ///     Ok(failed)
    /// }
    /// ```
    pub async fn handle_batch(&self, messages: Vec<Received>) -> Result<Vec<MessageId>, QueueError> {
        let received_at = Instant::now();
        let attributes = self.queue.attributes(&self.config.queue).await?;
        let at_a_time = if attributes.fifo { 1 } else { self.config.concurrency.max(1) };
        let mut working = JoinSet::new();
        // Messages that are not in here are received again, whatever happened to them.
        let mut settled = HashMap::new();
        let ids: Vec<MessageId> = messages.iter().map(|received| received.message_id.clone()).collect();
        for (before, received) in messages.into_iter().enumerate() {
            while working.len() >= at_a_time {
                settled.extend(working.join_next().await.and_then(Result::ok).flatten());
            }
            // On a FIFO queue nothing may overtake a message that is received again.
            if attributes.fifo && settled.len() < before {
                break;
            }
            let case = Case { received, received_at, consumer_version: (self.config.version)() };
            working.spawn(self.clone().handle_one(case, attributes.clone()));
        }
        while let Some(done) = working.join_next().await {
            settled.extend(done.ok().flatten());
        }
        let send_receipts = async {
            let receipts: Vec<Receipt> = settled.values().flatten().cloned().collect();
            for batch in receipts.chunks(BATCH_ENTRIES_MAX) {
                receipt::send(&self.config, &*self.queue, batch).await;
            }
        };
        // Lambda deletes the messages only after this returns, so the wait is limited.
        let _ = tokio::time::timeout(FLUSH_MAX, send_receipts).await;
        Ok(ids.into_iter().filter(|id| !settled.contains_key(id)).collect())
    }

    /// Returns the message's id and receipt if it may be deleted.
    async fn handle_one(self, case: Case, attributes: QueueAttributes) -> Option<(MessageId, Option<Receipt>)> {
        let (deletes, mut to_delete) = mpsc::channel(1);
        let settler = Settler { config: self.config, queue: self.queue, deletes };
        handle(&settler, &*self.handler, &case, &attributes).await;
        to_delete.try_recv().ok().map(|delete| (case.received.message_id, delete.receipt))
    }
}

/// The loop's state.
struct Rounds<'a> {
    consumer: &'a Consumer,
    settler: Arc<Settler>,
    permits: Arc<Semaphore>,
    working: JoinSet<()>,
    attributes: Option<(QueueAttributes, Instant)>,
}

impl Rounds<'_> {
    /// Waits until at least one more message may be handled.
    async fn wait_for_capacity(&mut self) {
        while self.permits.available_permits() == 0 {
            self.working.join_next().await;
        }
        while self.working.try_join_next().is_some() {}
    }

    /// Receives once and starts a handler for each message.
    async fn round(&mut self) -> Result<(), QueueError> {
        let config = &self.consumer.config;
        let attributes = self.attributes().await?;
        let max = match attributes.fifo {
            // A message group waits behind a message that is retried. If one receive returned two messages of a group,
            // the second would use up its receives while the first blocks it, so FIFO queues are read one by one.
            true => 1,
            false => self.permits.available_permits().clamp(1, BATCH_ENTRIES_MAX),
        };
        let messages = self.consumer.queue.receive(&config.queue, max, config.wait, None).await?;
        let received_at = Instant::now();
        for received in messages {
            // Only this loop takes permits, and it received no more messages than there are permits.
            let Ok(permit) = self.permits.clone().acquire_owned().await else { return Ok(()) };
            let case = Case { received, received_at, consumer_version: (config.version)() };
            let (settler, handler) = (self.settler.clone(), self.consumer.handler.clone());
            let attributes = attributes.clone();
            self.working.spawn(async move {
                handle(&settler, &*handler, &case, &attributes).await;
                drop(permit);
            });
        }
        Ok(())
    }

    async fn attributes(&mut self) -> Result<QueueAttributes, QueueError> {
        let queue = &self.consumer.config.queue;
        let fresh = |read_at: &Instant| read_at.elapsed() < ATTRIBUTES_AGE_MAX;
        match &self.attributes {
            Some((attributes, read_at)) if fresh(read_at) => Ok(attributes.clone()),
            cached => {
                let attributes = match (self.consumer.queue.attributes(queue).await, cached) {
                    (Ok(attributes), _) => attributes,
                    (Err(error), Some((old, _))) => {
                        tracing::warn!(%queue, error = chain(&error), "reading the queue's attributes failed; the old ones stay in use");
                        old.clone()
                    }
                    (Err(error), None) => return Err(error),
                };
                self.attributes = Some((attributes.clone(), Instant::now()));
                Ok(attributes)
            }
        }
    }
}

async fn handle(settler: &Settler, handler: &dyn Handler, case: &Case, attributes: &QueueAttributes) {
    let limit = match attributes.visibility_timeout {
        // A visibility timeout of zero sets no limit for the handler.
        Span::ZERO => Span::from_secs(VISIBILITY_S_MAX),
        timeout => Span::from_ms(timeout.as_ms() / 10 * 9),
    };
    let handling = Caught(handler.handle(&case.received));
    let failure = match tokio::time::timeout(to_duration(limit), handling).await {
        Ok(Ok(Ok(()))) => return settler.succeeded(case).await,
        Ok(Ok(Err(failure))) => failure,
        Ok(Err(panicked)) => panicked.into_failure(Class::Unknown),
        Err(_) => Failure::transient(
            "consumer::HandlerTimeout",
            format!("the handler did not finish within {} ms", limit.as_ms()),
        ),
    };
    settler.failed(case, failure, attributes).await;
}
