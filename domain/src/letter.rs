//! A letter: one dead message as we keep it, and each of its deaths.

use crate::id::{DeathId, GroupId, LetterId, MessageId, QueueArn, ReplayId};
use crate::impact::loss_at;
use crate::message::{Content, DeadMessage};
use crate::reading::{Diagnosis, Reading};
use crate::tagged::need;
use crate::time::{Span, Timestamp};
use alloc::string::String;
use serde::{Deserialize, Deserializer, Serialize};

/// Where a letter is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum LetterState {
    /// In our custody, not on its way anywhere.
    Waiting,
    /// A replay means to send it, is sending it, or has sent it and waits for what becomes of it.
    InReplay {
        /// The replay.
        replay: ReplayId,
    },
    /// It died again after as many replays as the policy allows: no plan takes it until a person releases it.
    Quarantined {
        /// Since when.
        at: Timestamp,
    },
    /// Sent back, and confirmed or not returned within its observation window.
    Delivered {
        /// The replay that sent it.
        replay: ReplayId,
        /// When that was judged.
        at: Timestamp,
    },
}

/// What a state may carry.
#[derive(Deserialize)]
struct Carried {
    state: LetterStateKind,
    replay: Option<ReplayId>,
    at: Option<Timestamp>,
}

impl<'de> Deserialize<'de> for LetterState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Carried { state, replay, at } = Carried::deserialize(deserializer)?;
        let replay = || need(replay, "replay");
        Ok(match state {
            LetterStateKind::Waiting => Self::Waiting,
            LetterStateKind::InReplay => Self::InReplay { replay: replay()? },
            LetterStateKind::Quarantined => Self::Quarantined { at: need(at, "at")? },
            LetterStateKind::Delivered => Self::Delivered { replay: replay()?, at: need(at, "at")? },
        })
    }
}

/// [`LetterState`] without what belongs to it: what lists are filtered by and counters are kept for.
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
}

impl LetterStateKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Waiting, Self::InReplay, Self::Quarantined, Self::Delivered];

    /// The word of the kind, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::InReplay => "in_replay",
            Self::Quarantined => "quarantined",
            Self::Delivered => "delivered",
        }
    }

    /// Whether a letter in this state still waits to be processed by somebody.
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Delivered)
    }
}

impl LetterState {
    /// The kind of the state.
    pub fn kind(&self) -> LetterStateKind {
        match self {
            Self::Waiting => LetterStateKind::Waiting,
            Self::InReplay { .. } => LetterStateKind::InReplay,
            Self::Quarantined { .. } => LetterStateKind::Quarantined,
            Self::Delivered { .. } => LetterStateKind::Delivered,
        }
    }

    /// When it was judged delivered; none where it is not.
    pub fn delivered_at(&self) -> Option<Timestamp> {
        match self {
            Self::Delivered { at, .. } => Some(*at),
            Self::Waiting | Self::InReplay { .. } | Self::Quarantined { .. } => None,
        }
    }
}

/// One dead message as we keep it. `content` never changes; the rest tells of its latest death.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// Its identity.
    pub id: LetterId,
    /// Grows by one with each change; what a conditional write compares.
    pub version: u64,
    /// The error group of its latest death.
    pub group: GroupId,
    /// Where it goes back to; none where nobody could tell.
    pub main_queue: Option<QueueArn>,
    /// Where it was found.
    pub dlq: QueueArn,
    /// Its id on the main queue.
    pub original_message_id: MessageId,
    /// Its place in the dead-letter queue when it first died, on FIFO: within a message group the order of sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<String>,
    /// Body and attributes as they were on the main queue, verbatim.
    pub content: Content,
    /// What its latest death says. Impact, type, tenant and producer stay as the first death said.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
    /// When it was first sent by its producer.
    pub sent_at: Timestamp,
    /// When its queue's retention or its own deadline ends.
    pub loss_at: Timestamp,
    /// When its consumer failed on it for the last time.
    pub died_at: Timestamp,
    /// When the office took it into custody first.
    pub kept_at: Timestamp,
    /// How often it has died, the first time included.
    pub deaths: u32,
    /// How often we have sent it back.
    pub replays: u32,
    /// How many of these no longer count, because a person released it from quarantine after them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replays_forgiven: u32,
    /// Where it is.
    #[serde(flatten)]
    pub state: LetterState,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// One death of one letter; never changed, never removed while the letter is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Death {
    /// Its identity.
    pub id: DeathId,
    /// The letter.
    pub letter: LetterId,
    /// 1 for the first death.
    pub number: u32,
    /// When the consumer failed.
    pub died_at: Timestamp,
    /// The group of this death.
    pub group: GroupId,
    /// The failure's title.
    pub title: String,
    /// The consumer's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_version: Option<String>,
    /// The replay that it came back from; none for the first death.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayId>,
}

