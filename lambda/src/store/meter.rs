//! What the store costs: calls and capacity units, as DynamoDB itself reports them.

use aws_sdk_dynamodb::types::ConsumedCapacity;
use std::sync::atomic::{AtomicU64, Ordering};

/// Halves of a unit: the smallest amount that DynamoDB charges.
const PARTS: f64 = 2.0;

/// Counts since it was made.
#[derive(Debug, Default)]
pub(super) struct Meter {
    calls: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Calls of DynamoDB.
    pub calls: u64,
    /// Read request units.
    pub read_units: f64,
    /// Write request units, those of indexes included.
    pub write_units: f64,
}

impl Meter {
    pub(super) fn read<'a>(&self, used: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        self.count(&self.reads, used);
    }

    pub(super) fn wrote<'a>(&self, used: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        self.count(&self.writes, used);
    }

    fn count<'a>(&self, units: &AtomicU64, used: impl IntoIterator<Item = &'a ConsumedCapacity>) {
        let sum: f64 = used.into_iter().filter_map(|used| used.capacity_units).sum();
        units.fetch_add((sum * PARTS).round() as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn usage(&self) -> Usage {
        let units = |units: &AtomicU64| units.load(Ordering::Relaxed) as f64 / PARTS;
        Usage {
            calls: self.calls.load(Ordering::Relaxed),
            read_units: units(&self.reads),
            write_units: units(&self.writes),
        }
    }
}
