//! `dlo evacuate`: sends every open letter of an office back to its dead-letter queue, so that the office can be removed.
//!
//! The letters come from the office's API. They go to their queues with the rights of the person who runs the command:
//! the office itself has no right to send to a dead-letter queue. Ten letters at a time are sent and then discarded in the
//! office, so a second run goes on where the first one ended. If the first ended between the two, ten letters at most lie
//! in their queue twice. A file of what was sent could avoid that, but a run with an outdated file would discard letters
//! that lie in no queue.

use crate::remote::{Remote, RemoteError};
use async_trait::async_trait;
use domain::discard::DiscardReason;
use domain::group::GroupState;
use domain::id::{GroupId, LetterId, QueueArn};
use domain::letter::LetterState;
use domain::limits::{ATTRIBUTES_MAX, BATCH_ENTRIES_MAX, MESSAGE_BYTES_MAX};
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::Attribute;
use domain::read::Stamp;
use queue::{Outgoing, Queue, QueueError};
use reqwest::Method;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use wire::{DiscardPreviewAnswer, GroupAnswer, GroupsAnswer, LetterAnswer, LettersAnswer};

/// Letters per page of a list: the API's maximum.
const PAGE: usize = 200;
/// The states whose letters are open and in no replay.
const OPEN: [&str; 2] = ["waiting", "quarantined"];

/// Why an evacuation cannot begin or go on. Another run goes on where it ended.
#[derive(Debug, thiserror::Error)]
pub enum EvacuateError {
    /// The office does not do what it is asked.
    #[error(transparent)]
    Office(#[from] RemoteError),
    /// A queue does not answer.
    #[error("{0}. Run the command again to continue")]
    Queue(#[from] QueueError),
    /// Replays are not finished. The number is of groups.
    #[error("{0} of the groups have a replay that is not finished. Wait until it ends, or abort it, and then evacuate")]
    Replaying(usize),
    /// Letters would be taken from their queue at once.
    #[error(
        "{takers} reads {queue} and would take the letters back at once. Deploy the office with IntakeEnabled=false, \
         remove the stacks that `dlo attach` made, and then evacuate"
    )]
    Taken {
        /// The dead-letter queue.
        queue: QueueArn,
        /// Names of functions.
        takers: String,
    },
    /// It is not known who takes letters.
    #[error("cannot tell whether a function reads {queue}: {why}")]
    NotKnown {
        /// The dead-letter queue.
        queue: QueueArn,
        /// Why not.
        why: String,
    },
}

/// Knows who takes messages from a queue.
#[async_trait]
pub trait Takers: Sync {
    /// Returns the names of the functions that receive from this queue now, or why they are not known.
    async fn receiving_from(&self, dlq: &QueueArn) -> Result<Vec<String>, String>;
}

/// What an evacuation did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Evacuated {
    /// Letters that lie in each dead-letter queue again.
    pub sent: BTreeMap<QueueArn, u64>,
    /// Letters that their queue refuses, with its reason. They stay in the office.
    pub refused: Vec<(LetterId, String)>,
}

impl Evacuated {
    /// Returns the report for a person.
    pub fn report(&self) -> String {
        let mut text = String::new();
        for (queue, count) in &self.sent {
            let letters = if *count == 1 { "1 letter is" } else { &format!("{count} letters are") };
            let _ = writeln!(text, "{letters} in {queue} again.");
        }
        for (letter, why) in &self.refused {
            let _ = writeln!(text, "REFUSED: letter {letter} stays in the office: {why}");
        }
        let _ = match (self.sent.is_empty(), self.refused.is_empty()) {
            (true, true) => writeln!(text, "The office has no open letters."),
            (_, true) => writeln!(text, "The office has no open letters any more."),
            (_, false) => writeln!(text, "Save the refused letters from their pages before you remove the office."),
        };
        text
    }
}

