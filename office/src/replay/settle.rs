//! Outcomes of letters: delivered after their window, skipped after an abort.

use super::Did;
use super::batch::{Change, commit};
use crate::error::OfficeError;
use crate::office::Office;
use domain::letter::LetterState;
use domain::metric::{DELIVERED, Datum};
use domain::replay::{Entry, Outcome, OutcomeKind, Phase, Replay, ReplayState, SkipReason};
use domain::time::{Span, Timestamp};

/// Entries that one commit settles: two writes each, beside the ledger, the counters and the fence.
pub(super) const SETTLE_MAX: usize = 40;

/// Marks letters as delivered that were sent up to `sent_until` and have not come back.
pub(super) async fn settle(office: &Office, replay: &Replay, sent_until: Timestamp) -> Result<Did, OfficeError> {
    let now = office.now();
    let mut delivered = 0;
    let mut cursor = None;
    loop {
        let in_flight = Some(OutcomeKind::InFlight);
        let page = office.store.entries(replay.id(), None, in_flight, cursor.as_ref(), SETTLE_MAX).await?;
        let due = page
            .items
            .into_iter()
            .filter(|entry| matches!(entry.outcome, Outcome::InFlight { sent_at, .. } if sent_at <= sent_until));
        let state = LetterState::Delivered { replay: replay.id().clone(), at: now };
        let changes = due.map(|entry| Change {
            after: Entry { outcome: Outcome::Delivered { at: now, confirmed: None }, ..entry.clone() },
            entry,
            letter: Some(state.clone()),
        });
        delivered += commit(office, None, changes.collect()).await?.made.len();
        let Some(next) = page.next else { break };
        cursor = Some(next);
    }
    let released = release_stuck(office, replay, sent_until).await?;
    if delivered > 0 {
        office.measure(&[Datum::one(&DELIVERED, &[], now, delivered as f64)]).await;
    }
    if delivered + released > 0 {
        return Ok(Did::Something);
    }
    // No entry is due yet by its own time; the replay's time is only the earliest possible.
    Ok(Did::AllUntil(now.plus(Span::from_secs(1))))
}

/// Releases letters that a dead executor may have sent, in a replay that sends no more. Their window has passed without
/// a return, but whether they were sent is unknown, so they do not count as delivered.
async fn release_stuck(office: &Office, replay: &Replay, sent_until: Timestamp) -> Result<usize, OfficeError> {
    let is_sending = matches!(replay.state(), ReplayState::Running { phase: Phase::Sending, .. });
    let is_held = replay.lease().as_ref().is_some_and(|lease| lease.until > office.now());
    if is_sending || is_held {
        return Ok(0);
    }
    let aborted = matches!(replay.state(), ReplayState::Aborting { .. });
    let outcome = if aborted { Outcome::skipped(SkipReason::InDoubt) } else { Outcome::Pending };
    let page = office.store.entries(replay.id(), None, Some(OutcomeKind::Sending), None, SETTLE_MAX).await?;
    let due = page
        .items
        .into_iter()
        .filter(|entry| matches!(entry.outcome, Outcome::Sending { since } if since <= sent_until));
    let changes = due.map(|entry| Change {
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
