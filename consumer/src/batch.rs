//! Batches that another process receives and deletes, such as Lambda's event source mapping. It ends in time: what it cannot
//! finish before the platform ends the invocation goes back to the queue.

use crate::call::log_panic;
use crate::case::Case;
use crate::clock::{from_system, to_duration};
use crate::handle::{Halt, give_back, handle};
use crate::receipt::{self, FLUSH_MAX, Said};
use crate::run::Consumer;
use crate::settle::Settler;
use domain::id::MessageId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::replay::Receipt;
use domain::time::Span;
use queue::{QueueAttributes, QueueError, Received};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The part of its time that a batch keeps for giving messages back: one in this many, within the following bounds.
const RESERVE: u32 = 10;
/// Ten calls to SQS at once, with a TLS handshake.
const RESERVE_MIN: Duration = Duration::from_millis(500);
/// As long as a call to SQS that changes a visibility may take.
const RESERVE_MAX: Duration = Duration::from_secs(5);
/// The part of the reserve in which the answer must reach the platform: one in this many.
const ANSWER: u32 = 4;

/// When a batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    /// No handler runs after this.
    stops_at: Instant,
    /// The answer goes out, whatever is still under way.
    answers_at: Instant,
}

impl Ends {
    fn after(left: Span, now: Instant) -> Self {
        let left = to_duration(left);
        let reserve = (left / RESERVE).clamp(RESERVE_MIN, RESERVE_MAX).min(left);
        Self { stops_at: now + (left - reserve), answers_at: now + (left - reserve / ANSWER) }
    }
}

impl Consumer {
    /// Handles messages that another process receives and deletes, such as Lambda's event source mapping. Settles
    /// failures as [`Consumer::run`] does.
    ///
    /// Returns the ids of the messages that must not be deleted, for the response to the mapping
    /// (`batchItemFailures`). After an error, no message of the batch may be deleted. Where the platform ends the process at
    /// a known time, use [`Consumer::handle_batch_until`].
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
        self.batch(messages, None).await
    }

    /// Does the same, and returns before `deadline`, when the platform ends the process. A tenth of the time until then,
    /// between 0.5 s and 5 s, is kept for giving messages back:
    ///
    /// * a handler that still runs is cancelled, and its message has failed as transient: it comes back after its wait, or
    ///   is dead-lettered with a stamp after its last receive;
    /// * a message whose handler has not begun is visible again at once, and has used up one receive. After its last one it
    ///   is dead-lettered with a stamp.
    ///
    /// A handler that blocks its thread is not cancelled. Its message is among those that must not be deleted.
    ///
    /// ```no_run
    /// # use consumer::Consumer;
    /// # use domain::id::MessageId;
    /// # use queue::{QueueError, Received};
    /// use std::time::{Duration, SystemTime};
    ///
    /// async fn within_a_minute(consumer: &Consumer, messages: Vec<Received>) -> Result<Vec<MessageId>, QueueError> {
    ///     consumer.handle_batch_until(messages, SystemTime::now() + Duration::from_secs(60)).await
    /// }
    /// ```
    pub async fn handle_batch_until(
        &self,
        messages: Vec<Received>,
        deadline: SystemTime,
    ) -> Result<Vec<MessageId>, QueueError> {
        let left = from_system(deadline).since((self.config.now)());
        self.batch(messages, Some(Ends::after(left, Instant::now()))).await
    }

    async fn batch(&self, messages: Vec<Received>, ends: Option<Ends>) -> Result<Vec<MessageId>, QueueError> {
        let (received_at, answers_at) = (std::time::Instant::now(), ends.map(|ends| ends.answers_at));
        let queue = &self.config.queue;
        let attributes = by(answers_at, self.attributes()).await.unwrap_or_else(|| {
            let source = "no answer within the batch's time".into();
            Err(QueueError::Unanswered { queue: queue.clone(), source })
        })?;
        let mut looking = self.look_again(&attributes);
        let (deletes, to_delete) = mpsc::channel(messages.len().max(1));
        let (said, mut noticed) = mpsc::channel(BATCH_ENTRIES_MAX);
        let ids: Vec<MessageId> = messages.iter().map(|received| received.message_id.clone()).collect();
        let waiting =
            messages.into_iter().map(|received| Case::new(received, received_at, self.config.running_version()));
        let mut batch = Batch {
            consumer: self,
            settler: Arc::new(self.settler(deletes, said)),
            attributes,
            ends,
            halt: watch::Sender::default(),
            waiting: waiting.collect(),
            working: JoinSet::new(),
            to_delete,
            settled: HashMap::new(),
            blocked: HashSet::new(),
            last: None,
        };
        let _ = by(answers_at, batch.work()).await;
        batch.settle();
        let settled = std::mem::take(&mut batch.settled);
        // What is still under way is cancelled, and its message is received again.
        drop(batch);
        let send_receipts = async {
            let receipts = settled.values().flatten().cloned().map(Said::Receipt);
            let notices = std::iter::from_fn(|| noticed.try_recv().ok());
            let said: Vec<Said> = receipts.chain(notices).collect();
            for batch in said.chunks(BATCH_ENTRIES_MAX) {
                receipt::send(&self.config, &*self.queue, batch).await;
            }
        };
        // Lambda deletes the messages only after this returns, so the wait is limited.
        let _ = by(answers_at, tokio::time::timeout(FLUSH_MAX, send_receipts)).await;
        if let Some(looking) = &mut looking {
            let _ = by(answers_at, tokio::time::timeout(FLUSH_MAX, &mut *looking)).await;
            looking.abort();
        }
        Ok(ids.into_iter().filter(|id| !settled.contains_key(id)).collect())
    }
}

