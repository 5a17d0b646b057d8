//! A letter: one dead message in the office's custody, and each of its deaths.

mod discarding;

pub use discarding::NotDiscarded;

use crate::discard::{Closed, Discard};
use crate::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use crate::impact::{loss_at, retained_until};
use crate::message::{Content, DeadMessage};
use crate::read::after_replays;
use crate::reading::{Diagnosis, Reading};
use crate::tagged::need;
use crate::time::{Span, Timestamp};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use serde::{Deserialize, Deserializer, Serialize};

/// The remark on a letter that is kept under the id of its message in the dead-letter queue.
const CLAIMED_IDENTITY: &str = "It claims the message ID of another letter, but its content differs. The claim was ignored, and it was kept as a separate letter.";

/// The state of a letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum LetterState {
    /// In custody, not part of a replay.
    Waiting,
    /// A replay is about to send it, is sending it, or has sent it and awaits its outcome.
    InReplay {
        /// The replay.
        replay: ReplayId,
    },
    /// It died again after the last replay that the policy allows. No plan includes it until a person releases it.
    Quarantined {
        /// When it was quarantined.
        at: Timestamp,
    },
    /// Sent back, and confirmed by a receipt or not returned within its observation window.
    Delivered {
        /// The replay that sent it.
        replay: ReplayId,
        /// When that was determined.
        at: Timestamp,
    },
    /// A person gave it up. It is never sent, and deleted some time later unless the discard is undone.
    Discarded {
        /// Who gave it up, when and why.
        discard: Box<Discard>,
    },
}

/// The fields that any state may carry.
#[derive(Deserialize)]
struct Carried {
    state: LetterStateKind,
    replay: Option<ReplayId>,
    at: Option<Timestamp>,
    discard: Option<Box<Discard>>,
}

impl<'de> Deserialize<'de> for LetterState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Carried { state, replay, at, discard } = Carried::deserialize(deserializer)?;
        let replay = || need(replay, "replay");
        Ok(match state {
            LetterStateKind::Waiting => Self::Waiting,
            LetterStateKind::InReplay => Self::InReplay { replay: replay()? },
            LetterStateKind::Quarantined => Self::Quarantined { at: need(at, "at")? },
            LetterStateKind::Delivered => Self::Delivered { replay: replay()?, at: need(at, "at")? },
            LetterStateKind::Discarded => Self::Discarded { discard: need(discard, "discard")? },
        })
    }
}

/// [`LetterState`] without its data: for list filters and counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LetterStateKind {
    /// See [`LetterState::Waiting`].
    Waiting,
    /// See [`LetterState::InReplay`].
    InReplay,
    /// See [`LetterState::Quarantined`].
    Quarantined,
    /// See [`LetterState::Delivered`].
    Delivered,
    /// See [`LetterState::Discarded`].
    Discarded,
}

impl LetterStateKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Waiting, Self::InReplay, Self::Quarantined, Self::Delivered, Self::Discarded];

    /// Returns the kind's name, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::InReplay => "in_replay",
            Self::Quarantined => "quarantined",
            Self::Delivered => "delivered",
            Self::Discarded => "discarded",
        }
    }

    /// Whether a letter in this state is neither delivered nor discarded.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Delivered | Self::Discarded)
    }
}

impl LetterState {
    /// Returns the kind of the state.
    pub fn kind(&self) -> LetterStateKind {
        match self {
            Self::Waiting => LetterStateKind::Waiting,
            Self::InReplay { .. } => LetterStateKind::InReplay,
            Self::Quarantined { .. } => LetterStateKind::Quarantined,
            Self::Delivered { .. } => LetterStateKind::Delivered,
            Self::Discarded { .. } => LetterStateKind::Discarded,
        }
    }

    /// Returns how and when it was closed; `None` if it is open.
    pub fn closed(&self) -> Option<(Closed, Timestamp)> {
        match self {
            Self::Delivered { at, .. } => Some((Closed::Delivered, *at)),
            Self::Discarded { discard } => Some((Closed::Discarded, discard.at)),
            Self::Waiting | Self::InReplay { .. } | Self::Quarantined { .. } => None,
        }
    }

    /// Returns the decision by which it was discarded; `None` in other states.
    pub fn discard(&self) -> Option<&Discard> {
        match self {
            Self::Discarded { discard } => Some(discard),
            _ => None,
        }
    }
}

