//! Discards of a filter or a whole group, and undoing them, in bounded steps.
//!
//! The task is stored with the group. Each step is one commit: some letters, their counters, and the group with the task's
//! progress. The condition on the group's version is the fence: of two processes that do the same task, one is refused
//! and reads again. After a crash the next request or sweep goes on, and no letter is counted twice or by half.

use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::{OfficeError, chain};
use crate::groups::count_writes;
use crate::merged;
use crate::office::Office;
use crate::port::{Expect, GroupFacts, Write};
use domain::audit::Act;
use domain::group::discarding::DiscardTask;
use domain::group::{CountsDeltas, Tally, Variant};
use domain::id::GroupId;
use domain::letter::{Letter, LetterStateKind};
use domain::limits::{DISCARD_RUN_MAX, DISCARD_TOGETHER_MAX, PAGE_MAX};
use domain::metric::{DISCARDED, Datum};

/// A letter before and after a step.
pub(crate) type Moved = (Letter, Letter);

/// Does the task of a group, as far as one run goes. Returns whether nothing is left to do.
pub(crate) async fn run(office: &Office, id: &GroupId) -> Result<bool, OfficeError> {
    let Some(group) = office.store.group(id).await? else { return Ok(true) };
    let Some(task) = group.discarding.as_deref() else { return Ok(true) };
    let (mut run, started) = (Run { office, changed: 0 }, task.progress());
    let lists: Vec<_> = std::iter::once(&group.id)
        .chain(&group.merge.members)
        .flat_map(|fingerprint| task.states().iter().map(move |state| (fingerprint.clone(), *state)))
        .collect();
    let mut is_complete = true;
    for (fingerprint, state) in &lists {
        let is_same = |task: &DiscardTask| {
            let now = task.progress();
            (now.undo, now.at) == (started.undo, started.at)
        };
        is_complete = run.list(id, fingerprint, *state, is_same).await?;
        if !is_complete {
            break;
        }
    }
    if !started.undo && run.changed > 0 {
        office.measure(&[Datum::one(&DISCARDED, &[], office.now(), run.changed as f64)]).await;
    }
    if is_complete {
        finish(office, id).await?;
    }
    Ok(is_complete)
}

/// The same, for a sweep: a failure is only logged, because the next sweep tries again.
pub(crate) async fn go_on(office: &Office, id: &GroupId) {
    if let Err(error) = run(office, id).await {
        tracing::warn!(group = %id, error = %chain(&error), "a discard was cut off; the next sweep continues");
    }
}

struct Run<'a> {
    office: &'a Office,
    /// The letters that this run has changed.
    changed: usize,
}

impl Run<'_> {
    /// Does the task on one list of letters. Returns whether the list is done.
    async fn list(
        &mut self,
        id: &GroupId,
        fingerprint: &GroupId,
        state: LetterStateKind,
        is_same: impl Fn(&DiscardTask) -> bool,
    ) -> Result<bool, OfficeError> {
        let store = &*self.office.store;
        let (mut cursor, mut tries) = (None, Tries::new(format!("group {id}")));
        'page: loop {
            let page = store.letters_of(fingerprint, Some(state), cursor.as_ref(), PAGE_MAX).await?;
            let Some(mut group) = store.group(id).await? else { return Ok(false) };
            // A person may have unmerged the fingerprint since.
            let is_member = group.id == *fingerprint || group.merge.members.contains(fingerprint);
            let Some(task) = group.discarding.clone().filter(|task| is_same(task)) else { return Ok(false) };
            if !is_member {
                return Ok(true);
            }
            let moves: Vec<Moved> = page
                .items
                .into_iter()
                .filter_map(|letter| task.applied(&letter).map(|after| (letter, after)))
                .collect();
            for moves in moves.chunks(DISCARD_TOGETHER_MAX) {
                if self.changed >= DISCARD_RUN_MAX {
                    return Ok(false);
                }
                let Some(task) = &group.discarding else { return Ok(false) };
                let done = task.after(&total(moves));
                let after = Variant { discarding: Some(Box::new(done)), ..group.moved(group.state.clone()) };
                let mut writes = letter_writes(moves);
                writes.push(put(&group, after.clone()));
                if !commit(self.office, writes).await?.is_made() {
                    tries.begin()?;
                    continue 'page;
                }
                self.changed += moves.len();
                (group, tries) = (after, Tries::new(format!("group {id}")));
            }
            let Some(next) = page.next else { return Ok(true) };
            cursor = Some(next);
        }
    }
}

/// Ends a task that is done, and closes the group if nothing is open.
async fn finish(office: &Office, id: &GroupId) -> Result<(), OfficeError> {
    let mut tries = Tries::new(format!("group {id}"));
    loop {
        tries.begin()?;
        let Some(merged::MergedGroup { facts, .. }) = merged::read(&*office.store, id, i64::MAX).await? else {
            return Ok(());
        };
        let Some(task) = &facts.variant.discarding else { return Ok(()) };
        let now = office.now();
        let idle = Variant { discarding: None, ..facts.variant.moved(facts.variant.state.clone()) };
        let closed = idle.closed(&facts.counts, now).map(|closed| Variant { version: idle.version, ..closed });
        let act = if task.progress().undo { Act::DiscardUndone } else { Act::LettersDiscarded };
        let mut writes = vec![Auditor::new(task.by(), id, now).record(act, task.words(), task.reason())];
        writes.extend(closed.is_some().then(|| closing_record(id, office)));
        writes.push(put(&facts.variant, closed.unwrap_or(idle)));
        if commit(office, writes).await?.is_made() {
            return Ok(());
        }
    }
}

/// Closes a group whose last open letters were discarded. Returns without a change if a letter is open, or if another
/// process was faster.
pub(crate) async fn close(office: &Office, facts: &GroupFacts) -> Result<(), OfficeError> {
    let Some(closed) = facts.variant.closed(&facts.counts, office.now()) else { return Ok(()) };
    // On a conflict the next sweep looks again.
    let _ = commit(office, vec![put(&facts.variant, closed), closing_record(&facts.variant.id, office)]).await?;
    Ok(())
}

/// The same, for a sweep.
pub(crate) async fn close_missed(office: &Office, facts: &GroupFacts) {
    if let Err(error) = close(office, facts).await {
        tracing::warn!(group = %facts.variant.id, error = %chain(&error), "a group was not closed; the next sweep tries again");
    }
}

fn closing_record(id: &GroupId, office: &Office) -> Write {
    let detail = "The group has no open letters; some were discarded";
    Auditor::office(id, office.now()).record(Act::GroupDiscarded, detail, None)
}

/// Returns the writes of letters that were discarded or taken back, with their counters.
pub(crate) fn letter_writes(moves: &[Moved]) -> Vec<Write> {
    let mut counts = CountsDeltas::default();
    let mut writes = Vec::with_capacity(moves.len() + 3);
    for (before, after) in moves {
        counts.moved(Some(before), after);
        writes.push(Write::Letter { letter: Box::new(after.clone()), expect: Expect::Version(before.version) });
    }
    writes.extend(count_writes(counts));
    writes
}

/// Returns the number and the money of letters.
pub(crate) fn total(moves: &[Moved]) -> Tally {
    let mut total = Tally::default();
    moves.iter().for_each(|(letter, _)| total.include(letter));
    total
}

pub(crate) fn put(before: &Variant, after: Variant) -> Write {
    Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) }
}
