//! Groups as the dashboard lists them.

use crate::{GateView, GroupName, MergedVariant, PlanView, ReplayView};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use domain::deployment::Deployment;
use domain::group::{GroupCounts, GroupState, Tally, Variant};
use domain::id::{Actor, GroupId, ReplayId};
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::money::{Decimal, Purse};
use domain::reading::{Class, Classification, Failure};
use domain::tagged::need;
use domain::time::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// What a person does next about a group; also the order of the list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "step")]
pub enum NextStep {
    /// Letters die of a cause that was resolved: find out why the fix does not hold.
    Regressed,
    /// A replay has stopped: decide.
    ReplayPaused,
    /// It is growing now: find the cause first.
    Growing,
    /// A fix is declared: plan, approve, replay.
    ReplayReady,
    /// Find the cause.
    FindCause,
    /// A replay is under way: watch it.
    Replaying {
        /// The wave, from 1.
        wave: u32,
        /// Of how many.
        waves: u32,
    },
    /// Nothing.
    Resolved,
}

/// What a step may carry.
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
    /// What a person calls it.
    pub title: String,
    /// Where it was thrown.
    pub culprit: Option<String>,
    /// The main queue's name, or the dead-letter queue's where the main queue is not known.
    pub queue: String,
    /// The service that fails.
    pub consumer: Option<String>,
    /// Class, category, confidence, reason.
    pub classification: Classification,
    /// How much it hurts.
    pub severity: Severity,
    /// Where it is in its life.
    #[serde(flatten)]
    pub state: GroupState,
    /// What to do next.
    pub next: NextStep,
    /// Letters that are not delivered, and their money.
    pub open: Tally,
    /// Letters that a replay has in hand (also counted as open).
    pub in_replay: i64,
    /// Letters that were delivered by a replay.
    pub delivered: i64,
    /// Different customers whose letters died of this.
    pub customers: u64,
    /// When the oldest open letter was first sent.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the first open letter is lost: its deadline or its queue's retention.
    pub loss_at: Option<Timestamp>,
    /// When its first letter died.
    pub first_died_at: Timestamp,
    /// When a letter died last.
    pub last_died_at: Option<Timestamp>,
    /// Deaths per hour of the last 24, oldest first; the last bar is the current hour so far.
    pub arrivals: Vec<u64>,
    /// Deaths in the last 60 minutes.
    pub arrivals_last_hour: u64,
    /// Somebody who looks after it.
    pub owner: Option<Actor>,
}

/// The numbers above the list, over all groups.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Groups that grow.
    pub growing: u64,
    /// Letters that are not delivered.
    pub open_letters: i64,
    /// Their money.
    pub money: Purse,
    /// When the oldest of them was first sent.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the first of them is lost.
    pub loss_at: Option<Timestamp>,
    /// Replays that run or are paused.
    pub replays: u64,
}

/// The list of groups, in the order of attention.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupsAnswer {
    /// The groups.
    pub groups: Vec<GroupRow>,
    /// The numbers above the list.
    pub summary: Summary,
    /// Whether there are more groups than one answer gives.
    pub cut: bool,
    /// The dead-letter queues that are watched, by name.
    pub watching: Vec<String>,
}

/// A group's page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupDetail {
    /// What the list has.
    pub row: GroupRow,
    /// The failure of its first letter.
    pub failure: Failure,
    /// The note.
    pub note: Option<String>,
    /// The counters by state of the letters.
    pub counts: GroupCounts,
    /// The gate as it stands for the person who asks.
    pub gate: GateView,
    /// How long the group must be quiet, milliseconds.
    pub quiet_ms: i64,
    /// The plan that waits for approval, if there is one.
    pub plan: Option<PlanView>,
    /// The replay under way, or the last one.
    pub replay: Option<ReplayView>,
    /// Earlier replays of the group, newest first.
    pub replays: Vec<ReplayId>,
    /// The consumer's latest deployment, where one was reported.
    pub deployment: Option<Deployment>,
    /// The fingerprints that are one cause with this, oldest first; their letters are counted in all numbers here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<MergedVariant>,
    /// The group that this fingerprint is merged into: there people act.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_into: Option<GroupName>,
    /// Whether a person took it out of a group: it is not merged again until somebody allows it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub apart: bool,
}

impl NextStep {
    /// What follows from a group's state, its growth, and its replay's place.
    pub fn of(group: &Variant, growing: bool, wave: Option<(u32, u32)>) -> Self {
        match &group.state {
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

    /// The step in a word or two.
    pub fn label(&self) -> String {
        match self {
            Self::Regressed => "Regressed".to_string(),
            Self::ReplayPaused => "Replay stopped".to_string(),
            Self::Growing => "Growing".to_string(),
            Self::ReplayReady => "Replay ready".to_string(),
            Self::FindCause => "Find the cause".to_string(),
            Self::Replaying { wave, waves } => alloc::format!("Wave {wave} of {waves}"),
            Self::Resolved => "Resolved".to_string(),
        }
    }
}

/// Whether a group grows: at least three letters in the last hour, and more than in an average hour of the day before.
pub(crate) fn is_growing(arrivals: &[u64], last_hour: u64) -> bool {
    let before: u64 = arrivals.iter().rev().skip(1).sum();
    let hours = arrivals.len().saturating_sub(1).max(1) as u64;
    last_hour >= 3 && last_hour * hours > before
}

/// The order of attention: by next step, then by money, then by time to loss, then by id so that it is total.
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

/// What the store keeps of a group beside its head and counters, for a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowFacts {
    /// When the oldest open letter was first sent.
    pub oldest_sent_at: Option<Timestamp>,
    /// When the first open letter is lost.
    pub loss_at: Option<Timestamp>,
    /// Deaths per hour, oldest first.
    pub arrivals: Vec<u64>,
    /// Deaths in the last 60 minutes.
    pub arrivals_last_hour: u64,
    /// The replay's wave (from 1) and how many it has.
    pub wave: Option<(u32, u32)>,
}

impl GroupRow {
    /// The row of a group.
    pub fn of(group: &Variant, counts: &GroupCounts, facts: RowFacts) -> Self {
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
            next: NextStep::of(group, growing, facts.wave),
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
            owner: group.owner.clone(),
        }
    }

    /// Whether it is waiting for somebody to find or fix its cause.
    pub fn is_open(&self) -> bool {
        self.next != NextStep::Resolved
    }

    /// Whether it is transient, permanent or unknown.
    pub fn class(&self) -> Class {
        self.classification.class
    }
}

impl Summary {
    /// The summary of some rows.
    pub fn of(rows: &[GroupRow]) -> Self {
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
