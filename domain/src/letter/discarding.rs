//! Discarding a letter, taking it back, and what happens if it dies again.

use super::{Letter, LetterState};
use crate::discard::Discard;
use crate::id::ReplayId;
use crate::limits::VISIBILITY_S_MAX;
use crate::reading::Reading;
use crate::time::{Span, Timestamp};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

/// Why a letter is not discarded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotDiscarded {
    /// A replay has sent it, or is about to. Wait for its outcome, or abort the replay.
    InReplay(ReplayId),
    /// It was delivered.
    Delivered,
    /// It is discarded already.
    Already,
}

impl Letter {
    /// Returns the letter discarded.
    pub fn discarded(&self, discard: &Discard) -> Result<Self, NotDiscarded> {
        let quarantined_at = match &self.state {
            LetterState::Waiting => None,
            LetterState::Quarantined { at } => Some(*at),
            LetterState::InReplay { replay } => return Err(NotDiscarded::InReplay(replay.clone())),
            LetterState::Delivered { .. } => return Err(NotDiscarded::Delivered),
            LetterState::Discarded { .. } => return Err(NotDiscarded::Already),
        };
        let discard = Box::new(Discard { quarantined_at, ..discard.clone() });
        Ok(self.moved(LetterState::Discarded { discard }))
    }

    /// Returns the letter in the state that it had before it was discarded; `None` if it is not discarded.
    pub fn taken_back(&self) -> Option<Self> {
        let discard = self.state.discard()?;
        Some(self.moved(match discard.quarantined_at {
            Some(at) => LetterState::Quarantined { at },
            None => LetterState::Waiting,
        }))
    }

    /// Whether a message with the identity of this discarded letter is a new death, and not the same dead message once
    /// more. `failed_at` is when its consumer failed, as far as the message says. Without that, the message is a new death
    /// if it comes later than SQS can deliver the same one again.
    pub fn died_since_discarded(&self, failed_at: Option<Timestamp>, now: Timestamp) -> bool {
        let Some(discard) = self.state.discard() else { return false };
        match failed_at {
            Some(failed_at) => failed_at.min(now) > discard.at,
            None => now > self.died_at.max(self.kept_at).plus(Span::from_secs(VISIBILITY_S_MAX)),
        }
    }

    /// Returns the remark on a discarded letter that died again; `None` if it is not discarded.
    pub fn came_back_remark(&self) -> Option<String> {
        let discard = self.state.discard()?;
        let (by, why) = (&discard.by, discard.reason.label().to_ascii_lowercase());
        Some(format!("It had been discarded by {by} ({why}), and failed again. It is open again."))
    }

    /// Returns the letter after it died again. If it was discarded, a remark says so.
    pub fn died_again_after_discard(&self, mut reading: Reading, replays_max: u32, now: Timestamp) -> Self {
        reading.diagnosis.remarks.extend(self.came_back_remark());
        self.died_again(reading, replays_max, now)
    }
}

#[cfg(test)]
#[path = "discarding_tests.rs"]
mod tests;
