//! The consumer's loop: receive, handle, settle, until shutdown.

use crate::call::{chain, pause};
use crate::case::Case;
use crate::clock::to_duration;
use crate::config::ConsumerConfig;
use crate::delete::{Delete, delete_all};
use crate::handle::{Handler, handle};
use crate::receipt::{self, FLUSH_MAX, Said, WAITING_MAX};
use crate::settle::{Load, Settler};
use crate::timely::Timely;
use domain::id::MessageId;
use domain::limits::BATCH_ENTRIES_MAX;
use queue::{Queue, QueueAttributes, QueueError, Received};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

/// The age at which the queue's attributes are read again, in case its redrive policy was changed.
const ATTRIBUTES_AGE_MAX: Duration = Duration::from_secs(60);

/// A consumer of one queue.
///
/// ```no_run
/// use consumer::queue::Queue;
/// use consumer::{Consumer, ConsumerConfig, Handler};
/// use std::sync::Arc;
///
/// async fn consume(queue: Arc<dyn Queue>, handler: Arc<dyn Handler>, shutdown: tokio::sync::watch::Receiver<bool>) {
///     let main = "arn:aws:sqs:eu-west-1:111122223333:orders".into();
///     let config = ConsumerConfig::new(main, "orders", || env!("CARGO_PKG_VERSION").into());
///     Consumer::new(config, queue, handler).run(shutdown).await;
/// }
/// ```
#[derive(Clone)]
pub struct Consumer {
    config: Arc<ConsumerConfig>,
    queue: Arc<dyn Queue>,
    handler: Arc<dyn Handler>,
    load: Arc<Load>,
}

impl Consumer {
    /// Creates a consumer that passes the messages of `config.queue` to `handler`. A call to the queue without an answer
    /// for 30 s (a receive: beyond its wait) counts as failed.
    ///
    /// ```
    /// # use consumer::{Consumer, ConsumerConfig, Handler, queue::Queue};
    /// # use std::sync::Arc;
    /// fn consumer(queue: Arc<dyn Queue>, handler: Arc<dyn Handler>) -> Consumer {
    ///     let main = "arn:aws:sqs:eu-west-1:111122223333:orders".into();
    ///     Consumer::new(ConsumerConfig::new(main, "orders", || "7".into()), queue, handler)
    /// }
    /// ```
    pub fn new(config: ConsumerConfig, queue: Arc<dyn Queue>, handler: Arc<dyn Handler>) -> Self {
        let load = Arc::new(Load::new(&config));
        Self { config: Arc::new(config), queue: Arc::new(Timely(queue)), handler, load }
    }

