//! An error group: all letters with one cause, its life, and its counters.

use crate::fix::Fix;
use crate::id::{Actor, GroupId, QueueArn, ReplayId};
use crate::impact::Severity;
use crate::tagged::need;
pub mod merging;

use crate::letter::{Letter, LetterStateKind};
use crate::limits::ARRIVAL_BUCKET_MS;
use crate::merge::Skeleton;
use crate::money::Purse;
use crate::reading::{Classification, Failure, Reading};
use crate::time::Timestamp;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use merging::MergeState;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Where a group is in its life. Each state owns what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum GroupState {
    /// Letters wait; nobody has claimed that the cause is gone.
    Open,
    /// Somebody says that the cause is gone.
    FixDeclared {
        /// The claim.
        fix: Fix,
    },
    /// A replay is under way.
    Replaying {
        /// The replay.
        replay: ReplayId,
        /// The fix it was approved for.
        fix: Fix,
    },
    /// A replay stopped itself or was paused.
    Paused {
        /// The replay.
        replay: ReplayId,
        /// The fix that counts now; none when letters came back and it no longer counts.
        fix: Option<Fix>,
    },
    /// Everything is sent; the last wave is being observed.
    Verifying {
        /// The replay.
        replay: ReplayId,
        /// The fix it was approved for.
        fix: Fix,
    },
    /// No letter of the group is open, and a replay or a person showed that the fix works.
    Resolved {
        /// Since when.
        at: Timestamp,
        /// The fix that worked.
        fix: Fix,
        /// The replay that proved it.
        replay: ReplayId,
    },
    /// It was resolved, and a letter died of the same cause after the fix.
    Regressed {
        /// Since when.
        at: Timestamp,
        /// The fix that did not hold.
        was: Fix,
    },
}

impl GroupState {
    /// The fix that counts now.
    pub fn fix(&self) -> Option<&Fix> {
        match self {
            Self::Open | Self::Regressed { .. } => None,
            Self::FixDeclared { fix } | Self::Replaying { fix, .. } | Self::Verifying { fix, .. } => Some(fix),
            Self::Resolved { fix, .. } => Some(fix),
            Self::Paused { fix, .. } => fix.as_ref(),
        }
    }

    /// The replay under way (paused ones too).
    pub fn replay(&self) -> Option<&ReplayId> {
        match self {
            Self::Replaying { replay, .. } | Self::Paused { replay, .. } | Self::Verifying { replay, .. } => {
                Some(replay)
            }
            _ => None,
        }
    }

    /// The word of the state, as in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::FixDeclared { .. } => "fix_declared",
            Self::Replaying { .. } => "replaying",
            Self::Paused { .. } => "paused",
            Self::Verifying { .. } => "verifying",
            Self::Resolved { .. } => "resolved",
            Self::Regressed { .. } => "regressed",
        }
    }
}

