//! What became of each message that a replay sent: the consumer processed it, or failed on it.

use super::*;
use domain::message::Attribute;
use queue::Received;

impl Checker {
    /// Records that the consumer has processed a message, if a replay sent it. Returns whether one did.
    pub fn processed(&self, message: &Received) -> bool {
        let mut observed = self.observed();
        let key = observed.key_of(message);
        let is_sent = key.is_some();
        observed.processed.extend(key);
        is_sent
    }

    /// Records that the consumer has dead-lettered a message.
    pub fn failed(&self, message: &Received) {
        let mut observed = self.observed();
        if let Some(key) = observed.key_of(message) {
            observed.failed.insert(key);
        }
    }

    /// Records that the consumer has processed and deleted a message: it cannot return.
    pub fn gone(&self, message: &Received) {
        let mut observed = self.observed();
        if let Some(key) = observed.key_of(message) {
            *observed.gone.entry(key).or_default() += 1;
        }
    }
}

impl Observed {
    /// Notes the message ids of what a replay sent with a marker.
    pub(super) fn attribute(
        &mut self,
        (queue, main): (&QueueArn, &QueueArn),
        messages: &[Outgoing],
        answers: &[Result<MessageId, EntryFailure>],
    ) {
        for (message, answer) in messages.iter().zip(answers).filter(|_| queue == main) {
            let marker = message.content.attributes.get(MARKER_ATTRIBUTE).and_then(Attribute::as_text);
            if let (Some(marker), Ok(id)) = (marker.and_then(Marker::parse), answer) {
                self.ids.insert(id.clone(), (marker.replay, marker.letter));
            }
        }
    }

    /// The entry of a message that a replay sent, by the id that the main queue gave it.
    fn key_of(&self, message: &Received) -> Option<Key> {
        self.ids.get(&message.message_id).cloned()
    }

    /// A letter has returned only if one of its messages was left: a forged message is no return.
    pub(super) fn returned(&mut self, key: &Key) {
        self.returned_at.entry(key.clone()).or_insert(self.commits);
        let sends = self.intents.get(key).map_or(0, |intent| intent.sends);
        let gone = self.gone.get(key).copied().unwrap_or_default();
        if gone >= sends && !self.failed.contains(key) {
            self.report(format!("letter {} counts as returned, but each of its {sends} messages was processed", key.1));
        }
    }
}
