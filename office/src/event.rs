//! The office's three kinds of message, handled the same way on every platform: letters, receipts, steps.
//!
//! A platform receives the messages, hands them over, and deletes those that are handled. Each handler returns the ids
//! of the messages that it could not handle. The platform never deletes those: they come again, and after too many
//! receives the queue's redrive policy moves them to its dead-letter queue, where a person can look at them.

use crate::error::chain;
use crate::office::{Office, StepMessage};
use crate::{intake, replay};
use domain::id::{MessageId, QueueArn};
use domain::message::DeadMessage;
use queue::Received;

/// Takes letters of a dead-letter queue into custody.
pub async fn letters(office: &Office, dlq: &QueueArn, messages: Vec<Received>) -> Vec<MessageId> {
    let dead = messages.into_iter().map(|Received { message_id, content, system, .. }| DeadMessage {
        dlq: dlq.clone(),
        message_id,
        content,
        system,
    });
    let messages: Vec<_> = dead.collect();
    let count = messages.len();
    let report = intake::keep(office, messages).await;
    tracing::info!(
        messages = count,
        kept = report.kept,
        returned = report.returned,
        duplicates = report.duplicates,
        failed = report.failed.len(),
        new_groups = report.new_groups,
        "a batch of dead messages"
    );
    report.failed
}

/// Takes receipts of consumers. A message that is not a receipt fails: it may be a letter that was sent here by
/// mistake, so nothing deletes it.
pub async fn receipts(office: &Office, messages: Vec<Received>) -> Vec<MessageId> {
    let messages = messages.into_iter().map(|message| (message.message_id, message.content.body));
    replay::take_receipts(office, messages.collect()).await
}

/// Does steps of replays. A message that is not a step fails, as does a step that cannot be done now.
pub async fn steps(office: &Office, messages: Vec<Received>, executor: &str) -> Vec<MessageId> {
    let mut failed = Vec::new();
    for Received { message_id, content, .. } in messages {
        let done = match serde_json::from_str::<StepMessage>(&content.body) {
            Ok(step) => replay::handle(office, &step, executor).await.map_err(|error| chain(&error)),
            Err(error) => Err(chain(&error)),
        };
        if let Err(error) = done {
            // Everything that the step did is recorded, so the next try continues from there.
            tracing::error!(%message_id, error, "a step of a replay failed; its message comes again");
            failed.push(message_id);
        }
    }
    failed
}
