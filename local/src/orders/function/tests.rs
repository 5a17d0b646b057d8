//! Kills the function before and after each of its calls to the queue and to the table of payments. Nothing is lost, and
//! nothing is paid twice.

use super::super::tests::{World, soon};
use super::*;
use async_trait::async_trait;
use consumer::once::{Lease, Leasing, StoreError};
use consumer::sqlite::SqliteStore;
use domain::id::MessageId;
use queue::{QueueAttributes, Received};
use std::collections::BTreeMap;
use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use tokio::sync::Notify;

/// Orders that are paid, and one that version 1 fails on.
const KINDS: [Kind; 3] = [Kind::Good, Kind::GiftCard, Kind::Good];
/// The longest time that a killed invocation keeps a message or a lease.
const RETURNS_AFTER: Span = Span::from_secs(31);

/// The function's remaining life: each call has two steps, before and after its effect.
#[derive(Default)]
struct Life {
    steps_left: AtomicU32,
    died: Notify,
}

impl Life {
    async fn step(&self) {
        // At zero the function is dead, and stays so.
        let left = self.steps_left.fetch_update(SeqCst, SeqCst, |left| Some(left.saturating_sub(1)));
        if left == Ok(0) {
            self.died.notify_one();
            pending::<()>().await;
        }
    }

    async fn call<T>(&self, call: impl Future<Output = T>) -> T {
        self.step().await;
        let answer = call.await;
        self.step().await;
        answer
    }
}

struct Deadly<T> {
    inner: T,
    life: Arc<Life>,
}

#[async_trait]
impl Queue for Deadly<Arc<dyn Queue>> {
    async fn receive(&self, _: &QueueArn, _: usize, _: Span, _: Option<Span>) -> Result<Vec<Received>, QueueError> {
        panic!("the event source mapping receives")
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        self.life.call(self.inner.send_batch(queue, messages)).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.life.call(self.inner.delete_batch(queue, handles)).await
    }

    async fn change_visibility(&self, queue: &QueueArn, handle: &str, visibility: Span) -> Result<(), QueueError> {
        self.life.call(self.inner.change_visibility(queue, handle, visibility)).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.life.call(self.inner.attributes(queue)).await
    }
}

/// The table, and how often each key was paid.
#[derive(Clone)]
struct Payments {
    table: SqliteStore,
    /// Whether it keeps anything; the test fails without it.
    keeps: bool,
    paid: Arc<Mutex<BTreeMap<String, u32>>>,
}

impl Payments {
    /// How often each order was paid. What the table was doing when the function died it may have done without an answer.
    async fn counted(&self, now: Timestamp) -> Vec<u32> {
        let mut paid = self.paid.lock().unwrap().clone();
        for (key, count) in paid.iter_mut().filter(|(_, count)| **count == 0) {
            let until = now.plus(PATIENCE);
            let leasing = Leasing { key, token: "the test", now, until, expires_at: until };
            *count = u32::from(matches!(self.table.lease(&leasing).await.unwrap(), Lease::Done { .. }));
        }
        paid.into_values().collect()
    }
}

#[async_trait]
impl OnceStore for Deadly<Payments> {
    async fn lease(&self, leasing: &Leasing<'_>) -> Result<Lease, StoreError> {
        if !self.inner.keeps {
            return Ok(Lease::Granted);
        }
        self.inner.paid.lock().unwrap().entry(leasing.key.into()).or_default();
        self.life.call(self.inner.table.lease(leasing)).await
    }

    async fn complete(&self, key: &str, token: &str, result: &str, expires_at: Timestamp) -> Result<bool, StoreError> {
        self.life
            .call(async {
                let Payments { table, keeps, paid } = &self.inner;
                let is_paid = !keeps || table.complete(key, token, result, expires_at).await?;
                *paid.lock().unwrap().entry(key.into()).or_default() += u32::from(is_paid);
                Ok(is_paid)
            })
            .await
    }

    async fn release(&self, _: &str, _: &str) -> Result<(), StoreError> {
        panic!("the function has no right to delete")
    }
}