impl Letter {
    /// The letter that a first reading makes. `retention` is the dead-letter queue's.
    pub fn first(message: &DeadMessage, reading: Reading, retention: Span, now: Timestamp) -> Self {
        let identity_queue = reading.main_queue.as_ref().unwrap_or(&message.dlq);
        let sent_at = reading.sent_at.unwrap_or(now);
        Self {
            id: LetterId::of(identity_queue, &reading.original_message_id),
            version: 1,
            group: reading.group,
            main_queue: reading.main_queue.clone(),
            dlq: message.dlq.clone(),
            original_message_id: reading.original_message_id,
            sequence_number: message.system.sequence_number.clone(),
            content: reading.original,
            loss_at: loss_at(message.system.sent_at.unwrap_or(sent_at), retention, reading.diagnosis.impact.deadline),
            diagnosis: reading.diagnosis,
            sent_at,
            // A clock ahead of ours must not make a death of the future: it would hold the gate shut .
            died_at: reading.failed_at.unwrap_or(now).min(now),
            kept_at: now,
            deaths: 1,
            replays: 0,
            replays_forgiven: 0,
            state: LetterState::Waiting,
        }
    }

    /// The letter after it died again: a message of ours came back. What it was when it first died stays: content,
    /// impact, times of sending and loss. After `replays_max` replays it goes into quarantine.
    pub fn died_again(&self, reading: Reading, replays_max: u32, now: Timestamp) -> Self {
        let is_capped = self.is_capped(replays_max);
        Self {
            version: self.version + 1,
            group: reading.group,
            diagnosis: self.diagnosis.renewed_by(reading.diagnosis),
            died_at: reading.failed_at.unwrap_or(now).min(now),
            deaths: self.deaths + 1,
            state: if is_capped { LetterState::Quarantined { at: now } } else { LetterState::Waiting },
            ..self.clone()
        }
    }

    /// The identity of a death of this letter, by the message's id on the main queue.
    pub fn death_id(&self, message: &MessageId) -> DeathId {
        DeathId::of(self.main_queue.as_ref().unwrap_or(&self.dlq), message)
    }

    /// The record of its latest death. A first death needs none while it is the only one: the letter itself tells it.
    pub fn latest_death(&self, message: &MessageId, replay: Option<ReplayId>) -> Death {
        Death {
            id: self.death_id(message),
            letter: self.id.clone(),
            number: self.deaths,
            died_at: self.died_at,
            group: self.group.clone(),
            title: self.diagnosis.title.clone(),
            consumer_version: self.diagnosis.consumer_version.clone(),
            replay,
        }
    }

    /// The same letter in another state, one version on.
    pub fn moved(&self, state: LetterState) -> Self {
        Self { version: self.version + 1, state, ..self.clone() }
    }

    /// Whether it was replayed as often as it may be, since a person has released it.
    pub fn is_capped(&self, replays_max: u32) -> bool {
        self.replays.saturating_sub(self.replays_forgiven) >= replays_max
    }

    /// The letter once a person lets it be replayed again; none where nothing holds it back.
    pub fn released(&self, replays_max: u32) -> Option<Self> {
        let is_held = match &self.state {
            LetterState::Quarantined { .. } => true,
            // The cap was lowered, or the letter is older than quarantines.
            LetterState::Waiting => self.is_capped(replays_max),
            LetterState::InReplay { .. } | LetterState::Delivered { .. } => false,
        };
        is_held.then(|| Self { replays_forgiven: self.replays, ..self.moved(LetterState::Waiting) })
    }

    /// Whether its deadline has passed: sending it back would do what nobody wants any more.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.diagnosis.impact.deadline.is_some_and(|deadline| deadline <= now)
    }
}
