//! Sends reports and receipts beside the function, and says how long the runtime should wait for that.
//!
//! Lambda freezes the environment as soon as the runtime asks for the next invocation. So the proxy holds that question
//! back until what is in hand has been sent, within a limit, and only as long as the queue is known to answer. What the
//! queue does not take is kept in bounded memory, and tried again beside later invocations.

use crate::backlog::Backlog;
use crate::breaker::Breaker;
use crate::sqs::{Queue, SendError, Sqs};
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
pub struct Outbox<Q = Sqs> {
    /// `None` without a receipts queue: then nothing is ever sent.
    queue: Option<Q>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    breaker: Breaker,
    /// What waits for the queue to be in order.
    backlog: Backlog,
    /// Whether a task tries the queue again.
    is_retried: bool,
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

impl<Q: Queue> Outbox<Q> {
    /// Returns an outbox for a queue.
    pub fn new(queue: Option<Q>) -> Arc<Self> {
        Arc::new(Self { queue, state: Mutex::default(), changed: Notify::new() })
    }

    /// Whether anything can be sent.
    pub fn is_on(&self) -> bool {
        self.queue.is_some()
    }

    /// Sends what a future yields, beside everything else. The runtime waits for it until `hold_until` at most. While the
    /// queue is out of order, the runtime does not wait, and what the future yields is kept for the next try.
    pub fn send(self: &Arc<Self>, hold_until: Instant, bodies: impl Future<Output = Vec<String>> + Send + 'static) {
        if !self.is_on() {
            return;
        }
        let done = self.begin(Some(hold_until));
        tokio::spawn(async move {
            let bodies = bodies.await;
            // What the runtime has waited for is sent in any case, and says whether the queue is in order again.
            if let Some(bodies) = done.outbox.keep(bodies, done.hold.is_none()) {
                done.outbox.deliver(bodies).await;
            }
        });
    }

    /// Counts a send as on its way; the runtime waits for it if the queue is in order.
    fn begin(self: &Arc<Self>, hold_until: Option<Instant>) -> Done<Q> {
        let mut state = self.state();
        state.sending += 1;
        let hold_until = hold_until.filter(|_| !state.breaker.is_open());
        if hold_until.is_some() {
            state.held += 1;
            state.hold_until = state.hold_until.max(hold_until);
        }
        Done { outbox: Arc::clone(self), hold: hold_until.map(|_| state.holds) }
    }

    /// Keeps messages if they may wait and the queue is out of order; returns them otherwise. One look at both, because the
    /// task that tries the queue again ends as soon as the queue is in order and nothing is kept.
    fn keep(&self, bodies: Vec<String>, may_wait: bool) -> Option<Vec<String>> {
        let mut state = self.state();
        if may_wait && state.breaker.is_open() {
            state.backlog.keep(bodies);
            return None;
        }
        Some(bodies)
    }

    /// Stops at the first call that fails: the others would, too. Keeps what may be taken later.
    async fn deliver(self: &Arc<Self>, mut bodies: Vec<String>) {
        let Some(queue) = self.queue.as_ref() else { return };
        while !bodies.is_empty() {
            let later = bodies.split_off(bodies.len().min(BATCH_ENTRIES_MAX));
            let sent = timeout(SEND_MAX, queue.send(&bodies)).await.unwrap_or(Err(SendError::Late(SEND_MAX)));
            if let Err(error) = sent {
                let refused = if error.passes() { bodies } else { Vec::new() };
                self.state().backlog.keep(refused.into_iter().chain(later));
                return self.failed(&error);
            }
            bodies = later;
            let mut state = self.state();
            state.taken_at = Some(Instant::now());
            if state.breaker.succeeded() {
                say(&match state.backlog.take_dropped() {
                    0 => "reports are sent again".to_owned(),
                    dropped => format!("reports are sent again. {dropped} of them were dropped meanwhile."),
                });
            }
        }
    }

    fn failed(self: &Arc<Self>, error: &SendError) {
        let is_first = {
            let mut state = self.state();
            if !std::mem::replace(&mut state.is_retried, true) {
                tokio::spawn(Arc::clone(self).retry());
            }
            state.breaker.failed()
        };
        if let Some(queue) = self.queue.as_ref().filter(|_| is_first) {
            say(&format!("cannot send reports to {}: {error}. The function is not affected.", queue.url()));
        }
    }

    /// Tries what is kept until the queue has taken all of it: after each pause, and as soon as another send succeeds.
    async fn retry(self: Arc<Self>) {
        loop {
            let pause = {
                let mut state = self.state();
                if !state.breaker.is_open() && state.backlog.is_empty() {
                    state.is_retried = false;
                    return;
                }
                state.breaker.pause().unwrap_or_default()
            };
            let _ = timeout(pause, self.until(|state| !state.breaker.is_open())).await;
            self.until(|state| !state.breaker.is_open() || !state.backlog.is_empty()).await;
            self.deliver_backlog().await;
        }
    }

    async fn deliver_backlog(self: &Arc<Self>) {
        let done = self.begin(None);
        let bodies = self.state().backlog.take();
        done.outbox.deliver(bodies).await;
    }

    /// Waits for what the runtime should wait for. Whatever takes longer goes on beside the next invocation.
    pub async fn hold(self: &Arc<Self>) {
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

    /// Waits until everything has been sent, or for `limit`. Tries once what is kept.
    pub async fn flush(self: &Arc<Self>, limit: Duration) {
        let nothing_is_sent = || self.until(|state| state.sending == 0);
        let all = async {
            // What is on its way may still be kept. What hangs must not take all the time.
            let _ = timeout(limit / 2, nothing_is_sent()).await;
            self.deliver_backlog().await;
            nothing_is_sent().await;
        };
        let _ = timeout(limit, all).await;
    }
}

impl<Q> Outbox<Q> {
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
struct Done<Q> {
    outbox: Arc<Outbox<Q>>,
    /// The number of the hold that waits for it.
    hold: Option<u64>,
}

impl<Q> Drop for Done<Q> {
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
#[path = "outbox_tests.rs"]
mod tests;
