//! What the stamp says beyond the error itself, and how it is kept within its bounds.

use crate::attempts::Attempt;
use crate::decide::Reason;
use crate::failure::CircuitNote;
use crate::instance::Instance;
use crate::stop::Stop;
use domain::impact::Impact;
use domain::reading::Category;
use domain::text::head;
use domain::time::Span;
use serde::{Deserialize, Serialize};

/// The largest context as JSON, bytes. The rest of the stamp's 16 KiB is for error and stack.
pub(super) const CONTEXT_BYTES_MAX: usize = 5 * 1024;
/// The longest text of the context, bytes.
const TEXT_BYTES_MAX: usize = 400;

/// The context of a dead letter, in the stamp beside the fields of [`Stamp`](domain::read::Stamp).
/// `docs/schema/stamp.json` describes both.
///
/// ```
/// use consumer::{Reason, StampContext};
///
/// let context: StampContext = serde_json::from_str(r#"{ "v": 1, "reason": "poison", "instance": "i-3" }"#).unwrap();
/// assert_eq!(context.reason, Some(Reason::Poison));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StampContext {
    /// Why the message was dead-lettered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What went wrong, by the office's reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// Why class and category are what they are, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classified_by: Option<String>,
    /// The messages of the error's causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The failed attempts that are known, oldest first, this one last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Attempt>,
    /// Why retries in process ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// How long the last attempt took, milliseconds.
    #[serde(default, rename = "attempt_ms", skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Span>,
    /// From the first receive to the last failure, milliseconds.
    #[serde(default, rename = "total_ms", skip_serializing_if = "Option::is_none")]
    pub total: Option<Span>,
    /// Process, host, runtime and commit.
    #[serde(flatten)]
    pub instance: Instance,
    /// The dependency that failed, with its circuit and budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circuit: Option<CircuitNote>,
    /// Money, customer and deadline, if a policy says where they are, and the severity of the type's strategy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
    /// The message's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Whether the consumer declares that handling such a message twice does no harm.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
    /// The trace that the message belongs to: `traceparent` or `AWSTraceHeader`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl StampContext {
    /// Cuts texts, then leaves out parts until the context fits: the oldest attempts, the innermost causes, and the
    /// rest at last.
    pub(super) fn bounded(mut self, bytes_max: usize) -> Self {
        for text in [&mut self.classified_by, &mut self.idempotency_key, &mut self.trace] {
            *text = text.take().map(|text| head(&text, TEXT_BYTES_MAX).to_owned());
        }
        self.causes.iter_mut().for_each(|cause| *cause = head(cause, TEXT_BYTES_MAX).to_owned());
        if let Some(circuit) = &mut self.circuit {
            circuit.dependency = head(&circuit.dependency, TEXT_BYTES_MAX).to_owned();
        }
        while self.bytes() > bytes_max {
            if !self.history.is_empty() {
                self.history.remove(0);
            } else if self.causes.pop().is_none() {
                return Self { reason: self.reason, category: self.category, ..Self::default() };
            }
        }
        self
    }

    fn bytes(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |json| json.len())
    }
}
