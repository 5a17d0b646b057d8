//! The consumer crate on a queue that breaks: nothing is lost, and what comes twice is one letter.

use super::world::{AsBodySays, World, content, stamp};
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

/// A queue that breaks at chosen calls.
struct Faulty {
    inner: Arc<EmbeddedQueue>,
    /// So many receives fail.
    receives: AtomicU32,
    /// The answers to so many sends are lost, after they took effect.
    send_answers: AtomicU32,
    /// Deletes never answer, and never happen: as when the process dies before them.
    deletes_hang: bool,
}

impl Faulty {
    fn new(world: &World) -> Self {
        let none = || AtomicU32::new(0);
        Self { inner: world.queue.clone(), receives: none(), send_answers: none(), deletes_hang: false }
    }
}

/// Takes one from a number of faults, if any are left.
fn strike(faults: &AtomicU32, queue: &QueueArn) -> Result<(), QueueError> {
    match faults.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) {
        Ok(_) => Err(QueueError::Unanswered { queue: queue.clone(), source: "the line is cut".into() }),
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
        strike(&self.receives, queue)?;
        self.inner.receive(queue, max, wait, visibility).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        let sent = self.inner.send_batch(queue, messages).await?;
        strike(&self.send_answers, queue)?;
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

/// The letters that the office makes of what is in the dead-letter queue: how many messages, how many letters.
async fn messages_and_letters(world: &World) -> (usize, usize) {
    let dead = world.dead().await;
    let letter = |dead: &Peeked| {
        let stamp = stamp(dead);
        LetterId::of(&stamp.main_queue.unwrap(), &stamp.original_message_id.unwrap())
    };
    let mut letters: Vec<LetterId> = dead.iter().map(letter).collect();
    letters.sort();
    letters.dedup();
    (dead.len(), letters.len())
}

async fn killed_between_send_and_delete(world: &World) {
    world.send(Content { message_group_id: Some("acme".into()), ..content("permanent") }).await;
    let broken = Arc::new(Faulty { deletes_hang: true, ..Faulty::new(world) });
    let mut killed = world.run_on(broken, AsBodySays, |_| {});
    assert!(matches!(killed.next().await.1, Outcome::DeadLettered { .. }));
    killed.task.abort();
    let mut again = world.run(AsBodySays);
    world.pass(Span::from_secs(30));
    assert!(matches!(again.next().await.1, Outcome::DeadLettered { .. }));
    again.stop().await;
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
    let mut running = world.run_on(broken, AsBodySays, |config| config.entropy = Arc::new(|| 0));
    assert!(matches!(running.next().await.1, Outcome::DeadLettered { .. }));
    running.stop().await;
    assert!(world.main_is_empty().await);
    assert_eq!(messages_and_letters(&world).await, (3, 1));
}

#[tokio::test]
async fn a_queue_that_fails_is_asked_again() {
    let world = World::new(3).await;
    world.send(content("good")).await;
    let broken = Arc::new(Faulty { receives: AtomicU32::new(4), ..Faulty::new(&world) });
    let mut running = world.run_on(broken, AsBodySays, |config| config.entropy = Arc::new(|| 0));
    assert_eq!(running.next().await.1, Outcome::Handled);
    running.stop().await;
    assert!(world.main_is_empty().await);
}
