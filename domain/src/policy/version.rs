//! A version of the policy as the office stores it.

use super::{Policy, PolicyChange};
use crate::id::Actor;
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A version of the policy, and who wrote it: the audit record of its change. A version never changes. Before the first
/// one the deployment's policy applies, which has the number 0 wherever a version is named.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyVersion {
    /// Its number: 1, 2, 3, … without gaps.
    pub version: u64,
    /// The policy, without the main queues that the deployment names.
    pub policy: Policy,
    /// Who wrote it.
    pub by: Actor,
    /// When it was written.
    pub at: Timestamp,
    /// The reason that the person gave.
    pub reason: String,
    /// The differences from the version before, or from the deployment's policy.
    pub changes: Vec<PolicyChange>,
}
