//! Changes of entries of a replay, with their letters, the ledger and the counters in one commit.

use super::blocks::Known;
use crate::commit::{self, Committed, Tries};
use crate::error::OfficeError;
use crate::groups::count_writes;
use crate::office::Office;
use crate::port::{EntryKey, Expect, Write};
use domain::group::CountsDeltas;
use domain::id::{LetterId, ReplayId};
use domain::letter::{Letter, LetterState};
use domain::limits::{COMMIT_RECORDS_MAX, PAGE_MAX};
use domain::replay::{Block, Entry, LedgerMove, Outcome, OutcomeKind, SkipReason};
use std::collections::{BTreeMap, BTreeSet};

/// A change of one entry, and the state that its letter enters with it.
#[derive(Clone)]
pub(super) struct Change {
    /// The entry as it is.
    pub entry: Entry,
    /// The entry after the change.
    pub after: Entry,
    /// The new state of the letter, if that changes.
    pub letter: Option<LetterState>,
    /// Whether the letter may return without its marker, so that only its message id tells where it belongs.
    pub is_found_by_id: bool,
}

impl Change {
    /// Returns the change of an entry to another outcome.
    pub(super) fn new(entry: Entry, outcome: Outcome, letter: Option<LetterState>) -> Self {
        Self { after: entry.moved(outcome), entry, letter, is_found_by_id: false }
    }

    /// Returns the change that skips a letter instead of sending it. A letter whose answer was lost may have been sent
    /// already: it is skipped as in doubt, and its return is still recognised.
    pub(super) fn skipped(self, reason: SkipReason, detail: Option<String>) -> Self {
        let in_doubt = self.entry.outcome.kind() == OutcomeKind::Sending;
        let reason = if in_doubt { SkipReason::InDoubt } else { reason };
        let letter = in_doubt.then_some(LetterState::Waiting);
        Self::new(self.entry, Outcome::Skipped { reason, detail }, letter)
    }
}

/// The result of a commit of changes.
#[derive(Default)]
pub(super) struct Changed {
    /// The changes that were made.
    pub made: Vec<Change>,
    /// Their letters, after the changes.
    pub letters: Vec<Letter>,
    /// Whether another process has changed the replay. Then nothing more was written.
    pub fenced: bool,
}

/// The version that the replay must have for the changes to be made.
pub(super) struct Fence<'a> {
    pub replay: &'a ReplayId,
    pub version: u64,
}

/// Makes those changes whose entries are still as they were read, in as few commits as they fit into. Drops changes of
/// entries that another process has changed.
pub(super) async fn commit(
    office: &Office,
    fence: Option<Fence<'_>>,
    known: &mut Known,
    changes: Vec<Change>,
) -> Result<Changed, OfficeError> {
    commit_over(office, fence, known, changes, Vec::new()).await
}

/// The same, with letters that the caller has just read. A letter that has changed since then is a conflict like any
/// other.
pub(super) async fn commit_over(
    office: &Office,
    fence: Option<Fence<'_>>,
    known: &mut Known,
    changes: Vec<Change>,
    just_read: Vec<Letter>,
) -> Result<Changed, OfficeError> {
    let mut done = Changed::default();
    let mut just_read: BTreeMap<LetterId, Letter> =
        just_read.into_iter().map(|letter| (letter.id.clone(), letter)).collect();
    let mut parts = vec![changes];
    while let Some(part) = parts.pop().filter(|part| !part.is_empty()) {
        match commit_part(office, fence.as_ref(), known, part, &mut just_read).await? {
            Part::Made(mut changes, mut letters) => {
                done.made.append(&mut changes);
                done.letters.append(&mut letters);
            }
            Part::TooLarge(mut first) => {
                parts.push(first.split_off(first.len() / 2));
                parts.push(first);
            }
            Part::Fenced => return Ok(Changed { fenced: true, ..done }),
        }
    }
    Ok(done)
}

/// What became of the changes of one commit.
enum Part {
    /// These were made, and these are their letters.
    Made(Vec<Change>, Vec<Letter>),
    /// They do not fit into one commit.
    TooLarge(Vec<Change>),
    /// Another process has changed the replay.
    Fenced,
}

