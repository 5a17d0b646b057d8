//! Fixes, notes and deployments.

use super::{commit_once, facts, text};
use crate::audit::Auditor;
use crate::error::OfficeError;
use crate::office::Office;
use crate::port::{Expect, Write};
use domain::audit::Act;
use domain::deployment::Deployment;
use domain::fix::{Fix, FixKind};
use domain::group::{GroupState, Variant};
use domain::id::{Actor, GroupId};
use domain::limits::REASON_CHARS_MAX;
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
    let reference = text("the fix's reference", &request.reference)?;
    let transform = match request.kind {
        FixKind::PayloadTransform => Some(named(office, id, &reference).await?),
        _ => None,
    };
    let fix = Fix {
        kind: request.kind,
        reference: transform.as_ref().map_or(reference, |named| format!("v{}", named.version)),
        note: request
            .note
            .as_deref()
            .map(str::trim)
            .filter(|note| !note.is_empty())
            .map(|n| text("the note", n))
            .transpose()?,
        declared_by: actor.clone(),
        declared_by_id: identity,
        declared_at: now,
        effective_at: now,
        transform,
    };
    let detail = format!("{} {}", fix.kind.label(), fix.reference);
    let note = fix.note.clone();
    let state = match &facts.group.state {
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
    };
    let audit = Auditor::new(&actor, id, now).record(Act::FixDeclared, detail, note);
    commit_once(office, vec![write(&facts.group, facts.group.moved(state)), audit]).await
}

/// Reads the version of a transform that a reference names: `v2` or `2`.
async fn named(office: &Office, id: &GroupId, reference: &str) -> Result<TransformRef, OfficeError> {
    let version = reference.strip_prefix('v').unwrap_or(reference).parse();
    let version =
        version.map_err(|_| OfficeError::Invalid("enter the version of the transform, for example v2".into()))?;
    let facts = office.store.transform(id, version).await?.ok_or(OfficeError::NoTransform(version))?;
    Ok(facts.transform.named())
}

/// Withdraws the declared fix of a group.
pub async fn withdraw_fix(office: &Office, actor: &Actor, id: &GroupId, reason: &str) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    let reason = text("the reason", reason)?;
    let state = match &facts.group.state {
        GroupState::FixDeclared { .. } => GroupState::Open,
        GroupState::Paused { replay, fix: Some(_) } => GroupState::Paused { replay: replay.clone(), fix: None },
        _ => return Err(OfficeError::NotNow("this group has no fix that can be withdrawn now".into())),
    };
    let detail = facts.group.state.fix().map(|fix| format!("{} {}", fix.kind.label(), fix.reference));
    let audit =
        Auditor::new(actor, id, office.now()).record(Act::FixWithdrawn, detail.unwrap_or_default(), Some(reason));
    commit_once(office, vec![write(&facts.group, facts.group.moved(state)), audit]).await
}

/// Saves the note of a group. An empty note removes it.
pub async fn change_note(office: &Office, actor: &Actor, id: &GroupId, note: &str) -> Result<(), OfficeError> {
    let facts = facts(office, id).await?;
    let note = note.trim();
    if note.chars().count() > REASON_CHARS_MAX {
        return Err(OfficeError::Invalid(format!("the note is longer than {REASON_CHARS_MAX} characters")));
    }
    let mut group = facts.group.moved(facts.group.state.clone());
    group.note = (!note.is_empty()).then(|| note.to_string());
    let detail = if note.is_empty() { "Note removed" } else { "Note saved" };
    let audit = Auditor::new(actor, id, office.now()).record(Act::NoteChanged, detail, group.note.clone());
    commit_once(office, vec![write(&facts.group, group), audit]).await
}

/// Records that a version of a consumer went live. Returns the deployment.
pub async fn report_deployment(office: &Office, request: &DeploymentRequest) -> Result<Deployment, OfficeError> {
    let now = office.now();
    let deployment = Deployment {
        service: text("the service", &request.service)?,
        version: text("the version", &request.version)?,
        commit: request.commit.clone(),
        at: request.at.unwrap_or(now),
    };
    if deployment.at > now {
        return Err(OfficeError::Invalid("the time of a deployment cannot be in the future".into()));
    }
    commit_once(office, vec![Write::Deployment(deployment.clone())]).await?;
    Ok(deployment)
}

fn write(before: &Variant, after: Variant) -> Write {
    Write::Variant { variant: Box::new(after), expect: Expect::Version(before.version) }
}
