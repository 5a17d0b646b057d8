//! Dead-letter queues that are missing, of the wrong type, or take less than the message with its stamp.

use super::*;
use crate::config::ConsumerConfig;
use crate::fake::{Fake, arn, config, received};
use crate::strategy::{Strategies, Strategy};
use crate::{Consumer, Failure, Handler};
use async_trait::async_trait;
use domain::limits::MESSAGE_BYTES_MAX;
use queue::{Received, Redrive};
use std::sync::Arc;

struct Refusing;

#[async_trait]
impl Handler for Refusing {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        Err(Failure::permanent("orders::NotFound", "no such product").with_stack("at orders::price\n".repeat(500)))
    }
}

fn to(dlq: &str) -> Strategies {
    Strategies::new(Strategy { dlq: Some(arn(dlq)), ..Strategy::default() })
}

/// Handles a message of 5,000 bytes; returns the calls to the queues, and the copy that one took.
async fn die(queue: Fake, strategies: Strategies, is_looked_at: bool) -> (Vec<String>, Option<(QueueArn, Content)>) {
    let queue = Arc::new(queue);
    let consumer = Consumer::new(ConsumerConfig { strategies, ..config() }, queue.clone(), Arc::new(Refusing));
    if is_looked_at {
        consumer.check().await.expect("a main queue");
    }
    let mut message = received("m-1", 1);
    message.content.body = "x".repeat(5_000);
    let failed = consumer.handle_batch(vec![message.clone()]).await.expect("an answer");
    let copy = queue.sent().into_iter().next();
    assert_eq!(failed.is_empty(), copy.is_some(), "deleted if and only if it was dead-lettered");
    let mut plain = copy.clone();
    if let Some((_, plain)) = &mut plain {
        plain.attributes.remove(FAILURE_ATTRIBUTE);
        assert_eq!(*plain, message.content, "the message is kept to the byte");
    }
    (queue.calls(), copy)
}

fn stamp_bytes(copy: Option<(QueueArn, Content)>) -> Option<usize> {
    copy.and_then(|(_, copy)| Some(copy.attributes.get(FAILURE_ATTRIBUTE)?.as_text()?.len()))
}

