//! Returned letters: messages that a replay sent and the consumer failed on again.
//!
//! A marker is only a hint, because consumers copy attributes and anyone can forge them. A message is a return if it has
//! the message id that the main queue gave on sending. A message that SQS moved has that id for certain. In a message
//! that a consumer dead-lettered by hand the id is a claim, so its body must also be the one that was sent, and it may
//! carry no other attributes than those that were sent. (A message with the marker may: consumers add attributes when
//! they dead-letter a message. They are kept as a remark.) Only where the queue's answer was lost does the marker count
//! by itself, and then the whole content must be what was sent. Every other message is a letter of its own: nothing is
//! dropped because of what a message says about itself.
//!
//! A consumer that dead-letters by hand and keeps the attributes sends a new message, with another id. While a letter's
//! result is awaited, such a message with the marker and the body that was sent is its return. One with another body is a
//! letter of its own; if it died of the cause that is replayed, the replay pauses (docs/decisions/0168).

use super::first::FirstDeath;
use super::{IntakeSummary, ReadMessage};
use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::OfficeError;
use crate::groups;
use crate::merged;
use crate::office::Office;
use crate::port::{EntryKey, Expect, Write};
use domain::audit::Act;
use domain::group::{CountsDeltas, Variant};
use domain::id::{GroupId, LetterId, MessageId, ReplayId};
use domain::letter::{Letter, LetterState};
use domain::marker::Marker;
use domain::message::{Attribute, Content};
use domain::reading::Class;
use domain::replay::{Block, Entry, LedgerMove, Outcome, OutcomeKind, ReturnCause};
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The longest description of attributes that a remark may hold, bytes. A message with longer ones is a letter of its own,
/// which keeps them.
const ADDED_BYTES_MAX: usize = 2_000;
/// What is said of a return that SQS does not vouch for, and that contradicts a delivery.
const UNPROVEN: &str = "Somebody sent this message to the dead-letter queue, with the ID and body of a delivered letter. Before you replay it, check with the consumer that it really failed.";
/// Stands for a value that no remark can hold.
const BINARY: &str = "(binary)";

/// The result for a message.
pub(super) enum Kept {
    /// It is stored as another death of its letter.
    Yes,
    /// This death is already stored.
    Duplicate,
    /// No replay of this office sent it.
    NotOurs {
        /// The replay that it speaks against: it has the marker of a letter that this replay sent, and the same cause.
        against: Option<(ReplayId, LetterId)>,
    },
}

impl Kept {
    const NOT_OURS: Self = Self::NotOurs { against: None };
}

/// Stores a message if it is a returned letter of ours.
pub(super) async fn keep(
    office: &Office,
    source: &ReadMessage,
    sending: &Sending,
    report: &mut IntakeSummary,
) -> Result<Kept, OfficeError> {
    let mut tries = Tries::new(format!("letter {}", sending.letter));
    let mut first = FirstDeath::default();
    loop {
        tries.begin()?;
        // A marker with unknown ids is forged or from another office: the message is a new letter.
        let Some(letter) = office.store.letter(&sending.letter).await? else { return Ok(Kept::NOT_OURS) };
        let numbers = [Block::number_of(sending.seq)];
        let block = office.store.blocks_at(&sending.replay, &numbers).await?.pop();
        let entry = block.as_ref().and_then(|block| block.entry(sending.seq)).filter(|it| it.letter == letter.id);
        let Some((block, entry)) = block.as_ref().zip(entry) else { return Ok(Kept::NOT_OURS) };
        let is_known = office.store.has_death(&letter.death_id(&source.reading.original_message_id)).await?;
        let is_return =
            (is_known && has_sent_body(source, &letter, entry)) || is_what_was_sent(source, sending, &letter, entry);
        if !is_return {
            let is_same = is_same_group(office, &letter.group, &source.reading.group).await?;
            let speaks = is_same && entry.sends > 0 && is_marked(source, entry);
            return Ok(Kept::NotOurs { against: speaks.then(|| (sending.replay.clone(), letter.id)) });
        }
        if is_known {
            let is_same = came_back_with(source, &letter).is_none_or(|it| letter.diagnosis.remarks.contains(&it));
            return Ok(if is_same { Kept::Duplicate } else { Kept::NOT_OURS });
        }
        let now = office.now();
        let same_group = is_same_group(office, &letter.group, &source.reading.group).await?;
        let cap = office.policy.gate.replays_max;
        let Some(return_) = Return::new(source, &letter, entry, (same_group, cap), now) else {
            return Ok(Kept::NOT_OURS);
        };
        let (opened, of_group) = groups::of_death(office, &return_.after, &source.reading, now).await?;
        let committed = commit(office, return_.writes(source, block, (of_group, first.write(&letter)), now)).await?;
        if committed.is_made() {
            return_.follow_up(office, opened, report, now).await;
            return Ok(Kept::Yes);
        }
        first.learn(&committed);
    }
}

