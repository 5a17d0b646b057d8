//! Discarding letters, and taking them back.

use super::{facts, optional, text};
use crate::audit::{Auditor, criteria};
use crate::commit::{Committed, Tries, commit};
use crate::discarding::{self, Moved, letter_writes, put, total};
use crate::error::OfficeError;
use crate::merged;
use crate::office::Office;
use domain::audit::Act;
use domain::discard::Discard;
use domain::filter::LetterFilter;
use domain::group::discarding::DiscardTask;
use domain::group::{Tally, Variant};
use domain::id::{Actor, GroupId, LetterId};
use domain::letter::{Letter, LetterStateKind, NotDiscarded};
use domain::limits::{CLOCK_SKEW_MAX, DISCARD_PREVIEW_AGE_MAX, NAMED_LETTERS_MAX, PAGE_MAX};
use domain::metric::{DISCARDED, Datum};
use domain::replay::LeftOut;
use domain::time::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use wire::{DiscardPreviewAnswer, DiscardPreviewRequest, DiscardRequest, UndoDiscardRequest};

/// The most named letters of one commit. Each may have another fingerprint, with counters of its own.
const TOGETHER_MAX: usize = 45;

/// Returns what a discard would do. Changes nothing.
pub async fn preview_discard(
    office: &Office,
    id: &GroupId,
    request: &DiscardPreviewRequest,
) -> Result<DiscardPreviewAnswer, OfficeError> {
    let facts = facts(office, id).await?;
    check_choice(&request.letters, &request.filter)?;
    let now = office.now();
    let mut found = Found::default();
    if !request.letters.is_empty() {
        for ids in parts(&request.letters) {
            let letters = office.store.letters(&ids).await?;
            let of_group: Vec<_> = letters.iter().filter(|letter| is_of(letter, &facts.variant)).collect();
            found.leave_out("no longer in this group", ids.len().saturating_sub(of_group.len()) as u64);
            of_group.into_iter().for_each(|letter| found.add(letter));
        }
    } else if request.filter.is_none() {
        let tally = |kind| facts.counts.tally(kind);
        found.letters.add(&tally(LetterStateKind::Waiting));
        found.letters.add(&tally(LetterStateKind::Quarantined));
        let reason =
            facts.variant.state.replay().map_or_else(|| "in a replay".into(), |replay| in_replay(replay.as_str()));
        found.leave_out(&reason, tally(LetterStateKind::InReplay).letters.max(0).cast_unsigned());
    } else {
        found.scan(office, &facts.variant, &request.filter).await?;
    }
    let kept_until = office.policy.discarded_kept().map(|kept| now.plus(kept));
    let left_out = found.left_out.into_iter().map(|(reason, letters)| LeftOut { reason, letters }).collect();
    Ok(DiscardPreviewAnswer { letters: found.letters, left_out, seen_at: now, kept_until })
}

/// Discards letters of a group: those that the request names, or all that match its filter. Letters that arrived after
/// the preview, and letters in a replay, stay as they are. A large discard continues after this returns.
pub async fn discard(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &DiscardRequest,
) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    check_choice(&request.letters, &request.filter)?;
    let now = office.now();
    let note = optional("the note", request.note.as_deref())?;
    if request.reason.needs_note() && note.is_none() {
        return Err(OfficeError::Invalid(
            "the note is missing; say in a few words why these letters are discarded".into(),
        ));
    }
    if request.seen_at > now.plus(CLOCK_SKEW_MAX) || now > request.seen_at.plus(DISCARD_PREVIEW_AGE_MAX) {
        return Err(OfficeError::NotNow("this preview is out of date; review the letters again".into()));
    }
    let discard = Box::new(Discard { at: now, by: actor.clone(), reason: request.reason, note, quarantined_at: None });
    let by = Auditor::new(actor, id, now);
    let reason = Some(discard.words());
    let (filter, seen_at) = (request.filter.clone(), request.seen_at);
    let task = DiscardTask::Discard { discard, filter, seen_at, done: Tally::default() };
    if request.letters.is_empty() {
        if facts.variant.discarding.is_some() {
            return Err(OfficeError::NotNow(
                "another discard of this group is not complete yet; wait, or undo it".into(),
            ));
        }
        let letters = |kind| facts.counts.tally(kind).letters;
        if request.filter.is_none() && letters(LetterStateKind::Waiting) + letters(LetterStateKind::Quarantined) <= 0 {
            return Err(OfficeError::NotNow("no letter of this group waits or is in quarantine".into()));
        }
        return begin(office, &facts.variant, task, by.record(Act::DiscardBegun, which(&request.filter), reason)).await;
    }
    let mut count = 0;
    for ids in parts(&request.letters) {
        count += some(office, &facts.variant, &ids, &task, &by).await?;
    }
    if count == 0 {
        let why = refusals(office, &request.letters).await?;
        return Err(OfficeError::NotNow(format!("none of these letters can be discarded: {why}")));
    }
    office.measure(&[Datum::one(&DISCARDED, &[], now, count as f64)]).await;
    close(office, id).await
}

