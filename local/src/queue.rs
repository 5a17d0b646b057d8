//! The embedded queue: SQS on one machine, in one SQLite file.
//!
//! It does what SQS was seen or is documented to do, limits included, so that a consumer, the office and their tests
//! meet the same refusals here as there. Where SQS gives a range ("about", "sometimes"), this queue gives the
//! strictest answer in it: counts are exact, order is kept, nothing is delivered twice.
//!
//! **Durability.** An answer is given after the commit. The write-ahead log with `synchronous = NORMAL` hands every
//! commit to the operating system: a process killed at any point loses nothing it acknowledged. A power cut or a
//! crash of the machine may lose the last commits, and leaves the file whole.
//!
//! **Time** comes from the clock given at opening. Receivers that wait sleep until the next message is due, a message
//! is sent, or a visibility timeout is changed; a clock that jumps is announced by [`EmbeddedQueue::clock_moved`].
//!
//! Not here: high-throughput FIFO (deduplication per group), permissions, encryption, `StartMessageMoveTask`.

mod bells;
mod check;
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
mod writer;

pub use manage::Peeked;
pub use schema::OpenError;
pub use settings::QueueSettings;

use async_trait::async_trait;
use bells::Bells;
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
use writer::{Workshop, Writer};

/// Tells the time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The longest wait of a receive, seconds (botocore, ReceiveMessage).
const WAIT_S_MAX: i64 = 20;
/// How long a waiting receiver rests when messages are due that it may not have yet.
const REST: Duration = Duration::from_millis(50);

/// Queues in one SQLite file. Share it as an `Arc`; it may be called from many tasks at once.
pub struct EmbeddedQueue {
    writer: Writer,
    bells: Arc<Bells>,
    clock: Clock,
    in_flight_max: i64,
}

impl EmbeddedQueue {
    /// Opens the queues kept in this file, or makes the file. One process at a time may have it open.
    pub fn open(path: &Path, clock: Clock) -> Result<Self, OpenError> {
        let bells = Arc::new(Bells::default());
        let writer = Writer::start(Workshop::new(schema::open(path)?, clock.clone(), bells.clone()))
            .map_err(|source| OpenError::Thread { path: path.to_owned(), source })?;
        Ok(Self { writer, bells, clock, in_flight_max: IN_FLIGHT_MAX })
    }

    /// Queues that live as long as this value. Every call is done at once, by whoever asks, and the same calls at the
    /// same times give the same ids.
    pub fn open_in_memory(clock: Clock) -> Result<Self, OpenError> {
        let bells = Arc::new(Bells::default());
        let workshop = Workshop::new(schema::open_in_memory()?, clock.clone(), bells.clone());
        let writer = Writer::Asker(Mutex::new(workshop));
        Ok(Self { writer, bells, clock, in_flight_max: IN_FLIGHT_MAX })
    }

    /// Creates a queue; FIFO if its name ends in `.fifo`. A queue that exists with these very settings is left as it
    /// is; with others the call is refused ([`EmbeddedQueue::configure`] changes them).
    pub async fn create_queue(&self, queue: &QueueArn, settings: QueueSettings) -> Result<(), QueueError> {
        self.call(queue, move |request, queue| manage::create(request, queue, &settings)).await
    }

    /// Changes the settings of a queue.
    pub async fn configure(&self, queue: &QueueArn, settings: QueueSettings) -> Result<(), QueueError> {
        self.call(queue, move |request, queue| manage::configure(request, queue, &settings)).await
    }

    /// The settings of a queue.
    pub async fn settings(&self, queue: &QueueArn) -> Result<QueueSettings, QueueError> {
        self.call(queue, |request, queue| Ok(request.queue(queue)?.settings)).await
    }

    /// Deletes a queue and what is in it. At once; SQS takes up to a minute.
    pub async fn delete_queue(&self, queue: &QueueArn) -> Result<(), QueueError> {
        self.call(queue, manage::delete).await
    }

    /// All queues, by name.
    pub async fn queues(&self) -> Result<Vec<QueueArn>, QueueError> {
        let all = QueueArn::from("*");
        self.call(&all, |request, _| Ok(request.queues()?.into_iter().map(|queue| queue.arn).collect())).await
    }

    /// The queues whose redrive policy names this one.
    pub async fn dead_letter_sources(&self, dlq: &QueueArn) -> Result<Vec<QueueArn>, QueueError> {
        self.call(dlq, |request, dlq| {
            request.queue(dlq)?;
            let leads_here =
                |queue: &request::QueueRow| queue.settings.redrive.as_ref().is_some_and(|to| to.dlq == *dlq);
            Ok(request.queues()?.into_iter().filter(leads_here).map(|queue| queue.arn).collect())
        })
        .await
    }

    /// The oldest messages of a queue, in flight or not, without receiving them.
    pub async fn peek(&self, queue: &QueueArn, limit: usize) -> Result<Vec<Peeked>, QueueError> {
        self.call(queue, move |request, queue| manage::peek(request, queue, limit)).await
    }

    /// Deletes all messages of a queue, also those in flight, and answers how many there were.
    pub async fn purge(&self, queue: &QueueArn) -> Result<usize, QueueError> {
        self.call(queue, |request, queue| manage::purge(request, queue)).await
    }

    /// Has all waiting receivers look again: to be called after a clock made for tests was moved.
    pub fn clock_moved(&self) {
        self.bells.ring_all();
    }

    async fn call<T, W>(&self, queue: &QueueArn, work: W) -> Result<T, QueueError>
    where
        T: Send + 'static,
        W: FnOnce(&mut Request<'_>, &QueueArn) -> Result<T, Fault> + Send + 'static,
    {
        let arn = queue.clone();
        self.writer.call(move |request| work(request, &arn)).await.map_err(|fault| fault.about(queue))
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
        let bell = self.bells.of(queue);
        // The wait ends by whichever clock gets there first: a clock made for tests may stand still.
        let (ends_at, ends) = ((self.clock)().plus(wait), Instant::now() + real(wait));
        loop {
            // Listening starts before looking: what arrives in between is heard.
            let rung = bell.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            let Taken { messages, next_due } =
                self.call(queue, move |request, queue| take::take(request, queue, receive_request)).await?;
            let now = (self.clock)();
            if !messages.is_empty() || now >= ends_at || Instant::now() >= ends {
                return Ok(messages);
            }
            let next = next_due.map_or(ends_at, |due| due.min(ends_at));
            let nap = if next > now { real(next.since(now)) } else { REST };
            tokio::select! {
                () = rung => {}
                () = tokio::time::sleep_until(ends.min(Instant::now() + nap)) => {}
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

fn real(span: Span) -> Duration {
    Duration::from_millis(u64::try_from(span.as_ms()).unwrap_or(0))
}
