//! State shared by the demo service's producer, consumer and control panel.

use super::generate::{Mix, generate};
use super::state::State;
use super::{OrdersConfig, OrdersError};
use consumer::Outcome;
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use queue::{Outgoing, Queue};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::watch;

/// Attempts to send one order.
const SENDS_MAX: usize = 3;

/// The approximate number of messages in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depth {
    /// Messages that can be received.
    pub visible_count: u64,
    /// Messages that a consumer is handling or that wait for a retry.
    pub in_flight_count: u64,
}

/// The demo service's status, as the control panel shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// Version, switches and counters.
    #[serde(flatten)]
    pub state: State,
    /// Orders that the producer places per second while it runs; 0 if it was switched off at the start.
    pub orders_per_s: u32,
    /// The main queue; `None` while it does not answer.
    pub main: Option<Depth>,
    /// The dead-letter queue; `None` while it does not answer.
    pub dlq: Option<Depth>,
}

pub(super) struct Shared {
    pub config: OrdersConfig,
    queue: Arc<dyn Queue>,
    state: watch::Sender<State>,
}

impl Shared {
    pub(super) fn new(queue: Arc<dyn Queue>, config: OrdersConfig, state: State) -> Self {
        Self { config, queue, state: watch::Sender::new(state) }
    }

    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Subscribes to changes of the state.
    pub(super) fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Changes the state and writes it to the file.
    pub(super) fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(|state| {
            change(state);
            self.write(state);
        });
    }

    /// Writes the state to the file as it is.
    pub(super) fn keep(&self) {
        self.state.send_if_modified(|state| {
            self.write(state);
            false
        });
    }

    /// Only logs a failed write, because a full disk must not end the demo.
    fn write(&self, state: &State) {
        if let Err(error) = state.write(&self.config.state_file) {
            tracing::error!(%error, cause = ?std::error::Error::source(&error), "writing the demo's state failed");
        }
    }

    /// Counts an outcome. It is written to the file within a second.
    pub(super) fn count(&self, outcome: &Outcome) {
        self.state.send_modify(|state| match outcome {
            Outcome::Handled => state.handled_count += 1,
            Outcome::Retried { .. } => state.retried_count += 1,
            Outcome::DeadLettered { .. } => state.dead_count += 1,
            // The others come back.
            _ => {}
        });
    }

    /// Returns whether the producer may place one more order, and deducts it from the allowance.
    pub(super) fn may_produce(&self) -> bool {
        self.state.send_if_modified(|state| {
            if !state.producing {
                return false;
            }
            match state.allowance_count.checked_sub(1) {
                Some(remaining) => state.allowance_count = remaining,
                None => state.producing = false,
            }
            true
        });
        self.state.borrow().producing
    }

    /// Places orders. Stores their numbers before sending them, so that no number is used twice after a crash.
    pub(super) async fn place(&self, count: u32, mix: Mix) -> Result<u64, OrdersError> {
        let count = u64::from(count);
        let mut first = 1;
        self.change(|state| {
            first += state.placed_count;
            state.placed_count += count;
        });
        let OrdersConfig { main, seed, now, .. } = &self.config;
        let now = now();
        let numbers: Vec<u64> = (first..first + count).collect();
        for batch in numbers.chunks(BATCH_ENTRIES_MAX) {
            let orders = batch.iter().map(|number| generate(main, *seed, *number, mix, now)).collect();
            self.send(orders).await?;
        }
        Ok(count)
    }

    async fn send(&self, mut orders: Vec<Outgoing>) -> Result<(), OrdersError> {
        let mut refused = None;
        for _ in 0..SENDS_MAX {
            let results = self.queue.send_batch(&self.config.main, &orders).await?;
            let mut to_repeat = Vec::new();
            for (order, result) in orders.into_iter().zip(results) {
                if let Err(failure) = result {
                    refused = Some(failure);
                    to_repeat.push(order);
                }
            }
            orders = to_repeat;
            if orders.is_empty() {
                return Ok(());
            }
        }
        refused.map_or(Ok(()), |failure| Err(failure.into()))
    }

    pub(super) async fn status(&self) -> Status {
        Status {
            state: self.state(),
            orders_per_s: self.config.orders_per_s,
            main: self.depth(&self.config.main).await,
            dlq: self.depth(&self.config.dlq).await,
        }
    }

    async fn depth(&self, queue: &QueueArn) -> Option<Depth> {
        match self.queue.attributes(queue).await {
            Ok(found) => Some(Depth { visible_count: found.visible_count, in_flight_count: found.in_flight_count }),
            Err(error) => {
                tracing::warn!(%queue, %error, "reading the queue's depth failed");
                None
            }
        }
    }
}