/// Takes discarded letters back: they wait again, or return to quarantine. A large undo continues after this returns.
pub async fn undo_discard(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &UndoDiscardRequest,
) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    check_choice(&request.letters, &request.filter)?;
    let (now, reason) = (office.now(), text("the reason", &request.reason)?);
    let by = Auditor::new(actor, id, now);
    let (only, filter) = (request.discarded_at, request.filter.clone());
    let undo = |at: Timestamp| DiscardTask::Undo {
        by: actor.clone(),
        at,
        reason: reason.clone(),
        only,
        filter: filter.clone(),
        done: Tally::default(),
    };
    if request.letters.is_empty() {
        let discarding = facts.variant.discarding.as_ref();
        if discarding.is_some_and(|task| task.progress().undo) {
            return Err(OfficeError::NotNow("letters are already being taken back; wait until that ends".into()));
        }
        if facts.counts.tally(LetterStateKind::Discarded).letters == 0 && discarding.is_none() {
            return Err(OfficeError::NotNow("no letter of this group is discarded".into()));
        }
        let reason = Some(reason.clone());
        return begin(office, &facts.variant, undo(now), by.record(Act::UndoBegun, which(&request.filter), reason))
            .await;
    }
    // The group opens first: a letter that waits in a closed group would look like a new failure.
    let letters = office.store.letters(&request.letters[..request.letters.len().min(PAGE_MAX)]).await?;
    let is_meant = letters.iter().any(|letter| is_of(letter, &facts.variant) && letter.state.discard().is_some());
    if let Some(open) = facts.variant.after_undo().filter(|_| is_meant) {
        let record = by.record(Act::UndoBegun, "Some letters", Some(reason.clone()));
        super::commit_once(office, vec![put(&facts.variant, open), record]).await?;
    }
    let mut count = 0;
    for ids in parts(&request.letters) {
        count += some(office, &facts.variant, &ids, &undo(now), &by).await?;
    }
    match count {
        0 => Err(OfficeError::NotNow("none of these letters is discarded, or they are deleted already".into())),
        _ => Ok(()),
    }
}

/// Stores a task with its group, and does as much of it as one run may.
async fn begin(
    office: &Office,
    group: &Variant,
    task: DiscardTask,
    record: crate::port::Write,
) -> Result<(), OfficeError> {
    let opened = if task.progress().undo { group.after_undo() } else { None };
    let base = opened.unwrap_or_else(|| group.moved(group.state.clone()));
    let after = Variant { discarding: Some(Box::new(task)), ..base };
    super::commit_once(office, vec![put(group, after), record]).await?;
    // The decision is stored: what this run leaves the next sweep does.
    discarding::go_on(office, &group.id).await;
    Ok(())
}

/// Returns each named letter once, in parts of one commit.
fn parts(letters: &[LetterId]) -> Vec<Vec<LetterId>> {
    let distinct: BTreeSet<&LetterId> = letters.iter().collect();
    let distinct: Vec<LetterId> = distinct.into_iter().cloned().collect();
    distinct.chunks(TOGETHER_MAX).map(<[LetterId]>::to_vec).collect()
}

