//! FIFO queues: order within a group, independent groups, deduplication.

use super::*;

async fn fill(world: &dyn QueueWorld, messages: &[(&str, &str)], settings: QueueSettings) -> QueueArn {
    let queue = world.make(Kind::Fifo, settings).await;
    for (group, body) in messages {
        send(world, &queue, grouped(group, body)).await;
    }
    queue
}

/// Returns the bodies of one group, in order.
fn of_group<'a>(received: &'a [Received], group: &str) -> Vec<&'a str> {
    let here = |message: &&Received| message.content.message_group_id.as_deref() == Some(group);
    received.iter().filter(here).map(|message| message.content.body.as_str()).collect()
}

pub async fn groups_come_in_order_and_side_by_side(world: &dyn QueueWorld) {
    let messages = [("a", "a1"), ("b", "b1"), ("a", "a2"), ("c", "c1"), ("b", "b2"), ("a", "a3")];
    let queue = fill(world, &messages, QueueSettings::default()).await;
    let received = collect(world, &queue, 6).await;
    assert_eq!(of_group(&received, "a"), ["a1", "a2", "a3"]);
    assert_eq!(of_group(&received, "b"), ["b1", "b2"]);
    assert_eq!(of_group(&received, "c"), ["c1"]);
    assert_eq!(received[0].content.body, "a1", "no group is blocked, so the oldest comes first");
    nothing(world, &queue).await;
}

pub async fn group_waits_while_its_first_message_is_held(world: &dyn QueueWorld) {
    let messages = [("a", "a1"), ("a", "a2"), ("b", "b1"), ("a", "a3")];
    let queue = fill(world, &messages, hidden_s(600)).await;
    let first = receive(world, &queue, 2).await;
    assert_eq!(bodies(&first), ["a1", "a2"]);
    assert_eq!(bodies(&collect(world, &queue, 1).await), ["b1"], "other groups continue");
    nothing(world, &queue).await;
    delete(world, &queue, &first[0]).await;
    nothing(world, &queue).await;
    delete(world, &queue, &first[1]).await;
    assert_eq!(bodies(&collect(world, &queue, 1).await), ["a3"]);
}

/// As recorded from SQS: a group continues from its first message as soon as that one is visible again, whatever happened
/// to those after it; and it stops at the first message in flight.
pub async fn returned_first_message_comes_again_before_the_others(world: &dyn QueueWorld) {
    let queue = fill(world, &[("a", "a1"), ("a", "a2"), ("a", "a3")], hidden_s(600)).await;
    let first = receive(world, &queue, 2).await;
    assert_eq!(bodies(&first), ["a1", "a2"]);
    hide_for(world, &queue, &first[1], Span::ZERO).await.expect("it is in flight");
    nothing(world, &queue).await;
    hide_for(world, &queue, &first[0], Span::ZERO).await.expect("it is in flight");
    let again = collect(world, &queue, 3).await;
    assert_eq!(bodies(&again), ["a1", "a2", "a3"]);
    hide_for(world, &queue, &again[0], Span::ZERO).await.expect("it is in flight");
    assert_eq!(bodies(&receive(world, &queue, 10).await), ["a1"], "a2 and a3 are in flight");
}

pub async fn sequence_numbers_rise(world: &dyn QueueWorld) {
    let queue = fill(world, &[("a", "a1"), ("b", "b1"), ("a", "a2")], QueueSettings::default()).await;
    let mut received = collect(world, &queue, 3).await;
    let number = |message: &Received| message.system.sequence_number.as_deref().and_then(|text| text.parse().ok());
    received.sort_by_key(|message| number(message).unwrap_or(0_u128));
    assert_eq!(bodies(&received), ["a1", "b1", "a2"]);
    assert!(received.iter().all(|message| number(message).is_some()));
}

