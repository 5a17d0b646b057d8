//! The record of a letter's first death, which is made when the letter dies again. Until then the letter itself says it.
//!
//! A death has the id of its message. Two letters can have the same: one that a replay sent and that returned with it, and
//! one that a consumer dead-lettered by hand under that id with another content. Only one record has the id then, and the
//! other letter's has one of its own, so that the letter can be stored.

use crate::commit::Committed;
use crate::port::Write;
use domain::id::MessageId;
use domain::letter::Letter;

/// Makes the record of a letter's first death.
#[derive(Default)]
pub(super) struct FirstDeath {
    is_taken: bool,
}

impl FirstDeath {
    /// Returns the record, if the letter has died only once.
    pub fn write(&self, before: &Letter) -> Option<Write> {
        let own = || MessageId::new(format!("{}#1 of {}", before.original_message_id, before.id));
        let id = if self.is_taken { own() } else { before.original_message_id.clone() };
        (before.deaths == 1).then(|| Write::Death(Box::new(before.latest_death(&id, None))))
    }

    /// Learns from a conflict whether another letter's death has the id.
    pub fn learn(&mut self, committed: &Committed) {
        let Committed::Conflict(writes) = committed else { return };
        self.is_taken |= writes.iter().any(|write| matches!(write, Write::Death(death) if death.number == 1));
    }
}
