//! Letters of a plan whose bodies look like error envelopes.

use crate::text::grouped;
use alloc::format;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// The letters of a plan that look like error envelopes and go back with them, unless a transform changes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wrapped {
    /// Their number.
    pub letters: u64,
    /// Where their bodies have the original, as a jq path such as `.original_message`; missing if they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_at: Option<String>,
}

impl Wrapped {
    /// Whether the plan has no such letters.
    pub fn is_none(&self) -> bool {
        self.letters == 0
    }

    /// Counts a letter of the plan, by where it has its original.
    pub fn count(&mut self, original_at: Option<&str>) {
        let Some(path) = original_at else { return };
        match self.letters {
            0 => self.original_at = Some(path.into()),
            _ => self.original_at = self.original_at.take().filter(|other| other == path),
        }
        self.letters += 1;
    }

    /// Says how many of a plan's letters these are. If no transform changes them, says that they go back with their wrapper.
    pub fn words(&self, planned: i64, is_changed: bool) -> String {
        let (look, go) = match self.letters {
            1 => ("looks like an error envelope", "goes back with its wrapper"),
            _ => ("look like error envelopes", "go back with their wrapper"),
        };
        let (these, all) = (grouped(&self.letters.to_string()), grouped(&planned.max(0).to_string()));
        let words = format!("{these} of {all} letters {look}");
        if is_changed { words } else { format!("{words} and {go}") }
    }

    /// Returns the program of a transform that sends only the original. It leaves letters without such an envelope as they
    /// are. `None` if the envelopes differ, so that no one program is right for all.
    pub fn program(&self) -> Option<String> {
        self.original_at.as_ref().map(|path| match path.contains('|') {
            true => format!("({path})? // ."),
            false => format!("{path}? // ."),
        })
    }
}
