//! What the runtime waits for, and what becomes of that which the queue does not take. The clock is the test's.

use super::*;
use crate::sqs::Later;
use std::future::pending;

const MS: fn(u64) -> Duration = Duration::from_millis;
const S: fn(u64) -> Duration = Duration::from_secs;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Mood {
    #[default]
    Takes,
    Hangs,
    /// Answers each call so late.
    Slow(Duration),
    /// Out of order.
    Fails,
    /// Refuses calls with a message `poison`, and does not say because of which.
    Refuses,
}

#[derive(Default)]
struct Fake {
    mood: Mutex<Mood>,
    calls: Mutex<usize>,
    taken: Mutex<Vec<String>>,
}

impl Queue for Arc<Fake> {
    fn url(&self) -> &str {
        "the queue"
    }

    async fn send(&self, bodies: &[String]) -> Result<(), SendError> {
        *self.calls.lock().unwrap() += 1;
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Takes => {}
            Mood::Hangs => pending().await,
            Mood::Slow(time) => tokio::time::sleep(time).await,
            Mood::Fails => return Err(SendError::Unreachable("refused".into())),
            Mood::Refuses if !bodies.iter().any(|body| body == "poison") => {}
            Mood::Refuses => {
                return Err(SendError::Refused { status: 400, text: String::new(), later: Later::Unknown });
            }
        }
        self.taken.lock().unwrap().extend_from_slice(bodies);
        Ok(())
    }
}

impl Fake {
    fn in_mood(mood: Mood) -> (Arc<Self>, Arc<Outbox<Arc<Self>>>) {
        let queue = Arc::new(Self { mood: Mutex::new(mood), ..Self::default() });
        (Arc::clone(&queue), Outbox::new(Some(queue)))
    }

    fn now(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }

    fn calls(&self) -> usize {
        *self.calls.lock().unwrap()
    }

    /// What the queue has, in order.
    fn taken(&self) -> Vec<String> {
        let mut taken = self.taken.lock().unwrap().clone();
        taken.sort();
        taken
    }
}

/// How long the runtime waits after a failure, if the function has this much of its time left.
async fn held(outbox: &Arc<Outbox<Arc<Fake>>>, left: Duration, body: &str) -> Duration {
    let now = Instant::now();
    let hold_until = (now + HOLD_MAX).min((now + left).checked_sub(HOLD_SPARES).unwrap_or(now));
    let body = body.to_owned();
    outbox.send(hold_until, async { vec![body] });
    outbox.hold().await;
    now.elapsed()
}

