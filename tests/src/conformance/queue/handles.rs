//! Receipt handles: valid, stale, expired and garbled.

use super::*;

pub async fn deleted_message_is_gone_and_may_be_deleted_again(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(5)).await;
        send(world, &queue, message(kind, "done")).await;
        let received = receive_one(world, &queue).await;
        delete(world, &queue, &received).await;
        delete(world, &queue, &received).await;
        world.advance(Span::from_secs(5)).await;
        nothing(world, &queue).await;
    }
}

pub async fn expired_handle_deletes_on_a_standard_queue_only(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(5)).await;
        send(world, &queue, message(kind, "late")).await;
        let received = receive_one(world, &queue).await;
        world.advance(Span::from_secs(6)).await;
        let deleted = try_delete(world, &queue, &received).await;
        match kind {
            Kind::Standard => {
                assert_eq!(deleted, Ok(()));
                nothing(world, &queue).await;
            }
            Kind::Fifo => {
                let failure = deleted.expect_err("the handle has expired");
                assert!(failure.sender_fault, "{failure:?}");
                receive_one(world, &queue).await;
            }
        }
    }
}

pub async fn stale_handle_deletes_nothing(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(5)).await;
        send(world, &queue, message(kind, "twice")).await;
        let first = receive_one(world, &queue).await;
        world.advance(Span::from_secs(6)).await;
        let second = receive_one(world, &queue).await;
        let deleted = try_delete(world, &queue, &first).await;
        assert_eq!(deleted.is_ok(), kind == Kind::Standard, "{kind:?}: {deleted:?}");
        hide_for(world, &queue, &second, Span::ZERO).await.expect("the message is still there");
        let third = receive_one(world, &queue).await;
        delete(world, &queue, &third).await;
    }
}

pub async fn garbled_handle_fails_alone(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, hidden_s(5)).await;
    let other = world.make(Kind::Standard, hidden_s(5)).await;
    send(world, &queue, message(Kind::Standard, "here")).await;
    send(world, &other, message(Kind::Standard, "there")).await;
    let (here, there) = (receive_one(world, &queue).await, receive_one(world, &other).await);
    let handles = ["garbled".to_owned(), here.receipt_handle, there.receipt_handle.clone()];
    let deleted = world.port().delete_batch(&queue, &handles).await.expect("the call is answered");
    let failure = deleted[0].as_ref().expect_err("it is not a handle");
    assert_eq!((failure.code.as_str(), failure.sender_fault), ("ReceiptHandleIsInvalid", true));
    assert_eq!(deleted[1], Ok(()));
    assert!(deleted[2].is_err(), "another queue's handle");
    world.advance(Span::from_secs(5)).await;
    nothing(world, &queue).await;
    receive_one(world, &other).await;
    for handle in ["garbled", &there.receipt_handle] {
        let changed = world.port().change_visibility(&queue, handle, Span::ZERO).await;
        assert!(is_invalid(&changed), "{changed:?}");
    }
}

pub async fn change_of_visibility_counts_from_now(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(6)).await;
        send(world, &queue, message(kind, "held")).await;
        let held = receive_one(world, &queue).await;
        world.advance(Span::from_secs(4)).await;
        hide_for(world, &queue, &held, Span::from_secs(6)).await.expect("it is in flight");
        world.advance(Span::from_secs(4)).await;
        nothing(world, &queue).await;
        world.advance(Span::from_secs(2)).await;
        let again = receive_one(world, &queue).await;
        hide_for(world, &queue, &again, Span::ZERO).await.expect("it is in flight");
        let last = receive_one(world, &queue).await;
        assert_eq!(last.system.receive_count, Some(3), "{kind:?}");
    }
}

pub async fn change_of_visibility_needs_a_message_in_flight(world: &dyn QueueWorld) {
    for kind in KINDS {
        let queue = world.make(kind, hidden_s(5)).await;
        send(world, &queue, message(kind, "held")).await;
        let expired = receive_one(world, &queue).await;
        world.advance(Span::from_secs(6)).await;
        let changed = hide_for(world, &queue, &expired, Span::from_secs(5)).await;
        assert!(is_invalid(&changed), "{kind:?}, expired: {changed:?}");
        let held = receive_one(world, &queue).await;
        delete(world, &queue, &held).await;
        let changed = hide_for(world, &queue, &held, Span::from_secs(5)).await;
        assert!(is_invalid(&changed), "{kind:?}, deleted: {changed:?}");
    }
}

pub async fn change_of_visibility_stays_under_twelve_hours(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Standard, hidden_s(60)).await;
    send(world, &queue, message(Kind::Standard, "held")).await;
    let held = receive_one(world, &queue).await;
    world.advance(Span::from_secs(2)).await;
    for seconds in [-1, 43_201, 43_200] {
        let changed = hide_for(world, &queue, &held, Span::from_secs(seconds)).await;
        assert!(is_invalid(&changed), "{seconds} s, 2 s after the receive: {changed:?}");
    }
    hide_for(world, &queue, &held, Span::from_secs(43_000)).await.expect("less than twelve hours in total");
}
