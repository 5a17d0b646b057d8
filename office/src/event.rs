//! The office's kinds of message, handled the same way on every platform: letters, receipts and reports, steps.
//!
//! A platform receives the messages, hands them over, and deletes those that are handled. Each handler returns the ids
//! of the messages that it could not handle. The platform never deletes those: they come again, and after too many
//! receives the queue's redrive policy moves them to its dead-letter queue, where a person can look at them.

use crate::error::chain;
use crate::office::{Office, StepMessage};
use crate::reports::{self, Taken};
use crate::{intake, notices, replay};
use domain::id::{MessageId, QueueArn};
use domain::message::DeadMessage;
use domain::notice::Notice;
use domain::report::Report;
use domain::time::Timestamp;
use queue::Received;

/// Takes letters of a dead-letter queue into custody.
pub async fn letters(office: &Office, dlq: &QueueArn, messages: Vec<Received>) -> Vec<MessageId> {
    letters_until(office, dlq, messages, None).await
}

/// Takes letters of a dead-letter queue into custody, and begins nothing after `deadline`: the letters that are left fail,
/// so that the caller can report the others before the platform ends it. `None` sets no deadline.
pub async fn letters_until(
    office: &Office,
    dlq: &QueueArn,
    messages: Vec<Received>,
    deadline: Option<Timestamp>,
) -> Vec<MessageId> {
    let dead = messages.into_iter().map(|Received { message_id, content, system, .. }| DeadMessage {
        dlq: dlq.clone(),
        message_id,
        content,
        system,
    });
    let messages: Vec<_> = dead.collect();
    let count = messages.len();
    let Some(office) = &with_policy(office).await else {
        return messages.into_iter().map(|message| message.message_id).collect();
    };
    let report = intake::keep_until(office, messages, deadline).await;
    tracing::info!(
        messages = count,
        kept = report.kept,
        returned = report.returned,
        duplicates = report.duplicates,
        failed = report.failed.len(),
        awaited = report.awaited.len(),
        new_groups = report.new_groups,
        "a batch of dead messages"
    );
    let mut stay = report.failed;
    stay.extend(report.awaited);
    stay
}

/// Takes what consumers say: receipts for replayed messages that they have processed, reports on messages that they
/// failed on, and notices about themselves. Any other message fails: it may be a letter that was sent here by mistake, so nothing deletes it. So does a
/// report or notice that does not count.
pub async fn receipts(office: &Office, messages: Vec<Received>) -> Vec<MessageId> {
    let mut receipts = Vec::with_capacity(messages.len());
    let mut failed = Vec::new();
    let Some(office) = &with_policy(office).await else {
        return messages.into_iter().map(|message| message.message_id).collect();
    };
    for Received { message_id, content, system, .. } in messages {
        let sender = system.sender_id.as_deref();
        if let Some(notice) = Notice::parse(&content.body) {
            if !takes_notice(office, &notice, &message_id, sender).await {
                failed.push(message_id);
            }
            continue;
        }
        let Some(report) = Report::parse(&content.body) else {
            receipts.push((message_id, content.body));
            continue;
        };
        match reports::take(office, &report, sender).await {
            Ok(Taken::Kept) => {}
            Ok(Taken::Refused(why)) => {
                let function = report.function.as_str();
                tracing::warn!(%message_id, function, why, "a report was not accepted; it stays on the queue until SQS redrives it");
                failed.push(message_id);
            }
            Ok(Taken::Dropped(why)) => {
                let function = report.function.as_str();
                tracing::warn!(%message_id, function, why, "a report is dropped");
            }
            Err(error) => {
                tracing::error!(%message_id, error = chain(&error), "a report could not be stored; it will be redelivered");
                failed.push(message_id);
            }
        }
    }
    failed.extend(replay::take_receipts(office, receipts).await);
    failed
}

/// Takes a notice. Returns false if its message must come again, or stay for the queue's redrive policy.
async fn takes_notice(office: &Office, notice: &Notice, message_id: &MessageId, sender: Option<&str>) -> bool {
    match notices::take(office, notice, sender).await {
        Ok(notices::Taken::Kept) => true,
        Ok(notices::Taken::Refused(why)) => {
            let consumer = notice.consumer.as_str();
            tracing::warn!(%message_id, consumer, why, "a notice was not accepted; it stays on the queue until SQS redrives it");
            false
        }
        Err(error) => {
            tracing::error!(%message_id, error = chain(&error), "a notice could not be stored; it will be redelivered");
            false
        }
    }
}

/// Does steps of replays. A message that is not a step fails, as does a step that cannot be done now.
pub async fn steps(office: &Office, messages: Vec<Received>, executor: &str) -> Vec<MessageId> {
    let mut failed = Vec::new();
    let Some(office) = &with_policy(office).await else {
        return messages.into_iter().map(|message| message.message_id).collect();
    };
    for Received { message_id, content, .. } in messages {
        let done = match serde_json::from_str::<StepMessage>(&content.body) {
            Ok(step) => replay::handle(office, &step, executor).await.map_err(|error| chain(&error)),
            Err(error) => Err(chain(&error)),
        };
        if let Err(error) = done {
            // Everything that the step did is recorded, so the next try continues from there.
            tracing::error!(%message_id, error, "a step of a replay failed; its message will be redelivered");
            failed.push(message_id);
        }
    }
    failed
}

/// Returns the office with the current policy, by which all messages of one call are handled; `None` if it cannot be read.
async fn with_policy(office: &Office) -> Option<Office> {
    let current = office.current().await;
    current
        .inspect_err(|error| {
            tracing::error!(error = chain(error), "the policy cannot be read; all messages will be redelivered")
        })
        .ok()
}
