//! A replay and where it is in its life. It exists only once a plan is approved through an open gate.

use super::ledger::Ledger;
use super::plan::{Plan, PlanHash};
use crate::gate::{ConditionKind, OpenGate};
use crate::id::{Actor, GroupId, ReplayId};
use crate::limits::LEASE_MS;
use crate::time::{Span, Timestamp};
use crate::transform::TransformRef;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A condition of the gate that a person set aside, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiver {
    /// Which condition.
    pub condition: ConditionKind,
    /// Who.
    pub by: Actor,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

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

/// An approved plan under way. Only [`Plan::approve`] makes one, and only the methods here change it. A store writes it
/// as it is and reads back what it wrote; `wire::ReplayInfo` shows it to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    version: u64,
    plan: Plan,
    approval: Approval,
    lease: Option<Lease>,
    paced_until: Option<Timestamp>,
    last_sent_at: Option<Timestamp>,
    #[serde(default)]
    backlog: Option<Backlog>,
    resumed: Option<Resumed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transform: Option<TransformRef>,
    #[serde(flatten)]
    state: ReplayState,
}

impl Plan {
    /// Makes a replay of the plan. The open gate is the proof that every condition holds; there is no other way.
    pub fn approve(self, gate: OpenGate, approval: Approval) -> Result<Replay, PlanHash> {
        let hash = self.hash();
        if hash != approval.plan_hash || gate.group() != &self.group {
            return Err(hash);
        }
        Ok(Replay {
            version: 1,
            approval,
            transform: self.fix.transform.clone(),
            plan: self,
            lease: None,
            paced_until: None,
            last_sent_at: None,
            backlog: None,
            resumed: None,
            state: ReplayState::Running { wave: 0, phase: Phase::Sending },
        })
    }
}

/// What is known of a replay.
impl Replay {
    /// Grows by one with each change. Every send is conditional on it, so nothing is sent after a pause was written.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The approval.
    pub fn approval(&self) -> &Approval {
        &self.approval
    }

    /// The executor that may send for it now.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// The moment before which the pace allows no further letter.
    pub fn paced_until(&self) -> Option<Timestamp> {
        self.paced_until
    }

    /// When the last letter was sent.
    pub fn last_sent_at(&self) -> Option<Timestamp> {
        self.last_sent_at
    }

    /// The main queue's backlog, as seen since the last letter was sent.
    pub fn backlog(&self) -> Option<Backlog> {
        self.backlog
    }

    /// Set by a resumption.
    pub fn resumed(&self) -> Option<Resumed> {
        self.resumed
    }

    /// The program that changes letters as they are sent: that of the approved plan, or of the fix under which the
    /// replay was resumed.
    pub fn transform(&self) -> Option<&TransformRef> {
        self.transform.as_ref()
    }

    /// Where it is in its life.
    pub fn state(&self) -> &ReplayState {
        &self.state
    }
}

impl Replay {
    /// Its id.
    pub fn id(&self) -> &ReplayId {
        &self.plan.id
    }

    /// Its group.
    pub fn group(&self) -> &GroupId {
        &self.plan.group
    }

    /// Ended, one version on.
    pub fn finished(&self, ending: Ending, at: Timestamp) -> Self {
        self.moved(ReplayState::Finished { ending, at })
    }

    /// The same replay in another state, one version on.
    fn moved(&self, state: ReplayState) -> Self {
        Self { version: self.version + 1, state, ..self.clone() }
    }

