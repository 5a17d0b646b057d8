//! What consumers do with failed messages of each type: the part of the policy that they share with the office.

use crate::time::Span;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How a wait differs from the exponential ceiling `c = min(cap, base · 2^(attempt - 1))`.
///
/// Full, equal and decorrelated jitter: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. Additive: Google
/// Cloud's "truncated exponential backoff", whose random part is added here after the cap. Proportional: half of the
/// ±20% of gRPC's connection backoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Jitter {
    /// No jitter: `c`. For tests and for comparison; everything that failed together returns together.
    None,
    /// `uniform(0, c)`.
    #[default]
    Full,
    /// `c / 2 + uniform(0, c / 2)`.
    Equal,
    /// `min(cap, uniform(base, 3 · previous wait))`; the attempt does not matter.
    Decorrelated,
    /// `c + uniform(0, base)`: up to one base longer than the cap.
    Additive,
    /// `uniform(0.9 · c, 1.1 · c)`: up to a tenth longer than the cap.
    Proportional,
}

/// A dead-letter queue by its purpose. `infra/queues.yaml` creates one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DlqKind {
    /// Messages whose loss harms customers.
    Critical,
    /// Messages that a replay is likely to settle.
    Retry,
    /// Messages that somebody must look at first.
    Investigation,
}

/// What happens to a message while a dependency cannot take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Overload {
    /// It waits in its queue until the next probe at least, as far as the queue allows.
    Wait,
    /// It is dead-lettered as transient, so that the office may send it back by rule.
    DeadLetter,
}

/// The strategy for failed messages of one type. What is absent follows the consumer's own settings. How severe a dead
/// letter of the type is stands in `message_types`, for consumers and the office alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StrategyRule {
    /// The message type, exactly, or `*` for all types.
    pub message_type: String,
    /// Receives after which a message is dead-lettered, 1 to 1,000; the queue's `maxReceiveCount` limits it too.
    pub attempts_max: Option<u32>,
    /// The longest wait before the first retry, milliseconds, up to 12 h; doubles with each receive.
    pub backoff_ms: Option<Span>,
    /// The longest wait before any retry, milliseconds, up to 12 h.
    pub backoff_ms_max: Option<Span>,
    /// The jitter of these waits.
    pub jitter: Option<Jitter>,
    /// One wait for each receive in place of the exponential ones, milliseconds, up to 12 h each and 20 in number.
    pub stages_ms: Vec<Span>,
    /// How long after its first send a message may still be handled, milliseconds, up to 14 days.
    pub ttl_ms: Option<Span>,
    /// While the circuit of a dependency is open: wait, or dead-letter with the circuit's state in the stamp.
    pub circuit_open: Option<Overload>,
    /// When a retry budget is exhausted.
    pub budget_exhausted: Option<Overload>,
    /// The dead-letter queue; the one of the queue's redrive policy if absent.
    pub dlq: Option<DlqKind>,
}
