//! Reading the entries of a replay, block by block.

use crate::error::OfficeError;
use crate::office::Office;
use domain::id::ReplayId;
use domain::replay::{Block, Entry, Replay};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Blocks as they were last read or written. One that has changed since then is found out by a refused commit.
pub(super) struct Known {
    replay: ReplayId,
    blocks: BTreeMap<u64, Block>,
}

impl Known {
    /// Knows no blocks yet.
    pub(super) fn new(replay: &ReplayId) -> Self {
        Self { replay: replay.clone(), blocks: BTreeMap::new() }
    }

    /// Keeps blocks that were just read or written.
    pub(super) fn keep(&mut self, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks.into_iter().map(|block| (block.number, block)));
    }

    /// Forgets a block that is no longer as it was read.
    pub(super) fn forget(&mut self, number: u64) {
        self.blocks.remove(&number);
    }

    /// Returns the entry with a sequence number, if its block is known and has one.
    pub(super) fn entry(&self, seq: u64) -> Option<&Entry> {
        self.blocks.get(&Block::number_of(seq))?.entry(seq)
    }

    /// Reads the blocks with these entries that are not known yet.
    pub(super) async fn read(&mut self, office: &Office, seqs: impl Iterator<Item = u64>) -> Result<(), OfficeError> {
        let numbers: BTreeSet<u64> = seqs.map(Block::number_of).collect();
        let numbers: Vec<u64> = numbers.into_iter().filter(|number| !self.blocks.contains_key(number)).collect();
        if !numbers.is_empty() {
            self.keep(office.store.blocks_at(&self.replay, &numbers).await?);
        }
        Ok(())
    }

    /// Returns the blocks with those of the changes whose entries are still as they were, in their next versions. Drops
    /// the other changes. `entries` are the entry before a change, and after it.
    pub(super) async fn changed<C>(
        &mut self,
        office: &Office,
        changes: &mut Vec<C>,
        entries: fn(&C) -> (&Entry, &Entry),
    ) -> Result<Vec<Block>, OfficeError> {
        let seqs: Vec<u64> = changes.iter().map(|change| entries(change).0.seq).collect();
        self.read(office, seqs.into_iter()).await?;
        let mut changed: BTreeMap<u64, Block> = BTreeMap::new();
        changes.retain(|change| {
            let (before, after) = entries(change);
            let number = Block::number_of(before.seq);
            let Some(stored) = self.blocks.get(&number) else { return false };
            let next = || Block { version: stored.version + 1, ..stored.clone() };
            let mut block = changed.remove(&number);
            let is_made = block.get_or_insert_with(next).change(before, after);
            // A block without a change is not written.
            if let Some(block) = block.filter(|block| block.entries != stored.entries) {
                changed.insert(number, block);
            }
            is_made
        });
        Ok(changed.into_values().collect())
    }
}

/// Returns the sequence numbers of a wave's entries.
pub(super) fn wave_seqs(replay: &Replay, wave: u32) -> Range<u64> {
    let waves = &replay.plan().waves;
    let start = waves.iter().take(wave as usize).sum();
    start..start + waves.get(wave as usize).copied().unwrap_or_default()
}

/// Reads the entries of a range of sequence numbers, some blocks at a time, in their order.
pub(super) struct Scan<'a> {
    office: &'a Office,
    replay: &'a Replay,
    rest: Range<u64>,
    blocks_at_once: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(office: &'a Office, replay: &'a Replay, range: Range<u64>, blocks_at_once: usize) -> Self {
        Self { office, replay, rest: range, blocks_at_once }
    }

    /// Returns the next blocks, and their entries in the range; `None` at its end.
    pub(super) async fn next(&mut self) -> Result<Option<(Vec<Block>, Vec<Entry>)>, OfficeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let number = Block::number_of(self.rest.start);
        let until_end = Block::number_of(self.rest.end - 1) - number + 1;
        let limit = self.blocks_at_once.min(usize::try_from(until_end).unwrap_or(usize::MAX));
        let blocks = self.office.store.blocks(self.replay.id(), number, limit).await?;
        let entries = blocks.iter().flat_map(|block| &block.entries);
        let entries: Vec<Entry> = entries.filter(|entry| self.rest.contains(&entry.seq)).cloned().collect();
        let Some(last) = entries.last() else { return Err(unreadable(self.replay.id())) };
        self.rest.start = last.seq + 1;
        Ok(Some((blocks, entries)))
    }
}

/// A replay without blocks was planned by a version that stored each entry by itself.
pub(crate) fn unreadable(replay: &ReplayId) -> OfficeError {
    OfficeError::NotNow(format!(
        "the letters of replay {replay} were planned by an earlier version of this program, and cannot be sent by this one; make a new plan"
    ))
}
