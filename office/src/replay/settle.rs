//! Outcomes of letters: delivered after their window, skipped after an abort.

use super::Did;
use super::batch::{Change, commit};
use crate::error::OfficeError;
use crate::office::Office;
use domain::letter::LetterState;
use domain::metric::{DELIVERED, Datum};
use domain::replay::{Entry, Outcome, OutcomeKind, Phase, Replay, ReplayState, Settling, SkipReason};
use domain::time::{Span, Timestamp};

/// Entries that one commit settles: two writes each, beside the ledger, the counters and the fence.
pub(super) const SETTLE_MAX: usize = 40;

/// What an entry says whose letter's fate will never be known.
const IN_DOUBT: &str =
    "Sent and not returned. Whether it was processed is unknown: it did not leave the main queue in time";

/// Gives letters in flight their outcome that have not come back: delivered, or in doubt and waiting again.
pub(super) async fn settle(office: &Office, replay: &Replay, settling: Settling) -> Result<Did, OfficeError> {
    let now = office.now();
    let (mut delivered, mut in_doubt) = (0, 0);
    let mut cursor = None;
    loop {
        let in_flight = Some(OutcomeKind::InFlight);
        let page = office.store.entries(replay.id(), None, in_flight, cursor.as_ref(), SETTLE_MAX).await?;
        let changes = page.items.into_iter().filter_map(|entry| settled(entry, settling, now));
        for change in commit(office, None, changes.collect()).await?.made {
            let is_delivered = change.after.outcome.kind() == OutcomeKind::Delivered;
            *(if is_delivered { &mut delivered } else { &mut in_doubt }) += 1;
        }
        let Some(next) = page.next else { break };
        cursor = Some(next);
    }
    let released = release_stuck(office, replay, settling).await?;
    if delivered > 0 {
        office.measure(&[Datum::one(&DELIVERED, &[], now, f64::from(delivered))]).await;
    }
    if in_doubt > 0 {
        tracing::warn!(replay = %replay.id(), letters = in_doubt, "whether letters were processed will never be known; they wait again, in doubt");
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
    let (outcome, state) = match settling.of(sent_at, now)? {
        OutcomeKind::Delivered => {
            let state = LetterState::Delivered { replay: entry.replay.clone(), at: now };
            (Outcome::Delivered { at: now, confirmed: None }, state)
        }
        _ => {
            let detail = Some(IN_DOUBT.to_string());
            (Outcome::Skipped { reason: SkipReason::InDoubt, detail }, LetterState::Waiting)
        }
    };
    Some(Change { after: Entry { outcome, ..entry.clone() }, entry, letter: Some(state) })
}

/// Releases letters that a dead executor may have sent, in a replay that sends no more. Their window has passed without
/// a return, but whether they were sent is unknown, so they do not count as delivered.
async fn release_stuck(office: &Office, replay: &Replay, settling: Settling) -> Result<usize, OfficeError> {
    let is_sending = matches!(replay.state(), ReplayState::Running { phase: Phase::Sending, .. });
    let now = office.now();
    if is_sending || replay.is_held(now) {
        return Ok(0);
    }
    let aborted = matches!(replay.state(), ReplayState::Aborting { .. });
    let outcome = if aborted { Outcome::skipped(SkipReason::InDoubt) } else { Outcome::Pending };
    let page = office.store.entries(replay.id(), None, Some(OutcomeKind::Sending), None, SETTLE_MAX).await?;
    let is_due =
        |entry: &Entry| matches!(entry.outcome, Outcome::Sending { since } if settling.of(since, now).is_some());
    let changes = page.items.into_iter().filter(is_due).map(|entry| Change {
        after: Entry { outcome: outcome.clone(), ..entry.clone() },
        entry,
        letter: Some(LetterState::Waiting),
    });
    Ok(commit(office, None, changes.collect()).await?.made.len())
}

/// Skips the letters that an aborted replay has not sent.
pub(super) async fn skip_unsent(office: &Office, replay: &Replay) -> Result<Did, OfficeError> {
    let page = office.store.entries(replay.id(), None, Some(OutcomeKind::Pending), None, SETTLE_MAX).await?;
    let changes = page.items.into_iter().map(|entry| Change {
        after: Entry { outcome: Outcome::skipped(SkipReason::Aborted), ..entry.clone() },
        entry,
        // An unsent letter is still waiting: its state changes only when it is sent.
        letter: None,
    });
    let made = commit(office, None, changes.collect()).await?.made;
    Ok(if made.is_empty() { Did::Lost } else { Did::Something })
}
