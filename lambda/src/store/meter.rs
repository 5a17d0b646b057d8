//! The store's costs: calls and capacity units, as DynamoDB reports them.

use aws_sdk_dynamodb::types::ConsumedCapacity;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counted steps per unit. DynamoDB charges half units at the smallest.
const STEPS_PER_UNIT: f64 = 2.0;

/// Counts the usage since its creation.
#[derive(Debug, Default)]
pub(super) struct Meter {
    calls: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
}

/// Usage of DynamoDB.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Number of calls.
    pub calls: u64,
    /// Read request units.
    pub read_units: f64,
    /// Write request units, including those of the index.
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
        units.fetch_add((sum * STEPS_PER_UNIT).round() as u64, Ordering::Relaxed);
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn usage(&self) -> Usage {
        let units = |units: &AtomicU64| units.load(Ordering::Relaxed) as f64 / STEPS_PER_UNIT;
        Usage {
            calls: self.calls.load(Ordering::Relaxed),
            read_units: units(&self.reads),
            write_units: units(&self.writes),
        }
    }
}