/// Awaits until a moment, if there is one. Returns `None` if it is over by then.
async fn by<T>(moment: Option<Instant>, what: impl Future<Output = T>) -> Option<T> {
    match moment {
        Some(moment) => tokio::time::timeout_at(moment, what).await.ok(),
        None => Some(what.await),
    }
}

/// A batch in progress.
struct Batch<'a> {
    consumer: &'a Consumer,
    settler: Arc<Settler>,
    attributes: QueueAttributes,
    ends: Option<Ends>,
    halt: watch::Sender<Halt>,
    /// Messages whose handlers have not begun.
    waiting: VecDeque<Case>,
    working: JoinSet<()>,
    to_delete: mpsc::Receiver<crate::delete::Delete>,
    /// Messages that are done. All others are received again, whatever happened to them.
    settled: HashMap<MessageId, Option<Receipt>>,
    /// Message groups of a FIFO queue in which a message is received again: nothing may overtake it.
    blocked: HashSet<Option<String>>,
    /// The message of a FIFO queue that was handled last.
    last: Option<(MessageId, Option<String>)>,
}

impl Batch<'_> {
    /// Handles all messages, or as many as there is time for, and gives the others back.
    async fn work(&mut self) {
        let stops_at = self.ends.map(|ends| ends.stops_at);
        if by(stops_at, self.handle_all()).await.is_none() {
            self.halt.send_replace(Halt::Deadline);
            while let Some(case) = self.waiting.pop_front() {
                let (settler, attributes) = (self.settler.clone(), self.attributes.clone());
                self.working.spawn(async move { give_back(&settler, case, &attributes).await });
            }
        }
        while self.join().await {}
    }

    async fn handle_all(&mut self) {
        // A message group waits behind a message that is retried, so FIFO queues are handled one by one.
        let at_a_time = if self.attributes.fifo { 1 } else { self.consumer.load.concurrency(&self.consumer.config) };
        while !self.waiting.is_empty() {
            while self.working.len() >= at_a_time {
                self.join().await;
            }
            // Time that is up is noticed here, too, where handlers end at once.
            tokio::task::coop::consume_budget().await;
            if let Some(case) = self.waiting.pop_front()
                && self.is_next(&case.received)
            {
                self.spawn(case);
            }
        }
        while self.join().await {}
    }

    /// Whether a message may be handled now: on a FIFO queue nothing may overtake a message of its group that is received
    /// again.
    fn is_next(&mut self, received: &Received) -> bool {
        if !self.attributes.fifo {
            return true;
        }
        let retried = self.last.take().filter(|(id, _)| !self.settled.contains_key(id));
        self.blocked.extend(retried.map(|(_, group)| group));
        let group = received.content.message_group_id.clone();
        if self.blocked.contains(&group) {
            return false;
        }
        self.last = Some((received.message_id.clone(), group));
        true
    }

    fn spawn(&mut self, case: Case) {
        let (settler, handler, halt) = (self.settler.clone(), self.consumer.handler.clone(), self.halt.subscribe());
        let attributes = self.attributes.clone();
        self.working.spawn(async move { handle(&settler, &*handler, case, &attributes, halt).await });
    }

    /// Waits for one message; returns false if none is left.
    async fn join(&mut self) -> bool {
        let Some(ended) = self.working.join_next().await else { return false };
        log_panic(&self.consumer.config.queue, ended);
        self.settle();
        true
    }

    fn settle(&mut self) {
        let done = std::iter::from_fn(|| self.to_delete.try_recv().ok());
        self.settled.extend(done.map(|delete| (delete.id, delete.receipt)));
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