/// One dead message in custody. `content` never changes; the other fields describe the latest death.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Its identity.
    pub id: LetterId,
    /// Increments with each change; conditional writes compare it.
    pub version: u64,
    /// The fingerprint of its latest death: the variant that it belongs to.
    pub group: GroupId,
    /// The main queue, where a replay sends it; `None` if it cannot be determined.
    pub main_queue: Option<QueueArn>,
    /// The dead-letter queue where it was found.
    pub dlq: QueueArn,
    /// Its id on the main queue: what SQS says, or else what the message claims.
    pub original_message_id: MessageId,
    /// Its id in the dead-letter queue, where that is another one: SQS keeps the id when it moves a message, and gives
    /// a new one to a message that a consumer sends there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead_message_id: Option<MessageId>,
    /// On FIFO queues, its sequence number in the dead-letter queue when it first died: the sending order within its
    /// message group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<String>,
    /// Body and attributes as they were on the main queue, verbatim.
    pub content: Content,
    /// Where in its body the original is, as a jq path such as `.original_message`, if the body looks like an error
    /// envelope and is sent back as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_at: Option<String>,
    /// The diagnosis of its latest death. Impact, type, tenant and producer stay those of the first death.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// When its producer first sent it.
    pub sent_at: Timestamp,
    /// When its own deadline ends, or the retention of the queue that it is still in; `None` if it cannot expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_at: Option<Timestamp>,
    /// When its consumer last failed on it; the time of the reading if that is not known.
    pub died_at: Timestamp,
    /// The time after which it last died, if it is only known that it died between that and `died_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died_after: Option<Timestamp>,
    /// When the office first took it into custody.
    pub kept_at: Timestamp,
    /// The number of its deaths, including the first.
    pub deaths: u32,
    /// The number of its replays.
    pub replays: u32,
    /// How many of these replays no longer count against the cap, because a person released it from quarantine later.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replays_forgiven: u32,
    /// The state.
    #[serde(flatten)]
    pub state: LetterState,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// One death of one letter. Never changed, and stored as long as the letter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Death {
    /// Its identity.
    pub id: DeathId,
    /// The letter.
    pub letter: LetterId,
    /// 1 for the first death.
    pub number: u32,
    /// When the consumer failed; the time of the reading if that is not known.
    pub died_at: Timestamp,
    /// The time after which it failed, if it is only known that it failed between that and `died_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died_after: Option<Timestamp>,
    /// The fingerprint of this death.
    pub group: GroupId,
    /// The failure's title.
    pub title: String,
    /// The consumer's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_version: Option<String>,
    /// The replay that it returned from; `None` for the first death.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayId>,
}

impl Letter {
    /// Creates the letter from its first reading. `retention` is the dead-letter queue's if the letter stays there, and
    /// `None` if the office takes it into custody.
    pub fn first(message: &DeadMessage, reading: Reading, retention: Option<Span>, now: Timestamp) -> Self {
        let identity_queue = reading.main_queue.as_ref().unwrap_or(&message.dlq);
        // No claim is about the future, and no queue's clock moves an age.
        let sent_at = reading.sent_at.unwrap_or(now).min(now);
        let enqueued_at = message.system.sent_at.unwrap_or(sent_at);
        let retained_until = retention.map(|retention| retained_until(enqueued_at, retention));
        Self {
            id: LetterId::from_message(identity_queue, &reading.original_message_id),
            version: 1,
            group: reading.group,
            main_queue: reading.main_queue.clone(),
            dlq: message.dlq.clone(),
            dead_message_id: (reading.original_message_id != message.message_id).then(|| message.message_id.clone()),
            original_message_id: reading.original_message_id,
            sequence_number: message.system.sequence_number.clone(),
            content: reading.original,
            original_at: reading.original_at,
            loss_at: loss_at(retained_until, reading.diagnosis.impact.deadline),
            diagnosis: reading.diagnosis,
            sent_at,
            // A sender's clock that runs fast must not yield a death in the future: that would keep the gate closed.
            died_at: reading.failed_at.unwrap_or(now).min(now),
            died_after: reading.died_after,
            kept_at: now,
            deaths: 1,
            replays: 0,
            replays_forgiven: 0,
            state: LetterState::Waiting,
        }
    }

