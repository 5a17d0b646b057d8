//! Sends reports and receipts beside the function, and says how long the runtime should wait for that.
//!
//! Lambda freezes the environment as soon as the runtime asks for the next invocation. So the proxy holds that question
//! back until what is in hand has been sent, within a limit, and only as long as the queue is known to answer.

use crate::breaker::{Advice, Breaker};
use crate::sqs::{SendError, Sqs};
use crate::voice::say;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

/// The longest time for which the runtime waits.
pub const HOLD_MAX: Duration = Duration::from_millis(700);
/// The time that the function keeps of its own limit.
pub const HOLD_SPARES: Duration = Duration::from_millis(200);
/// How long one attempt to send may take. The runtime does not wait for all of it.
const SEND_MAX: Duration = Duration::from_secs(5);

/// What is on its way.
pub struct Outbox {
    /// `None` without a reports queue: then nothing is ever sent.
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
        {
            let mut state = self.state();
            state.sending += 1;
            if is_held {
                state.held += 1;
                state.hold_until = state.hold_until.max(Some(hold_until));
            }
        }
        let done = Done { outbox: Arc::clone(self), is_held };
        tokio::spawn(async move {
            let bodies = bodies.await;
            done.outbox.deliver(&bodies).await;
            drop(done);
        });
    }

    async fn deliver(&self, bodies: &[String]) {
        let Some(sqs) = self.sqs.as_ref().filter(|_| !bodies.is_empty()) else { return };
        let sent = match timeout(SEND_MAX, sqs.send(bodies)).await {
            Ok(sent) => sent,
            Err(_) => Err(SendError::Unreachable(format!("no answer within {} s", SEND_MAX.as_secs()))),
        };
        match sent {
            Ok(()) => {
                if self.state().breaker.succeeded() {
                    say("reports are sent again");
                }
            }
            Err(error) => self.failed(&error),
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
        let limit = until.saturating_duration_since(Instant::now());
        if timeout(limit, self.until(|state| state.held == 0)).await.is_err() {
            self.failed(&SendError::Unreachable(format!("no answer within {} ms", HOLD_MAX.as_millis())));
            let mut state = self.state();
            state.held = 0;
        }
        self.state().hold_until = None;
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
    is_held: bool,
}

impl Drop for Done {
    fn drop(&mut self) {
        {
            let mut state = self.outbox.state();
            state.sending = state.sending.saturating_sub(1);
            if self.is_held {
                state.held = state.held.saturating_sub(1);
            }
        }
        self.outbox.changed.notify_waiters();
    }
}