    /// Whether nothing more will happen to it.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, ReplayState::Finished { .. })
    }

    /// Whether it waits for a person.
    pub fn is_paused(&self) -> bool {
        matches!(self.state, ReplayState::Paused { .. })
    }

    /// The wave it is in, or was in when it was paused.
    pub fn wave(&self) -> Option<u32> {
        match self.state {
            ReplayState::Running { wave, .. } | ReplayState::Paused { wave, .. } => Some(wave),
            _ => None,
        }
    }

    /// Paused, if it runs.
    pub fn pause(&self, why: PauseReason, by: Actor, at: Timestamp) -> Option<Self> {
        let ReplayState::Running { wave, .. } = self.state else { return None };
        Some(self.moved(ReplayState::Paused { wave, why, by, at }))
    }

    /// Resumes a paused replay. Returns `None` unless it is paused and nothing is in flight. The gate must be open
    /// again, because returned letters disprove the fix. Letters that returned before the pause do not count against
    /// the new fix, which starts with a canary. `waivers` hold for the waves that follow, beside those of the approval;
    /// `transform` is that of the fix that counts now.
    pub fn resume(
        &self,
        gate: &OpenGate,
        ledger: &Ledger,
        waivers: &[Waiver],
        transform: Option<TransformRef>,
    ) -> Option<Self> {
        let ReplayState::Paused { wave, .. } = self.state else { return None };
        let total = ledger.total();
        if gate.group() != self.group() || total.in_flight + total.sending > 0 {
            return None;
        }
        let columns = ledger.wave(wave);
        let resumed = Resumed { wave, sent: columns.sent(), returned: columns.returned, probing: true };
        let running = self.moved(ReplayState::Running { wave, phase: Phase::Sending });
        let mut approval = running.approval.clone();
        approval.waivers.extend_from_slice(waivers);
        Some(Self { resumed: Some(resumed), approval, transform, ..running })
    }

    /// In this phase of this wave, one version on.
    pub fn entered(&self, wave: u32, phase: Phase, ledger: &Ledger) -> Self {
        let moved = self.moved(ReplayState::Running { wave, phase });
        let resumed = match self.resumed {
            // Back from observing the canary of a resumption: it has passed, the rest of the wave goes out. On FIFO
            // not all of a canary may go at once.
            Some(resumed) if phase == Phase::Sending && resumed.wave == wave => {
                let canary = self.plan.waves.first().copied().unwrap_or(1);
                let tried = ledger.wave(wave).sent().saturating_sub(resumed.sent);
                Some(Resumed { probing: resumed.probing && tried < canary, ..resumed })
            }
            // The wave had no letter left to try the new fix on: the next wave starts with the canary.
            Some(resumed)
                if phase == Phase::Sending && resumed.probing && ledger.wave(resumed.wave).sent() == resumed.sent =>
            {
                Some(Resumed { wave, sent: 0, returned: 0, probing: true })
            }
            other => other,
        };
        Self { resumed, ..moved }
    }

    /// Ended by a person, if it is not over.
    pub fn abort(&self, by: Actor, reason: String, at: Timestamp) -> Option<Self> {
        match self.state {
            ReplayState::Running { .. } | ReplayState::Paused { .. } => {
                Some(self.moved(ReplayState::Aborting { by, reason, at }))
            }
            ReplayState::Aborting { .. } | ReplayState::Finished { .. } => None,
        }
    }

    /// Whether another executor holds it.
    pub fn is_held_by_another(&self, executor: &str, now: Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|lease| lease.holder != executor && lease.until > now)
    }

    /// Held by an executor that is about to send this many letters, one version on. Nobody else may send before
    /// the lease ends, and nobody at all before the pace allows the next letters.
    pub fn held_by(&self, executor: &str, letters: u64, now: Timestamp) -> Self {
        let takes_ms = letters * 1000 / u64::from(self.plan.pace_per_s.max(1));
        Self {
            version: self.version + 1,
            lease: Some(Lease { holder: executor.into(), until: now.plus(Span::from_ms(LEASE_MS)) }),
            paced_until: Some(now.plus(Span::from_ms(takes_ms as i64))),
            // Written before the letters go, so that no crash lets a window end too early.
            last_sent_at: Some(now),
            backlog: None,
            ..self.clone()
        }
    }

    /// With what the main queue says of its backlog, one version on.
    pub fn saw(&self, backlog: Backlog) -> Self {
        Self { version: self.version + 1, backlog: Some(backlog), ..self.clone() }
    }

    /// Let go by an executor that has sent nothing, one version on: the windows end when those of `before` would have.
    pub fn unsent(&self, before: &Self) -> Self {
        Self { version: self.version + 1, lease: None, paced_until: None, ..before.clone() }
    }

    /// Let go by its executor, one version on.
    pub fn released(&self, now: Timestamp) -> Self {
        Self { version: self.version + 1, lease: None, last_sent_at: Some(now), ..self.clone() }
    }

    /// How long a letter sent now is observed, if the main queue's backlog does not keep it from its consumer.
    pub fn window(&self) -> Span {
        self.plan.window_ms
    }

    /// When the window of the last letter that was sent ends, as far as is known: its backlog may be drained later.
    pub fn window_ends_at(&self, now: Timestamp) -> Timestamp {
        let at_least = self.last_sent_at.unwrap_or(now).plus(self.window());
        match self.backlog.filter(Backlog::is_drained) {
            Some(drained) => at_least.max(drained.seen_at.plus(self.window()).minus(self.plan.slack_ms)),
            None => at_least,
        }
    }
}
