//! Receipts of consumers: a letter in flight that was processed is delivered at once, not when its window ends.
//!
//! A receipt that proves nothing (forged, late, or a second one) changes nothing and is logged. A message that is not a
//! receipt fails, and so does a receipt that the store could not check: these messages come again.

use super::batch::{Change, commit};
use super::blocks::Known;
use super::settle::SETTLE_MAX;
use crate::commit::Tries;
use crate::error::{OfficeError, chain};
use crate::notices::{self, Statements};
use crate::office::Office;
use domain::id::{LetterId, MessageId, ReplayId};
use domain::letter::{Letter, LetterState};
use domain::marker::Marker;
use domain::metric::{DELIVERED, Datum};
use domain::replay::{Outcome, Receipt};
use domain::report::Report;
use std::collections::{BTreeMap, BTreeSet};

/// A receipt, and the message that it came in.
struct Read {
    message: MessageId,
    receipt: Receipt,
    marker: Marker,
}

/// Takes receipts, given as the ids and bodies of messages. Returns the ids of the messages that must come again: those
/// that are not receipts, and those that the store could not be asked about.
pub async fn take_receipts(office: &Office, messages: Vec<(MessageId, String)>) -> Vec<MessageId> {
    let mut of_replay: BTreeMap<ReplayId, Vec<Read>> = BTreeMap::new();
    let mut failed = Vec::new();
    for (message, body) in messages {
        let Some(receipt) = Receipt::parse(&body) else {
            let as_report = Report::try_parse(&body).err().map(|why| why.to_string());
            tracing::warn!(
                message_id = %message,
                as_report,
                "a message on the receipts queue is not a receipt, report or notice; it stays on the queue until SQS redrives it"
            );
            failed.push(message);
            continue;
        };
        match receipt.sending() {
            Some(marker) => {
                of_replay.entry(marker.replay.clone()).or_default().push(Read { message, receipt, marker });
            }
            None => tracing::warn!(message_id = %message, "a receipt with an unreadable marker was ignored"),
        }
    }
    let mut confirmed = 0;
    for (replay, receipts) in of_replay {
        let before = confirmed;
        for chunk in receipts.chunks(SETTLE_MAX) {
            match take(office, &replay, chunk).await {
                Ok(letters) => confirmed += letters,
                Err(error) => {
                    tracing::error!(%replay, error = chain(&error), "receipts could not be checked; they will be redelivered");
                    failed.extend(chunk.iter().map(|read| read.message.clone()));
                }
            }
        }
        if confirmed > before {
            // The wave may be settled now.
            office.nudge(&replay).await;
        }
    }
    if confirmed > 0 {
        office.measure(&[Datum::one(&DELIVERED, &[], office.now(), confirmed as f64)]).await;
    }
    failed
}

/// Takes receipts of one replay. Returns how many letters they confirm.
async fn take(office: &Office, replay: &ReplayId, receipts: &[Read]) -> Result<usize, OfficeError> {
    let mut confirmed = 0;
    let mut open: Vec<&Read> = receipts.iter().collect();
    let mut tries = Tries::new(format!("replay {replay}"));
    while !open.is_empty() {
        tries.begin()?;
        let mut known = Known::new(replay);
        let Proven { changes, said } = proven(office, &mut known, replay, &open).await?;
        if changes.is_empty() {
            return Ok(confirmed);
        }
        notices::keep_all(office, said).await;
        let meant: BTreeSet<LetterId> = changes.iter().map(|change| change.entry.letter.clone()).collect();
        let made = commit(office, None, &mut known, changes).await?.made;
        confirmed += made.len();
        let made: BTreeSet<_> = made.iter().map(|change| &change.entry.letter).collect();
        // An entry that another process changed meanwhile (it recorded the answer to a send) is looked at again.
        open.retain(|read| meant.contains(&read.marker.letter) && !made.contains(&read.marker.letter));
    }
    Ok(confirmed)
}

/// What receipts prove.
struct Proven {
    changes: Vec<Change>,
    /// What the receipts say of their consumers.
    said: Statements,
}

/// Returns what the receipts prove, given the entries as they are now.
async fn proven(
    office: &Office,
    known: &mut Known,
    replay: &ReplayId,
    receipts: &[&Read],
) -> Result<Proven, OfficeError> {
    let ids: Vec<LetterId> = receipts.iter().map(|read| read.marker.letter.clone()).collect();
    let letters: BTreeMap<LetterId, Letter> =
        office.store.letters(&ids).await?.into_iter().map(|letter| (letter.id.clone(), letter)).collect();
    known.read(office, receipts.iter().map(|read| read.marker.seq)).await?;
    let mut changes: BTreeMap<LetterId, Change> = BTreeMap::new();
    let mut said = Statements::new();
    for Read { receipt, marker, .. } in receipts {
        let id = &marker.letter;
        let entry = known.entry(marker.seq).filter(|entry| entry.letter == *id);
        let Some((letter, entry)) = letters.get(id).zip(entry.cloned()) else {
            tracing::warn!(letter = %id, %replay, "a receipt was ignored: it names a letter that no replay of this office sent");
            continue;
        };
        let now = office.now();
        match entry.confirmed(receipt, marker, letter.replays, now) {
            Ok(after) => {
                // Only who has received the message knows its id. While the send is not recorded, nobody can check it.
                if matches!(&entry.outcome, Outcome::InFlight { message_id, .. } if *message_id == receipt.message_id) {
                    notices::add_receipt(&mut said, letter, receipt);
                }
                let state = LetterState::Delivered { replay: replay.clone(), at: now };
                // The first of several counts: a forged one must not change what the real one said.
                changes.entry(id.clone()).or_insert_with(|| Change::new(entry, after.outcome, Some(state)));
            }
            Err(why) => tracing::info!(letter = %id, %replay, %why, "a receipt was ignored: it proves nothing"),
        }
    }
    Ok(Proven { changes: changes.into_values().collect(), said })
}
