//! A replay without an approval.

use domain::replay::{Plan, Replay};

fn forge(plan: Plan, other: Replay) -> Replay {
    Replay { plan, ..other }
}

fn main() {
    let _ = forge;
}