async fn commit_part(
    office: &Office,
    fence: Option<&Fence<'_>>,
    known: &mut Known,
    mut changes: Vec<Change>,
    just_read: &mut BTreeMap<LetterId, Letter>,
) -> Result<Part, OfficeError> {
    let mut tries = Tries::new("a batch of a replay's letters");
    loop {
        tries.begin()?;
        let blocks = known.changed(office, &mut changes, |change| (&change.entry, &change.after)).await?;
        if changes.is_empty() {
            return Ok(Part::Made(changes, Vec::new()));
        }
        if blocks.len() >= COMMIT_RECORDS_MAX {
            return Ok(Part::TooLarge(changes));
        }
        let letters = letters(office, &changes, just_read).await?;
        let (writes, after) = writes(fence, &blocks, &changes, &letters);
        if writes.iter().map(Write::records).sum::<usize>() > COMMIT_RECORDS_MAX && changes.len() > 1 {
            just_read.extend(letters.into_iter().map(|letter| (letter.id.clone(), letter)));
            return Ok(Part::TooLarge(changes));
        }
        let failed = match commit::commit(office, writes).await? {
            Committed::Yes => {
                known.keep(blocks);
                return Ok(Part::Made(changes, after));
            }
            Committed::Conflict(failed) => failed,
        };
        let mut gone = BTreeSet::new();
        for write in failed {
            match write {
                Write::ReplayIs { .. } => return Ok(Part::Fenced),
                // Another process has changed an entry of the block, perhaps not one of these: it is read again.
                Write::Block { block, .. } => known.forget(block.number),
                // The caller's decision was about the letter as it was; it has to decide again.
                Write::Letter { letter, .. } if fence.is_some() => drop(gone.insert(letter.id)),
                // Without a fence only the entry's condition counts; the next try reads the letter again.
                _ => {}
            }
        }
        changes.retain(|change| !gone.contains(&change.entry.letter));
    }
}

/// Returns the letters whose state the changes move: those that were just read, and the others from the store. Each is
/// used once, so that a retry reads it again.
async fn letters(
    office: &Office,
    changes: &[Change],
    just_read: &mut BTreeMap<LetterId, Letter>,
) -> Result<Vec<Letter>, OfficeError> {
    let (mut letters, mut others) = (Vec::new(), Vec::new());
    for change in changes.iter().filter(|change| change.letter.is_some()) {
        match just_read.remove(&change.entry.letter) {
            Some(letter) => letters.push(letter),
            None => others.push(change.entry.letter.clone()),
        }
    }
    for ids in others.chunks(PAGE_MAX) {
        letters.append(&mut office.store.letters(ids).await?);
    }
    Ok(letters)
}

fn writes(
    fence: Option<&Fence<'_>>,
    blocks: &[Block],
    changes: &[Change],
    letters: &[Letter],
) -> (Vec<Write>, Vec<Letter>) {
    let mut writes = Vec::with_capacity(changes.len() + blocks.len() + 4);
    let mut moves: BTreeMap<(u32, OutcomeKind, OutcomeKind), LedgerMove> = BTreeMap::new();
    let mut counts = CountsDeltas::default();
    let mut after_letters = Vec::with_capacity(letters.len());
    if let Some(fence) = fence {
        writes.push(Write::ReplayIs { replay: fence.replay.clone(), version: fence.version });
    }
    writes.extend(blocks.iter().cloned().map(Write::next_block));
    for change in changes {
        let (from, to) = (change.entry.outcome.kind(), change.after.outcome.kind());
        let moved = LedgerMove::between(&change.entry, &change.after);
        let sum = moves.entry((moved.wave, from, to));
        sum.and_modify(|sum| *sum = sum.combined(&moved)).or_insert(moved);
        writes.extend(sent_record(change));
        let letter = letters.iter().find(|letter| letter.id == change.entry.letter);
        if let (Some(state), Some(before)) = (&change.letter, letter) {
            let mut after = before.moved(state.clone());
            after.replays += u32::from(starts_attempt(change, before));
            counts.moved(Some(before), &after);
            writes.push(Write::Letter { letter: Box::new(after.clone()), expect: Expect::Version(before.version) });
            after_letters.push(after);
        }
    }
    if let Some(change) = changes.first() {
        let moves = moves.into_values().collect();
        writes.push(Write::Ledger { replay: change.entry.replay.clone(), moves });
    }
    writes.extend(count_writes(counts));
    (writes, after_letters)
}

/// Returns whether a change starts an attempt. Sending again after a lost answer belongs to the same attempt.
fn starts_attempt(change: &Change, before: &Letter) -> bool {
    change.after.outcome.kind() == OutcomeKind::Sending && before.state == LetterState::Waiting
}

fn sent_record(change: &Change) -> Option<Write> {
    let Outcome::InFlight { message_id, .. } = &change.after.outcome else { return None };
    let Entry { replay, seq, letter, .. } = &change.after;
    let entry = EntryKey { replay: replay.clone(), seq: *seq, letter: letter.clone() };
    change.is_found_by_id.then(|| Write::Sent { message: message_id.clone(), entry })
}