/// Runs the command.
pub async fn run(office: &Remote, queue: &dyn Queue, takers: &dyn Takers) -> Result<Evacuated, EvacuateError> {
    let mut run = Run { office, queue, takers, checked: BTreeSet::new(), evacuated: Evacuated::default() };
    let mut done: BTreeSet<GroupId> = BTreeSet::new();
    loop {
        let answer: GroupsAnswer = office.call(Method::GET, "groups", None).await?;
        let replaying = answer.groups.iter().filter(|group| is_replaying(&group.state)).count();
        if replaying > 0 {
            return Err(EvacuateError::Replaying(replaying));
        }
        let open = |id: &GroupId| !done.contains(id);
        let groups: Vec<GroupId> = answer.groups.into_iter().filter(|g| g.open.letters > 0).map(|g| g.id).collect();
        let next: Vec<GroupId> = groups.into_iter().filter(open).collect();
        if next.is_empty() {
            return Ok(run.evacuated);
        }
        for group in next {
            run.group(&group).await?;
            done.insert(group);
        }
    }
}

struct Run<'a> {
    office: &'a Remote,
    queue: &'a dyn Queue,
    takers: &'a dyn Takers,
    /// Queues from which nobody takes letters.
    checked: BTreeSet<QueueArn>,
    evacuated: Evacuated,
}

impl Run<'_> {
    async fn group(&mut self, group: &GroupId) -> Result<(), EvacuateError> {
        let letters = self.open_letters(group).await?;
        for ten in letters.chunks(BATCH_ENTRIES_MAX) {
            // Somebody may have approved a replay since the last ten.
            let detail: GroupAnswer = self.office.call(Method::GET, &format!("groups/{group}"), None).await?;
            if is_replaying(&detail.row.state) {
                return Err(EvacuateError::Replaying(1));
            }
            self.send(group, ten).await?;
        }
        Ok(())
    }

    /// Lists before anything changes: a discard would move the pages.
    async fn open_letters(&self, group: &GroupId) -> Result<Vec<LetterId>, EvacuateError> {
        let mut found = Vec::new();
        for state in OPEN {
            let mut cursor = String::new();
            loop {
                let path = format!("groups/{group}/letters?state={state}&limit={PAGE}{cursor}");
                let page: LettersAnswer = self.office.call(Method::GET, &path, None).await?;
                found.extend(page.letters.into_iter().map(|letter| letter.id));
                match page.next {
                    Some(next) => cursor = format!("&cursor={next}"),
                    None => break,
                }
            }
        }
        Ok(found)
    }

    /// Sends at most ten letters to their queues, and discards those that their queue has accepted.
    async fn send(&mut self, group: &GroupId, ids: &[LetterId]) -> Result<(), EvacuateError> {
        let mut of_queue: BTreeMap<QueueArn, Vec<(LetterId, Outgoing)>> = BTreeMap::new();
        for id in ids {
            let letter: LetterAnswer = self.office.call(Method::GET, &format!("letters/{id}"), None).await?;
            if matches!(letter.row.state, LetterState::Waiting | LetterState::Quarantined { .. }) {
                of_queue.entry(letter.dlq.clone()).or_default().push((id.clone(), outgoing(letter)));
            }
        }
        for (dlq, letters) in of_queue {
            self.check(&dlq).await?;
            for batch in batches(letters) {
                let accepted = self.send_batch(&dlq, batch).await?;
                self.discard(group, &accepted).await?;
            }
        }
        Ok(())
    }

    async fn send_batch(
        &mut self,
        dlq: &QueueArn,
        batch: Vec<(LetterId, Outgoing)>,
    ) -> Result<Vec<LetterId>, EvacuateError> {
        let (ids, messages): (Vec<LetterId>, Vec<Outgoing>) = batch.into_iter().unzip();
        let results = self.queue.send_batch(dlq, &messages).await?;
        let mut accepted = Vec::new();
        for (id, result) in ids.into_iter().zip(results) {
            match result {
                Ok(_) => accepted.push(id),
                Err(failure) => self.evacuated.refused.push((id, failure.to_string())),
            }
        }
        *self.evacuated.sent.entry(dlq.clone()).or_default() += accepted.len() as u64;
        Ok(accepted)
    }

    async fn discard(&self, group: &GroupId, letters: &[LetterId]) -> Result<(), EvacuateError> {
        if letters.is_empty() {
            return Ok(());
        }
        let path = format!("groups/{group}/discard");
        let preview = json!({ "letters": letters });
        let preview: DiscardPreviewAnswer =
            self.office.call(Method::POST, &format!("{path}/preview"), Some(preview)).await?;
        let request = json!({
            "letters": letters,
            "seen_at": preview.seen_at,
            "reason": DiscardReason::Other,
            "note": "Evacuated: sent back to its dead-letter queue.",
        });
        let _: GroupAnswer = self.office.call(Method::POST, &path, Some(request)).await?;
        Ok(())
    }

    /// Fails if someone would take letters from this queue at once.
    async fn check(&mut self, dlq: &QueueArn) -> Result<(), EvacuateError> {
        if self.checked.contains(dlq) {
            return Ok(());
        }
        let takers = self.takers.receiving_from(dlq).await;
        let takers = takers.map_err(|why| EvacuateError::NotKnown { queue: dlq.clone(), why })?;
        if !takers.is_empty() {
            return Err(EvacuateError::Taken { queue: dlq.clone(), takers: takers.join(", ") });
        }
        self.checked.insert(dlq.clone());
        Ok(())
    }
}

