//! Which letters of a wave are sent next. On FIFO queues: one of each message group at a time, in order.
//!
//! Lists may lag behind commits by moments, so an entry may be missing from them. On a standard queue it is sent with
//! the next run. On a FIFO queue another letter must not overtake it, so a wave is read in the order of its entries,
//! and only up to the first missing one.

use crate::error::OfficeError;
use crate::office::Office;
use domain::limits::PAGE_MAX;
use domain::replay::{Clearance, Entry, MessageGroups, OutcomeKind, Replay};

/// The letters of a wave that can be sent now.
#[derive(Default)]
pub(super) struct Sendable {
    /// Letters to send: first those that a dead executor may have sent, then those that were never tried.
    pub entries: Vec<Entry>,
    /// Letters that must not be sent, because an earlier letter of their message group has come back.
    pub behind: Vec<Entry>,
    /// Whether all remaining letters of the wave wait for letters of their message groups that are in flight.
    pub all_wait: bool,
}

/// Returns which letters of a wave can be sent now, at most `letters`.
pub(super) async fn sendable(
    office: &Office,
    replay: &Replay,
    wave: u32,
    letters: usize,
) -> Result<Sendable, OfficeError> {
    if replay.plan().main_queue.is_fifo() {
        in_order(office, replay, wave, letters).await
    } else {
        as_listed(office, replay, wave, letters).await
    }
}

async fn as_listed(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Sendable, OfficeError> {
    let mut sendable = Vec::new();
    for outcome in [OutcomeKind::Sending, OutcomeKind::Pending] {
        let mut pages = Pages::new(Some(wave), Some(outcome));
        while sendable.len() < letters
            && let Some(entries) = pages.next(office, replay, letters - sendable.len()).await?
        {
            sendable.extend(entries);
        }
    }
    Ok(Sendable { entries: sendable, ..Sendable::default() })
}

async fn in_order(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Sendable, OfficeError> {
    let (mut message_groups, mut sendable, mut pending) = (MessageGroups::default(), Sendable::default(), Vec::new());
    let ledger = office.store.ledger(replay.id()).await?;
    let mut returned = 0;
    let mut pages = Pages::new(None, Some(OutcomeKind::Returned));
    while let Some(entries) = pages.next(office, replay, PAGE_MAX).await? {
        returned += entries.len() as u64;
        entries.iter().for_each(|entry| message_groups.note(entry));
    }
    if returned < ledger.total().returned {
        return Ok(sendable);
    }
    let before = |waves: u32| replay.plan().waves.iter().take(waves as usize).sum::<u64>();
    let mut expected = before(wave);
    let mut pages = Pages::new(Some(wave), None);
    'wave: while let Some(entries) = pages.next(office, replay, PAGE_MAX).await? {
        for entry in entries {
            if entry.seq != expected {
                break 'wave;
            }
            expected += 1;
            message_groups.note(&entry);
            match entry.outcome.kind() {
                OutcomeKind::Sending => sendable.entries.push(entry),
                OutcomeKind::Pending => pending.push(entry),
                _ => {}
            }
        }
    }
    sendable.all_wait = expected == before(wave + 1);
    // A letter that may not be sent again is settled when its window has passed.
    sendable.entries.retain(|entry| message_groups.may_send_again(entry));
    for entry in pending {
        match message_groups.clearance(&entry) {
            Clearance::Send => sendable.entries.push(entry),
            Clearance::Behind => sendable.behind.push(entry),
            Clearance::Wait => {}
        }
    }
    sendable.entries.truncate(letters);
    Ok(sendable)
}

/// Entries of a wave or of all, with one outcome or any, page by page.
struct Pages {
    wave: Option<u32>,
    outcome: Option<OutcomeKind>,
    cursor: Option<crate::port::Cursor>,
    ended: bool,
}

impl Pages {
    fn new(wave: Option<u32>, outcome: Option<OutcomeKind>) -> Self {
        Self { wave, outcome, cursor: None, ended: false }
    }

    async fn next(
        &mut self,
        office: &Office,
        replay: &Replay,
        limit: usize,
    ) -> Result<Option<Vec<Entry>>, OfficeError> {
        if self.ended {
            return Ok(None);
        }
        let (cursor, limit) = (self.cursor.as_ref(), limit.min(PAGE_MAX));
        let page = office.store.entries(replay.id(), self.wave, self.outcome, cursor, limit).await?;
        self.ended = page.next.is_none();
        self.cursor = page.next;
        Ok(Some(page.items))
    }
}
