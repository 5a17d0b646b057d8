//! Which message of a batch an error belongs to.
//!
//! A thrown error fails its whole batch, though one message may have caused it. The table of [`in_one_report`] says
//! what a single report shows, and [`judge`] combines all reports that name the message.

use super::clues::Clue;
use super::{Report, ReportKind, ReportedError, ReportedMessage};
use crate::id::MessageId;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How sure it is that a report's error is this message's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is this message's.
    Certain,
    /// It is this message's, unless two facts agree by accident.
    Strong,
    /// It is that of one of so many messages, this one among them: the share is one in `suspects`.
    Share {
        /// The number of messages that may have caused it; at least 2.
        suspects: u32,
    },
    /// It is another message's: this one failed only because it was in the same batch. A replay without that one is
    /// enough.
    Bystander,
}

/// Why a verdict holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It was the only message of its batch.
    OnlyMessage,
    /// The consumer reported an error of its own for it.
    OwnError,
    /// The error, or a logged line about an error, names its id.
    Named,
    /// The error's message contains a value that only its body contains.
    Value,
    /// It was the only message that the consumer returned as failed.
    OnlyFailed,
    /// It was the first failed message of its message group.
    FirstOfGroup,
    /// It came after a failed message of its message group.
    AfterFailed,
    /// The error is another message's of the batch.
    MateFailed,
    /// It is the only message that was in all batches that failed with this error.
    OnlyCommon,
    /// It is one of several messages of which nothing tells them apart.
    Batch,
    /// No report names it, and starts of its consumer failed when it was first received.
    NotStarted,
}

/// What the reports say about one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement<'a> {
    /// How sure it is.
    pub verdict: Verdict,
    /// Why.
    pub why: Why,
    /// The report that it rests on.
    pub report: &'a Report,
    /// The message's error in that report; the mate's for a bystander. `None` if the report knows only its kind.
    pub error: Option<&'a ReportedError>,
}

/// Judges one message by all reports that name it, in any order. Returns `None` if none does.
///
/// Where several reports are equally sure, the newest counts. So it does among several about one invocation; a withdrawn
/// one is left out.
pub fn judge<'a>(message: &MessageId, reports: &[&'a Report]) -> Option<Judgement<'a>> {
    let naming = newest_of_each(message, reports);
    let judged = naming.iter().map(|(report, named)| {
        let (mut verdict, mut why) = in_one_report(report, named);
        if matches!(verdict, Verdict::Share { .. }) && report.kind != ReportKind::Partial {
            (verdict, why) = narrowed(report, named, &naming);
        }
        Judgement { verdict, why, report, error: error_for(report, named, verdict) }
    });
    judged.min_by_key(|judged| (judged.verdict, core::cmp::Reverse(judged.report.failed_at)))
}

/// Returns the newest report of each invocation that failed this message, without those that were withdrawn.
fn newest_of_each<'a>(message: &MessageId, reports: &[&'a Report]) -> Vec<(&'a Report, &'a ReportedMessage)> {
    let mut newest: BTreeMap<&str, (&Report, &ReportedMessage)> = BTreeMap::new();
    // Of the same millisecond: a timeout is reported before its time, and withdrawn if the function answers after all; an
    // answer that returns the message as failed comes with that withdrawal.
    let place = |kind| match kind {
        ReportKind::Timeout => 0,
        ReportKind::Withdrawn => 1,
        _ => 2,
    };
    let age = |report: &Report| (report.failed_at, place(report.kind));
    for report in reports {
        // The parts of a report list different messages.
        let Some(named) = report.messages.iter().find(|named| named.id == *message) else { continue };
        let known = newest.entry(&report.request_id).or_insert((report, named));
        if age(report) > age(known.0) {
            *known = (report, named);
        }
    }
    newest.into_values().filter(|(report, _)| report.kind != ReportKind::Withdrawn).collect()
}

