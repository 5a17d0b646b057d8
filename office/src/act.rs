//! Acts of people: declare a fix, plan, approve, pause, resume, abort. Each is one commit with its audit record.
//!
//! From a fix to a running replay:
//!
//! ```
//! # use domain::{fix::FixKind, id::{Actor, GroupId}, replay::Replay};
//! # use office::{act, error::OfficeError, office::Office};
//! # use wire::{ApproveRequest, DeclareFixRequest, PlanRequest};
//! # async fn example(office: &Office, ada: Actor, ben: Actor, group: GroupId) -> Result<Replay, OfficeError> {
//! let fix = DeclareFixRequest { kind: FixKind::Deploy, reference: "v2.4.1".into(), note: None, transform: None };
//! act::declare_fix(office, &ada, &group, &fix).await?;
//! // A group of many letters is planned in steps: then this says that there is no plan yet.
//! let plan = act::plan(office, &ada, &group, &PlanRequest::default()).await?.complete()?;
//! // The hash says which plan Ben saw. If the gate is closed, or letters have changed, this is refused with the reason.
//! let approval = ApproveRequest { plan_hash: plan.hash(), reason: "checked on one order".into(), waivers: Vec::new() };
//! act::approve(office, &ben, &group, &approval).await
//! # }
//! ```
//!
//! While it runs:
//!
//! ```
//! # use domain::{id::Actor, replay::Replay};
//! # use office::{act, error::OfficeError, office::Office};
//! # use wire::ResumeRequest;
//! # async fn example(office: &Office, ben: Actor, replay: Replay) -> Result<(), OfficeError> {
//! act::pause(office, &ben, replay.id(), "the database is slow").await?;
//! let on = ResumeRequest { reason: "it is fast again".into(), program_hash: None, fix_declared_at: None, waivers: Vec::new() };
//! act::resume(office, &ben, replay.id(), &on).await?;
//! // Once this returns, no further letter is sent.
//! act::abort(office, &ben, replay.id(), "the orders were cancelled").await?;
//! # Ok(())
//! # }
//! ```
//!
//! Letters that need no replay are discarded, as they were previewed:
//!
//! ```
//! # use domain::{discard::DiscardReason, id::{Actor, GroupId}};
//! # use office::{act, error::OfficeError, office::Office};
//! # use wire::{DiscardPreviewRequest, DiscardRequest};
//! # async fn example(office: &Office, ben: Actor, group: GroupId) -> Result<(), OfficeError> {
//! let preview = act::preview_discard(office, &group, &DiscardPreviewRequest::default()).await?;
//! let discard = DiscardRequest {
//!     letters: Vec::new(),
//!     filter: Default::default(),
//!     seen_at: preview.seen_at,
//!     reason: DiscardReason::TestData,
//!     note: None,
//! };
//! act::discard(office, &ben, &group, &discard).await
//! # }
//! ```

mod discard;
mod fix;
mod logs;
mod merge;
mod plan;
mod policy;
mod release;
mod replay;
mod transform;

pub use discard::{discard, preview_discard, undo_discard};
pub use fix::{change_note, change_owner, declare_fix, report_deployment, withdraw_fix};
pub use logs::request_logs;
pub use merge::{allow_merge, unmerge};
pub use plan::{Planned, cancel_plan, make_plan, plan};
pub(crate) use policy::own_policy;
pub use policy::{Author, change_policy, check_policy};
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
use domain::limits::{NAME_CHARS_MAX, REASON_CHARS_MAX};
use domain::replay::Waiver;
use domain::text::{Lines, entered};
use wire::WaiverRequest;

/// Returns a person's text, trimmed; it may have several lines. `what` names it in the error if it is empty, too long
/// or has control characters.
fn text(what: &str, given: &str) -> Result<String, OfficeError> {
    entered(given, Lines::Many, REASON_CHARS_MAX).map_err(|error| OfficeError::Invalid(format!("{what} {error}")))
}

/// Returns a text of one line, trimmed, like [`text`].
fn line(what: &str, given: &str) -> Result<String, OfficeError> {
    entered(given, Lines::One, REASON_CHARS_MAX).map_err(|error| OfficeError::Invalid(format!("{what} {error}")))
}

/// Returns a name of one line, trimmed; `None` if it is empty.
fn name(what: &str, given: &str) -> Result<Option<String>, OfficeError> {
    if given.trim().is_empty() {
        return Ok(None);
    }
    let name = entered(given, Lines::One, NAME_CHARS_MAX);
    name.map(Some).map_err(|error| OfficeError::Invalid(format!("{what} {error}")))
}

/// Returns a text that may be missing or empty, like [`text`].
fn optional(what: &str, given: Option<&str>) -> Result<Option<String>, OfficeError> {
    let given = given.filter(|given| !given.trim().is_empty());
    given.map(|given| text(what, given)).transpose()
}

/// Reads a group with its merged variants. A variant that is merged into a group is an error: people act on groups.
async fn facts(office: &Office, id: &GroupId) -> Result<GroupFacts, OfficeError> {
    let group = merged::read(&*office.store, id, i64::MAX).await?;
    let facts = group.ok_or_else(|| OfficeError::NoGroup(id.clone()))?.facts;
    match &facts.variant.merge.into {
        Some(group) => {
            Err(OfficeError::NotNow(format!("this fingerprint is merged into group {group}; use that group")))
        }
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
    /// Checks the waivers that a person requests.
    fn waivers(&self, requests: &[WaiverRequest]) -> Result<Vec<Waiver>, OfficeError> {
        let mut waivers: Vec<Waiver> = Vec::new();
        for request in requests {
            if waivers.iter().any(|waiver| waiver.condition == request.condition) {
                let twice = format!("'{}' is waived twice; waive it once", request.condition.label());
                return Err(OfficeError::Invalid(twice));
            }
            waivers.push(self.waiver(request.condition, &request.reason)?);
        }
        Ok(waivers)
    }

    fn waiver(&self, condition: ConditionKind, reason: &str) -> Result<Waiver, OfficeError> {
        if !condition.is_waivable() {
            return Err(OfficeError::Invalid(format!("'{}' cannot be waived", condition.label())));
        }
        let reason = text("the reason for a waiver", reason)?;
        Ok(Waiver { condition, by: self.actor.clone(), reason, at: self.at })
    }

    fn waiver_records(&self, waivers: &[Waiver]) -> Vec<Write> {
        let record = |w: &Waiver| self.record(Act::ConditionWaived, w.condition.label(), Some(w.reason.clone()));
        waivers.iter().map(record).collect()
    }
}
