//! What the stamps of dead messages say of their consumers, besides why the message failed.
//!
//! A stamp counts on a message that its consumer sent to the dead-letter queue itself. On a message that SQS moved,
//! whoever placed it on the main queue may have written the stamp.

use super::ReadMessage;
use crate::error::chain;
use crate::notices::{self, Statements};
use crate::office::Office;
use domain::id::QueueArn;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::notice::{Statement, of_stamp};
use std::collections::BTreeMap;

/// Statements by main queue and sender: SQS's `SenderId` of the dead messages.
pub(super) type Said = BTreeMap<(QueueArn, Option<String>), Vec<Statement>>;

/// Reads what the stamps say.
pub(super) fn read(office: &Office, messages: &[ReadMessage]) -> Said {
    let mut said = Said::new();
    for ReadMessage { message, reading } in messages.iter().filter(|one| one.message.system.source_queue.is_none()) {
        let stamp = message.content.attributes.get(FAILURE_ATTRIBUTE).and_then(|attribute| attribute.as_text());
        let Some((stamp, queue)) = stamp.zip(reading.main_queue.as_ref()) else { continue };
        let message_type = reading.diagnosis.message_type.as_deref();
        let statements = of_stamp(stamp, &reading.group, message_type, office.now());
        if !statements.is_empty() {
            let key = (queue.clone(), message.system.sender_id.clone());
            said.entry(key).or_default().extend(statements);
        }
    }
    said
}

/// Keeps what the stamps of believed senders say. A failure is only logged: the next stamp says it again.
pub(super) async fn keep(office: &Office, said: Said) {
    let mut believed = Statements::new();
    for ((queue, sender), statements) in said {
        match notices::is_believed(office, &queue, sender.as_deref()).await {
            Ok(true) => believed.entry(queue).or_default().extend(statements),
            Ok(false) => {
                tracing::warn!(%queue, sender, "a stamp's claims about its consumer were ignored: its sender is not a function that consumes the queue")
            }
            Err(error) => tracing::warn!(%queue, error = chain(&error), "the sender of a stamp could not be checked"),
        }
    }
    notices::keep_all(office, believed).await;
}
