//! Sending letters of a wave: first the intent, then the send, then the queue's answer.
//!
//! Only between the send and the record of its answer is the outcome unknown. A letter whose answer was lost is sent
//! again by the next run, counted (`sent_twice`), and shown.

use super::Did;
use super::batch::{Change, Changed, Fence, commit, commit_over};
use super::blocks::Known;
use super::changed::{self, Bodies, program_of};
use super::order::{Sendable, sendable};
use super::settle::SETTLE_MAX;
use super::transition::{enter, pause, put};
use crate::error::OfficeError;
use crate::office::Office;
use crate::payloads::PayloadChecks;
use crate::port::{EntryFailure, Outgoing, Presence, QueueError};
use domain::id::MessageId;
use domain::letter::{Letter, LetterState};
use domain::limits::{ATTRIBUTES_MAX, BATCH_ENTRIES_MAX, HAND_LETTERS_MAX, MESSAGE_BYTES_MAX};
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::Attribute;
use domain::replay::{Entry, Ledger, Outcome, OutcomeKind, PauseReason, Phase, Replay, SkipReason};
use domain::time::{Span, Timestamp};
use domain::transform::Transform;
use futures_util::future::join_all;
use std::collections::BTreeSet;

/// The replay pauses after this many sends of one letter without an answer.
const UNANSWERED_SENDS_MAX: u32 = 3;

/// Sends at most `letters_max` letters of a wave: as many as the pace allows in a second, and none after `until`.
pub(super) async fn send(
    office: &Office,
    (replay, ledger): (&Replay, &Ledger),
    (wave, letters_max): (u32, u64),
    executor: &str,
    until: Timestamp,
) -> Result<Did, OfficeError> {
    let started = office.now();
    let letters = letters_max.min(u64::from(replay.plan().pace_per_s)).max(1);
    let held = replay.held_by(executor, letters, started);
    if !put(office, &held, replay.version()).await? {
        return Ok(Did::Lost);
    }
    let transform = match program_of(office, &held).await? {
        Ok(transform) => transform,
        Err(why) => {
            let released = held.released(office.now());
            if !put(office, &released, held.version()).await? {
                return Ok(Did::Lost);
            }
            return pause(office, &released, PauseReason::GateClosed { unmet: vec![why] }).await;
        }
    };
    let run = Run { office, replay: &held, transform, until };
    match run.send_up_to(ledger, wave, letters as usize).await? {
        RunEnd::Fenced => return Ok(Did::Lost),
        RunEnd::Behind => {
            // Nothing was sent, so the windows in flight do not change.
            let free = held.unsent(replay);
            return if put(office, &free, held.version()).await? {
                observe_first(office, &free, wave).await
            } else {
                Ok(Did::Lost)
            };
        }
        RunEnd::Unavailable(detail) => {
            // The lease must be released before the pause.
            let released = held.released(office.now());
            if !put(office, &released, held.version()).await? {
                return Ok(Did::Lost);
            }
            return pause(office, &released, PauseReason::QueueUnavailable { detail }).await;
        }
        RunEnd::Done | RunEnd::Unanswered | RunEnd::Overtaken => {}
    }
    let released = held.released(office.now());
    if !put(office, &released, held.version()).await? {
        return Ok(Did::Lost);
    }
    let paced_until = held.paced_until().unwrap_or(started);
    Ok(if paced_until > office.now() { Did::AllUntil(paced_until) } else { Did::Something })
}

/// No letter of the wave may be sent now: letters in flight are observed first, then the wave continues.
async fn observe_first(office: &Office, replay: &Replay, wave: u32) -> Result<Did, OfficeError> {
    let ledger = office.store.ledger(replay.id()).await?;
    let columns = ledger.wave(wave);
    if columns.pending + columns.sending == 0 {
        return Ok(Did::Something);
    }
    let until = replay.window_ends_at(office.now());
    enter(office, replay, &ledger, wave, Phase::Observing { until }).await
}

