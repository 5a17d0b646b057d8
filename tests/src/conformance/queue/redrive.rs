//! Redrive policies: when a message moves to the dead-letter queue, and its attributes there.

use super::waiting::AT_ONCE;
use super::*;
use domain::message::Attribute;
use std::time::Instant;

/// Creates a main queue and its dead-letter queue, with a retention for the latter.
async fn pair(world: &dyn QueueWorld, kind: Kind, receives_max: u32, retention: Span) -> (QueueArn, QueueArn) {
    let dlq = world.make(kind, QueueSettings { retention, ..hidden_s(600) }).await;
    let main = world.make(kind, hidden_s(600).dead_letters_to(&dlq, receives_max)).await;
    (main, dlq)
}

/// Receives a message and makes it visible again at once.
async fn fail_once(world: &dyn QueueWorld, queue: &QueueArn) -> Received {
    let received = receive_one(world, queue).await;
    hide_for(world, queue, &received, Span::ZERO).await.expect("it is in flight");
    received
}

pub async fn too_many_receives_move_the_message(world: &dyn QueueWorld) {
    let (main, dlq) = pair(world, Kind::Standard, 2, Span::from_days(14)).await;
    let mut poison = message(Kind::Standard, "poison");
    poison.content.message_group_id = Some("tenant-7".into());
    poison.content.attributes = [("Trace".to_owned(), Attribute::number("1.50"))].into();
    let id = send(world, &main, poison.clone()).await;
    let first = fail_once(world, &main).await;
    world.advance(Span::from_secs(2)).await;
    fail_once(world, &main).await;
    nothing(world, &dlq).await;
    nothing(world, &main).await;
    let dead = receive_one(world, &dlq).await;
    assert_eq!((&dead.message_id, &dead.content), (&id, &poison.content));
    assert_eq!(dead.system.source_queue, Some(main.clone()));
    assert_eq!(dead.system.sent_at, first.system.sent_at, "the time of sending stays");
    assert_eq!(dead.system.first_received_at, first.system.first_received_at);
    assert_eq!(dead.system.receive_count, Some(3), "the count continues");
    nothing(world, &main).await;
}

pub async fn deleted_in_time_is_never_moved(world: &dyn QueueWorld) {
    for kind in KINDS {
        let (main, dlq) = pair(world, kind, 2, Span::from_days(14)).await;
        send(world, &main, message(kind, "late success")).await;
        fail_once(world, &main).await;
        let last = receive_one(world, &main).await;
        delete(world, &main, &last).await;
        nothing(world, &main).await;
        nothing(world, &dlq).await;
    }
}

pub async fn fifo_move_frees_the_group_and_restarts_the_time(world: &dyn QueueWorld) {
    let (main, dlq) = pair(world, Kind::Fifo, 1, Span::from_days(14)).await;
    let id = send(world, &main, grouped("a", "poison")).await;
    send(world, &main, grouped("a", "next")).await;
    let received = receive(world, &main, 1).await;
    assert_eq!(bodies(&received), ["poison"]);
    hide_for(world, &main, &received[0], Span::ZERO).await.expect("it is in flight");
    world.advance(Span::from_secs(3)).await;
    assert_eq!(bodies(&collect(world, &main, 1).await), ["next"], "the group continues");
    let dead = receive_one(world, &dlq).await;
    assert_eq!(dead.message_id, id);
    assert_eq!(dead.content.message_group_id.as_deref(), Some("a"));
    assert_eq!(
        dead.system.deduplication_id.as_deref(),
        Some(id.as_str()),
        "its message id replaces the deduplication id"
    );
    assert_eq!(dead.system.source_queue, Some(main));
    assert!(dead.system.sent_at > received[0].system.sent_at, "the move is the new time of sending");
    assert_ne!(dead.system.sequence_number, received[0].system.sequence_number);
}

pub async fn letters_with_one_deduplication_id_both_survive(world: &dyn QueueWorld) {
    let (main, dlq) = pair(world, Kind::Fifo, 1, Span::from_days(14)).await;
    let mut sent = Vec::new();
    for _ in 0..2 {
        sent.push(send(world, &main, grouped("a", "same id")).await);
        fail_once(world, &main).await;
        nothing(world, &main).await;
        world.advance(Span::from_mins(5)).await;
    }
    let dead: Vec<MessageId> = collect(world, &dlq, 2).await.into_iter().map(|message| message.message_id).collect();
    assert_eq!(dead, sent);
}

pub async fn message_sent_to_a_dead_letter_queue_by_hand_has_no_source(world: &dyn QueueWorld) {
    for kind in KINDS {
        let (_, dlq) = pair(world, kind, 1, Span::from_days(14)).await;
        send(world, &dlq, message(kind, "by hand")).await;
        let received = receive_one(world, &dlq).await;
        assert_eq!((received.system.source_queue, received.system.receive_count), (None, Some(1)), "{kind:?}");
    }
}

pub async fn moved_message_wakes_a_waiting_receive(world: &dyn QueueWorld) {
    for kind in KINDS {
        let (main, dlq) = pair(world, kind, 1, Span::from_days(14)).await;
        send(world, &main, message(kind, "poison")).await;
        fail_once(world, &main).await;
        let began = Instant::now();
        let waiting = world.port().receive(&dlq, 10, Span::from_secs(20), None);
        let (dead, ()) = tokio::join!(waiting, nothing(world, &main));
        assert_eq!(bodies(&dead.expect("answered")), ["poison"], "{kind:?}");
        assert!(began.elapsed() < AT_ONCE, "{kind:?}: {:?}", began.elapsed());
    }
}

pub async fn each_queue_of_a_chain_counts_its_own_receives(world: &dyn QueueWorld) {
    for kind in KINDS {
        let last = world.make(kind, hidden_s(600)).await;
        let middle = world.make(kind, hidden_s(600).dead_letters_to(&last, 2)).await;
        let first = world.make(kind, hidden_s(600).dead_letters_to(&middle, 3)).await;
        let id = send(world, &first, message(kind, "poison")).await;
        for (queue, receives) in [(&first, 3), (&middle, 2)] {
            for _ in 0..receives {
                fail_once(world, queue).await;
            }
            nothing(world, queue).await;
        }
        let dead = receive_one(world, &last).await;
        assert_eq!((dead.message_id, dead.system.receive_count), (id, Some(6)), "{kind:?}");
        assert_eq!(dead.system.source_queue, Some(middle), "{kind:?}: the previous queue");
    }
}

pub async fn retention_counts_from_the_first_send_on_standard_queues(world: &dyn QueueWorld) {
    for kind in KINDS {
        let (main, dlq) = pair(world, kind, 1, Span::from_mins(2)).await;
        send(world, &main, message(kind, "dead")).await;
        fail_once(world, &main).await;
        world.advance(Span::from_secs(90)).await;
        nothing(world, &main).await;
        world.advance(Span::from_secs(40)).await;
        match kind {
            Kind::Standard => nothing(world, &dlq).await,
            Kind::Fifo => drop(receive_one(world, &dlq).await),
        }
    }
}
