//! Extends the visibility of messages whose handlers run long.
//!
//! On a thread of its own: a handler may block its thread, with a library that is not `async` or with a long calculation.
//! A few such handlers take all threads of a runtime, and with them every task and timer on it.

use crate::call::chain;
use crate::clock::to_duration;
use domain::id::QueueArn;
use domain::time::Span;
use queue::{Queue, Received};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// The heartbeats of one consumer. Dropping it ends their thread.
pub(crate) struct Heartbeat {
    shared: Arc<Shared>,
}

struct Shared {
    arn: QueueArn,
    queue: Arc<dyn Queue>,
    state: Mutex<State>,
    /// Wakes the thread before its time.
    changed: Notify,
}

#[derive(Default)]
struct State {
    beating: HashMap<u64, Arc<Pulse>>,
    /// The key of the next message.
    next: u64,
    is_running: bool,
    is_closed: bool,
    /// When the thread looks again; `None` while it does not sleep.
    wakes_at: Option<Instant>,
    /// The last message's time between two beats: as often the thread looks while no message is handled, so that it need
    /// not be woken for the next one, which takes longer than the rest of this crate.
    every: Duration,
}

/// The heartbeat of one message.
struct Pulse {
    received: (String, String),
    visibility: Span,
    every: Duration,
    /// When the handler's time is up, if it still blocks its thread: the message is for others then.
    until: Instant,
    now: Mutex<PulseState>,
    /// No extension is under way.
    settled: Notify,
}

struct PulseState {
    due: Instant,
    is_under_way: bool,
    has_ended: bool,
    extended_at: Instant,
}

/// How one message's visibility is extended.
pub(crate) struct Rhythm {
    /// The time between two beats.
    pub every: Span,
    /// How long each beat makes the message invisible.
    pub visibility: Span,
    /// How long it may go on.
    pub at_most: Span,
}

impl Heartbeat {
    pub(crate) fn new(arn: QueueArn, queue: Arc<dyn Queue>) -> Self {
        let (state, changed) = (Mutex::default(), Notify::new());
        Self { shared: Arc::new(Shared { arn, queue, state, changed }) }
    }

    /// Extends the visibility of a message until the result is stopped or dropped. `invisible_since`: when its visibility
    /// timeout began.
    pub(crate) fn begin(&self, received: &Received, rhythm: &Rhythm, invisible_since: Instant) -> Beating {
        let (now, every) = (Instant::now(), to_duration(rhythm.every));
        let pulse = Arc::new(Pulse {
            received: (received.receipt_handle.clone(), received.message_id.as_str().to_owned()),
            visibility: rhythm.visibility,
            every,
            until: now + to_duration(rhythm.at_most),
            now: Mutex::new(PulseState {
                due: now + every,
                is_under_way: false,
                has_ended: false,
                extended_at: invisible_since,
            }),
            settled: Notify::new(),
        });
        let mut state = locked(&self.shared.state);
        let key = state.next;
        state.next += 1;
        state.every = every;
        state.beating.insert(key, pulse.clone());
        if !state.is_running {
            state.is_running = self.shared.clone().spawn();
        } else if state.wakes_at.is_some_and(|at| now + every < at) {
            self.shared.changed.notify_one();
        }
        drop(state);
        Beating { shared: self.shared.clone(), key, pulse }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        locked(&self.shared.state).is_closed = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    /// Starts the thread; returns whether it runs.
    fn spawn(self: Arc<Self>) -> bool {
        let queue = self.arn.clone();
        let beat = move || match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(self.beat()),
            Err(error) => {
                tracing::error!(queue = %self.arn, %error, "no heartbeat: visibility is not extended, so slow messages are handled twice");
                locked(&self.state).is_running = false;
            }
        };
        let spawned = std::thread::Builder::new().name("consumer-heartbeat".into()).spawn(beat);
        if let Err(error) = &spawned {
            tracing::error!(%queue, %error, "no heartbeat: visibility is not extended, so slow messages are handled twice");
        }
        spawned.is_ok()
    }

    async fn beat(self: Arc<Self>) {
        while let Some(wakes_at) = self.extend_due() {
            tokio::select! {
                () = tokio::time::sleep_until(wakes_at.into()) => {}
                () = self.changed.notified() => {}
            }
        }
    }

    /// Begins the extensions that are due; returns when the next is, or `None` if the consumer is gone.
    fn extend_due(&self) -> Option<Instant> {
        let mut state = locked(&self.state);
        if state.is_closed {
            return None;
        }
        let now = Instant::now();
        state.beating.retain(|_, pulse| pulse.until > now);
        let mut wakes_at = now + state.every;
        for pulse in state.beating.values() {
            let mut this = locked(&pulse.now);
            if this.due <= now {
                this.due = now + pulse.every;
                // One that hangs is waited for; its message gets no second one meanwhile.
                if !std::mem::replace(&mut this.is_under_way, true) {
                    tokio::spawn(extend(self.arn.clone(), self.queue.clone(), UnderWay(pulse.clone())));
                }
            }
            wakes_at = wakes_at.min(this.due);
        }
        state.wakes_at = Some(wakes_at);
        Some(wakes_at)
    }
}

/// Restarts a message's visibility timeout. A failed extension is repeated with the next beat.
async fn extend(arn: QueueArn, queue: Arc<dyn Queue>, under_way: UnderWay) {
    let pulse = &under_way.0;
    let (receipt_handle, message_id) = &pulse.received;
    let asked_at = Instant::now();
    let answer = queue.change_visibility(&arn, receipt_handle, pulse.visibility).await;
    let mut this = locked(&pulse.now);
    match answer {
        Ok(()) => this.extended_at = asked_at,
        // A handled message is deleted, and its handle is no longer valid.
        Err(_) if this.has_ended => {}
        Err(error) => {
            tracing::warn!(queue = %arn, message_id, error = chain(&error), "extending the visibility failed");
        }
    }
}

/// An extension. Whatever ends it, it is no longer under way.
struct UnderWay(Arc<Pulse>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        locked(&self.0.now).is_under_way = false;
        self.0.settled.notify_waiters();
    }
}

/// A message whose visibility is extended, until this is dropped.
pub(crate) struct Beating {
    shared: Arc<Shared>,
    key: u64,
    pulse: Arc<Pulse>,
}

impl Beating {
    /// Ends the heartbeat; returns when the visibility timeout last began. Waits for an extension that is under way, or it
    /// would undo what is done to the message next.
    pub(crate) async fn stop(self) -> Instant {
        locked(&self.pulse.now).has_ended = true;
        locked(&self.shared.state).beating.remove(&self.key);
        loop {
            let mut settled = std::pin::pin!(self.pulse.settled.notified());
            // Listens before it looks, so that no end is missed.
            settled.as_mut().enable();
            let done = {
                let this = locked(&self.pulse.now);
                (!this.is_under_way).then_some(this.extended_at)
            };
            match done {
                Some(extended_at) => return extended_at,
                None => settled.await,
            }
        }
    }
}

impl Drop for Beating {
    fn drop(&mut self) {
        locked(&self.pulse.now).has_ended = true;
        locked(&self.shared.state).beating.remove(&self.key);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "heartbeat_tests.rs"]
mod tests;
