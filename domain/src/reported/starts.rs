//! Starts that failed: what a consumer reports whose deployment cannot start.
//!
//! Such a report names no message, because no invocation began. It is kept with the main queue, and explains the letters
//! of that queue which nothing else explains: those whose first attempt was made while starts failed.

use super::{ReportedReason, bounded, failure, reported};
use crate::clock::is_recent;
use crate::limits::CLOCK_SKEW_MAX;
use crate::report::Report;
use crate::report::judge::{Judgement, Verdict, Why};
use crate::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};

/// Failed starts that are further apart belong to different troubles. Also how long a deployment counts as unable to
/// start after its last try: as long as messages arrive, Lambda tries again within minutes.
const GAP_MAX: Span = Span::from_mins(60);
/// How long before a start failed a message may have been received for it: a mapping collects a batch for up to five
/// minutes (botocore, MaximumBatchingWindowInSeconds), and a start takes up to ten seconds.
const BEFORE_MAX: Span = Span::from_secs(310);
/// Further reports of the same trouble change nothing within this time: each of many instances sends one.
const RENEWED_EVERY: Span = Span::from_secs(60);
/// How often people are alerted to the same trouble.
const ALERTED_EVERY: Span = Span::from_days(1);

/// Starts of a queue's consumer that failed one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStarts {
    /// The newest report.
    pub report: Report,
    /// When the first start failed.
    pub first_at: Timestamp,
    /// When the latest one failed, up to a minute before the very last.
    pub last_at: Timestamp,
    /// Whether more than one start failed. Lambda tries again at once, so a single failure is no broken deployment.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub repeated: bool,
    /// Whether an invocation of the same function and version has begun since.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub is_over: bool,
    /// When people were last alerted to this trouble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alerted_at: Option<Timestamp>,
}

impl FailedStarts {
    /// Returns what is known after one more report of a failed start. `None` if nothing changes.
    pub(super) fn after(before: Option<&Self>, report: &Report, now: Timestamp) -> Option<Self> {
        // A clock that is ahead must not make starts fail in the future.
        let at = report.failed_at.min(now);
        let fresh = Self {
            report: bounded(report),
            first_at: at,
            last_at: at,
            repeated: false,
            is_over: false,
            alerted_at: None,
        };
        let Some(before) = before else { return Some(fresh) };
        let is_same = before.is_trouble_of(report);
        if at > before.last_at.plus(GAP_MAX) || (!is_same && at > before.last_at) {
            let alerted_at = before.alerted_at.filter(|_| is_same);
            return Some(Self { alerted_at, ..fresh });
        }
        // Delivered twice, or late and about another trouble.
        let is_copy = (&before.report.request_id, before.report.failed_at) == (&report.request_id, report.failed_at);
        if is_copy || !is_same || at.plus(GAP_MAX) < before.first_at {
            return None;
        }
        let is_known = before.repeated && !before.is_over && at >= before.first_at;
        if is_known && at < before.last_at.plus(RENEWED_EVERY) {
            return None;
        }
        Some(Self {
            report: if at >= before.last_at { fresh.report } else { before.report.clone() },
            first_at: before.first_at.min(at),
            last_at: before.last_at.max(at),
            repeated: true,
            is_over: before.is_over && at <= before.last_at,
            alerted_at: before.alerted_at,
        })
    }

    /// Returns what is known after a report of an invocation, which began: whoever fails later than a failed start of the
    /// same function and version has started.
    pub(super) fn after_invocation(&self, report: &Report, failed_at: Timestamp) -> Self {
        let began = failed_at > self.last_at && deployed(&self.report) == deployed(report);
        Self { is_over: self.is_over || began, ..self.clone() }
    }

    /// Whether the deployment cannot start now, as far as its reports show.
    pub fn is_current(&self, now: Timestamp) -> bool {
        self.repeated && !self.is_over && is_recent(self.last_at, GAP_MAX, now)
    }

    /// Returns the record once people are alerted; `None` if they need not be.
    pub(super) fn alerted(&self, now: Timestamp) -> Option<Self> {
        let is_known = self.alerted_at.is_some_and(|alerted| is_recent(alerted, ALERTED_EVERY, now));
        (self.is_current(now) && !is_known).then(|| Self { alerted_at: Some(now), ..self.clone() })
    }

    /// Returns why a message failed of which no report speaks; `None` if its first attempt was at another time. Had an
    /// invocation begun with it, its failure would be reported by its id.
    pub(super) fn reason(&self, first_tried_at: Timestamp) -> Option<ReportedReason> {
        let (from, to) = (self.first_at.minus(BEFORE_MAX), self.last_at.plus(CLOCK_SKEW_MAX));
        (from..=to).contains(&first_tried_at).then(|| {
            let judged = Judgement {
                verdict: Verdict::Strong,
                why: Why::NotStarted,
                report: &self.report,
                error: self.report.error.as_ref(),
            };
            ReportedReason { failure: failure(&judged), reported: reported(&judged) }
        })
    }

    /// Whether a report tells of the same trouble: the same function, version and type of error.
    fn is_trouble_of(&self, report: &Report) -> bool {
        deployed(&self.report) == deployed(report) && error_type(&self.report) == error_type(report)
    }
}

fn deployed(report: &Report) -> (&str, Option<&str>) {
    (report.function_name(), report.version.as_deref())
}

fn error_type(report: &Report) -> Option<&str> {
    report.error.as_ref()?.error_type.as_deref()
}

#[cfg(test)]
#[path = "starts_tests.rs"]
mod tests;
