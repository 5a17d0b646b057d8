//! What a process knows of the sweeps: the record that each of them writes of the clock, and of the queues that are read.

use crate::port::{Store, StoreError};
use domain::clock::ClockRecord;
use domain::limits::CLOCK_RECORD_AGE_MAX;
use domain::time::{Span, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};

/// The record as this process last read it.
#[derive(Debug, Default)]
pub struct Sweeps {
    seen: Mutex<Option<(Timestamp, Arc<ClockRecord>)>>,
}

impl Sweeps {
    /// Returns the record of the last sweep, at most [`CLOCK_RECORD_AGE_MAX`] old; `None` before the first sweep.
    pub(crate) async fn last(&self, store: &dyn Store, now: Timestamp) -> Result<Option<Arc<ClockRecord>>, StoreError> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A clock that has gone back makes it old.
        if let Some((_, record)) = seen.filter(|(at, _)| (Span::ZERO..CLOCK_RECORD_AGE_MAX).contains(&now.since(*at))) {
            return Ok(Some(record));
        }
        let record = store.clock().await?.map(Arc::new);
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = record.clone().map(|record| (now, record));
        Ok(record)
    }
}
