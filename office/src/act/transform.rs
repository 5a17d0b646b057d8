//! Payload transforms: saving a version, previewing a program, and the dry run of a version over all letters.

use super::{commit_once, facts, optional};
use crate::audit::{Auditor, criteria};
use crate::error::OfficeError;
use crate::gate::why_not;
use crate::merged;
use crate::office::Office;
use crate::port::{Cursor, Expect, Write};
use crate::replay::changed::{self, Count as _, WhyNot};
use domain::audit::Act;
use domain::filter::LetterFilter;
use domain::group::Variant;
use domain::id::{Actor, GroupId};
use domain::letter::{Letter, LetterStateKind};
use domain::limits::{PAGE_MAX, PREVIEW_LETTERS_MAX, TRANSFORM_VERSIONS_MAX};
use domain::text::{Lines, hidden};
use domain::transform::{DryCounts, DryRun, LetterFailure, ProgramFault, Transform};
use std::time::{Duration, Instant};
use wire::{DryRunRequest, LetterPreview, PreviewTransformRequest, SaveTransformRequest, TransformPreviewAnswer};

/// How long one call runs a program. It must end well before the function's timeout; the next call continues.
const CALL_MAX: Duration = Duration::from_secs(5);
/// Letters between two checks of that time: each may take as long as a worker allows for one.
const TOGETHER: usize = 4;
/// The most pages that one call reads if none of their letters would go into a plan.
const PAGES_MAX: usize = 25;

/// Saves a new version of a group's transform. Rejects a program that does not compile.
pub async fn save_transform(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &SaveTransformRequest,
) -> Result<Transform, OfficeError> {
    facts(office, id).await?;
    let note = optional("the note", request.note.as_deref())?;
    // An approver must read the program in the order in which it runs. Strings can name any character by its escape.
    if let Some(error) = hidden(&request.program, Lines::Many) {
        return Err(OfficeError::Invalid(format!("the program {error}")));
    }
    if let Err(faults) = office.transforms.previewing()?.run(&request.program, &[], false).await? {
        return Err(OfficeError::Invalid(printed(&faults)));
    }
    let saved = office.store.transforms(id).await?;
    let version = saved.first().map_or(1, |newest| newest.transform.version + 1);
    if version > TRANSFORM_VERSIONS_MAX {
        let why = format!("this group has {TRANSFORM_VERSIONS_MAX} versions, the most that it keeps; use one of them");
        return Err(OfficeError::NotNow(why));
    }
    let now = office.now();
    let transform = Transform {
        group: id.clone(),
        version,
        program: request.program.clone(),
        note,
        saved_by: actor.clone(),
        saved_at: now,
    };
    let audit =
        Auditor::new(actor, id, now).record(Act::TransformSaved, transform.named().label(), transform.note.clone());
    commit_once(office, vec![Write::Transform(Box::new(transform.clone())), audit]).await?;
    Ok(transform)
}

/// Previews what a program would change in the oldest letters that a plan with this filter would include. Changes
/// nothing.
pub async fn preview(
    office: &Office,
    id: &GroupId,
    request: &PreviewTransformRequest,
) -> Result<TransformPreviewAnswer, OfficeError> {
    let most = request.letters_max.unwrap_or(PREVIEW_LETTERS_MAX);
    if !(1..=PREVIEW_LETTERS_MAX).contains(&most) {
        return Err(OfficeError::Invalid(format!(
            "a preview has 1 to {PREVIEW_LETTERS_MAX} letters; change `letters_max`"
        )));
    }
    request.filter.check()?;
    let runner = office.transforms.previewing()?;
    let group = facts(office, id).await?.variant;
    let sample = sample(office, &group, &request.filter, most).await?;
    let mut preview = TransformPreviewAnswer::default();
    let until = Instant::now() + CALL_MAX;
    // A program that does not compile is reported even if no letter waits.
    if let Err(faults) = runner.run(&request.program, &[], false).await? {
        return Ok(TransformPreviewAnswer { faults, ..preview });
    }
    for chunk in sample.chunks(TOGETHER) {
        let tried = match changed::tried(&runner, &request.program, chunk, true).await? {
            Ok(tried) => tried,
            Err(faults) => return Ok(TransformPreviewAnswer { faults, ..TransformPreviewAnswer::default() }),
        };
        for (letter, outcome) in chunk.iter().zip(tried) {
            preview.counts.count(&outcome);
            let (changes, failure) = match outcome {
                Ok(changed) => (changed.map(|changed| changed.changes).unwrap_or_default(), None),
                Err(failure) => (Vec::new(), Some(failure.whole())),
            };
            preview.letters.push(LetterPreview { letter: letter.id.clone(), changes, failure });
        }
        if Instant::now() > until {
            break;
        }
    }
    preview.cut = preview.letters.len() < sample.len();
    preview.letters.sort_by_key(|letter| (letter.failure.is_none(), letter.changes.is_empty()));
    Ok(preview)
}

