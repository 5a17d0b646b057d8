//! Groups as the dashboard lists them.

use crate::{GateView, GroupName, MergedVariant, PlanView, ReplayView};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use domain::deployment::Deployment;
use domain::group::{GroupCounts, GroupState, Tally, Variant};
use domain::id::{GroupId, ReplayId};
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::money::{Decimal, Purse};
use domain::reading::{Class, Classification, Failure, Reported};
use domain::tagged::need;
use domain::time::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The next step for a person; also the order of the list.
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
    /// A fix is declared: plan, approve, replay.
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
            "replay_ready" => Self::ReplayReady,
            "find_cause" => Self::FindCause,
            "replaying" => Self::Replaying { wave: need(wave, "wave")?, waves: need(waves, "waves")? },
            "resolved" => Self::Resolved,
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

/// A group in the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupRow {
    /// Its id.
    pub id: GroupId,
    /// The title for people.
    pub title: String,
    /// Where the error was thrown.
    pub culprit: Option<String>,
    /// The main queue's name, or the dead-letter queue's if the main queue is unknown.
    pub queue: String,
    /// The service that fails.
    pub consumer: Option<String>,
    /// Class, category, confidence, reason.
    pub classification: Classification,
    /// The worst severity of its message types.
    pub severity: Severity,
    /// The state.
    #[serde(flatten)]
    pub state: GroupState,
    /// The next step for a person.
    pub next: NextStep,
    /// Letters that are not delivered, and their money.
    pub open: Tally,
    /// Letters in a replay (also counted as open).
    pub in_replay: i64,
    /// Letters that a replay has ever delivered, including those that are no longer stored.
    pub delivered: i64,
    /// Distinct customers with letters in this group.
    pub customers: u64,
    /// Time of the oldest open letter's first send.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the next open letter is lost: at its deadline or the end of its queue's retention.
    pub loss_at: Option<Timestamp>,
    /// Time of the first death.
    pub first_died_at: Timestamp,
    /// Time of the latest death.
    pub last_died_at: Option<Timestamp>,
    /// Deaths per hour of the last 24 hours, oldest first; the last bar is the current hour so far.
    pub arrivals: Vec<u64>,
    /// Deaths in the last 60 minutes.
    pub arrivals_last_hour: u64,
}

/// Totals over all groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Growing groups.
    pub growing: u64,
    /// Letters that are not delivered.
    pub open_letters: i64,
    /// Their money.
    pub money: Purse,
    /// Time of the oldest of these letters' first send.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the next of these letters is lost.
    pub loss_at: Option<Timestamp>,
    /// Running or paused replays.
    pub replays: u64,
}

/// The list of groups, ordered by urgency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupsAnswer {
    /// The groups.
    pub groups: Vec<GroupRow>,
    /// Totals over all groups.
    pub summary: Summary,
    /// Whether there are more groups than fit in one answer.
    pub cut: bool,
    /// The names of the watched dead-letter queues.
    pub watching: Vec<String>,
}

/// A group's page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupDetail {
    /// The fields of the list.
    pub row: GroupRow,
    /// The failure of its first letter.
    pub failure: Failure,
    /// The report that the failure comes from, where the letter itself carries none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Reported>,
    /// The note.
    pub note: Option<String>,
    /// The counters by letter state.
    pub counts: GroupCounts,
    /// The gate, evaluated for the current user.
    pub gate: GateView,
    /// How long no new failure may occur, milliseconds.
    pub quiet_ms: i64,
    /// The plan that awaits approval, if there is one.
    pub plan: Option<PlanView>,
    /// The current replay, or the latest one.
    pub replay: Option<ReplayView>,
    /// Earlier replays of the group, newest first.
    pub replays: Vec<ReplayId>,
    /// The consumer's latest deployment, if one was reported.
    pub deployment: Option<Deployment>,
    /// The merged variants, oldest first. All numbers here include their letters.
    #[serde(default, alias = "also", skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<MergedVariant>,
    /// The group that this variant is merged into; actions are taken there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<GroupName>,
    /// Whether a person unmerged it: it is not merged again until merging is allowed again.
    #[serde(default, alias = "apart", skip_serializing_if = "core::ops::Not::not")]
    pub unmerged: bool,
}

