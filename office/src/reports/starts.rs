//! Reports of starts that failed: a deployment that cannot start. No message is named, so the report is kept with the main
//! queues of the function, where intake and the doctor find it, and people are alerted.

use super::{Taken, refusal};
use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::{Expect, Write};
use crate::summary;
use domain::alert::{Alert, AlertKind};
use domain::clock::is_recent;
use domain::doctor::{cannot_start, make_it_start};
use domain::id::QueueArn;
use domain::impact::Severity;
use domain::limits::RETENTION_MAX;
use domain::report::Report;
use domain::reported::{KeptReports, ReportKey};
use domain::time::Span;
use futures_util::future::try_join_all;
use std::collections::BTreeSet;

/// Main queues that one report is looked up for, of those that the office knows by name.
const QUEUES_MAX: usize = 500;
/// Queues that are read at once.
const QUEUES_AT_ONCE: usize = 20;

/// How long a start waits until the office knows which queue the function consumes: sweep looks each minute. Less than
/// the receipts queue takes to give a message up (ten times three minutes in the template), because a layer on a function
/// that consumes nothing of this office is no fault that people must look at.
const UNPLACED_MAX: Span = Span::from_mins(15);

/// Takes a report of a start that failed.
pub(super) async fn take(office: &Office, report: &Report, sender: Option<&str>) -> Result<Taken, OfficeError> {
    let queues = match &report.queue {
        Some(queue) => match refusal(office, office.store.attached(queue).await?.as_ref(), sender) {
            Some(why) => return Ok(Taken::Refused(why)),
            None => vec![queue.clone()],
        },
        None => consumed_by(office, report, sender).await?,
    };
    if queues.is_empty() {
        let why = "it names no queue, and its sender is not known as the consumer of one";
        let is_early = is_recent(report.failed_at, UNPLACED_MAX, office.now());
        return Ok(if is_early { Taken::Refused(why) } else { Taken::Dropped(why) });
    }
    for queue in queues {
        let key = ReportKey { queue, message: None };
        keep(office, report, &key).await?;
        alert(office, &key).await?;
    }
    Ok(Taken::Kept)
}

/// Returns the main queues that the platform says the function consumes, if the function itself sent the report.
async fn consumed_by(office: &Office, report: &Report, sender: Option<&str>) -> Result<Vec<QueueArn>, OfficeError> {
    let policy = &office.policy.queues;
    let named: BTreeSet<&QueueArn> = policy.main.iter().chain(&policy.default_main).collect();
    let named: Vec<&QueueArn> = named.into_iter().take(QUEUES_MAX).collect();
    let (now, function) = (office.now(), report.function_name());
    let mut queues = Vec::new();
    for some in named.chunks(QUEUES_AT_ONCE) {
        for attached in try_join_all(some.iter().map(|queue| office.store.attached(queue))).await?.into_iter().flatten()
        {
            let is_sender = attached.is_consumer(sender.unwrap_or_default(), now) == Some(true);
            if is_sender && attached.consumer(function, now).is_some() {
                queues.push(attached.queue);
            }
        }
    }
    Ok(queues)
}

/// Adds a report to what is kept of a queue.
async fn keep(office: &Office, report: &Report, key: &ReportKey) -> Result<(), OfficeError> {
    let mut tries = Tries::new("the failed starts of a consumer");
    loop {
        tries.begin()?;
        let now = office.now();
        let (before, expect) = match office.store.reports(std::slice::from_ref(key)).await?.pop() {
            Some(kept) => (kept.clone(), Expect::Version(kept.version)),
            None => (KeptReports::new(key.clone(), RETENTION_MAX, now), Expect::Absent),
        };
        let Some(after) = before.with_failed_start(report, RETENTION_MAX, now) else { return Ok(()) };
        if commit(office, vec![Write::Reports { kept: Box::new(after), expect }]).await?.is_made() {
            return Ok(());
        }
    }
}

/// Alerts people that a consumer cannot start, once a day for each trouble.
async fn alert(office: &Office, key: &ReportKey) -> Result<(), OfficeError> {
    let Some(before) = office.store.reports(std::slice::from_ref(key)).await?.pop() else { return Ok(()) };
    let now = office.now();
    let Some((after, starts)) = before.start_alerted(now).zip(before.starts.as_ref()) else { return Ok(()) };
    let alert = Alert {
        kind: AlertKind::CannotStart,
        level: Severity::Critical,
        at: now,
        group: None,
        replay: None,
        title: cannot_start(starts),
        summary: summary::about_start(&starts.report),
        advice: make_it_start(starts, &key.queue),
    };
    // First the alert: one that is sent twice does less harm than one that is lost.
    if let Err(error) = office.alerts.raise(&alert).await {
        tracing::error!(queue = %key.queue, error = chain(&error), "an alert was not sent; the next report tries again");
        return Ok(());
    }
    // On a conflict another report was faster, and has alerted people as well.
    let _ =
        commit(office, vec![Write::Reports { kept: Box::new(after), expect: Expect::Version(before.version) }]).await?;
    Ok(())
}
