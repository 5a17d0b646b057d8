//! Committing: what a conflict means, and how often a change is tried again.
//!
//! Every change reads, decides and commits on the condition that nothing has changed since. When another process was
//! faster, the commit conflicts, and the change begins again at its read.

use crate::error::OfficeError;
use crate::office::Office;
use crate::port::{CommitError, StoreError, Write};

/// How often a change of one record is tried.
const TRIES_MAX: usize = 20;

/// What became of a commit.
#[must_use]
#[derive(Debug)]
pub(crate) enum Committed {
    /// All writes were made.
    Yes,
    /// Conditions did not hold and nothing was written. Holds writes whose conditions failed: at least one, not
    /// necessarily all.
    Conflict(Vec<Write>),
}

impl Committed {
    /// Whether the writes were made.
    pub fn is_made(&self) -> bool {
        matches!(self, Self::Yes)
    }
}

/// Commits writes, all or none.
pub(crate) async fn commit(office: &Office, writes: Vec<Write>) -> Result<Committed, StoreError> {
    match office.store.commit(writes.clone()).await {
        Ok(()) => Ok(Committed::Yes),
        Err(CommitError::Store(error)) => Err(error),
        Err(CommitError::Conflict(indexes)) => {
            let mut writes: Vec<_> = writes.into_iter().map(Some).collect();
            let failed = indexes.into_iter().filter_map(|at| writes.get_mut(at)?.take());
            Ok(Committed::Conflict(failed.collect()))
        }
    }
}

/// Counts the tries of one change. Call [`Tries::begin`] at the start of a loop that ends when its commit is made.
pub(crate) struct Tries {
    left: usize,
    subject: String,
}

impl Tries {
    /// Tries of a change of `subject`: the record, in words.
    pub fn new(subject: impl Into<String>) -> Self {
        Self::up_to(TRIES_MAX, subject)
    }

    /// Tries of a change that conflicts more often than others.
    pub fn up_to(tries_max: usize, subject: impl Into<String>) -> Self {
        Self { left: tries_max, subject: subject.into() }
    }

    /// Begins a try. Returns [`OfficeError::Contended`] once all are used up.
    pub fn begin(&mut self) -> Result<(), OfficeError> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| OfficeError::Contended { subject: std::mem::take(&mut self.subject) })?;
        Ok(())
    }
}
