//! A replay: an approved plan under way, and the only changes that it allows.

use super::ledger::Ledger;
use super::plan::{Plan, PlanHash};
use super::state::{Approval, Backlog, Ending, Lease, PauseReason, Phase, ReplayState, Resumed};
use crate::gate::{OpenGate, Waiver};
use crate::id::{Actor, GroupId, ReplayId};
use crate::limits::{CLOCK_SKEW_MAX, LEASE_MS, PACE_MAX};
use crate::time::{Span, Timestamp};
use crate::transform::TransformRef;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// An approved plan under way. Only [`Plan::approve`] creates one, and only the methods here change it. A store writes
/// it unchanged and reads it back; `wire::ReplayInfo` shows it to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replay {
    version: u64,
    plan: Plan,
    approval: Approval,
    lease: Option<Lease>,
    /// The chain of steps that carries the replay on.
    #[serde(default)]
    chain: u64,
    paced_until: Option<Timestamp>,
    last_sent_at: Option<Timestamp>,
    #[serde(default)]
    backlog: Option<Backlog>,
    /// Whether a process whose clock was behind the replay's own times has sent letters or restarted the waits.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    clock_doubted: bool,
    resumed: Option<Resumed>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    transform: Option<TransformRef>,
    #[serde(flatten)]
    state: ReplayState,
}

impl Plan {
    /// Turns the plan into a replay. The open gate is the proof that every condition holds, and there is no other way
    /// to create a replay. Returns the plan's hash if the approval names another plan or the gate guards another
    /// group.
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
            chain: 0,
            paced_until: None,
            last_sent_at: None,
            backlog: None,
            clock_doubted: false,
            resumed: None,
            state: ReplayState::Running { wave: 0, phase: Phase::Sending },
        })
    }
}

/// What is known about a replay.
impl Replay {
    /// Increments with each change. Every send depends on it, so nothing is sent after a pause is written.
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

