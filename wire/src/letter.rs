//! Letters as the dashboard shows them.

use alloc::string::String;
use alloc::vec::Vec;
use domain::id::{GroupId, LetterId, MessageId, QueueArn};
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
    /// Its current group.
    pub group: GroupId,
    /// The message type.
    pub message_type: Option<String>,
    /// The tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The impact.
    pub impact: Impact,
    /// Time of the first send.
    pub sent_at: Timestamp,
    /// When its consumer last failed on it; the time of the reading if that is not known.
    pub died_at: Timestamp,
    /// The time after which its consumer last failed on it, if it is only known that it did between that and `died_at`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub died_after: Option<Timestamp>,
    /// When it will be lost; `None` if nothing loses it.
    pub loss_at: Option<Timestamp>,
    /// The number of deaths.
    pub deaths: u32,
    /// The number of replays.
    pub replays: u32,
    /// The size of body and attributes, bytes.
    pub size_bytes: u64,
    /// Whether it can be sent back.
    pub replayability: Replayability,
    /// The state.
    #[serde(flatten)]
    pub state: LetterState,
}

/// A page of letters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LettersAnswer {
    /// The letters.
    pub letters: Vec<LetterRow>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// A letter's own page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetterAnswer {
    /// The fields of the list.
    pub row: LetterRow,
    /// Its message id on the main queue.
    pub original_message_id: MessageId,
    /// The main queue, where a replay sends it; `None` if it cannot be determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_queue: Option<QueueArn>,
    /// The dead-letter queue where it was found.
    pub dlq: QueueArn,
    /// Body and attributes, verbatim.
    pub content: Content,
    /// Where in its body the original is, as a jq path, if the body looks like an error envelope and is sent back as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_at: Option<String>,
    /// The diagnosis of its latest death.
    pub diagnosis: Diagnosis,
    /// Every death, oldest first.
    pub deaths: Vec<Death>,
    /// Where the trace is shown that the letter's `AWSTraceHeader` names. `None` unless the policy has a pattern for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_url: Option<String>,
}

impl LetterRow {
    /// Builds the row of a letter.
    pub fn new(letter: &Letter) -> Self {
        Self {
            id: letter.id.clone(),
            group: letter.group.clone(),
            message_type: letter.diagnosis.message_type.clone(),
            tenant: letter.diagnosis.tenant.clone(),
            impact: letter.diagnosis.impact.clone(),
            sent_at: letter.sent_at,
            died_at: letter.died_at,
            died_after: letter.died_after,
            loss_at: letter.loss_at,
            deaths: letter.deaths,
            replays: letter.replays,
            size_bytes: letter.content.size_bytes() as u64,
            replayability: letter.diagnosis.replayability.clone(),
            state: letter.state.clone(),
        }
    }
}

impl LetterAnswer {
    /// Builds the page of a letter.
    pub fn new(letter: Letter, deaths: Vec<Death>) -> Self {
        Self {
            row: LetterRow::new(&letter),
            original_message_id: letter.original_message_id,
            main_queue: letter.main_queue,
            dlq: letter.dlq,
            content: letter.content,
            original_at: letter.original_at,
            diagnosis: letter.diagnosis,
            deaths,
            trace_url: None,
        }
    }
}