#[tokio::test(start_paused = true)]
async fn the_runtime_waits_for_a_queue_that_hangs_once_and_within_its_limit() {
    for (left, wanted) in [(60_000, 700), (900, 700), (899, 699), (300, 100), (200, 0), (100, 0)] {
        let (_queue, outbox) = Fake::in_mood(Mood::Hangs);
        let waited = held(&outbox, MS(left), "a").await;
        // The clock of the test runtime counts whole milliseconds, and rounds up.
        assert!(waited.abs_diff(MS(wanted)) <= MS(1), "{left} ms left: {waited:?}");
        assert!(held(&outbox, MS(left), "b").await <= MS(1), "{left} ms left: a second time");
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_without_time_to_wait_says_nothing_of_the_queue() {
    let (_queue, outbox) = Fake::in_mood(Mood::Hangs);
    held(&outbox, MS(100), "a").await;
    assert!(outbox.state().health.is_good());
    held(&outbox, MS(300), "b").await;
    assert!(!outbox.state().health.is_good());
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_takes_messages_is_in_order_however_many_are_left() {
    let (queue, outbox) = Fake::in_mood(Mood::Slow(MS(300)));
    outbox.send(Instant::now() + HOLD_MAX, async { vec!["{}".to_owned(); 1_000] });
    outbox.hold().await;
    assert!(outbox.state().health.is_good());
    assert_eq!(queue.taken().len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_send_that_ends_late_is_not_taken_for_the_next_one() {
    let (_queue, outbox) = Fake::in_mood(Mood::Hangs);
    held(&outbox, MS(100), "a").await;
    outbox.send(Instant::now() + S(60), pending());
    outbox.until(|state| state.sending == 1).await;
    assert_eq!(outbox.state().held, 1, "the runtime waits for what is still on its way");
}

#[tokio::test(start_paused = true)]
async fn while_the_queue_is_tried_again_the_runtime_does_not_wait() {
    let (queue, outbox) = Fake::in_mood(Mood::Hangs);
    held(&outbox, S(60), "a").await;
    outbox.until(|state| !state.backlog.is_empty()).await;
    let calls = queue.calls();
    let trial = async {
        while queue.calls() == calls {
            tokio::time::sleep(S(1)).await;
        }
    };
    trial.await;
    assert!(held(&outbox, S(60), "b").await <= MS(1));
}

#[tokio::test(start_paused = true)]
async fn a_slow_queue_is_waited_for_once_and_takes_everything() {
    let (queue, outbox) = Fake::in_mood(Mood::Slow(S(1)));
    let bodies: Vec<String> = (0..9).map(|n| n.to_string()).collect();
    for (n, body) in bodies.iter().enumerate() {
        let waited = held(&outbox, S(60), body).await;
        assert!(waited.abs_diff(if n == 0 { HOLD_MAX } else { S(0) }) <= MS(1), "{n}: {waited:?}");
        tokio::time::sleep(S(1)).await;
    }
    outbox.until(|state| !state.is_drained && state.sending == 0).await;
    assert_eq!(queue.taken(), bodies);
    tokio::time::sleep(S(30)).await;
    assert!(held(&outbox, S(60), "again").await >= HOLD_MAX, "it may be faster by now");
    queue.now(Mood::Takes);
    held(&outbox, S(60), "kept").await;
    outbox.until(|state| !state.is_drained && state.sending == 0 && state.health.is_good()).await;
}

#[tokio::test(start_paused = true)]
async fn few_calls_are_on_their_way_at_once() {
    let (queue, outbox) = Fake::in_mood(Mood::Slow(MS(100)));
    let bodies: Vec<String> = (10..60).map(|n| n.to_string()).collect();
    for body in bodies.clone() {
        outbox.send(Instant::now(), async { vec![body] });
    }
    outbox.until(|state| !state.is_drained && state.sending == 0).await;
    assert_eq!(queue.taken(), bodies);
    assert!(queue.calls() <= CALLS_MAX + bodies.len().div_ceil(BATCH_ENTRIES_MAX), "{}", queue.calls());
}

#[test]
fn calls_are_bounded_in_messages_and_bytes() {
    let call = |sizes: &[usize]| first_call(&sizes.iter().map(|size| "x".repeat(*size)).collect::<Vec<_>>());
    assert_eq!(call(&[1; 11]), 10);
    assert_eq!(call(&[64 * 1024; 6]), 4);
    assert_eq!(call(&[CALL_BYTES_MAX + 1, 1]), 1);
}

#[tokio::test(start_paused = true)]
async fn what_the_queue_did_not_take_is_sent_when_it_is_in_order_again() {
    let (queue, outbox) = Fake::in_mood(Mood::Fails);
    for body in ["a", "b", "c"] {
        assert!(held(&outbox, S(60), body).await <= MS(1));
    }
    assert_eq!(queue.calls(), 1, "the others wait");
    outbox.until(|state| state.health.pause() == Some(S(240))).await;
    assert_eq!(queue.calls(), 4, "after 30, 60 and 120 s");
    queue.now(Mood::Takes);
    outbox.until(|state| !state.is_drained && state.sending == 0).await;
    assert_eq!((queue.taken(), queue.calls()), (vec!["a".into(), "b".into(), "c".into()], 5));
    assert!(held(&outbox, S(60), "d").await <= MS(1));
    assert_eq!(queue.taken().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_tried_once_at_the_end() {
    for (before, mood, taken, calls) in [
        (Mood::Fails, Mood::Takes, 2, 2),
        (Mood::Fails, Mood::Fails, 0, 2),
        (Mood::Fails, Mood::Hangs, 0, 2),
        // What hangs is tried on another connection.
        (Mood::Hangs, Mood::Takes, 2, 2),
    ] {
        let (queue, outbox) = Fake::in_mood(before);
        held(&outbox, S(60), "a").await;
        held(&outbox, S(60), "b").await;
        queue.now(mood);
        let now = Instant::now();
        outbox.flush(S(1)).await;
        assert_eq!((queue.taken().len(), queue.calls()), (taken, calls), "{before:?} {mood:?}");
        assert!(now.elapsed() <= S(1) + MS(1), "{mood:?}: {:?}", now.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_queue_will_never_take_goes_alone() {
    let (queue, outbox) = Fake::in_mood(Mood::Refuses);
    let bodies = ["a", "poison", "b", "c"].map(str::to_owned).to_vec();
    outbox.send(Instant::now() + HOLD_MAX, async { bodies });
    outbox.hold().await;
    assert_eq!((queue.taken(), queue.calls()), (vec!["a".into(), "b".into(), "c".into()], 5));
    assert!(outbox.state().backlog.is_empty() && outbox.state().health.is_good());
}

#[tokio::test(start_paused = true)]
async fn sends_that_wait_for_their_lines_keep_no_other_from_being_sent() {
    let (queue, outbox) = Fake::in_mood(Mood::Takes);
    let bodies: Vec<String> = (10..26).map(|n| n.to_string()).collect();
    for body in bodies.clone() {
        outbox.send(Instant::now(), async {
            tokio::time::sleep(MS(150)).await;
            vec![body]
        });
        tokio::time::sleep(MS(5)).await;
    }
    tokio::time::sleep(MS(150)).await;
    assert_eq!(queue.taken(), bodies);
}

#[tokio::test(start_paused = true)]
async fn without_a_queue_nothing_is_sent_or_waited_for() {
    let outbox = Outbox::new(None);
    assert_eq!(held(&outbox, S(60), "a").await, Duration::ZERO);
    outbox.flush(S(60)).await;
}
