//! Releasing letters from quarantine.

use super::{facts, text};
use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::OfficeError;
use crate::groups::count_writes;
use crate::merged;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::group::{CountsDeltas, Variant};
use domain::id::{Actor, GroupId, LetterId};
use domain::letter::{Letter, LetterStateKind};
use domain::limits::NAMED_LETTERS_MAX;
use wire::ReleaseRequest;

/// The most letters that one commit releases. Each may have another fingerprint, with counters of its own.
const TOGETHER_MAX: usize = 20;

/// Releases letters from quarantine, so that a plan can include them again: those of the request, or all of the group
/// if it names none. Returns how many were released.
pub async fn release(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &ReleaseRequest,
) -> Result<usize, OfficeError> {
    let group = facts(office, id).await?.variant;
    let reason = text("the reason", &request.reason)?;
    if request.letters.len() > NAMED_LETTERS_MAX {
        let why = format!("a request may name at most {NAMED_LETTERS_MAX} letters; name none to release all");
        return Err(OfficeError::Invalid(why));
    }
    let by = Auditor::new(actor, id, office.now());
    let mut released = 0;
    if request.letters.is_empty() {
        loop {
            let held = Some(LetterStateKind::Quarantined);
            let page = merged::letters(&*office.store, &group, held, None, TOGETHER_MAX).await?;
            let ids: Vec<_> = page.items.into_iter().map(|letter| letter.id).collect();
            let more = some(office, &by, &group, ids, &reason).await?;
            released += more;
            // The list may lag behind and still show letters that are released; the next call finds the others.
            if more == 0 || page.next.is_none() {
                break;
            }
        }
    }
    for ids in request.letters.chunks(TOGETHER_MAX) {
        released += some(office, &by, &group, ids.to_vec(), &reason).await?;
    }
    match released {
        0 => Err(OfficeError::NotNow("none of these letters is in quarantine in this group".into())),
        _ => Ok(released),
    }
}

/// Releases those of these letters that are in quarantine, in one commit. Returns how many.
async fn some(
    office: &Office,
    by: &Auditor,
    group: &Variant,
    ids: Vec<LetterId>,
    reason: &str,
) -> Result<usize, OfficeError> {
    let mut tries = Tries::new(format!("letters of group {}", group.id));
    loop {
        tries.begin()?;
        let letters = office.store.letters(&ids).await?;
        let of_group =
            letters.iter().filter(|letter| letter.group == group.id || group.merge.members.contains(&letter.group));
        let released: Vec<(&Letter, Letter)> = of_group
            .filter_map(|letter| letter.released(office.policy.gate.replays_max).map(|after| (letter, after)))
            .collect();
        if released.is_empty() {
            return Ok(0);
        }
        let mut counts = CountsDeltas::default();
        let mut writes = Vec::with_capacity(released.len() * 2 + 1);
        for (before, after) in &released {
            counts.moved(Some(before), after);
            let expect = Expect::Version(before.version);
            writes.push(Write::Letter { letter: Box::new(after.clone()), expect });
        }
        writes.extend(count_writes(counts));
        let detail = format!("{} released from quarantine", counted(released.len()));
        writes.push(by.record(Act::LettersReleased, detail, Some(reason.into())));
        if commit(office, writes).await?.is_made() {
            return Ok(released.len());
        }
    }
}

fn counted(letters: usize) -> String {
    if letters == 1 { "1 letter".into() } else { format!("{letters} letters") }
}
