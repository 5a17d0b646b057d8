//! Sends reports and receipts beside the function, and says how long the runtime should wait for that.
//!
//! Lambda freezes the environment as soon as the runtime asks for the next invocation. So the proxy holds that question
//! back until what is in hand has been sent, within a limit, and only as long as the queue is known to answer. What the
//! queue does not take is kept in bounded memory, and tried again beside later invocations.

use crate::backlog::Backlog;
use crate::health::Health;
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
/// The shortest wait that tells a slow queue from a fast one.
const HOLD_TELLS: Duration = Duration::from_millis(300);
/// How long one attempt to send may take. The runtime does not wait for all of it.
const SEND_MAX: Duration = Duration::from_secs(5);
/// How many calls may be on their way. Each takes a connection and the memory of its messages.
const CALLS_MAX: usize = 4;
/// The most bytes of messages in one call: what SQS took before August 2025, and endpoints like it still do.
const CALL_BYTES_MAX: usize = 256 * 1024;

/// What is on its way.
pub struct Outbox<Q = Sqs> {
    /// `None` without a receipts queue: then nothing is ever sent.
    queue: Option<Q>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    health: Health,
    /// What waits for the queue to be in order.
    backlog: Backlog,
    /// Whether a task sends what is kept.
    is_drained: bool,
    /// Whether the environment ends, so that calls without an answer are given up.
    is_ending: bool,
    /// The number of sends that are not over; some still wait for what is to be sent.
    sending: usize,
    /// The number of calls on their way.
    calling: usize,
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
    /// queue is out of order or slow, the runtime does not wait, and what the future yields is kept for a later call.
    pub fn send(self: &Arc<Self>, hold_until: Instant, bodies: impl Future<Output = Vec<String>> + Send + 'static) {
        if !self.is_on() {
            return;
        }
        let done = self.begin(Some(hold_until));
        tokio::spawn(async move {
            let bodies = bodies.await;
            if let Some((call, bodies)) = done.outbox.keep(bodies, done.hold.is_none()) {
                done.outbox.deliver(call, bodies).await;
            }
        });
    }

    /// Counts a send as on its way; the runtime waits for it if the queue is worth it.
    fn begin(self: &Arc<Self>, hold_until: Option<Instant>) -> Done<Q> {
        let mut state = self.state();
        state.sending += 1;
        let hold_until = hold_until.filter(|_| state.health.is_worth_waiting(Instant::now()));
        if hold_until.is_some() {
            state.held += 1;
            state.hold_until = state.hold_until.max(hold_until);
        }
        Done { outbox: Arc::clone(self), hold: hold_until.map(|_| state.holds) }
    }

    /// Keeps messages if there are calls enough, or if they may wait and the queue is not in order. Returns the others, with
    /// the right to call. What the runtime waits for may not wait: it says how the queue is.
    fn keep(self: &Arc<Self>, bodies: Vec<String>, may_wait: bool) -> Option<(Call<Q>, Vec<String>)> {
        let mut state = self.state();
        if state.calling < CALLS_MAX && (!may_wait || state.health.is_good()) {
            return Some((self.call(&mut state), bodies));
        }
        state.backlog.keep(bodies);
        self.drain_later(&mut state);
        None
    }

    fn call(self: &Arc<Self>, state: &mut State) -> Call<Q> {
        state.calling += 1;
        Call { outbox: Arc::clone(self) }
    }

    /// Sends messages in as many calls as they need. Stops at the first one that fails: the others would, too. Keeps what
    /// may be taken later.
    async fn deliver(self: &Arc<Self>, _call: Call<Q>, mut bodies: Vec<String>) {
        let Some(queue) = self.queue.as_ref() else { return };
        // How many of the next messages are sent one by one, because SQS refuses one of them.
        let mut alone_count = 0_usize;
        while !bodies.is_empty() {
            let later = bodies.split_off(if alone_count > 0 { 1 } else { first_call(&bodies) });
            let began = Instant::now();
            let sent = tokio::select! {
                sent = timeout(SEND_MAX, queue.send(&bodies)) => sent.unwrap_or(Err(SendError::Late(SEND_MAX))),
                () = self.until(|state| state.is_ending) => {
                    return self.state().backlog.keep_again(bodies.into_iter().chain(later).collect());
                }
            };
            alone_count = alone_count.saturating_sub(1);
            let mut state = self.state();
            match sent {
                Err(error) if error.is_outage() => {
                    state.backlog.keep_again(error.later(bodies).into_iter().chain(later).collect());
                    let is_first = state.health.failed();
                    self.drain_later(&mut state);
                    drop(state);
                    return self.tell(is_first, &error);
                }
                Err(error) if error.is_of_unknown() && bodies.len() > 1 => {
                    alone_count = bodies.len();
                    bodies.extend(later);
                    continue;
                }
                // The queue is in order, and will never take these messages.
                Err(error) => say(&format!("dropped a report: {error}")),
                Ok(()) => {}
            }
            bodies = later;
            state.taken_at = Some(Instant::now());
            if state.health.succeeded(began.elapsed() < HOLD_TELLS) {
                say(&match state.backlog.take_dropped() {
                    0 => "reports are sent again".to_owned(),
                    dropped => format!("reports are sent again. {dropped} of them were dropped meanwhile."),
                });
            }
        }
    }

