//! The states of a replay, and the records that they consist of.

use super::plan::PlanHash;
use crate::gate::Waiver;
use crate::id::{Actor, LetterId};
use crate::limits::{CLOCK_SKEW_MAX, EVIDENCE_AGE_MAX};
use crate::person::PersonId;
use crate::time::{Span, Timestamp};
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
    /// The version of the policy that judged the gate; 0 for the deployment's policy, and in records of older versions.
    #[serde(default)]
    pub policy_version: u64,
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
        pause_share_pct: u8,
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
    /// is unknown. Or it drained only after the queue's retention, so the letters may have expired unprocessed.
    BacklogNotDrained {
        /// Messages waiting in the queue at the last measurement.
        visible_count: u64,
    },
    /// The consumer takes messages, but the main queue was never seen to have let go of everything that was sent, and no
    /// receipt came: whether the letters were processed is unknown.
    QueueNeverEmpty {
        /// Messages waiting in the queue at the last measurement.
        visible_count: u64,
        /// Messages that consumers held then.
        in_flight_count: u64,
    },
    /// A message with this replay's marker died of the same cause, but with another id and other content than were sent:
    /// it cannot be counted as a returned letter.
    UnprovenReturn {
        /// The letter that its marker names.
        letter: LetterId,
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

/// The main queue's backlog after the last send, and what the checks since then have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backlog {
    /// When it was measured.
    pub seen_at: Timestamp,
    /// The approximate number of messages that wait to be received.
    pub visible_count: u64,
    /// The approximate number of messages that consumers hold.
    pub in_flight_count: u64,
    /// Every message sent before this moment has left the queue: the time of the measurement if the queue was empty,
    /// the send of its oldest message if the platform knows it. `None` if unknown.
    #[serde(default)]
    pub cleared_before: Option<Timestamp>,
    /// The first measurement since the last send at which the backlog was drained.
    #[serde(default)]
    pub drained_at: Option<Timestamp>,
    /// Since when every measurement has shown that all letters sent have left the queue; `None` if the latest did not.
    #[serde(default)]
    pub gone_since: Option<Timestamp>,
    /// How long the queue keeps a message; `None` in records written before this was measured.
    #[serde(default)]
    pub retention_ms: Option<Span>,
}

/// The approximate numbers of messages in a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// Messages that can be received now.
    pub visible: u64,
    /// Messages that consumers hold.
    pub in_flight: u64,
    /// Messages whose delay has not ended.
    pub delayed: u64,
}

impl Backlog {
    /// Creates a measurement. `cleared_before` is what the platform knows, apart from the counts: every message sent
    /// before it has left the queue. It counts only while the backlog is drained, because CloudWatch's age of the oldest
    /// message leaves out messages that were received three times or more.
    pub fn measured(
        seen_at: Timestamp,
        counts: QueueCounts,
        cleared_before: Option<Timestamp>,
        retention: Option<Span>,
    ) -> Self {
        let QueueCounts { visible, in_flight, delayed } = counts;
        let backlog = Self {
            seen_at,
            visible_count: visible,
            in_flight_count: in_flight,
            cleared_before: None,
            drained_at: None,
            gone_since: None,
            retention_ms: retention,
        };
        let cleared_before = match counts {
            QueueCounts { visible: 0, in_flight: 0, delayed: 0 } => Some(seen_at),
            // A moment that is still to come was taken from a clock that this one cannot be compared with.
            _ => cleared_before
                .filter(|at| delayed == 0 && backlog.is_drained() && *at <= seen_at.plus(CLOCK_SKEW_MAX))
                .map(|at| at.min(seen_at)),
        };
        Self { cleared_before, ..backlog }
    }

    /// Whether any letter sent earlier has been received by now, or will be within a visibility timeout: at most as
    /// many messages wait as consumers hold, and consumers finish those within that time. A queue with other traffic
    /// is hardly ever empty; a queue with a consumer that is off or behind has more messages waiting than held.
    pub fn is_drained(&self) -> bool {
        self.visible_count <= self.in_flight_count
    }

    /// Whether the measurement tells about this moment: it is at most [`EVIDENCE_AGE_MAX`] old.
    pub fn is_current(&self, now: Timestamp) -> bool {
        self.seen_at.plus(EVIDENCE_AGE_MAX) >= now
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
