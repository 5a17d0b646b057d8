//! Which letters of a wave go next: on FIFO queues one at a time of each message group, in order.
//!
//! Lists may lag behind commits by moments, so what stands in none proves nothing. On a standard queue that costs a
//! moment: what is missing goes with the next run. On FIFO a letter that is missing may be the one that another must
//! not overtake, so there a wave is read in the order of its entries and only as far as none is missing.

use crate::error::OfficeError;
use crate::office::Office;
use domain::limits::PAGE_MAX;
use domain::replay::{Clearance, Entry, MessageGroups, OutcomeKind, Replay};

/// The letters whose turn it is.
#[derive(Default)]
pub(super) struct Turns {
    /// They go: first those whose sending a dead executor left open, then those that were never tried.
    pub go: Vec<Entry>,
    /// They stay: a letter before them in their message group has come back.
    pub behind: Vec<Entry>,
    /// Whether all that is left of the wave waits for letters of its message groups that are on their way.
    pub all_wait: bool,
}

/// Whose turn it is in a wave, up to so many letters.
pub(super) async fn turns(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Turns, OfficeError> {
    if replay.plan().main_queue.is_fifo() {
        in_order(office, replay, wave, letters).await
    } else {
        as_listed(office, replay, wave, letters).await
    }
}

async fn as_listed(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Turns, OfficeError> {
    let mut go = Vec::new();
    for outcome in [OutcomeKind::Sending, OutcomeKind::Pending] {
        let mut pages = Pages::new(Some(wave), Some(outcome));
        while go.len() < letters
            && let Some(entries) = pages.next(office, replay, letters - go.len()).await?
        {
            go.extend(entries);
        }
    }
    Ok(Turns { go, ..Turns::default() })
}

async fn in_order(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Turns, OfficeError> {
    let (mut message_groups, mut turns, mut pending) = (MessageGroups::default(), Turns::default(), Vec::new());
    let ledger = office.store.ledger(replay.id()).await?;
    let mut returned = 0;
    let mut pages = Pages::new(None, Some(OutcomeKind::Returned));
    while let Some(entries) = pages.next(office, replay, PAGE_MAX).await? {
        returned += entries.len() as u64;
        entries.iter().for_each(|entry| message_groups.note(entry));
    }
    if returned < ledger.total().returned {
        return Ok(turns);
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
                OutcomeKind::Sending => turns.go.push(entry),
                OutcomeKind::Pending => pending.push(entry),
                _ => {}
            }
        }
    }
    turns.all_wait = expected == before(wave + 1);
    // One that may not is given up when its window has passed, and then stays behind.
    turns.go.retain(|entry| message_groups.may_send_again(entry));
    for entry in pending {
        match message_groups.clearance(&entry) {
            Clearance::Send => turns.go.push(entry),
            Clearance::Behind => turns.behind.push(entry),
            Clearance::Wait => {}
        }
    }
    turns.go.truncate(letters);
    Ok(turns)
}

/// Entries with one outcome or any, page by page.
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
