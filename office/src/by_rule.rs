//! Approvals by a rule of the policy, with which a team allows replays without a person. The gate is judged as for a
//! person, and the replay starts with its canary.

use crate::act::{self, Planned};
use crate::error::OfficeError;
use crate::gate::{LettersToSend, Moment, judge};
use crate::merged;
use crate::office::Office;
use crate::port::GroupFacts;
use domain::group::GroupState;
use domain::id::{Actor, GroupId};
use domain::letter::LetterStateKind;
use domain::policy::AutoApproval;
use domain::replay::{Plan, Replay};
use wire::{ApproveRequest, PlanRequest};

/// Approves replays of those of these groups that a rule of the policy allows. The next sweep tries the others again.
pub(crate) async fn approve(office: &Office, groups: &[GroupId]) {
    if office.policy.auto_approvals.is_empty() {
        return;
    }
    for id in groups {
        match one(office, id).await {
            Ok(Some(replay)) => {
                tracing::info!(replay = %replay.id(), by = %replay.approval().by, "a rule of the policy approved a replay")
            }
            Ok(None) => {}
            // A person was faster, or the gate has closed: not a fault.
            Err(
                error @ (OfficeError::OutOfDate
                | OfficeError::NotNow(_)
                | OfficeError::GateClosed(_)
                | OfficeError::PlanChanged),
            ) => {
                tracing::info!(group = %id, why = %error, "a rule of the policy cannot approve now; the next sweep tries again");
            }
            Err(error) => {
                let error = crate::error::chain(&error);
                tracing::warn!(group = %id, error, "an approval by a rule of the policy failed; the next sweep tries again");
            }
        }
    }
}

async fn one(office: &Office, id: &GroupId) -> Result<Option<Replay>, OfficeError> {
    let Some(group) = merged::read(&*office.store, id, i64::MAX).await? else { return Ok(None) };
    let facts = group.facts;
    let GroupState::FixDeclared { fix } = &facts.variant.state else { return Ok(None) };
    // A program that changes letters needs a person's approval.
    if fix.transform.is_some() {
        return Ok(None);
    }
    let covers = |rule: &&AutoApproval| rule.covers(&facts.variant.classification);
    let Some(rule) = office.policy.auto_approvals.iter().find(covers) else { return Ok(None) };
    let actor = Actor::rule(&rule.name);
    if !would_open(office, &facts, rule, &actor).await? {
        return Ok(None);
    }
    // A plan that is made in steps is approved by a later sweep; and one that failed waits for a person.
    if !facts.variant.drafts.is_empty() {
        return Ok(None);
    }
    let plan = match office.store.plan(id).await? {
        Some(plan) if plan.fix == *fix => plan,
        _ => match act::plan(office, &actor, id, &PlanRequest::default()).await? {
            Planned::Plan(plan) => *plan,
            Planned::Draft(_) => return Ok(None),
        },
    };
    // A person may choose letters, so that each of many plans stays below the rule's number.
    let waiting = facts.counts.tally(LetterStateKind::Waiting).letters;
    if !rule.allows(plan.letters.letters) || (plan.made_by != actor && !rule.allows(waiting)) {
        return Ok(None);
    }
    approved(office, &actor, id, &plan, rule).await.map(Some)
}

/// Returns whether the rule allows what would be sent now and the gate is open. Checked before a plan is made, so that
/// no plan is made in vain each minute; the approval judges the gate again.
async fn would_open(
    office: &Office,
    facts: &GroupFacts,
    rule: &AutoApproval,
    actor: &Actor,
) -> Result<bool, OfficeError> {
    let to_send = LettersToSend::now(office, facts).await?;
    let moment = Moment::Approval { approver: Some(&actor.into()), waivers: &[] };
    let judged = judge(office, facts, &to_send, moment).await?;
    Ok(rule.allows(to_send.letters.letters) && judged.gate.open().is_ok())
}

async fn approved(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    plan: &Plan,
    rule: &AutoApproval,
) -> Result<Replay, OfficeError> {
    let reason = format!("Policy rule \"{}\"", rule.name);
    act::approve(office, actor, id, &ApproveRequest { plan_hash: plan.hash(), reason, waivers: Vec::new() }).await
}
