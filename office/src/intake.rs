//! Intake: dead messages become letters. Each is stored durably and counted once, or reported as failed.
//!
//! The content of a message never makes intake fail, even if the reader panics. A message fails only if the store could
//! not store it; it then stays in the dead-letter queue and comes again.

mod dated;
mod discarded;
mod first;
mod keep;
mod pack;
mod reported;
mod returned;
mod stamped;

use crate::error::{OfficeError, chain};
use crate::guard;
use crate::names::json_name;
use crate::office::Office;
use crate::replay;
use domain::id::{MessageId, ReplayId};
use domain::limits::PAGE_MAX;
use domain::message::DeadMessage;
use domain::metric::{AGE_AT_DEATH, ARRIVALS, Datum, NEW_GROUPS, NOT_KEPT, REGRESSIONS, RETURNED};
use domain::read::read;
use domain::reading::Reading;
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The result of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntakeSummary {
    /// New letters, and discarded letters that died again.
    pub kept: usize,
    /// Replayed letters that returned.
    pub returned: usize,
    /// Messages that were already stored, or twice in the batch.
    pub duplicates: usize,
    /// Messages that are not stored and must stay in the dead-letter queue.
    pub failed: Vec<MessageId>,
    /// Messages that stay in the dead-letter queue once, because a report on why they failed may still arrive.
    pub awaited: Vec<MessageId>,
    /// New groups.
    pub new_groups: usize,
    /// Resolved groups that regressed.
    pub regressions: usize,
    /// Replays with returned letters.
    pub(crate) replays: BTreeSet<ReplayId>,
}

/// The remark on a letter that names a replay that did not send it.
const NOT_SENT: &str = "It carries the marker of a replay of this office, but it is not counted as a returned letter: the replay sent another message ID or other content, or the result was already recorded. It was kept as a separate letter.";

/// A message and its reading.
pub(crate) struct ReadMessage {
    pub message: DeadMessage,
    pub reading: Reading,
}

/// Stores a batch of dead messages as letters.
///
/// ```
/// # use domain::message::DeadMessage;
/// # use office::office::Office;
/// # async fn example(office: &Office, messages: Vec<DeadMessage>) {
/// let report = office::intake::keep(office, messages).await;
/// // The caller now deletes every message from its queue, except those in `report.failed` and `report.awaited`.
/// println!("{} new letters, {} duplicates, {} failed", report.kept, report.duplicates, report.failed.len());
/// # }
/// ```
pub async fn keep(office: &Office, messages: Vec<DeadMessage>) -> IntakeSummary {
    keep_until(office, messages, None).await
}

/// Stores a batch of dead messages as letters, and begins no commit after `deadline`: messages that are left then fail.
/// `None` sets no deadline.
pub async fn keep_until(office: &Office, messages: Vec<DeadMessage>, deadline: Option<Timestamp>) -> IntakeSummary {
    let mut report = IntakeSummary::default();
    let mut seen = BTreeSet::new();
    let mut sources = Vec::with_capacity(messages.len());
    for message in messages {
        // SQS may deliver a message twice in a batch.
        if seen.insert((message.dlq.clone(), message.message_id.clone())) {
            let mut reading = guard::reading(&message, &office.policy, read);
            office.withhold_own_queue(&mut reading);
            sources.push(ReadMessage { message, reading });
        } else {
            report.duplicates += 1;
        }
    }
    let said = stamped::read(office, &sources);
    let awaited = reported::look_up(office, &mut sources).await;
    if !awaited.is_empty() {
        sources.retain(|ReadMessage { message, .. }| {
            let stays = awaited.contains(&(message.dlq.clone(), message.message_id.clone()));
            if stays {
                report.awaited.push(message.message_id.clone());
            }
            !stays
        });
    }
    if let Err(error) = dated::date_all(office, &mut sources, office.now()).await {
        sources.iter().for_each(|source| fail(&mut report, &source.message, &error));
        sources.clear();
    }
    let mut measures = Measures::default();
    let is_late = || deadline.is_some_and(|deadline| office.now() > deadline);
    let fresh = keep_returned(office, sources, &mut report, &mut measures, is_late).await;
    for chunk in pack::in_chunks(fresh, office.now()) {
        if is_late() {
            chunk.iter().for_each(|source| fail(&mut report, &source.message, &OfficeError::OutOfTime));
            continue;
        }
        keep::keep(office, chunk, &mut report, &mut measures).await;
    }
    for replay in &report.replays {
        office.nudge(replay).await;
    }
    stamped::keep(office, said).await;
    office.measure(&measures.data(office, &report)).await;
    report
}

