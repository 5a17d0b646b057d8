//! Checks every order of events of keeping letters without a transaction each, which is not built
//! (`docs/decisions/0157-letters-stay-in-a-transaction.md`).
//!
//! Letters are put alone and name a batch. The batch's seal, one transaction, says which of them it counts. Until then
//! they exist for intake and sweep only. Writes of an attempt:
//!
//! | write | condition |
//! |---|---|
//! | note of the batch, before its first letter; removed after the seal if no letter was left and no answer is missing | |
//! | put: letter, naming the batch | there is none |
//! | void: seal of another batch | there is none |
//! | adopt: whole letter, naming the batch | the letter names the batch that was found void, or sealed without it |
//! | seal: bits of the letters that it owns, counters, list blocks, new customers | there is none; the customers are new |
//! | delete from the queue: what it sealed, and duplicates | |
//!
//! Sweep does the same for the letters of an old note, and deletes nothing. A batch's age only decides how much work is
//! wasted, so here anything may happen at any time, with one exception: a note is removed by sweep when nothing can name
//! its batch any more. Crashes, attempts and lost answers are not limited in number. Each [`Mutation`] leaves out one
//! rule, and must be caught.

mod attempt;
mod forms;
mod records;
mod scopes;
#[cfg(test)]
mod tests;

use crate::graph::Graph;
use attempt::{Attempt, Part, Step};
use records::{Batch, LETTERS_MAX, Marker, Message, NONE, Seal, Set, State, Write};
pub use scopes::{Kind, LARGE_SCOPES, Mutation, SCOPES, Scope};
use stateright::{Checker, Model, Property};

/// What is true in every state.
mod promise {
    pub const DELETED: &str = "a message is deleted only if its letter is kept";
    pub const ONCE: &str = "a letter is counted once at most";
    pub const COUNTED: &str = "a letter is counted if and only if it is kept";
    pub const GROUP: &str = "a letter is counted in the group that is stored";
    pub const CUSTOMER: &str = "a customer is counted once, with the first letter";
    pub const LISTED: &str = "a list has every letter that waits, and no letter that is not kept";
    /// Checked by the graph of all states.
    pub const REST: &str = "every state can come to rest";
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explored {
    /// States that differ.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
}

/// Checks every state of a scope, and that rest can be reached from each. Panics with the path to the first state that
/// breaks a promise.
pub fn check(scope: Scope, threads: usize) -> Explored {
    let model = Keep { scope, mutation: None };
    let graph = Graph::from_model(&model);
    if !graph.is_right {
        // It knows the paths.
        model.checker().threads(threads).spawn_bfs().join().assert_properties();
        panic!("a promise is broken, but not in another exploration");
    }
    if let Err(stuck) = graph.end_is_reached_from_everywhere(|state| model.is_at_rest(state)) {
        panic!("{}: not from {stuck:#?}", promise::REST);
    }
    Explored { states: graph.states.len(), steps: graph.steps.len() }
}

/// Returns the promise that the first state found breaks, and the number of steps to it.
pub fn caught(scope: Scope, mutation: Mutation) -> Option<(&'static str, usize)> {
    let model = Keep { scope, mutation: Some(mutation) };
    let graph = Graph::from_model(&model);
    let properties = model.properties();
    let broken = |state: &State| properties.iter().find(|property| !(property.condition)(&model, state));
    let found = graph.states.iter().enumerate().find_map(|(at, state)| Some((broken(state)?.name, graph.distance(at))));
    found.or_else(|| {
        graph.end_is_reached_from_everywhere(|state| model.is_at_rest(state)).err().map(|stuck| {
            let place = graph.states.iter().position(|state| *state == *stuck).unwrap_or_default();
            (promise::REST, graph.distance(place))
        })
    })
}

/// The model.
#[derive(Clone, Debug)]
struct Keep {
    scope: Scope,
    mutation: Option<Mutation>,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    /// A version of intake that reads this group gets these messages.
    Receive(Set, u8),
    /// Sweep finds the note of this batch.
    Sweep(Batch),
    Expire(usize),
    /// The message comes again.
    Copy(usize),
    /// An attempt makes its next call.
    Step(usize, Step),
    /// The same, its answer is lost, and the write may still arrive. The attempt tries again, or does not.
    Lose(usize, Write),
    Crash(usize),
    /// A late write arrives.
    Arrive(usize),
    /// A late write never arrives.
    Drop(usize),
    /// The letter leaves the list of waiting letters.
    Depart(usize),
    Return(usize),
    /// The process that sets bits looks at this letter.
    Mark(usize),
    GoOnMarking,
    /// Only a mutation does this.
    Forget(Batch),
}

impl Keep {
    fn lacks(&self, rule: Mutation) -> bool {
        self.mutation == Some(rule)
    }

