//! Whether a replay is at its end.

use super::Blocks;
use super::records::{Fence, Outcome, State};

/// Whether nothing is left to do.
///
/// A scope limits how often a letter is sent, which nothing does in reality. A state in which that limit holds a letter
/// counts as an end.
pub(super) fn is_end(model: &Blocks, state: &State) -> bool {
    let is_spent =
        |at: usize| state.block[at].outcome == Outcome::Sending && state.block[at].sends == model.scope.sends;
    state.fence == Fence::Finished || (!model.scope.aborts && model.letters().any(is_spent))
}
