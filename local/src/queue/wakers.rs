//! Wakes receivers that wait for messages.

use domain::id::QueueArn;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// One notifier per queue that a receiver has waited for.
#[derive(Default)]
pub(super) struct Wakers {
    by_queue: Mutex<HashMap<QueueArn, Arc<Notify>>>,
}

impl Wakers {
    /// Returns the notifier of a queue, whether or not the queue exists.
    pub(super) fn for_queue(&self, queue: &QueueArn) -> Arc<Notify> {
        let mut by_queue = self.by_queue.lock().unwrap_or_else(PoisonError::into_inner);
        by_queue.entry(queue.clone()).or_default().clone()
    }

    /// Wakes all receivers that wait for this queue now.
    pub(super) fn wake(&self, queue: &QueueArn) {
        let by_queue = self.by_queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waker) = by_queue.get(queue) {
            waker.notify_waiters();
        }
    }

    /// Wakes all waiting receivers.
    pub(super) fn wake_all(&self) {
        let by_queue = self.by_queue.lock().unwrap_or_else(PoisonError::into_inner);
        by_queue.values().for_each(|waker| waker.notify_waiters());
    }
}
