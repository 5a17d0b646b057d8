//! A queue, its dead-letter queue, a clock that only the test moves, and a consumer on them.

use async_trait::async_trait;
use consumer::{Consumer, ConsumerConfig, Failure, Handler, Outcome};
use domain::id::{MessageId, QueueArn};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::Content;
use domain::read::Stamp;
use domain::time::{Span, Timestamp};
use local::queue::{EmbeddedQueue, Peeked, QueueSettings};
use queue::{Outgoing, Queue, Received};
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub const START_MS: i64 = 1_763_600_000_000;

/// A queue, its dead-letter queue, and a clock that only the test moves.
pub struct World {
    pub queue: Arc<EmbeddedQueue>,
    pub clock: Arc<AtomicI64>,
    pub main: QueueArn,
    pub dlq: QueueArn,
}

impl World {
    pub async fn new(receives_max: u32) -> Self {
        Self::with(receives_max, "", Span::from_secs(30)).await
    }

    pub async fn with(receives_max: u32, suffix: &str, visibility_timeout: Span) -> Self {
        let clock = Arc::new(AtomicI64::new(START_MS));
        let read = clock.clone();
        let now = Arc::new(move || Timestamp::from_ms(read.load(SeqCst)));
        let queue = Arc::new(EmbeddedQueue::open_in_memory(now).unwrap());
        let arn = |name: &str| QueueArn::new(format!("arn:aws:sqs:eu-west-1:111122223333:{name}{suffix}"));
        let (main, dlq) = (arn("orders"), arn("orders-dlq"));
        queue.create_queue(&dlq, QueueSettings::default()).await.unwrap();
        let settings = QueueSettings { visibility_timeout, ..QueueSettings::default() };
        queue.create_queue(&main, settings.dead_letters_to(&dlq, receives_max)).await.unwrap();
        Self { queue, clock, main, dlq }
    }

    pub fn advance(&self, span: Span) {
        self.clock.fetch_add(span.as_ms(), SeqCst);
        self.queue.clock_moved();
    }

    pub async fn send(&self, content: Content) -> MessageId {
        let deduplication_id = self.main.is_fifo().then(|| content.body.clone());
        let outgoing = Outgoing { content, deduplication_id, delay: Span::ZERO };
        self.queue.send_batch(&self.main, &[outgoing]).await.unwrap().remove(0).unwrap()
    }

    pub async fn dead(&self) -> Vec<Peeked> {
        self.queue.peek(&self.dlq, 100).await.unwrap()
    }

    pub async fn main_is_empty(&self) -> bool {
        self.queue.peek(&self.main, 1).await.unwrap().is_empty()
    }

    pub fn run(&self, handler: impl Handler + 'static) -> Running {
        self.run_on(self.queue.clone(), handler, |_| {})
    }

    /// Returns the defaults, with the world's clock.
    pub fn config(&self) -> ConsumerConfig {
        let clock = self.clock.clone();
        let now = Arc::new(move || Timestamp::from_ms(clock.load(SeqCst)));
        ConsumerConfig { now, ..ConsumerConfig::new(self.main.clone(), "orders", || "v1".into()) }
    }

    pub fn run_on(
        &self,
        queue: Arc<dyn Queue>,
        handler: impl Handler + 'static,
        change: impl FnOnce(&mut ConsumerConfig),
    ) -> Running {
        let (sender, outcomes) = mpsc::unbounded_channel();
        let mut config = ConsumerConfig {
            wait: Span::from_ms(100),
            entropy: Arc::new(|| u64::MAX),
            on_outcome: Arc::new(move |received, outcome| {
                let _ = sender.send((received.content.body.clone(), outcome.clone()));
            }),
            ..self.config()
        };
        change(&mut config);
        let (shutdown, receiver) = watch::channel(false);
        let task = tokio::spawn(Consumer::new(config, queue, Arc::new(handler)).run(receiver));
        Running { shutdown, task, outcomes }
    }
}

pub struct Running {
    pub shutdown: watch::Sender<bool>,
    pub task: JoinHandle<()>,
    pub outcomes: mpsc::UnboundedReceiver<(String, Outcome)>,
}

impl Running {
    /// Waits for the next outcome; returns the message's body and the outcome.
    pub async fn next(&mut self) -> (String, Outcome) {
        soon(self.outcomes.recv()).await.unwrap()
    }

    pub async fn shut_down(self) {
        self.shutdown.send_replace(true);
        soon(self.task).await.unwrap();
    }
}

/// Waits with a deadline, so that a test fails instead of hanging.
pub async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), what).await.expect("the deadline has not passed")
}

/// A handler that does what the body says.
pub struct ByBody;

#[async_trait]
impl Handler for ByBody {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        match received.content.body.as_str() {
            "permanent" => Err(Failure::permanent("orders::NotFound", "no such product")),
            "transient" => Err(Failure::transient("orders::Timeout", "no answer")),
            "panic" => panic!("this order is broken"),
            "slow" => pending().await,
            _ => Ok(()),
        }
    }
}

pub fn content(body: &str) -> Content {
    Content { body: body.into(), ..Content::default() }
}

pub fn stamp(dead: &Peeked) -> Stamp {
    dead.content.attributes[FAILURE_ATTRIBUTE].as_text().and_then(Stamp::parse).expect("a stamp")
}
