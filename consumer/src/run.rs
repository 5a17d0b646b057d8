//! The consumer's loop: receive, handle, settle, until shutdown.

use crate::call::{chain, log_panic, pause};
use crate::case::Case;
use crate::clock::to_duration;
use crate::config::ConsumerConfig;
use crate::delete::{Delete, delete_all};
use crate::handle::{Halt, Handler, handle};
use crate::problem::Problem;
use crate::receipt::{self, FLUSH_MAX, Said, WAITING_MAX};
use crate::settle::{Load, Settler, locked};
use crate::timely::Timely;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::time::Span;
use queue::{Queue, QueueAttributes, QueueError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// The age at which the attributes of the queue and its dead-letter queues are read again, in case they were changed.
const ATTRIBUTES_AGE_MAX: Duration = Duration::from_secs(60);
/// How long attributes that are known already may take to be read again.
const REREAD_MAX: Duration = Duration::from_secs(1);
/// The longest wait of a receive (SQS's `WaitTimeSeconds`).
const WAIT_MAX: Span = Span::from_secs(20);
/// The most messages that wait to be deleted. With more, their handlers wait: the queue is out of order.
const DELETES_MAX: usize = 1_000;

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
    pub(crate) config: Arc<ConsumerConfig>,
    pub(crate) queue: Arc<dyn Queue>,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) load: Arc<Load>,
}

impl Consumer {
    /// Creates a consumer that passes the messages of `config.queue` to `handler`. A call to the queue without an answer
    /// counts as failed: a receive 30 s beyond its wait, a send after 10 s, a delete and a change of visibility after 5 s.
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
        let queue: Arc<dyn Queue> = Arc::new(Timely(queue));
        let load = Arc::new(Load::new(&config, queue.clone()));
        Self { config: Arc::new(config), queue, handler, load }
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
        let (deletes, to_delete) = mpsc::channel(self.config.concurrency.clamp(BATCH_ENTRIES_MAX, DELETES_MAX));
        let (receipts, to_send) = mpsc::channel(WAITING_MAX);
        let mut sender = tokio::spawn(receipt::send_all(self.config.clone(), self.queue.clone(), to_send));
        let deleting =
            delete_all(self.config.clone(), self.queue.clone(), to_delete, receipts.clone(), shutdown.clone());
        let deleter = tokio::spawn(deleting);
        let settler = Arc::new(self.settler(deletes, receipts));
        let halt = watch::Sender::default();
        let mut rounds = Rounds { consumer: &self, settler, halt, working: JoinSet::new() };
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
    pub(crate) fn settler(&self, deletes: mpsc::Sender<Delete>, said: mpsc::Sender<Said>) -> Settler {
        Settler { config: self.config.clone(), queue: self.queue.clone(), deletes, said, load: self.load.clone() }
    }

    /// Looks at the queues and strategies, and returns what is wrong with them. [`Consumer::run`] and
    /// [`Consumer::handle_batch`] do so too, and log it once a minute; call this where a mistake should keep the process from
    /// starting.
    ///
    /// ```no_run
    /// # use consumer::{Consumer, queue::QueueError};
    /// async fn is_complete(consumer: &Consumer) -> Result<bool, QueueError> {
    ///     Ok(consumer.check().await?.is_empty())
    /// }
    /// ```
    pub async fn check(&self) -> Result<Vec<Problem>, QueueError> {
        let attributes = self.queue.attributes(&self.config.queue).await?;
        Ok(self.problems(&attributes).await)
    }

    async fn problems(&self, attributes: &QueueAttributes) -> Vec<Problem> {
        let unused = self.config.strategies.unused();
        let unused = unused.map(|message_type| Problem::UnusedStrategy { message_type: message_type.into() });
        let mut problems: Vec<Problem> = unused.collect();
        problems.extend(self.load.dlqs.look(&*self.queue, &self.config, attributes).await);
        problems
    }

