//! Changing entries of a replay, their letters, the ledger and the counters in one commit.

use crate::error::OfficeError;
use crate::groups::{TRIES_MAX, count_writes};
use crate::office::Office;
use crate::port::{CommitError, Expect, Write};
use domain::group::CountsDeltas;
use domain::id::{LetterId, MessageId, ReplayId};
use domain::letter::{Letter, LetterState};
use domain::replay::{Entry, LedgerMove, Outcome, OutcomeKind, SkipReason};
use std::collections::{BTreeMap, BTreeSet};

/// One entry that changes, and the state that its letter enters with it.
#[derive(Clone)]
pub(super) struct Change {
    /// As it is.
    pub entry: Entry,
    /// As it shall be.
    pub after: Entry,
    /// The state that the letter enters, if it changes.
    pub letter: Option<LetterState>,
}

impl Change {
    /// A letter that was to be sent, and is not. One whose answer was lost may have been sent: it is let go, and its
    /// return is still recognised.
    pub(super) fn not_sent(self, reason: SkipReason, detail: Option<String>) -> Self {
        let in_doubt = self.entry.outcome.kind() == OutcomeKind::Sending;
        let reason = if in_doubt { SkipReason::InDoubt } else { reason };
        let after = Entry { outcome: Outcome::Skipped { reason, detail }, ..self.entry.clone() };
        Self { after, letter: in_doubt.then_some(LetterState::Waiting), ..self }
    }
}

/// What became of some changes.
#[derive(Default)]
pub(super) struct Changed {
    /// Those that were made.
    pub made: Vec<Change>,
    /// Their letters, as they are now.
    pub letters: Vec<Letter>,
    /// The fence had moved: the replay was changed by somebody else, and nothing was written.
    pub fenced: bool,
}

/// The version that a replay must have for the changes to be made.
pub(super) struct Fence<'a> {
    pub replay: &'a ReplayId,
    pub version: u64,
}

/// Makes the changes whose entries are as they were read; those that others have changed meanwhile are left to them.
pub(super) async fn commit(
    office: &Office,
    fence: Option<Fence<'_>>,
    changes: Vec<Change>,
) -> Result<Changed, OfficeError> {
    commit_over(office, fence, changes, Vec::new()).await
}

/// The same by one who has just read the letters. One that was changed since conflicts, as any other does.
pub(super) async fn commit_over(
    office: &Office,
    fence: Option<Fence<'_>>,
    mut changes: Vec<Change>,
    mut just_read: Vec<Letter>,
) -> Result<Changed, OfficeError> {
    for _ in 0..TRIES_MAX {
        if changes.is_empty() {
            return Ok(Changed::default());
        }
        let ids: Vec<LetterId> =
            changes.iter().filter(|c| c.letter.is_some()).map(|c| c.entry.letter.clone()).collect();
        let letters = match std::mem::take(&mut just_read) {
            none if none.is_empty() => office.store.letters(&ids).await?,
            letters => letters,
        };
        let (writes, after) = writes(fence.as_ref(), &changes, &letters);
        let indexes = match office.store.commit(writes.clone()).await {
            Ok(()) => return Ok(Changed { made: changes, letters: after, fenced: false }),
            Err(CommitError::Store(error)) => return Err(error.into()),
            Err(CommitError::Conflict(indexes)) => indexes,
        };
        let mut gone = BTreeSet::new();
        for write in indexes.iter().filter_map(|at| writes.get(*at)) {
            match write {
                Write::ReplayIs { .. } => return Ok(Changed { fenced: true, ..Changed::default() }),
                Write::Entry { entry, .. } => drop(gone.insert(entry.letter.clone())),
                // The caller judged the letter as it was: it has to judge it again.
                Write::Letter { letter, .. } if fence.is_some() => drop(gone.insert(letter.id.clone())),
                // Without a fence the entry's condition decides, and the letter is read again in the next round.
                _ => {}
            }
        }
        changes.retain(|change| !gone.contains(&change.entry.letter));
    }
    Err(OfficeError::Contended { subject: "a batch of a replay's letters".into() })
}

fn writes(fence: Option<&Fence<'_>>, changes: &[Change], letters: &[Letter]) -> (Vec<Write>, Vec<Letter>) {
    let mut writes = Vec::with_capacity(changes.len() * 3 + 4);
    let mut moves: BTreeMap<(u32, OutcomeKind, OutcomeKind), LedgerMove> = BTreeMap::new();
    let mut counts = CountsDeltas::default();
    let mut after_letters = Vec::with_capacity(letters.len());
    if let Some(fence) = fence {
        writes.push(Write::ReplayIs { replay: fence.replay.clone(), version: fence.version });
    }
    for change in changes {
        let (from, to) = (change.entry.outcome.kind(), change.after.outcome.kind());
        let moved = LedgerMove::of(&change.entry, &change.after);
        let sum = moves.entry((moved.wave, from, to));
        sum.and_modify(|sum| *sum = sum.combined(&moved)).or_insert(moved);
        writes.push(Write::Entry { entry: Box::new(change.after.clone()), was: Some((from, change.entry.sends)) });
        if let Some(sent) = sent_record(&change.after) {
            writes.push(sent);
        }
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

/// A letter's first intent in a replay is one more attempt; sending it again because an answer was lost is the same.
fn starts_attempt(change: &Change, before: &Letter) -> bool {
    change.after.outcome.kind() == OutcomeKind::Sending && before.state == LetterState::Waiting
}

fn sent_record(after: &Entry) -> Option<Write> {
    let Outcome::InFlight { message_id, .. } = &after.outcome else { return None };
    Some(Write::Sent {
        message: MessageId::new(message_id.as_str()),
        replay: after.replay.clone(),
        letter: after.letter.clone(),
    })
}
