//! Groups of letters that share a cause: the record of each variant, its state, and its counters.

use crate::fix::Fix;
use crate::id::{GroupId, QueueArn, ReplayId};
use crate::impact::Severity;
use crate::tagged::need;
mod customers;
mod deltas;
pub mod discarding;
pub mod merging;
mod noted;
mod title_values;

pub use customers::{CountedCustomers, Customers, groups_to_count};
pub use deltas::{CountsDelta, CountsDeltas};
pub use title_values::TitleValues;

use crate::letter::{Letter, LetterStateKind};
use crate::limits::ARRIVAL_BUCKET_MS;
use crate::money::Purse;
use crate::read::Skeleton;
use crate::reading::{Classification, Failure, Reading, Reported};
use crate::time::Timestamp;
use crate::watch::Notified;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use discarding::DiscardTask;
use merging::MergeState;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The state of a group. Each state carries its own data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum GroupState {
    /// Letters are waiting; no fix is declared.
    Open,
    /// A fix is declared.
    FixDeclared {
        /// The declared fix.
        fix: Fix,
    },
    /// A replay is running.
    Replaying {
        /// The replay.
        replay: ReplayId,
        /// The fix of its approval.
        fix: Fix,
    },
    /// The replay is paused, by the office or by a person.
    Paused {
        /// The replay.
        replay: ReplayId,
        /// The fix that counts now; `None` if returned letters disproved it.
        fix: Option<Fix>,
    },
    /// All letters are sent; the last wave is being observed.
    Verifying {
        /// The replay.
        replay: ReplayId,
        /// The fix of its approval.
        fix: Fix,
    },
    /// No letter of the group is open, and a replay or a person confirmed the fix.
    Resolved {
        /// When it was resolved.
        at: Timestamp,
        /// The fix that worked.
        fix: Fix,
        /// The replay that confirmed it.
        replay: ReplayId,
    },
    /// The group was resolved, and a letter died of the same cause after the fix.
    Regressed {
        /// When it regressed.
        at: Timestamp,
        /// The fix that failed.
        was: Fix,
    },
    /// No letter of the group is open, because people discarded them. No fix is confirmed.
    Discarded {
        /// When the last of them was closed.
        at: Timestamp,
    },
}

impl GroupState {
    /// Returns the fix that counts now.
    pub fn fix(&self) -> Option<&Fix> {
        match self {
            Self::Open | Self::Regressed { .. } | Self::Discarded { .. } => None,
            Self::FixDeclared { fix } | Self::Replaying { fix, .. } | Self::Verifying { fix, .. } => Some(fix),
            Self::Resolved { fix, .. } => Some(fix),
            Self::Paused { fix, .. } => fix.as_ref(),
        }
    }

    /// Returns the current replay, including a paused one.
    pub fn replay(&self) -> Option<&ReplayId> {
        match self {
            Self::Replaying { replay, .. } | Self::Paused { replay, .. } | Self::Verifying { replay, .. } => {
                Some(replay)
            }
            _ => None,
        }
    }

    /// Returns the state's name, as in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::FixDeclared { .. } => "fix_declared",
            Self::Replaying { .. } => "replaying",
            Self::Paused { .. } => "paused",
            Self::Verifying { .. } => "verifying",
            Self::Resolved { .. } => "resolved",
            Self::Regressed { .. } => "regressed",
            Self::Discarded { .. } => "discarded",
        }
    }
}

/// The fields that any state may carry.
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
            "discarded" => Self::Discarded { at: need(at, "at")? },
            other => return Err(D::Error::unknown_variant(other, &[])),
        })
    }
}

/// The record of a single fingerprint. Small, because each change writes it whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The fingerprint.
    pub id: GroupId,
    /// Increments with each change.
    pub version: u64,
    /// The main queue; `None` if it cannot be determined.
    pub main_queue: Option<QueueArn>,
    /// The dead-letter queue of its first letter.
    pub dlq: QueueArn,
    /// The title of its first letter, with masks. Lists and pages show [`Variant::shown_title`].
    pub title: String,
    /// What all of its letters have at the masks of the title.
    #[serde(default, skip_serializing_if = "TitleValues::is_empty")]
    pub title_values: TitleValues,
    /// Where the error was thrown.
    pub culprit: Option<String>,
    /// The classification of its first letter.
    pub classification: Classification,
    /// The failure of its first letter, the stack cut to [`crate::limits::STACK_BYTES_MAX`].
    pub failure: Failure,
    /// The report that the failure comes from, where the letter itself carries none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Box<Reported>>,
    /// What the office looked for in the consumer's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs: Option<Box<crate::logs::LogSearch>>,
    /// The service that fails.
    pub consumer: Option<String>,
    /// The versions of that service that its letters died on, in the order in which they were first seen, at most
    /// [`crate::limits::DIED_ON_VERSIONS_MAX`]: the oldest is dropped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub died_on: Vec<String>,
    /// The message type of its first letter.
    pub message_type: Option<String>,
    /// The severity of its first letter's message type, by policy.
    pub severity: Severity,
    /// When the earliest of its letters died, regardless of their order of arrival.
    pub first_died_at: Timestamp,
    /// A note by people; replays do not change it.
    pub note: Option<String>,
    /// Who takes care of it, as a person entered it; replays do not change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// What merging compares of its fingerprint; `None` if frames or the body decide the fingerprint alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<Skeleton>,
    /// What alerts have announced about the group while letters of it wait.
    #[serde(default, skip_serializing_if = "Notified::is_empty")]
    pub notified: Notified,
    /// Its place among merged variants.
    #[serde(default, alias = "kin", skip_serializing_if = "MergeState::is_empty")]
    pub merge: MergeState,
    /// A discard of its group, or the undoing of one, that is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarding: Option<Box<DiscardTask>>,
    /// The drafts of its group: a plan that is made in steps, and others whose blocks are being removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafts: Vec<ReplayId>,
    /// The state of its group.
    #[serde(flatten)]
    pub state: GroupState,
}

