//! Undoing a merge, and undoing that.

use super::{By, commit, facts, text};
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::id::{Actor, GroupId};
use wire::{ReasonRequest, UnmergeRequest};

/// Somebody says that a fingerprint is another cause than the group that it was merged into. No merge takes it in
/// again but by a rule of the policy.
pub async fn unmerge(office: &Office, actor: &Actor, id: &GroupId, ask: &UnmergeRequest) -> Result<(), OfficeError> {
    let head = facts(office, id).await?.group;
    let reason = text("the reason", &ask.reason)?;
    let group = office.store.group(&ask.fingerprint).await?;
    let group = group.ok_or_else(|| OfficeError::NoGroup(ask.fingerprint.clone()))?;
    let Some((mut out, without)) = group.unmerged_from(&head) else {
        return Err(OfficeError::NotNow("this fingerprint is not merged into the group".into()));
    };
    out.merge.unmerged = true;
    let by = |id| By { actor, at: office.now(), group: id, replay: None };
    let record = |id, title: &str| {
        by(id).record(Act::GroupsUnmerged, format!("No longer seen as: {title}"), Some(reason.clone()))
    };
    let writes = vec![
        record(id, &group.title),
        record(&group.id, &head.title),
        Write::Variant { group: Box::new(out), expect: Expect::Version(group.version) },
        Write::Variant { group: Box::new(without), expect: Expect::Version(head.version) },
    ];
    commit(office, writes).await
}

/// Somebody says that a fingerprint that was taken out may be merged again; the next sweep does it where it belongs.
pub async fn allow_merge(office: &Office, actor: &Actor, id: &GroupId, ask: &ReasonRequest) -> Result<(), OfficeError> {
    let group = facts(office, id).await?.group;
    let reason = text("the reason", &ask.reason)?;
    if !group.merge.unmerged {
        return Err(OfficeError::NotNow("nobody took this fingerprint out of a group".into()));
    }
    let mut free = group.moved(group.state.clone());
    free.merge.unmerged = false;
    let by = By { actor, at: office.now(), group: id, replay: None };
    let writes = vec![
        by.record(Act::MergeAllowed, "It may be merged into another group again", Some(reason)),
        Write::Variant { group: Box::new(free), expect: Expect::Version(group.version) },
    ];
    commit(office, writes).await
}
