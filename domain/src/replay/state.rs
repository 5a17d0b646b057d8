//! A replay and where it is in its life. It exists only once a plan is approved through an open gate.

use super::plan::PlanHash;
use crate::gate::Waiver;
use crate::id::Actor;
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// An approval names exactly one plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// Who.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
    /// The plan, by its content.
    pub plan_hash: PlanHash,
    /// What was waived with it.
    pub waivers: Vec<Waiver>,
}

/// What a running replay is doing with its wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "phase")]
pub enum Phase {
    /// Sending the wave's letters.
    Sending,
    /// Waiting for what the consumer does with them.
    Observing {
        /// When the window of the last one sent ends.
        until: Timestamp,
    },
    /// The wave went well; waiting before the next.
    BetweenWaves {
        /// Until when.
        until: Timestamp,
    },
}

/// Why a replay is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PauseReason {
    /// Too many letters came back: the replay stopped itself.
    TooManyReturned {
        /// How many of the wave came back.
        returned: u64,
        /// Of how many that were sent.
        sent: u64,
        /// The share at which it stops, percent.
        stop_share_pct: u8,
        /// The wave, from 0: it may be an earlier one than is being sent, when its letters came back late. Records from
        /// before this was kept have none, and mean the wave in which the replay paused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wave: Option<u32>,
    },
    /// The gate closed between two waves.
    GateClosed {
        /// The conditions that are not met, in words.
        unmet: Vec<String>,
    },
    /// The main queue is gone, has changed its type, or does not let us in.
    QueueUnavailable {
        /// What it said.
        detail: String,
    },
    /// The main queue's backlog was not drained in time: its consumer is off or too slow, and what was sent cannot be
    /// judged.
    BacklogNotDrained {
        /// Messages that waited there when it was looked at last.
        visible_count: u64,
    },
    /// A person paused it.
    ByPerson {
        /// Why.
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
    /// A person ended it.
    Aborted,
}

/// Where a replay is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum ReplayState {
    /// At work on a wave.
    Running {
        /// Which, from 0.
        wave: u32,
        /// What it does with it.
        #[serde(flatten)]
        phase: Phase,
    },
    /// Nothing more is sent until a person says so. What is in flight is still observed.
    Paused {
        /// The wave it stopped in.
        wave: u32,
        /// Why.
        why: PauseReason,
        /// Who paused it; `office` when it stopped itself.
        by: Actor,
        /// When.
        at: Timestamp,
    },
    /// Aborted; what is in flight is still observed.
    Aborting {
        /// Who aborted it.
        by: Actor,
        /// Why.
        reason: String,
        /// When.
        at: Timestamp,
    },
    /// Every letter has its outcome.
    Finished {
        /// How it ended.
        ending: Ending,
        /// When.
        at: Timestamp,
    },
}

/// The right of one executor to send for this replay, for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Lease {
    /// The executor.
    pub holder: String,
    /// Until when nobody else may take it.
    pub until: Timestamp,
}

/// What the main queue said of its backlog after the last letter was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backlog {
    /// When it was asked.
    pub seen_at: Timestamp,
    /// Messages that waited to be received, about.
    pub visible_count: u64,
    /// Messages that consumers had in their hands, about.
    pub in_flight_count: u64,
}

impl Backlog {
    /// Whether a letter that was sent before has been received by now, or will be within a visibility timeout: no more
    /// wait than are in consumers' hands, and those are done with within it. A queue with traffic of its own is hardly
    /// ever seen empty; one whose consumer is off or behind has more waiting than anybody holds.
    pub fn is_drained(&self) -> bool {
        self.visible_count <= self.in_flight_count
    }
}

/// What was known of a wave when a person let the replay go on: only what is sent since then is judged, and first
/// another canary goes out, because the fix is a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resumed {
    /// The wave.
    pub wave: u32,
    /// Letters of the wave that had been sent before.
    pub sent: u64,
    /// Letters of the wave that had come back before.
    pub returned: u64,
    /// Whether the canary of the new fix is still to pass.
    pub probing: bool,
}
