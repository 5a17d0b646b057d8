//! Sends reports and receipts beside the function, and says how long the runtime should wait for that.
//!
//! Lambda freezes the environment as soon as the runtime asks for the next invocation. So the proxy holds that question
//! back until what is in hand has been sent, within a limit, and only as long as the queue is known to answer.

use crate::breaker::{Advice, Breaker};
use crate::sqs::{SendError, Sqs};
use crate::voice::say;
use domain::limits::BATCH_ENTRIES_MAX;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// The longest time for which the runtime waits.
pub const HOLD_MAX: Duration = Duration::from_millis(700);
/// The time that the function keeps of its own limit.
pub const HOLD_SPARES: Duration = Duration::from_millis(200);
/// How long one attempt to send may take. The runtime does not wait for all of it.
const SEND_MAX: Duration = Duration::from_secs(5);

/// What is on its way.
pub struct Outbox {
    /// `None` without a receipts queue: then nothing is ever sent.
    sqs: Option<Sqs>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    breaker: Breaker,
    /// The number of sends on their way.
    sending: usize,
    /// Those that the runtime waits for, and until when.
    held: usize,
    hold_until: Option<Instant>,
    /// How often the runtime has stopped waiting. A send that is over later is no longer among those that are held.
    holds: u64,
    /// When the queue last took messages.
    taken_at: Option<Instant>,
}

impl Outbox {
    /// Returns an outbox for a queue.
    pub fn new(sqs: Option<Sqs>) -> Arc<Self> {
        Arc::new(Self { sqs, state: Mutex::default(), changed: Notify::new() })
    }

    /// Whether anything can be sent.
    pub fn is_on(&self) -> bool {
        self.sqs.is_some()
    }

    /// Sends what a future yields, beside everything else. The runtime waits for it until `hold_until` at most, and not
    /// at all while the queue is out of order.
    pub fn send(self: &Arc<Self>, hold_until: Instant, bodies: impl Future<Output = Vec<String>> + Send + 'static) {
        let advice = self.state().breaker.ask(Instant::now());
        if advice == Advice::Drop || !self.is_on() {
            return;
        }
        let is_held = advice == Advice::Send;
        let hold = {
            let mut state = self.state();
            state.sending += 1;
            if is_held {
                state.held += 1;
                state.hold_until = state.hold_until.max(Some(hold_until));
            }
            is_held.then_some(state.holds)
        };
        let done = Done { outbox: Arc::clone(self), hold };
        tokio::spawn(async move {
            let bodies = bodies.await;
            done.outbox.deliver(&bodies).await;
            drop(done);
        });
    }

    /// Stops at the first call that fails: the others would, too.
    async fn deliver(&self, bodies: &[String]) {
        let Some(sqs) = self.sqs.as_ref() else { return };
        for bodies in bodies.chunks(BATCH_ENTRIES_MAX) {
            let sent = timeout(SEND_MAX, sqs.send(bodies)).await.unwrap_or(Err(SendError::Late(SEND_MAX)));
            if let Err(error) = sent {
                return self.failed(&error);
            }
            let mut state = self.state();
            state.taken_at = Some(Instant::now());
            if state.breaker.succeeded() {
                say("reports are sent again");
            }
        }
    }

    fn failed(&self, error: &SendError) {
        let is_first = self.state().breaker.failed(Instant::now());
        if let Some(sqs) = self.sqs.as_ref().filter(|_| is_first) {
            say(&format!("cannot send reports to {}: {error}. The function is not affected.", sqs.url()));
        }
    }

    /// Waits for what the runtime should wait for. Whatever takes longer goes on beside the next invocation.
    pub async fn hold(&self) {
        let Some(until) = self.state().hold_until else { return };
        let began = Instant::now();
        let limit = until.saturating_duration_since(began);
        let is_sent = timeout(limit, self.until(|state| state.held == 0)).await.is_ok();
        // Without time to wait, nothing is known of the queue. One that takes messages is in order, and has many to take.
        let takes = self.state().taken_at.is_some_and(|at| at >= began);
        if !is_sent && !limit.is_zero() && !takes {
            self.failed(&SendError::Late(limit));
        }
        let mut state = self.state();
        (state.held, state.hold_until, state.holds) = (0, None, state.holds + 1);
    }

