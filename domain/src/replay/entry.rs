//! A letter in a replay, and its outcome.

use crate::id::{GroupId, LetterId, MessageId, ReplayId};
use crate::letter::Letter;
use crate::tagged::need;
use crate::time::Timestamp;
use crate::transform::{ChangedBy, body_hash};
use alloc::string::String;
use serde::{Deserialize, Deserializer, Serialize};

/// A letter in a replay. The list of entries is written with the plan and never grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The replay.
    pub replay: ReplayId,
    /// Its position in the plan, from 0: the order of sending.
    pub seq: u64,
    /// The letter.
    pub letter: LetterId,
    /// Its wave, from 0, the canary.
    pub wave: u32,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The number of sends that may have reached the queue. More than one means that an answer was lost and the letter
    /// was sent again: the consumer may have received it twice.
    pub sends: u32,
    /// The number of sends whose answer is recorded, each with its message id ([`Entry::has_unanswered_send`]).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answers: u32,
    /// The message id of the recorded answer, once the outcome no longer names it; see [`Entry::message_id`]. Returns are
    /// recognised by it. It is stored, but not part of the API.
    #[serde(skip)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub sent_as: Option<MessageId>,
    /// The letter's message group on FIFO queues: at most one letter of a group is in flight.
    #[serde(default, alias = "lane", skip_serializing_if = "Option::is_none")]
    pub message_group: Option<String>,
    /// The transform version that changed it at the last send; `None` if it was sent unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<ChangedBy>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Entry {
    /// Whether a send may have reached the queue without a record of its answer. Its message then has an id that the
    /// office does not know.
    pub fn has_unanswered_send(&self) -> bool {
        self.sends > self.answers
    }

    /// Returns the id that the main queue gave the letter's message, if its answer is recorded.
    pub fn message_id(&self) -> Option<&MessageId> {
        match &self.outcome {
            Outcome::InFlight { message_id, .. } => Some(message_id),
            _ => self.sent_as.as_ref(),
        }
    }

    /// Returns the entry with another outcome. It keeps the id of its message.
    pub fn moved(&self, outcome: Outcome) -> Self {
        let is_in_flight = outcome.kind() == OutcomeKind::InFlight;
        Self { sent_as: self.message_id().filter(|_| !is_in_flight).cloned(), outcome, ..self.clone() }
    }

    /// Whether a message has the body that this replay sent for the letter.
    pub fn sent_body(&self, letter: &Letter, body: &str) -> bool {
        body == letter.content.body || self.changed_by.as_ref().is_some_and(|by| by.body_hash == body_hash(body))
    }
}

/// The outcome of a letter in a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Not sent yet.
    Pending,
    /// In doubt: the intent to send is written, but the queue's answer is not known.
    Sending {
        /// When the intent was written.
        since: Timestamp,
    },
    /// Sent; its observation window is running.
    InFlight {
        /// When the queue accepted it.
        sent_at: Timestamp,
        /// Its current id on the main queue.
        message_id: MessageId,
    },
    /// Confirmed by a receipt, or gone from the main queue and not returned within its window.
    Delivered {
        /// When that was determined.
        at: Timestamp,
        /// The receipt's confirmation; `None` if the letter left the main queue and its window ended without a return.
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmed: Option<Confirmation>,
    },
    /// Returned to the dead-letter queue.
    Returned {
        /// When its consumer failed on it.
        at: Timestamp,
        /// What it died of, compared with what the fix is for.
        cause: ReturnCause,
        /// The variant that it belongs to now.
        group: GroupId,
        /// The failure's title.
        title: String,
    },
    /// Expired: its deadline passed before it was sent.
    Expired {
        /// When that was noticed.
        at: Timestamp,
    },
    /// Skipped.
    Skipped {
        /// The reason.
        reason: SkipReason,
        /// Details, in one sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
}

/// The content of a consumer's receipt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confirmation {
    /// The service that processed it.
    pub consumer: String,
    /// That service's version.
    pub version: String,
    /// When, by that service's clock.
    pub processed_at: Timestamp,
}

impl Outcome {
    /// Returns the receipt's confirmation, if the letter is delivered and has one.
    pub fn confirmation(&self) -> Option<&Confirmation> {
        match self {
            Self::Delivered { confirmed, .. } => confirmed.as_ref(),
            _ => None,
        }
    }

