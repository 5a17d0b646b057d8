//! The world of the embedded queue, under a clock that tests move.

use super::{Kind, QueueWorld};
use async_trait::async_trait;
use domain::id::QueueArn;
use domain::time::{Span, Timestamp};
use local::queue::{Clock, EmbeddedQueue, OpenError, QueueSettings};
use local::sqlite::Opening;
use queue::Queue;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

/// A clock that only tests move.
#[derive(Clone)]
pub struct MovedClock(Arc<AtomicI64>);

impl Default for MovedClock {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(1_763_600_000_000)))
    }
}

impl MovedClock {
    /// Returns the clock for the queue.
    pub fn reader(&self) -> Clock {
        let ms = self.0.clone();
        Arc::new(move || Timestamp::from_ms(ms.load(Ordering::SeqCst)))
    }

    /// Moves the clock.
    pub fn advance(&self, span: Span) {
        self.0.fetch_add(span.as_ms(), Ordering::SeqCst);
    }
}

/// Embedded queues under a clock that tests move.
pub struct EmbeddedWorld {
    /// The queues.
    pub queues: EmbeddedQueue,
    clock: MovedClock,
    made: AtomicUsize,
}

impl EmbeddedWorld {
    /// Opens queues in memory.
    pub fn in_memory() -> Self {
        let clock = MovedClock::default();
        let queues = EmbeddedQueue::open_in_memory(clock.reader()).expect("queues in memory");
        Self { queues, clock, made: AtomicUsize::new(0) }
    }

    /// Opens queues in a file.
    pub fn open(path: &Path, clock: MovedClock) -> Result<Self, OpenError> {
        Self::open_as(path, clock, &Opening::default())
    }

    /// Opens queues in a file in this way.
    pub fn open_as(path: &Path, clock: MovedClock, opening: &Opening) -> Result<Self, OpenError> {
        let queues = EmbeddedQueue::open_as(path, clock.reader(), opening)?;
        Ok(Self { queues, clock, made: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl QueueWorld for EmbeddedWorld {
    fn port(&self) -> &dyn Queue {
        &self.queues
    }

    async fn make(&self, kind: Kind, settings: QueueSettings) -> QueueArn {
        let number = self.made.fetch_add(1, Ordering::SeqCst);
        let suffix = if kind == Kind::Fifo { ".fifo" } else { "" };
        let queue = QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:queue-{number}{suffix}"));
        self.queues.create_queue(&queue, settings).await.expect("the settings are valid");
        queue
    }

    async fn advance(&self, span: Span) {
        self.clock.advance(span);
        self.queues.clock_moved();
    }

    fn patience(&self) -> Span {
        Span::from_days(400)
    }

    fn wait(&self) -> Span {
        Span::ZERO
    }
}
