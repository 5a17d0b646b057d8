//! What survives a restart of the demo service: a small JSON file.

use super::version::Version;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The demo service's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The version that runs.
    pub version: Version,
    /// Whether the payment service answers.
    pub payments_up: bool,
    /// Whether the missing product is in the catalogue.
    pub product_added: bool,
    /// Whether the producer places orders by itself.
    pub producing: bool,
    /// Orders that it still places before it pauses by itself.
    pub allowance_count: u64,
    /// Orders placed so far; the next one's number is one more.
    pub placed_count: u64,
    /// Orders handled well so far.
    pub handled_count: u64,
    /// Failures that were retried so far.
    pub retried_count: u64,
    /// Orders given up so far.
    pub dead_count: u64,
}

impl Default for State {
    fn default() -> Self {
        Self {
            version: Version::V1,
            payments_up: true,
            product_added: false,
            producing: true,
            allowance_count: 0,
            placed_count: 0,
            handled_count: 0,
            retried_count: 0,
            dead_count: 0,
        }
    }
}

/// The state file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// It could not be read.
    #[error("the state of the demo service in {} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
    /// It is not what this version of the demo writes.
    #[error("the state of the demo service in {} is not valid; without that file the service starts afresh", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: serde_json::Error,
    },
    /// It could not be written.
    #[error("the state of the demo service could not be written to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The fault.
        source: io::Error,
    },
}

impl State {
    /// The state of the file; none when there is no file yet.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, StateError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StateError::Read { path: path.into(), source }),
        };
        let state = serde_json::from_str(&text).map_err(|source| StateError::Invalid { path: path.into(), source })?;
        Ok(Some(state))
    }

    /// Writes the state so that a killed process leaves the old file or the new one, never half of one.
    pub(super) fn write(&self, path: &Path) -> Result<(), StateError> {
        let fault = |source| StateError::Write { path: path.into(), source };
        let beside = path.with_extension("json.new");
        let json = serde_json::to_vec_pretty(self).map_err(|error| fault(error.into()))?;
        std::fs::write(&beside, json).map_err(fault)?;
        std::fs::rename(&beside, path).map_err(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.json");
        assert_eq!(State::read(&path).unwrap(), None);
        let state = State { version: Version::V2, placed_count: 7, payments_up: false, ..State::default() };
        state.write(&path).unwrap();
        assert_eq!(State::read(&path).unwrap(), Some(state));
    }

    #[test]
    fn a_broken_file_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.json");
        std::fs::write(&path, "{").unwrap();
        assert!(State::read(&path).unwrap_err().to_string().contains("orders.json"));
    }
}