    /// Whether a new letter is the same dead message: SQS delivered it again, or a consumer dead-lettered it twice. A
    /// consumer's copy is recognised by its content only, because its identity is a claim.
    pub fn is_same_death(&self, newer: &Self) -> bool {
        (self.dlq == newer.dlq && self.id_in_dlq() == newer.id_in_dlq()) || self.content == newer.content
    }

    fn id_in_dlq(&self) -> &MessageId {
        self.dead_message_id.as_ref().unwrap_or(&self.original_message_id)
    }

    /// Returns a new letter under the id that SQS gave its message in the dead-letter queue, because the identity that
    /// it claims belongs to a letter with other content. Two messages then stay two letters.
    #[must_use]
    pub fn under_its_own_id(mut self) -> Self {
        self.diagnosis.remarks.push(CLAIMED_IDENTITY.to_string());
        if let Some(id) = self.dead_message_id.take() {
            self.original_message_id = id;
        }
        self.id = LetterId::from_dead_message(&self.dlq, &self.original_message_id);
        self
    }

    /// Whether it has the id that no claim can lead to; see [`Letter::under_its_own_id`].
    pub fn is_under_its_own_id(&self) -> bool {
        self.id == LetterId::from_dead_message(&self.dlq, &self.original_message_id)
    }

    /// Returns the letter after it died again, when a replayed message returned. Content, impact, send time and loss
    /// stay those of the first death. After `replays_max` replays the letter is quarantined.
    pub fn died_again(&self, mut reading: Reading, replays_max: u32, now: Timestamp) -> Self {
        let is_capped = self.is_capped(replays_max);
        reading.diagnosis.classification = after_replays(reading.diagnosis.classification, self.replays);
        Self {
            version: self.version + 1,
            group: reading.group,
            diagnosis: self.diagnosis.renewed_by(reading.diagnosis),
            died_at: reading.failed_at.unwrap_or(now).min(now),
            died_after: reading.died_after,
            deaths: self.deaths + 1,
            state: if is_capped { LetterState::Quarantined { at: now } } else { LetterState::Waiting },
            ..self.clone()
        }
    }

    /// Returns the id of a death of this letter, from the message's id on the main queue.
    pub fn death_id(&self, message: &MessageId) -> DeathId {
        DeathId::from_message(self.main_queue.as_ref().unwrap_or(&self.dlq), message)
    }

    /// Returns the record of its latest death. A letter with only one death needs no record: the letter itself
    /// describes it.
    pub fn latest_death(&self, message: &MessageId, replay: Option<ReplayId>) -> Death {
        Death {
            id: self.death_id(message),
            letter: self.id.clone(),
            number: self.deaths,
            died_at: self.died_at,
            died_after: self.died_after,
            group: self.group.clone(),
            title: self.diagnosis.title.clone(),
            consumer_version: self.diagnosis.consumer_version.clone(),
            replay,
        }
    }

    /// Returns the time before which it certainly did not last die. What is judged by it is never called a failure after a fix
    /// without proof.
    pub fn died_not_before(&self) -> Timestamp {
        self.died_after.unwrap_or(self.died_at)
    }

    /// Returns the letter in another state, with the next version.
    pub fn moved(&self, state: LetterState) -> Self {
        Self { version: self.version + 1, state, ..self.clone() }
    }

    /// Whether it has used up its replays since a person last released it.
    pub fn is_capped(&self, replays_max: u32) -> bool {
        self.replays.saturating_sub(self.replays_forgiven) >= replays_max
    }

    /// Returns the letter with its replays allowed again; `None` if nothing blocks it.
    pub fn released(&self, replays_max: u32) -> Option<Self> {
        let is_held = match &self.state {
            LetterState::Quarantined { .. } => true,
            // The cap was lowered, or the letter predates quarantines.
            LetterState::Waiting => self.is_capped(replays_max),
            LetterState::InReplay { .. } | LetterState::Delivered { .. } | LetterState::Discarded { .. } => false,
        };
        is_held.then(|| Self { replays_forgiven: self.replays, ..self.moved(LetterState::Waiting) })
    }

    /// Whether its deadline has passed, so that a replay would come too late.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.diagnosis.impact.deadline.is_some_and(|deadline| deadline <= now)
    }
}
