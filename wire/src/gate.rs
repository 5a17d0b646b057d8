//! The gate as the dashboard shows it.

use alloc::vec::Vec;
use domain::gate::{Condition, Gate};
use domain::id::GroupId;
use serde::{Deserialize, Serialize};

/// A gate for display only: the server evaluates the gate again at every approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateView {
    /// The group of the gate.
    pub group: GroupId,
    /// The conditions, in order.
    pub conditions: Vec<Condition>,
}

impl GateView {
    /// Whether every condition held when the gate was evaluated.
    pub fn is_open(&self) -> bool {
        self.conditions.iter().all(Condition::holds)
    }
}

impl From<&Gate> for GateView {
    fn from(gate: &Gate) -> Self {
        Self { group: gate.group().clone(), conditions: gate.conditions().to_vec() }
    }
}