/// Invokes the function until the main queue is empty. It dies at a step of its first invocation. Returns how often each
/// order was paid, the dead letters' original ids, and whether it died.
async fn killed_at(step: u32, keeps: bool) -> (Vec<u32>, Vec<Option<MessageId>>, bool) {
    let world = World::new().await;
    let now = world.now();
    let orders: Vec<Outgoing> =
        (1..).zip(KINDS).map(|(n, kind)| generate(&world.main, 1, n, Mix::Only(kind), now())).collect();
    world.queue.send_batch(&world.main, &orders).await.unwrap();
    let table = SqliteStore::open_in_memory().unwrap();
    let payments = Payments { table, keeps, paid: Arc::default() };
    let mut dead = false;
    for life_steps in [step, u32::MAX, u32::MAX] {
        let life = Arc::new(Life { steps_left: AtomicU32::new(life_steps), ..Life::default() });
        let config =
            ConsumerConfig { now: now.clone(), ..ConsumerConfig::new(world.main.clone(), SERVICE, || "v1".into()) };
        let queue: Arc<dyn Queue> = world.queue.clone();
        let queue = Arc::new(Deadly { inner: queue, life: life.clone() });
        let table = Arc::new(Deadly { inner: payments.clone(), life: life.clone() });
        let function = consumer(config, Version::V1, queue, table);
        let received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
        let answer = soon(async {
            tokio::select! {
                () = life.died.notified() => None,
                failed = function.handle_batch(received.clone()) => Some(failed.unwrap()),
            }
        });
        match answer.await {
            None => dead = true,
            Some(failed) => {
                let done = received.iter().filter(|received| !failed.contains(&received.message_id));
                let handles: Vec<String> = done.map(|received| received.receipt_handle.clone()).collect();
                if !handles.is_empty() {
                    world.queue.delete_batch(&world.main, &handles).await.unwrap();
                }
            }
        }
        world.pass(RETURNS_AFTER);
    }
    assert!(world.queue.peek(&world.main, 1).await.unwrap().is_empty(), "killed at step {step}: not all was handled");
    let mut letters: Vec<_> = world.readings().await.into_iter().map(|(stamp, _)| stamp.original_message_id).collect();
    letters.sort();
    letters.dedup();
    (payments.counted(now()).await, letters, dead)
}

#[tokio::test]
async fn wherever_the_function_dies_nothing_is_lost_and_nothing_is_paid_twice() {
    let mut died = 0;
    for step in 0..24 {
        let (paid, letters, dead) = killed_at(step, true).await;
        assert_eq!((paid, letters.len()), (vec![1, 1], 1), "killed at step {step}");
        died += u32::from(dead);
    }
    // The queue's attributes, two leases, two payments, one dead letter: twelve steps.
    assert!(died >= 12, "it died at {died} steps only");
}

#[tokio::test]
async fn without_the_table_a_kill_pays_twice() {
    let mut doubled = false;
    for step in 0..24 {
        doubled |= killed_at(step, false).await.0.iter().any(|paid| *paid > 1);
    }
    assert!(doubled, "the kills must reach the moment between a payment and the answer");
}

/// A table that never answers.
struct Silent;

#[async_trait]
impl OnceStore for Silent {
    async fn lease(&self, _: &Leasing<'_>) -> Result<Lease, StoreError> {
        pending().await
    }

    async fn complete(&self, _: &str, _: &str, _: &str, _: Timestamp) -> Result<bool, StoreError> {
        pending().await
    }

    async fn release(&self, _: &str, _: &str) -> Result<(), StoreError> {
        pending().await
    }
}

/// Lambda would end it, and hand out the whole batch again.
#[tokio::test]
async fn the_function_answers_before_its_deadline_and_gives_back_what_it_could_not_finish() {
    let world = World::new().await;
    let now = world.now();
    let orders = [1, 2].map(|n| generate(&world.main, 1, n, Mix::Only(Kind::Good), now()));
    world.queue.send_batch(&world.main, &orders).await.unwrap();
    let received = world.queue.receive(&world.main, 10, Span::ZERO, None).await.unwrap();
    let record = |received: &Received, receive_count: u32| {
        serde_json::json!({
            "messageId": received.message_id, "receiptHandle": received.receipt_handle, "body": received.content.body,
            "attributes": { "ApproximateReceiveCount": receive_count.to_string() }, "eventSourceARN": world.main,
        })
    };
    // The queue's redrive policy allows two receives.
    let event = serde_json::json!({ "Records": [record(&received[0], 1), record(&received[1], 2)] });
    let config =
        ConsumerConfig { now: now.clone(), ..ConsumerConfig::new(world.main.clone(), SERVICE, || "v1".into()) };
    let function = consumer(config, Version::V1, world.queue.clone(), Arc::new(Silent));
    // A second is left: half of it is kept for the answer, and a payment may take three.
    let ends_at = now().plus(Span::from_secs(1));
    let answer = soon(answer(function, serde_json::from_value(event).unwrap(), ends_at)).await.unwrap();
    let failed: Vec<&str> = answer.failures.iter().map(|failure| failure.message_id.as_str()).collect();
    assert_eq!(failed, [received[0].message_id.as_str()]);
    let (stamp, _) = world.readings().await.remove(0);
    assert_eq!(stamp.original_message_id.as_ref(), Some(&received[1].message_id));
    assert_eq!(stamp.error_type.as_deref(), Some("consumer::NoTimeLeft"));
}
