//! Which letters of a wave go next: on FIFO queues one at a time of each message group, in order.

use crate::error::OfficeError;
use crate::office::Office;
use domain::limits::PAGE_MAX;
use domain::replay::{Entry, Lanes, OutcomeKind, Replay, Turn};

/// The letters whose turn it is.
#[derive(Default)]
pub(super) struct Turns {
    /// They go: first those whose sending a dead executor left open, then those that were never tried.
    pub go: Vec<Entry>,
    /// They stay: a letter before them in their message group has come back.
    pub behind: Vec<Entry>,
}

/// Whose turn it is in a wave, up to so many letters.
pub(super) async fn turns(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Turns, OfficeError> {
    let mut lanes = Lanes::default();
    if replay.plan.main_queue.is_fifo() {
        for outcome in [OutcomeKind::Sending, OutcomeKind::InFlight, OutcomeKind::Returned] {
            let mut pages = Pages::new(None, outcome);
            while let Some(entries) = pages.next(office, replay, PAGE_MAX).await? {
                entries.iter().for_each(|entry| lanes.note(entry));
            }
        }
    }
    let mut turns = Turns::default();
    let mut open = Pages::new(Some(wave), OutcomeKind::Sending);
    while turns.go.len() < letters
        && let Some(entries) = open.next(office, replay, letters - turns.go.len()).await?
    {
        // One that may not is given up when its window has passed, and then stays behind.
        turns.go.extend(entries.into_iter().filter(|entry| lanes.may_send_again(entry)));
    }
    let mut pending = Pages::new(Some(wave), OutcomeKind::Pending);
    while turns.go.len() < letters
        && let Some(entries) = pending.next(office, replay, letters - turns.go.len()).await?
    {
        for entry in entries {
            match lanes.turn(&entry) {
                Turn::Go => turns.go.push(entry),
                Turn::Behind => turns.behind.push(entry),
                Turn::Later => {}
            }
        }
    }
    Ok(turns)
}

/// Entries with one outcome, page by page.
struct Pages {
    wave: Option<u32>,
    outcome: OutcomeKind,
    cursor: Option<crate::port::Cursor>,
    ended: bool,
}

impl Pages {
    fn new(wave: Option<u32>, outcome: OutcomeKind) -> Self {
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
        let (outcome, limit) = (Some(self.outcome), limit.min(PAGE_MAX));
        let page = office.store.entries(replay.id(), self.wave, outcome, self.cursor.as_ref(), limit).await?;
        self.ended = page.next.is_none();
        self.cursor = page.next;
        Ok(Some(page.items))
    }
}
