//! The embedded queue: SQS on one machine, in one SQLite file.
//!
//! It behaves as SQS is documented or was observed to behave, including limits, so that a consumer, the office and their
//! tests get the same refusals from both. Where SQS allows a range ("about", "sometimes"), this queue is strict: counts
//! are exact, order is preserved, and no message is delivered twice.
//!
//! **Durability.** Every call returns after its commit is synced to the disk; calls that wait at the same time share one
//! sync. Neither a killed process nor a power cut loses an acknowledged call. A lost send would lose a letter that the
//! store already counts as sent, so the queue is as durable as the store. A damaged file is refused ([`crate::sqlite`]).
//!
//! **Time** comes from the clock given at opening. Waiting receivers sleep until the next message is due, a message is
//! sent, or a visibility timeout changes. After a clock jump, call [`EmbeddedQueue::clock_moved`].
//!
//! Not supported: high-throughput FIFO (deduplication per group), permissions, encryption, `StartMessageMoveTask`.

mod check;
mod clock;
mod handle;
mod manage;
mod request;
mod row;
mod schema;
mod send;
mod settings;
mod take;
#[cfg(test)]
mod tests;
mod wakers;
mod writer;

pub use manage::Peeked;
pub use schema::OpenError;
pub use settings::QueueSettings;

use crate::sqlite::{Acknowledged, DatabaseFile, Mark, Opening};
use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::limits::{BATCH_ENTRIES_MAX, VISIBILITY_S_MAX};
use domain::time::{Span, Timestamp};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use request::{Fault, Request};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use take::{IN_FLIGHT_MAX, ReceiveRequest, Taken};
use tokio::time::Instant;
use wakers::Wakers;
use writer::{Database, Writer};

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What errors name in place of one queue.
const ALL: &str = "*";
/// The longest wait of a receive, in seconds (botocore, ReceiveMessage).
const WAIT_S_MAX: i64 = 20;
/// How long a waiting receiver sleeps if messages are due that it cannot receive yet.
const RETRY_AFTER: Duration = Duration::from_millis(50);

/// Queues in one SQLite file. Share it as an `Arc`; many tasks may call it concurrently.
pub struct EmbeddedQueue {
    writer: Writer,
    wakers: Arc<Wakers>,
    clock: Clock,
    in_flight_max: i64,
    pub(crate) acknowledged: Acknowledged,
}

impl EmbeddedQueue {
    /// Opens the queues in this file, or creates the file. Only one process at a time may have it open.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, OpenError> {
        Self::open_as(path, clock, &Opening::default())
    }

    /// Like [`EmbeddedQueue::open`], with other settings than the default.
    pub fn open_as(path: &Path, clock: Clock, opening: &Opening) -> Result<Self, OpenError> {
        let wakers = Arc::new(Wakers::default());
        let file = schema::open(path, opening)?;
        clock::follow(&file.db, clock()).map_err(|source| OpenError::File { path: path.to_owned(), source })?;
        let acknowledged = file.mark.as_ref().map(Mark::acknowledged).unwrap_or_default();
        let writer = Writer::start(Database::new(file, clock.clone(), wakers.clone()))
            .map_err(|source| OpenError::Thread { path: path.to_owned(), source })?;
        Ok(Self { writer, wakers, clock, in_flight_max: IN_FLIGHT_MAX, acknowledged })
    }

    /// Creates queues in memory, which live as long as this value. Each call runs on the caller's thread. The same calls
    /// at the same times result in the same ids.
    pub fn open_in_memory(clock: Clock) -> Result<Self, OpenError> {
        let wakers = Arc::new(Wakers::default());
        let database = Database::new(schema::open_in_memory()?, clock.clone(), wakers.clone());
        let writer = Writer::Inline(Box::new(Mutex::new(database)));
        Ok(Self { writer, wakers, clock, in_flight_max: IN_FLIGHT_MAX, acknowledged: Acknowledged::default() })
    }

    /// Creates a queue; FIFO if its name ends in `.fifo`. Does nothing if the queue exists with the same settings. Refuses
    /// the call if it exists with other settings ([`EmbeddedQueue::configure`] changes them).
    pub async fn create_queue(&self, queue: &QueueArn, settings: QueueSettings) -> Result<(), QueueError> {
        self.call(queue, move |request, queue| manage::create(request, queue, &settings)).await
    }

    /// Changes the settings of a queue.
    pub async fn configure(&self, queue: &QueueArn, settings: QueueSettings) -> Result<(), QueueError> {
        self.call(queue, move |request, queue| manage::configure(request, queue, &settings)).await
    }

    /// Returns the settings of a queue.
    pub async fn settings(&self, queue: &QueueArn) -> Result<QueueSettings, QueueError> {
        self.call(queue, |request, queue| Ok(request.queue(queue)?.settings)).await
    }

    /// Deletes a queue and its messages. Takes effect at once; SQS takes up to a minute.
    pub async fn delete_queue(&self, queue: &QueueArn) -> Result<(), QueueError> {
        self.call(queue, manage::delete).await
    }

    /// Returns all queues, sorted by name.
    pub async fn queues(&self) -> Result<Vec<QueueArn>, QueueError> {
        let all = QueueArn::from(ALL);
        self.call(&all, |request, _| Ok(request.queues()?.into_iter().map(|queue| queue.arn).collect())).await
    }

    /// Returns the queues whose redrive policy names this one.
    pub async fn dead_letter_sources(&self, dlq: &QueueArn) -> Result<Vec<QueueArn>, QueueError> {
        self.call(dlq, |request, dlq| {
            request.queue(dlq)?;
            let leads_here =
                |queue: &request::QueueRow| queue.settings.redrive.as_ref().is_some_and(|to| to.dlq == *dlq);
            Ok(request.queues()?.into_iter().filter(leads_here).map(|queue| queue.arn).collect())
        })
        .await
    }

    /// Returns the oldest messages of a queue, including those in flight, without receiving them.
    pub async fn peek(&self, queue: &QueueArn, limit: usize) -> Result<Vec<Peeked>, QueueError> {
        self.call(queue, move |request, queue| manage::peek(request, queue, limit)).await
    }

    /// Deletes all messages of a queue, including those in flight. Returns their number.
    pub async fn purge(&self, queue: &QueueArn) -> Result<usize, QueueError> {
        self.call(queue, |request, queue| manage::purge(request, queue)).await
    }

    /// Copies the log into the file.
    pub async fn checkpoint(&self) -> Result<(), QueueError> {
        let copied = self.alone(DatabaseFile::checkpoint).await?;
        copied.map_err(|error| Fault::from(error).for_queue(&QueueArn::from(ALL)))
    }

    /// Runs `work` on the file while no call runs.
    pub(crate) async fn alone<T, W>(&self, work: W) -> Result<T, QueueError>
    where
        T: Send + 'static,
        W: FnOnce(&mut DatabaseFile) -> T + Send + 'static,
    {
        self.writer.alone(work).await.map_err(|fault| fault.for_queue(&QueueArn::from(ALL)))
    }

    /// Wakes all waiting receivers. Call it after moving a test clock.
    pub fn clock_moved(&self) {
        self.wakers.wake_all();
    }

    async fn call<T, W>(&self, queue: &QueueArn, work: W) -> Result<T, QueueError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Request<'_>, &QueueArn) -> Result<T, Fault> + Send + 'static,
    {
        let arn = queue.clone();
        self.writer.call(move |request| work(request, &arn)).await.map_err(|fault| fault.for_queue(queue))
    }
}

