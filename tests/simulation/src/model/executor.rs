//! An executor, call by call, as in `office/src/replay`.

use super::{Chosen, LETTERS, State, Stored};
use domain::replay::{Backlog, OutcomeKind, Phase, Replay, ReplayState, Step, next_step};
use domain::time::Timestamp;

const NAMES: [&str; 2] = ["one", "two"];
/// The letters of one batch.
const BATCH: usize = 2;

/// An executor, and between which two calls it is.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub(super) struct Executor {
    at: At,
}

/// See [`Executor`].
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub(super) enum At {
    /// It has read nothing yet.
    #[default]
    Idle,
    /// It has read the replay and the ledger, and has chosen the step.
    Chose(Stored, Chosen),
    /// It has taken the lease.
    Leased(Stored, u32, u64),
    /// It has stored its intents for these rows, with these counts of sends.
    Intends(Stored, [Option<u32>; LETTERS]),
    /// It has sent the batch.
    Sent(Stored, [Option<u32>; LETTERS]),
    /// It has recorded the sends.
    Recorded(Stored),
}

impl Executor {
    pub(super) fn is_idle(&self) -> bool {
        self.at == At::Idle
    }

    /// Makes the next call.
    pub(super) fn next_call(self, state: &mut State, me: usize) -> Self {
        let at = match self.at {
            At::Idle => choose(state, me),
            At::Chose(replay, step) => act(state, me, &replay.replay, step.0),
            At::Leased(held, wave, letters_max) => intend(state, held, wave, letters_max),
            At::Intends(held, batch) => send(state, held, batch),
            At::Sent(held, batch) => record(state, held, batch),
            At::Recorded(held) => {
                let released = held.replay.released(state.now());
                state.put(released, held.replay.version());
                At::Idle
            }
        };
        Self { at }
    }
}

fn choose(state: &State, me: usize) -> At {
    let Some(stored) = &state.replay else { return At::Idle };
    let (now, replay) = (state.now(), &stored.replay);
    match next_step(replay, &state.ledger.0, now, 0) {
        Step::Idle | Step::Wait { .. } => At::Idle,
        Step::Send { .. } if replay.is_held_by_another(NAMES[me], now) => At::Idle,
        step => At::Chose(stored.clone(), Chosen(step)),
    }
}

fn act(state: &mut State, me: usize, replay: &Replay, step: Step) -> At {
    let (now, version) = (state.now(), replay.version());
    match step {
        Step::Send { wave, letters_max } => {
            let held = replay.held_by(NAMES[me], letters_max, now);
            let is_stored = state.put(held, version);
            let stored = state.replay.clone().filter(|_| is_stored);
            return stored.map_or(At::Idle, |held| At::Leased(held, wave, letters_max));
        }
        Step::LookAtQueue => {
            // In the model, the consumer receives letters at once.
            let backlog = Backlog { seen_at: now, visible_count: 0, in_flight_count: 0 };
            state.put(replay.saw(backlog), version);
        }
        Step::Settle { sent_until } => settle(state, replay, sent_until),
        Step::SkipUnsent => {
            for at in rows(state, |row| row.outcome == OutcomeKind::Pending) {
                state.enter(at, OutcomeKind::Skipped);
            }
        }
        Step::Enter { wave, phase } => {
            // The ledger may have changed since the step was chosen.
            let after = replay.entered(wave, phase, &state.ledger.0);
            state.put(after, version);
        }
        Step::Pause(why) => {
            if let Some(after) = replay.pause(why, domain::id::Actor::office(), now) {
                state.put(after, version);
            }
        }
        Step::Finish(ending) => {
            state.put(replay.finished(ending, now), version);
        }
        Step::Idle | Step::Wait { .. } => {}
    }
    At::Idle
}

fn rows(state: &State, is: impl Fn(&super::Row) -> bool) -> Vec<usize> {
    (0..LETTERS).filter(|at| is(&state.rows[*at])).collect()
}

fn settle(state: &mut State, replay: &Replay, sent_until: Timestamp) {
    for at in rows(state, |row| row.outcome == OutcomeKind::InFlight && row.since <= sent_until) {
        state.enter(at, OutcomeKind::Delivered);
    }
    let is_sending = matches!(replay.state(), ReplayState::Running { phase: Phase::Sending, .. });
    let is_held = replay.lease().as_ref().is_some_and(|lease| lease.until > state.now());
    if is_sending || is_held {
        return;
    }
    let aborted = matches!(replay.state(), ReplayState::Aborting { .. });
    let given_up = if aborted { OutcomeKind::Skipped } else { OutcomeKind::Pending };
    for at in rows(state, |row| row.outcome == OutcomeKind::Sending && row.since <= sent_until) {
        state.enter(at, given_up);
    }
}

/// One commit, fenced by the version of the lease.
fn intend(state: &mut State, held: Stored, wave: u32, letters_max: u64) -> At {
    if state.replay().is_none_or(|replay| replay.version() != held.replay.version()) {
        return At::Idle;
    }
    let of_wave = |state: &State, kind| rows(state, |row| row.wave == wave && row.outcome == kind);
    let mut chosen = of_wave(state, OutcomeKind::Sending);
    chosen.extend(of_wave(state, OutcomeKind::Pending));
    chosen.truncate(BATCH.min(letters_max as usize));
    let mut batch = [None; LETTERS];
    for at in chosen {
        state.rows[at].sends += 1;
        batch[at] = Some(state.rows[at].sends);
        state.enter(at, OutcomeKind::Sending);
    }
    At::Intends(held, batch)
}

fn send(state: &mut State, held: Stored, batch: [Option<u32>; LETTERS]) -> At {
    if state.halted_at.is_some_and(|halted_at| held.replay.version() >= halted_at) {
        state.report("a letter whose intent came after the pause was sent");
    }
    for (at, _) in batch.iter().enumerate().filter(|(_, sends)| sends.is_some()) {
        state.rows[at].sent += 1;
        state.rows[at].on_main += 1;
    }
    At::Sent(held, batch)
}

/// Not fenced, because the sends happened. Each entry changes only if its intent is unchanged.
fn record(state: &mut State, held: Stored, batch: [Option<u32>; LETTERS]) -> At {
    for (at, sends) in batch.into_iter().enumerate() {
        let row = state.rows[at];
        if row.outcome == OutcomeKind::Sending && sends == Some(row.sends) {
            state.enter(at, OutcomeKind::InFlight);
        }
    }
    At::Recorded(held)
}