/// Stores the messages that are returned letters of ours. Returns the others.
async fn keep_returned(
    office: &Office,
    mut sources: Vec<ReadMessage>,
    report: &mut IntakeSummary,
    measures: &mut Measures,
    is_late: impl Fn() -> bool,
) -> Vec<ReadMessage> {
    let mut fresh = Vec::with_capacity(sources.len());
    while !sources.is_empty() {
        let later = sources.split_off(sources.len().min(PAGE_MAX));
        let page = std::mem::replace(&mut sources, later);
        if is_late() {
            page.iter().for_each(|source| fail(report, &source.message, &OfficeError::OutOfTime));
            continue;
        }
        let sendings = match returned::sendings(office, &page).await {
            Ok(sendings) => sendings,
            Err(error) => {
                page.iter().for_each(|source| fail(report, &source.message, &error));
                continue;
            }
        };
        for (mut source, sending) in page.into_iter().zip(sendings) {
            let Some(sending) = sending else {
                fresh.push(source);
                continue;
            };
            if is_late() {
                fail(report, &source.message, &OfficeError::OutOfTime);
                continue;
            }
            match returned::keep(office, &source, &sending, report).await {
                Ok(returned::Kept::Yes) => measures.count(&source.reading),
                Ok(returned::Kept::Duplicate) => report.duplicates += 1,
                Ok(returned::Kept::NotOurs { against }) => {
                    // Before the letter is stored: if this fails, the message comes again.
                    if let Some((replay, letter)) = against
                        && let Err(error) = replay::pause_unproven(office, &replay, letter).await
                    {
                        fail(report, &source.message, &error);
                        continue;
                    }
                    source.reading.diagnosis.remarks.push(NOT_SENT.into());
                    fresh.push(source);
                }
                Err(error) => fail(report, &source.message, &error),
            }
        }
    }
    fresh
}

/// Reports a message as failed. Its body is not logged.
pub(crate) fn fail(report: &mut IntakeSummary, message: &DeadMessage, error: &OfficeError) {
    tracing::error!(
        message_id = %message.message_id, dlq = %message.dlq, error = %chain(error),
        "a dead message could not be stored; it stays in its queue"
    );
    report.failed.push(message.message_id.clone());
}

/// The metrics of a batch, gathered so that one call sends them.
#[derive(Default)]
pub(crate) struct Measures {
    arrivals: BTreeMap<(String, String), u32>,
    ages_s: BTreeMap<i64, u32>,
}

impl Measures {
    pub(crate) fn count(&mut self, reading: &Reading) {
        let class = json_name(&reading.diagnosis.classification.class);
        let category = json_name(&reading.diagnosis.classification.category);
        *self.arrivals.entry((class, category)).or_default() += 1;
        if let Some(age_s) = age_at_death_s(reading) {
            *self.ages_s.entry(age_s).or_default() += 1;
        }
    }

    fn data(&self, office: &Office, report: &IntakeSummary) -> Vec<Datum> {
        let now = office.now();
        let mut data: Vec<_> = self
            .arrivals
            .iter()
            .map(|((class, category), n)| Datum::one(&ARRIVALS, &[class, category], now, f64::from(*n)))
            .collect();
        if !self.ages_s.is_empty() {
            let values = self.ages_s.iter().map(|(age_s, n)| (*age_s as f64, *n)).collect();
            data.push(Datum { values, ..Datum::one(&AGE_AT_DEATH, &[], now, 0.0) });
        }
        let counts = [
            (&NEW_GROUPS, report.new_groups),
            (&NOT_KEPT, report.failed.len()),
            (&REGRESSIONS, report.regressions),
            (&RETURNED, report.returned),
        ];
        data.extend(counts.iter().filter(|(_, n)| *n > 0).map(|(metric, n)| Datum::one(metric, &[], now, *n as f64)));
        data
    }
}

/// Returns the time from a letter's first send to its last failure, seconds. `None` if one of them is not known. If both are
/// the same time, it is that of the send to the dead-letter queue, which stands in for both ([`domain::read::date`]).
fn age_at_death_s(reading: &Reading) -> Option<i64> {
    let (sent_at, failed_at) = (reading.sent_at?, reading.failed_at?);
    (failed_at != sent_at).then(|| failed_at.since(sent_at).as_secs_up())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::{Content, SystemAttributes};
    use domain::policy::Policy;

    #[test]
    fn an_age_at_death_needs_two_times_that_are_known() {
        let at = |s: i64| Timestamp::from_ms(1_800_000_000_000 + 1_000 * s);
        let message = DeadMessage {
            dlq: "arn:aws:sqs:eu-west-1:111122223333:orders-dlq".into(),
            message_id: "m-1".into(),
            content: Content { body: "{}".into(), ..Content::default() },
            system: SystemAttributes { sent_at: Some(at(0)), ..SystemAttributes::default() },
        };
        for (failed_at, age_s) in [(None, None), (Some(at(0)), None), (Some(at(90)), Some(90))] {
            let reading = Reading { failed_at, ..read(&message, &Policy::default()) };
            assert_eq!(age_at_death_s(&reading), age_s, "{failed_at:?}");
        }
    }
}
