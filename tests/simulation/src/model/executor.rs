//! An executor, call by call, as in `office/src/replay`.

use super::{Chosen, LETTERS, State, Stored};
use domain::replay::{Backlog, OutcomeKind, Phase, QueueCounts, Replay, ReplayState, Settling, Step, next_step};

pub(super) const NAMES: [&str; 2] = ["one", "two"];
/// The letters of one batch.
const BATCH: usize = 2;

/// An executor, and between which two calls it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Executor {
    pub(super) at: At,
}

/// See [`Executor`].
#[derive(Clone, Debug, Default, PartialEq)]
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
            At::Chose(replay, step) => act(state, me, &replay.replay, step.step),
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
    match next_step(replay, state.ledger.get(), now, 0) {
        Step::Idle | Step::Wait { .. } => At::Idle,
        // Another look at the same queue at the same time shows the same.
        Step::LookAtQueue if shows_nothing_new(replay, &look(state)) => At::Idle,
        Step::Send { .. } if replay.is_held_by_another(NAMES[me], now) => At::Idle,
        step => At::Chose(stored.clone(), Chosen::new(step)),
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
            let backlog = look(state);
            state.put(replay.saw(backlog), version);
        }
        Step::RestartWaits => state.report("the clock never goes back"),
        Step::Settle(settling) => settle(state, replay, settling),
        Step::SkipUnsent => {
            for at in rows(state, |row| row.outcome == OutcomeKind::Pending) {
                state.enter(at, OutcomeKind::Skipped);
            }
        }
        Step::Enter { wave, phase } => {
            // The ledger may have changed since the step was chosen.
            let after = replay.entered(wave, phase, state.ledger.get());
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

/// What the main queue shows.
fn look(state: &State) -> Backlog {
    let sum = |of: fn(&super::Row) -> u8| state.rows.iter().map(|row| u64::from(of(row))).sum();
    let counts = QueueCounts { visible: sum(|row| row.on_main), in_flight: sum(|row| row.held), delayed: 0 };
    Backlog::measured(state.now(), counts, None, None)
}

fn shows_nothing_new(replay: &Replay, measured: &Backlog) -> bool {
    replay.backlog() == replay.saw(*measured).backlog()
}

fn settle(state: &mut State, replay: &Replay, settling: Settling) {
    let now = state.now();
    for at in rows(state, |row| row.outcome == OutcomeKind::InFlight) {
        let Some(outcome) = settling.outcome_for(state.rows[at].since, now) else { continue };
        // Without a receipt, a letter is delivered only if its message has left the main queue. Of a letter that may have
        // been sent twice, an executor that was frozen may send a copy at any time later.
        let row = state.rows[at];
        if outcome == OutcomeKind::Delivered && row.sends == 1 && row.on_main + row.held > 0 {
            state.report("a letter counts as delivered while it is on the main queue");
        }
        state.enter(at, outcome);
    }
    let is_sending = matches!(replay.state(), ReplayState::Running { phase: Phase::Sending, .. });
    if is_sending || replay.is_held(now) {
        return;
    }
    let aborted = matches!(replay.state(), ReplayState::Aborting { .. });
    let given_up = if aborted { OutcomeKind::Skipped } else { OutcomeKind::Pending };
    for at in rows(state, |row| row.outcome == OutcomeKind::Sending && settling.outcome_for(row.since, now).is_some()) {
        state.enter(at, given_up);
    }
}

/// One commit, fenced by the version of the lease.
fn intend(state: &mut State, held: Stored, wave: u32, letters_max: u64) -> At {
    if state.replay().is_none_or(|replay| replay.version() != held.replay.version()) {
        return At::Idle;
    }
    if state.is_halted() {
        state.report("an intent was stored after the pause");
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