    fn tell(&self, is_first: bool, error: &SendError) {
        if let Some(queue) = self.queue.as_ref().filter(|_| is_first) {
            say(&format!("cannot send reports to {}: {error}. The function is not affected.", queue.url()));
        }
    }

    /// Starts the task that sends what is kept, unless it runs. It ends when nothing is kept and calls do not fail; both
    /// are looked at under one lock.
    fn drain_later(self: &Arc<Self>, state: &mut State) {
        if !std::mem::replace(&mut state.is_drained, true) {
            tokio::spawn(Arc::clone(self).drain());
        }
    }

    /// Sends what is kept, one call after the other; while calls fail, after each pause, or as soon as another send
    /// succeeds.
    async fn drain(self: Arc<Self>) {
        loop {
            let pause = {
                let mut state = self.state();
                if !state.health.is_out() && state.backlog.is_empty() {
                    state.is_drained = false;
                    return;
                }
                state.health.pause().unwrap_or_default()
            };
            let _ = timeout(pause, self.until(|state| !state.health.is_out())).await;
            self.until(|state| !state.health.is_out() || !state.backlog.is_empty()).await;
            // A queue that is slow, or may hang, gets one call at a time.
            self.until(|state| state.calling == 0 || (state.health.is_good() && state.calling < CALLS_MAX)).await;
            self.deliver_backlog().await;
        }
    }

    async fn deliver_backlog(self: &Arc<Self>) {
        let _done = self.begin(None);
        let (call, bodies) = {
            let mut state = self.state();
            (self.call(&mut state), state.backlog.take())
        };
        self.deliver(call, bodies).await;
    }

    /// Waits for what the runtime should wait for. Whatever takes longer goes on beside the next invocation.
    pub async fn hold(self: &Arc<Self>) {
        let Some(until) = self.state().hold_until else { return };
        let began = Instant::now();
        let limit = until.saturating_duration_since(began);
        let is_sent = timeout(limit, self.until(|state| state.held == 0)).await.is_ok();
        let mut state = self.state();
        // One that takes messages is in order, and has many to take.
        let takes = state.taken_at.is_some_and(|at| at >= began);
        if !is_sent && !limit.is_zero() && !takes {
            let is_first = state.health.was_late(Instant::now(), limit >= HOLD_TELLS);
            self.tell(is_first, &SendError::Late(limit));
        }
        (state.held, state.hold_until, state.holds) = (0, None, state.holds + 1);
    }

    /// Waits until everything has been sent, or for `limit`. Tries once more what has no answer, and what is kept.
    pub async fn flush(self: &Arc<Self>, limit: Duration) {
        let nothing_is_sent = || self.until(|state| state.sending == 0);
        let all = async {
            if timeout(limit / 2, nothing_is_sent()).await.is_err() {
                self.state().is_ending = true;
                self.changed.notify_waiters();
                nothing_is_sent().await;
                self.state().is_ending = false;
            }
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

/// Counts a call as over, also if its task panics.
struct Call<Q> {
    outbox: Arc<Outbox<Q>>,
}

impl<Q> Drop for Call<Q> {
    fn drop(&mut self) {
        {
            let mut state = self.outbox.state();
            state.calling = state.calling.saturating_sub(1);
        }
        self.outbox.changed.notify_waiters();
    }
}

/// Returns how many messages, from the first one on, go into one call.
fn first_call(bodies: &[String]) -> usize {
    let mut bytes = 0;
    let fits = |body: &&String| {
        bytes += body.len();
        bytes <= CALL_BYTES_MAX
    };
    bodies.iter().take(BATCH_ENTRIES_MAX).take_while(fits).count().max(1)
}

#[cfg(test)]
#[path = "outbox_tests.rs"]
mod tests;