/// What a state may carry.
#[derive(Deserialize)]
struct Carried {
    state: String,
    replay: Option<ReplayId>,
    fix: Option<Fix>,
    was: Option<Fix>,
    at: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for GroupState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Carried { state, replay, fix, was, at } = Carried::deserialize(deserializer)?;
        let replay = || need(replay, "replay");
        Ok(match state.as_str() {
            "open" => Self::Open,
            "fix_declared" => Self::FixDeclared { fix: need(fix, "fix")? },
            "replaying" => Self::Replaying { replay: replay()?, fix: need(fix, "fix")? },
            "paused" => Self::Paused { replay: replay()?, fix },
            "verifying" => Self::Verifying { replay: replay()?, fix: need(fix, "fix")? },
            "resolved" => Self::Resolved { at: need(at, "at")?, fix: need(fix, "fix")?, replay: replay()? },
            "regressed" => Self::Regressed { at: need(at, "at")?, was: need(was, "was")? },
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

/// What stays with a cause. Small, as each change writes it whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its identity: the fingerprint.
    pub id: GroupId,
    /// Grows by one with each change.
    pub version: u64,
    /// The main queue; none where nobody could tell.
    pub main_queue: Option<QueueArn>,
    /// The dead-letter queue of its first letter.
    pub dlq: QueueArn,
    /// What a person calls it.
    pub title: String,
    /// Where it was thrown.
    pub culprit: Option<String>,
    /// Class, category, confidence, reason: of its first letter.
    pub classification: Classification,
    /// The failure of its first letter, the stack cut to [`crate::limits::STACK_BYTES_MAX`].
    pub failure: Failure,
    /// The service that fails.
    pub consumer: Option<String>,
    /// The kind of message of its first letter.
    pub message_type: Option<String>,
    /// The worst severity that its first letter's type has by policy.
    pub severity: Severity,
    /// When the first of its letters died, in whatever order they came.
    pub first_died_at: Timestamp,
    /// A note that people keep; it outlives replays.
    pub note: Option<String>,
    /// Who looks after it.
    pub owner: Option<Actor>,
    /// What a merge sees of its fingerprint; none where frames or the body say all there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<Skeleton>,
    /// How it stands to those that are one cause with it.
    #[serde(default, alias = "kin", skip_serializing_if = "MergeState::is_none")]
    pub merge: MergeState,
    /// Where it is in its life.
    #[serde(flatten)]
    pub state: GroupState,
}

impl Variant {
    /// The group that a first letter opens.
    pub fn opened_by(letter: &Letter, reading: &Reading) -> Self {
        let mut failure = reading.diagnosis.failure.clone();
        if let Some(stack) = &mut failure.stack {
            truncate_on_char(stack, crate::limits::STACK_BYTES_MAX);
        }
        Self {
            id: letter.group.clone(),
            version: 1,
            main_queue: letter.main_queue.clone(),
            dlq: letter.dlq.clone(),
            title: reading.diagnosis.title.clone(),
            culprit: reading.culprit.clone(),
            classification: reading.diagnosis.classification.clone(),
            failure,
            consumer: reading.diagnosis.consumer.clone(),
            message_type: reading.diagnosis.message_type.clone(),
            severity: reading.diagnosis.impact.severity,
            first_died_at: letter.died_at,
            note: None,
            owner: None,
            skeleton: crate::read::skeleton(&reading.diagnosis.failure, reading.main_queue.as_ref()),
            merge: MergeState::default(),
            state: GroupState::Open,
        }
    }

    /// The same group in another state, one version on.
    pub fn moved(&self, state: GroupState) -> Self {
        Self { version: self.version + 1, state, ..self.clone() }
    }

    /// The same group after a letter came that had died before all others; none where it had not.
    pub fn aged(&self, died_at: Timestamp) -> Option<Self> {
        let is_older = died_at < self.first_died_at;
        is_older.then(|| Self { first_died_at: died_at, ..self.moved(self.state.clone()) })
    }

    /// What a death in this group does to its life, if anything. A resolved group whose letter was **processed** after
    /// the fix took effect has regressed; one that failed before the fix and arrives late waits for a replay under
    /// the same fix (field.md F).
    pub fn after_death(&self, died_at: Timestamp, now: Timestamp) -> Option<Self> {
        let GroupState::Resolved { fix, .. } = &self.state else { return None };
        Some(self.moved(if died_at > fix.effective_at {
            GroupState::Regressed { at: now, was: fix.clone() }
        } else {
            GroupState::FixDeclared { fix: fix.clone() }
        }))
    }
}

/// Cuts a text to at most `max` bytes, on a character boundary.
pub fn truncate_on_char(text: &mut String, max: usize) {
    if text.len() > max {
        let mut end = max;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
}

/// How many letters are in one state, and what they are worth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Letters. Signed, as a delta is a tally too; a stored one is never negative.
    pub letters: i64,
    /// Letters that carry a price.
    pub priced: i64,
    /// Their money.
    pub money: Purse,
}

impl Tally {
    fn count(&mut self, letter: &Letter, sign: i64) {
        self.letters += sign;
        if let Some(money) = letter.diagnosis.impact.money {
            self.priced += sign;
            if sign > 0 { self.money.add(money) } else { self.money.subtract(money) }
        }
    }

    /// Adds another tally.
    pub fn add(&mut self, other: &Self) {
        self.letters += other.letters;
        self.priced += other.priced;
        self.money.add_all(&other.money);
    }

    fn is_zero(&self) -> bool {
        self.letters == 0 && self.priced == 0 && self.money.is_empty()
    }
}

/// The counters of a group: exactly the fold of its letters, kept so that a list costs the same at any size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCounts {
    /// By state of the letters.
    pub by_state: BTreeMap<LetterStateKind, Tally>,
    /// Deaths, those of returned letters included.
    pub deaths: u64,
    /// Different customers whose letters died here.
    pub customers: u64,
    /// When a letter of the group died last.
    pub last_died_at: Option<Timestamp>,
}

impl GroupCounts {
    /// The tally of one state.
    pub fn of(&self, kind: LetterStateKind) -> Tally {
        self.by_state.get(&kind).cloned().unwrap_or_default()
    }

