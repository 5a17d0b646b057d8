//! Letters as the dashboard shows them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::id::{GroupId, LetterId, MessageId};
use domain::impact::Impact;
use domain::letter::{Death, Letter, LetterState};
use domain::message::Content;
use domain::reading::{Diagnosis, Replayability};
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A letter in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterRow {
    /// Its id.
    pub id: LetterId,
    /// Its group now.
    pub group: GroupId,
    /// The kind of message.
    pub message_type: Option<String>,
    /// Whose message it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// What it costs.
    pub impact: Impact,
    /// When it was first sent.
    pub sent_at: Timestamp,
    /// When its consumer failed on it last.
    pub died_at: Timestamp,
    /// When it is lost.
    pub loss_at: Timestamp,
    /// How often it has died.
    pub deaths: u32,
    /// How often it was replayed.
    pub replays: u32,
    /// Bytes of body and attributes.
    pub size_bytes: u64,
    /// Whether it can be sent back.
    pub replayability: Replayability,
    /// Where it is.
    #[serde(flatten)]
    pub state: LetterState,
}

/// A page of letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LettersPage {
    /// The letters.
    pub letters: Vec<LetterRow>,
    /// What to ask for the next page with; none on the last one.
    pub next: Option<String>,
}

/// A letter's own page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterDetail {
    /// What lists have.
    pub row: LetterRow,
    /// Its message id on the main queue.
    pub original_message_id: MessageId,
    /// Body and attributes, verbatim.
    pub content: Content,
    /// What its latest death says.
    pub diagnosis: Diagnosis,
    /// Every death, first one first.
    pub deaths: Vec<Death>,
}

impl LetterRow {
    /// The row of a letter.
    pub fn of(letter: &Letter) -> Self {
        Self {
            id: letter.id.clone(),
            group: letter.group.clone(),
            message_type: letter.diagnosis.message_type.clone(),
            tenant: letter.diagnosis.tenant.clone(),
            impact: letter.diagnosis.impact.clone(),
            sent_at: letter.sent_at,
            died_at: letter.died_at,
            loss_at: letter.loss_at,
            deaths: letter.deaths,
            replays: letter.replays,
            size_bytes: letter.content.size_bytes() as u64,
            replayability: letter.diagnosis.replayability.clone(),
            state: letter.state.clone(),
        }
    }
}

impl LetterDetail {
    /// The page of a letter.
    pub fn of(letter: Letter, deaths: Vec<Death>) -> Self {
        Self {
            row: LetterRow::of(&letter),
            original_message_id: letter.original_message_id,
            content: letter.content,
            diagnosis: letter.diagnosis,
            deaths,
        }
    }
}
