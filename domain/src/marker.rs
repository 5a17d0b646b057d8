//! The marker on a replayed message, by which the office recognises its return.

use crate::id::{LetterId, ReplayId};
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The name of the message attribute that carries the marker.
pub const MARKER_ATTRIBUTE: &str = "dlo.replay";

/// The name of the message attribute with the consumer crate's failure stamp.
pub const FAILURE_ATTRIBUTE: &str = "dlo.failure";

/// Which send of which letter a message is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// The letter.
    pub letter: LetterId,
    /// The replay that sent it.
    pub replay: ReplayId,
    /// The number of the letter's replays including this one; 1 for the first.
    pub attempt: u32,
    /// The sequence number of the letter's entry in the replay, from 0, so that a return finds it.
    pub seq: u64,
}

impl Marker {
    /// Returns the attribute's value: `2.<letter>.<replay>.<attempt>.<seq>`. The leading 2 is the format's
    /// version.
    pub fn print(&self) -> String {
        format!("2.{}.{}.{}.{}", self.letter, self.replay, self.attempt, self.seq)
    }

    /// Parses the output of [`Marker::print`]. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let (Some("2"), Some(letter), Some(replay), Some(attempt), Some(seq), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        let hex = |s: &str| s.len() == 32 && s.bytes().all(|b| b.is_ascii_hexdigit());
        (hex(letter) && hex(replay)).then_some(())?;
        Some(Self {
            letter: letter.into(),
            replay: replay.into(),
            attempt: attempt.parse().ok()?,
            seq: seq.parse().ok()?,
        })
    }
}
