//! When people are alerted to letters that wait.

use crate::money::{Currency, Decimal, Money};
use crate::time::Span;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The sum that is announced by default, in each of the currencies of [`money_from`].
const SUM: i64 = 10_000;

/// Thresholds of alerts about a group that waits. Each is announced once, until no letter of the group is open; see
/// [`crate::watch`]. Teams commonly alarm on a dead-letter queue at more than 10 messages, and at an age of an hour and
/// of a day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AlertPolicy {
    /// A group has this many open letters, or ten times, a hundred times, … as many; 0 for never. Default: 10.
    pub letters_from: u64,
    /// The oldest open letter has waited for this long, milliseconds. Default: 1 hour and 24 hours.
    pub ages_ms: Vec<Span>,
    /// After the last age, a reminder in each such interval while letters are open, milliseconds; null for none. Also the
    /// longest wait between alerts of `critical_ms`. Default: 24 hours.
    pub reminder_ms: Option<Span>,
    /// A group whose message type is critical has new letters: announced after this wait, milliseconds, which doubles each
    /// time. Default: 1 hour.
    pub critical_ms: Span,
    /// The open letters of a group have this sum, or twice, four times, … as much. One entry per currency; an amount that
    /// is not positive is never announced. Default: 10,000 of EUR, GBP and USD.
    pub money_from: Vec<Money>,
    /// A letter reaches its deadline within this time, milliseconds; 0 for never. Default: 24 hours.
    pub deadline_within_ms: Span,
}

impl Default for AlertPolicy {
    fn default() -> Self {
        Self {
            letters_from: 10,
            ages_ms: [Span::from_mins(60), Span::from_days(1)].into(),
            reminder_ms: Some(Span::from_days(1)),
            critical_ms: Span::from_mins(60),
            money_from: money_from(),
            deadline_within_ms: Span::from_days(1),
        }
    }
}

fn money_from() -> Vec<Money> {
    let currencies = ["EUR", "GBP", "USD"].into_iter().filter_map(Currency::parse);
    currencies.map(|currency| Money { amount: Decimal::from(SUM), currency }).collect()
}