    /// Returns the outcome `Skipped` for a reason that needs no details.
    pub fn skipped(reason: SkipReason) -> Self {
        Self::Skipped { reason, detail: None }
    }

    /// Returns the outcome without its data.
    pub fn kind(&self) -> OutcomeKind {
        match self {
            Self::Pending => OutcomeKind::Pending,
            Self::Sending { .. } => OutcomeKind::Sending,
            Self::InFlight { .. } => OutcomeKind::InFlight,
            Self::Delivered { .. } => OutcomeKind::Delivered,
            Self::Returned { .. } => OutcomeKind::Returned,
            Self::Expired { .. } => OutcomeKind::Expired,
            Self::Skipped { .. } => OutcomeKind::Skipped,
        }
    }
}

/// The fields that any outcome may carry.
#[derive(Deserialize)]
struct Carried {
    outcome: OutcomeKind,
    since: Option<Timestamp>,
    sent_at: Option<Timestamp>,
    message_id: Option<MessageId>,
    at: Option<Timestamp>,
    #[serde(alias = "verdict")]
    cause: Option<ReturnCause>,
    group: Option<GroupId>,
    title: Option<String>,
    reason: Option<SkipReason>,
    confirmed: Option<Confirmation>,
    detail: Option<String>,
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Carried::deserialize(deserializer)?;
        let at = || need(fields.at, "at");
        Ok(match fields.outcome {
            OutcomeKind::Pending => Self::Pending,
            OutcomeKind::Sending => Self::Sending { since: need(fields.since, "since")? },
            OutcomeKind::InFlight => Self::InFlight {
                sent_at: need(fields.sent_at, "sent_at")?,
                message_id: need(fields.message_id, "message_id")?,
            },
            OutcomeKind::Delivered => Self::Delivered { at: at()?, confirmed: fields.confirmed },
            OutcomeKind::Returned => Self::Returned {
                at: at()?,
                cause: need(fields.cause, "cause")?,
                group: need(fields.group, "group")?,
                title: need(fields.title, "title")?,
            },
            OutcomeKind::Expired => Self::Expired { at: at()? },
            OutcomeKind::Skipped => Self::Skipped { reason: need(fields.reason, "reason")?, detail: fields.detail },
        })
    }
}

/// [`Outcome`] without its data: a column of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutcomeKind {
    /// See [`Outcome::Pending`].
    Pending,
    /// See [`Outcome::Sending`].
    Sending,
    /// See [`Outcome::InFlight`].
    InFlight,
    /// See [`Outcome::Delivered`].
    Delivered,
    /// See [`Outcome::Returned`].
    Returned,
    /// See [`Outcome::Expired`].
    Expired,
    /// See [`Outcome::Skipped`].
    Skipped,
}

impl OutcomeKind {
    /// All kinds, in the order of the ledger.
    pub const ALL: [Self; 7] =
        [Self::Pending, Self::Sending, Self::InFlight, Self::Delivered, Self::Returned, Self::Expired, Self::Skipped];

    /// Returns the kind's name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::InFlight => "in_flight",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
            Self::Expired => "expired",
            Self::Skipped => "skipped",
        }
    }
}

/// What a letter that was replayed died of when it returned, as far as it matters for the fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReturnCause {
    /// It died of the same cause: the fix did not work for it.
    SameCause,
    /// It died of another cause: the fix uncovered another fault.
    NewCause,
    /// It died of a transient failure: the fix is not disproved.
    Transient,
}

/// Why a letter was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Another replay includes it, or it was delivered in the meantime.
    NotWaiting,
    /// A person discarded it before it was sent.
    Discarded,
    /// The queue rejects it permanently, because of its characters or its size.
    Refused,
    /// The replay was aborted before the letter was sent.
    Aborted,
    /// The letter is no longer in the store.
    #[serde(alias = "gone")]
    LetterGone,
    /// An earlier letter of its message group returned; this one must not overtake it.
    Behind,
    /// The letter may have been sent and has not returned, but whether it was processed will never be known: the replay was
    /// aborted before the queue's answer arrived, or the main queue was never seen without the letter.
    InDoubt,
    /// The transform fails on it.
    TransformFailed,
    /// The payload that it points to is gone.
    PayloadGone,
}
