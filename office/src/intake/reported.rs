//! What consumers have reported about the messages of a batch (see `reports`).

use super::ReadMessage;
use crate::commit::commit;
use crate::error::{OfficeError, chain};
use crate::guard;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::id::{MessageId, QueueArn};
use domain::limits::{PAGE_MAX, RETENTION_MAX};
use domain::read::read_with;
use domain::reported::{KeptReports, ReportKey};
use std::collections::{BTreeMap, BTreeSet};

/// Reads again, with what consumers have reported, those messages that carry no failure themselves. Returns the messages
/// that are better left in their dead-letter queue once, because their consumer reports, and the report is not here yet.
pub(super) async fn look_up(office: &Office, sources: &mut [ReadMessage]) -> BTreeSet<(QueueArn, MessageId)> {
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
        let of_queue = known.get(&ReportKey { queue: key.queue.clone(), message: None });
        let expects_report = of_queue.is_some_and(|of_queue| of_queue.is_recent(office.now()));
        let mut reason = kept.and_then(KeptReports::reason);
        // A message that a replay sent is never left: while it lies there its replay does not know that it is back.
        if reason.is_none() && kept.is_none() && expects_report && source.reading.marker.is_none() {
            wait(office, key).await?;
            awaited.push((source.message.dlq.clone(), source.message.message_id.clone()));
            continue;
        }
        if reason.is_none() {
            reason = of_queue.and_then(|of_queue| of_queue.failed_start(source.reading.diagnosis.first_tried_at));
        }
        if let Some(reason) = reason {
            let read = |message: &_, policy: &_| read_with(message, policy, Some(&reason));
            source.reading = guard::reading(&source.message, &office.policy, read);
            office.withhold_own_queue(&mut source.reading);
        }
    }
    Ok(awaited)
}

/// Records that intake waits for a report of this message, so that it waits only once. On a conflict something is there
/// already, such as a report that arrived this moment: it is found when the message comes again.
async fn wait(office: &Office, key: ReportKey) -> Result<(), OfficeError> {
    let now = office.now();
    let kept = Box::new(KeptReports::new(key, RETENTION_MAX, now).awaited(now));
    let _ = commit(office, vec![Write::Reports { kept, expect: Expect::Absent }]).await?;
    Ok(())
}
