//! Letters that people discard: only those that wait, and none of them leaves for a replay.

use super::*;
use domain::letter::{LetterState, LetterStateKind};

impl Observed {
    /// Checks a letter's way into and out of the state in which it is discarded.
    pub(super) fn discard(&mut self, after: &Letter) {
        let Some(before) = self.letters.get(&after.id).cloned() else {
            if after.state.discard().is_some() {
                self.report(format!("letter {} is new and discarded", after.id));
            }
            return;
        };
        match (&before.state, &after.state) {
            (LetterState::Discarded { .. }, LetterState::Discarded { .. }) => {}
            (LetterState::Waiting | LetterState::Quarantined { .. }, LetterState::Discarded { .. }) => {
                self.discarded += 1;
            }
            (LetterState::Discarded { discard }, LetterState::Quarantined { at }) if after.deaths == before.deaths => {
                self.taken_back += 1;
                if discard.quarantined_at != Some(*at) {
                    self.report(format!("letter {} was taken back into a quarantine that it was not in", after.id));
                }
            }
            (LetterState::Discarded { .. }, LetterState::Waiting | LetterState::Quarantined { .. }) => {
                self.taken_back += 1;
            }
            // A receipt proves that it was processed, before it was discarded.
            (LetterState::Discarded { .. }, LetterState::Delivered { .. }) => {}
            (from, to) if from.discard().is_some() || to.discard().is_some() => {
                let (from, to): (LetterStateKind, LetterStateKind) = (from.kind(), to.kind());
                self.report(format!("letter {} went from {from:?} to {to:?}", after.id));
            }
            _ => {}
        }
    }
}
