//! Facts about a group that its row and its next step are derived from.

use crate::GateView;
use alloc::string::String;
use alloc::vec::Vec;
use domain::gate::{Condition, ConditionKind};
use domain::money::Money;
use domain::time::Timestamp;

/// Facts for a row that the store keeps separately from the variant and its counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFacts {
    /// Time of the oldest open letter's first send.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the next open letter is lost.
    pub loss_at: Option<Timestamp>,
    /// Deaths per hour, oldest first.
    pub arrivals: Vec<u64>,
    /// Deaths in the last 60 minutes.
    pub arrivals_last_hour: u64,
    /// Deaths in the last 15 minutes.
    pub arrivals_recent: u64,
    /// The replay's wave (from 1) and its number of waves.
    pub wave: Option<(u32, u32)>,
    /// What the gate says, if a fix is declared.
    pub gate: Option<GateFact>,
    /// The total of the open letters' money in the policy's base currency.
    pub about: Option<Money>,
}

/// What a row needs to know of its gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateFact {
    /// The evidence of the first unmet condition other than the approval.
    pub blocked: Option<String>,
    /// Whether there is something to approve: a plan, or a paused replay without letters in flight.
    pub has_plan: bool,
    /// Whether the caller may approve it.
    pub is_approver: bool,
}

impl GateFact {
    /// Returns the facts of a gate that was evaluated for the caller.
    pub fn new(gate: &GateView, has_plan: bool) -> Self {
        let unmet = |c: &&Condition| !c.holds() && c.kind != ConditionKind::Approval;
        let approval = gate.conditions.iter().find(|c| c.kind == ConditionKind::Approval);
        Self {
            blocked: gate.conditions.iter().find(unmet).map(|c| c.evidence.clone()),
            has_plan,
            is_approver: approval.is_some_and(Condition::holds),
        }
    }

    /// Whether only the caller's approval is missing.
    pub fn is_for_me(&self) -> bool {
        self.blocked.is_none() && self.has_plan && self.is_approver
    }
}
