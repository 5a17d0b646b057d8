//! Reports that wait for their letter: for each message the newest reports that name it, and what they say about why it
//! failed.
//!
//! Consumers report before the message reaches its dead-letter queue, so intake looks here before it groups a letter that
//! carries no failure itself. Reports of starts that failed name no message; see [`FailedStarts`].

mod starts;

pub use starts::FailedStarts;

use crate::clock::is_recent;
use crate::id::{MessageId, QueueArn};
use crate::reading::{Failure, Reported};
use crate::report::judge::{Judgement, Verdict, judge};
use crate::report::{Report, ReportKind};
use crate::text::{head, tail};
use crate::time::{Span, Timestamp};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Reports that are kept of one message. The newest says why it failed; the two before it tell which of its batch did.
const REPORTS_MAX: usize = 3;
/// Messages that are kept of one report. A larger batch keeps those that the report tells apart: nothing narrows a share
/// of so many.
const MATES_MAX: usize = 10;
/// The most bytes of an error's message: more than a fingerprint or a title uses.
const MESSAGE_BYTES_MAX: usize = 4 * 1024;
/// The most bytes of a stack: some hundred frames.
const STACK_BYTES_MAX: usize = 8 * 1024;
/// The most bytes of a logged line.
const LINE_BYTES_MAX: usize = 400;
/// How long reports are kept after the retention of a queue, in which their message may still arrive.
const SLACK: Span = Span::from_days(1);
/// A consumer that reported within this time is known to report.
const REPORTS_WITHIN: Span = Span::from_days(7);
/// How often a queue's own record is renewed: every report of the queue would write it.
const RENEWED_EVERY: Span = Span::from_mins(10);
/// How often people are alerted to a mapping that deletes failed messages.
const ALERTED_EVERY: Span = Span::from_days(1);
/// The type of the failure of a message that died with its batch.
pub const BYSTANDER: &str = "Bystander";

/// What reports are kept under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReportKey {
    /// The main queue.
    pub queue: QueueArn,
    /// The message's id on it; `None` for the newest report of the queue, whichever message it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
}

/// The reports that are kept under a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReports {
    /// The key.
    #[serde(flatten)]
    pub key: ReportKey,
    /// Increases with every write.
    pub version: u64,
    /// The reports, oldest first.
    pub reports: Vec<Report>,
    /// When intake first found no report for the message, and left it in its dead-letter queue for one to arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaited_since: Option<Timestamp>,
    /// Of a queue: when people were last alerted that its failed messages are deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_alerted_at: Option<Timestamp>,
    /// Of a queue: the latest starts of its consumer that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Box<FailedStarts>>,
    /// When this version was made.
    pub written_at: Timestamp,
    /// After this time a store may delete the record.
    pub expires_at: Timestamp,
}

/// Why a message failed, as its reports say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedReason {
    /// The failure.
    pub failure: Failure,
    /// Who says so, and how sure it is.
    pub reported: Reported,
}

impl KeptReports {
    /// Returns an empty record, which no store has yet. `retention` is the longest time that a message can take to
    /// arrive.
    pub fn new(key: ReportKey, retention: Span, now: Timestamp) -> Self {
        let expires_at = now.plus(retention).plus(SLACK);
        Self {
            key,
            version: 0,
            reports: Vec::new(),
            awaited_since: None,
            loss_alerted_at: None,
            starts: None,
            written_at: now,
            expires_at,
        }
    }

    /// Returns the record with one more report, which replaces an earlier copy of itself; `None` if nothing changes.
    #[must_use]
    pub fn with(&self, report: &Report, retention: Span, now: Timestamp) -> Option<Self> {
        let is_fresh = !self.reports.is_empty() && is_recent(self.written_at, RENEWED_EVERY, now);
        // A clock that is ahead must not make a report the newest for as long as that.
        let failed_at = report.failed_at.min(now);
        let starts = self.starts.as_ref().map(|starts| Box::new(starts.after_invocation(report, failed_at)));
        if self.key.message.is_none() && is_fresh && starts == self.starts {
            return None;
        }
        let report = Report { failed_at, ..kept_part(report, self.key.message.as_ref()) };
        if self.reports.contains(&report) && starts == self.starts {
            return None;
        }
        let mut reports = self.reports.clone();
        // The reports of one invocation: a timeout that is reported twice, or parts. The later one knows more.
        let is_same = |other: &Report| (other.kind, &other.request_id) == (report.kind, &report.request_id);
        reports.retain(|other| !is_same(other));
        reports.push(report);
        reports.sort_by_key(|report| report.failed_at);
        let surplus = reports.len().saturating_sub(if self.key.message.is_some() { REPORTS_MAX } else { 1 });
        reports.drain(..surplus);
        let expires_at = self.expires_at.max(now.plus(retention).plus(SLACK));
        Some(Self { version: self.version + 1, reports, starts, written_at: now, expires_at, ..self.clone() })
    }