    /// The tally of all letters that are not delivered.
    pub fn open(&self) -> Tally {
        let mut open = Tally::default();
        for (_, tally) in self.by_state.iter().filter(|(kind, _)| kind.is_open()) {
            open.add(tally);
        }
        open
    }

    /// Adds the counters of a group that is one cause with this. Somebody whose letters died in both counts twice: the
    /// sets of customers are kept by fingerprint.
    pub fn add(&mut self, other: &Self) {
        for (kind, tally) in &other.by_state {
            self.by_state.entry(*kind).or_default().add(tally);
        }
        self.deaths += other.deaths;
        self.customers += other.customers;
        self.last_died_at = self.last_died_at.max(other.last_died_at);
    }

    /// Adds a delta, customers aside (the store knows which of them are new).
    pub fn apply(&mut self, delta: &CountsDelta) {
        for (kind, tally) in &delta.by_state {
            let sum = self.by_state.entry(*kind).or_default();
            sum.add(tally);
            if sum.is_zero() {
                self.by_state.remove(kind);
            }
        }
        self.deaths += delta.deaths;
        self.last_died_at = self.last_died_at.max(delta.last_died_at);
    }
}

/// What a change of letters does to the counters of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountsDelta {
    /// Change of each state's tally.
    pub by_state: BTreeMap<LetterStateKind, Tally>,
    /// New deaths.
    pub deaths: u64,
    /// When the latest of them was.
    pub last_died_at: Option<Timestamp>,
    /// New deaths by bucket of [`ARRIVAL_BUCKET_MS`], by the bucket's number since the epoch.
    pub arrivals: BTreeMap<i64, u64>,
    /// Customers that were seen; the store adds them to a set.
    pub customers: Vec<String>,
}

/// Deltas by group: what goes into the same commit as the letters that cause them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountsDeltas(pub BTreeMap<GroupId, CountsDelta>);

impl CountsDeltas {
    /// A letter moved from one state (or group) to another, or is new when `before` is none.
    pub fn moved(&mut self, before: Option<&Letter>, after: &Letter) {
        if let Some(before) = before {
            let delta = self.0.entry(before.group.clone()).or_default();
            delta.by_state.entry(before.state.kind()).or_default().count(before, -1);
        }
        let delta = self.0.entry(after.group.clone()).or_default();
        delta.by_state.entry(after.state.kind()).or_default().count(after, 1);
    }

    /// A letter died in the group it is in now.
    pub fn died(&mut self, letter: &Letter) {
        let delta = self.0.entry(letter.group.clone()).or_default();
        delta.deaths += 1;
        delta.last_died_at = delta.last_died_at.max(Some(letter.died_at));
        *delta.arrivals.entry(arrival_bucket(letter.died_at)).or_default() += 1;
        if let Some(customer) = &letter.diagnosis.impact.customer
            && !delta.customers.contains(customer)
        {
            delta.customers.push(customer.clone());
        }
    }
}

/// The number of the arrivals bucket that a moment falls into.
pub fn arrival_bucket(at: Timestamp) -> i64 {
    at.as_ms().div_euclid(ARRIVAL_BUCKET_MS)
}
