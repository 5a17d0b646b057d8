//! Examines the main queues of an office. Facts come from the queues and the store; [`domain::doctor`] judges them.

use crate::error::{OfficeError, chain};
use crate::office::Office;
use crate::port::{Queue, QueueError};
use domain::deployment::{Attached, AttachedConsumer};
use domain::doctor::{Checkup, DlqFacts, Fact, LettersSeen, QueueFacts, QueueSettings, examine};
use domain::id::QueueArn;
use domain::limits::PAGE_MAX;
use domain::report::ReportKind;
use domain::reported::{FailedStarts, KeptReports, ReportKey};
use std::collections::{BTreeMap, BTreeSet};

/// The most main queues of one examination. Each takes about eight calls, so that these take seconds.
pub const QUEUES_MAX: usize = 50;

/// Examines every main queue that the policy or the deployment names, and those that a letter ever named, up to
/// [`QUEUES_MAX`]: first named ones, then those with open letters. `watching` are the dead-letter queues whose letters the
/// office takes. A queue that does not answer is reported as unchecked.
pub async fn run(office: &Office, watching: &[QueueArn]) -> Result<Vec<Checkup>, OfficeError> {
    let named = office.policy.queues.main.iter().chain(&office.policy.queues.default_main);
    let Seen { letters, dlqs } = seen(office).await?;
    let mut mains: Vec<&QueueArn> = named.collect::<BTreeSet<_>>().into_iter().collect();
    // Further ones belong to attached queues. One whose letters are closed can still lose the next.
    let mut attached: Vec<_> = letters.iter().filter(|(queue, _)| !mains.contains(queue)).collect();
    attached.sort_by_key(|(_, seen)| seen.open == 0);
    mains.extend(attached.into_iter().map(|(queue, _)| queue));
    let mut checkups = Vec::with_capacity(mains.len());
    for queue in mains.into_iter().take(QUEUES_MAX) {
        let (settings, dlq) = look(&*office.queue, queue).await;
        // A queue that is attached by a stack of its own is known by its letters.
        let is_watched = |dlq: &QueueArn| watching.contains(dlq) || dlqs.contains(dlq);
        let watches = |dlq: DlqFacts| DlqFacts { watched: Some(is_watched(&dlq.queue)), ..dlq };
        let newest = office.store.reports(&[ReportKey { queue: queue.clone(), message: None }]).await?;
        let attached = office.store.attached(queue).await?;
        let failed_starts = failed_starts(office, &newest, attached.as_ref()).await?;
        checkups.push(examine(&QueueFacts {
            queue: queue.clone(),
            settings,
            dlq: dlq.map(watches),
            consumers: consumers(attached),
            returns_failures: newest
                .iter()
                .flat_map(|kept| &kept.reports)
                .any(|report| report.kind == ReportKind::Partial),
            failed_starts: Fact::Known(failed_starts),
            letters: Fact::Known(letters.get(queue).copied().unwrap_or_default()),
        }));
    }
    Ok(checkups)
}

/// Reads the settings of a main queue, and those of its dead-letter queue.
pub async fn look(queues: &dyn Queue, main: &QueueArn) -> (Fact<QueueSettings>, Option<DlqFacts>) {
    let settings = settings(queues, main).await;
    let redrive = settings.known().and_then(|settings| settings.redrive.as_ref());
    let Some((dlq, _)) = redrive.cloned() else { return (settings, None) };
    let unknown = || Fact::Unknown(format!("Could not check which CloudWatch alarms watch {}.", dlq.name()));
    let alarms = match queues.alarms(&dlq).await {
        Ok(Some(alarms)) => Fact::Known(alarms),
        Ok(None) => unknown(),
        Err(error) => {
            tracing::warn!(queue = %dlq, error = chain(&error), "the alarms on a queue could not be read");
            unknown()
        }
    };
    let of_dlq = self::settings(queues, &dlq).await;
    (settings, Some(DlqFacts { queue: dlq, settings: of_dlq, alarms, watched: None }))
}

/// Reads the settings of a queue.
pub async fn settings(queues: &dyn Queue, queue: &QueueArn) -> Fact<QueueSettings> {
    match queues.attributes(queue).await {
        Ok(attributes) => Fact::Known(QueueSettings {
            visibility_timeout: attributes.visibility_timeout,
            retention: attributes.retention,
            redrive: attributes.redrive.map(|redrive| (redrive.dlq, redrive.receives_max)),
        }),
        Err(QueueError::Missing { .. }) => Fact::Missing,
        Err(QueueError::Denied { .. }) => {
            Fact::Unknown(format!("No permission to read the settings of {} (sqs:GetQueueAttributes).", queue.name()))
        }
        Err(error) => {
            tracing::warn!(%queue, error = chain(&error), "the settings of a queue could not be read");
            Fact::Unknown(format!("{} did not answer.", queue.name()))
        }
    }
}

/// Returns what the sweep stored about the consumers of a queue. It stores nothing about a queue on which it never found
/// one.
fn consumers(attached: Option<Attached>) -> Fact<Vec<AttachedConsumer>> {
    match attached {
        Some(attached) => Fact::Known(attached.consumers),
        None => Fact::Unknown(
            "No Lambda function is known to consume the queue. A consumer elsewhere cannot be checked.".into(),
        ),
    }
}

/// Returns the starts of a queue's consumer that fail now. A deployment since the last of them has yet to be tried.
async fn failed_starts(
    office: &Office,
    newest: &[KeptReports],
    attached: Option<&Attached>,
) -> Result<Option<FailedStarts>, OfficeError> {
    let now = office.now();
    let current = newest.iter().filter_map(|kept| kept.starts.as_deref()).find(|starts| starts.is_current(now));
    let Some(starts) = current else { return Ok(None) };
    let name = starts.report.function_name();
    let service = attached.and_then(|attached| attached.consumer(name, now)).map_or(name, |consumer| &consumer.service);
    let deployed_at = office.store.deployment(service).await?.map(|deployment| deployment.at);
    Ok((deployed_at <= Some(starts.last_at)).then(|| starts.clone()))
}

/// What the office's letters say about queues.
#[derive(Default)]
struct Seen {
    /// The open letters of each main queue that a letter ever named.
    letters: BTreeMap<QueueArn, LettersSeen>,
    /// The dead-letter queues that letters came from.
    dlqs: BTreeSet<QueueArn>,
}

/// Counts the open letters of each main queue, and those that say nothing about why they failed.
async fn seen(office: &Office) -> Result<Seen, OfficeError> {
    let Seen { mut letters, mut dlqs } = Seen::default();
    let mut cursor = None;
    loop {
        let page = office.store.groups(i64::MAX, cursor.as_ref(), PAGE_MAX).await?;
        for facts in page.items {
            dlqs.insert(facts.variant.dlq);
            let Some(queue) = facts.variant.main_queue else { continue };
            let open = facts.counts.open().letters;
            let seen = letters.entry(queue).or_default();
            seen.open += open;
            if facts.variant.failure.is_empty() {
                seen.without_reason += open;
            }
        }
        match page.next {
            Some(next) => cursor = Some(next),
            None => return Ok(Seen { letters, dlqs }),
        }
    }
}
