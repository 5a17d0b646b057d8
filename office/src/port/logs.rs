//! The logs of consumers.

use async_trait::async_trait;
use domain::id::MessageId;
use domain::logs::{LogLine, TimeRange};

/// What is looked for in a log.
#[derive(Clone, Copy, Debug)]
pub struct LogQuery<'a> {
    /// The log: what [`domain::deployment::AttachedConsumer::log_group`] names.
    pub source: &'a str,
    /// The time ranges to read, newest first; at most [`domain::logs::RANGES_MAX`].
    pub ranges: &'a [TimeRange],
    /// Message ids; at most [`domain::logs::IDS_MAX`]. Log lines that contain one are found, whatever they say.
    pub ids: &'a [MessageId],
}

/// What was found in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logged {
    /// Log lines about an error, and those that contain an id, in any order. At most [`domain::logs::LINES_MAX`].
    pub lines: Vec<LogLine>,
    /// Whether there were more.
    pub cut: bool,
}

/// A log that could not be read: why, and what to do, as a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LogsError(pub String);

/// Reads the logs of consumers. Only the sweep does.
#[async_trait]
pub trait Logs: Send + Sync {
    /// Whether this office can read any log.
    fn can_read(&self) -> bool {
        true
    }

    /// Looks for errors and ids in a log.
    async fn find(&self, query: LogQuery<'_>) -> Result<Logged, LogsError>;
}

/// The logs of an office that can read none.
pub struct NoLogs;

#[async_trait]
impl Logs for NoLogs {
    fn can_read(&self) -> bool {
        false
    }

    async fn find(&self, _: LogQuery<'_>) -> Result<Logged, LogsError> {
        Err(LogsError("This office cannot read logs.".into()))
    }
}
