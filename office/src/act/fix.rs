//! Fixes, notes, owners and deployments.

use super::{commit_once, facts, line, name, optional, text};
use crate::audit::Auditor;
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::deployment::Deployment;
use domain::fix::{Fix, FixKind};
use domain::group::{GroupState, Variant};
use domain::id::{Actor, GroupId};
use domain::limits::{CLOCK_SKEW_MAX, TIME_MS_MAX};
use domain::person::Person;
use domain::transform::TransformRef;
use wire::{DeclareFixRequest, DeploymentRequest};

/// Declares a fix of a group: a person says that the cause of its failures is gone.
pub async fn declare_fix(
    office: &Office,
    who: impl Into<Person>,
    id: &GroupId,
    request: &DeclareFixRequest,
) -> Result<(), OfficeError> {
    let Person { name: actor, id: identity } = who.into();
    let facts = facts(office, id).await?;
    let now = office.now();
    let reference = line("the fix's reference", &request.reference)?;
    let transform = match (request.kind, request.transform) {
        (FixKind::PayloadTransform, None) => Some(named(office, id, version_in(&reference)?).await?),
        (FixKind::PayloadTransform, Some(_)) => {
            return Err(OfficeError::Invalid(
                "the reference of a payload transform names its version; leave out `transform`".into(),
            ));
        }
        (_, Some(version)) => Some(named(office, id, version).await?),
        (_, None) => None,
    };
    let reference = match (request.kind, &transform) {
        (FixKind::PayloadTransform, Some(named)) => format!("v{}", named.version),
        _ => reference,
    };
    // The same fix with another transform works since it was declared.
    let is_same =
        |before: &&Fix| before.kind == request.kind && before.reference == reference && before.transform != transform;
    let effective_at = facts.variant.state.fix().filter(is_same).map_or(now, |before| before.effective_at);
    let fix = Fix {
        kind: request.kind,
        reference,
        note: optional("the note", request.note.as_deref())?,
        declared_by: actor.clone(),
        declared_by_id: identity,
        declared_at: now,
        effective_at,
        transform,
    };
    let detail = fix.label();
    let note = fix.note.clone();
    let state = match &facts.variant.state {
        GroupState::Open | GroupState::FixDeclared { .. } | GroupState::Regressed { .. } => {
            GroupState::FixDeclared { fix }
        }
        GroupState::Paused { replay, .. } => GroupState::Paused { replay: replay.clone(), fix: Some(fix) },
        GroupState::Replaying { .. } | GroupState::Verifying { .. } => {
            return Err(OfficeError::NotNow("a replay is running; pause it before you declare another fix".into()));
        }
        GroupState::Resolved { .. } => {
            return Err(OfficeError::NotNow("this group is resolved; there is nothing to fix".into()));
        }
        GroupState::Discarded { .. } => {
            return Err(OfficeError::NotNow("the letters of this group are discarded; there is nothing to fix".into()));
        }
    };
    let audit = Auditor::new(&actor, id, now).record(Act::FixDeclared, detail, note);
    commit_once(office, vec![write(&facts.variant, facts.variant.moved(state)), audit]).await
}

/// Returns the version of a transform that a reference names: `v2` or `2`.
fn version_in(reference: &str) -> Result<u32, OfficeError> {
    reference.strip_prefix('v').unwrap_or(reference).parse().map_err(|_| OfficeError::NoVersion)
}

/// Reads a version of a transform.
async fn named(office: &Office, id: &GroupId, version: u32) -> Result<TransformRef, OfficeError> {
    let facts = office.store.transform(id, version).await?.ok_or(OfficeError::NoTransform(version))?;
    Ok(facts.transform.named())
}

/// Withdraws the declared fix of a group.
pub async fn withdraw_fix(office: &Office, actor: &Actor, id: &GroupId, reason: &str) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    let reason = text("the reason", reason)?;
    let state = match &facts.variant.state {
        GroupState::FixDeclared { .. } => GroupState::Open,
        GroupState::Paused { replay, fix: Some(_) } => GroupState::Paused { replay: replay.clone(), fix: None },
        _ => return Err(OfficeError::NotNow("this group has no fix that can be withdrawn now".into())),
    };
    let detail = facts.variant.state.fix().map(Fix::label);
    let audit =
        Auditor::new(actor, id, office.now()).record(Act::FixWithdrawn, detail.unwrap_or_default(), Some(reason));
    commit_once(office, vec![write(&facts.variant, facts.variant.moved(state)), audit]).await
}

/// Saves the note of a group. An empty note removes it.
pub async fn change_note(office: &Office, actor: &Actor, id: &GroupId, note: &str) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    let mut group = facts.variant.moved(facts.variant.state.clone());
    group.note = optional("the note", Some(note))?;
    let detail = if group.note.is_none() { "Note removed" } else { "Note saved" };
    let audit = Auditor::new(actor, id, office.now()).record(Act::NoteChanged, detail, group.note.clone());
    commit_once(office, vec![write(&facts.variant, group), audit]).await
}

/// Sets who takes care of a group. An empty owner removes it.
pub async fn change_owner(office: &Office, actor: &Actor, id: &GroupId, owner: &str) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    let mut group = facts.variant.moved(facts.variant.state.clone());
    group.owner = name("the owner", owner)?;
    let detail = group.owner.as_ref().map_or("Nobody".to_string(), |owner| format!("Owner: {owner}"));
    let audit = Auditor::new(actor, id, office.now()).record(Act::OwnerChanged, detail, None);
    commit_once(office, vec![write(&facts.variant, group), audit]).await
}

/// Records that a version of a consumer went live. Returns the deployment.
pub async fn report_deployment(office: &Office, request: &DeploymentRequest) -> Result<Deployment, OfficeError> {
    let now = office.now();
    // A pipeline without a commit sends an empty one.
    let commit = request.commit.as_deref().filter(|commit| !commit.trim().is_empty());
    let deployment = Deployment {
        service: line("the service", &request.service)?,
        version: line("the version", &request.version)?,
        commit: commit.map(|commit| line("the commit", commit)).transpose()?,
        at: request.at.unwrap_or(now),
    };
    if deployment.at.as_ms() < 0 {
        return Err(OfficeError::Invalid(format!("the time of a deployment must be between 0 and {TIME_MS_MAX}")));
    }
    if deployment.at > now {
        return Err(OfficeError::Invalid("the time of a deployment cannot be in the future".into()));
    }
    let believed_until = now.plus(CLOCK_SKEW_MAX);
    commit_once(office, vec![Write::Deployment { deployment: deployment.clone(), believed_until }]).await?;
    Ok(deployment)
}

fn write(before: &Variant, after: Variant) -> Write {
    Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) }
}