/// Returns whether two fingerprints are equal or merged into one group.
async fn is_same_group(office: &Office, before: &GroupId, after: &GroupId) -> Result<bool, OfficeError> {
    let store = &*office.store;
    Ok(before == after || merged::group_of(store, before).await? == merged::group_of(store, after).await?)
}

/// The send that a message may come from.
pub(super) struct Sending {
    replay: ReplayId,
    letter: LetterId,
    seq: u64,
    /// Whether the message has, or claims, the id that the main queue gave; otherwise only its marker names the send.
    has_id: bool,
}

/// Finds the send that each message may come from. At most 200 messages.
pub(super) async fn sendings(office: &Office, sources: &[ReadMessage]) -> Result<Vec<Option<Sending>>, OfficeError> {
    let ids: BTreeSet<&MessageId> = sources.iter().map(|source| &source.reading.original_message_id).collect();
    let ids: Vec<_> = ids.into_iter().cloned().collect();
    let sent = if ids.is_empty() { BTreeMap::new() } else { office.store.sent(&ids).await? };
    let sending = |source: &ReadMessage| match sent.get(&source.reading.original_message_id) {
        Some(EntryKey { replay, letter, seq }) => {
            Some(Sending { replay: replay.clone(), letter: letter.clone(), seq: *seq, has_id: true })
        }
        None => {
            let marker = source.reading.marker.clone()?;
            Some(Sending { replay: marker.replay, letter: marker.letter, seq: marker.seq, has_id: false })
        }
    };
    Ok(sources.iter().map(sending).collect())
}

/// Whether SQS vouches for the message's id, or its body is the one that was sent.
fn has_sent_body(source: &ReadMessage, letter: &Letter, entry: &Entry) -> bool {
    let has_body = || entry.sent_body(letter, &source.reading.original.body);
    source.message.system.source_queue.is_some()
        || (has_body() && added(source, letter).is_none_or(|added| is_marked(source, entry) && !added.is_empty()))
}

/// Whether the message has the marker of this entry.
fn is_marked(source: &ReadMessage, entry: &Entry) -> bool {
    let names = |marker: &Marker| marker.replay == entry.replay && marker.letter == entry.letter;
    source.reading.marker.as_ref().is_some_and(names)
}

/// Returns the remark on attributes that a consumer added when it dead-lettered the message by hand.
fn came_back_with(source: &ReadMessage, letter: &Letter) -> Option<String> {
    let added = added(source, letter).filter(|_| source.message.system.source_queue.is_none())?;
    Some(format!("It came back with attributes that were not sent: {added}."))
}

/// Describes the attributes that the message has and its letter has not; `None` if there are none. Empty if they are too
/// long for a remark.
fn added(source: &ReadMessage, letter: &Letter) -> Option<String> {
    let sent = &letter.content.attributes;
    let is_new = |(name, value): &(&String, &Attribute)| sent.get(*name) != Some(*value);
    let new = source.reading.original.attributes.iter().filter(is_new);
    let new: Vec<_> = new.map(|(name, value)| format!("{name} = {}", value.as_text().unwrap_or(BINARY))).collect();
    let text = new.join(", ");
    let is_short = text.len() <= ADDED_BYTES_MAX && !new.iter().any(|one| one.ends_with(BINARY));
    (!new.is_empty()).then(|| if is_short { text } else { String::new() })
}

/// Whether a message is what this replay sent for this letter; see the head of this module.
fn is_what_was_sent(source: &ReadMessage, sending: &Sending, letter: &Letter, entry: &Entry) -> bool {
    let ReadMessage { reading, .. } = source;
    let Content { body, attributes, .. } = &reading.original;
    if sending.has_id || entry.message_id() == Some(&reading.original_message_id) {
        return has_sent_body(source, letter, entry);
    }
    let is_whole = || entry.has_unanswered_send() && *attributes == letter.content.attributes;
    entry.sent_body(letter, body) && (is_whole() || is_awaited(source, letter, entry))
}

/// Whether a message has the marker of a letter whose result is awaited, and everything else that it says can be kept.
fn is_awaited(source: &ReadMessage, letter: &Letter, entry: &Entry) -> bool {
    entry.outcome.kind() == OutcomeKind::InFlight
        && is_marked(source, entry)
        && added(source, letter).is_none_or(|added| !added.is_empty())
}

/// Whether only the message's own words turn a delivered letter into a returned one. A consumer that dead-letters by hand
/// knows id and body of what it received, and so does everybody who may read its queue: nothing tells the two apart
/// (docs/decisions/0096).
fn contradicts_delivery(source: &ReadMessage, entry: &Entry) -> bool {
    source.message.system.source_queue.is_none() && entry.outcome.kind() == OutcomeKind::Delivered
}

