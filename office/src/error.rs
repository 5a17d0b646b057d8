//! Errors of the handlers: a variant for each thing that failed, its subject as a field, the cause as `source`.

use crate::port::{EntryFailure, QueueError, StoreError};
use domain::filter::FilterError;
use domain::gate::Condition;
use domain::id::{GroupId, LetterId, QueueArn, ReplayId};
use domain::replay::PlanError;
use std::error::Error;
use std::fmt::Write as _;
use transform::WorkerError;

/// A request that a handler could not carry out. The texts of client errors are shown to people.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// The queue refused a step message.
    #[error("the next step of replay {replay} could not be scheduled")]
    StepRefused {
        /// The replay.
        replay: ReplayId,
        /// The queue's reason.
        #[source]
        source: EntryFailure,
    },
    /// A queue answered a batch with fewer results than messages.
    #[error("queue {queue} returned no result for a message of a batch")]
    NoAnswer {
        /// The queue.
        queue: QueueArn,
    },
    /// Every try of a commit met another change of the same record.
    #[error("too many concurrent changes of {subject}")]
    Contended {
        /// The record, in words.
        subject: String,
    },
    /// The platform ends the invocation soon. Nothing was tried.
    #[error("no time is left in this invocation; the message is retried in another one")]
    OutOfTime,
    /// The group does not exist.
    #[error("group {0} not found")]
    NoGroup(GroupId),
    /// The letter does not exist, or was deleted some time after it was closed.
    #[error("letter {0} not found; closed letters are deleted after some time")]
    NoLetter(LetterId),
    /// The replay does not exist.
    #[error("replay {0} not found")]
    NoReplay(ReplayId),
    /// The group has no plan to approve.
    #[error("this group has no plan to approve: someone has approved it already, or nobody has made one")]
    NoPlan,
    /// The plan to be approved, or the transform to resume with, is not the one that the caller saw.
    #[error("the plan has changed since you saw it; review it again before you approve")]
    PlanChanged,
    /// A record has changed since the caller read it.
    #[error("someone else has just changed this; reload and try again")]
    OutOfDate,
    /// The state of the group or replay does not allow this now.
    #[error("{0}")]
    NotNow(String),
    /// The gate is closed.
    #[error("the gate is closed. Unmet: {}", labels(.0))]
    GateClosed(Vec<Condition>),
    /// The plan cannot be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Transforms cannot be run.
    #[error(transparent)]
    Transform(#[from] WorkerError),
    /// The group has no transform of this version.
    #[error("this group has no transform v{0}; save it first")]
    NoTransform(u32),
    /// The reference of a fix names no version of a transform.
    #[error("enter the version of a saved transform, for example v2")]
    NoVersion,
    /// A filter is out of range.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The request is not valid.
    #[error("{0}")]
    Invalid(String),
}

fn labels(unmet: &[Condition]) -> String {
    let labels: Vec<_> = unmet.iter().map(|condition| condition.kind.label()).collect();
    labels.join(", ")
}

/// Returns an error and its causes on one line, for the log.
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