/// Does a task on named letters, in one commit with its audit record. Returns how many it changed.
async fn some(
    office: &Office,
    group: &Variant,
    ids: &[LetterId],
    task: &DiscardTask,
    by: &Auditor,
) -> Result<usize, OfficeError> {
    let mut tries = Tries::new(format!("letters of group {}", group.id));
    loop {
        tries.begin()?;
        let letters = office.store.letters(ids).await?.into_iter().filter(|letter| is_of(letter, group));
        let moves: Vec<Moved> =
            letters.filter_map(|letter| task.applied(&letter).map(|after| (letter, after))).collect();
        if moves.is_empty() {
            return Ok(0);
        }
        let act = if task.progress().undo { Act::DiscardUndone } else { Act::LettersDiscarded };
        let mut writes = letter_writes(&moves);
        writes.push(by.record(act, task.after(&total(&moves)).words(), task.reason()));
        if let Committed::Yes = commit(office, writes).await? {
            return Ok(moves.len());
        }
    }
}

/// Closes the group if nothing is open.
async fn close(office: &Office, id: &GroupId) -> Result<(), OfficeError> {
    match merged::read(&*office.store, id, i64::MAX).await? {
        Some(group) => discarding::close(office, &group.facts).await,
        None => Ok(()),
    }
}

/// The letters that a preview has found.
#[derive(Default)]
struct Found {
    letters: Tally,
    left_out: BTreeMap<String, u64>,
}

impl Found {
    fn leave_out(&mut self, reason: &str, letters: u64) {
        if letters > 0 {
            *self.left_out.entry(reason.into()).or_default() += letters;
        }
    }

    fn add(&mut self, letter: &Letter) {
        match why_not(letter) {
            None => self.letters.include(letter),
            Some(reason) => self.leave_out(&reason, 1),
        }
    }

    /// Adds the letters of a group that match a filter.
    async fn scan(&mut self, office: &Office, group: &Variant, filter: &LetterFilter) -> Result<(), OfficeError> {
        for state in [LetterStateKind::Waiting, LetterStateKind::Quarantined, LetterStateKind::InReplay] {
            let mut cursor = None;
            loop {
                let page = merged::letters(&*office.store, group, Some(state), cursor.as_ref(), PAGE_MAX).await?;
                page.items.iter().filter(|letter| filter.fits(letter)).for_each(|letter| self.add(letter));
                let Some(next) = page.next else { break };
                cursor = Some(next);
            }
        }
        Ok(())
    }
}

/// Returns why a letter cannot be discarded; `None` if it can.
fn why_not(letter: &Letter) -> Option<String> {
    let by = Discard {
        at: letter.kept_at,
        by: Actor::office(),
        reason: domain::discard::DiscardReason::Other,
        note: None,
        quarantined_at: None,
    };
    Some(match letter.discarded(&by).err()? {
        NotDiscarded::InReplay(replay) => in_replay(replay.as_str()),
        NotDiscarded::Delivered => "delivered".into(),
        NotDiscarded::Already => "discarded already".into(),
    })
}

fn in_replay(replay: &str) -> String {
    format!("in replay {replay}, which is under way")
}

/// Returns why letters were not discarded, with their numbers.
async fn refusals(office: &Office, ids: &[LetterId]) -> Result<String, OfficeError> {
    let mut found = Found::default();
    for ids in ids.chunks(PAGE_MAX) {
        office.store.letters(ids).await?.iter().for_each(|letter| found.add(letter));
    }
    let others = found.letters.letters.max(0).cast_unsigned();
    found.leave_out("in another group, or changed since the preview", others);
    let reasons: Vec<_> = found.left_out.iter().map(|(reason, letters)| format!("{letters} {reason}")).collect();
    Ok(if reasons.is_empty() { "they are no longer stored".into() } else { reasons.join("; ") })
}

fn is_of(letter: &Letter, group: &Variant) -> bool {
    letter.group == group.id || group.merge.members.contains(&letter.group)
}

fn which(filter: &LetterFilter) -> String {
    criteria(filter)
        .map_or_else(|| "All letters of the group".into(), |criteria| format!("The letters with {criteria}"))
}

/// Checks which letters a request is about: at most so many by name, or those of a filter.
pub(super) fn check_choice(letters: &[LetterId], filter: &LetterFilter) -> Result<(), OfficeError> {
    filter.check()?;
    if letters.len() > NAMED_LETTERS_MAX {
        let why = format!("a request may name at most {NAMED_LETTERS_MAX} letters; use a filter for more");
        return Err(OfficeError::Invalid(why));
    }
    if !letters.is_empty() && !filter.is_none() {
        return Err(OfficeError::Invalid("name letters or give a filter, not both".into()));
    }
    Ok(())
}