impl Variant {
    /// Creates the variant for the first letter of a fingerprint.
    pub fn opened_by(letter: &Letter, reading: &Reading) -> Self {
        let mut failure = reading.diagnosis.failure.clone();
        if let Some(stack) = &mut failure.stack {
            crate::text::truncate_on_char(stack, crate::limits::STACK_BYTES_MAX);
        }
        Self {
            id: letter.group.clone(),
            version: 1,
            main_queue: letter.main_queue.clone(),
            dlq: letter.dlq.clone(),
            title: reading.diagnosis.title.clone(),
            title_values: TitleValues::from_diagnosis(&reading.diagnosis),
            culprit: reading.culprit.clone(),
            classification: reading.diagnosis.classification.clone(),
            failure,
            reported: reading.diagnosis.reported.clone().map(Box::new),
            logs: None,
            consumer: reading.diagnosis.consumer.clone(),
            died_on: reading.diagnosis.consumer_version.iter().cloned().collect(),
            message_type: reading.diagnosis.message_type.clone(),
            severity: reading.diagnosis.impact.severity,
            first_died_at: letter.died_at,
            note: None,
            owner: None,
            skeleton: crate::read::skeleton(&reading.diagnosis.failure, reading.main_queue.as_ref()),
            notified: Notified::default(),
            merge: MergeState::default(),
            discarding: None,
            drafts: Vec::new(),
            state: GroupState::Open,
        }
    }

    /// Returns the variant in another state, with the next version.
    pub fn moved(&self, state: GroupState) -> Self {
        Self { version: self.version + 1, state, ..self.clone() }
    }

    /// Returns the variant after a death, if the death changes its state. A resolved group regresses if the letter was
    /// **processed** after the fix took effect. If it failed before the fix and arrives late, it waits for a replay
    /// with the same fix. A group whose letters were discarded opens.
    pub fn after_death(&self, died_at: Timestamp, now: Timestamp) -> Option<Self> {
        Some(self.moved(match &self.state {
            GroupState::Resolved { fix, .. } if died_at > fix.effective_at => {
                GroupState::Regressed { at: now, was: fix.clone() }
            }
            GroupState::Resolved { fix, .. } => GroupState::FixDeclared { fix: fix.clone() },
            GroupState::Discarded { .. } => GroupState::Open,
            _ => return None,
        }))
    }
}

/// How many letters are in one state, and their impact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// The number of letters. Signed because a delta is a tally too; a stored tally is never negative.
    pub letters: i64,
    /// The number of letters with an amount.
    pub priced: i64,
    /// Their money.
    pub money: Purse,
}

impl Tally {
    /// Adds a letter.
    pub fn include(&mut self, letter: &Letter) {
        self.count(letter, 1);
    }

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

/// The counters of a variant: exactly the sum over its letters, maintained so that a list has a constant cost per
/// variant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupCounts {
    /// By letter state. Closed letters count for ever, even after they are deleted (`delivered_kept_ms`,
    /// `discarded_kept_ms`).
    pub by_state: BTreeMap<LetterStateKind, Tally>,
    /// Deaths, including those of returned letters.
    pub deaths: u64,
    /// Different customers whose letters died. A merged group counts each of them once, from the next sweep on.
    pub customers: u64,
    /// When a letter of the variant last died. Of deaths at an unknown time, the time after which they lie counts.
    pub last_died_at: Option<Timestamp>,
    /// How many of the deaths happened at an unknown time, before the office read their queue.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub undated: u64,
    /// Until when these deaths had all happened: when the last of them was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_undated_at: Option<Timestamp>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl GroupCounts {
    /// Returns when a letter of the variant can have died last.
    pub fn last_death_until(&self) -> Option<Timestamp> {
        self.last_died_at.max(self.last_undated_at)
    }

    /// Returns the tally of one state.
    pub fn tally(&self, kind: LetterStateKind) -> Tally {
        self.by_state.get(&kind).cloned().unwrap_or_default()
    }

    /// Returns the tally of all letters that are neither delivered nor discarded.
    pub fn open(&self) -> Tally {
        let mut open = Tally::default();
        for (_, tally) in self.by_state.iter().filter(|(kind, _)| kind.is_open()) {
            open.add(tally);
        }
        open
    }

    /// Adds the counters of a merged variant. A customer with letters in both counts twice here:
    /// [`merging::MergeState::customers`] says how many there are.
    pub fn add(&mut self, other: &Self) {
        for (kind, tally) in &other.by_state {
            self.by_state.entry(*kind).or_default().add(tally);
        }
        self.deaths += other.deaths;
        self.customers += other.customers;
        self.last_died_at = self.last_died_at.max(other.last_died_at);
        self.undated += other.undated;
        self.last_undated_at = self.last_undated_at.max(other.last_undated_at);
    }

    /// Adds a delta, except for customers: only the store knows which of them are new.
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
        self.undated += delta.undated;
        self.last_undated_at = self.last_undated_at.max(delta.last_undated_at);
    }
}

/// Returns the number of the arrivals bucket that contains a moment.
pub fn arrival_bucket(at: Timestamp) -> i64 {
    at.as_ms().div_euclid(ARRIVAL_BUCKET_MS)
}
