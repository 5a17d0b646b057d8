//! Letting letters out of quarantine.

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
use wire::ReleaseRequest;

/// Letters that one commit releases: each may have a fingerprint with counters of its own.
const TOGETHER_MAX: usize = 20;

/// Somebody who may approve says that letters may be replayed again though they came back so often. Gives how many were
/// let out.
pub async fn release(office: &Office, actor: &Actor, id: &GroupId, ask: &ReleaseRequest) -> Result<usize, OfficeError> {
    let group = facts(office, id).await?.group;
    let reason = text("the reason", &ask.reason)?;
    let by = Auditor::new(actor, id, office.now());
    let mut released = 0;
    if ask.letters.is_empty() {
        loop {
            let held = Some(LetterStateKind::Quarantined);
            let page = merged::letters(&*office.store, &group, held, None, TOGETHER_MAX).await?;
            let ids: Vec<_> = page.items.into_iter().map(|letter| letter.id).collect();
            let more = some(office, &by, &group, ids, &reason).await?;
            released += more;
            // Whom a list still shows that are out already is out for the next reader.
            if more == 0 || page.next.is_none() {
                break;
            }
        }
    }
    for ids in ask.letters.chunks(TOGETHER_MAX) {
        released += some(office, &by, &group, ids.to_vec(), &reason).await?;
    }
    match released {
        0 => Err(OfficeError::NotNow("no such letter of this group is in quarantine".into())),
        _ => Ok(released),
    }
}

/// Releases those of some letters that are held back, in one commit.
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
        let of_cause =
            letters.iter().filter(|letter| letter.group == group.id || group.merge.members.contains(&letter.group));
        let out: Vec<(&Letter, Letter)> = of_cause
            .filter_map(|letter| letter.released(office.policy.gate.replays_max).map(|after| (letter, after)))
            .collect();
        if out.is_empty() {
            return Ok(0);
        }
        let mut counts = CountsDeltas::default();
        let mut writes = Vec::with_capacity(out.len() * 2 + 1);
        for (before, after) in &out {
            counts.moved(Some(before), after);
            let expect = Expect::Version(before.version);
            writes.push(Write::Letter { letter: Box::new(after.clone()), expect });
        }
        writes.extend(count_writes(counts));
        let detail = format!("{} let out of quarantine", words(out.len()));
        writes.push(by.record(Act::LettersReleased, detail, Some(reason.into())));
        if commit(office, writes).await?.is_made() {
            return Ok(out.len());
        }
    }
}

fn words(letters: usize) -> String {
    if letters == 1 { "1 letter".into() } else { format!("{letters} letters") }
}
