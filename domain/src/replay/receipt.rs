//! A receipt: a consumer's statement that it has processed a replayed message.
//!
//! Anyone with permission to send to the receipts queue can write one, so a receipt alone proves nothing. It must name
//! the same send as the message's marker, and the same message id as the main queue.

use super::entry::{Confirmation, Entry, Outcome, OutcomeKind};
use crate::id::MessageId;
use crate::marker::Marker;
use crate::text::truncate_on_char;
use crate::time::Timestamp;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The version of the receipt's format that this code writes.
pub const RECEIPT_VERSION: u8 = 1;

/// The longest name or version that is kept of a receipt, bytes: generous for every real name.
const NAME_BYTES_MAX: usize = 200;

/// A receipt: the body of a message on the receipts queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The format's version, [`RECEIPT_VERSION`].
    pub v: u8,
    /// The marker of the processed message, as printed by [`Marker::print`].
    pub marker: String,
    /// The message's id on the main queue.
    pub message_id: MessageId,
    /// The service that processed it.
    pub consumer: String,
    /// That service's version.
    pub consumer_version: String,
    /// When, by that service's clock, milliseconds.
    pub processed_at: Timestamp,
    /// Whether the service declares that processing such a message twice does no harm.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub idempotent: bool,
}

/// Why a receipt does not confirm an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    /// The entry is not in flight: it has an outcome already, or was never sent.
    #[error("the letter is not in flight")]
    NotInFlight(OutcomeKind),
    /// The receipt names another send of the letter.
    #[error("the receipt names another send of the letter")]
    OtherAttempt,
    /// The main queue gave the letter another message id.
    #[error("the receipt names another message")]
    OtherMessage,
}

