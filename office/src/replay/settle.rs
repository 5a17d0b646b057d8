//! Outcomes of letters: delivered after their window, skipped after an abort.

use super::Did;
use super::batch::{Change, commit};
use super::blocks::{Known, Scan, wave_seqs};
use crate::error::OfficeError;
use crate::office::Office;
use domain::letter::LetterState;
use domain::limits::HAND_LETTERS_MAX;
use domain::metric::{DELIVERED, Datum};
use domain::replay::{Entry, Ledger, Outcome, OutcomeKind, Phase, Replay, ReplayState, Settling, SkipReason};
use domain::time::{Span, Timestamp};

/// Entries that are settled together: one commit where they lie together.
pub(super) const SETTLE_MAX: usize = HAND_LETTERS_MAX;
/// Blocks that one commit changes without letters, beside a ledger of up to 32 records and the fence.
const SKIP_BLOCKS_MAX: usize = 60;
/// Blocks that are read at once.
const BLOCKS_AT_ONCE: usize = 20;

/// What an entry says whose letter's fate will never be known.
const IN_DOUBT: &str =
    "Sent and not returned. Whether it was processed is unknown: it did not leave the main queue in time";

/// Gives letters in flight their outcome that have not come back: delivered, or in doubt and waiting again.
pub(super) async fn settle(
    office: &Office,
    (replay, ledger): (&Replay, &Ledger),
    settling: Settling,
) -> Result<Did, OfficeError> {
    let now = office.now();
    let (mut delivered, mut in_doubt) = (0, 0);
    for wave in waves_with(ledger, OutcomeKind::InFlight) {
        let mut scan = Scan::new(office, replay, wave_seqs(replay, wave), BLOCKS_AT_ONCE);
        while let Some((blocks, entries)) = scan.next().await? {
            let mut known = Known::new(replay.id());
            known.keep(blocks);
            let changes: Vec<_> = entries.into_iter().filter_map(|entry| settled(entry, settling, now)).collect();
            for changes in changes.chunks(SETTLE_MAX) {
                for change in commit(office, None, &mut known, changes.to_vec()).await?.made {
                    let is_delivered = change.after.outcome.kind() == OutcomeKind::Delivered;
                    *(if is_delivered { &mut delivered } else { &mut in_doubt }) += 1;
                }
            }
        }
    }
    let released = release_stuck(office, (replay, ledger), settling).await?;
    if delivered > 0 {
        office.measure(&[Datum::one(&DELIVERED, &[], now, f64::from(delivered))]).await;
    }
    if in_doubt > 0 {
        tracing::warn!(replay = %replay.id(), letters = in_doubt, "it will never be known whether these letters were processed; they wait again, in doubt");
    }
    if delivered + in_doubt > 0 || released > 0 {
        return Ok(Did::Something);
    }
    // No entry is due yet by its own time; the replay's time is only the earliest possible.
    Ok(Did::Waits(now.plus(Span::from_secs(1))))
}

/// Returns the change of an entry in flight that has its outcome now.
fn settled(entry: Entry, settling: Settling, now: Timestamp) -> Option<Change> {
    let Outcome::InFlight { sent_at, .. } = entry.outcome else { return None };
    let (outcome, state) = match settling.outcome_for(sent_at, now)? {
        OutcomeKind::Delivered => {
            let state = LetterState::Delivered { replay: entry.replay.clone(), at: now };
            (Outcome::Delivered { at: now, confirmed: None }, state)
        }
        _ => {
            let detail = Some(IN_DOUBT.to_string());
            (Outcome::Skipped { reason: SkipReason::InDoubt, detail }, LetterState::Waiting)
        }
    };
    Some(Change::new(entry, outcome, Some(state)))
}

/// Releases letters that a dead executor may have sent, in a replay that sends no more. Their window has passed without
/// a return, but whether they were sent is unknown, so they do not count as delivered.
async fn release_stuck(
    office: &Office,
    (replay, ledger): (&Replay, &Ledger),
    settling: Settling,
) -> Result<usize, OfficeError> {
    let is_sending = matches!(replay.state(), ReplayState::Running { phase: Phase::Sending, .. });
    let now = office.now();
    if is_sending || replay.is_held(now) {
        return Ok(0);
    }
    let aborted = matches!(replay.state(), ReplayState::Aborting { .. });
    let outcome = if aborted { Outcome::skipped(SkipReason::InDoubt) } else { Outcome::Pending };
    let is_due = |entry: &Entry| match entry.outcome {
        Outcome::Sending { since } => settling.outcome_for(since, now).is_some(),
        _ => false,
    };
    let mut released = 0;
    for wave in waves_with(ledger, OutcomeKind::Sending) {
        let mut scan = Scan::new(office, replay, wave_seqs(replay, wave), BLOCKS_AT_ONCE);
        while let Some((blocks, entries)) = scan.next().await? {
            let mut known = Known::new(replay.id());
            known.keep(blocks);
            let due = entries.into_iter().filter(is_due);
            let changes: Vec<_> =
                due.map(|entry| Change::new(entry, outcome.clone(), Some(LetterState::Waiting))).collect();
            for changes in changes.chunks(SETTLE_MAX) {
                released += commit(office, None, &mut known, changes.to_vec()).await?.made.len();
            }
        }
    }
    Ok(released)
}

/// Skips the letters that an aborted replay has not sent, those of some blocks.
pub(super) async fn skip_unsent(office: &Office, replay: &Replay, ledger: &Ledger) -> Result<Did, OfficeError> {
    for wave in waves_with(ledger, OutcomeKind::Pending) {
        let mut scan = Scan::new(office, replay, wave_seqs(replay, wave), SKIP_BLOCKS_MAX);
        while let Some((blocks, entries)) = scan.next().await? {
            let mut known = Known::new(replay.id());
            known.keep(blocks);
            let unsent = entries.into_iter().filter(|entry| entry.outcome.kind() == OutcomeKind::Pending);
            // An unsent letter is still waiting: its state changes only when it is sent.
            let changes = unsent.map(|entry| Change::new(entry, Outcome::skipped(SkipReason::Aborted), None));
            let made = commit(office, None, &mut known, changes.collect()).await?.made;
            if !made.is_empty() {
                return Ok(Did::Something);
            }
        }
    }
    Ok(Did::Lost)
}

/// Returns the waves that have entries with this outcome.
fn waves_with(ledger: &Ledger, kind: OutcomeKind) -> impl Iterator<Item = u32> {
    (0..).zip(&ledger.0).filter(move |(_, columns)| columns.get(kind) > 0).map(|(wave, _)| wave)
}
