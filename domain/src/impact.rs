//! What a letter costs: money, the customer behind it, and when it becomes worthless.

use crate::money::Money;
use crate::time::{Span, Timestamp};
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// How much it hurts a customer when this message is not processed. Set by policy per message type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nobody outside notices.
    Info,
    /// A customer notices.
    #[default]
    Warning,
    /// A customer is harmed: wrong money, missing goods.
    Critical,
}

/// The impact of one letter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Impact {
    /// The money that the message moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// The customer's id, as the message has it. Shown on the letter's page, never logged, never a metric dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// How much it hurts.
    #[serde(default)]
    pub severity: Severity,
    /// The message's own deadline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// Whether money, customer or deadline was found by a common name rather than by a pointer of the policy.
    #[serde(default)]
    pub guessed: bool,
}

/// When a letter would be lost: at its own deadline, or when the queue's retention ends, whichever comes first.
///
/// `enqueued_at` is the `SentTimestamp` that the message has **in the dead-letter queue**, and the retention is that
/// queue's. The same call is right for every kind of queue, because SQS moves the timestamp, not the rule: on a standard
/// queue a redrive keeps the time of the first send, whatever queue the message lies in now; on FIFO the move sets it
/// anew; what a consumer or a service put there itself counts from that put (facts.md 1.1).
pub fn loss_at(enqueued_at: Timestamp, retention: Span, deadline: Option<Timestamp>) -> Timestamp {
    let retained_until = enqueued_at.plus(retention);
    deadline.map_or(retained_until, |deadline| deadline.min(retained_until))
}
