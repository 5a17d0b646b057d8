//! An executor, call by call, as `lambda/src/replay` makes them.

use super::{LETTERS, Shown, State, Stored};
use domain::replay::{Backlog, OutcomeKind, Phase, Replay, ReplayState, Step, next_step};
use domain::time::Timestamp;

const NAMES: [&str; 2] = ["one", "two"];
/// Letters of one batch.
const BATCH: usize = 2;

/// Between which two calls it is.
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub(super) struct Executor {
    at: At,
}

/// See [`Executor`].
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub(super) enum At {
    /// It has read nothing.
    #[default]
    Idle,
    /// It has read replay and ledger, and knows the step.
    Knows(Stored, Shown<Step>),
    /// It holds the lease.
    Holds(Stored, u32, u64),
    /// Its intents are stored: for these rows, with these counts of sends.
    Means(Stored, [Option<u32>; LETTERS]),
    /// They are sent.
    Sent(Stored, [Option<u32>; LETTERS]),
    /// They are recorded.
    Recorded(Stored),
}

impl Executor {
    pub(super) fn is_idle(&self) -> bool {
        self.at == At::Idle
    }

    /// Makes the next call.
    pub(super) fn goes_on(self, state: &mut State, me: usize) -> Self {
        let at = match self.at {
            At::Idle => look(state, me),
            At::Knows(replay, step) => does(state, me, replay.0, step.0),
            At::Holds(held, wave, letters_max) => means(state, held.0, wave, letters_max),
            At::Means(held, batch) => sends(state, held.0, batch),
            At::Sent(held, batch) => records(state, held.0, batch),
            At::Recorded(held) => {
                let released = held.0.released(state.now());
                state.put(released, held.0.version());
                At::Idle
            }
        };
        Self { at }
    }
}

fn look(state: &State, me: usize) -> At {
    let Some(replay) = state.replay() else { return At::Idle };
    let (now, replay) = (state.now(), replay.clone());
    match next_step(&replay, &state.ledger.0, now, 0) {
        Step::Idle | Step::Wait { .. } => At::Idle,
        Step::Send { .. } if replay.is_held_by_another(NAMES[me], now) => At::Idle,
        step => At::Knows(Stored(replay), Shown(step)),
    }
}

fn does(state: &mut State, me: usize, replay: Replay, step: Step) -> At {
    let (now, version) = (state.now(), replay.version());
    match step {
        Step::Send { wave, letters_max } => {
            let held = replay.held_by(NAMES[me], letters_max, now);
            return if state.put(held.clone(), version) {
                At::Holds(Stored(held), wave, letters_max)
            } else {
                At::Idle
            };
        }
        Step::LookAtQueue => {
            // When letters are received is the consumer's affair; here it is at once.
            let backlog = Backlog { seen_at: now, visible_count: 0, in_flight_count: 0 };
            state.put(replay.saw(backlog), version);
        }
        Step::Settle { sent_until } => settles(state, &replay, sent_until),
        Step::SkipUnsent => {
            for at in rows(state, |row| row.outcome == OutcomeKind::Pending) {
                state.enter(at, OutcomeKind::Skipped);
            }
        }
        Step::Enter { wave, phase } => {
            // The ledger was read before; what it says now may be another.
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

fn settles(state: &mut State, replay: &Replay, sent_until: Timestamp) {
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
fn means(state: &mut State, held: Replay, wave: u32, letters_max: u64) -> At {
    if state.replay().is_none_or(|replay| replay.version() != held.version()) {
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
    At::Means(Stored(held), batch)
}

fn sends(state: &mut State, held: Replay, batch: [Option<u32>; LETTERS]) -> At {
    if state.halted_at.is_some_and(|halted_at| held.version() >= halted_at) {
        state.blame("a letter that was meant after the stop was sent");
    }
    for (at, _) in batch.iter().enumerate().filter(|(_, sends)| sends.is_some()) {
        state.rows[at].sent += 1;
        state.rows[at].on_main += 1;
    }
    At::Sent(Stored(held), batch)
}

/// Not fenced: it happened. Each entry only if it is as it was meant.
fn records(state: &mut State, held: Replay, batch: [Option<u32>; LETTERS]) -> At {
    for (at, sends) in batch.into_iter().enumerate() {
        let row = state.rows[at];
        if row.outcome == OutcomeKind::Sending && sends == Some(row.sends) {
            state.enter(at, OutcomeKind::InFlight);
        }
    }
    At::Recorded(Stored(held))
}
