//! What can go wrong in a handler: a variant per thing that failed, its subject as a field, the cause as `source`.

use crate::port::{EntryFailure, QueueError, StoreError};
use domain::gate::Condition;
use domain::id::{GroupId, LetterId, QueueArn, ReplayId};
use domain::replay::PlanError;
use std::error::Error;
use std::fmt::Write as _;
use transform::WorkerError;

/// A handler could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// A step message was refused.
    #[error("the step of replay {replay} could not be scheduled")]
    StepRefused {
        /// The replay.
        replay: ReplayId,
        /// Why.
        #[source]
        source: EntryFailure,
    },
    /// A queue answered a batch with fewer results than messages.
    #[error("the queue {queue} gave no result for a message of a batch")]
    NoAnswer {
        /// The queue.
        queue: QueueArn,
    },
    /// Others changed the same record again and again.
    #[error("{subject} kept changing while it was being written")]
    Contended {
        /// The record, in words.
        subject: String,
    },
    /// There is no such group.
    #[error("there is no group {0}")]
    NoGroup(GroupId),
    /// There is no such letter, or no longer.
    #[error("there is no letter {0}; what was delivered long ago is no longer kept")]
    NoLetter(LetterId),
    /// There is no such replay.
    #[error("there is no replay {0}")]
    NoReplay(ReplayId),
    /// No plan waits for approval.
    #[error("no plan waits for approval in this group; make one first")]
    NoPlan,
    /// The plan that was approved is not the one that waits.
    #[error("the plan has changed since you saw it; look at it again before you approve")]
    PlanChanged,
    /// It is not in a state in which this can be done.
    #[error("{0}")]
    NotNow(String),
    /// The gate is closed.
    #[error("the gate is closed: {}", words(.0))]
    GateClosed(Vec<Condition>),
    /// No plan can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No transform can be run.
    #[error(transparent)]
    Transform(#[from] WorkerError),
    /// There is no such version of a transform.
    #[error("this group has no transform v{0}; save it first")]
    NoTransform(u32),
    /// Something in the request is wrong.
    #[error("{0}")]
    Invalid(String),
}

fn words(unmet: &[Condition]) -> String {
    let words: Vec<_> = unmet.iter().map(|condition| condition.kind.label()).collect();
    words.join(", ")
}

/// An error with its causes, on one line, for the log.
pub fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string does not fail.
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}
