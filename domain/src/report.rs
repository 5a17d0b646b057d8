//! A report: what a consumer, or the layer in front of it, says about one failed invocation.
//!
//! A report travels as the body of a message on the office's receipts queue. It names the messages of the invocation and
//! the error, and never carries a message body. A report is evidence: it says why a message failed, and never decides
//! whose letter that is, what it costs or where it goes.
//!
//! [`Report::parts`] writes reports within their limits, [`Report::parse`] reads them, [`clues`] finds what only the
//! writer of a report can see, and [`judge`] decides which message an error belongs to.

pub mod batch_response;
pub mod clues;
pub mod json;
pub mod judge;
mod part;
pub mod powertools;

use crate::id::{MessageId, QueueArn};
use crate::limits::{RETENTION_MAX, TIME_MS_MAX};
use crate::time::Timestamp;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use clues::Clue;
use serde::{Deserialize, Serialize};

/// The version of the report's format that this code writes.
pub const REPORT_VERSION: u8 = 1;
/// The maximum size of one report, bytes. SQS bills 64 KiB as one request.
pub const REPORT_BYTES_MAX: usize = 64 * 1024;
/// The number of messages up to which a report's stack traces and log lines are kept, for each of them.
pub const TEXTS_FOR_MESSAGES_MAX: usize = 100;
/// The longest text of an error in a report of more messages, bytes: enough to tell causes apart.
const HEAD_BYTES_MAX: usize = 300;
/// The longest name in a report of more messages, bytes: an ARN of a function up to its name has 115 at most.
const SHORT_NAME_BYTES_MAX: usize = 160;
/// The longest time that an invocation can have taken, milliseconds: no message waits longer on a queue. A number of more
/// than 53 bits would be read by no page.
pub const DURATION_MS_MAX: u64 = RETENTION_MAX.as_ms().cast_unsigned();
/// The maximum number of log lines in a report: a stack trace and what led to it.
pub const LOG_LINES_MAX: usize = 20;
/// The maximum number of separate errors in a report: the largest batch of a FIFO queue, and the usual one of others.
pub const ERRORS_MAX: usize = 10;
/// The maximum number of messages of one invocation: the largest batch of an event source mapping (botocore).
pub const BATCH_MESSAGES_MAX: usize = 10_000;

/// One failed invocation. As JSON, the body of a message on the receipts queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The format's version, 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub v: u8,
    /// How the invocation ended.
    pub kind: ReportKind,
    /// The invocation: Lambda's request id, or any text that is unique to this attempt. All reports with the same text
    /// are about the same attempt.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub request_id: String,
    /// The function's ARN or name, or the name of the service.
    #[cfg_attr(feature = "schema", schemars(length(max = 512)))]
    pub function: String,
    /// The function's version, or the service's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The ARN of the main queue that the messages came from. A start that failed need not name it: the office knows it
    /// where its platform told which function consumes which queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueArn>,
    /// When the invocation failed, by the writer's clock, milliseconds since 1970-01-01T00:00:00 UTC.
    pub failed_at: Timestamp,
    /// The execution environment or process, for example Lambda's log stream. Differs between any two of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// The log group that the invocation wrote to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_group: Option<String>,
    /// Whether this was the first invocation of its instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<bool>,
    /// How long the invocation ran, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(max = DURATION_MS_MAX)))]
    pub duration_ms: Option<u64>,
    /// The memory that the function may use, MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u32>,
    /// The memory that it used at most, MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_used_mb: Option<u32>,
    /// The program that wrote the report, and its version, for example `witness/0.1.0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reporter: Option<String>,
    /// The error that ended the invocation. Absent if nothing is known but the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReportedError>,
    /// The errors of single messages, where the consumer tells them apart. Messages refer to them by position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = ERRORS_MAX)))]
    pub errors: Vec<ReportedError>,
    /// The last lines that the invocation logged, oldest first, where the error alone says too little.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = LOG_LINES_MAX)))]
    pub logs: Vec<String>,
    /// The number of messages in the invocation's batch, succeeded ones included. Absent: as many as are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(max = BATCH_MESSAGES_MAX)))]
    pub batch_size: Option<u32>,
    /// The messages that failed, in the order of the batch. All of the batch, unless `kind` is `partial`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = BATCH_MESSAGES_MAX)))]
    pub messages: Vec<ReportedMessage>,
    /// Which part of a report that needs several, from 1. Each part lists other messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub part: Option<u16>,
    /// The number of parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub parts: Option<u16>,
}

/// Why a text is not a report. Quotes nothing from it: it may be a letter that was sent to the wrong queue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReport {
    /// It is too large.
    #[error("it has {0} bytes, and a report has {REPORT_BYTES_MAX} at most")]
    TooLarge(usize),
    /// It is not JSON, or a required field is missing or has another type.
    #[error("{what} at line {line}, column {column}")]
    Json {
        /// What is wrong.
        what: String,
        /// Where, from 1.
        line: usize,
        /// Where, from 1.
        column: usize,
    },
    /// `v` is 0.
    #[error("`v` is 0; the first version is 1")]
    Version,
    /// `request_id` is empty.
    #[error("`request_id` is empty")]
    NoRequest,
    /// `failed_at` is out of range.
    #[error("`failed_at` is not a time in milliseconds between the years 1970 and 9999")]
    Time,
}

