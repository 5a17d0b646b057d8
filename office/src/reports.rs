//! Reports of consumers: why messages failed that carry no failure themselves.
//!
//! A report comes before its letter, so it is kept under the message's id, and intake looks it up (`intake::reported`).
//! It is evidence: it never changes a letter's identity, its money or its destination. See [`domain::report`].

mod starts;

use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::alert::{Alert, AlertKind};
use domain::deployment::Attached;
use domain::doctor::{heed_failures, ignored_failures};
use domain::id::{MessageId, QueueArn};
use domain::impact::Severity;
use domain::limits::RETENTION_MAX;
use domain::report::{Report, ReportKind};
use domain::reported::{KeptReports, ReportKey};
use std::collections::{BTreeMap, BTreeSet};

/// Records in one commit. Each is as large as its reports.
const RECORDS_MAX: usize = 25;

/// What became of a report.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// It is kept until its letters arrive.
    Kept,
    /// It does not count, for this reason. Its message stays.
    Refused(&'static str),
    /// It is not about anything that this office knows, for this reason, and never will be. Its message is done with.
    Dropped(&'static str),
}

/// Takes a report. `sender` is SQS's `SenderId` of the message that it came in.
pub(crate) async fn take(office: &Office, report: &Report, sender: Option<&str>) -> Result<Taken, OfficeError> {
    if report.kind == ReportKind::Init {
        return starts::take(office, report, sender).await;
    }
    let Some(queue) = &report.queue else { return Ok(Taken::Refused("it names no queue")) };
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
    if report.kind == ReportKind::Partial
        && let Some(consumer) =
            attached.as_ref().and_then(|attached| attached.ignoring(report.function_name(), office.now()))
    {
        alert_to_loss(office, queue, &consumer.service).await?;
    }
    Ok(Taken::Kept)
}

/// Alerts people that failed messages are deleted, once a day for each queue. No letter ever shows it: these messages
/// never reach the dead-letter queue.
async fn alert_to_loss(office: &Office, queue: &QueueArn, service: &str) -> Result<(), OfficeError> {
    let stored = office.store.reports(&[ReportKey { queue: queue.clone(), message: None }]).await?;
    let now = office.now();
    let Some((before, after)) = stored.into_iter().find_map(|kept| Some((kept.version, kept.loss_alerted(now)?)))
    else {
        return Ok(());
    };
    let alert = Alert {
        kind: AlertKind::MessagesLost,
        level: Severity::Critical,
        at: now,
        group: None,
        replay: None,
        title: ignored_failures(service),
        summary: ignored_failures(service),
        advice: heed_failures(service),
    };
    // First the alert: one that is sent twice does less harm than one that is lost.
    if let Err(error) = office.alerts.raise(&alert).await {
        tracing::error!(%queue, error = chain(&error), "an alert was not sent; the next report tries again");
        return Ok(());
    }
    // On a conflict another report was faster, and has alerted people as well.
    let _ = commit(office, vec![Write::Reports { kept: Box::new(after), expect: Expect::Version(before) }]).await?;
    Ok(())
}

/// Returns why a sender is not believed. Where the platform says which functions consume the queue, the report must come
/// from one of them. Elsewhere whoever may send to the receipts queue is believed: the queue's own policy decides.
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
                None => (KeptReports::new(key.clone(), RETENTION_MAX, now), Expect::Absent),
            };
            Some(Write::Reports { kept: Box::new(before.with(report, RETENTION_MAX, now)?), expect })
        });
        let writes: Vec<_> = writes.collect();
        if writes.is_empty() || commit(office, writes).await?.is_made() {
            return Ok(());
        }
    }
}