impl Receipt {
    /// Returns the receipt as JSON.
    pub fn print(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the output of [`Receipt::print`]. Ignores unknown fields of later versions. Returns `None` for any other
    /// text.
    pub fn parse(text: &str) -> Option<Self> {
        text.trim_start().starts_with('{').then_some(())?;
        serde_json::from_str(text).ok().filter(|receipt: &Self| receipt.v >= 1)
    }

    /// Returns the send that the receipt names.
    pub fn sending(&self) -> Option<Marker> {
        Marker::parse(&self.marker)
    }

    fn confirmation(&self) -> Confirmation {
        let short = |text: &String| {
            let mut text = text.clone();
            truncate_on_char(&mut text, NAME_BYTES_MAX);
            text
        };
        Confirmation {
            consumer: short(&self.consumer),
            version: short(&self.consumer_version),
            processed_at: self.processed_at,
        }
    }
}

impl Entry {
    /// Returns the entry as confirmed by a receipt. `marker` is the receipt's and names this entry; `attempt` is the
    /// letter's own count of replays. A letter whose send has no answer yet can be
    /// confirmed too: processing it proves that it was sent. One that was skipped in doubt cannot: it waits again.
    pub fn confirmed(
        &self,
        receipt: &Receipt,
        marker: &Marker,
        attempt: u32,
        now: Timestamp,
    ) -> Result<Self, Unproven> {
        match &self.outcome {
            Outcome::Sending { .. } | Outcome::InFlight { .. } if marker.attempt != attempt => {
                return Err(Unproven::OtherAttempt);
            }
            // Of several sends only the last id is known. A receipt of an earlier one proves nothing, because a copy of the
            // marker in another message looks the same.
            Outcome::InFlight { message_id, .. } if *message_id != receipt.message_id => {
                return Err(Unproven::OtherMessage);
            }
            Outcome::Sending { .. } | Outcome::InFlight { .. } => {}
            other => return Err(Unproven::NotInFlight(other.kind())),
        }
        let outcome = Outcome::Delivered { at: now, confirmed: Some(receipt.confirmation()) };
        Ok(self.moved(outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{ReturnCause, SkipReason};
    use super::*;
    use crate::id::{LetterId, ReplayId};
    use alloc::string::ToString;

    const AT: Timestamp = Timestamp::from_ms(7);

    fn receipt(message: &str) -> Receipt {
        Receipt {
            v: RECEIPT_VERSION,
            marker: marker(2).print(),
            message_id: message.into(),
            consumer: "orders".into(),
            consumer_version: "v3".into(),
            processed_at: Timestamp::from_ms(5),
            idempotent: false,
        }
    }

    fn marker(attempt: u32) -> Marker {
        Marker { letter: LetterId::new("a".repeat(32)), replay: ReplayId::new("b".repeat(32)), attempt, seq: 0 }
    }

    fn entry(outcome: Outcome, sends: u32) -> Entry {
        let Marker { letter, replay, .. } = marker(2);
        Entry {
            replay,
            seq: 0,
            letter,
            wave: 0,
            outcome,
            sends,
            message_group: None,
            answers: 0,
            sent_as: None,
            changed_by: None,
        }
    }

    /// The marker's attempt and the letter's, the message id in the receipt, and the expected result.
    fn check(outcome: Outcome, sends: u32, attempts: (u32, u32), message: &str, proves: Option<Unproven>) {
        let entry = entry(outcome, sends);
        let after = entry.confirmed(&receipt(message), &marker(attempts.0), attempts.1, AT);
        match proves {
            Some(unproven) => assert_eq!(after, Err(unproven), "{entry:?}"),
            None => {
                let Ok(after) = after else { panic!("{entry:?}: {after:?}") };
                let by = Confirmation {
                    consumer: "orders".into(),
                    version: "v3".into(),
                    processed_at: Timestamp::from_ms(5),
                };
                assert_eq!(after.outcome, Outcome::Delivered { at: AT, confirmed: Some(by) });
                assert_eq!(after.sends, sends);
            }
        }
    }

    #[test]
    fn only_a_receipt_of_the_message_in_flight_confirms_it() {
        use Unproven::{NotInFlight, OtherAttempt, OtherMessage};
        let sending = || Outcome::Sending { since: AT };
        let in_flight = || Outcome::InFlight { sent_at: AT, message_id: "m".into() };
        let returned =
            Outcome::Returned { at: AT, cause: ReturnCause::SameCause, group: "g".into(), title: "t".into() };
        let skipped = Outcome::skipped(SkipReason::InDoubt);
        let delivered = Outcome::Delivered { at: AT, confirmed: None };
        // The entry, its sends, the attempts, the message's id, the expected result.
        check(in_flight(), 1, (2, 2), "m", None);
        check(in_flight(), 1, (2, 2), "another", Some(OtherMessage));
        check(in_flight(), 2, (2, 2), "m", None);
        check(in_flight(), 2, (2, 2), "the first sending's", Some(OtherMessage));
        check(in_flight(), 1, (1, 2), "m", Some(OtherAttempt));
        check(in_flight(), 1, (3, 2), "m", Some(OtherAttempt));
        check(sending(), 1, (2, 2), "unknown", None);
        check(sending(), 1, (1, 2), "unknown", Some(OtherAttempt));
        check(Outcome::Pending, 0, (2, 2), "m", Some(NotInFlight(OutcomeKind::Pending)));
        check(delivered, 1, (2, 2), "m", Some(NotInFlight(OutcomeKind::Delivered)));
        check(returned, 1, (2, 2), "m", Some(NotInFlight(OutcomeKind::Returned)));
        check(Outcome::Expired { at: AT }, 0, (2, 2), "m", Some(NotInFlight(OutcomeKind::Expired)));
        check(skipped, 1, (2, 2), "m", Some(NotInFlight(OutcomeKind::Skipped)));
    }

    #[test]
    fn parse_inverts_print_and_accepts_nothing_else() {
        let receipt = receipt("m");
        assert_eq!(Receipt::parse(&receipt.print()), Some(receipt.clone()));
        assert_eq!(receipt.sending(), Some(marker(2)));
        let later = receipt.print().replace("\"v\":1", "\"v\":2,\"more\":true");
        assert_eq!(Receipt::parse(&later).map(|read| read.v), Some(2));
        for text in ["", "null", "[]", "{}", "{\"v\":1}", &receipt.print().replace("\"v\":1", "\"v\":0")] {
            assert_eq!(Receipt::parse(text), None, "{text}");
        }
        assert_eq!(Receipt { marker: "1.x.y.2".to_string(), ..receipt }.sending(), None);
    }

    #[test]
    fn long_names_are_cut() {
        let long = Receipt { consumer: "ä".repeat(500), ..receipt("m") };
        assert_eq!(long.confirmation().consumer.len(), NAME_BYTES_MAX);
    }
}
