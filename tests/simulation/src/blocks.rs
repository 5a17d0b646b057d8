//! Checks every order of events of a replay whose entries lie in blocks, which is how they may be stored one day
//! (`docs/decisions/0090-entries-in-blocks.md`). Today's records are in [`crate::model`].
//!
//! A block holds the entries of several letters under one version. Its writes:
//!
//! | write | condition |
//! |---|---|
//! | intent: block, ledger | the replay's record is as read and runs; the block is as read |
//! | answers: block alone, because *sending* and *sent* are one column of the ledger | the block is as read; otherwise read again, and move only what is still sending under this intent |
//! | settling: block, ledger | the block is as read |
//! | return: block, ledger, letter with its version raised | both as read, repeated until they hold |
//! | projection: letter alone | the letter has the version in its entry; otherwise read the letter, then the block, and leave a letter whose entry is no longer delivered |
//! | finish: the replay's record | it is as read, every entry was closed, every delivered letter was projected |
//!
//! Of a version that was read, only one thing matters: whether it is still stored. So it is a flag here, and pauses,
//! crashes, lost answers and changes are not limited in number. Each [`Mutation`] leaves out one rule, and must be caught.

mod actor;
mod records;
mod rest;
#[cfg(test)]
mod tests;

use crate::graph::Graph;
use actor::At;
use records::{Entry, Fence, Outcome, State, Write};
use stateright::{Checker, HasDiscoveries, Model, Property};

/// The limits of a check. Everything else happens without limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Executors, each of which also settles, projects and finishes.
    pub executors: usize,
    /// The letters of the block, at most 3.
    pub letters: usize,
    /// Sends of one letter, at most 3.
    pub sends: u8,
    /// Whether letters change for reasons that have nothing to do with the replay.
    pub changes: bool,
    /// Writes whose answer was lost and that may still arrive, at any time or never, at most 2 at once.
    pub late: usize,
    /// Whether a person may abort the replay.
    pub aborts: bool,
}

const SMALL: Scope = Scope { executors: 2, letters: 2, sends: 2, changes: false, late: 0, aborts: false };

/// The scopes of `cargo ci`: about half a minute of one core.
pub const SCOPES: [Scope; 6] = [
    SMALL,
    Scope { changes: true, ..SMALL },
    Scope { aborts: true, ..SMALL },
    Scope { late: 1, ..SMALL },
    Scope { letters: 1, late: 2, changes: true, aborts: true, ..SMALL },
    Scope { letters: 1, executors: 3, changes: true, aborts: true, ..SMALL },
];

/// Scopes that take minutes or longer: `simulate --scope N`, counted on from [`SCOPES`].
pub const LARGE_SCOPES: [Scope; 3] = [
    Scope { executors: 3, ..SMALL },
    Scope { late: 1, changes: true, aborts: true, ..SMALL },
    Scope { letters: 3, ..SMALL },
];

/// A rule that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    IntentWithoutFence,
    IntentWithoutVersion,
    SendBeforeIntent,
    AnswersOfAStaleBlock,
    AnswersMoveWhatIsNotSending,
    AnswersMoveAnotherIntent,
    SettlingWithoutVersion,
    LedgerInAWriteOfItsOwn,
    ReturnInTwoWrites,
    ReturnKeepsTheVersion,
    ProjectionWithoutCondition,
    ProjectorReadsTheBlockFirst,
    RefusedProjectionIsDropped,
    FinishBeforeProjection,
}

/// What is true in every state.
mod promise {
    pub const PAUSE: &str = "no intent is stored while a pause stands";
    pub const COUNTED: &str = "a letter has no more real sends than its entry counts";
    pub const SENT: &str = "an entry that says sent was sent under its latest intent";
    pub const LEDGER: &str = "the ledger equals the block";
    pub const LETTER: &str = "a letter is delivered only if its entry is";
    pub const FINISHED: &str = "a finished replay has no open entry, and its delivered letters say so";
    /// Checked by [`super::rest`].
    pub const REST: &str = "every state can reach the end";
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// States that differ.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
}

/// Checks every state of a scope, and that the end can be reached from each. Panics with the path to the first state
/// that breaks a promise.
pub fn check(scope: Scope, threads: usize) -> Explored {
    let model = Blocks { scope, mutation: None };
    let graph = Graph::from_model(&model);
    if !graph.is_right {
        // It knows the paths.
        model.checker().threads(threads).spawn_bfs().join().assert_properties();
        panic!("a promise is broken, but not in another exploration");
    }
    if let Err(stuck) = graph.end_is_reached_from_everywhere(|state| rest::is_end(&model, state)) {
        panic!("{}: not from {stuck:#?}", promise::REST);
    }
    Explored { states: graph.states.len(), steps: graph.steps.len() }
}

/// Returns the promise that the first state found breaks, and the number of steps to it.
pub fn caught(scope: Scope, mutation: Mutation) -> Option<(&'static str, usize)> {
    let model = Blocks { scope, mutation: Some(mutation) };
    let checked = model.clone().checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let failed = model.properties().into_iter().filter(|p| matches!(p.expectation, stateright::Expectation::Always));
    let found = failed.filter_map(|p| Some((p.name, checked.discovery(p.name)?.into_actions().len())));
    let found = found.min_by_key(|(_, steps)| *steps);
    found.or_else(|| {
        let graph = Graph::from_model(&model);
        graph.end_is_reached_from_everywhere(|state| rest::is_end(&model, state)).err().map(|_| (promise::REST, 0))
    })
}

