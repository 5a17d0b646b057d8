//! The versions of the demo service that can be deployed.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A version of `orders`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// Fails on every order of gift cards alone.
    #[default]
    V1,
    /// The wrong fix: helps only gift cards without an engraving.
    V2,
    /// The right fix.
    V3,
}

impl Version {
    /// All versions, the oldest first.
    pub const ALL: [Self; 3] = [Self::V1, Self::V2, Self::V3];

    /// The version as stamps and deployments name it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
        }
    }

    /// What it is, for a person.
    pub fn note(self) -> &'static str {
        match self {
            Self::V1 => "fails on gift cards",
            Self::V2 => "a wrong fix: still fails on engraved gift cards",
            Self::V3 => "the right fix",
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no such version.
#[derive(Debug, thiserror::Error)]
#[error("there is no version {0:?} of orders; there are v1, v2 and v3")]
pub struct UnknownVersion(String);

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|version| version.as_str() == text).ok_or_else(|| UnknownVersion(text.into()))
    }
}
