//! Wakes the receivers that wait for messages of a queue.

use domain::id::QueueArn;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// One bell per queue that somebody has waited for.
#[derive(Default)]
pub(super) struct Bells {
    by_queue: Mutex<HashMap<QueueArn, Arc<Notify>>>,
}

impl Bells {
    /// The bell of a queue, whether or not the queue exists.
    pub(super) fn of(&self, queue: &QueueArn) -> Arc<Notify> {
        let mut bells = self.by_queue.lock().unwrap_or_else(PoisonError::into_inner);
        bells.entry(queue.clone()).or_default().clone()
    }

    /// Wakes all who wait for this queue now.
    pub(super) fn ring(&self, queue: &QueueArn) {
        let bells = self.by_queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = bells.get(queue) {
            bell.notify_waiters();
        }
    }

    /// Wakes all who wait for anything.
    pub(super) fn ring_all(&self) {
        let bells = self.by_queue.lock().unwrap_or_else(PoisonError::into_inner);
        bells.values().for_each(|bell| bell.notify_waiters());
    }
}
