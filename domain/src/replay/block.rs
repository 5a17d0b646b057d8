//! Blocks: the entries of a replay, twenty to a record with one version.
//!
//! A store charges a write by the kilobyte and by the record, so twenty entries in one record of a kilobyte cost as much
//! as one. Whoever changes an entry writes its whole block on the condition of the block's version. A write that is
//! refused reads the block again, and makes only those changes whose entries are still as they were
//! ([`Block::change`]).

mod bytes;
mod coding;

pub use bytes::BlockError;

use super::entry::Entry;
use crate::id::ReplayId;
use alloc::vec::Vec;

/// The entries of a full block. Twenty ordinary ones fit into a kilobyte together with the record's key.
pub const BLOCK_ENTRIES: usize = 20;

/// Consecutive entries of a replay: those with the sequence numbers `number * 20` to `number * 20 + 19`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The replay.
    pub replay: ReplayId,
    /// Its number, from 0.
    pub number: u64,
    /// Increments with each change; conditional writes compare it. 1 for a new block.
    pub version: u64,
    /// The entries, in the order of their sequence numbers. Only the last block of a replay may have fewer than
    /// [`BLOCK_ENTRIES`].
    pub entries: Vec<Entry>,
}

impl Block {
    /// Returns the number of the block that the entry with this sequence number belongs to.
    pub fn number_of(seq: u64) -> u64 {
        seq / BLOCK_ENTRIES as u64
    }

    /// Returns the sequence number of a block's first entry.
    pub fn first_seq(number: u64) -> u64 {
        number.saturating_mul(BLOCK_ENTRIES as u64)
    }

    /// Returns the new blocks of a plan's entries, which are given in their order from the first on.
    pub fn planned(replay: &ReplayId, entries: Vec<Entry>) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::with_capacity(entries.len().div_ceil(BLOCK_ENTRIES));
        for entry in entries {
            let number = Self::number_of(entry.seq);
            match blocks.last_mut().filter(|block| block.number == number) {
                Some(block) => block.entries.push(entry),
                None => {
                    let mut entries = Vec::with_capacity(BLOCK_ENTRIES);
                    entries.push(entry);
                    blocks.push(Self { replay: replay.clone(), number, version: 1, entries });
                }
            }
        }
        blocks
    }

    /// Returns the entry with this sequence number; `None` if it is in another block.
    pub fn entry(&self, seq: u64) -> Option<&Entry> {
        self.entries.get(usize::try_from(seq.checked_sub(Self::first_seq(self.number))?).ok()?)
    }

    /// Replaces an entry, if the stored one is still the one that the change was decided for. Returns whether it is.
    pub fn change(&mut self, before: &Entry, after: &Entry) -> bool {
        match self.entries.iter_mut().find(|entry| entry.seq == before.seq) {
            Some(entry) if entry == before => {
                *entry = after.clone();
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
