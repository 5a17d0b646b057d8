//! The loop: receive, handle, settle, until told to stop.

use crate::config::ConsumerConfig;
use crate::failure::Failure;
use crate::panic::Caught;
use crate::receipt::{self, LAST_MAX, WAITING_MAX};
use crate::settle::{Case, Settler, chain, delete_all, pause, to_duration};
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

/// After so long the queue's attributes are read again: someone may have changed its redrive policy.
const ATTRIBUTES_AGE_MAX: Duration = Duration::from_secs(60);

/// What a team writes: the handling of one message. The same message may come more than once, as always with SQS.
#[async_trait]
pub trait Handler: Send + Sync {
    /// Handles a message, or says why not. Takes at most nine tenths of the queue's visibility timeout, then it is
    /// broken off as a transient failure: soon somebody else would receive the message.
    async fn handle(&self, received: &Received) -> Result<(), Failure>;
}

/// A consumer of one queue.
#[derive(Clone)]
pub struct Consumer {
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    handler: Arc<dyn Handler>,
}

impl Consumer {
    /// A consumer that gives the messages of `config.queue` to `handler`.
    pub fn new(config: ConsumerConfig, queue: Arc<dyn Queue>, handler: Arc<dyn Handler>) -> Self {
        Self { config: Arc::new(config), queue, handler }
    }

    /// Runs until `shutdown` becomes true or its sender is gone; then finishes what was received, and returns. No
    /// error ends it: a queue that fails is asked again with backoff.
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let (deletes, to_delete) = mpsc::channel(self.config.concurrency.max(BATCH_ENTRIES_MAX));
        let (receipts, to_tell) = mpsc::channel(WAITING_MAX);
        let mut teller = tokio::spawn(receipt::send_all(self.config.clone(), self.queue.clone(), to_tell));
        let deleter = tokio::spawn(delete_all(self.config.clone(), self.queue.clone(), to_delete, receipts));
        let settler = Arc::new(Settler { config: self.config.clone(), queue: self.queue.clone(), deletes });
        let mut rounds = Rounds {
            consumer: &self,
            settler,
            permits: Arc::new(Semaphore::new(self.config.concurrency.max(1))),
            working: JoinSet::new(),
            known: None,
        };
        let mut failures = 0;
        while !*shutdown.borrow() {
            tokio::select! {
                () = rounds.free() => {}
                _ = shutdown.wait_for(|stop| *stop) => break,
            }
            match rounds.round().await {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    tracing::warn!(queue = %self.config.queue, failures, error = chain(&error), "the queue failed");
                    tokio::select! {
                        () = pause(&self.config, failures) => {}
                        _ = shutdown.wait_for(|stop| *stop) => break,
                    }
                }
            }
        }
        while rounds.working.join_next().await.is_some() {}
        // The last sender of deletes goes with it, which ends the deleter once it has deleted all.
        drop(rounds);
        if let Err(error) = deleter.await {
            tracing::error!(queue = %self.config.queue, %error, "the deleter ended early");
        }
        if tokio::time::timeout(LAST_MAX, &mut teller).await.is_err() {
            teller.abort();
        }
    }
}

impl Consumer {
    /// Handles messages that somebody else receives and deletes, as Lambda's event source mapping does, and settles
    /// failures as [`Consumer::run`] does. Gives the messages that must not be deleted, for the mapping's answer
    /// (`batchItemFailures`); after an error that is all of them.
    pub async fn handle_batch(&self, messages: Vec<Received>) -> Result<Vec<MessageId>, QueueError> {
        let received_at = Instant::now();
        let attributes = self.queue.attributes(&self.config.queue).await?;
        let at_a_time = if attributes.fifo { 1 } else { self.config.concurrency.max(1) };
        let mut working = JoinSet::new();
        // What is not in here comes again, whatever happened to it.
        let mut settled = HashMap::new();
        let ids: Vec<MessageId> = messages.iter().map(|received| received.message_id.clone()).collect();
        for (before, received) in messages.into_iter().enumerate() {
            while working.len() >= at_a_time {
                settled.extend(working.join_next().await.and_then(Result::ok).flatten());
            }
            // Nothing of a FIFO queue may overtake what comes again.
            if attributes.fifo && settled.len() < before {
                break;
            }
            let case = Case { received, received_at, consumer_version: (self.config.version)() };
            working.spawn(self.clone().handle_one(case, attributes.clone()));
        }
        while let Some(done) = working.join_next().await {
            settled.extend(done.ok().flatten());
        }
        let telling = async {
            let receipts: Vec<Receipt> = settled.values().flatten().cloned().collect();
            for some in receipts.chunks(BATCH_ENTRIES_MAX) {
                receipt::send(&self.config, &*self.queue, some).await;
            }
        };
        // Lambda deletes the messages when this has ended.
        let _ = tokio::time::timeout(LAST_MAX, telling).await;
        Ok(ids.into_iter().filter(|id| !settled.contains_key(id)).collect())
    }

    /// The message's id if it may be deleted, and its receipt.
    async fn handle_one(self, case: Case, attributes: QueueAttributes) -> Option<(MessageId, Option<Receipt>)> {
        let (deletes, mut to_delete) = mpsc::channel(1);
        let settler = Settler { config: self.config, queue: self.queue, deletes };
        handle(&settler, &*self.handler, &case, &attributes).await;
        to_delete.try_recv().ok().map(|delete| (case.received.message_id, delete.receipt))
    }
}

/// The state of the loop.
struct Rounds<'a> {
    consumer: &'a Consumer,
    settler: Arc<Settler>,
    permits: Arc<Semaphore>,
    working: JoinSet<()>,
    known: Option<(QueueAttributes, Instant)>,
}

impl Rounds<'_> {
    /// Returns when at least one more message may be handled.
    async fn free(&mut self) {
        while self.permits.available_permits() == 0 {
            self.working.join_next().await;
        }
        while self.working.try_join_next().is_some() {}
    }

    /// One receive, and the start of all that it brings.
    async fn round(&mut self) -> Result<(), QueueError> {
        let config = &self.consumer.config;
        let attributes = self.attributes().await?;
        let max = match attributes.fifo {
            // Behind a message that is retried its group must wait. Two of one group in one receive would use up
            // receives of the second while the first is in the way, so FIFO queues are read one by one.
            true => 1,
            false => self.permits.available_permits().clamp(1, BATCH_ENTRIES_MAX),
        };
        let messages = self.consumer.queue.receive(&config.queue, max, config.wait, None).await?;
        let received_at = Instant::now();
        for received in messages {
            // The loop alone takes permits, and asked for no more messages than there were.
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
        match &self.known {
            Some((attributes, read_at)) if fresh(read_at) => Ok(attributes.clone()),
            known => {
                let attributes = match (self.consumer.queue.attributes(queue).await, known) {
                    (Ok(attributes), _) => attributes,
                    (Err(error), Some((old, _))) => {
                        tracing::warn!(%queue, error = chain(&error), "the old attributes stay in use");
                        old.clone()
                    }
                    (Err(error), None) => return Err(error),
                };
                self.known = Some((attributes.clone(), Instant::now()));
                Ok(attributes)
            }
        }
    }
}

async fn handle(settler: &Settler, handler: &dyn Handler, case: &Case, attributes: &QueueAttributes) {
    let limit = match attributes.visibility_timeout {
        // A queue that never hides its messages sets no limit by that.
        Span::ZERO => Span::from_secs(VISIBILITY_S_MAX),
        visible_again => Span::from_ms(visible_again.as_ms() / 10 * 9),
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
