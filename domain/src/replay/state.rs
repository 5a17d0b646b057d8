//! The states of a replay, and the records that they consist of.

use super::plan::PlanHash;
use crate::gate::Waiver;
use crate::id::Actor;
use crate::person::PersonId;
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// An approval of exactly one plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// Who approved.
    pub by: Actor,
    /// Their identity. `None` for rules, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_id: Option<PersonId>,
    /// When it was approved.
    pub at: Timestamp,
    /// The reason that the approver gave.
    pub reason: String,
    /// The hash of the plan.
    pub plan_hash: PlanHash,
    /// The conditions that were waived with it.
    pub waivers: Vec<Waiver>,
}

/// The phase of a running replay's wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum Phase {
    /// Sending the wave's letters.
    Sending,
    /// Observing the consumer's results.
    Observing {
        /// When the last letter's window ends.
        until: Timestamp,
    },
    /// The wave succeeded; delay before the next one.
    BetweenWaves {
        /// When the delay ends.
        until: Timestamp,
    },
}

/// Why a replay is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PauseReason {
    /// Too many letters returned; the office paused the replay.
    TooManyReturned {
        /// Returned letters of the wave.
        returned: u64,
        /// Sent letters of the wave.
        sent: u64,
        /// The share above which a replay pauses, percent.
        stop_share_pct: u8,
        /// The wave, from 0. It may be earlier than the current wave if its letters returned late. Records written
        /// before this field existed lack it and mean the wave in which the replay paused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wave: Option<u32>,
    },
    /// The gate closed between two waves.
    GateClosed {
        /// The unmet conditions, in words.
        unmet: Vec<String>,
    },
    /// The main queue is gone, has changed its type, or denies access.
    QueueUnavailable {
        /// The queue's answer.
        detail: String,
    },
    /// The main queue's backlog did not drain in time: the consumer is off or too slow, so the outcome of sent letters
    /// is unknown.
    BacklogNotDrained {
        /// Messages waiting in the queue at the last measurement.
        visible_count: u64,
    },
    /// A person paused it.
    ByPerson {
        /// The reason that the person gave.
        reason: String,
    },
}

/// How a replay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every wave was sent and observed.
    Completed,
    /// A person aborted it.
    Aborted,
}

/// The state of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ReplayState {
    /// Working on a wave.
    Running {
        /// The wave, from 0.
        wave: u32,
        /// The wave's phase.
        #[serde(flatten)]
        phase: Phase,
    },
    /// Paused: nothing is sent until a person resumes it. Letters in flight are still observed.
    Paused {
        /// The wave in which it was paused.
        wave: u32,
        /// Why it was paused.
        why: PauseReason,
        /// Who paused it; `office` if the office did.
        by: Actor,
        /// When it was paused.
        at: Timestamp,
    },
    /// Aborted by a person; letters in flight are still observed.
    Aborting {
        /// Who aborted it.
        by: Actor,
        /// The reason that the person gave.
        reason: String,
        /// When it was aborted.
        at: Timestamp,
    },
    /// Every letter has its outcome.
    Finished {
        /// How it ended.
        ending: Ending,
        /// When it finished.
        at: Timestamp,
    },
}

/// An executor's exclusive right to send for a replay, for a limited time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lease {
    /// The executor.
    pub holder: String,
    /// When another executor may take over.
    pub until: Timestamp,
}

/// The main queue's backlog after the last send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backlog {
    /// When it was measured.
    pub seen_at: Timestamp,
    /// The approximate number of messages that wait to be received.
    pub visible_count: u64,
    /// The approximate number of messages that consumers hold.
    pub in_flight_count: u64,
}

impl Backlog {
    /// Whether any letter sent earlier has been received by now, or will be within a visibility timeout: at most as
    /// many messages wait as consumers hold, and consumers finish those within that time. A queue with other traffic
    /// is hardly ever empty; a queue with a consumer that is off or behind has more messages waiting than held.
    pub fn is_drained(&self) -> bool {
        self.visible_count <= self.in_flight_count
    }
}

/// The state of a wave when a person resumed the replay. Only letters sent after that count, and another canary goes
/// first, because the fix is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    /// The wave.
    pub wave: u32,
    /// Letters of the wave that were sent before.
    pub sent: u64,
    /// Letters of the wave that had returned before.
    pub returned: u64,
    /// Whether the canary of the new fix is still pending.
    pub probing: bool,
}