/// Runs a version over the next page of the letters that a plan with this filter would include now, and stores the
/// counts. A version has one dry run: a new one replaces the last, whatever their filters.
pub async fn dry_run(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &DryRunRequest,
) -> Result<DryRun, OfficeError> {
    request.filter.check()?;
    let runner = office.transforms.previewing()?;
    let group = facts(office, id).await?.variant;
    let found = office.store.transform(id, request.version).await?.ok_or(OfficeError::NoTransform(request.version))?;
    let (transform, stored) = (found.transform, found.dry_run);
    let expect = stored.as_ref().map_or(Expect::Absent, |run| Expect::Version(run.revision));
    let before = match (&stored, request.go_on) {
        (_, None) => {
            DryRun::begun(&transform, &request.filter, actor, office.now(), stored.map_or(0, |run| run.revision))
        }
        (Some(run), Some(revision)) if run.revision == revision && !run.is_whole() => run.clone(),
        _ => {
            return Err(OfficeError::NotNow("this dry run has finished or was started again; reload to see it".into()));
        }
    };
    let (mut counts, mut failures) = (DryCounts::default(), Vec::new());
    let mut cursor = before.next.clone().map(Cursor);
    let until = Instant::now() + CALL_MAX;
    for _ in 0..PAGES_MAX {
        let page = page(office, &group, &before.filter, cursor.as_ref(), PAGE_MAX / 4).await?;
        for chunk in page.letters.chunks(TOGETHER) {
            let tried = changed::tried(&runner, &transform.program, chunk, false).await?;
            let tried = tried.map_err(|faults| OfficeError::Invalid(printed(&faults)))?;
            for (letter, outcome) in chunk.iter().zip(tried) {
                counts.count(&outcome);
                let failure = |why: WhyNot| LetterFailure { letter: letter.id.clone(), reason: why.whole() };
                failures.extend(outcome.err().map(failure));
            }
        }
        cursor = page.next;
        // One call returns about a page, and ends in time; the next call continues.
        if cursor.is_none() || counts.total() >= PAGE_MAX as u64 || Instant::now() > until {
            break;
        }
    }
    let now = office.now();
    let run = before.counted(counts, failures, cursor.map(|cursor| cursor.0), now);
    let mut writes = vec![Write::DryRun { run: Box::new(run.clone()), expect }];
    if run.is_whole() {
        let DryCounts { changed, unchanged, failed } = run.counts;
        let which = criteria(&run.filter).map(|criteria| format!(" ({criteria})")).unwrap_or_default();
        let label = run.transform.label();
        let detail = format!("{label}{which}: {changed} changed, {unchanged} unchanged, {failed} failed");
        writes.push(Auditor::new(actor, id, now).record(Act::TransformTried, detail, None));
    }
    commit_once(office, writes).await?;
    Ok(run)
}

/// Letters that a plan would include now, and the cursor of the next page.
struct Selected {
    letters: Vec<Letter>,
    next: Option<Cursor>,
}

async fn page(
    office: &Office,
    group: &Variant,
    filter: &LetterFilter,
    after: Option<&Cursor>,
    limit: usize,
) -> Result<Selected, OfficeError> {
    let waiting = Some(LetterStateKind::Waiting);
    let page = merged::letters(&*office.store, group, waiting, after, limit).await?;
    let now = office.now();
    let goes = |letter: &Letter| {
        let main = group.main_queue.as_ref().or(letter.main_queue.as_ref());
        filter.fits(letter) && main.is_none_or(|main| why_not(letter, main, office, now).is_none())
    };
    Ok(Selected { letters: page.items.into_iter().filter(goes).collect(), next: page.next })
}

async fn sample(
    office: &Office,
    group: &Variant,
    filter: &LetterFilter,
    most: usize,
) -> Result<Vec<Letter>, OfficeError> {
    let (mut letters, mut cursor) = (Vec::new(), None);
    for _ in 0..PAGES_MAX {
        let page = page(office, group, filter, cursor.as_ref(), most).await?;
        letters.extend(page.letters);
        cursor = page.next;
        if letters.len() >= most || cursor.is_none() {
            break;
        }
    }
    letters.truncate(most);
    Ok(letters)
}

fn printed(faults: &[ProgramFault]) -> String {
    let lines = faults.iter().map(|fault| format!("line {}, column {}: {}", fault.line, fault.column, fault.message));
    lines.collect::<Vec<_>>().join(" ")
}
