//! One proof for two approvals.

use domain::gate::OpenGate;
use domain::replay::{Approval, Plan};

fn forge(gate: OpenGate, one: Plan, other: Plan, approval: Approval) {
    let _ = one.approve(gate, approval.clone());
    let _ = other.approve(gate, approval);
}

fn main() {
    let _ = forge;
}
