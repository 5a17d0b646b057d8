//! The marker that a replayed message carries, so that its return is recognised.

use crate::id::{LetterId, ReplayId};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The name of the message attribute that carries the marker.
pub const MARKER_ATTRIBUTE: &str = "dlo.replay";

/// The name of the message attribute in which the consumer crate stamps a failure.
pub const FAILURE_ATTRIBUTE: &str = "dlo.failure";

/// Which sending of which letter this message is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// The letter.
    pub letter: LetterId,
    /// The replay that sent it.
    pub replay: ReplayId,
    /// How many times the letter has been replayed, this one included; 1 for the first.
    pub attempt: u32,
}

impl Marker {
    /// The attribute's value: `1.<letter>.<replay>.<attempt>`; the leading 1 is the format's version.
    pub fn print(&self) -> String {
        format!("1.{}.{}.{}", self.letter, self.replay, self.attempt)
    }

    /// Reads what [`Marker::print`] wrote; anything else is none.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (Some("1"), Some(letter), Some(replay), Some(attempt), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        let hex = |s: &str| s.len() == 32 && s.bytes().all(|b| b.is_ascii_hexdigit());
        (hex(letter) && hex(replay)).then_some(())?;
        Some(Self { letter: letter.into(), replay: replay.into(), attempt: attempt.parse().ok()? })
    }
}
