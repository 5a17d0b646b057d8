//! Reports of consumers: why messages failed that carry no failure themselves.
//!
//! A report comes before its letter, so it is kept under the message's id and looked up by intake. It is evidence: it
//! never changes a letter's identity, its money or its destination. See [`domain::report`].

use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::intake::ReadMessage;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::deployment::Attached;
use domain::id::{MessageId, QueueArn};
use domain::limits::PAGE_MAX;
use domain::read::read_with;
use domain::report::{Kind, Report};
use domain::reported::{KeptReports, ReportKey};
use domain::time::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Records in one commit. Each is as large as its reports.
const RECORDS_MAX: usize = 25;
/// The retention of a main queue if it is unknown: SQS's longest.
const RETENTION: Span = Span::from_days(14);

/// What became of a report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is kept until its letters arrive.
    Kept,
    /// It does not count, for this reason.
    Refused(&'static str),
}

/// Takes a report. `sender` is SQS's `SenderId` of the message that it came in.
pub(crate) async fn take(office: &Office, report: &Report, sender: Option<&str>) -> Result<Taken, OfficeError> {
    let Some(queue) = &report.queue else {
        return Ok(match report.kind {
            Kind::Init => Taken::Refused("it is about a start that failed, and names no queue"),
            _ => Taken::Refused("it names no queue"),
        });
    };
    let attached = office.store.attached(queue).await?;
    if let Some(why) = refusal(office, attached.as_ref(), sender) {
        return Ok(Taken::Refused(why));
    }
    let mut keys = vec![ReportKey { queue: queue.clone(), message: None }];
    let named: BTreeSet<&MessageId> = report.messages.iter().map(|named| &named.id).collect();
    keys.extend(named.into_iter().map(|id| ReportKey { queue: queue.clone(), message: Some(id.clone()) }));
    for chunk in keys.chunks(RECORDS_MAX) {
        keep(office, report, chunk).await?;
    }
    Ok(Taken::Kept)
}

/// Returns why a sender is not believed. Where the platform says which functions consume the queue, the report must come
/// from one of them. Elsewhere whoever may send to the reports queue is believed: the queue's own policy decides.
fn refusal(office: &Office, attached: Option<&Attached>, sender: Option<&str>) -> Option<&'static str> {
    let is_consumer = attached?.is_consumer(sender.unwrap_or_default(), office.now())?;
    (!is_consumer).then_some("its sender is not a function that consumes this queue")
}

/// Adds a report to what is kept under these keys.
async fn keep(office: &Office, report: &Report, keys: &[ReportKey]) -> Result<(), OfficeError> {
    let mut tries = Tries::new("the reports of a message");
    loop {
        tries.begin()?;
        let now = office.now();
        let stored = office.store.reports(keys).await?;
        let mut stored: BTreeMap<_, _> = stored.into_iter().map(|kept| (kept.key.clone(), kept)).collect();
        let writes = keys.iter().filter_map(|key| {
            let (before, expect) = match stored.remove(key) {
                Some(kept) => (kept.clone(), Expect::Version(kept.version)),
                None => (KeptReports::new(key.clone(), RETENTION, now), Expect::Absent),
            };
            Some(Write::Reports { kept: Box::new(before.with(report, RETENTION, now)?), expect })
        });
        let writes: Vec<_> = writes.collect();
        if writes.is_empty() || commit(office, writes).await?.is_made() {
            return Ok(());
        }
    }
}

/// Reads again, with what consumers have reported, those messages that carry no failure themselves. Returns the messages
/// that are better left in their dead-letter queue once, because their consumer reports, and the report is not here yet.
pub(crate) async fn look_up(office: &Office, sources: &mut [ReadMessage]) -> BTreeSet<(QueueArn, MessageId)> {
    let mut awaited = BTreeSet::new();
    let mut mute: Vec<&mut ReadMessage> = sources.iter_mut().filter(|source| key_of(source).is_some()).collect();
    for page in mute.chunks_mut(PAGE_MAX / 2) {
        match look_up_page(office, page).await {
            Ok(waiting) => awaited.extend(waiting),
            // A letter without a reason is better than none.
            Err(error) => {
                tracing::warn!(error = chain(&error), "reports could not be read; letters are kept without them");
            }
        }
    }
    awaited
}

/// Returns what a message's reports would be kept under, if the message carries no failure itself.
fn key_of(source: &ReadMessage) -> Option<ReportKey> {
    let reading = &source.reading;
    let queue = reading.main_queue.clone().filter(|_| reading.diagnosis.failure.is_empty())?;
    Some(ReportKey { queue, message: Some(reading.original_message_id.clone()) })
}

async fn look_up_page(
    office: &Office,
    page: &mut [&mut ReadMessage],
) -> Result<Vec<(QueueArn, MessageId)>, OfficeError> {
    let own: Vec<Option<ReportKey>> = page.iter().map(|source| key_of(source)).collect();
    let queues: BTreeSet<ReportKey> =
        own.iter().flatten().map(|key| ReportKey { queue: key.queue.clone(), message: None }).collect();
    let keys: BTreeSet<ReportKey> = own.iter().flatten().cloned().chain(queues).collect();
    let keys: Vec<_> = keys.into_iter().collect();
    let mut known = BTreeMap::new();
    for part in keys.chunks(PAGE_MAX) {
        known.extend(office.store.reports(part).await?.into_iter().map(|kept| (kept.key.clone(), kept)));
    }
    let mut awaited = Vec::new();
    for (source, key) in page.iter_mut().zip(own) {
        let Some(key) = key else { continue };
        let kept = known.get(&key);
        if let Some(reason) = kept.and_then(KeptReports::reason) {
            let read = |message: &_, policy: &_| read_with(message, policy, Some(&reason));
            source.reading = crate::guard::reading(&source.message, &office.policy, read);
            office.withhold_own_queue(&mut source.reading);
        } else if kept.is_none() && expects_report(office, &known, &key.queue) && source.reading.marker.is_none() {
            // A message that a replay sent is never left: while it lies there its replay does not know that it is back.
            wait(office, key).await?;
            awaited.push((source.message.dlq.clone(), source.message.message_id.clone()));
        }
    }
    Ok(awaited)
}

fn expects_report(office: &Office, known: &BTreeMap<ReportKey, KeptReports>, queue: &QueueArn) -> bool {
    let of_queue = known.get(&ReportKey { queue: queue.clone(), message: None });
    of_queue.is_some_and(|kept| kept.is_recent(office.now()))
}

/// Records that intake waits for a report of this message, so that it waits only once. On a conflict something is there
/// already, such as a report that arrived this moment: it is found when the message comes again.
async fn wait(office: &Office, key: ReportKey) -> Result<(), OfficeError> {
    let now = office.now();
    let kept = Box::new(KeptReports::new(key, RETENTION, now).awaited(now));
    let _ = commit(office, vec![Write::Reports { kept, expect: Expect::Absent }]).await?;
    Ok(())
}