    /// Returns the record of a queue with one more failed start of its consumer; `None` if nothing changes.
    #[must_use]
    pub fn with_failed_start(&self, report: &Report, retention: Span, now: Timestamp) -> Option<Self> {
        let starts = Some(Box::new(FailedStarts::after(self.starts.as_deref(), report, now)?));
        let expires_at = self.expires_at.max(now.plus(retention).plus(SLACK));
        Some(Self { version: self.version + 1, starts, written_at: now, expires_at, ..self.clone() })
    }

    /// Returns the record of a queue once people are alerted that its consumer cannot start; `None` if it can, or if they
    /// were alerted within a day.
    pub fn start_alerted(&self, now: Timestamp) -> Option<Self> {
        let starts = Some(Box::new(self.starts.as_ref()?.alerted(now)?));
        Some(Self { version: self.version + 1, starts, written_at: now, ..self.clone() })
    }

    /// Returns why a message of this queue failed that was first received at this time, if starts of its consumer failed
    /// then. For messages that no report names.
    pub fn failed_start(&self, first_tried_at: Option<Timestamp>) -> Option<ReportedReason> {
        self.starts.as_ref()?.reason(first_tried_at?)
    }

    /// Returns the record of a message for which no report has arrived yet.
    #[must_use]
    pub fn awaited(&self, now: Timestamp) -> Self {
        Self { version: self.version + 1, awaited_since: Some(now), written_at: now, ..self.clone() }
    }

    /// Returns the record of a queue once people are alerted that its failed messages are deleted; `None` if they were
    /// alerted within a day.
    pub fn loss_alerted(&self, now: Timestamp) -> Option<Self> {
        let is_recent = self.loss_alerted_at.is_some_and(|alerted| is_recent(alerted, ALERTED_EVERY, now));
        let after = Self { version: self.version + 1, loss_alerted_at: Some(now), written_at: now, ..self.clone() };
        (!is_recent).then_some(after)
    }

    /// Whether the queue's consumer is known to report: the record is that of the queue, and its report is recent.
    pub fn is_recent(&self, now: Timestamp) -> bool {
        (!self.reports.is_empty() || self.starts.is_some()) && is_recent(self.written_at, REPORTS_WITHIN, now)
    }

    /// Returns why the message failed; `None` if no report that counts names it.
    pub fn reason(&self) -> Option<ReportedReason> {
        let reports: Vec<&Report> = self.reports.iter().collect();
        let judged = judge(self.key.message.as_ref()?, &reports)?;
        Some(ReportedReason {
            failure: failure(&judged),
            reported: Reported { instances: self.instances(&judged), ..reported(&judged) },
        })
    }
}

impl KeptReports {
    /// Returns on how many instances the message failed with the error that it is judged by; `None` if on one, or if the
    /// error may be another message's.
    fn instances(&self, judged: &Judgement<'_>) -> Option<u32> {
        matches!(judged.verdict, Verdict::Certain | Verdict::Strong).then_some(())?;
        let error_type = |report: &Report| {
            let message = report.messages.iter().find(|named| Some(&named.id) == self.key.message.as_ref())?;
            Some((report.kind, report.error_of(message).and_then(|error| error.error_type.clone())))
        };
        let own = error_type(judged.report)?;
        let alike = self.reports.iter().filter(|report| error_type(report).as_ref() == Some(&own));
        let instances: BTreeSet<&str> = alike.filter_map(|report| report.instance.as_deref()).collect();
        u32::try_from(instances.len()).ok().filter(|instances| *instances > 1)
    }
}

/// Returns a report with texts that are short enough to be kept.
fn bounded(report: &Report) -> Report {
    let mut kept = report.clone();
    kept.batch_size = Some(u32::try_from(report.batch_size()).unwrap_or(u32::MAX));
    for error in kept.error.iter_mut().chain(&mut kept.errors) {
        cut(&mut error.message, MESSAGE_BYTES_MAX);
        if let Some(stack) = error.stack.take() {
            error.stack = Some(cut_middle(stack, STACK_BYTES_MAX));
        }
    }
    for line in &mut kept.logs {
        crate::text::truncate_on_char(line, LINE_BYTES_MAX);
    }
    kept
}

