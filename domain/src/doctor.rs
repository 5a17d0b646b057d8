//! Checks of queues: settings that lose messages, delay them or hide failures, each with the sentence that mends it.
//!
//! A platform gathers [`QueueFacts`], and [`examine`] judges them. What could not be read is reported as unchecked, so
//! that a missing right never looks like a healthy queue.

mod rows;

pub use rows::{cannot_start, heed_failures, ignored_failures, make_it_start};

use crate::deployment::AttachedConsumer;
use crate::id::QueueArn;
use crate::impact::Severity;
use crate::reported::FailedStarts;
use crate::time::Span;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A fact about a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact<T> {
    /// It was read.
    Known(T),
    /// The queue does not exist.
    Missing,
    /// It could not be read, for this reason, in a sentence.
    Unknown(String),
}

impl<T> Fact<T> {
    /// Returns the value if it was read.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Missing | Self::Unknown(_) => None,
        }
    }
}

/// The settings of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// How long a received message stays invisible.
    pub visibility_timeout: Span,
    /// How long a message is kept.
    pub retention: Span,
    /// The dead-letter queue of its redrive policy, and `maxReceiveCount`; `None` without a redrive policy.
    pub redrive: Option<(QueueArn, u32)>,
}

/// The open letters that the office keeps of a main queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LettersSeen {
    /// Their number.
    pub open: i64,
    /// The number of those that say nothing about why they failed.
    pub without_reason: i64,
}

/// What is known about the dead-letter queue of a main queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DlqFacts {
    /// The queue.
    pub queue: QueueArn,
    /// Its settings.
    pub settings: Fact<QueueSettings>,
    /// The number of CloudWatch alarms on its own metrics.
    pub alarms: Fact<usize>,
    /// Whether the office takes its letters; `None` if no office was asked.
    pub watched: Option<bool>,
}

/// What is known about a main queue, its dead-letter queue and its consumers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFacts {
    /// The main queue.
    pub queue: QueueArn,
    /// Its settings.
    pub settings: Fact<QueueSettings>,
    /// Its dead-letter queue; `None` if it has none, or if the settings could not be read.
    pub dlq: Option<DlqFacts>,
    /// The functions that the platform attached to it. Consumers that run elsewhere are not in the list.
    pub consumers: Fact<Vec<AttachedConsumer>>,
    /// Whether a consumer has returned a list of failed messages lately: it relies on `ReportBatchItemFailures`.
    pub returns_failures: bool,
    /// The starts of its consumer that fail now; `None` if no report tells of any.
    pub failed_starts: Fact<Option<FailedStarts>>,
    /// The letters that the office keeps of it.
    pub letters: Fact<LettersSeen>,
}

/// What is checked. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The main queue exists.
    MainQueue,
    /// The main queue has a dead-letter queue, and it exists.
    DeadLetterQueue,
    /// The dead-letter queue has no dead-letter queue itself.
    DeadLetterChain,
    /// The office takes the letters of the dead-letter queue.
    Watched,
    /// The dead-letter queue keeps messages for 14 days.
    Retention,
    /// The dead-letter queue keeps messages longer than the main queue.
    RetentionOrder,
    /// The dead-letter queue's visibility timeout lets the office take letters.
    IntakeVisibility,
    /// The main queue's visibility timeout is at least six times the timeout of the function that consumes it.
    Visibility,
    /// A message is tried again before it is dead-lettered.
    ReceivesMin,
    /// A message that keeps failing is dead-lettered soon.
    ReceivesMax,
    /// An alarm watches the dead-letter queue.
    Alarm,
    /// A consumer receives messages from the main queue.
    Consumer,
    /// The consumer's deployment can start.
    Start,
    /// The mapping does not delete messages that failed.
    Failures,
    /// The mapping does not delete messages that match no filter.
    Filter,
    /// The letters say why they failed.
    Reasons,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 16] = [
        Self::MainQueue,
        Self::DeadLetterQueue,
        Self::DeadLetterChain,
        Self::Watched,
        Self::Retention,
        Self::RetentionOrder,
        Self::IntakeVisibility,
        Self::Visibility,
        Self::ReceivesMin,
        Self::ReceivesMax,
        Self::Alarm,
        Self::Consumer,
        Self::Start,
        Self::Failures,
        Self::Filter,
        Self::Reasons,
    ];
}

/// Something that is wrong with a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The check that failed.
    pub check: Check,
    /// `critical` if messages are lost or can be, `warning` if they are delayed, `info` if failures are harder to see.
    pub level: Severity,
    /// What is wrong, and what it does to messages.
    pub problem: String,
    /// What mends it.
    pub remedy: String,
}

/// A check that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unchecked {
    /// The check.
    pub check: Check,
    /// Why it could not be made, in a sentence.
    pub reason: String,
}

/// The result of examining a main queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checkup {
    /// The main queue.
    pub queue: QueueArn,
    /// Its dead-letter queue, if it has one.
    pub dlq: Option<QueueArn>,
    /// What is wrong, most severe first.
    pub findings: Vec<Finding>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
}

/// The answer of one row.
enum Judged {
    /// Nothing is wrong, or the check does not apply.
    Fine,
    /// Something is wrong: level, problem, remedy.
    Wrong(Severity, String, String),
    /// It could not be checked, for this reason.
    Unchecked(String),
}

/// Makes every check.
///
/// ```
/// use domain::doctor::{Check, Fact, QueueFacts, QueueSettings, examine};
/// use domain::time::Span;
///
/// let settings =
///     QueueSettings { visibility_timeout: Span::from_secs(30), retention: Span::from_days(4), redrive: None };
/// let checkup = examine(&QueueFacts {
///     queue: "arn:aws:sqs:eu-west-1:111122223333:orders".into(),
///     settings: Fact::Known(settings),
///     dlq: None,
///     consumers: Fact::Known(Vec::new()),
///     returns_failures: false,
///     failed_starts: Fact::Known(None),
///     letters: Fact::Known(Default::default()),
/// });
/// assert_eq!(checkup.findings[0].check, Check::DeadLetterQueue);
/// ```
pub fn examine(facts: &QueueFacts) -> Checkup {
    let mut checkup = Checkup {
        queue: facts.queue.clone(),
        dlq: facts.dlq.as_ref().map(|dlq| dlq.queue.clone()),
        findings: Vec::new(),
        unchecked: Vec::new(),
    };
    for check in Check::ALL {
        match rows::judge(check, facts) {
            Judged::Fine => {}
            Judged::Wrong(level, problem, remedy) => {
                checkup.findings.push(Finding { check, level, problem, remedy });
            }
            Judged::Unchecked(reason) => checkup.unchecked.push(Unchecked { check, reason }),
        }
    }
    // Stable, so that findings of one level keep the order of the checks.
    checkup.findings.sort_by_key(|finding| core::cmp::Reverse(finding.level));
    checkup
}
