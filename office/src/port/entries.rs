//! The list of a replay's entries, read from its blocks. The ledger says which waves have entries with an outcome, so
//! that the others are not read.

use super::cursor::{ListPosition, Listed};
use super::page::{Cursor, Page};
use domain::limits::PAGE_MAX;
use domain::replay::{BLOCK_ENTRIES, Block, Entry, Ledger, OutcomeKind};
use std::collections::VecDeque;
use std::ops::Range;

/// Blocks that are read at once while few entries match. About a quarter of the megabyte that DynamoDB reads at once.
const BLOCKS_AT_ONCE: usize = 250;
/// Blocks that one page reads at most: 40,000 entries.
const BLOCKS_MAX: usize = 2_000;

/// A page that is being read.
pub(super) struct Listing {
    wave: Option<u32>,
    outcome: Option<OutcomeKind>,
    limit: usize,
    /// The sequence numbers that are still to be read.
    rest: VecDeque<Range<u64>>,
    blocks_left: usize,
    items: Vec<Entry>,
    next: Option<Cursor>,
}

impl Listing {
    /// Begins a page; see [`super::Store::entries`].
    pub(super) fn new(
        ledger: &Ledger,
        (wave, outcome): (Option<u32>, Option<OutcomeKind>),
        after: Option<&Cursor>,
        limit: usize,
    ) -> Self {
        let after = ListPosition::parse(Listed::Entries.name(), after);
        let first = after.and_then(|after| u64::try_from(after.number).ok()).map_or(0, |seq| seq.saturating_add(1));
        let ranges = ranges(ledger, wave, outcome).into_iter().map(|range| range.start.max(first)..range.end);
        let rest = ranges.filter(|range| !range.is_empty()).collect();
        let (limit, blocks_left) = (limit.clamp(1, PAGE_MAX), BLOCKS_MAX);
        Self { wave, outcome, limit, rest, blocks_left, items: Vec::new(), next: None }
    }

    /// Returns from which block on how many are to be read next; `None` if the page is complete.
    pub(super) fn wanted(&self) -> Option<(u64, usize)> {
        let range = self.rest.front().filter(|_| self.next.is_none())?;
        let number = Block::number_of(range.start);
        let in_range = usize::try_from(Block::number_of(range.end - 1) - number + 1).unwrap_or(usize::MAX);
        let wanted = match self.outcome {
            None => (self.limit - self.items.len()) / BLOCK_ENTRIES + 2,
            Some(_) => BLOCKS_AT_ONCE,
        };
        Some((number, wanted.min(in_range)))
    }

    /// Takes the blocks that were wanted.
    pub(super) fn add(&mut self, blocks: Vec<Block>) {
        let Some(range) = self.rest.pop_front() else { return };
        let last = blocks.last().and_then(|block| block.entries.last());
        // After the last entry of the replay, its block is read again.
        let Some(last) = last.filter(|last| last.seq >= range.start).cloned() else { return };
        self.blocks_left = self.blocks_left.saturating_sub(blocks.len());
        for entry in blocks.into_iter().flat_map(|block| block.entries) {
            let is_wanted = self.wave.is_none_or(|wave| entry.wave == wave)
                && self.outcome.is_none_or(|kind| entry.outcome.kind() == kind);
            if range.contains(&entry.seq) && is_wanted {
                if self.items.len() == self.limit {
                    self.next = self.items.last().map(cursor);
                    return;
                }
                self.items.push(entry);
            }
        }
        if last.seq + 1 < range.end {
            self.rest.push_front(last.seq + 1..range.end);
        }
        if self.blocks_left == 0 && !self.rest.is_empty() {
            self.next = Some(cursor(&last));
        }
    }

    /// Returns the page.
    pub(super) fn page(self) -> Page<Entry> {
        Page { items: self.items, next: self.next }
    }
}

/// Later waves have higher sequence numbers, so the wave says nothing more about the position.
fn cursor(entry: &Entry) -> Cursor {
    let position = ListPosition { number: entry.seq.cast_signed(), id: format!("{:08x}", entry.wave) };
    position.print(Listed::Entries.name())
}

/// Returns the sequence numbers that the entries can have. Without a ledger, that is everywhere.
fn ranges(ledger: &Ledger, wave: Option<u32>, outcome: Option<OutcomeKind>) -> Vec<Range<u64>> {
    if ledger.0.is_empty() {
        return std::iter::once(0..u64::MAX).collect();
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut start = 0;
    for (number, columns) in (0..).zip(&ledger.0) {
        let end = start + columns.selected();
        let has_some = outcome.map_or(end > start, |kind| columns.get(kind) > 0);
        if wave.is_none_or(|wave| wave == number) && has_some {
            match ranges.last_mut().filter(|range| range.end == start) {
                Some(before) => before.end = end,
                None => ranges.push(start..end),
            }
        }
        start = end;
    }
    ranges
}