    /// Runs until `shutdown` becomes true or its sender is dropped, then finishes the received messages and returns.
    /// Errors never end it: calls to a failing queue are repeated with backoff.
    ///
    /// [`ConsumerConfig::cancel_receive`] and [`ConsumerConfig::drain_max`] limit how long the shutdown takes.
    ///
    /// ```no_run
    /// # use consumer::Consumer;
    /// async fn until_ctrl_c(consumer: Consumer) -> std::io::Result<()> {
    ///     let (close, shutdown) = tokio::sync::watch::channel(false);
    ///     let running = tokio::spawn(consumer.run(shutdown));
    ///     tokio::signal::ctrl_c().await?;
    ///     close.send_replace(true);
    ///     Ok(running.await?)
    /// }
    /// ```
    pub async fn run(self, mut shutdown: watch::Receiver<bool>) {
        let (deletes, to_delete) = mpsc::channel(self.config.concurrency.max(BATCH_ENTRIES_MAX));
        let (receipts, to_send) = mpsc::channel(WAITING_MAX);
        let mut sender = tokio::spawn(receipt::send_all(self.config.clone(), self.queue.clone(), to_send));
        let deleter = tokio::spawn(delete_all(self.config.clone(), self.queue.clone(), to_delete, receipts.clone()));
        let settler = Arc::new(self.settler(deletes, receipts));
        let (cancel, _) = watch::channel(false);
        let mut rounds = Rounds { consumer: &self, settler, cancel, working: JoinSet::new(), attributes: None };
        let mut failures = 0;
        while !*shutdown.borrow() {
            tokio::select! {
                () = rounds.wait_for_capacity() => {}
                _ = shutdown.wait_for(|shutdown| *shutdown) => break,
            }
            let received = tokio::select! {
                received = rounds.round() => received,
                _ = shutdown.wait_for(|shutdown| *shutdown), if self.config.cancel_receive => break,
            };
            match received {
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
        rounds.drain().await;
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
    fn settler(&self, deletes: mpsc::Sender<Delete>, said: mpsc::Sender<Said>) -> Settler {
        Settler { config: self.config.clone(), queue: self.queue.clone(), deletes, said, load: self.load.clone() }
    }

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
        let at_a_time = if attributes.fifo { 1 } else { self.load.concurrency(&self.config) };
        let (deletes, mut to_delete) = mpsc::channel(messages.len().max(1));
        let (said, mut noticed) = mpsc::channel(BATCH_ENTRIES_MAX);
        let settler = Arc::new(self.settler(deletes, said));
        let (_never, cancel) = watch::channel(false);
        let mut working = JoinSet::new();
        let ids: Vec<MessageId> = messages.iter().map(|received| received.message_id.clone()).collect();
        // Messages that are not in here are received again, whatever happened to them.
        let mut settled = HashMap::new();
        let mut settle = |settled: &mut HashMap<_, _>| {
            settled.extend(std::iter::from_fn(|| to_delete.try_recv().ok()).map(|delete| (delete.id, delete.receipt)));
        };
        // On a FIFO queue nothing may overtake a message of its group that is received again.
        let mut blocked = HashSet::new();
        let mut last: Option<(MessageId, Option<String>)> = None;
        for received in messages {
            while working.len() >= at_a_time {
                working.join_next().await;
                settle(&mut settled);
            }
            if attributes.fifo {
                blocked.extend(last.take().filter(|(id, _)| !settled.contains_key(id)).map(|(_, group)| group));
                let group = received.content.message_group_id.clone();
                if blocked.contains(&group) {
                    continue;
                }
                last = Some((received.message_id.clone(), group));
            }
            let case = Case::new(received, received_at, (self.config.version)());
            let (settler, handler, cancel) = (settler.clone(), self.handler.clone(), cancel.clone());
            let attributes = attributes.clone();
            working.spawn(async move { handle(&settler, &*handler, case, &attributes, cancel).await });
        }
        while working.join_next().await.is_some() {}
        settle(&mut settled);
        let send_receipts = async {
            let receipts = settled.values().flatten().cloned().map(Said::Receipt);
            let notices = std::iter::from_fn(|| noticed.try_recv().ok());
            let said: Vec<Said> = receipts.chain(notices).collect();
            for batch in said.chunks(BATCH_ENTRIES_MAX) {
                receipt::send(&self.config, &*self.queue, batch).await;
            }
        };
        // Lambda deletes the messages only after this returns, so the wait is limited.
        let _ = tokio::time::timeout(FLUSH_MAX, send_receipts).await;
        Ok(ids.into_iter().filter(|id| !settled.contains_key(id)).collect())
    }
}

/// The loop's state.
struct Rounds<'a> {
    consumer: &'a Consumer,
    settler: Arc<Settler>,
    /// Becomes true when running handlers must stop.
    cancel: watch::Sender<bool>,
    working: JoinSet<()>,
    attributes: Option<(QueueAttributes, Instant)>,
}

impl Rounds<'_> {
    /// Waits until at least one more message may be handled.
    async fn wait_for_capacity(&mut self) {
        while self.working.try_join_next().is_some() {}
        while self.capacity() == 0 {
            self.working.join_next().await;
        }
    }

    /// Returns how many more messages may be handled now.
    fn capacity(&self) -> usize {
        self.consumer.load.concurrency(&self.consumer.config).saturating_sub(self.working.len())
    }

    /// Waits for the running handlers; cancels those that take longer than the configured time.
    async fn drain(&mut self) {
        let drained = async { while self.working.join_next().await.is_some() {} };
        let Some(drain_max) = self.consumer.config.drain_max else { return drained.await };
        if tokio::time::timeout(to_duration(drain_max), drained).await.is_err() {
            self.cancel.send_replace(true);
            while self.working.join_next().await.is_some() {}
        }
    }

    /// Receives once and starts a handler for each message.
    async fn round(&mut self) -> Result<(), QueueError> {
        let config = &self.consumer.config;
        let attributes = self.attributes().await?;
        let max = match attributes.fifo {
            // A message group waits behind a message that is retried. If one receive returned two messages of a group,
            // the second would use up its receives while the first blocks it, so FIFO queues are read one by one.
            true => 1,
            false => self.capacity().clamp(1, BATCH_ENTRIES_MAX),
        };
        let messages = self.consumer.queue.receive(&config.queue, max, config.wait, None).await?;
        let received_at = Instant::now();
        for received in messages {
            let case = Case::new(received, received_at, (config.version)());
            let (settler, handler) = (self.settler.clone(), self.consumer.handler.clone());
            let (attributes, cancel) = (attributes.clone(), self.cancel.subscribe());
            self.working.spawn(async move { handle(&settler, &*handler, case, &attributes, cancel).await });
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
