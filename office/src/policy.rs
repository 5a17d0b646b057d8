//! The policy in the store: its newest version, read by every process, and how old what a process knows may be.
//!
//! The deployment's policy applies until somebody writes a version. From then on the store's newest version applies, and
//! the deployment's own is not looked at any more; only the main queues that the deployment names are added to each
//! version. A handler keeps one policy from its beginning to its end.
//!
//! A process may act by a policy that is up to [`POLICY_AGE_MAX`] old. That is harmless, because what a policy forbids is
//! judged again where it matters: approvals, resumptions and sweeps read the newest version, and a replay keeps the
//! version that judged its approval. A letter that is read by an older version only shows an amount or a class that is a
//! few seconds out of date, and a person whose access was revoked loses it after that time.

use domain::limits::POLICY_AGE_MAX;
use domain::policy::{Policy, PolicyVersion, QueuePolicy};
use domain::time::{Span, Timestamp};
use std::sync::{Arc, Mutex, PoisonError};

/// What a process knows of the policy in the store.
#[derive(Debug)]
pub struct Policies {
    /// The main queues that the deployment names, which are added to each version.
    named: QueuePolicy,
    seen: Mutex<Option<Seen>>,
}

/// What was the newest version at a moment.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    at: Timestamp,
    /// Its number, and the policy with the queues that the deployment names; `None` if there was none.
    pub(crate) newest: Option<(u64, Arc<Policy>)>,
}

impl Policies {
    /// Returns a process's knowledge before it has read anything.
    pub fn new(named: QueuePolicy) -> Self {
        Self { named, seen: Mutex::new(None) }
    }

    /// Returns the main queues that the deployment names.
    pub fn named(&self) -> &QueuePolicy {
        &self.named
    }

    /// Returns what was read lately. A clock that has gone back makes it old.
    pub(crate) fn recent(&self, now: Timestamp) -> Option<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        seen.filter(|seen| (Span::ZERO..POLICY_AGE_MAX).contains(&now.since(seen.at)))
    }

    /// Stores what was read, at the time before the read.
    pub(crate) fn remember(&self, version: Option<PolicyVersion>, at: Timestamp) -> Seen {
        let merged = |version: PolicyVersion| {
            let queues = version.policy.queues.clone().and(&self.named);
            (version.version, Arc::new(Policy { queues, ..version.policy }))
        };
        let seen = Seen { at, newest: version.map(merged) };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen.clone());
        seen
    }
}
