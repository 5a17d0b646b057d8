//! A replay whose plan is exchanged after the approval.

use domain::replay::{Plan, Replay, ReplayState};

fn forge(mut replay: Replay, plan: Plan, state: ReplayState) {
    replay.plan = plan;
    let _ = replay.moved(state);
}

fn main() {
    let _ = forge;
}