fn is_replaying(state: &GroupState) -> bool {
    matches!(state, GroupState::Replaying { .. } | GroupState::Paused { .. } | GroupState::Verifying { .. })
}

/// Returns a letter as its consumer would dead-letter it: the message, and why it failed where there is room to say so.
fn outgoing(letter: LetterAnswer) -> Outgoing {
    let LetterAnswer { row, original_message_id, main_queue, dlq, mut content, diagnosis, .. } = letter;
    let stamp = Stamp {
        error_type: diagnosis.failure.error_type,
        message: diagnosis.failure.message,
        stack: diagnosis.failure.stack,
        class: diagnosis.failure.stated_class,
        consumer: diagnosis.consumer,
        consumer_version: diagnosis.consumer_version,
        message_type: diagnosis.message_type,
        attempts: diagnosis.attempts,
        original_message_id: Some(original_message_id),
        main_queue,
        first_sent_at: Some(row.sent_at),
        first_received_at: diagnosis.first_tried_at,
        failed_at: Some(row.died_at),
        ..Stamp::default()
    };
    let mut stamped = content.clone();
    stamped.attributes.insert(FAILURE_ATTRIBUTE.to_owned(), Attribute::text(stamp.print()));
    if stamped.attributes.len() <= ATTRIBUTES_MAX && stamped.size_bytes() <= MESSAGE_BYTES_MAX {
        content = stamped;
    }
    let deduplication_id = dlq.is_fifo().then(|| row.id.to_string());
    Outgoing { content, deduplication_id, ..Outgoing::default() }
}

/// Cuts at the size of a call.
fn batches(letters: Vec<(LetterId, Outgoing)>) -> Vec<Vec<(LetterId, Outgoing)>> {
    let mut found: Vec<Vec<(LetterId, Outgoing)>> = Vec::new();
    let mut left = 0;
    for letter in letters {
        let size = letter.1.content.size_bytes();
        match found.last_mut() {
            Some(batch) if size <= left => batch.push(letter),
            _ => {
                found.push(vec![letter]);
                left = MESSAGE_BYTES_MAX;
            }
        }
        left = left.saturating_sub(size);
    }
    found
}

/// Event source mappings, as Lambda reports them.
#[cfg(feature = "aws")]
pub struct Mappings<'a>(pub &'a lambda::connect::SdkConfig);

#[cfg(feature = "aws")]
#[async_trait]
impl Takers for Mappings<'_> {
    async fn receiving_from(&self, dlq: &QueueArn) -> Result<Vec<String>, String> {
        match crate::doctor::consumers(self.0, dlq).await {
            domain::doctor::Fact::Known(found) => {
                Ok(found.into_iter().filter(|consumer| consumer.enabled).map(|consumer| consumer.service).collect())
            }
            domain::doctor::Fact::Missing => Ok(Vec::new()),
            domain::doctor::Fact::Unknown(why) => Err(why),
        }
    }
}