    /// The executor that may send now.
    pub fn lease(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    /// The moment before which the pace allows no further letter.
    pub fn paced_until(&self) -> Option<Timestamp> {
        self.paced_until
    }

    /// Time of the last send.
    pub fn last_sent_at(&self) -> Option<Timestamp> {
        self.last_sent_at
    }

    /// The main queue's backlog, as measured since the last send.
    pub fn backlog(&self) -> Option<Backlog> {
        self.backlog
    }

    /// The state at the last resumption, if the replay was resumed.
    pub fn resumed(&self) -> Option<Resumed> {
        self.resumed
    }

    /// The program that changes letters on sending: the approved plan's, or that of the fix at the last resumption.
    pub fn transform(&self) -> Option<&TransformRef> {
        self.transform.as_ref()
    }

    /// The state.
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

    /// Returns the finished replay, with the next version.
    pub fn finished(&self, ending: Ending, at: Timestamp) -> Self {
        self.moved(ReplayState::Finished { ending, at })
    }

    /// Returns the replay in another state, with the next version.
    fn moved(&self, state: ReplayState) -> Self {
        Self { version: self.version + 1, state, ..self.clone() }
    }

    /// Whether the replay is over.
    pub fn is_finished(&self) -> bool {
        matches!(self.state, ReplayState::Finished { .. })
    }

    /// Whether the replay waits for a person.
    pub fn is_paused(&self) -> bool {
        matches!(self.state, ReplayState::Paused { .. })
    }

    /// Returns the current wave, or the wave in which it was paused.
    pub fn wave(&self) -> Option<u32> {
        match self.state {
            ReplayState::Running { wave, .. } | ReplayState::Paused { wave, .. } => Some(wave),
            _ => None,
        }
    }

    /// Pauses a running replay. Returns `None` unless it is running.
    pub fn pause(&self, why: PauseReason, by: Actor, at: Timestamp) -> Option<Self> {
        let ReplayState::Running { wave, .. } = self.state else { return None };
        Some(self.moved(ReplayState::Paused { wave, why, by, at }))
    }

    /// Resumes a paused replay. Returns `None` unless it is paused and nothing is in flight. The gate must be open
    /// again, because returned letters disproved the fix. Letters that returned before the pause do not count against
    /// the new fix, which starts with a canary. `waivers` hold for the following waves, in addition to those of the
    /// approval; `transform` belongs to the fix that counts now.
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

    /// Returns the replay in a phase of a wave, with the next version.
    pub fn entered(&self, wave: u32, phase: Phase, ledger: &Ledger) -> Self {
        let moved = self.moved(ReplayState::Running { wave, phase });
        let resumed = match self.resumed {
            // Observation of a resumption's canary has ended: it passed, and the remaining letters of the wave follow.
            // On FIFO queues a canary may need several rounds.
            Some(resumed) if phase == Phase::Sending && resumed.wave == wave => {
                let canary = self.plan.waves.first().copied().unwrap_or(1);
                let tried = ledger.wave(wave).sent().saturating_sub(resumed.sent);
                Some(Resumed { probing: resumed.probing && tried < canary, ..resumed })
            }
            // The wave has no letters left for the canary of the new fix, so the next wave starts with it.
            Some(resumed)
                if phase == Phase::Sending && resumed.probing && ledger.wave(resumed.wave).sent() == resumed.sent =>
            {
                Some(Resumed { wave, sent: 0, returned: 0, probing: true })
            }
            other => other,
        };
        Self { resumed, ..moved }
    }

    /// Aborts a replay. Returns `None` if it is aborting or finished already.
    pub fn abort(&self, by: Actor, reason: String, at: Timestamp) -> Option<Self> {
        match self.state {
            ReplayState::Running { .. } | ReplayState::Paused { .. } => {
                Some(self.moved(ReplayState::Aborting { by, reason, at }))
            }
            ReplayState::Aborting { .. } | ReplayState::Finished { .. } => None,
        }
    }

    /// Whether an executor holds the lease. A lease that ends later than a lease can last was written by a clock that
    /// has gone back since, and has ended.
    pub fn is_held(&self, now: Timestamp) -> bool {
        self.lease.as_ref().is_some_and(|lease| is_within(lease.until, now, Span::from_ms(LEASE_MS)))
    }

    /// Whether another executor holds the lease.
    pub fn is_held_by_another(&self, executor: &str, now: Timestamp) -> bool {
        self.is_held(now) && self.lease.as_ref().is_some_and(|lease| lease.holder != executor)
    }

    /// Whether the pace allows no letter now. As with a lease, a time too far in the future does not count.
    pub fn is_paced(&self, now: Timestamp) -> bool {
        self.paced_until.is_some_and(|until| is_within(until, now, PACE_MAX))
    }

    /// Returns the chain of steps that carries the replay on. A step of another chain does what is due, and then ends
    /// unless it found something to do.
    pub fn chain(&self) -> u64 {
        self.chain
    }

    /// Returns the replay in a new chain of steps, with the next version. The steps of the old chain end.
    pub fn in_new_chain(&self) -> Self {
        Self { version: self.version + 1, chain: self.chain + 1, ..self.clone() }
    }

    /// Returns the replay with the lease of an executor that is about to send this many letters, with the next
    /// version. No other executor may send before the lease ends, and none at all before the pace allows more letters.
    pub fn held_by(&self, executor: &str, letters: u64, now: Timestamp) -> Self {
        let takes_ms = letters * 1000 / u64::from(self.plan.pace_per_s.max(1));
        Self {
            version: self.version + 1,
            lease: Some(Lease { holder: executor.into(), until: now.plus(Span::from_ms(LEASE_MS)) }),
            paced_until: Some(now.plus(Span::from_ms(takes_ms as i64))),
            // Written before the send, so that a crash cannot end a window too early.
            last_sent_at: Some(now),
            backlog: None,
            clock_doubted: self.doubts(now),
            ..self.clone()
        }
    }

    /// Whether a clock was ever behind the times that other processes wrote. Which of them was wrong cannot be known.
    fn doubts(&self, now: Timestamp) -> bool {
        let measured_at = self.backlog.map(|backlog| backlog.seen_at);
        let written = [Some(self.approval.at), self.last_sent_at, measured_at];
        self.clock_doubted || written.into_iter().flatten().any(|at| at > now.plus(CLOCK_SKEW_MAX))
    }

    /// Returns the replay with a new measurement of the main queue's backlog, with the next version. What the earlier
    /// measurements since the last send have shown is kept. The age of the oldest message is compared with times of
    /// sends, so once a clock was in doubt only an empty queue shows that the letters have left it.
    pub fn saw(&self, measured: Backlog) -> Self {
        let is_empty = (measured.visible_count, measured.in_flight_count) == (0, 0);
        let cleared_before = measured.cleared_before.filter(|_| is_empty || !self.clock_doubted);
        let measured = Backlog { cleared_before, ..measured };
        let before = self.backlog;
        let seen_at = measured.seen_at;
        let sent_at = self.last_sent_at.unwrap_or(seen_at);
        // The slack covers clocks that differ, and an executor that died before it recorded its last send.
        let is_gone = measured.cleared_before.is_some_and(|at| at >= sent_at.plus(self.plan.slack_ms));
        let drained_at = before.and_then(|b| b.drained_at).or(measured.is_drained().then_some(seen_at));
        let gone_since = is_gone.then(|| before.and_then(|b| b.gone_since).unwrap_or(seen_at));
        Self {
            version: self.version + 1,
            backlog: Some(Backlog { drained_at, gone_since, ..measured }),
            ..self.clone()
        }
    }

    /// Whether a stored time lies so far in the future that the clock must have gone back since it was written. Waiting
    /// for it would freeze the replay.
    pub fn is_ahead_of(&self, now: Timestamp) -> bool {
        let latest = now.plus(CLOCK_SKEW_MAX);
        let delayed_until = match self.state {
            ReplayState::Running { phase: Phase::BetweenWaves { until }, .. } => Some(until),
            _ => None,
        };
        let is_delayed = delayed_until.is_some_and(|until| until > latest.plus(self.plan.wave_delay_ms_max));
        let measured_at = self.backlog.map(|backlog| backlog.seen_at);
        is_delayed || [self.last_sent_at, measured_at].into_iter().flatten().any(|at| at > latest)
    }

    /// Returns the replay with its stored times counted from now, with the next version: windows and delays start again,
    /// and the main queue is checked again. Follows a clock that has gone back.
    pub fn restarted_waits(&self, now: Timestamp) -> Self {
        let state = match self.state.clone() {
            ReplayState::Running { wave, phase: Phase::BetweenWaves { until } } => {
                let until = until.min(now.plus(self.plan.wave_delay_ms_max));
                ReplayState::Running { wave, phase: Phase::BetweenWaves { until } }
            }
            ReplayState::Running { wave, phase: Phase::Observing { until } } => {
                let until = until.min(now.plus(self.window()));
                ReplayState::Running { wave, phase: Phase::Observing { until } }
            }
            other => other,
        };
        let last_sent_at = self.last_sent_at.map(|at| at.min(now));
        // A measurement belongs to the time of the last send.
        Self { last_sent_at, backlog: None, clock_doubted: true, ..self.moved(state) }
    }

    /// Returns the replay without the lease of an executor that sent nothing, with the next version. Windows end when
    /// those of `before` would have.
    pub fn unsent(&self, before: &Self) -> Self {
        Self { version: self.version + 1, lease: None, paced_until: None, ..before.clone() }
    }

    /// Returns the replay without its lease, with the next version.
    pub fn released(&self, now: Timestamp) -> Self {
        let clock_doubted = self.doubts(now);
        Self { version: self.version + 1, lease: None, last_sent_at: Some(now), clock_doubted, ..self.clone() }
    }

    /// Returns how long a letter sent now is observed, if it does not wait in the main queue's backlog.
    pub fn window(&self) -> Span {
        self.plan.window_ms
    }

    /// Returns when the last sent letter's window ends, as far as known: the backlog may drain later, and the window ends
    /// only once the letters have left the main queue.
    pub fn window_ends_at(&self, now: Timestamp) -> Timestamp {
        let at_least = self.last_sent_at.unwrap_or(now).plus(self.window());
        match self.backlog.and_then(|backlog| backlog.drained_at) {
            Some(drained_at) => at_least.max(drained_at.plus(self.window()).minus(self.plan.slack_ms)),
            None => at_least,
        }
    }
}

/// Whether a moment is still to come, and no further away than its longest distance.
fn is_within(until: Timestamp, now: Timestamp, longest: Span) -> bool {
    until > now && until <= now.plus(longest).plus(CLOCK_SKEW_MAX)
}
