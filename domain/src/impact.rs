//! The impact of a letter: money, the affected customer, and the time until it is lost.

use crate::money::Money;
use crate::time::{Span, Timestamp};
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// How badly an unprocessed message affects a customer. Set by policy per message type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Not noticeable outside the team.
    Info,
    /// Noticeable for a customer.
    #[default]
    Warning,
    /// Harms a customer: wrong money, missing goods.
    Critical,
}

/// The impact of one letter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Impact {
    /// The money that the message moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The customer's id from the message. Shown in lists and on the letter's page, never logged, never a metric dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// The severity.
    #[serde(default)]
    pub severity: Severity,
    /// The message's own deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Whether money, customer or deadline was found by a common name rather than a policy pointer.
    #[serde(default)]
    pub guessed: bool,
}

/// How a store that needs a number writes that a letter is never lost.
pub const NEVER: Timestamp = Timestamp::from_ms(i64::MAX);

/// Returns when a letter will be lost: at its own deadline, or when its queue no longer keeps it, whichever is first.
/// `None` if nothing loses it.
///
/// `retained_until` is [`retained_until`] for a letter that is only in its queue, and `None` for one in custody: the office
/// keeps it until it is delivered.
pub fn loss_at(retained_until: Option<Timestamp>, deadline: Option<Timestamp>) -> Option<Timestamp> {
    retained_until.into_iter().chain(deadline).min()
}

/// Returns when a dead-letter queue deletes a message that nobody receives.
///
/// `enqueued_at` is the message's `SentTimestamp` **in the dead-letter queue**, and `retention` is that queue's. This
/// is correct for every kind of queue, because only the timestamp differs: on a standard queue a redrive keeps the
/// time of the first send; on FIFO the move sets a new time; messages that a consumer or service put there count from
/// that put (SQS developer guide, "Using dead-letter queues").
pub fn retained_until(enqueued_at: Timestamp, retention: Span) -> Timestamp {
    enqueued_at.plus(retention)
}
