//! Heartbeats come from a thread of their own, whatever the handler does to its own.

use super::*;
use crate::fake::{Fake, arn, config, received};
use crate::{Consumer, ConsumerConfig, Failure, Handler};
use async_trait::async_trait;
use std::sync::mpsc;

const SOON: Duration = Duration::from_secs(60);

/// Waits for something that the heartbeat's thread does.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < SOON, "{what}: not within {SOON:?}");
        std::thread::yield_now();
    }
}

fn rhythm(every_ms: i64, at_most: Span) -> Rhythm {
    Rhythm { every: Span::from_ms(every_ms), visibility: Span::from_secs(30), at_most }
}

/// Blocks its thread until the test lets it go.
struct Blocking {
    go: Mutex<mpsc::Receiver<()>>,
}

#[async_trait]
impl Handler for Blocking {
    async fn handle(&self, _: &Received) -> Result<(), Failure> {
        let calls = self.go.lock().expect("no panic").recv_timeout(SOON);
        calls.map_err(|error| Failure::unknown("test", error.to_string()))
    }
}

#[test]
fn a_handler_that_blocks_the_only_thread_keeps_its_message() {
    let (go, gone) = mpsc::channel();
    let queue = Arc::new(Fake::default().with_visibility("orders", Span::from_ms(30)));
    let config = ConsumerConfig { handler_max: Some(Span::from_mins(10)), ..config() };
    let consumer = Consumer::new(config, queue.clone(), Arc::new(Blocking { go: Mutex::new(gone) }));
    let handling = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(consumer.handle_batch(vec![received("m-1", 1)])).expect("an answer")
    });
    let mut beats = 0;
    until("three beats", || {
        beats += queue.calls().iter().filter(|calls| *calls == "hides m-1 for 1 s").count();
        beats >= 3
    });
    go.send(()).expect("it waits");
    assert!(handling.join().expect("no panic").is_empty(), "it was handled");
}

/// A connection that the blocked runtime drives would stand still with it.
#[test]
fn a_heartbeat_has_connections_of_its_own() {
    let separate = Arc::new(Fake::new(None));
    let queue = Arc::new(Fake::new(None).with_separate(separate.clone()));
    let go = Mutex::new(mpsc::channel().1);
    let consumer = Consumer::new(config(), queue.clone(), Arc::new(Blocking { go }));
    let beating = consumer.load.heartbeat.begin(&received("m-1", 1), &rhythm(1, Span::from_mins(10)), Instant::now());
    until("a beat", || separate.calls().iter().any(|calls| calls == "hides m-1 for 30 s"));
    drop(beating);
    assert!(queue.calls().is_empty());
}

#[tokio::test]
async fn a_heartbeat_ends_with_its_handlers_time_or_with_its_handler() {
    let queue = Arc::new(Fake::new(None));
    let heartbeat = Heartbeat::new(arn("orders"), queue.clone());
    let short = heartbeat.begin(&received("short", 1), &rhythm(1, Span::from_ms(5)), Instant::now());
    let began = Instant::now();
    let long = heartbeat.begin(&received("long", 1), &rhythm(1, Span::from_mins(10)), began);
    until("the short one's end", || !locked(&heartbeat.shared.state).beating.contains_key(&short.key));
    queue.calls();
    let mut calls = Vec::new();
    until("two beats", || {
        calls.extend(queue.calls());
        calls.len() >= 2
    });
    assert!(calls.iter().all(|calls| calls == "hides long for 30 s"), "{calls:?}");
    assert!(long.stop().await > began, "its visibility was extended");
    assert!(locked(&heartbeat.shared.state).beating.is_empty());
}

#[tokio::test]
async fn its_end_waits_for_the_extension_under_way_and_no_second_one_begins() {
    let queue = Arc::new(Fake::new(None));
    queue.hang(true);
    let timely: Arc<dyn Queue> = Arc::new(crate::timely::Timely(queue.clone()));
    let heartbeat = Heartbeat::new(arn("orders"), timely);
    let beating = heartbeat.begin(&received("m-1", 1), &rhythm(1, Span::from_mins(10)), Instant::now());
    let pulse = beating.pulse.clone();
    until("the extension", || locked(&pulse.now).is_under_way);
    let mut ending = Box::pin(beating.stop());
    assert!(tokio::time::timeout(Duration::ZERO, &mut ending).await.is_err(), "it waits");
    assert_eq!(queue.calls(), ["hides m-1 for 30 s"]);
    // As when the thread ends: whatever ends the extension, it is no longer under way.
    drop(UnderWay(pulse));
    ending.await;
}

#[test]
fn the_thread_ends_with_the_consumer() {
    let queue = Arc::new(Fake::new(None));
    let heartbeat = Heartbeat::new(arn("orders"), queue.clone());
    drop(heartbeat.begin(&received("m-1", 1), &rhythm(60_000, Span::from_mins(10)), Instant::now()));
    let shared = Arc::downgrade(&heartbeat.shared);
    drop(heartbeat);
    until("its end", || shared.strong_count() == 0);
}