#[async_trait]
impl Queue for EmbeddedQueue {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        check_receive(queue, max, wait, visibility)?;
        let receive_request =
            ReceiveRequest { max, visibility, waits: wait > Span::ZERO, in_flight_max: self.in_flight_max };
        let waker = self.wakers.for_queue(queue);
        // The wait ends by the earlier of the two clocks, because a test clock may stand still.
        let (ends_at, ends) = ((self.clock)().plus(wait), Instant::now() + to_duration(wait));
        loop {
            // Subscribes before it looks, so that a message that arrives in between wakes it.
            let woken = waker.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            let Taken { messages, next_due } =
                self.call(queue, move |request, queue| take::take(request, queue, receive_request)).await?;
            let now = (self.clock)();
            if !messages.is_empty() || now >= ends_at || Instant::now() >= ends {
                return Ok(messages);
            }
            let next = next_due.map_or(ends_at, |due| due.min(ends_at));
            let sleep = if next > now { to_duration(next.since(now)) } else { RETRY_AFTER };
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep_until(ends.min(Instant::now() + sleep)) => {}
            }
        }
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        let messages = messages.to_vec();
        self.call(queue, move |request, queue| send::send(request, queue, &messages)).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        let receipt_handles = receipt_handles.to_vec();
        self.call(queue, move |request, queue| handle::delete(request, queue, &receipt_handles)).await
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        let receipt_handle = receipt_handle.to_owned();
        self.call(queue, move |request, queue| handle::change_visibility(request, queue, &receipt_handle, visibility))
            .await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.call(queue, |request, queue| manage::attributes(request, queue)).await
    }

    async fn cleared_before(&self, queue: &QueueArn) -> Result<Option<Timestamp>, QueueError> {
        self.call(queue, |request, queue| manage::cleared_before(request, queue)).await.map(Some)
    }
}

fn check_receive(queue: &QueueArn, max: usize, wait: Span, visibility: Option<Span>) -> Result<(), QueueError> {
    let reason = if !(1..=BATCH_ENTRIES_MAX).contains(&max) {
        format!("MaxNumberOfMessages must be 1 to {BATCH_ENTRIES_MAX}")
    } else if !settings::within(wait, 0, WAIT_S_MAX) {
        format!("WaitTimeSeconds must be 0 to {WAIT_S_MAX}")
    } else if visibility.is_some_and(|visibility| !settings::within(visibility, 0, VISIBILITY_S_MAX)) {
        format!("VisibilityTimeout must be 0 to {VISIBILITY_S_MAX}")
    } else {
        return Ok(());
    };
    Err(QueueError::Invalid { queue: queue.clone(), reason })
}

fn to_duration(span: Span) -> Duration {
    Duration::from_millis(u64::try_from(span.as_ms()).unwrap_or(0))
}
