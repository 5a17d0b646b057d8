//! The demo service's state, kept in a small JSON file across restarts.

use super::version::Version;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The demo service's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct State {
    /// The running version.
    pub version: Version,
    /// Whether the payment service answers.
    pub payments_up: bool,
    /// Whether the missing product is in the catalogue.
    pub product_added: bool,
    /// Whether the producer places orders.
    pub producing: bool,
    /// Orders that the producer may place before it pauses itself.
    pub allowance_count: u64,
    /// Orders placed so far; the next order's number is one more.
    pub placed_count: u64,
    /// Orders handled successfully so far.
    pub handled_count: u64,
    /// Retries so far.
    pub retried_count: u64,
    /// Orders dead-lettered so far.
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
    /// The file could not be read.
    #[error("cannot read the demo service's state in {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The file is not valid.
    #[error("the demo service's state in {} is not valid. Delete the file to start with the default state", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The error.
        source: serde_json::Error,
    },
    /// The file could not be written.
    #[error("cannot write the demo service's state to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl State {
    /// Reads the state; `None` if the file does not exist.
    pub(super) fn read(path: &Path) -> Result<Option<Self>, StateError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(StateError::Read { path: path.into(), source }),
        };
        let state = serde_json::from_str(&text).map_err(|source| StateError::Invalid { path: path.into(), source })?;
        Ok(Some(state))
    }

    /// Writes the state atomically: a killed process leaves the old file or the new one.
    pub(super) fn write(&self, path: &Path) -> Result<(), StateError> {
        let fault = |source| StateError::Write { path: path.into(), source };
        let temporary = path.with_extension("json.new");
        let json = serde_json::to_vec_pretty(self).map_err(|error| fault(error.into()))?;
        crate::private::write(&temporary, &json).map_err(fault)?;
        std::fs::rename(&temporary, path).map_err(fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_state_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.json");
        assert_eq!(State::read(&path).unwrap(), None);
        let state = State { version: Version::V2, placed_count: 7, payments_up: false, ..State::default() };
        state.write(&path).unwrap();
        assert_eq!(State::read(&path).unwrap(), Some(state));
    }

    #[test]
    fn an_invalid_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("orders.json");
        std::fs::write(&path, "{").unwrap();
        assert!(State::read(&path).unwrap_err().to_string().contains("orders.json"));
    }
}
