//! Sending letters of a wave: intent first, then the send, then what the queue answered.
//!
//! The one ambiguous window is between the send and its record: a letter whose answer was lost is sent again by the
//! next run, is counted (`sent_twice`), and is shown.

use super::Did;
use super::batch::{Change, Changed, Fence, commit, commit_over};
use super::changed::{self, Bodies, program_of};
use super::order::{Turns, turns};
use super::settle::SETTLE_MAX;
use super::transition::{enter, pause};
use crate::error::OfficeError;
use crate::office::Office;
use crate::payloads::PayloadChecks;
use crate::port::{EntryFailure, Expect, Outgoing, Presence, QueueError, Write};
use domain::id::MessageId;
use domain::letter::{Letter, LetterState};
use domain::limits::{ATTRIBUTES_MAX, BATCH_ENTRIES_MAX, MESSAGE_BYTES_MAX};
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::Attribute;
use domain::replay::{Entry, Outcome, OutcomeKind, PauseReason, Phase, Replay, SkipReason};
use domain::time::{Span, Timestamp};
use domain::transform::Transform;
use std::collections::BTreeSet;

/// After so many sends of a letter without an answer the replay pauses.
const UNANSWERED_SENDS_MAX: u32 = 3;

/// Sends letters of a wave, so many at most, as the pace allows in a second, or until its time is over.
pub(super) async fn send(
    office: &Office,
    replay: &Replay,
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
        Err(words) => {
            let released = held.released(office.now());
            if !put(office, &released, held.version()).await? {
                return Ok(Did::Lost);
            }
            return pause(office, &released, PauseReason::GateClosed { unmet: vec![words] }).await;
        }
    };
    let run = Run { office, replay: &held, transform, until };
    match run.send_up_to(wave, letters as usize).await? {
        Stopped::Fenced => return Ok(Did::Lost),
        Stopped::Behind => {
            // Nothing was sent: the windows end when they would have.
            let free = held.unsent(replay);
            return if put(office, &free, held.version()).await? {
                observe_first(office, &free, wave).await
            } else {
                Ok(Did::Lost)
            };
        }
        Stopped::Unavailable(detail) => {
            // The reason is the queue's; the lease goes with the pause.
            let released = held.released(office.now());
            if !put(office, &released, held.version()).await? {
                return Ok(Did::Lost);
            }
            return pause(office, &released, PauseReason::QueueUnavailable { detail }).await;
        }
        Stopped::Done | Stopped::Unanswered | Stopped::Lagging => {}
    }
    let released = held.released(office.now());
    if !put(office, &released, held.version()).await? {
        return Ok(Did::Lost);
    }
    let paced_until = held.paced_until().unwrap_or(started);
    Ok(if paced_until > office.now() { Did::AllUntil(paced_until) } else { Did::Something })
}

/// No letter of the wave may go now: those on their way are observed first, then the wave is sent on.
async fn observe_first(office: &Office, replay: &Replay, wave: u32) -> Result<Did, OfficeError> {
    let ledger = office.store.ledger(replay.id()).await?;
    let columns = ledger.wave(wave);
    if columns.pending + columns.sending == 0 {
        return Ok(Did::Something);
    }
    let until = replay.window_ends_at(office.now());
    enter(office, replay, &ledger, wave, Phase::Observing { until }).await
}

pub(super) async fn put(office: &Office, replay: &Replay, version: u64) -> Result<bool, OfficeError> {
    let write = Write::Replay { replay: Box::new(replay.clone()), expect: Expect::Version(version) };
    Ok(crate::commit::commit(office, vec![write]).await?.is_made())
}

/// Why a run of sends ended.
enum Stopped {
    /// What was to be sent is sent.
    Done,
    /// The replay was changed by somebody else (a pause, an abort): nothing more may be sent.
    Fenced,
    /// What is left waits for letters of its message groups that are on their way.
    Behind,
    /// An answer was lost: the rest waits for the next run.
    Unanswered,
    /// The list of what is left lags behind, or nothing is: the next run knows.
    Lagging,
    /// The main queue does not take letters.
    Unavailable(String),
}

struct Run<'a> {
    office: &'a Office,
    replay: &'a Replay,
    /// What letters are changed by.
    transform: Option<Transform>,
    /// No batch begins after this moment.
    until: Timestamp,
}