impl NextStep {
    /// Derives the next step from a group's state, its growth, and its replay's wave.
    pub fn new(variant: &Variant, growing: bool, wave: Option<(u32, u32)>) -> Self {
        match &variant.state {
            GroupState::Regressed { .. } => Self::Regressed,
            GroupState::Paused { .. } => Self::ReplayPaused,
            GroupState::Replaying { .. } | GroupState::Verifying { .. } => {
                let (wave, waves) = wave.unwrap_or((1, 1));
                Self::Replaying { wave, waves }
            }
            GroupState::FixDeclared { .. } => Self::ReplayReady,
            GroupState::Resolved { .. } => Self::Resolved,
            GroupState::Open if growing => Self::Growing,
            GroupState::Open => Self::FindCause,
        }
    }

    /// Returns the step in one or two words.
    pub fn label(&self) -> String {
        match self {
            Self::Regressed => "Regressed".to_string(),
            Self::ReplayPaused => "Replay paused".to_string(),
            Self::Growing => "Growing".to_string(),
            Self::ReplayReady => "Replay ready".to_string(),
            Self::FindCause => "Find the cause".to_string(),
            Self::Replaying { wave, waves } => alloc::format!("Wave {wave} of {waves}"),
            Self::Resolved => "Resolved".to_string(),
        }
    }
}

/// Whether a group grows: at least three deaths in the last hour, and more than in an average hour of the last day.
pub(crate) fn is_growing(arrivals: &[u64], last_hour: u64) -> bool {
    let before: u64 = arrivals.iter().rev().skip(1).sum();
    let hours = arrivals.len().saturating_sub(1).max(1) as u64;
    last_hour >= 3 && last_hour * hours > before
}

/// The order of urgency: next step, then money, then time to loss, then id as tie-breaker.
pub fn attention(row: &GroupRow) -> (u8, Reverse<Decimal>, i64, GroupId) {
    let rank = match row.next {
        NextStep::Regressed | NextStep::ReplayPaused => 0,
        NextStep::Growing | NextStep::ReplayReady | NextStep::FindCause => 1,
        NextStep::Replaying { .. } => 2,
        NextStep::Resolved => 3,
    };
    // Currencies are not converted: the largest single sum decides.
    let money = row.open.money.sums().iter().map(|m| m.amount).max().unwrap_or_default();
    (rank, Reverse(money), row.loss_at.map_or(i64::MAX, Timestamp::as_ms), row.id.clone())
}

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
    /// The replay's wave (from 1) and its number of waves.
    pub wave: Option<(u32, u32)>,
}

impl GroupRow {
    /// Builds the row of a group.
    pub fn new(group: &Variant, counts: &GroupCounts, facts: RowFacts) -> Self {
        let growing = is_growing(&facts.arrivals, facts.arrivals_last_hour);
        Self {
            id: group.id.clone(),
            title: group.title.clone(),
            culprit: group.culprit.clone(),
            queue: group.main_queue.as_ref().unwrap_or(&group.dlq).name().to_string(),
            consumer: group.consumer.clone(),
            classification: group.classification.clone(),
            severity: group.severity,
            state: group.state.clone(),
            next: NextStep::new(group, growing, facts.wave),
            open: counts.open(),
            in_replay: counts.of(LetterStateKind::InReplay).letters,
            delivered: counts.of(LetterStateKind::Delivered).letters,
            customers: counts.customers,
            oldest_sent_at: facts.oldest_sent_at,
            loss_at: facts.loss_at,
            first_died_at: group.first_died_at,
            last_died_at: counts.last_died_at,
            arrivals: facts.arrivals,
            arrivals_last_hour: facts.arrivals_last_hour,
        }
    }

    /// Whether the group waits for people to find or fix its cause.
    pub fn is_open(&self) -> bool {
        self.next != NextStep::Resolved
    }

    /// Returns the class.
    pub fn class(&self) -> Class {
        self.classification.class
    }
}

impl Summary {
    /// Returns the totals of rows.
    pub fn new(rows: &[GroupRow]) -> Self {
        let mut summary = Self::default();
        for row in rows {
            summary.growing += u64::from(row.next == NextStep::Growing);
            summary.open_letters += row.open.letters;
            summary.money.add_all(&row.open.money);
            summary.oldest_sent_at = earliest(summary.oldest_sent_at, row.oldest_sent_at);
            summary.loss_at = earliest(summary.loss_at, row.loss_at);
            summary.replays += u64::from(row.state.replay().is_some());
        }
        summary
    }
}

fn earliest(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    a.into_iter().chain(b).min()
}
