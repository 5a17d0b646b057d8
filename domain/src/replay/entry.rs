//! A letter in a replay, and what becomes of it.

use crate::id::{GroupId, LetterId, MessageId, ReplayId};
use crate::tagged::need;
use crate::time::Timestamp;
use crate::transform::ChangedBy;
use alloc::string::String;
use serde::{Deserialize, Deserializer, Serialize};

/// A letter in a replay. The list of entries is written with the plan and never grows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The replay.
    pub replay: ReplayId,
    /// Its place in the plan, from 0: the order in which letters are sent.
    pub seq: u64,
    /// The letter.
    pub letter: LetterId,
    /// The wave it belongs to, from 0, the canary.
    pub wave: u32,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Sends that may have reached the queue. More than one means that an answer was lost and the letter was sent
    /// again: the consumer may have seen it twice.
    pub sends: u32,
    /// On a FIFO queue the letter's message group: one letter of it is on its way at a time.
    #[serde(default, alias = "lane", skip_serializing_if = "Option::is_none")]
    pub message_group: Option<String>,
    /// By which version it was changed when it was sent last; none when it went as it lay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<ChangedBy>,
}

/// What becomes of a letter in a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// Not sent yet.
    Pending,
    /// The intent to send is written; whether it was sent is not known yet.
    Sending {
        /// Since when.
        since: Timestamp,
    },
    /// Sent; its observation window runs.
    InFlight {
        /// When the queue took it.
        sent_at: Timestamp,
        /// Its id on the main queue now.
        message_id: MessageId,
    },
    /// Confirmed, or its window passed without a return.
    Delivered {
        /// When that was judged.
        at: Timestamp,
        /// Who confirmed it; none when its window passed without a return.
        #[serde(skip_serializing_if = "Option::is_none")]
        confirmed: Option<Confirmation>,
    },
    /// It came back to the dead-letter queue.
    Returned {
        /// When its consumer failed on it.
        at: Timestamp,
        /// What that says of the fix.
        verdict: Verdict,
        /// The group it belongs to now.
        group: GroupId,
        /// The failure's title.
        title: String,
    },
    /// Its deadline passed before it was sent.
    Expired {
        /// When that was seen.
        at: Timestamp,
    },
    /// Not sent.
    Skipped {
        /// Why.
        reason: SkipReason,
        /// The particulars, in a sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
}

/// What a consumer's receipt says of a letter.
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
    /// Who confirmed it, if it is delivered and somebody did.
    pub fn confirmation(&self) -> Option<&Confirmation> {
        match self {
            Self::Delivered { confirmed, .. } => confirmed.as_ref(),
            _ => None,
        }
    }

    /// Not sent, for a reason that says all.
    pub fn skipped(reason: SkipReason) -> Self {
        Self::Skipped { reason, detail: None }
    }

    /// The outcome without what belongs to it.
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

/// What an outcome may carry.
#[derive(Deserialize)]
struct Carried {
    outcome: OutcomeKind,
    since: Option<Timestamp>,
    sent_at: Option<Timestamp>,
    message_id: Option<MessageId>,
    at: Option<Timestamp>,
    verdict: Option<Verdict>,
    group: Option<GroupId>,
    title: Option<String>,
    reason: Option<SkipReason>,
    confirmed: Option<Confirmation>,
    detail: Option<String>,
}

impl<'de> Deserialize<'de> for Outcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of = Carried::deserialize(deserializer)?;
        let at = || need(of.at, "at");
        Ok(match of.outcome {
            OutcomeKind::Pending => Self::Pending,
            OutcomeKind::Sending => Self::Sending { since: need(of.since, "since")? },
            OutcomeKind::InFlight => {
                Self::InFlight { sent_at: need(of.sent_at, "sent_at")?, message_id: need(of.message_id, "message_id")? }
            }
            OutcomeKind::Delivered => Self::Delivered { at: at()?, confirmed: of.confirmed },
            OutcomeKind::Returned => Self::Returned {
                at: at()?,
                verdict: need(of.verdict, "verdict")?,
                group: need(of.group, "group")?,
                title: need(of.title, "title")?,
            },
            OutcomeKind::Expired => Self::Expired { at: at()? },
            OutcomeKind::Skipped => Self::Skipped { reason: need(of.reason, "reason")?, detail: of.detail },
        })
    }
}

/// [`Outcome`] without what belongs to it: a column of the ledger.
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

    /// The word of the kind, as in JSON.
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

/// What a return says of the fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It died of the same cause: the fix did not work.
    SameCause,
    /// It died of another cause: the fix uncovered another fault.
    NewCause,
    /// It died of something transient: the fix is not refuted.
    Transient,
}

/// Why a letter was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// Another replay had taken it, or it was delivered meanwhile.
    NotWaiting,
    /// The queue refused it for good (its characters or its size).
    Refused,
    /// The replay was aborted before its turn.
    Aborted,
    /// The letter is gone from the store.
    Gone,
    /// A letter before it in its message group came back: it must not overtake it.
    Behind,
    /// The replay was aborted while the answer to its sending was lost: it may have been sent, and has not come back.
    InDoubt,
    /// The transform that it was to be changed by fails on it.
    TransformFailed,
    /// The payload that it points to is gone.
    PayloadGone,
}
