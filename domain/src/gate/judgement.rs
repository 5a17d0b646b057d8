//! A judgement: whether a condition holds, with its evidence.

use super::Status;
use alloc::string::String;

/// Whether a condition holds, and the evidence.
pub(super) type Judgement = (Status, String);

pub(super) fn met(evidence: impl Into<String>) -> Judgement {
    (Status::Met, evidence.into())
}

pub(super) fn unmet(evidence: impl Into<String>) -> Judgement {
    (Status::Unmet { opens_at: None }, evidence.into())
}
