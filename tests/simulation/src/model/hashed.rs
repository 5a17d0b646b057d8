//! The parts of a state, and how they are hashed. The checker hashes every state that it reaches, most of them again and
//! again, and takes states with equal hashes for one. The two executors follow the same rules, so two states that differ
//! only in which of them is which have one hash: that halves the states.

use super::State;
use super::executor::{At, Executor, NAMES};
use crate::explore::hasher;
use domain::replay::{Ledger, LedgerMove, Replay, ReplayState, Step, WaveLedger};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A step. Its hash is that of its debug text, and is computed once.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub step: Step,
    hash: u64,
}

impl Chosen {
    pub fn new(step: Step) -> Self {
        let mut hasher = hasher();
        format!("{step:?}").hash(&mut hasher);
        Self { step, hash: hasher.finish() }
    }
}

/// A ledger. States share it, and its hash, over every number in it, is computed once.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    ledger: Arc<Ledger>,
    hash: u64,
}

impl Counted {
    pub fn new(ledger: Ledger) -> Self {
        let mut hasher = hasher();
        for wave in &ledger.0 {
            let WaveLedger {
                pending,
                sending,
                in_flight,
                delivered,
                returned,
                expired,
                skipped,
                sent_twice,
                confirmed,
            } = wave;
            (pending, sending, in_flight, delivered, returned, expired, skipped, sent_twice, confirmed)
                .hash(&mut hasher);
        }
        Self { ledger: Arc::new(ledger), hash: hasher.finish() }
    }

    pub fn get(&self) -> &Ledger {
        &self.ledger
    }

    pub fn apply(&mut self, moved: &LedgerMove) {
        let mut ledger = Ledger::clone(&self.ledger);
        ledger.apply(moved);
        *self = Self::new(ledger);
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.ledger == other.ledger
    }
}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// A stored replay. States share it, and its hashes are computed once: most of the time went into copying and hashing it.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub replay: Arc<Replay>,
    /// One for each executor's view: the holder of the lease is hashed as oneself or the other.
    hashes: [u64; 2],
}

impl Stored {
    pub fn new(replay: Replay) -> Self {
        let hashes = NAMES.map(|me| {
            let mut hasher = hasher();
            hash_replay(&replay, me, &mut hasher);
            hasher.finish()
        });
        Self { replay: Arc::new(replay), hashes }
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.replay, &other.replay) || (self.hashes == other.hashes && self.replay == other.replay)
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self { ticks, replay, rows, ledger, executors, remaining, wrong } = self;
        (ticks, rows, ledger, remaining, wrong).hash(state);
        // The executors in an order that does not depend on their names, and the replay as the first of them sees it.
        let views =
            [0, 1].map(|me| (hash_executor(&executors[me], me), replay.as_ref().map(|stored| stored.hashes[me])));
        let (first, second) = if views[0] <= views[1] { (views[0], views[1]) } else { (views[1], views[0]) };
        (first, second).hash(state);
    }
}

/// The hash of an executor as it sees itself.
fn hash_executor(executor: &Executor, me: usize) -> u64 {
    let mut state = hasher();
    std::mem::discriminant(&executor.at).hash(&mut state);
    match &executor.at {
        At::Idle => {}
        At::Chose(held, chosen) => (held.hashes[me], chosen.hash).hash(&mut state),
        At::Leased(held, wave, letters_max) => (held.hashes[me], wave, letters_max).hash(&mut state),
        At::Intends(held, batch) | At::Sent(held, batch) => (held.hashes[me], batch).hash(&mut state),
        At::Recorded(held) => held.hashes[me].hash(&mut state),
    }
    state.finish()
}

/// The plan and the approval of a replay never change, so the other fields identify it.
fn hash_replay(replay: &Replay, me: &str, state: &mut impl Hasher) {
    let lease = replay.lease().map(|lease| (lease.holder == me, lease.until));
    (replay.version(), lease, replay.paced_until(), replay.last_sent_at()).hash(state);
    let backlog = replay.backlog();
    backlog.map(|backlog| (backlog.seen_at, backlog.visible_count, backlog.in_flight_count)).hash(state);
    backlog.map(|backlog| (backlog.cleared_before, backlog.drained_at, backlog.gone_since)).hash(state);
    replay.resumed().map(|resumed| (resumed.wave, resumed.sent, resumed.returned, resumed.probing)).hash(state);
    match replay.state() {
        ReplayState::Running { wave, phase } => (0, wave, format!("{phase:?}")).hash(state),
        ReplayState::Paused { wave, why, at, .. } => (1, wave, std::mem::discriminant(why), at).hash(state),
        ReplayState::Aborting { at, .. } => (2, at).hash(state),
        ReplayState::Finished { at, .. } => (3, at).hash(state),
    }
}
