//! Kills a consumer before and after each of its calls to the queue. With the idempotency key in the transaction of the
//! work, nothing is lost and nothing is done twice.

use super::world::{World, content, soon, stamp};
use async_trait::async_trait;
use consumer::once::Lease;
use consumer::sqlite::{create_table, insert_once};
use consumer::{Classify, Failure, Handler, here};
use domain::id::{MessageId, QueueArn};
use domain::time::{Span, Timestamp};
use local::queue::EmbeddedQueue;
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use rusqlite::Connection;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use tokio::sync::{Mutex, Notify};

/// A queue at which the consumer dies: its nth step never ends. Each call has two steps, before and after its effect.
struct Deadly {
    inner: Arc<EmbeddedQueue>,
    steps_left: AtomicU32,
    died: Arc<Notify>,
}

impl Deadly {
    async fn step(&self) {
        // At zero the consumer is dead, and stays so.
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

#[async_trait]
impl Queue for Deadly {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        self.call(self.inner.receive(queue, max, wait, visibility)).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        self.call(self.inner.send_batch(queue, messages)).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.call(self.inner.delete_batch(queue, handles)).await
    }

    async fn change_visibility(&self, queue: &QueueArn, handle: &str, visibility: Span) -> Result<(), QueueError> {
        self.call(self.inner.change_visibility(queue, handle, visibility)).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.call(self.inner.attributes(queue)).await
    }
}

/// Pays orders: the payment and its key in one transaction.
#[derive(Clone)]
struct Paying {
    database: Arc<Mutex<Connection>>,
    /// Whether the key is used; the test fails without it.
    once: bool,
}

impl Paying {
    fn new(once: bool) -> Self {
        let database = Connection::open_in_memory().unwrap();
        create_table(&database).unwrap();
        database.execute_batch("CREATE TABLE payment (order_id TEXT)").unwrap();
        Self { database: Arc::new(Mutex::new(database)), once }
    }

    async fn payments(&self) -> Vec<String> {
        let database = self.database.lock().await;
        let mut all = database.prepare("SELECT order_id FROM payment ORDER BY order_id").unwrap();
        let rows = all.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }
}

#[async_trait]
impl Handler for Paying {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        let order = &received.content.body;
        if order == "no order" {
            return Err(Failure::permanent("orders::NotFound", "no such order"));
        }
        let mut database = self.database.lock().await;
        let transaction = database.transaction().transient(here!())?;
        let (now, expires_at) = (Timestamp::from_ms(0), Timestamp::from_ms(i64::MAX));
        if !self.once || insert_once(&transaction, order, now, expires_at).transient(here!())? == Lease::Granted {
            transaction.execute("INSERT INTO payment VALUES (?1)", [order]).transient(here!())?;
            transaction.commit().transient(here!())?;
        }
        Ok(())
    }
}

/// Runs a consumer that dies at a step, then one that lives. Returns the payments, the dead letters by their original
/// ids, and whether the first consumer died.
async fn killed_at(step: u32, once: bool) -> (Vec<String>, Vec<MessageId>, bool) {
    let world = World::new(9).await;
    for order in ["order 1", "order 2", "no order"] {
        world.send(content(order)).await;
    }
    let (paying, died) = (Paying::new(once), Arc::new(Notify::new()));
    let deadly = Deadly { inner: world.queue.clone(), steps_left: AtomicU32::new(step), died: died.clone() };
    let running = world.run_on(Arc::new(deadly), paying.clone(), |_| {});
    let emptied = async {
        while !world.main_is_empty().await {
            tokio::task::yield_now().await;
        }
    };
    let dead = soon(async {
        tokio::select! {
            () = died.notified() => true,
            () = emptied => false,
        }
    });
    let dead = dead.await;
    running.task.abort();
    let living = world.run(paying.clone());
    soon(async {
        while !world.main_is_empty().await {
            world.advance(Span::from_secs(30));
            tokio::task::yield_now().await;
        }
    })
    .await;
    living.shut_down().await;
    let mut letters: Vec<MessageId> =
        world.dead().await.iter().filter_map(|dead| stamp(dead).original_message_id).collect();
    letters.dedup();
    (paying.payments().await, letters, dead)
}

#[tokio::test]
async fn wherever_it_dies_nothing_is_lost_and_nothing_is_done_twice() {
    let mut died = 0;
    for step in 0..24 {
        let (payments, letters, dead) = killed_at(step, true).await;
        assert_eq!(payments, ["order 1", "order 2"], "killed at step {step}");
        assert_eq!(letters.len(), 1, "killed at step {step}");
        died += u32::from(dead);
    }
    // Attributes, one receive, the dead letter's send and at least one delete: eight steps.
    assert!(died >= 8, "it died at {died} steps only");
}

#[tokio::test]
async fn without_a_key_a_kill_doubles_the_work() {
    let mut doubled = false;
    for step in 0..24 {
        doubled |= killed_at(step, false).await.0.len() > 2;
    }
    assert!(doubled, "the kills must reach the moment between the work and the delete");
}