pub async fn duplicates_are_dropped_and_answer_the_first_id(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Fifo, QueueSettings::default()).await;
    let with_id = |body: &str, id: &str| Outgoing { deduplication_id: Some(id.into()), ..grouped("a", body) };
    let batch = [with_id("first", "1"), with_id("same batch", "1"), with_id("another", "2")];
    let sent = world.port().send_batch(&queue, &batch).await.expect("the call is answered");
    let ids: Vec<MessageId> = sent.into_iter().map(|sent| sent.expect("a duplicate is accepted")).collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
    let other_group = Outgoing { deduplication_id: Some("1".into()), ..grouped("b", "other group") };
    assert_eq!(send(world, &queue, other_group).await, ids[0]);
    let received = collect(world, &queue, 2).await;
    assert_eq!(bodies(&received), ["first", "another"]);
    assert_eq!(received[0].system.deduplication_id.as_deref(), Some("1"));
    for message in &received {
        delete(world, &queue, message).await;
    }
    assert_eq!(send(world, &queue, with_id("after the delete", "1")).await, ids[0]);
    nothing(world, &queue).await;
}

pub async fn deduplication_ends_after_five_minutes(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Fifo, QueueSettings::default()).await;
    let first = send(world, &queue, grouped("a", "again")).await;
    world.advance(Span::from_secs(290)).await;
    // A duplicate does not renew the five minutes.
    assert_eq!(send(world, &queue, grouped("a", "again")).await, first);
    world.advance(Span::from_secs(15)).await;
    assert_ne!(send(world, &queue, grouped("a", "again")).await, first);
    collect(world, &queue, 2).await;
}

pub async fn bodies_stand_in_for_deduplication_ids_where_asked(world: &dyn QueueWorld) {
    let settings = QueueSettings { content_based_deduplication: true, ..QueueSettings::default() };
    let queue = world.make(Kind::Fifo, settings).await;
    let plain = |body: &str| Outgoing { deduplication_id: None, ..grouped("a", body) };
    let first = send(world, &queue, plain("hello")).await;
    let mut attributed = plain("hello");
    attributed.content.attributes = [("a".to_owned(), domain::message::Attribute::text("b"))].into();
    assert_eq!(send(world, &queue, attributed).await, first, "attributes do not count");
    let explicit = Outgoing { deduplication_id: Some("of-its-own".into()), ..plain("hello") };
    assert_ne!(send(world, &queue, explicit).await, first, "an id of its own comes first");
    assert_ne!(send(world, &queue, plain("Hello")).await, first);
    let received = collect(world, &queue, 3).await;
    assert_eq!(bodies(&received), ["hello", "hello", "Hello"]);
    let sha256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    assert_eq!(received[0].system.deduplication_id.as_deref(), Some(sha256));
    assert_eq!(received[1].system.deduplication_id.as_deref(), Some("of-its-own"));
}

pub async fn message_delay_is_refused_and_queue_delay_holds(world: &dyn QueueWorld) {
    let settings = QueueSettings { delay: Span::from_secs(4), ..QueueSettings::default() };
    let queue = fill(world, &[("a", "a1"), ("a", "a2")], settings).await;
    let delayed = Outgoing { delay: Span::from_secs(2), ..grouped("a", "delayed") };
    let failure = try_send(world, &queue, delayed).await.expect("the call is answered").expect_err("it has a delay");
    assert_eq!((failure.code.as_str(), failure.sender_fault), ("InvalidParameterValue", true));
    nothing(world, &queue).await;
    world.advance(Span::from_secs(4)).await;
    assert_eq!(bodies(&collect(world, &queue, 2).await), ["a1", "a2"]);
}

/// SQS refuses the whole batch; other implementations refuse the message. None may store it.
pub async fn messages_without_group_or_deduplication_are_refused(world: &dyn QueueWorld) {
    let queue = world.make(Kind::Fifo, QueueSettings::default()).await;
    let mut no_group = grouped("a", "no group");
    no_group.content.message_group_id = None;
    let no_deduplication = Outgoing { deduplication_id: None, ..grouped("a", "no deduplication") };
    let mut bad_group = grouped("a", "bad group");
    bad_group.content.message_group_id = Some("with a space".into());
    let bad_deduplication = Outgoing { deduplication_id: Some("d".repeat(129)), ..grouped("a", "too long") };
    for bad in [no_group, no_deduplication, bad_group, bad_deduplication] {
        let body = bad.content.body.clone();
        let sent = try_send(world, &queue, bad).await;
        assert!(!matches!(sent, Ok(Ok(_))), "{body}: {sent:?}");
    }
    nothing(world, &queue).await;
}
