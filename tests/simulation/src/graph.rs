//! All states of a model, and whether the end can be reached from each.

use crate::explore::{AsItIs, Seen, hash_of};
use stateright::Model;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash};

/// All states of a model in the order of their distance, up to the first one that breaks a promise.
pub(super) struct Graph<S> {
    pub states: Vec<S>,
    /// From which state a step leads to which: their places in `states`.
    pub steps: Vec<(u32, u32)>,
    /// Whether every property holds.
    pub is_right: bool,
}

impl<S: Clone + Debug + Hash + PartialEq> Graph<S> {
    pub(super) fn from_model<M: Model<State = S>>(model: &M) -> Self {
        let seen = Seen::new(model);
        let mut states = model.init_states();
        let mut places: HashMap<u64, u32, BuildHasherDefault<AsItIs>> = states.iter().map(hash_of).zip(0..).collect();
        let mut steps = Vec::new();
        let (mut at, mut actions) = (0, Vec::new());
        while at < states.len() {
            seen.look(model, &states[at]);
            if !seen.is_right() {
                break;
            }
            model.actions(&states[at], &mut actions);
            for action in actions.drain(..) {
                let Some(state) = model.next_state(&states[at], action) else { continue };
                let place = match places.entry(hash_of(&state)) {
                    Entry::Occupied(known) => {
                        assert!(states[*known.get() as usize] == state, "two states have one hash");
                        *known.get()
                    }
                    Entry::Vacant(new) => {
                        states.push(state);
                        *new.insert(states.len() as u32 - 1)
                    }
                };
                steps.push((at as u32, place));
            }
            at += 1;
        }
        Self { states, steps, is_right: seen.is_complete() }
    }

    /// Returns the number of steps to a state.
    pub(super) fn distance(&self, mut place: usize) -> usize {
        let mut distance = 0;
        while place > 0 {
            let first = self.steps.iter().find(|(_, to)| *to as usize == place);
            place = first.map_or(0, |(from, _)| *from as usize);
            distance += 1;
        }
        distance
    }

    /// Walks back from the states at the end. Returns a state from which no path leads there.
    pub(super) fn end_is_reached_from_everywhere(&self, is_end: impl Fn(&S) -> bool) -> Result<(), Box<S>> {
        let (first, before) = self.before();
        let mut is_reached: Vec<bool> = self.states.iter().map(is_end).collect();
        let mut next: Vec<usize> = (0..self.states.len()).filter(|at| is_reached[*at]).collect();
        while let Some(at) = next.pop() {
            for earlier in &before[first[at]..first[at + 1]] {
                if !std::mem::replace(&mut is_reached[*earlier as usize], true) {
                    next.push(*earlier as usize);
                }
            }
        }
        let stuck = is_reached.iter().position(|reached| !reached);
        stuck.map_or(Ok(()), |at| Err(Box::new(self.states[at].clone())))
    }

    /// Returns the states before each: those of state `n` are in the second list, between the places `n` and `n + 1` of
    /// the first.
    fn before(&self) -> (Vec<usize>, Vec<u32>) {
        let mut first = vec![0; self.states.len() + 1];
        self.steps.iter().for_each(|(_, to)| first[*to as usize] += 1);
        let mut sum = 0;
        for place in &mut first {
            sum += *place;
            *place = sum;
        }
        let mut before = vec![0; self.steps.len()];
        for (from, to) in &self.steps {
            let place = &mut first[*to as usize];
            *place -= 1;
            before[*place] = *from;
        }
        (first, before)
    }
}