    fn letters(&self) -> std::ops::Range<usize> {
        0..self.scope.letters
    }

    fn may_lose(&self, state: &State, write: Write) -> bool {
        let kind = match write {
            Write::Put { .. } => Kind::Put,
            Write::Void { .. } => Kind::Void,
            Write::Adopt { .. } => Kind::Adopt,
            Write::Seal { .. } => Kind::Seal,
            Write::Few { .. } => Kind::Few,
        };
        state.late.iter().flatten().count() < self.scope.late && self.scope.only.is_none_or(|only| only == kind)
    }

    /// Nothing runs, and every letter is kept, or its message expired before it was stored.
    fn is_at_rest(&self, state: &State) -> bool {
        let is_idle = state.attempts.iter().all(Option::is_none) && state.late.iter().all(Option::is_none);
        let is_settled = |at: usize| match state.letters[at].message {
            Message::There => false,
            Message::Deleted => state.is_kept(at),
            Message::Expired => state.letters[at].stored.is_none() || state.is_kept(at),
        };
        let has_note = state.batches.iter().any(|about| about.has_note);
        is_idle && !has_note && state.marker == Marker::Idle && self.letters().all(is_settled)
    }

    /// The letters that name a batch and are not kept, as sweep finds them.
    fn unkept(&self, state: &State, named: Batch) -> [Part; LETTERS_MAX] {
        std::array::from_fn(|at| match state.letters[at].stored {
            Some(stored) if stored.batch == named && !state.is_kept(at) => Part::Look { named, group: stored.group },
            _ => Part::No,
        })
    }