impl Run<'_> {
    async fn send_up_to(&self, wave: u32, letters: usize) -> Result<Stopped, OfficeError> {
        let Turns { go: mut entries, behind, all_wait } = turns(self.office, self.replay, wave, letters).await?;
        if self.stay(behind).await? {
            return Ok(Stopped::Fenced);
        }
        if entries.is_empty() {
            return Ok(if all_wait { Stopped::Behind } else { Stopped::Lagging });
        }
        while !entries.is_empty() {
            let rest = entries.split_off(entries.len().min(BATCH_ENTRIES_MAX));
            let batch = std::mem::replace(&mut entries, rest);
            match self.send_batch(batch).await? {
                Stopped::Done if self.office.now() >= self.until => break,
                Stopped::Done => {}
                stopped => return Ok(stopped),
            }
        }
        Ok(Stopped::Done)
    }

    /// Letters that must not overtake one that came back get their outcome; they still wait. True when fenced.
    async fn stay(&self, behind: Vec<Entry>) -> Result<bool, OfficeError> {
        let outcome = Outcome::skipped(SkipReason::Behind);
        for chunk in behind.chunks(SETTLE_MAX) {
            let stays = chunk.iter().map(|entry| Change {
                after: Entry { outcome: outcome.clone(), ..entry.clone() },
                entry: entry.clone(),
                letter: None,
            });
            if commit(self.office, Some(self.fence()), stays.collect()).await?.fenced {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn send_batch(&self, entries: Vec<Entry>) -> Result<Stopped, OfficeError> {
        let ids: Vec<_> = entries.iter().map(|entry| entry.letter.clone()).collect();
        let letters = self.office.store.letters(&ids).await?;
        let judged = entries.into_iter().map(|entry| self.judge(entry, &letters)).collect();
        let judged = self.without_gone(judged, &letters).await;
        let (judged, bodies) = match &self.transform {
            Some(transform) => changed::over(self.office, transform, judged, &letters).await?,
            None => (judged, Bodies::new()),
        };
        let goes = |change: &Change| change.after.outcome.kind() == OutcomeKind::Sending;
        let (ready, dropped): (Vec<_>, Vec<_>) = judged.into_iter().partition(goes);
        let dropped = commit(self.office, Some(self.fence()), dropped).await?;
        if dropped.fenced {
            return Ok(Stopped::Fenced);
        }
        let intent = commit_over(self.office, Some(self.fence()), ready, letters).await?;
        if intent.fenced {
            return Ok(Stopped::Fenced);
        }
        for batch in pack(self.ready_to_go(intent, bodies)) {
            match self.send_packed(batch).await? {
                Stopped::Done => {}
                stopped => return Ok(stopped),
            }
        }
        Ok(Stopped::Done)
    }

    /// A payload may have expired since the plan was made: the consumer would only fail on its letter once more.
    async fn without_gone(&self, judged: Vec<Change>, letters: &[Letter]) -> Vec<Change> {
        let goes: BTreeSet<_> = judged.iter().filter(|c| c.letter.is_some()).map(|c| &c.entry.letter).collect();
        let letters = letters.iter().filter(|letter| goes.contains(&letter.id)).collect();
        let presences = PayloadChecks::default().look(&*self.office.payloads, letters).await;
        let is_gone = |change: &Change| presences.get(&change.entry.letter) == Some(&Presence::Gone);
        let without = judged
            .into_iter()
            .map(|change| if is_gone(&change) { change.not_sent(SkipReason::PayloadGone, None) } else { change });
        without.collect()
    }

    fn fence(&self) -> Fence<'_> {
        Fence { replay: self.replay.id(), version: self.replay.version() }
    }

    /// What is to be done with an entry: the intent to send it, or its outcome without being sent.
    fn judge(&self, entry: Entry, letters: &[Letter]) -> Change {
        let now = self.office.now();
        let not_sent =
            |entry: Entry, outcome| Change { after: Entry { outcome, ..entry.clone() }, entry, letter: None };
        let Some(letter) = letters.iter().find(|letter| letter.id == entry.letter) else {
            return not_sent(entry, Outcome::skipped(SkipReason::Gone));
        };
        let ours = LetterState::InReplay { replay: self.replay.id().clone() };
        let again = entry.outcome.kind() == OutcomeKind::Sending && letter.state == ours;
        if letter.state != LetterState::Waiting && !again {
            return not_sent(entry, Outcome::skipped(SkipReason::NotWaiting));
        }
        if letter.is_expired(now) && !again {
            return not_sent(entry, Outcome::Expired { at: now });
        }
        Change {
            after: Entry {
                outcome: Outcome::Sending { since: now },
                sends: entry.sends + 1,
                changed_by: None,
                ..entry.clone()
            },
            entry,
            letter: Some(ours),
        }
    }

    fn ready_to_go(&self, intent: Changed, mut bodies: Bodies) -> Vec<Ready> {
        let entry_of = |letter: &Letter| intent.made.iter().find(|c| c.entry.letter == letter.id);
        let ready = intent.letters.iter().filter_map(|letter| {
            let body = bodies.remove(&letter.id);
            Some(Ready { entry: entry_of(letter)?.after.clone(), outgoing: outgoing(letter, self.replay, body) })
        });
        ready.collect()
    }

    async fn send_packed(&self, batch: Vec<Ready>) -> Result<Stopped, OfficeError> {
        let messages: Vec<_> = batch.iter().map(|ready| ready.outgoing.clone()).collect();
        let queue = &self.replay.plan().main_queue;
        match self.office.queue.send_batch(queue, &messages).await {
            Ok(answers) => {
                self.record(batch, answers).await?;
                Ok(Stopped::Done)
            }
            // The letters stay in `sending`: they may have been sent. The next run sends them again and counts it;
            // a queue that never answers must not get the same letter again and again.
            Err(error @ QueueError::Unanswered { .. }) => {
                let words = crate::error::chain(&error);
                tracing::warn!(replay = %self.replay.id(), error = words, "the answer to a send was lost");
                let tried_often = batch.iter().any(|ready| ready.entry.sends >= UNANSWERED_SENDS_MAX);
                Ok(if tried_often { Stopped::Unavailable(error.to_string()) } else { Stopped::Unanswered })
            }
            Err(error) => {
                let none = batch.iter().map(|_| {
                    Err(EntryFailure { code: "NotSent".into(), reason: error.to_string(), sender_fault: false })
                });
                let none = none.collect();
                self.record(batch, none).await?;
                Ok(Stopped::Unavailable(error.to_string()))
            }
        }
    }

    /// Records what the queue answered. Not fenced: it happened, whoever has the replay now. A letter that has come
    /// back before its sending is recorded keeps that outcome.
    async fn record(
        &self,
        batch: Vec<Ready>,
        answers: Vec<Result<MessageId, EntryFailure>>,
    ) -> Result<(), OfficeError> {
        let now = self.office.now();
        // A letter without an answer stays in `sending`, as above.
        let changes = batch.into_iter().zip(answers).map(|(Ready { entry, .. }, answer)| {
            let (outcome, sends, letter) = match answer {
                Ok(message_id) => (Outcome::InFlight { sent_at: now, message_id }, entry.sends, None),
                Err(refused) if refused.sender_fault => {
                    tracing::warn!(letter = %entry.letter, code = refused.code, "the main queue refused a letter");
                    let outcome = Outcome::skipped(SkipReason::Refused);
                    (outcome, entry.sends, Some(LetterState::Waiting))
                }
                Err(_) => (Outcome::Pending, entry.sends.saturating_sub(1), Some(LetterState::Waiting)),
            };
            Change { after: Entry { outcome, sends, ..entry.clone() }, entry, letter }
        });
        commit(self.office, None, changes.collect()).await?;
        Ok(())
    }
}

/// A letter whose intent is written, and the message that it goes as.
struct Ready {
    entry: Entry,
    outgoing: Outgoing,
}

/// The message as it is sent: as it came, or with the body that a transform gave it, plus our marker where there is room
/// for it.
fn outgoing(letter: &Letter, replay: &Replay, body: Option<String>) -> Outgoing {
    let marker = Marker { letter: letter.id.clone(), replay: replay.id().clone(), attempt: letter.replays };
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
    // The same within an attempt, so that FIFO drops a second send of it within 5 minutes; new for each attempt, so
    // that it does not drop a deliberate one.
    let deduplication_id = replay.plan().main_queue.is_fifo().then(|| format!("dlo-{}-{}", letter.id, letter.replays));
    Outgoing { content, deduplication_id, delay: Span::ZERO }
}

/// Packs by bytes as well as by ten: a batch may hold 1 MiB together.
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
