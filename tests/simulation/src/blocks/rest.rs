//! Whether the end can be reached from every state.

use super::Blocks;
use super::records::{Fence, Outcome, State};
use stateright::Model;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Explores all states, then walks back from those at the end. Returns a state from which no path leads there.
///
/// A scope limits how often a letter is sent, which nothing does in reality. A state in which that limit holds a letter
/// counts as an end.
pub(super) fn reached_from_everywhere(model: &Blocks) -> Result<(), Box<State>> {
    let (states, before) = explore(model);
    let mut is_reached: Vec<bool> = states.iter().map(|state| is_end(model, state)).collect();
    let mut next: Vec<usize> = (0..states.len()).filter(|at| is_reached[*at]).collect();
    while let Some(at) = next.pop() {
        for earlier in &before[at] {
            if !std::mem::replace(&mut is_reached[*earlier as usize], true) {
                next.push(*earlier as usize);
            }
        }
    }
    let stuck = is_reached.iter().position(|reached| !reached);
    stuck.map_or(Ok(()), |at| Err(Box::new(states[at].clone())))
}

fn is_end(model: &Blocks, state: &State) -> bool {
    let is_spent =
        |at: usize| state.block[at].outcome == Outcome::Sending && state.block[at].sends == model.scope.sends;
    state.fence == Fence::Finished || (!model.scope.aborts && model.letters().any(is_spent))
}

/// All states, and the states before each.
fn explore(model: &Blocks) -> (Vec<State>, Vec<Vec<u32>>) {
    let mut states = model.init_states();
    let mut places: HashMap<State, usize> = states.iter().cloned().zip(0..).collect();
    let mut before = vec![Vec::new(); states.len()];
    let (mut at, mut actions) = (0, Vec::new());
    while at < states.len() {
        model.actions(&states[at], &mut actions);
        for action in actions.drain(..) {
            let Some(state) = model.next_state(&states[at], action) else { continue };
            let place = match places.entry(state) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    states.push(new.key().clone());
                    before.push(Vec::new());
                    *new.insert(states.len() - 1)
                }
            };
            before[place].push(at as u32);
        }
        at += 1;
    }
    (states, before)
}