    /// Returns the attributes of the main queue, of this minute if it answers. Where it does not, old ones stay in use: they
    /// rarely change, and messages wait.
    pub(crate) async fn attributes(&self) -> Result<QueueAttributes, QueueError> {
        let queue = &self.config.queue;
        let known = locked(&self.load.attributes).clone();
        let stays = |error: String| tracing::warn!(%queue, error, "reading the queue's attributes failed; the old ones stay in use");
        let attributes = match known {
            None => self.queue.attributes(queue).await?,
            Some((attributes, read_at)) if read_at.elapsed() < ATTRIBUTES_AGE_MAX => return Ok(attributes),
            Some((old, _)) => match tokio::time::timeout(REREAD_MAX, self.queue.attributes(queue)).await {
                Ok(Ok(attributes)) => attributes,
                Ok(Err(error)) => {
                    stays(chain(&error));
                    old
                }
                Err(_) => {
                    stays(format!("no answer within {} ms", REREAD_MAX.as_millis()));
                    old
                }
            },
        };
        *locked(&self.load.attributes) = Some((attributes.clone(), Instant::now()));
        Ok(attributes)
    }

    /// Looks at the dead-letter queues beside the work, if that was not done for a minute.
    pub(crate) fn look_again(&self, attributes: &QueueAttributes) -> Option<JoinHandle<()>> {
        if !self.load.dlqs.is_due(ATTRIBUTES_AGE_MAX) {
            return None;
        }
        let (consumer, attributes) = (self.clone(), attributes.clone());
        Some(tokio::spawn(async move {
            for problem in consumer.problems(&attributes).await {
                match problem {
                    Problem::NoDeadLetterQueue { .. } => tracing::warn!("{problem}"),
                    problem => tracing::error!("{problem}"),
                }
            }
        }))
    }
}

/// The loop's state.
struct Rounds<'a> {
    consumer: &'a Consumer,
    settler: Arc<Settler>,
    /// Whether running handlers must stop.
    halt: watch::Sender<Halt>,
    working: JoinSet<()>,
}

impl Rounds<'_> {
    /// Waits until at least one more message may be handled.
    async fn wait_for_capacity(&mut self) {
        while let Some(ended) = self.working.try_join_next() {
            log_panic(&self.consumer.config.queue, ended);
        }
        while self.capacity() == 0 {
            self.join().await;
        }
    }

    /// Waits for one message; returns false if none is left.
    async fn join(&mut self) -> bool {
        let ended = self.working.join_next().await;
        ended.map(|ended| log_panic(&self.consumer.config.queue, ended)).is_some()
    }

    /// Returns how many more messages may be handled now.
    fn capacity(&self) -> usize {
        self.consumer.load.concurrency(&self.consumer.config).saturating_sub(self.working.len())
    }

    /// Waits for the running handlers; cancels those that take longer than the configured time.
    async fn drain(&mut self) {
        let drain_max = self.consumer.config.drain_max;
        let drained = async { while self.join().await {} };
        let Some(drain_max) = drain_max else { return drained.await };
        if tokio::time::timeout(to_duration(drain_max), drained).await.is_err() {
            self.halt.send_replace(Halt::Shutdown);
            while self.join().await {}
        }
    }

    /// Receives once and starts a handler for each message.
    async fn round(&mut self) -> Result<(), QueueError> {
        let config = &self.consumer.config;
        let attributes = self.consumer.attributes().await?;
        // It ends by itself, within the time limits of its calls.
        drop(self.consumer.look_again(&attributes));
        let max = match attributes.fifo {
            // A message group waits behind a message that is retried. If one receive returned two messages of a group,
            // the second would use up its receives while the first blocks it, so FIFO queues are read one by one.
            true => 1,
            false => self.capacity().clamp(1, BATCH_ENTRIES_MAX),
        };
        let wait = config.wait.clamp(Span::ZERO, WAIT_MAX);
        let messages = self.consumer.queue.receive(&config.queue, max, wait, None).await?;
        let received_at = std::time::Instant::now();
        for received in messages {
            let case = Case::new(received, received_at, config.running_version());
            let (settler, handler) = (self.settler.clone(), self.consumer.handler.clone());
            let (attributes, halt) = (attributes.clone(), self.halt.subscribe());
            self.working.spawn(async move { handle(&settler, &*handler, case, &attributes, halt).await });
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
