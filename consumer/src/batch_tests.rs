//! A batch ends before its deadline, by a clock that only the test moves.

use super::*;
use crate::fake::{Fake, arn, config, received};
use crate::{ConsumerConfig, Failure, Handler};
use async_trait::async_trait;
use domain::limits::MESSAGE_BYTES_MAX;
use std::future::pending;
use std::sync::Mutex;

/// Handles a message as its id says: `slow…` never ends.
#[derive(Default)]
struct ById {
    begun: Mutex<Vec<String>>,
}

#[async_trait]
impl Handler for ById {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        self.begun.lock().expect("no panic").push(received.content.body.clone());
        if received.content.body.starts_with("slow") { pending().await } else { Ok(()) }
    }
}

/// A function whose invocations last 30 s.
struct World {
    queue: Arc<Fake>,
    handler: Arc<ById>,
    consumer: Consumer,
}

impl World {
    fn new(queue: Fake, change: impl FnOnce(&mut ConsumerConfig)) -> Self {
        let mut config = config();
        change(&mut config);
        let (queue, handler) = (Arc::new(queue), Arc::new(ById::default()));
        let consumer = Consumer::new(config, queue.clone(), handler.clone());
        Self { queue, handler, consumer }
    }

    fn with_dlq(concurrency: usize) -> Self {
        let queue = Fake::new(Some("dlq")).with("dlq", MESSAGE_BYTES_MAX, None);
        Self::new(queue, |config| config.concurrency = concurrency)
    }

    /// Returns the failures, after how many milliseconds, and the calls to the queue.
    async fn invoke(&self, messages: &[(&str, u32)], deadline_s: u64) -> (Vec<String>, u128, Vec<String>) {
        let messages = messages.iter().map(|(id, receive_count)| received(id, *receive_count)).collect();
        let (began, deadline) = (Instant::now(), SystemTime::UNIX_EPOCH + Duration::from_secs(deadline_s));
        let failed = self.consumer.handle_batch_until(messages, deadline).await.expect("an answer");
        let failed = failed.iter().map(|id| id.as_str().to_owned()).collect();
        let mut calls = self.queue.calls();
        calls.sort();
        (failed, began.elapsed().as_millis(), calls)
    }

    fn begun(&self) -> Vec<String> {
        self.handler.begun.lock().expect("no panic").clone()
    }
}

