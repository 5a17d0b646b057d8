//! What the consumer costs per message: the same handler called directly, and through `Consumer::handle_batch` and
//! `Consumer::run` on a queue that answers at once. `cargo bench -p dlo-consumer`.

use async_trait::async_trait;
use consumer::dependency::Dependency;
use consumer::queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use consumer::retry::{Retry, RetryPolicy};
use consumer::{Consumer, ConsumerConfig, Failure, Handler, Span};
use domain::id::{MessageId, QueueArn};
use domain::message::{Content, SystemAttributes};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::watch;

const MESSAGES: u64 = 200_000;
const BATCH: usize = 10;
/// Measured alternately, so that a busy machine disturbs all alike; the best round counts.
const ROUNDS: usize = 5;

/// Adds up the lengths of bodies.
struct Summing(AtomicU64);

#[async_trait]
impl Handler for Summing {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        self.0.fetch_add(received.content.body.len() as u64, Relaxed);
        Ok(())
    }
}

/// A queue whose messages come from memory; what is deleted is only counted.
#[derive(Default)]
struct Instantly {
    left: AtomicU64,
    deleted: AtomicU64,
}

fn message(n: u64) -> Received {
    Received {
        message_id: MessageId::new(n.to_string()),
        receipt_handle: String::from("handle"),
        content: Content { body: r#"{"order":7}"#.into(), ..Content::default() },
        system: SystemAttributes { receive_count: Some(1), ..SystemAttributes::default() },
    }
}

#[async_trait]
impl Queue for Instantly {
    async fn receive(&self, _: &QueueArn, max: usize, _: Span, _: Option<Span>) -> Result<Vec<Received>, QueueError> {
        let count = (max as u64).min(self.left.load(Relaxed));
        if count == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let left = self.left.fetch_sub(count, Relaxed);
        Ok((0..count).map(|n| message(left - n)).collect())
    }

    async fn send_batch(
        &self,
        _: &QueueArn,
        _: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        Ok(Vec::new())
    }

    async fn delete_batch(
        &self,
        _: &QueueArn,
        handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.deleted.fetch_add(handles.len() as u64, Relaxed);
        Ok(handles.iter().map(|_| Ok(())).collect())
    }

    async fn change_visibility(&self, _: &QueueArn, _: &str, _: Span) -> Result<(), QueueError> {
        Ok(())
    }

    async fn attributes(&self, _: &QueueArn) -> Result<QueueAttributes, QueueError> {
        Ok(QueueAttributes {
            fifo: false,
            visibility_timeout: Span::from_secs(30),
            retention: Span::from_days(4),
            message_bytes_max: 1024 * 1024,
            redrive: None,
            visible_count: 0,
            in_flight_count: 0,
            delayed_count: 0,
        })
    }
}

fn config() -> ConsumerConfig {
    ConsumerConfig::new("arn:aws:sqs:eu-west-1:111122223333:orders".into(), "orders", || "v1".into())
}

async fn directly() -> Duration {
    let handler = Summing(AtomicU64::new(0));
    let started = Instant::now();
    for n in 0..MESSAGES {
        let received = black_box(message(n));
        black_box(handler.handle(&received).await).expect("a sum");
    }
    started.elapsed()
}

async fn in_batches() -> Duration {
    let consumer = Consumer::new(config(), Arc::new(Instantly::default()), Arc::new(Summing(AtomicU64::new(0))));
    let started = Instant::now();
    for batch in 0..MESSAGES / BATCH as u64 {
        let messages = (0..BATCH as u64).map(|n| message(batch * BATCH as u64 + n)).collect();
        assert!(consumer.handle_batch(messages).await.expect("a batch").is_empty());
    }
    started.elapsed()
}

async fn in_the_loop() -> Duration {
    let queue = Arc::new(Instantly { left: AtomicU64::new(MESSAGES), deleted: AtomicU64::new(0) });
    let (close, shutdown) = watch::channel(false);
    let consumer = Consumer::new(config(), queue.clone(), Arc::new(Summing(AtomicU64::new(0))));
    let started = Instant::now();
    let running = tokio::spawn(consumer.run(shutdown));
    while queue.deleted.load(Relaxed) < MESSAGES {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let took = started.elapsed();
    close.send_replace(true);
    running.await.expect("the loop");
    took
}

/// A retry around a guarded call that succeeds at once.
async fn guarded_calls() -> Duration {
    let dependency = Dependency::new("payments");
    let retry = Retry::new(RetryPolicy::default()).budget_of(&dependency);
    let started = Instant::now();
    for n in 0..MESSAGES {
        let answer = retry.run(async || dependency.call(async { Ok::<_, Failure>(black_box(n)) }).await).await;
        black_box(answer.map_err(|given_up| given_up.error)).expect("an answer");
    }
    started.elapsed()
}

#[tokio::main]
async fn main() {
    let mut best = [Duration::MAX; 4];
    for _ in 0..ROUNDS {
        // As a task, on a worker of the runtime, as in a server or in Lambda.
        let batches = tokio::spawn(in_batches()).await.expect("the batches");
        let round = [directly().await, batches, in_the_loop().await, guarded_calls().await];
        best = std::array::from_fn(|at| best[at].min(round[at]));
    }
    let per_message = best.map(|took| took.as_secs_f64() * 1e6 / MESSAGES as f64);
    println!("| per message | µs | over the handler alone, µs |");
    println!("|---|---|---|");
    let names =
        ["the handler alone", "handle_batch, batches of 10", "run, up to 10 at once", "a guarded call with retry"];
    for (name, took) in names.iter().zip(per_message) {
        println!("| {name} | {took:.2} | {:.2} |", (took - per_message[0]).max(0.0));
    }
}
