//! Reports of consumers: why messages failed that carry no failure themselves.
//!
//! A report comes before its letter, so it is kept under the message's id, and intake looks it up (`intake::reported`).
//! It is evidence: it never changes a letter's identity, its money or its destination. See [`domain::report`].

use crate::commit::{Tries, commit};
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::deployment::Attached;
use domain::id::MessageId;
use domain::limits::RETENTION_MAX;
use domain::report::{Kind, Report};
use domain::reported::{KeptReports, ReportKey};
use std::collections::{BTreeMap, BTreeSet};

/// Records in one commit. Each is as large as its reports.
const RECORDS_MAX: usize = 25;

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
