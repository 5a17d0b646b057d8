//! The catalogue of metrics: name, unit, dimensions, meaning. Tests compare it with the emitted metrics, the docs and
//! the alarms. An id, tenant or message text is never a dimension: each distinct value costs money (CloudWatch charges
//! per custom metric) and would leak content.

use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The CloudWatch namespace of all metrics.
pub const NAMESPACE: &str = "DeadLetterOffice";

/// A unit of CloudWatch's closed set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// A number of things.
    Count,
    /// Seconds.
    Seconds,
    /// Quantities that have no unit in CloudWatch, such as money.
    None,
    /// Percent.
    Percent,
}

/// One metric of the catalogue.
#[derive(Debug, PartialEq, Eq)]
pub struct Metric {
    /// The name in CloudWatch.
    pub name: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The names of its dimensions, each with a closed set of values.
    pub dimensions: &'static [&'static str],
    /// Its meaning.
    pub meaning: &'static str,
}

/// Arrived letters.
pub const ARRIVALS: Metric = Metric {
    name: "Arrivals",
    unit: Unit::Count,
    dimensions: &["Class", "Category"],
    meaning: "letters taken into custody, including returned ones, by class and category",
};
/// New groups.
pub const NEW_GROUPS: Metric =
    Metric { name: "NewGroups", unit: Unit::Count, dimensions: &[], meaning: "groups that were not seen before" };
/// Messages that could not be stored.
pub const NOT_KEPT: Metric = Metric {
    name: "NotKept",
    unit: Unit::Count,
    dimensions: &[],
    meaning: "dead messages that could not be stored, counted on each attempt; they stay in their queue and are retried",
};
/// Regressions.
pub const REGRESSIONS: Metric = Metric {
    name: "Regressions",
    unit: Unit::Count,
    dimensions: &[],
    meaning: "resolved groups with a new failure after their fix",
};
/// Age at death.
pub const AGE_AT_DEATH: Metric = Metric {
    name: "AgeAtDeath",
    unit: Unit::Seconds,
    dimensions: &[],
    meaning: "from the first send to the last failure, per letter that says both times (a distribution)",
};
/// Open letters.
pub const OPEN_LETTERS: Metric = Metric {
    name: "OpenLetters",
    unit: Unit::Count,
    dimensions: &[],
    meaning: "letters in custody that are neither delivered nor discarded (gauge, each minute)",
};
/// Oldest open letter.
pub const OLDEST_LETTER: Metric = Metric {
    name: "OldestLetterAge",
    unit: Unit::Seconds,
    dimensions: &[],
    meaning: "age of the oldest open letter since its first send (gauge)",
};
/// Time to loss.
pub const TIME_TO_LOSS: Metric = Metric {
    name: "TimeToLoss",
    unit: Unit::Seconds,
    dimensions: &[],
    meaning: "time until the first open letter reaches its deadline; absent if no deadline is ahead (gauge)",
};
/// Revenue at risk.
pub const REVENUE_AT_RISK: Metric = Metric {
    name: "RevenueAtRisk",
    unit: Unit::None,
    dimensions: &["Currency"],
    meaning: "money of all open letters, in the currency's major unit (gauge)",
};
/// Customers affected.
pub const CUSTOMERS_AFFECTED: Metric = Metric {
    name: "CustomersAffected",
    unit: Unit::Count,
    dimensions: &["Severity"],
    meaning: "distinct customers per group whose letters died, summed over open groups by severity (gauge)",
};
/// Delivered letters.
pub const DELIVERED: Metric = Metric {
    name: "Delivered",
    unit: Unit::Count,
    dimensions: &[],
    meaning: "replayed letters that a receipt confirmed or that did not return within their observation window",
};
/// Discarded letters.
pub const DISCARDED: Metric = Metric {
    name: "Discarded",
    unit: Unit::Count,
    dimensions: &[],
    meaning: "letters that people gave up; undoing a discard does not subtract",
};
/// Returned letters.
pub const RETURNED: Metric = Metric {
    name: "Returned",
    unit: Unit::Count,
    dimensions: &[],
    meaning: "replayed letters that returned to the dead-letter queue",
};
/// Paused replays.
pub const REPLAYS_PAUSED: Metric =
    Metric { name: "ReplaysPaused", unit: Unit::Count, dimensions: &[], meaning: "replays that paused themselves" };
/// Success of a replay.
pub const REPLAY_SUCCESS: Metric = Metric {
    name: "ReplaySuccess",
    unit: Unit::Percent,
    dimensions: &[],
    meaning: "share of delivered letters among those that a finished replay delivered or got back; not of aborted ones",
};

/// The whole catalogue.
pub const CATALOGUE: &[&Metric] = &[
    &ARRIVALS,
    &NEW_GROUPS,
    &NOT_KEPT,
    &REGRESSIONS,
    &AGE_AT_DEATH,
    &OPEN_LETTERS,
    &OLDEST_LETTER,
    &TIME_TO_LOSS,
    &REVENUE_AT_RISK,
    &CUSTOMERS_AFFECTED,
    &DELIVERED,
    &DISCARDED,
    &RETURNED,
    &REPLAYS_PAUSED,
    &REPLAY_SUCCESS,
];

/// Values of one metric with one set of dimensions, ready to send as CloudWatch's Values and Counts. These preserve
/// percentiles, unlike a statistic set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Datum {
    /// The metric's name.
    pub name: String,
    /// The dimensions' values, in the catalogue's order.
    pub dimensions: Vec<String>,
    /// When.
    pub at: Timestamp,
    /// Distinct values and how often each occurred. Floats because CloudWatch supports nothing else; no decision
    /// depends on them.
    pub values: Vec<(f64, u32)>,
}

impl Datum {
    /// Creates a datum with one value.
    pub fn one(metric: &Metric, dimensions: &[&str], at: Timestamp, value: f64) -> Self {
        Self {
            name: metric.name.into(),
            dimensions: dimensions.iter().map(|d| String::from(*d)).collect(),
            at,
            values: alloc::vec![(value, 1)],
        }
    }
}