/// Returns what is kept of a report for one message: bounded texts, and no more mates than can narrow a share.
fn kept_part(report: &Report, message: Option<&MessageId>) -> Report {
    let mut kept = bounded(report);
    let Some(message) = message else {
        kept.messages.clear();
        kept.errors.clear();
        kept.logs.clear();
        return kept;
    };
    if kept.messages.len() > MATES_MAX {
        let own = kept.messages.iter().position(|named| named.id == *message);
        let singled_out = |at: usize| kept.messages[at].clue.is_some() || kept.messages[at].error.is_some();
        let mut places: Vec<usize> =
            (0..kept.messages.len()).filter(|at| Some(*at) != own && singled_out(*at)).collect();
        places.truncate(MATES_MAX - 1);
        places.extend(own);
        places.sort_unstable();
        kept.messages = places.into_iter().map(|at| kept.messages[at].clone()).collect();
    }
    // Only the errors that a kept message has. The positions change with them.
    let mut places = Vec::new();
    for named in &mut kept.messages {
        named.error = named.error.filter(|at| usize::from(*at) < kept.errors.len()).and_then(|at| {
            let known = places.iter().position(|place| *place == at);
            let position = known.unwrap_or(places.len());
            if known.is_none() {
                places.push(at);
            }
            u16::try_from(position).ok()
        });
    }
    kept.errors = places.into_iter().filter_map(|at| kept.errors.get(usize::from(at)).cloned()).collect();
    kept
}

fn cut(text: &mut Option<String>, bytes: usize) {
    if let Some(text) = text {
        crate::text::truncate_on_char(text, bytes);
    }
}

fn cut_middle(text: String, bytes: usize) -> String {
    let half = bytes / 2;
    if text.len() <= bytes { text } else { format!("{}\n…\n{}", head(&text, half), tail(&text, half)) }
}

/// Returns the failure that a judgement blames on the message.
fn failure(judged: &Judgement<'_>) -> Failure {
    let (own_type, own_message) = of_kind(judged.report.kind);
    let named = judged.error.cloned().unwrap_or_default();
    let failure = Failure {
        error_type: named.error_type.or_else(|| own_type.map(String::from)),
        message: named.message.or_else(|| own_message.map(String::from)),
        stack: named.stack,
        stated_class: None,
    };
    if judged.verdict != Verdict::Bystander {
        return failure;
    }
    let (error_type, message) = (failure.error_type.as_deref(), failure.message.as_deref());
    let culprit = [error_type, message].into_iter().flatten().collect::<Vec<_>>().join(": ");
    let culprit = head(culprit.lines().next().unwrap_or_default(), LINE_BYTES_MAX);
    Failure {
        error_type: Some(BYSTANDER.to_string()),
        message: Some(format!("another message of the batch failed: {culprit}")),
        ..Failure::default()
    }
}

/// The failure of an invocation that did not get to say anything, in Lambda's own words.
pub(crate) fn of_kind(kind: ReportKind) -> (Option<&'static str>, Option<&'static str>) {
    match kind {
        ReportKind::Timeout => (Some("Sandbox.Timedout"), Some("Task timed out")),
        ReportKind::Crash => (Some("Runtime.ExitError"), Some("Runtime exited before it answered")),
        ReportKind::OutOfMemory => (Some("Runtime.OutOfMemory"), Some("Runtime ran out of memory")),
        ReportKind::Init => (None, Some("The function did not start")),
        ReportKind::Error | ReportKind::Partial | ReportKind::Withdrawn => (None, None),
    }
}

fn reported(judged: &Judgement<'_>) -> Reported {
    let report = judged.report;
    Reported {
        by: report.function.clone(),
        reporter: report.reporter.clone(),
        version: report.version.clone(),
        request_id: report.request_id.clone(),
        kind: report.kind,
        verdict: judged.verdict,
        why: judged.why,
        instances: None,
        failed_at: report.failed_at,
        instance: report.instance.clone(),
        log_group: report.log_group.clone(),
        cold: report.cold,
        duration_ms: report.duration_ms,
        memory_mb: report.memory_mb,
        memory_used_mb: report.memory_used_mb,
        logs: report.logs.clone(),
    }
}

#[cfg(test)]
#[path = "reported_tests.rs"]
mod tests;
