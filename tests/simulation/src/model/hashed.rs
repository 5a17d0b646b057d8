//! The parts of a state, and how they are hashed. The checker hashes every state that it reaches, most of them again and
//! again.

use domain::replay::{Ledger, Replay, ReplayState, Step, WaveLedger};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// A step, which is hashed by its debug text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen(pub Step);

impl Hash for Chosen {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{:?}", self.0).hash(state);
    }
}

/// A ledger, which is hashed by every number in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted(pub Ledger);

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for wave in &self.0.0 {
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
            (pending, sending, in_flight, delivered, returned, expired, skipped, sent_twice, confirmed).hash(state);
        }
    }
}

/// A stored replay. States share it, and its hash is computed once: most of the time went into copying and hashing it.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub replay: Arc<Replay>,
    hash: u64,
}

impl Stored {
    pub fn new(replay: Replay) -> Self {
        let mut hasher = DefaultHasher::new();
        hash_replay(&replay, &mut hasher);
        Self { replay: Arc::new(replay), hash: hasher.finish() }
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.replay, &other.replay) || (self.hash == other.hash && self.replay == other.replay)
    }
}

impl Hash for Stored {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

/// The plan and the approval of a replay never change, so the other fields identify it.
fn hash_replay(replay: &Replay, state: &mut DefaultHasher) {
    let lease = replay.lease().map(|lease| (&lease.holder, lease.until));
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
