//! Unmerging a fingerprint from its group, and allowing it to be merged again.

use super::{commit_once, facts, text};
use crate::audit::Auditor;
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::id::{Actor, GroupId};
use wire::{ReasonRequest, UnmergeRequest};

/// Unmerges a fingerprint from a group, because it has another cause. After that only a rule of the policy merges it
/// again.
pub async fn unmerge(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &UnmergeRequest,
) -> Result<(), OfficeError> {
    let representative = facts(office, id).await?.variant;
    let reason = text("the reason", &request.reason)?;
    let variant = office.store.group(&request.fingerprint).await?;
    let variant = variant.ok_or_else(|| OfficeError::NoGroup(request.fingerprint.clone()))?;
    let Some((mut unmerged, without)) = variant.unmerged_from(&representative) else {
        return Err(OfficeError::NotNow("this fingerprint is not merged into the group; reload".into()));
    };
    unmerged.merge.unmerged = true;
    let now = office.now();
    let record = |id, detail| Auditor::new(actor, id, now).record(Act::GroupsUnmerged, detail, Some(reason.clone()));
    let writes = vec![
        record(id, format!("Unmerged: {}", variant.title)),
        record(&variant.id, format!("Unmerged from: {}", representative.title)),
        Write::Variant { variant: Box::new(unmerged), expect: Expect::Version(variant.version) },
        Write::Variant { variant: Box::new(without), expect: Expect::Version(representative.version) },
    ];
    commit_once(office, writes).await
}

/// Allows an unmerged fingerprint to be merged again. The next sweep merges it where it belongs.
pub async fn allow_merge(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    request: &ReasonRequest,
) -> Result<(), OfficeError> {
    let variant = facts(office, id).await?.variant;
    let reason = text("the reason", &request.reason)?;
    if !variant.merge.unmerged {
        return Err(OfficeError::NotNow("this fingerprint was never unmerged, so it can be merged already".into()));
    }
    let mut mergeable = variant.moved(variant.state.clone());
    mergeable.merge.unmerged = false;
    let by = Auditor::new(actor, id, office.now());
    let writes = vec![
        by.record(Act::MergeAllowed, "Can be merged into a group again", Some(reason)),
        Write::Variant { variant: Box::new(mergeable), expect: Expect::Version(variant.version) },
    ];
    commit_once(office, writes).await
}
