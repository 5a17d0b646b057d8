//! What people do: declare a fix, plan, approve, pause, resume, abort. Each is one commit with its audit record.

mod fix;
mod merge;
mod plan;
mod release;
mod replay;
mod transform;

pub use fix::{change_note, declare_fix, report_deployment, withdraw_fix};
pub use merge::{allow_merge, unmerge};
pub use plan::{make_plan, plan};
pub use release::release;
pub use replay::{abort, approve, pause, resume};
pub use transform::{dry_run, preview, save_transform};

use crate::audit::Auditor;
use crate::commit::{self, Committed};
use crate::error::OfficeError;
use crate::merged;
use crate::office::Office;
use crate::port::{GroupFacts, Write};
use domain::audit::Act;
use domain::gate::ConditionKind;
use domain::id::GroupId;
use domain::limits::REASON_CHARS_MAX;
use domain::replay::Waiver;
use wire::WaiverRequest;

/// A person's text: trimmed, not empty, not too long.
fn text(what: &str, given: &str) -> Result<String, OfficeError> {
    let given = given.trim();
    if given.is_empty() {
        return Err(OfficeError::Invalid(format!("{what} is missing; write a few words")));
    }
    if given.chars().count() > REASON_CHARS_MAX {
        return Err(OfficeError::Invalid(format!("{what} is longer than {REASON_CHARS_MAX} characters")));
    }
    Ok(given.to_string())
}

/// A group with all that is merged into it, or the error that there is none, or that it is merged into another itself:
/// people act on the whole cause.
async fn facts(office: &Office, id: &GroupId) -> Result<GroupFacts, OfficeError> {
    let cause = merged::read(&*office.store, id, i64::MAX).await?;
    let facts = cause.ok_or_else(|| OfficeError::NoGroup(id.clone()))?.whole;
    match &facts.group.merge.into {
        Some(head) => Err(OfficeError::NotNow(format!("this is seen as one cause with group {head}; act on that one"))),
        None => Ok(facts),
    }
}

/// Commits what a person did. A conflict is not tried again: the page that they decided on is out of date.
async fn commit_once(office: &Office, writes: Vec<Write>) -> Result<(), OfficeError> {
    match commit::commit(office, writes).await? {
        Committed::Yes => Ok(()),
        Committed::Conflict(_) => Err(OfficeError::OutOfDate),
    }
}

impl Auditor {
    /// The waivers that a person asks for, checked.
    fn waivers(&self, asks: &[WaiverRequest]) -> Result<Vec<Waiver>, OfficeError> {
        asks.iter().map(|ask| self.waiver(ask.condition, &ask.reason)).collect()
    }

    fn waiver(&self, condition: ConditionKind, reason: &str) -> Result<Waiver, OfficeError> {
        if !condition.is_waivable() {
            return Err(OfficeError::Invalid(format!("'{}' cannot be waived", condition.label())));
        }
        let reason = text("the reason of a waiver", reason)?;
        Ok(Waiver { condition, by: self.actor.clone(), reason, at: self.at })
    }

    fn waiver_records(&self, waivers: &[Waiver]) -> Vec<Write> {
        let record = |w: &Waiver| self.record(Act::ConditionWaived, w.condition.label(), Some(w.reason.clone()));
        waivers.iter().map(record).collect()
    }
}
