//! Time: visibility timeouts, delays, retention, long polling.

use super::*;
use std::time::{Duration, Instant};

/// The deadline for a poll that may wait 20 s: a message must wake it, not the end of its wait.
pub(super) const AT_ONCE: Duration = Duration::from_secs(10);

pub async fn received_message_is_invisible_until_its_timeout(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(5)).await;
        send(world, &queue, message(kind, "held")).await;
        receive_one(world, &queue).await;
        nothing(world, &queue).await;
        world.advance(Span::from_secs(5)).await;
        assert_eq!(receive_one(world, &queue).await.system.receive_count, Some(2), "{kind:?}");
    }
}

pub async fn receive_may_set_its_own_timeout(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(600)).await;
        send(world, &queue, message(kind, "held")).await;
        let take = |seconds| world.port().receive(&queue, 1, world.wait(), Some(Span::from_secs(seconds)));
        assert_eq!(take(0).await.expect("answered").len(), 1, "{kind:?}");
        assert_eq!(take(5).await.expect("answered").len(), 1, "zero leaves it visible");
        nothing(world, &queue).await;
        world.advance(Span::from_secs(5)).await;
        receive_one(world, &queue).await;
    }
}

pub async fn delayed_message_appears_after_its_delay(world: &dyn QueueWorld) {
    let settings = QueueSettings { delay: Span::from_secs(4), ..QueueSettings::default() };
    let queue = world.make(Kind::Standard, settings).await;
    send(world, &queue, Outgoing { delay: Span::from_secs(8), ..message(Kind::Standard, "its own delay") }).await;
    send(world, &queue, message(Kind::Standard, "the queue's delay")).await;
    nothing(world, &queue).await;
    world.advance(Span::from_secs(4)).await;
    assert_eq!(bodies(&collect(world, &queue, 1).await), ["the queue's delay"]);
    world.advance(Span::from_secs(4)).await;
    assert_eq!(bodies(&collect(world, &queue, 1).await), ["its own delay"]);
}

pub async fn messages_expire_with_the_retention(world: &dyn QueueWorld) {
    let retention = Span::from_mins(1);
    for kind in KINDS {
        let queue = world.make(kind, QueueSettings { retention, ..hidden_s(1) }).await;
        send(world, &queue, message(kind, "old")).await;
        send(world, &queue, message(kind, "old too")).await;
        receive_one(world, &queue).await;
        world.advance(Span::from_secs(50)).await;
        send(world, &queue, message(kind, "young")).await;
        // Receiving a message does not renew it.
        world.advance(Span::from_secs(15)).await;
        assert_eq!(bodies(&collect(world, &queue, 1).await), ["young"], "{kind:?}");
        nothing(world, &queue).await;
    }
}

pub async fn long_poll_gets_what_arrives_meanwhile(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, QueueSettings::default()).await;
        let began = Instant::now();
        let waiting = world.port().receive(&queue, 10, Span::from_secs(20), None);
        let (received, _) = tokio::join!(waiting, send(world, &queue, message(kind, "new")));
        assert_eq!(bodies(&received.expect("answered")), ["new"], "{kind:?}");
        assert!(began.elapsed() < AT_ONCE, "{kind:?}: {:?}", began.elapsed());
    }
}

pub async fn long_poll_gets_what_comes_back_meanwhile(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(5)).await;
        send(world, &queue, message(kind, "back")).await;
        receive_one(world, &queue).await;
        let waiting = || world.port().receive(&queue, 10, Span::from_secs(20), None);
        let (received, ()) = tokio::join!(waiting(), world.advance(Span::from_secs(6)));
        let received = received.expect("answered");
        assert_eq!(bodies(&received), ["back"], "{kind:?}: by its timeout");
        hide_for(world, &queue, &received[0], Span::from_mins(10)).await.expect("it is in flight");
        let began = Instant::now();
        let (again, released) = tokio::join!(waiting(), hide_for(world, &queue, &received[0], Span::ZERO));
        released.expect("it is in flight");
        assert_eq!(bodies(&again.expect("answered")), ["back"], "{kind:?}: by a change of visibility");
        assert!(began.elapsed() < AT_ONCE, "{kind:?}: {:?}", began.elapsed());
    }
}

pub async fn long_poll_ends_empty_handed(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, QueueSettings::default()).await;
        let waiting = world.port().receive(&queue, 10, Span::from_secs(3), None);
        let (received, ()) = tokio::join!(waiting, world.advance(Span::from_secs(3)));
        assert_eq!(received.expect("answered"), [], "{kind:?}");
    }
}
