//! Approvals by a rule of the policy: where a team has said beforehand that no person need look. The gate is judged as
//! for a person, and the replay starts with its canary.

use crate::act;
use crate::error::OfficeError;
use crate::merged;
use crate::office::Office;
use crate::port::GroupFacts;
use crate::replay::{Occasion, gate_of, main_queue_words};
use domain::fix::Fix;
use domain::group::GroupState;
use domain::id::{Actor, GroupId};
use domain::policy::AutoApproval;
use domain::replay::{Plan, PlanOptions, Replay};
use wire::ApproveRequest;

/// Approves what rules of the policy let go among these groups. What cannot go now is looked at again by the next sweep.
pub(crate) async fn approve(office: &Office, groups: &[GroupId]) {
    if office.policy.auto_approvals.is_empty() {
        return;
    }
    for id in groups {
        match one(office, id).await {
            Ok(Some(replay)) => tracing::info!(replay = %replay.id(), by = %replay.approval().by, "approved by a rule"),
            Ok(None) => {}
            // Somebody was faster, or the gate has closed: nothing is wrong.
            Err(error @ (OfficeError::NotNow(_) | OfficeError::GateClosed(_) | OfficeError::PlanChanged)) => {
                tracing::info!(group = %id, why = %error, "no approval by a rule now");
            }
            Err(error) => {
                let error = crate::error::chain(&error);
                tracing::warn!(group = %id, error, "a rule of the policy could not approve");
            }
        }
    }
}

async fn one(office: &Office, id: &GroupId) -> Result<Option<Replay>, OfficeError> {
    let Some(cause) = merged::read(&*office.store, id, i64::MAX).await? else { return Ok(None) };
    let facts = cause.whole;
    let GroupState::FixDeclared { fix } = &facts.group.state else { return Ok(None) };
    // A program that changes letters is looked at by a person.
    if fix.transform.is_some() {
        return Ok(None);
    }
    let class = &facts.group.classification;
    let covers = |rule: &&AutoApproval| rule.covers(class.class, class.category);
    let Some(rule) = office.policy.auto_approvals.iter().find(covers) else { return Ok(None) };
    let actor = Actor::rule(&rule.name);
    if !would_open(office, &facts, fix, rule, &actor).await? {
        return Ok(None);
    }
    let plan = match office.store.plan(id).await? {
        Some(plan) if plan.fix == *fix => plan,
        _ => act::make_plan(office, &actor, id, &PlanOptions::default()).await?,
    };
    if !rule.allows(plan.letters.letters) {
        return Ok(None);
    }
    approved(office, &actor, id, &plan, rule).await.map(Some)
}

/// Whether the rule may let go what would be sent now: asked before a plan is made, so that none is made in vain each
/// minute. The approval itself judges the gate again.
async fn would_open(
    office: &Office,
    facts: &GroupFacts,
    fix: &Fix,
    rule: &AutoApproval,
    actor: &Actor,
) -> Result<bool, OfficeError> {
    let would_be_sent = act::would_be_sent(office, facts).await?;
    let occasion = Occasion {
        fix: Some(fix),
        letters: &would_be_sent.letters,
        filter: &would_be_sent.filter,
        left_out: &would_be_sent.left_out,
        unchecked: &would_be_sent.unchecked,
        approver: Some(actor),
        waivers: &[],
        queue: main_queue_words(office, facts.group.main_queue.as_ref()).await,
        message_types: &would_be_sent.message_types,
        deaths_count: true,
    };
    let gate = gate_of(office, &facts.group, &facts.counts, &occasion).await?;
    Ok(rule.allows(would_be_sent.letters.letters) && gate.open().is_ok())
}

async fn approved(
    office: &Office,
    actor: &Actor,
    id: &GroupId,
    plan: &Plan,
    rule: &AutoApproval,
) -> Result<Replay, OfficeError> {
    let reason = format!("The policy's rule \"{}\"", rule.name);
    act::approve(office, actor, id, &ApproveRequest { plan_hash: plan.hash(), reason, waivers: Vec::new() }).await
}
