//! The letters of a plan, read in their order, and which of them go into it.

use crate::gate::why_not;
use crate::merged::LETTERS;
use crate::office::Office;
use crate::payloads::PayloadChecks;
use crate::port::{Cursor, ListPosition, Presence, Store, StoreError};
use domain::filter::LetterFilter;
use domain::id::{GroupId, LetterId, QueueArn};
use domain::letter::{Letter, LetterStateKind};
use domain::limits::PAGE_MAX;
use domain::replay::Selected;
use domain::time::Timestamp;
use futures_util::future::try_join_all;
use std::collections::{BTreeSet, VecDeque};

/// Why a letter is left out whose payload is missing, after a number of letters.
const GONE: &str = "with a payload missing from S3";
/// Why a letter is left out that does not match the filter.
const OUTSIDE: &str = "outside the filter";
/// Why a letter is left out that the person did not name.
pub(crate) const UNNAMED: &str = "not selected";
/// Why a letter is left out that died while a plan was being made.
const LATER: &str = "failed after the plan was begun";

/// The letters that a plan reads, one list after the other.
pub(crate) const LISTS: [LetterStateKind; 2] = [LetterStateKind::Waiting, LetterStateKind::Quarantined];

/// Reads the letters of some fingerprints in one state, in the order of their first sends.
pub(crate) struct Reader<'a> {
    store: &'a dyn Store,
    state: LetterStateKind,
    page: usize,
    sources: Vec<Source>,
}

/// The letters of one fingerprint.
struct Source {
    fingerprint: GroupId,
    letters: VecDeque<Letter>,
    cursor: Option<Cursor>,
    is_over: bool,
}

impl<'a> Reader<'a> {
    /// Reads from after a letter on, or from the first one, at most `page` letters of a fingerprint at once.
    pub(crate) fn new<'g>(
        store: &'a dyn Store,
        fingerprints: impl Iterator<Item = &'g GroupId>,
        state: LetterStateKind,
        after: Option<&(Timestamp, LetterId)>,
        page: usize,
    ) -> Self {
        let position = |(sent_at, id): &(Timestamp, LetterId)| {
            ListPosition { number: sent_at.as_ms(), id: id.as_str().into() }.print(LETTERS)
        };
        let cursor = after.map(position);
        let source = |fingerprint: &GroupId| Source {
            fingerprint: fingerprint.clone(),
            letters: VecDeque::new(),
            cursor: cursor.clone(),
            is_over: false,
        };
        Self { store, state, page: page.clamp(1, PAGE_MAX), sources: fingerprints.map(source).collect() }
    }

    /// Returns at most `limit` letters; none at the end.
    pub(crate) async fn next(&mut self, limit: usize) -> Result<Vec<Letter>, StoreError> {
        let mut letters = Vec::new();
        while letters.len() < limit {
            let (store, state, page) = (self.store, self.state, self.page);
            try_join_all(self.sources.iter_mut().map(|source| source.fill(store, state, page))).await?;
            let firsts = self.sources.iter().enumerate().filter_map(|(at, source)| Some((source.letters.front()?, at)));
            let first = firsts.min_by(|(a, _), (b, _)| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
            let Some((_, at)) = first else { break };
            // With one source left, its letters come as they are.
            let is_alone =
                self.sources.iter().enumerate().all(|(other, source)| other == at || source.letters.is_empty());
            let source = &mut self.sources[at];
            let count = if is_alone { source.letters.len().min(limit - letters.len()) } else { 1 };
            letters.extend(source.letters.drain(..count));
        }
        Ok(letters)
    }
}

impl Source {
    /// Reads the next letters, unless some are there or none follow.
    async fn fill(&mut self, store: &dyn Store, state: LetterStateKind, page: usize) -> Result<(), StoreError> {
        while self.letters.is_empty() && !self.is_over {
            let found = store.letters_of(&self.fingerprint, Some(state), self.cursor.as_ref(), page).await?;
            self.letters.extend(found.items);
            self.is_over = found.next.is_none();
            self.cursor = found.next;
        }
        Ok(())
    }
}

/// Which letters go into a plan.
pub(crate) struct Criteria<'a> {
    pub main_queue: &'a QueueArn,
    pub filter: &'a LetterFilter,
    /// The letters that the person named; empty if the filter alone decides.
    pub named: &'a BTreeSet<&'a LetterId>,
    pub now: Timestamp,
    /// Until when a letter may have died, while letters are read for a long time.
    pub until: Option<Timestamp>,
}

impl Criteria<'_> {
    /// Returns why a letter is left out, or `None` if it goes into the plan.
    fn why_not(&self, letter: &Letter, office: &Office) -> Option<String> {
        let is_named = self.named.is_empty() || self.named.contains(&letter.id);
        let unnamed = (!is_named).then(|| UNNAMED.to_string());
        let outside = || (!self.filter.fits(letter)).then(|| OUTSIDE.to_string());
        let later = || self.until.is_some_and(|until| letter.died_at > until).then(|| LATER.to_string());
        unnamed.or_else(outside).or_else(later).or_else(|| why_not(letter, self.main_queue, office, self.now))
    }

    /// Counts letters, and returns those that go into the plan, in their order.
    pub(crate) async fn judge(
        &self,
        office: &Office,
        payloads: &mut PayloadChecks,
        letters: Vec<Letter>,
        selected: &mut Selected,
    ) -> Vec<Letter> {
        let reasons: Vec<_> = letters.iter().map(|letter| self.why_not(letter, office)).collect();
        let goes = letters.iter().zip(&reasons).filter(|(_, reason)| reason.is_none());
        let presences = payloads.check(&*office.payloads, goes.map(|(letter, _)| letter).collect()).await;
        let mut chosen = Vec::with_capacity(letters.len());
        for (letter, reason) in letters.into_iter().zip(reasons) {
            let presence = presences.get(&letter.id);
            let gone = || (presence == Some(&Presence::Gone)).then(|| GONE.to_string());
            if let Some(Presence::Unknown(why)) = presence {
                selected.cannot_check(why);
            }
            match reason.or_else(gone) {
                Some(reason) => selected.leave_out(reason, 1),
                None => {
                    selected.take(&letter);
                    chosen.push(letter);
                }
            }
        }
        chosen
    }
}
