//! The deployable versions of the demo service.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A version of `orders`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// Fails on every order that contains only gift cards.
    #[default]
    V1,
    /// The wrong fix: works for new orders, but not for engraved gift cards that have waited.
    V2,
    /// The right fix.
    V3,
}

impl Version {
    /// All versions, oldest first.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    /// Returns the version's name on stamps and deployments.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    /// Returns a description for people.
    pub fn note(self) -> &'static str {
        match self {
            Self::V1 => "fails on gift cards",
            Self::V2 => "a wrong fix: new orders work, engraved gift cards that have waited still fail",
            Self::V3 => "the right fix",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The version does not exist.
#[derive(Debug, thiserror::Error)]
#[error("orders has no version {0:?}; choose v1, v2 or v3")]
pub struct UnknownVersion(String);

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|version| version.as_str() == text).ok_or_else(|| UnknownVersion(text.into()))
    }
}