    fn go_on_marking(&self, state: &mut State) {
        state.marker = match state.marker {
            Marker::Idle => Marker::Idle,
            Marker::Block { letter, is_current } => {
                let is_away = state.letters[usize::from(letter)].is_away;
                if is_away { Marker::Both { letter, is_current } } else { Marker::Idle }
            }
            Marker::Letter { letter } => Marker::Both { letter, is_current: true },
            Marker::Both { letter, is_current } => {
                if is_current || self.lacks(Mutation::BitWithoutVersion) {
                    state.letters[usize::from(letter)].has_left = true;
                }
                Marker::Idle
            }
        };
    }
}

impl Model for Keep {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let running = state.attempts.iter().flatten().count();
        if running < self.scope.attempts {
            let there = self.letters().filter(|at| state.letters[*at].message == Message::There);
            let there: Set = there.fold(0, |set, at| set | 1 << at);
            let sets = (1..=there).filter(|set| set & there == *set);
            actions.extend(sets.flat_map(|set| (0..self.scope.groups).map(move |group| Action::Receive(set, group))));
            if self.scope.expires && !self.lacks(Mutation::NoSweep) {
                let noted = (1..).zip(&state.batches).filter(|(_, about)| about.has_note).map(|(batch, _)| batch);
                let found = noted.filter(|batch| self.unkept(state, *batch).iter().any(|part| *part != Part::No));
                actions.extend(found.map(Action::Sweep));
            }
        }
        for at in self.letters() {
            let letter = &state.letters[at];
            let message = letter.message;
            actions.extend((self.scope.expires && message == Message::There).then_some(Action::Expire(at)));
            actions.extend((self.scope.copies && message == Message::Deleted).then_some(Action::Copy(at)));
            if self.scope.moves && state.is_kept(at) {
                actions.push(if letter.is_away { Action::Return(at) } else { Action::Depart(at) });
                let may_mark = state.marker == Marker::Idle && letter.is_listed && !letter.has_left;
                actions.extend(may_mark.then_some(Action::Mark(at)));
            }
            if let Some(stored) = letter.stored.filter(|_| self.lacks(Mutation::SealIsForgotten)) {
                let is_sealed = stored.batch != NONE && matches!(state.seal(stored.batch), Seal::Sealed(_));
                actions.extend(is_sealed.then_some(Action::Forget(stored.batch)));
            }
        }
        actions.extend((state.marker != Marker::Idle).then_some(Action::GoOnMarking));
        for (slot, write) in state.late.iter().enumerate() {
            if write.is_some() {
                actions.extend([Action::Arrive(slot), Action::Drop(slot)]);
            }
        }
        for (me, attempt) in state.attempts.iter().enumerate() {
            let Some(attempt) = attempt else { continue };
            for step in attempt.steps(self) {
                actions.push(Action::Step(me, step));
                let write = attempt.write(state, step).filter(|write| self.may_lose(state, *write));
                actions.extend(write.map(|write| Action::Lose(me, write)));
            }
            actions.push(Action::Crash(me));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Receive(set, group) => {
                let is_in = |at: usize| set & 1 << at != 0;
                let parts = std::array::from_fn(|at| if is_in(at) { Part::Todo { group } } else { Part::No });
                let attempt = Attempt::new(self, &mut state, parts, false);
                *state.attempts.iter_mut().find(|slot| slot.is_none())? = Some(attempt);
            }
            Action::Sweep(batch) => {
                let parts = self.unkept(&state, batch);
                let attempt = Attempt::new(self, &mut state, parts, true);
                *state.attempts.iter_mut().find(|slot| slot.is_none())? = Some(attempt);
            }
            Action::Expire(at) => state.letters[at].message = Message::Expired,
            Action::Copy(at) => state.letters[at].message = Message::There,
            Action::Step(me, step) => {
                let attempt = state.attempts[me]?;
                state.attempts[me] = attempt.step(self, &mut state, step);
            }
            Action::Lose(me, write) => {
                *state.late.iter_mut().find(|slot| slot.is_none())? = Some(write);
                state.attempts[me].as_mut()?.misses_an_answer = true;
            }
            Action::Crash(me) => state.attempts[me] = None,
            Action::Arrive(slot) => {
                let write = state.late[slot].take()?;
                state.apply(self, write);
            }
            Action::Drop(slot) => state.late[slot] = None,
            Action::Depart(at) => {
                state.letters[at].is_away = true;
                // Whoever moves a letter writes it without its batch.
                state.letters[at].stored.as_mut()?.batch = NONE;
            }
            Action::Return(at) => {
                let letter = &mut state.letters[at];
                letter.is_away = false;
                if std::mem::take(&mut letter.has_left) || !self.lacks(Mutation::ReturnLeavesTheBlock) {
                    state.block_changed(at);
                }
            }
            Action::Mark(at) => {
                let letter = at as u8;
                let letter_first = self.lacks(Mutation::MarkerReadsTheLetterFirst);
                state.marker = match state.letters[at].is_away {
                    true if letter_first => Marker::Letter { letter },
                    false if letter_first => Marker::Idle,
                    _ => Marker::Block { letter, is_current: true },
                };
            }
            Action::GoOnMarking => self.go_on_marking(&mut state),
            Action::Forget(batch) => state.about(batch).seal = Seal::Open,
        }
        state.remove_notes(self);
        state.reduce(self);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = vec![
            Property::<Self>::always(promise::DELETED, |model, state| {
                model.letters().all(|at| state.letters[at].message != Message::Deleted || state.is_kept(at))
            }),
            Property::<Self>::always(promise::ONCE, |model, state| {
                model.letters().all(|at| state.letters[at].counted.iter().sum::<u8>() <= 1)
            }),
            Property::<Self>::always(promise::COUNTED, |model, state| {
                model.letters().all(|at| (state.letters[at].counted != [0, 0]) == state.is_kept(at))
            }),
            Property::<Self>::always(promise::GROUP, |model, state| {
                let is_in = |at: usize, group: u8| state.letters[at].counted[usize::from(group)] > 0;
                let is_right = |at: usize| state.letters[at].stored.is_none_or(|stored| is_in(at, stored.group));
                model.letters().filter(|at| state.is_kept(*at)).all(is_right)
            }),
            Property::<Self>::always(promise::CUSTOMER, |model, state| {
                let has = |group: usize| model.letters().any(|at| state.letters[at].counted[group] > 0);
                (0..state.customers.len()).all(|group| state.customers[group].1 == u8::from(has(group)))
            }),
            Property::<Self>::always(promise::LISTED, |model, state| {
                let is_listed = |at: usize| state.letters[at].is_listed && !state.letters[at].has_left;
                let is_right = |at: usize| match (state.is_kept(at), state.letters[at].is_away) {
                    (true, true) => true,
                    (true, false) => is_listed(at),
                    (false, _) => !state.letters[at].is_listed,
                };
                model.letters().all(is_right)
            }),
        ];
        if self.mutation.is_none() {
            properties.push(Property::<Self>::sometimes("every letter is kept, and nothing runs", |model, state| {
                model.is_at_rest(state) && model.letters().all(|at| state.is_kept(at))
            }));
        }
        properties
    }
}