/// The model.
#[derive(Clone, Debug)]
struct Blocks {
    scope: Scope,
    mutation: Option<Mutation>,
}

impl Blocks {
    fn lacks(&self, rule: Mutation) -> bool {
        self.mutation == Some(rule)
    }

    fn letters(&self) -> std::ops::Range<usize> {
        0..self.scope.letters
    }
}

/// An event. Letters are sets: one bit each.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Pause,
    Resume,
    Abort,
    /// A message of this letter fails for good and comes back.
    Return(usize),
    /// The second write of a return, which only a mutation has.
    RestOfReturn(usize),
    /// The consumer has processed a message of this letter and says so.
    Receipt(usize),
    /// Somebody changes the letter, for example adds a note.
    Change(usize),
    /// A late write arrives.
    Arrive(usize),
    /// An executor does its next step.
    Step(usize, actor::Step),
    /// The same, its answer is lost, and the write may still arrive. The executor ends its run.
    Lose(usize, Write),
    Crash(usize),
}

impl Model for Blocks {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        match state.fence {
            Fence::Running => actions.push(Action::Pause),
            Fence::Paused => actions.push(Action::Resume),
            Fence::Aborting | Fence::Finished => {}
        }
        let is_open = matches!(state.fence, Fence::Running | Fence::Paused);
        actions.extend((self.scope.aborts && is_open).then_some(Action::Abort));
        for at in self.letters() {
            if state.messages[at].waiting > 0 {
                actions.extend([Action::Return(at), Action::Receipt(at)]);
            }
            actions.extend((state.owed & 1 << at != 0).then_some(Action::RestOfReturn(at)));
            actions.extend(self.scope.changes.then_some(Action::Change(at)));
        }
        for (slot, write) in state.late.iter().enumerate() {
            actions.extend(write.is_some().then_some(Action::Arrive(slot)));
        }
        let may_lose = state.late.iter().flatten().count() < self.scope.late;
        for (me, executor) in state.executors.iter().enumerate() {
            // Executors are sorted: of equal ones, one goes on.
            if me > 0 && state.executors[me - 1] == *executor {
                continue;
            }
            for step in executor.steps(self, state) {
                actions.push(Action::Step(me, step));
                if let (true, actor::Step::Write(write)) = (may_lose, step) {
                    actions.push(Action::Lose(me, write));
                }
            }
            actions.extend((*executor != At::Idle).then_some(Action::Crash(me)));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Pause => state.set_fence(Fence::Paused),
            Action::Resume => state.set_fence(Fence::Running),
            Action::Abort => state.set_fence(Fence::Aborting),
            Action::Return(at) => state.bring_back(self, at),
            Action::RestOfReturn(at) => state.reopen(self, at),
            Action::Receipt(at) => {
                state.messages[at].waiting -= 1;
                let entry = state.block[at];
                if matches!(entry.outcome, Outcome::Sending | Outcome::Sent) {
                    let mut block = state.block;
                    block[at] = Entry { outcome: Outcome::Delivered, ..entry };
                    state.put_block(block, &state.block.clone());
                }
            }
            Action::Change(at) => state.raise_version(at),
            Action::Arrive(slot) => {
                let write = state.late[slot].take()?;
                state.apply(self, write);
            }
            Action::Step(me, step) => {
                let after = state.executors[me].step(self, &mut state, step);
                state.executors[me] = after;
            }
            Action::Lose(me, write) => {
                *state.late.iter_mut().find(|slot| slot.is_none())? = Some(write);
                state.executors[me] = At::Idle;
            }
            Action::Crash(me) => state.executors[me] = At::Idle,
        }
        if self.mutation.is_none() {
            state.reduce();
        }
        state.executors.sort_unstable();
        state.late.sort_unstable();
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::<Self>::always(promise::PAUSE, |_, state| !state.intended_while_paused),
            Property::<Self>::always(promise::COUNTED, |model, state| {
                model.letters().all(|at| state.messages[at].sent.count_ones() <= u32::from(state.block[at].sends))
            }),
            Property::<Self>::always(promise::SENT, |model, state| {
                let was_sent = |at: usize| state.messages[at].sent & 1 << (state.block[at].sends - 1) != 0;
                model.letters().all(|at| state.block[at].outcome != Outcome::Sent || was_sent(at))
            }),
            Property::<Self>::always(promise::LEDGER, |_, state| state.ledger == state.count()),
            Property::<Self>::always(promise::LETTER, |model, state| {
                let says = |at: usize| state.block[at].outcome == Outcome::Delivered;
                model.letters().all(|at| !state.letters[at].is_delivered || says(at))
            }),
            Property::<Self>::always(promise::FINISHED, |model, state| {
                state.fence != Fence::Finished || model.letters().all(|at| state.is_projected(at))
            }),
        ];
        if self.mutation.is_none() {
            properties.extend([
                Property::<Self>::sometimes("a letter that was sent twice comes back", |_, state| {
                    let rows = state.block.iter().zip(&state.messages);
                    rows.into_iter().any(|(entry, sent)| sent.sent == 0b11 && entry.outcome == Outcome::Returned)
                }),
                Property::<Self>::sometimes("a letter comes back after the replay has finished", |model, state| {
                    let back = |at: usize| state.block[at].outcome == Outcome::Returned;
                    state.fence == Fence::Finished && model.letters().any(back)
                }),
                Property::<Self>::sometimes("every letter is delivered, and the replay is finished", |model, state| {
                    state.fence == Fence::Finished && model.letters().all(|at| state.letters[at].is_delivered)
                }),
            ]);
        }
        properties
    }
}