/// Why a run of sends has ended.
enum RunEnd {
    /// Everything was sent.
    Done,
    /// Another process has changed the replay (a pause, an abort): nothing more may be sent.
    Fenced,
    /// The remaining letters wait for letters of their message groups that are in flight.
    Behind,
    /// An answer was lost: the remaining letters wait for the next run.
    Unanswered,
    /// Another executor has sent the remaining letters.
    Overtaken,
    /// The main queue cannot take letters; why.
    Unavailable(String),
}

struct Run<'a> {
    office: &'a Office,
    replay: &'a Replay,
    /// The program that changes the letters.
    transform: Option<Transform>,
    /// The time after which no batch is sent.
    until: Timestamp,
}

impl Run<'_> {
    async fn send_up_to(&self, ledger: &Ledger, wave: u32, letters: usize) -> Result<RunEnd, OfficeError> {
        let mut known = Known::new(self.replay.id());
        let wanted = (wave, letters);
        let Sendable { mut entries, behind, all_wait } =
            sendable(self.office, self.replay, ledger, &mut known, wanted).await?;
        if self.skip_behind(&mut known, behind).await? {
            return Ok(RunEnd::Fenced);
        }
        if entries.is_empty() {
            return Ok(if all_wait { RunEnd::Behind } else { RunEnd::Overtaken });
        }
        let in_hand_max = self.in_hand_max();
        while !entries.is_empty() {
            let later = entries.split_off(entries.len().min(in_hand_max));
            let hand = std::mem::replace(&mut entries, later);
            match self.send_hand(&mut known, hand).await? {
                RunEnd::Done if self.office.now() >= self.until => break,
                RunEnd::Done => {}
                end => return Ok(end),
            }
        }
        Ok(RunEnd::Done)
    }

    /// Returns how many letters are taken in hand. A program may need a quarter of a second for each letter, and the lease
    /// does not wait for eighty.
    fn in_hand_max(&self) -> usize {
        let most = usize::try_from(self.replay.plan().in_hand_max()).unwrap_or(HAND_LETTERS_MAX);
        if self.transform.is_some() { most.min(BATCH_ENTRIES_MAX) } else { most }
    }

    /// Skips letters that must not overtake a returned letter; they wait for another plan. Returns whether another
    /// process has changed the replay.
    async fn skip_behind(&self, known: &mut Known, behind: Vec<Entry>) -> Result<bool, OfficeError> {
        let outcome = Outcome::skipped(SkipReason::Behind);
        for chunk in behind.chunks(SETTLE_MAX) {
            let skipped = chunk.iter().map(|entry| Change::new(entry.clone(), outcome.clone(), None));
            if commit(self.office, Some(self.fence()), known, skipped.collect()).await?.fenced {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn send_hand(&self, known: &mut Known, entries: Vec<Entry>) -> Result<RunEnd, OfficeError> {
        let ids: Vec<_> = entries.iter().map(|entry| entry.letter.clone()).collect();
        let letters = self.office.store.letters(&ids).await?;
        let now = self.office.now();
        let judged = entries.into_iter().map(|entry| self.judge(entry, &letters, now)).collect();
        let judged = self.skip_gone(judged, &letters).await;
        let (judged, bodies) = match &self.transform {
            Some(transform) => changed::over(self.office, transform, judged, &letters).await?,
            None => (judged, Bodies::new()),
        };
        let is_sent = |change: &Change| change.after.outcome.kind() == OutcomeKind::Sending;
        let (ready, dropped): (Vec<_>, Vec<_>) = judged.into_iter().partition(is_sent);
        let dropped = commit(self.office, Some(self.fence()), known, dropped).await?;
        if dropped.fenced {
            return Ok(RunEnd::Fenced);
        }
        let intent = commit_over(self.office, Some(self.fence()), known, ready, letters).await?;
        // Where the intents did not fit into one commit, some may be written although another process has changed the
        // replay since: their letters are in hand, and go out.
        let is_fenced = intent.fenced;
        let end = self.send_ready(known, self.ready(intent, bodies)).await?;
        Ok(if is_fenced { RunEnd::Fenced } else { end })
    }

    /// Skips letters whose payload has disappeared since the plan was made: the consumer would only fail again.
    async fn skip_gone(&self, judged: Vec<Change>, letters: &[Letter]) -> Vec<Change> {
        let sent: BTreeSet<_> = judged.iter().filter(|c| c.letter.is_some()).map(|c| &c.entry.letter).collect();
        let letters = letters.iter().filter(|letter| sent.contains(&letter.id)).collect();
        let presences = PayloadChecks::default().check(&*self.office.payloads, letters).await;
        let is_gone = |change: &Change| presences.get(&change.entry.letter) == Some(&Presence::Gone);
        let checked = judged
            .into_iter()
            .map(|change| if is_gone(&change) { change.skipped(SkipReason::PayloadGone, None) } else { change });
        checked.collect()
    }

    fn fence(&self) -> Fence<'_> {
        Fence { replay: self.replay.id(), version: self.replay.version() }
    }

    /// Decides about an entry: the intent to send it, or its outcome without a send.
    fn judge(&self, entry: Entry, letters: &[Letter], now: Timestamp) -> Change {
        let skipped = |entry: Entry, outcome| Change::new(entry, outcome, None);
        let Some(letter) = letters.iter().find(|letter| letter.id == entry.letter) else {
            return skipped(entry, Outcome::skipped(SkipReason::LetterGone));
        };
        let ours = LetterState::InReplay { replay: self.replay.id().clone() };
        let again = entry.outcome.kind() == OutcomeKind::Sending && letter.state == ours;
        if letter.state != LetterState::Waiting && !again {
            let is_discarded = letter.state.discard().is_some();
            let reason = if is_discarded { SkipReason::Discarded } else { SkipReason::NotWaiting };
            return skipped(entry, Outcome::skipped(reason));
        }
        if letter.is_expired(now) && !again {
            return skipped(entry, Outcome::Expired { at: now });
        }
        let sends = entry.sends + 1;
        let mut change = Change::new(entry, Outcome::Sending { since: now }, Some(ours));
        (change.after.sends, change.after.changed_by) = (sends, None);
        change
    }

    /// Returns the letters whose intent is written, with their messages.
    fn ready(&self, intent: Changed, mut bodies: Bodies) -> Vec<Ready> {
        let entry_of = |letter: &Letter| intent.made.iter().find(|c| c.entry.letter == letter.id);
        let ready = intent.letters.iter().filter_map(|letter| {
            let body = bodies.remove(&letter.id);
            let entry = entry_of(letter)?.after.clone();
            let outgoing = outgoing(letter, &entry, self.replay, body);
            let is_found_by_id = is_found_by_id(letter, &outgoing);
            Some(Ready { entry, outgoing, is_found_by_id })
        });
        ready.collect()
    }

    /// Sends letters whose intent is written, all batches at once, and records the answers.
    async fn send_ready(&self, known: &mut Known, ready: Vec<Ready>) -> Result<RunEnd, OfficeError> {
        let queue = &self.replay.plan().main_queue;
        let sends = pack(ready).into_iter().map(async |batch| {
            let messages: Vec<_> = batch.iter().map(|ready| ready.outgoing.clone()).collect();
            (self.office.queue.send_batch(queue, &messages).await, batch)
        });
        let (mut answered, mut end) = (Vec::new(), RunEnd::Done);
        for (answer, batch) in join_all(sends).await {
            match answer {
                Ok(answers) => answered.extend(batch.into_iter().zip(answers)),
                // The letters stay in `sending`, because they may have been sent. The next run sends and counts them
                // again. A queue that never answers must not get the same letter again and again.
                Err(error @ QueueError::Unanswered { .. }) => {
                    let error_chain = crate::error::chain(&error);
                    tracing::warn!(replay = %self.replay.id(), error = error_chain, "the answer to a send was lost");
                    let tried_often = batch.iter().any(|ready| ready.entry.sends >= UNANSWERED_SENDS_MAX);
                    end = match end {
                        RunEnd::Unavailable(why) => RunEnd::Unavailable(why),
                        _ if tried_often => RunEnd::Unavailable(error.to_string()),
                        _ => RunEnd::Unanswered,
                    };
                }
                Err(error) => {
                    let reason = error.to_string();
                    let failure = EntryFailure { code: "NotSent".into(), reason: reason.clone(), sender_fault: false };
                    answered.extend(batch.into_iter().map(|ready| (ready, Err(failure.clone()))));
                    end = RunEnd::Unavailable(reason);
                }
            }
        }
        self.record(known, answered).await?;
        Ok(end)
    }

    /// Records the queue's answers. Not fenced, because the sends have happened, whoever holds the replay now. A letter
    /// that has come back before its send is recorded keeps its outcome.
    async fn record(
        &self,
        known: &mut Known,
        answered: Vec<(Ready, Result<MessageId, EntryFailure>)>,
    ) -> Result<(), OfficeError> {
        let now = self.office.now();
        // A letter without an answer stays in `sending`.
        let changes = answered.into_iter().map(|(Ready { entry, is_found_by_id, .. }, answer)| {
            let waiting = Some(LetterState::Waiting);
            match answer {
                Ok(message_id) => {
                    let (answers, sent) = (entry.answers + 1, Outcome::InFlight { sent_at: now, message_id });
                    let mut change = Change::new(entry, sent, None);
                    (change.after.answers, change.is_found_by_id) = (answers, is_found_by_id);
                    change
                }
                Err(refused) if refused.sender_fault => {
                    tracing::warn!(letter = %entry.letter, code = refused.code, "the main queue refused a letter");
                    Change::new(entry, Outcome::skipped(SkipReason::Refused), waiting)
                }
                Err(_) => {
                    let sends = entry.sends.saturating_sub(1);
                    let mut change = Change::new(entry, Outcome::Pending, waiting);
                    change.after.sends = sends;
                    change
                }
            }
        });
        commit(self.office, None, known, changes.collect()).await?;
        Ok(())
    }
}

/// A letter whose intent is written, and its message.
struct Ready {
    entry: Entry,
    outgoing: Outgoing,
    is_found_by_id: bool,
}

/// Whether a letter may return without its marker: none fitted, or its consumer dead-letters messages itself and may
/// leave it out. What SQS moves keeps its attributes.
fn is_found_by_id(letter: &Letter, outgoing: &Outgoing) -> bool {
    letter.dead_message_id.is_some() || !outgoing.content.attributes.contains_key(MARKER_ATTRIBUTE)
}

/// Returns the message to send: the original, with the body of a transform if there is one, and with our marker if
/// there is room for it.
fn outgoing(letter: &Letter, entry: &Entry, replay: &Replay, body: Option<String>) -> Outgoing {
    let (letter_id, replay_id) = (letter.id.clone(), replay.id().clone());
    let marker = Marker { letter: letter_id, replay: replay_id, attempt: letter.replays, seq: entry.seq };
    let mut content = letter.content.clone();
    if let Some(body) = body {
        content.body = body;
    }
    let attribute = Attribute::text(marker.print());
    if content.attributes.len() < ATTRIBUTES_MAX {
        content.attributes.insert(MARKER_ATTRIBUTE.into(), attribute);
        if content.size_bytes() > MESSAGE_BYTES_MAX {
            content.attributes.remove(MARKER_ATTRIBUTE);
        }
    }
    // The same within an attempt, so that a FIFO queue drops a second send within 5 minutes; another for each attempt,
    // so that the queue does not drop a deliberate one.
    let deduplication_id = replay.plan().main_queue.is_fifo().then(|| format!("dlo-{}-{}", letter.id, letter.replays));
    Outgoing { content, deduplication_id, delay: Span::ZERO }
}

/// Packs messages into batches of at most ten messages and 1 MiB.
fn pack(messages: Vec<Ready>) -> Vec<Vec<Ready>> {
    let mut batches: Vec<Vec<Ready>> = Vec::new();
    let mut bytes = 0;
    for ready in messages {
        let size = ready.outgoing.content.size_bytes();
        match batches.last_mut() {
            Some(batch) if batch.len() < BATCH_ENTRIES_MAX && bytes + size <= MESSAGE_BYTES_MAX => {
                bytes += size;
                batch.push(ready);
            }
            _ => {
                bytes = size;
                batches.push(vec![ready]);
            }
        }
    }
    batches
}