/// Judges one message by one report. The first row that applies decides.
fn in_one_report(report: &Report, message: &ReportedMessage) -> (Verdict, Why) {
    let mates = || report.messages.iter().filter(|mate| mate.id != message.id);
    let failed = report.messages.len();
    match message {
        _ if report.batch_size() == 1 => (Verdict::Certain, Why::OnlyMessage),
        _ if message.error.is_some() => (Verdict::Certain, Why::OwnError),
        ReportedMessage { clue: Some(Clue::Named), .. } => (Verdict::Certain, Why::Named),
        ReportedMessage { clue: Some(Clue::Value), .. } => (Verdict::Strong, Why::Value),
        ReportedMessage { group: Some(group), .. } if report.kind == ReportKind::Partial => {
            in_order(report, message, group)
        }
        // Each of them failed by the consumer's own statement: a mate's error does not excuse it.
        _ if report.kind == ReportKind::Partial && failed == 1 => (Verdict::Strong, Why::OnlyFailed),
        _ if report.kind == ReportKind::Partial => {
            share(mates().filter(|mate| !is_singled_out(mate)).count() + 1, Why::Batch)
        }
        _ if mates().any(is_singled_out) => (Verdict::Bystander, Why::MateFailed),
        _ => share(report.batch_size(), Why::Batch),
    }
}

/// Judges a message that a consumer of a FIFO queue returned. It stops at the first failure and returns that message
/// and all after it, so only the first of a group can have caused anything. With several groups, a consumer that goes
/// on with other groups cannot be told from one that stops altogether.
fn in_order(report: &Report, message: &ReportedMessage, group: &str) -> (Verdict, Why) {
    let mut firsts: BTreeMap<&str, &MessageId> = BTreeMap::new();
    for failed in &report.messages {
        firsts.entry(failed.group.as_deref().unwrap_or_default()).or_insert(&failed.id);
    }
    if firsts.get(group) != Some(&&message.id) {
        return (Verdict::Bystander, Why::AfterFailed);
    }
    let is_first_of_all = report.messages.first().is_some_and(|first| first.id == message.id);
    match firsts.len() {
        1 => (Verdict::Certain, Why::FirstOfGroup),
        _ if is_first_of_all => (Verdict::Strong, Why::FirstOfGroup),
        groups => share(groups, Why::FirstOfGroup),
    }
}

/// Narrows a share to the messages that were in all batches that failed with this error. A message that has succeeded
/// since is not among them: SQS would not have delivered it again with this one.
fn narrowed(report: &Report, message: &ReportedMessage, naming: &[(&Report, &ReportedMessage)]) -> (Verdict, Why) {
    let alike: Vec<&Report> = naming.iter().map(|(other, _)| *other).filter(|other| is_alike(report, other)).collect();
    // A part of a report does not list the whole batch.
    let complete = alike.iter().filter(|other| other.messages.len() == other.batch_size());
    let mut lists = complete.map(|other| other.messages.iter().map(|mate| &mate.id));
    let Some(first) = lists.next() else { return in_one_report(report, message) };
    let suspects = lists.fold(first.collect::<BTreeSet<_>>(), |common, list| {
        let list: BTreeSet<_> = list.collect();
        common.intersection(&list).copied().collect()
    });
    match suspects.len() {
        0 | 1 => (Verdict::Strong, Why::OnlyCommon),
        several => share(several, Why::Batch),
    }
}

/// Whether two invocations failed with the same error, as far as a batch's error can say: the same kind and type.
fn is_alike(report: &Report, other: &Report) -> bool {
    let error_type = |of: &Report| of.error.as_ref().and_then(|error| error.error_type.clone());
    report.kind == other.kind && error_type(report) == error_type(other)
}

fn is_singled_out(message: &ReportedMessage) -> bool {
    message.clue.is_some() || message.error.is_some()
}

fn share(suspects: usize, why: Why) -> (Verdict, Why) {
    let suspects = u32::try_from(suspects.max(2)).unwrap_or(u32::MAX);
    (Verdict::Share { suspects }, why)
}

fn error_for<'a>(report: &'a Report, message: &'a ReportedMessage, verdict: Verdict) -> Option<&'a ReportedError> {
    match verdict {
        Verdict::Bystander => {
            let culprit = report.messages.iter().find(|mate| is_singled_out(mate));
            culprit.map_or_else(|| report.error.as_ref(), |culprit| report.error_of(culprit))
        }
        _ => report.error_of(message),
    }
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