#[test]
fn a_tenth_of_the_time_is_kept_within_bounds() {
    let now = Instant::now();
    let check = |left_ms, stops_ms, answers_ms| {
        let at = |ms| now + Duration::from_millis(ms);
        let expected = Ends { stops_at: at(stops_ms), answers_at: at(answers_ms) };
        assert_eq!(Ends::after(Span::from_ms(left_ms), now), expected, "{left_ms} ms");
    };
    //    left     stops    answers, ms
    check(3_000, 2_500, 2_875);
    check(30_000, 27_000, 29_250);
    check(900_000, 895_000, 898_750);
    check(400, 0, 300);
    check(0, 0, 0);
    check(-7, 0, 0);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_finished_goes_back_before_the_deadline() {
    let world = World::with_dlq(2);
    let (failed, took_ms, calls) = world.invoke(&[("quick", 1), ("slow-1", 1), ("slow-2", 2), ("late", 1)], 30).await;
    assert_eq!(failed, ["slow-1", "slow-2", "late"]);
    assert_eq!(took_ms, 27_000);
    // A handler that ran has failed, and waits like any failure; one that did not begin is for others at once.
    assert_eq!(calls, ["hides late for 0 s", "hides slow-1 for 1 s", "hides slow-2 for 2 s"]);
    assert_eq!(world.begun(), ["quick", "slow-1", "slow-2"]);
}

#[tokio::test(start_paused = true)]
async fn after_its_last_receive_a_message_without_time_dies_with_a_stamp() {
    let world = World::with_dlq(1);
    let (failed, took_ms, calls) = world.invoke(&[("slow", 3), ("late", 3), ("late-2", 2)], 30).await;
    assert_eq!((failed, took_ms), (vec!["late-2".to_owned()], 27_000));
    assert_eq!(calls, ["hides late-2 for 0 s", "takes dlq", "takes dlq"]);
    let mut stamped: Vec<(String, String)> = Vec::new();
    for (_, copy) in world.queue.sent() {
        let stamp = copy.attributes[domain::marker::FAILURE_ATTRIBUTE].as_text().expect("a text").to_owned();
        let stamp = domain::read::Stamp::parse(&stamp).expect("a stamp");
        assert_eq!(
            (stamp.error_type.as_deref(), stamp.class),
            (Some("consumer::NoTimeLeft"), Some(crate::Class::Transient))
        );
        stamped.push((copy.body, stamp.message.expect("a message")));
    }
    stamped.sort();
    assert_eq!(stamped[0], ("late".into(), "the batch's time was up before this message's turn".into()));
    // The time of the message is the machine's, and the batch's that of the test.
    assert!(stamped[1].1.starts_with("the handler did not finish in the batch's time: "), "{stamped:?}");
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_hangs_does_not_hold_up_the_answer() {
    let world = World::with_dlq(2);
    world.queue.hang(true);
    let (failed, took_ms, _) = world.invoke(&[("quick", 1), ("slow", 1), ("late", 1)], 30).await;
    assert_eq!((failed, took_ms), (vec!["slow".to_owned()], 29_250));
}

#[tokio::test(start_paused = true)]
async fn without_time_no_handler_begins() {
    for deadline_s in [0, 1_000] {
        let world = World::new(Fake::new(None), |config| {
            config.now = Arc::new(|| domain::time::Timestamp::from_ms(1_000_000));
        });
        let (failed, took_ms, _) = world.invoke(&[("quick", 1), ("slow", 1)], deadline_s).await;
        assert_eq!((failed, took_ms), (vec!["quick".to_owned(), "slow".to_owned()], 0));
        assert!(world.begun().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn on_a_fifo_queue_what_follows_goes_back_without_dying() {
    let redrive = queue::Redrive { dlq: arn("dlq.fifo"), receives_max: 9 };
    let queue = Fake::default().with("orders.fifo", MESSAGE_BYTES_MAX, Some(redrive));
    let world = World::new(queue.with("dlq.fifo", MESSAGE_BYTES_MAX, None), |config| config.queue = arn("orders.fifo"));
    let (failed, took_ms, calls) = world.invoke(&[("slow", 1), ("late", 9)], 30).await;
    assert_eq!((failed, took_ms), (vec!["slow".to_owned(), "late".to_owned()], 27_000));
    assert_eq!(calls, ["hides late for 0 s", "hides slow for 1 s"]);
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_panics_costs_its_message_and_no_other() {
    let world = World::new(Fake::new(None), |config| {
        config.version = Arc::new(|| panic!("no version"));
        config.message_type = |content| if content.body == "odd" { panic!("no type") } else { None };
    });
    let (failed, _, _) = world.invoke(&[("quick", 1), ("odd", 1), ("quick-2", 1)], 30).await;
    assert_eq!(failed, ["odd"]);
}

/// SQS keeps no message for longer than its queue's retention, 14 days here: who sees an older one has a wrong clock.
#[tokio::test(start_paused = true)]
async fn a_clock_that_is_months_ahead_condemns_no_message() {
    let day = |n: i64| Span::from_days(n);
    for (ahead, expected) in [(day(13), "takes dlq"), (day(15), "hides slow for 1 s"), (day(400), "hides slow for 1 s")]
    {
        let queue = Fake::new(Some("dlq")).with("dlq", MESSAGE_BYTES_MAX, None);
        let world = World::new(queue, |config| {
            config.now = Arc::new(move || domain::time::Timestamp::from_ms(0).plus(ahead));
            let strategy = crate::strategy::Strategy { ttl: Some(day(7)), ..Default::default() };
            config.strategies = crate::strategy::Strategies::new(strategy);
            config.handler_max = Some(Span::ZERO);
        });
        let mut message = received("slow", 1);
        message.system.sent_at = Some(domain::time::Timestamp::from_ms(0));
        world.consumer.handle_batch(vec![message]).await.expect("an answer");
        assert_eq!(world.queue.calls(), [expected], "{ahead:?}");
    }
}