    /// Waits until everything has been sent, or for `limit`.
    pub async fn flush(&self, limit: Duration) {
        let _ = timeout(limit, self.until(|state| state.sending == 0)).await;
    }

    async fn until(&self, holds: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            if holds(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts a send as over, also if its task panics.
struct Done {
    outbox: Arc<Outbox>,
    /// The number of the hold that waits for it.
    hold: Option<u64>,
}

impl Drop for Done {
    fn drop(&mut self) {
        {
            let mut state = self.outbox.state();
            state.sending = state.sending.saturating_sub(1);
            if self.hold == Some(state.holds) {
                state.held = state.held.saturating_sub(1);
            }
        }
        self.outbox.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use tokio::net::TcpListener;

    /// A queue that takes connections and never answers.
    async fn hanging() -> (Arc<Outbox>, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let url = format!("http://127.0.0.1:{port}/1/reports").parse().expect("a URL");
        let keys = |name: &str| name.starts_with("AWS_").then(|| "x".to_owned());
        (Outbox::new(Some(Sqs::new(url, None, Credentials::read(keys)))), listener)
    }

    /// How long the runtime waits after a failure, if the function has this much of its time left.
    async fn held(outbox: &Arc<Outbox>, left: Duration) -> Duration {
        let now = Instant::now();
        let hold_until = (now + HOLD_MAX).min((now + left).checked_sub(HOLD_SPARES).unwrap_or(now));
        outbox.send(hold_until, async { vec!["{}".to_owned()] });
        outbox.hold().await;
        now.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn the_runtime_waits_for_a_queue_that_hangs_once_and_within_its_limit() {
        let milliseconds = Duration::from_millis;
        for (left, wanted) in [(60_000, 700), (900, 700), (899, 699), (300, 100), (200, 0), (100, 0)] {
            let (outbox, _listener) = hanging().await;
            let waited = held(&outbox, milliseconds(left)).await;
            // The clock of the test runtime counts whole milliseconds, and rounds up.
            assert!(waited.abs_diff(milliseconds(wanted)) <= milliseconds(1), "{left} ms left: {waited:?}");
            assert!(held(&outbox, milliseconds(left)).await <= milliseconds(1), "{left} ms left: a second time");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_function_without_time_to_wait_says_nothing_of_the_queue() {
        let (outbox, _listener) = hanging().await;
        held(&outbox, Duration::from_millis(100)).await;
        assert_eq!(outbox.state().breaker.ask(Instant::now()), Advice::Send);
        held(&outbox, Duration::from_millis(300)).await;
        assert_eq!(outbox.state().breaker.ask(Instant::now()), Advice::Drop);
    }

    #[tokio::test(start_paused = true)]
    async fn a_queue_that_takes_messages_is_in_order_however_many_are_left() {
        let (outbox, _listener) = hanging().await;
        let milliseconds = Duration::from_millis;
        outbox.send(Instant::now() + milliseconds(700), async { vec!["{}".to_owned(); 1_000] });
        let takes = async {
            tokio::time::sleep(milliseconds(300)).await;
            outbox.state().taken_at = Some(Instant::now());
        };
        tokio::join!(outbox.hold(), takes);
        assert_eq!(outbox.state().breaker.ask(Instant::now()), Advice::Send);
    }

    #[tokio::test(start_paused = true)]
    async fn a_send_that_ends_late_is_not_taken_for_the_next_one() {
        let (outbox, _listener) = hanging().await;
        held(&outbox, Duration::from_millis(100)).await;
        outbox.send(Instant::now() + Duration::from_secs(60), std::future::pending());
        outbox.until(|state| state.sending == 1).await;
        assert_eq!(outbox.state().held, 1, "the runtime waits for what is still on its way");
    }

    #[tokio::test(start_paused = true)]
    async fn while_the_queue_is_tried_again_the_runtime_does_not_wait() {
        let (outbox, _listener) = hanging().await;
        held(&outbox, Duration::from_secs(60)).await;
        tokio::time::advance(Duration::from_secs(60)).await;
        assert!(held(&outbox, Duration::from_secs(60)).await <= Duration::from_millis(1));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_queue_nothing_is_sent_or_waited_for() {
        let outbox = Outbox::new(None);
        assert_eq!(held(&outbox, Duration::from_secs(60)).await, Duration::ZERO);
        outbox.flush(Duration::from_secs(60)).await;
    }
}