/// The effects of a return.
struct Return<'a> {
    before: &'a Letter,
    after: Letter,
    entry: &'a Entry,
    /// The entry after the return; `None` for another copy of a letter that has already returned.
    entry_after: Option<Entry>,
}

impl<'a> Return<'a> {
    /// Computes the effects of a return. Returns `None` if the entry was never sent, because its marker is then forged.
    /// An entry that was sent may return whatever its outcome, even if it was skipped because its answer was lost.
    fn new(
        source: &ReadMessage,
        before: &'a Letter,
        entry: &'a Entry,
        (same_group, replays_max): (bool, u32),
        now: Timestamp,
    ) -> Option<Self> {
        if entry.sends == 0 {
            return None;
        }
        let mut reading = source.reading.clone();
        reading.diagnosis.remarks.extend(came_back_with(source, before));
        if contradicts_delivery(source, entry) {
            reading.diagnosis.remarks.push(UNPROVEN.to_string());
        }
        let mut after = before.died_again_after_discard(reading, replays_max, now);
        let elsewhere = match &before.state {
            LetterState::InReplay { replay } | LetterState::Delivered { replay, .. } => *replay != entry.replay,
            // A discarded letter that comes back is open again.
            LetterState::Waiting | LetterState::Quarantined { .. } | LetterState::Discarded { .. } => false,
        };
        if elsewhere {
            // Another replay has the letter now: the death counts, but the letter's state stays.
            after.state = before.state.clone();
        }
        if entry.outcome.kind() == OutcomeKind::Returned {
            // The second copy of a letter that was sent twice.
            return Some(Self { before, after, entry, entry_after: None });
        }
        let cause = if same_group {
            ReturnCause::SameCause
        } else if after.diagnosis.classification.firm_class() == Class::Transient {
            ReturnCause::Transient
        } else {
            ReturnCause::NewCause
        };
        let outcome = Outcome::Returned {
            at: after.died_at,
            cause,
            group: after.group.clone(),
            title: after.diagnosis.title.clone(),
        };
        let entry_after = entry.moved(outcome);
        Some(Self { before, after, entry, entry_after: Some(entry_after) })
    }

    fn writes(
        &self,
        source: &ReadMessage,
        block: &Block,
        (of_group, first): (Vec<Write>, Option<Write>),
        now: Timestamp,
    ) -> Vec<Write> {
        let mut counts = CountsDeltas::default();
        counts.moved(Some(self.before), &self.after);
        counts.died(&self.after);
        let death = self.after.latest_death(&source.reading.original_message_id, Some(self.entry.replay.clone()));
        let mut writes = vec![
            Write::Letter { letter: Box::new(self.after.clone()), expect: Expect::Version(self.before.version) },
            Write::Death(Box::new(death)),
        ];
        writes.extend(first);
        if let Some(entry) = &self.entry_after {
            let mut next = Block { version: block.version + 1, ..block.clone() };
            next.change(self.entry, entry);
            writes.push(Write::next_block(next));
            let moves = vec![LedgerMove::between(self.entry, entry)];
            writes.push(Write::Ledger { replay: entry.replay.clone(), moves });
        }
        writes.extend(of_group);
        if let LetterState::Quarantined { .. } = self.after.state {
            let detail = format!(
                "Letter {} failed again after {} replays and is now quarantined",
                self.after.id, self.after.replays
            );
            writes.push(self.record(Act::LetterQuarantined, &self.after.group, detail, now));
        }
        if self.before.state.discard().is_some() {
            let detail = format!("Discarded letter {} returned from a replay and is open again", self.before.id);
            writes.push(self.record(Act::DiscardedDiedAgain, &self.after.group, detail, now));
        }
        if matches!(self.entry.outcome.kind(), OutcomeKind::Delivered | OutcomeKind::Skipped) {
            let unproven =
                if contradicts_delivery(source, self.entry) { format!(". {UNPROVEN}") } else { String::new() };
            let detail = format!("Letter {} returned after its outcome was recorded{unproven}", self.before.id);
            writes.push(self.record(Act::LateReturn, &self.before.group, detail, now));
        }
        writes.extend(groups::count_writes(counts));
        writes
    }

    fn record(&self, act: Act, group: &GroupId, detail: String, at: Timestamp) -> Write {
        Auditor::office(group, at).in_replay(&self.entry.replay).record(act, detail, None)
    }

    async fn follow_up(&self, office: &Office, opened: Option<Variant>, report: &mut IntakeSummary, now: Timestamp) {
        report.returned += usize::from(self.entry_after.is_some());
        report.duplicates += usize::from(self.entry_after.is_none());
        report.replays.insert(self.entry.replay.clone());
        if let Some(group) = opened {
            report.new_groups += 1;
            office.alert(groups::new_group(office, &group, now)).await;
        }
        let on = groups::version_of(&self.after);
        let regressed = groups::after_death(office, &self.after.group, self.after.died_not_before(), &on, now).await;
        report.regressions += usize::from(regressed);
    }
}
