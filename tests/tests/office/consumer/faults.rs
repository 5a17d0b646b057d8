//! The consumer crate on a failing queue: no message is lost, and duplicates become one letter.

use super::world::{ByBody, World, content, stamp};
use async_trait::async_trait;
use consumer::Outcome;
use domain::id::{LetterId, MessageId, QueueArn};
use domain::message::Content;
use domain::time::Span;
use local::queue::{EmbeddedQueue, Peeked};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// A queue that fails at chosen calls.
struct Faulty {
    inner: Arc<EmbeddedQueue>,
    /// How many receives fail.
    receives: AtomicU32,
    /// How many sends take effect but lose their answer.
    send_answers: AtomicU32,
    /// Deletes never take effect and never answer, as if the process died before them.
    deletes_hang: bool,
}

impl Faulty {
    fn new(world: &World) -> Self {
        let none = || AtomicU32::new(0);
        Self { inner: world.queue.clone(), receives: none(), send_answers: none(), deletes_hang: false }
    }
}

/// Fails a call if faults remain.
fn fail_while_any(faults: &AtomicU32, queue: &QueueArn) -> Result<(), QueueError> {
    match faults.fetch_update(SeqCst, SeqCst, |remaining| remaining.checked_sub(1)) {
        Ok(_) => Err(QueueError::Unanswered { queue: queue.clone(), source: "the connection is lost".into() }),
        Err(_) => Ok(()),
    }
}

#[async_trait]
impl Queue for Faulty {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        fail_while_any(&self.receives, queue)?;
        self.inner.receive(queue, max, wait, visibility).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        let sent = self.inner.send_batch(queue, messages).await?;
        fail_while_any(&self.send_answers, queue)?;
        Ok(sent)
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        match self.deletes_hang {
            true => pending().await,
            false => self.inner.delete_batch(queue, receipt_handles).await,
        }
    }

    async fn change_visibility(
        &self,
        queue: &QueueArn,
        receipt_handle: &str,
        visibility: Span,
    ) -> Result<(), QueueError> {
        self.inner.change_visibility(queue, receipt_handle, visibility).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.inner.attributes(queue).await
    }
}

/// Returns the number of messages in the dead-letter queue, and the number of letters that the office makes of them.
async fn messages_and_letters(world: &World) -> (usize, usize) {
    let dead = world.dead().await;
    let letter = |dead: &Peeked| {
        let stamp = stamp(dead);
        LetterId::from_message(&stamp.main_queue.unwrap(), &stamp.original_message_id.unwrap())
    };
    let mut letters: Vec<LetterId> = dead.iter().map(letter).collect();
    letters.sort();
    letters.dedup();
    (dead.len(), letters.len())
}

async fn killed_between_send_and_delete(world: &World) {
    world.send(Content { message_group_id: Some("acme".into()), ..content("permanent") }).await;
    let broken = Arc::new(Faulty { deletes_hang: true, ..Faulty::new(world) });
    let mut killed = world.run_on(broken, ByBody, |_| {});
    assert!(matches!(killed.next().await.1, Outcome::DeadLettered { .. }));
    killed.task.abort();
    let mut again = world.run(ByBody);
    world.advance(Span::from_secs(30));
    assert!(matches!(again.next().await.1, Outcome::DeadLettered { .. }));
    again.shut_down().await;
    assert!(world.main_is_empty().await);
}

#[tokio::test]
async fn killed_between_send_and_delete_leaves_two_messages_of_one_letter() {
    let world = World::new(3).await;
    killed_between_send_and_delete(&world).await;
    assert_eq!(messages_and_letters(&world).await, (2, 1));
}

#[tokio::test]
async fn on_fifo_the_second_copy_is_deduplicated() {
    let world = World::with(3, ".fifo", Span::from_secs(30)).await;
    killed_between_send_and_delete(&world).await;
    assert_eq!(messages_and_letters(&world).await, (1, 1));
}

#[tokio::test]
async fn a_lost_answer_of_the_dead_letter_queue_makes_no_second_letter() {
    let world = World::new(3).await;
    world.send(content("permanent")).await;
    let broken = Arc::new(Faulty { send_answers: AtomicU32::new(2), ..Faulty::new(&world) });
    let mut running = world.run_on(broken, ByBody, |config| config.entropy = Arc::new(|| 0));
    assert!(matches!(running.next().await.1, Outcome::DeadLettered { .. }));
    running.shut_down().await;
    assert!(world.main_is_empty().await);
    assert_eq!(messages_and_letters(&world).await, (3, 1));
}

#[tokio::test]
async fn a_failed_receive_is_retried() {
    let world = World::new(3).await;
    world.send(content("good")).await;
    let broken = Arc::new(Faulty { receives: AtomicU32::new(4), ..Faulty::new(&world) });
    let mut running = world.run_on(broken, ByBody, |config| config.entropy = Arc::new(|| 0));
    assert_eq!(running.next().await.1, Outcome::Handled);
    running.shut_down().await;
    assert!(world.main_is_empty().await);
}
