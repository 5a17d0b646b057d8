//! Sends dead letters: to the first queue that takes them, with as much of a stamp as it takes.

use crate::call::{ATTEMPTS_MAX, chain, pause};
use crate::dlqs::Sent;
use crate::settle::Settler;
use crate::stamp::Copies;
use domain::id::QueueArn;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::time::Span;
use queue::{Outgoing, QueueError};
use std::time::Duration;
use tokio::time::Instant;

/// How long sending one copy is repeated: SQS's default visibility timeout. Then another consumer has the message.
const SENDING_MAX: Duration = Duration::from_secs(30);
/// The part of a stamp that is left after a queue has refused a copy: one in this many. A full stamp is refused three times
/// before nothing is left that says anything.
const SHRINKS_TO: usize = 4;

/// What a queue said to one copy.
enum Answer {
    Taken,
    /// The copy is at fault.
    Refused,
    /// The queue does not exist, or this consumer may not send to it.
    Closed,
    Silent,
}

impl Settler {
    /// Sends a copy to the first queue that takes one, then deletes the message. A crash in between leaves two copies, which
    /// the office recognises by main queue and original message id. The other order would lose the message.
    ///
    /// `is_redriven`: SQS dead-letters the message by itself after its last receive. Where it does not, a message that has
    /// no room for a stamp is sent without one: it would come back until SQS deletes it.
    pub(crate) async fn dead_letter(&self, copies: &Copies<'_>, dlqs: &[&QueueArn], is_redriven: bool) -> Sent {
        let mut sent = Sent::Never;
        for dlq in dlqs {
            match self.send_copy(copies, dlq).await {
                end @ (Sent::Yes | Sent::NotNow) => return end,
                Sent::Closed => sent = Sent::Closed,
                Sent::Never => {}
            }
        }
        if sent == Sent::Never && !is_redriven {
            for dlq in dlqs {
                if matches!(self.send(copies, dlq, copies.plain().clone()).await, Answer::Taken) {
                    tracing::error!(queue = %dlq, message_id = %copies.received().message_id, "the message has no room for a stamp, and was dead-lettered without one");
                    return self.sent(copies).await;
                }
            }
        }
        sent
    }

    /// Sends a copy to one queue, with the largest stamp that it takes.
    async fn send_copy(&self, copies: &Copies<'_>, dlq: &QueueArn) -> Sent {
        let mut bytes_max = self.load.dlqs.bytes_max(dlq);
        while let Some(copy) = copies.within(bytes_max) {
            let stamp_bytes = copy.attributes.get(FAILURE_ATTRIBUTE).and_then(Attribute::as_text).map_or(0, str::len);
            // At least one byte less, so that this ends.
            bytes_max = copy.size_bytes().saturating_sub((stamp_bytes - stamp_bytes / SHRINKS_TO).max(1));
            match self.send(copies, dlq, copy).await {
                Answer::Taken => return self.sent(copies).await,
                // The queue may take less than it did when it was looked at.
                Answer::Refused => {}
                Answer::Closed => return Sent::Closed,
                Answer::Silent => return Sent::NotNow,
            }
        }
        Sent::Never
    }

    async fn sent(&self, copies: &Copies<'_>) -> Sent {
        self.delete(copies.received(), None).await;
        self.forget(copies.received()).await;
        Sent::Yes
    }

    async fn send(&self, copies: &Copies<'_>, dlq: &QueueArn, copy: Content) -> Answer {
        let message_id = &copies.received().message_id;
        // On FIFO the original id deduplicates a copy that was sent twice because a response was lost.
        let deduplication_id = dlq.is_fifo().then(|| message_id.as_str().to_owned());
        let outgoing = [Outgoing { content: copy, deduplication_id, delay: Span::ZERO }];
        let began = Instant::now();
        for attempt in (1..=ATTEMPTS_MAX).take_while(|_| began.elapsed() < SENDING_MAX) {
            match self.queue.send_batch(dlq, &outgoing).await.map(|results| results.into_iter().next()) {
                Ok(Some(Ok(_))) => return Answer::Taken,
                Ok(Some(Err(refused))) if refused.sender_fault => {
                    tracing::warn!(queue = %dlq, %message_id, code = refused.code, reason = refused.reason, "the dead-letter queue refused the copy");
                    return Answer::Refused;
                }
                Ok(refused_or_nothing) => {
                    let code = refused_or_nothing.and_then(Result::err).map(|refused| refused.code);
                    tracing::warn!(queue = %dlq, %message_id, attempt, ?code, "the dead-letter queue did not accept the copy");
                }
                Err(error @ (QueueError::Missing { .. } | QueueError::Denied { .. })) => {
                    tracing::error!(queue = %dlq, %message_id, error = chain(&error), "the dead-letter queue is closed to this consumer");
                    return Answer::Closed;
                }
                Err(error @ QueueError::Invalid { .. }) => {
                    tracing::warn!(queue = %dlq, %message_id, error = chain(&error), "the dead-letter queue refused the copy");
                    return Answer::Refused;
                }
                Err(error) => {
                    tracing::warn!(queue = %dlq, %message_id, attempt, error = chain(&error), "sending to the dead-letter queue failed");
                }
            }
            pause(&self.config, attempt).await;
        }
        Answer::Silent
    }
}

#[cfg(test)]
#[path = "dead_letter_tests.rs"]
mod tests;
