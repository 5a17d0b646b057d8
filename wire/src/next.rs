//! The next step of a group.

use crate::facts::RowFacts;
use alloc::string::{String, ToString};
use domain::group::GroupState;
use domain::tagged::need;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The next step for a person.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum NextStep {
    /// Letters of a resolved group died again: find out why the fix failed.
    Regressed,
    /// A replay is paused: decide.
    ReplayPaused,
    /// The group is growing: find the cause first.
    Growing,
    /// A fix is declared, but a condition of the gate is not met (see [`crate::GroupRow::blocked`]).
    Blocked,
    /// Every other condition is met, and the plan waits for an approver.
    WaitingForApproval,
    /// A fix is declared, and nothing blocks its replay: plan it.
    ReplayReady,
    /// Find the cause.
    FindCause,
    /// A replay is running: watch it.
    Replaying {
        /// The wave, from 1.
        wave: u32,
        /// The number of waves.
        waves: u32,
    },
    /// Nothing to do.
    Resolved,
    /// Nothing to do: people discarded its letters.
    Discarded,
}

/// The fields that any step may carry.
#[derive(Deserialize)]
struct Carried {
    step: String,
    wave: Option<u32>,
    waves: Option<u32>,
}

impl<'de> Deserialize<'de> for NextStep {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Carried { step, wave, waves } = Carried::deserialize(deserializer)?;
        Ok(match step.as_str() {
            "regressed" => Self::Regressed,
            "replay_paused" => Self::ReplayPaused,
            "growing" => Self::Growing,
            "blocked" => Self::Blocked,
            "waiting_for_approval" => Self::WaitingForApproval,
            "replay_ready" => Self::ReplayReady,
            "find_cause" => Self::FindCause,
            "replaying" => Self::Replaying { wave: need(wave, "wave")?, waves: need(waves, "waves")? },
            "resolved" => Self::Resolved,
            "discarded" => Self::Discarded,
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

impl NextStep {
    /// Derives the next step from a group's state, its growth, and its other facts.
    pub fn new(state: &GroupState, growing: bool, facts: &RowFacts) -> Self {
        match state {
            GroupState::Regressed { .. } => Self::Regressed,
            GroupState::Paused { .. } => Self::ReplayPaused,
            GroupState::Replaying { .. } | GroupState::Verifying { .. } => {
                let (wave, waves) = facts.wave.unwrap_or((1, 1));
                Self::Replaying { wave, waves }
            }
            GroupState::FixDeclared { .. } => match &facts.gate {
                Some(gate) if gate.blocked.is_some() => Self::Blocked,
                Some(gate) if gate.has_plan => Self::WaitingForApproval,
                _ => Self::ReplayReady,
            },
            GroupState::Resolved { .. } => Self::Resolved,
            GroupState::Discarded { .. } => Self::Discarded,
            GroupState::Open if growing => Self::Growing,
            GroupState::Open => Self::FindCause,
        }
    }

    /// Returns the step in one to three words.
    pub fn label(&self) -> String {
        match self {
            Self::Regressed => "Regressed".to_string(),
            Self::ReplayPaused => "Replay paused".to_string(),
            Self::Growing => "Growing".to_string(),
            Self::Blocked => "Blocked".to_string(),
            Self::WaitingForApproval => "Waiting for approval".to_string(),
            Self::ReplayReady => "Ready".to_string(),
            Self::FindCause => "Find the cause".to_string(),
            Self::Replaying { wave, waves } => alloc::format!("Wave {wave} of {waves}"),
            Self::Resolved => "Resolved".to_string(),
            Self::Discarded => "Discarded".to_string(),
        }
    }

    /// Returns the rank in the order of attention: 0 for the most urgent.
    pub(crate) fn urgency(&self) -> u8 {
        match self {
            Self::Regressed | Self::ReplayPaused => 0,
            Self::Growing | Self::Blocked | Self::WaitingForApproval | Self::ReplayReady | Self::FindCause => 1,
            Self::Replaying { .. } => 2,
            Self::Resolved | Self::Discarded => 3,
        }
    }
}

/// Whether a group grows: at least three deaths in the last 15 minutes, and more than in an average quarter of an hour of
/// the last day. It stops growing 15 minutes after its last burst.
pub(crate) fn is_growing(arrivals: &[u64], recent: u64) -> bool {
    let before: u64 = arrivals.iter().rev().skip(1).sum();
    let quarters = 4 * arrivals.len().saturating_sub(1).max(1) as u64;
    recent >= 3 && recent * quarters > before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GateFact;
    use domain::fix::{Fix, FixKind};
    use domain::id::Actor;
    use domain::time::Timestamp;

    #[test]
    fn a_group_grows_while_failures_keep_arriving() {
        let rows: [(&[u64], u64, bool); 6] = [
            (&[0, 0, 12], 12, true),
            // The burst of this hour is over.
            (&[0, 0, 12], 0, false),
            (&[0, 0, 2], 2, false),
            // As many as ever: 400 in two hours are 50 in a quarter.
            (&[200, 200, 60], 50, false),
            (&[200, 200, 60], 51, true),
            (&[], 3, true),
        ];
        for (arrivals, recent, expected) in rows {
            assert_eq!(is_growing(arrivals, recent), expected, "{arrivals:?} {recent}");
        }
    }

    #[test]
    fn a_declared_fix_is_blocked_ready_or_waits_for_approval() {
        let fix = Fix {
            kind: FixKind::Deploy,
            reference: "v2".into(),
            note: None,
            declared_by: Actor::new("ana"),
            declared_by_id: None,
            declared_at: Timestamp::from_ms(0),
            effective_at: Timestamp::from_ms(0),
            transform: None,
        };
        let state = GroupState::FixDeclared { fix };
        for (blocked, has_plan, label) in [
            (None, false, "Ready"),
            (None, true, "Waiting for approval"),
            (Some("Still failing"), true, "Blocked"),
            (Some("Still failing"), false, "Blocked"),
        ] {
            let gate = GateFact { blocked: blocked.map(Into::into), has_plan, is_approver: true };
            assert_eq!(gate.is_for_me(), label == "Waiting for approval");
            let facts = RowFacts { gate: Some(gate), ..RowFacts::default() };
            assert_eq!(NextStep::new(&state, true, &facts).label(), label);
        }
    }
}
