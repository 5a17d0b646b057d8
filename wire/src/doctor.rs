//! What the doctor found.

use alloc::vec::Vec;
use domain::doctor::Checkup;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// The answer to an examination of the queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorAnswer {
    /// When the queues were examined.
    pub at: Timestamp,
    /// One entry per main queue that the policy or the deployment names, then per further one with open letters, both in
    /// the order of their ARNs; at most 50.
    pub queues: Vec<Checkup>,
}
