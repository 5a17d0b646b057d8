//! Which letters of a wave are sent next. On FIFO queues: one of each message group at a time, in order.

use super::blocks::{Known, Scan, wave_seqs};
use crate::error::OfficeError;
use crate::office::Office;
use domain::replay::{BLOCK_ENTRIES, Block, Clearance, Entry, Ledger, MessageGroups, OutcomeKind, Replay};

/// Blocks that are read at once where most of them have nothing to send.
pub(super) const BLOCKS_AT_ONCE: usize = 250;

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

/// Returns which letters of a wave can be sent now, at most `letters`. The ledger was read before.
pub(super) async fn sendable(
    office: &Office,
    replay: &Replay,
    ledger: &Ledger,
    known: &mut Known,
    (wave, letters): (u32, usize),
) -> Result<Sendable, OfficeError> {
    if replay.plan().main_queue.is_fifo() {
        in_order(office, replay, wave, letters).await
    } else {
        as_planned(office, replay, ledger, known, (wave, letters)).await
    }
}

/// Letters go out in the order of the plan, so those that were not sent are at the end of the wave, and those whose
/// answers were lost shortly before. Only letters that the queue put off lie further ahead, and the last letters of the
/// wave are looked for there.
async fn as_planned(
    office: &Office,
    replay: &Replay,
    ledger: &Ledger,
    known: &mut Known,
    (wave, letters): (u32, usize),
) -> Result<Sendable, OfficeError> {
    let (columns, range) = (ledger.wave(wave), wave_seqs(replay, wave));
    let remaining = columns.pending + columns.sending;
    let likely = range.end.saturating_sub(remaining).max(range.start);
    let wanted = letters.min(usize::try_from(remaining).unwrap_or(usize::MAX));
    let mut found = Found::default();
    let mut scan = Scan::new(office, replay, likely..range.end, letters / BLOCK_ENTRIES + 2);
    while found.pending.len() < letters
        && let Some((blocks, entries)) = scan.next().await?
    {
        found.add(known, blocks, entries);
    }
    let mut scan = Scan::new(office, replay, range.start..likely, BLOCKS_AT_ONCE);
    while (found.len() < wanted || (found.sending.len() as u64) < columns.sending)
        && let Some((blocks, entries)) = scan.next().await?
    {
        found.add(known, blocks, entries);
    }
    let Found { sending: mut entries, mut pending } = found;
    pending.sort_by_key(|entry| entry.seq);
    entries.append(&mut pending);
    entries.truncate(letters);
    Ok(Sendable { entries, ..Sendable::default() })
}

/// Entries that can be sent.
#[derive(Default)]
struct Found {
    sending: Vec<Entry>,
    pending: Vec<Entry>,
}

impl Found {
    fn len(&self) -> usize {
        self.sending.len() + self.pending.len()
    }

    fn add(&mut self, known: &mut Known, blocks: Vec<Block>, entries: Vec<Entry>) {
        let before = self.len();
        for entry in entries {
            match entry.outcome.kind() {
                OutcomeKind::Sending => self.sending.push(entry),
                OutcomeKind::Pending => self.pending.push(entry),
                _ => {}
            }
        }
        if self.len() > before {
            known.keep(blocks);
        }
    }
}

async fn in_order(office: &Office, replay: &Replay, wave: u32, letters: usize) -> Result<Sendable, OfficeError> {
    let (mut message_groups, mut sendable, mut pending) = (MessageGroups::default(), Sendable::default(), Vec::new());
    let mut scan = Scan::new(office, replay, wave_seqs(replay, wave), BLOCKS_AT_ONCE);
    while let Some((_, entries)) = scan.next().await? {
        for entry in entries {
            message_groups.note(&entry);
            match entry.outcome.kind() {
                OutcomeKind::Sending => sendable.entries.push(entry),
                OutcomeKind::Pending => pending.push(entry),
                _ => {}
            }
        }
    }
    // A letter of another wave may have returned meanwhile; the ledger, which is read after the wave, says so.
    let ledger = office.store.ledger(replay.id()).await?;
    for other in (0..).zip(&ledger.0).filter(|(_, columns)| columns.returned > 0).map(|(other, _)| other) {
        let mut scan = Scan::new(office, replay, wave_seqs(replay, other), BLOCKS_AT_ONCE);
        while let Some((_, entries)) = scan.next().await? {
            let returned = entries.iter().filter(|entry| entry.outcome.kind() == OutcomeKind::Returned);
            returned.for_each(|entry| message_groups.note(entry));
        }
    }
    sendable.all_wait = true;
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
