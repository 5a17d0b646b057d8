//! What a shutdown leaves of the messages whose handlers it cancels.

use super::world::{World, content, soon, stamp};
use async_trait::async_trait;
use consumer::{Class, Failure, Handler, Outcome, Reason};
use domain::time::Span;
use queue::Received;
use std::future::pending;
use std::sync::Arc;
use tokio::sync::Notify;

/// Begins, and never ends.
struct Endless {
    begun: Arc<Notify>,
}

#[async_trait]
impl Handler for Endless {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        self.begun.notify_one();
        pending().await
    }
}

/// SQS would move the message with its next receive, without a word about why.
#[tokio::test]
async fn after_its_last_receive_a_message_that_shutdown_cancels_dies_with_a_stamp() {
    for (receives_max, dies) in [(1, true), (2, false)] {
        let world = World::new(receives_max).await;
        world.send(content("slow")).await;
        let begun = Arc::new(Notify::new());
        let mut running = world.run_on(world.queue.clone(), Endless { begun: begun.clone() }, |config| {
            config.drain_max = Some(Span::ZERO);
            config.cancel_receive = true;
        });
        soon(begun.notified()).await;
        running.shutdown.send_replace(true);
        let (_, outcome) = running.next().await;
        soon(running.task).await.unwrap();
        if !dies {
            assert_eq!((outcome, world.dead().await.len()), (Outcome::Released, 0));
            continue;
        }
        assert!(matches!(outcome, Outcome::DeadLettered { reason: Reason::AttemptsExhausted, .. }), "{outcome:?}");
        let dead = stamp(&world.dead().await[0]);
        assert_eq!((dead.error_type.as_deref(), dead.class), (Some("consumer::Shutdown"), Some(Class::Transient)));
        assert!(world.main_is_empty().await);
    }
}
