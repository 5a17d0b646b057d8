//! The gate as the dashboard shows it.

use alloc::vec::Vec;
use domain::gate::{Condition, Gate};
use domain::id::GroupId;
use serde::{Deserialize, Serialize};

/// A gate to look at. It opens nothing: the server judges the gate anew when somebody approves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateView {
    /// The group that the gate guards.
    pub group: GroupId,
    /// The conditions, in order.
    pub conditions: Vec<Condition>,
}

impl GateView {
    /// Whether every condition held when the gate was judged.
    pub fn is_open(&self) -> bool {
        self.conditions.iter().all(Condition::holds)
    }
}

impl From<&Gate> for GateView {
    fn from(gate: &Gate) -> Self {
        Self { group: gate.group().clone(), conditions: gate.conditions().to_vec() }
    }
}