#[tokio::test(start_paused = true)]
async fn a_stamp_shrinks_to_what_its_queue_takes() {
    for (bytes_max, stamp_min) in [(MESSAGE_BYTES_MAX, 7_000), (6_000, 500), (5_300, 200)] {
        let queue = || Fake::new(Some("dlq")).with("dlq", bytes_max, None);
        let (calls, copy) = die(queue(), Strategies::default(), true).await;
        assert_eq!(calls, ["takes dlq"], "{bytes_max}: known before");
        assert!(stamp_bytes(copy) >= Some(stamp_min), "{bytes_max}");
        // Without the right to look, it is found out.
        let (calls, copy) = die(queue().denying("dlq"), Strategies::default(), true).await;
        assert_eq!(calls.last().map(String::as_str), Some("takes dlq"), "{calls:?}");
        assert!(calls.len() <= 4 && stamp_bytes(copy).is_some(), "{calls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_queue_without_room_is_passed_over_for_the_one_of_the_redrive_policy() {
    let queue = || Fake::new(Some("dlq")).with("dlq", MESSAGE_BYTES_MAX, None);
    let (calls, copy) = die(queue().with("critical", 5_010, None), to("critical"), true).await;
    assert_eq!((calls, copy.map(|(queue, _)| queue)), (vec!["takes dlq".to_owned()], Some(arn("dlq"))));
    let (calls, _) = die(queue(), to("critical"), false).await;
    assert_eq!(calls, ["takes dlq"], "it is missing");
    let closed = queue().with("critical", MESSAGE_BYTES_MAX, None).closing("critical");
    let (calls, _) = die(closed, to("critical"), false).await;
    assert_eq!(calls, ["takes dlq"], "the consumer may not send to it");
}

#[tokio::test(start_paused = true)]
async fn a_silent_queue_is_asked_again_for_half_a_minute() {
    let queue = Arc::new(Fake::new(Some("dlq")).with("dlq", MESSAGE_BYTES_MAX, None));
    let consumer = Consumer::new(config(), queue.clone(), Arc::new(Refusing));
    consumer.check().await.expect("a main queue");
    queue.hang(true);
    let began = Instant::now();
    assert_eq!(consumer.handle_batch(vec![received("m-1", 1)]).await.expect("an answer").len(), 1);
    assert_eq!(queue.calls(), ["hangs dlq"; 3]);
    assert!(began.elapsed() < SENDING_MAX + Duration::from_secs(10), "{:?}", began.elapsed());
}

/// Each dead letter would be a new message, which fails at once, without end.
#[tokio::test(start_paused = true)]
async fn the_main_queue_takes_no_dead_letters() {
    let (calls, _) = die(Fake::new(Some("dlq")).with("dlq", MESSAGE_BYTES_MAX, None), to("orders"), true).await;
    assert_eq!(calls, ["takes dlq"]);
    let (calls, copy) = die(Fake::new(None), to("orders"), true).await;
    assert_eq!((calls, copy), (vec!["hides m-1 for 1 s".to_owned()], None));
}

#[tokio::test(start_paused = true)]
async fn what_no_queue_has_room_for_is_left_to_sqs_or_sent_without_a_stamp() {
    // SQS moves it after its last receive, which is brought on.
    let (calls, copy) = die(Fake::new(Some("dlq")).with("dlq", 5_010, None), Strategies::default(), true).await;
    assert_eq!((calls, copy), (vec!["hides m-1 for 0 s".to_owned()], None));
    // Nobody would ever move it.
    let (calls, copy) = die(Fake::new(None).with("critical", 5_010, None), to("critical"), true).await;
    assert_eq!((calls, stamp_bytes(copy)), (vec!["takes critical".to_owned()], None));
    let (calls, copy) = die(Fake::new(None).with("critical", 4_999, None), to("critical"), true).await;
    assert_eq!((calls, copy), (vec!["refuses critical".to_owned(), "hides m-1 for 1 s".to_owned()], None));
}

#[tokio::test]
async fn what_is_wrong_is_found_before_a_message_fails() {
    let check = async |queue: Fake, strategies: Strategies, expected: &[&str]| {
        let consumer = Consumer::new(ConsumerConfig { strategies, ..config() }, Arc::new(queue), Arc::new(Refusing));
        let problems: Vec<String> =
            consumer.check().await.expect("a main queue").iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(expected), "{problem}");
        }
    };
    let whole = || Fake::new(Some("dlq")).with("dlq", MESSAGE_BYTES_MAX, None);
    let missing = "the dead-letter queue arn:aws:sqs:eu-west-1:111122223333:";
    check(whole(), Strategies::default(), &[]).await;
    check(whole().denying("dlq"), Strategies::default(), &[]).await;
    check(Fake::new(Some("dlq")), Strategies::default(), &[&format!("{missing}dlq does not exist")]).await;
    check(whole(), to("critical"), &[&format!("{missing}critical does not exist")]).await;
    check(Fake::new(None), Strategies::default(), &["messages of arn:aws:sqs:eu-west-1:111122223333:orders have no"])
        .await;
    let fifo = whole().with("critical.fifo", MESSAGE_BYTES_MAX, None);
    check(fifo, to("critical.fifo"), &[&format!("{missing}critical.fifo is not of the main queue's type")]).await;
    check(whole(), to("orders"), &["a strategy names the main queue arn:aws:sqs:eu-west-1:111122223333:orders as"])
        .await;
    let with = |name: &str| Strategies::default().with("a", Strategy::default()).with(name, Strategy::default());
    for name in ["order.*", "*", "", "a"] {
        check(whole(), with(name), &[&format!("the strategy for {name:?} is for no message")]).await;
    }
    check(whole(), with("order.placed"), &[]).await;
    let redrive = Redrive { dlq: arn("gone"), receives_max: 3 };
    let both = Fake::default().with("orders", MESSAGE_BYTES_MAX, Some(redrive));
    check(both, to("lost"), &[&format!("{missing}gone does not exist"), &format!("{missing}lost does not exist")])
        .await;
}