impl NotReport {
    fn of_json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let what = match error.classify() {
            serde_json::error::Category::Data if text.starts_with("missing field") => {
                text.split(" at line ").next().unwrap_or_default().into()
            }
            serde_json::error::Category::Data => "a field has another type or value than its schema says".into(),
            _ => "it is not JSON".into(),
        };
        Self::Json { what, line: error.line(), column: error.column() }
    }
}

/// Whether a queue's name has the form of an ARN. Reports are kept under it.
fn is_arn(queue: &QueueArn) -> bool {
    let parts: Vec<&str> = queue.as_str().split(':').collect();
    let is_plain = queue.as_str().bytes().all(|byte| byte.is_ascii_graphic());
    matches!(parts.as_slice(), ["arn", _, "sqs", _, _, name] if is_plain && !name.is_empty())
}

/// How an invocation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReportKind {
    /// The function threw an error: all its messages failed.
    Error,
    /// The function returned the ids of the messages that failed.
    Partial,
    /// The function did not end in time.
    Timeout,
    /// The function's process ended.
    Crash,
    /// The function's process was ended because it used too much memory.
    OutOfMemory,
    /// The function did not start. Such a report names no messages.
    Init,
    /// These messages succeeded after an earlier report of the same request id. Discard what it says about them.
    Withdrawn,
}

/// What an error says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedError {
    /// The error's type or code.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The error's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The stack trace, in the language's own form, lines separated by line breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

impl ReportedError {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.error_type.is_none() && self.message.is_none() && self.stack.is_none()
    }
}

/// A message that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportedMessage {
    /// Its id on the main queue.
    pub id: MessageId,
    /// How often it has been received, this time included (`ApproximateReceiveCount`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub receives: Option<u32>,
    /// Its message group, on a FIFO queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The position in `errors` of its own error, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<u16>,
    /// What connects it with the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clue: Option<Clue>,
}

impl ReportedMessage {
    /// Returns a message of which only the id is known.
    pub fn new(id: MessageId) -> Self {
        Self { id, receives: None, group: None, error: None, clue: None }
    }
}

impl Report {
    /// Returns a report without anything optional.
    pub fn new(
        kind: ReportKind,
        function: impl Into<String>,
        request_id: impl Into<String>,
        failed_at: Timestamp,
    ) -> Self {
        Self {
            v: REPORT_VERSION,
            kind,
            request_id: request_id.into(),
            function: function.into(),
            version: None,
            queue: None,
            failed_at,
            instance: None,
            log_group: None,
            cold: None,
            duration_ms: None,
            memory_mb: None,
            memory_used_mb: None,
            reporter: None,
            error: None,
            errors: Vec::new(),
            logs: Vec::new(),
            batch_size: None,
            messages: Vec::new(),
            part: None,
            parts: None,
        }
    }

    /// Parses a report; see [`Report::try_parse`].
    pub fn parse(text: &str) -> Option<Self> {
        Self::try_parse(text).ok()
    }

    /// Parses a report, cuts what is longer than this code would write, and leaves out what cannot be: messages without an
    /// id, a queue that is no ARN of SQS, and a duration that no queue waits for. Ignores unknown fields of later versions.
    pub fn try_parse(text: &str) -> Result<Self, NotReport> {
        if text.len() > REPORT_BYTES_MAX {
            return Err(NotReport::TooLarge(text.len()));
        }
        let mut report: Self = serde_json::from_str(text).map_err(|error| NotReport::of_json(&error))?;
        if report.v == 0 {
            return Err(NotReport::Version);
        }
        if report.request_id.is_empty() {
            return Err(NotReport::NoRequest);
        }
        if !(0..=TIME_MS_MAX).contains(&report.failed_at.as_ms()) {
            return Err(NotReport::Time);
        }
        // No store has a record without a name.
        report.messages.retain(|message| !message.id.as_str().is_empty());
        report.queue.take_if(|queue| !is_arn(queue));
        report.duration_ms = report.duration_ms.filter(|ms| *ms <= DURATION_MS_MAX);
        Ok(report.bounded().without_repeated_texts())
    }

    /// Each message keeps what its report says. A report of many messages keeps no stack traces and log lines, and the head
    /// of each text: otherwise, a message of some kilobytes would become a thousand times as much in the store.
    fn without_repeated_texts(mut self) -> Self {
        if self.messages.len() > TEXTS_FOR_MESSAGES_MAX {
            self.logs.clear();
            self.cut_names(SHORT_NAME_BYTES_MAX);
            for error in self.error.iter_mut().chain(&mut self.errors) {
                error.stack = None;
                if let Some(message) = &mut error.message {
                    crate::text::truncate_on_char(message, HEAD_BYTES_MAX);
                }
            }
        }
        self
    }

    /// Returns the number of messages of the batch.
    pub fn batch_size(&self) -> usize {
        let listed = self.messages.len();
        self.batch_size.and_then(|size| usize::try_from(size).ok()).map_or(listed, |size| size.max(listed))
    }

    /// Returns the name of the function, without the rest of its ARN, its version or its alias; or the service's name.
    pub fn function_name(&self) -> &str {
        let name = self.function.split_once(":function:").map_or(self.function.as_str(), |(_, name)| name);
        name.split(':').next().unwrap_or(name)
    }

    /// Returns a message's own error where it has one, else the invocation's.
    pub fn error_of(&self, message: &ReportedMessage) -> Option<&ReportedError> {
        let own = message.error.and_then(|at| self.errors.get(usize::from(at)));
        own.or(self.error.as_ref()).filter(|error| !error.is_empty())
    }
}
