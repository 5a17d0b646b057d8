//! Approving a plan, and pausing, resuming and aborting its replay.

use super::plan::drafted;
use super::{commit_once, facts, text};
use crate::audit::Auditor;
use crate::commit::{Tries, commit};
use crate::error::OfficeError;
use crate::gate::{Judged, LettersToSend, Moment, judge};
use crate::office::Office;
use crate::planning;
use crate::port::{Expect, GroupFacts, Write};
use crate::replay::unreadable;
use domain::audit::Act;
use domain::gate::ONE_MACHINE;
use domain::group::GroupState;
use domain::id::{Actor, GroupId, ReplayId};
use domain::person::{IdentityKind, Person};
use domain::replay::{Approval, PauseReason, Replay, ReplayState, Waiver, next_canary};
use wire::{ApproveRequest, ResumeRequest};

/// Approves the plan of a group, for which its gate must be open, and starts its replay. Sweeps write groups, too, so
/// everything is judged again after a conflict; the request names the plan that was decided on.
pub async fn approve(
    office: &Office,
    who: impl Into<Person>,
    id: &GroupId,
    request: &ApproveRequest,
) -> Result<Replay, OfficeError> {
    let who = who.into();
    let mut tries = Tries::up_to(PERSON_TRIES_MAX, format!("group {id}"));
    loop {
        tries.begin()?;
        match approve_once(office, who.clone(), id, request).await {
            Err(OfficeError::OutOfDate) => {}
            done => return done,
        }
    }
}

async fn approve_once(
    office: &Office,
    who: Person,
    id: &GroupId,
    request: &ApproveRequest,
) -> Result<Replay, OfficeError> {
    let office = &office.latest().await?;
    let facts = facts(office, id).await?;
    let reason = text("the reason", &request.reason)?;
    let Some(plan) = office.store.plan(id).await? else {
        let is_drafted = !planning::current(office, &facts.variant).await?.is_empty();
        return Err(if is_drafted { drafted() } else { OfficeError::NoPlan });
    };
    let GroupState::FixDeclared { fix } = &facts.variant.state else {
        return Err(OfficeError::NotNow(
            "the fix of this plan is no longer declared; declare a fix and make a new plan".into(),
        ));
    };
    if plan.hash() != request.plan_hash || plan.fix != *fix {
        return Err(OfficeError::PlanChanged);
    }
    if office.store.blocks_at(&plan.id, &[0]).await?.is_empty() {
        return Err(unreadable(&plan.id));
    }
    let now = office.now();
    let by = Auditor::new(&who.name, id, now).in_replay(&plan.id);
    let waivers = by.waivers(&request.waivers)?;
    let judged = judge_approval(office, &facts, &LettersToSend::planned(&plan), &who, &waivers).await?;
    let gate = judged.gate.open().map_err(OfficeError::GateClosed)?;
    let detail = said(&who, format!("{} letters to {}", plan.letters.letters, plan.main_queue.name()));
    let mut records = by.waiver_records(&waivers);
    records.push(by.record(Act::ReplayApproved, detail, Some(reason.clone())));
    let fix = judged.effective(fix);
    let plan_id = plan.id.clone();
    let Person { name: by, id: by_id } = who;
    let policy_version = office.policy_version;
    let plan_hash = request.plan_hash.clone();
    let approval = Approval { by, by_id, at: now, reason, plan_hash, waivers, policy_version };
    let replay = plan.clone().approve(gate, approval).map_err(|_| OfficeError::PlanChanged)?;
    let group = facts.variant.moved(GroupState::Replaying { replay: plan_id.clone(), fix });
    let mut writes = vec![
        Write::Replay { replay: Box::new(replay.clone()), expect: Expect::Absent },
        Write::PlanTaken { group: id.clone(), plan: plan_id.clone() },
        Write::Variant { variant: Box::new(group), expect: Expect::Version(facts.variant.version) },
    ];
    writes.extend(records);
    commit_once(office, writes).await?;
    office.nudge(&plan_id).await;
    Ok(replay)
}

/// Resumes a paused replay. The gate must be open again, because returned letters may have disproved the fix. As with an
/// approval, everything is judged again after a conflict: executors write paused replays, too.
pub async fn resume(
    office: &Office,
    who: impl Into<Person>,
    id: &ReplayId,
    request: &ResumeRequest,
) -> Result<Replay, OfficeError> {
    let who = who.into();
    let mut tries = Tries::up_to(PERSON_TRIES_MAX, format!("replay {id}"));
    loop {
        tries.begin()?;
        match resume_once(office, who.clone(), id, request).await {
            Err(OfficeError::OutOfDate) => {}
            done => return done,
        }
    }
}

async fn resume_once(
    office: &Office,
    who: Person,
    id: &ReplayId,
    request: &ResumeRequest,
) -> Result<Replay, OfficeError> {
    let office = &office.latest().await?;
    let (replay, facts) = replay_and_group(office, id).await?;
    let reason = text("the reason", &request.reason)?;
    let ReplayState::Paused { .. } = replay.state() else {
        return Err(OfficeError::NotNow("this replay is not paused".into()));
    };
    let ledger = office.store.ledger(id).await?;
    let total = ledger.total();
    if total.in_flight + total.sending > 0 {
        let n = total.in_flight + total.sending;
        return Err(OfficeError::NotNow(format!(
            "{n} letters sent before the pause are still in flight; resume when each has its outcome"
        )));
    }
    let now = office.now();
    let by = Auditor::new(&who.name, replay.group(), now).in_replay(id);
    let waivers = by.waivers(&request.waivers)?;
    if facts.variant.state.fix().and_then(|fix| fix.transform.as_ref()).map(|named| &named.program_hash)
        != request.program_hash.as_ref()
    {
        return Err(OfficeError::PlanChanged);
    }
    let declared_at = facts.variant.state.fix().map(|fix| fix.declared_at);
    if request.fix_declared_at.is_some() && request.fix_declared_at != declared_at {
        return Err(OfficeError::PlanChanged);
    }
    let judged = judge_approval(office, &facts, &LettersToSend::remaining(&replay, &total), &who, &waivers).await?;
    let gate = judged.gate.open().map_err(OfficeError::GateClosed)?;
    // The gate does not open without a fix.
    let fix = facts.variant.state.fix().ok_or(OfficeError::PlanChanged)?;
    let detail_of_fix = fix.label();
    let Some(resumed) = replay.resume(&gate, &ledger, &waivers, fix.transform.clone()) else {
        return Err(OfficeError::NotNow("this replay cannot be resumed now; reload to see its state".into()));
    };
    let fix = judged.effective(fix);
    let group = facts.variant.moved(GroupState::Replaying { replay: id.clone(), fix });
    let mut writes = vec![
        Write::Replay { replay: Box::new(resumed.clone()), expect: Expect::Version(replay.version()) },
        Write::Variant { variant: Box::new(group), expect: Expect::Version(facts.variant.version) },
    ];
    writes.extend(by.waiver_records(&waivers));
    let canary = next_canary(&resumed, &ledger);
    let pending = total.pending;
    let detail =
        format!("{pending} letters remaining, starting with a canary of {canary}, with the fix {detail_of_fix}");
    let detail = said(&who, detail);
    writes.push(by.record(Act::ReplayResumed, detail, Some(reason)));
    commit_once(office, writes).await?;
    office.nudge(id).await;
    Ok(resumed)
}

/// Pauses a running replay. Once this returns, no further letter is sent.
pub async fn pause(office: &Office, actor: &Actor, id: &ReplayId, reason: &str) -> Result<Replay, OfficeError> {
    let reason = text("the reason", reason)?;
    change(office, actor, id, Act::ReplayPaused, &reason, |replay, now| {
        replay.pause(PauseReason::ByPerson { reason: reason.clone() }, actor.clone(), now)
    })
    .await
}

/// Aborts a replay. Once this returns, no further letter is sent; letters in flight are still observed.
pub async fn abort(office: &Office, actor: &Actor, id: &ReplayId, reason: &str) -> Result<Replay, OfficeError> {
    let reason = text("the reason", reason)?;
    change(office, actor, id, Act::ReplayAborted, &reason, |replay, now| {
        replay.abort(actor.clone(), reason.clone(), now)
    })
    .await
}

/// Makes a person's change of a replay. Its executor writes the replay too, whenever it takes and releases its lease,
/// so a conflict is tried again.
async fn change(
    office: &Office,
    actor: &Actor,
    id: &ReplayId,
    act: Act,
    reason: &str,
    to: impl Fn(&Replay, domain::time::Timestamp) -> Option<Replay>,
) -> Result<Replay, OfficeError> {
    let mut tries = Tries::up_to(PERSON_TRIES_MAX, format!("replay {id}"));
    loop {
        tries.begin()?;
        let (replay, facts) = replay_and_group(office, id).await?;
        let now = office.now();
        let Some(after) = to(&replay, now) else {
            return Err(OfficeError::NotNow("the replay's state does not allow this now; reload to see it".into()));
        };
        let by = Auditor::new(actor, replay.group(), now).in_replay(id);
        let mut writes = vec![
            Write::Replay { replay: Box::new(after.clone()), expect: Expect::Version(replay.version()) },
            by.record(act, "", Some(reason.to_string())),
        ];
        if let (Act::ReplayPaused, Some(fix)) = (act, facts.variant.state.fix()) {
            let state = GroupState::Paused { replay: id.clone(), fix: Some(fix.clone()) };
            let group = Box::new(facts.variant.moved(state));
            writes.push(Write::Variant { variant: group, expect: Expect::Version(facts.variant.version) });
        }
        if commit(office, writes).await?.is_made() {
            office.nudge(id).await;
            return Ok(after);
        }
    }
}

/// How often a person's change is tried: an executor writes a replay a few times a second.
const PERSON_TRIES_MAX: usize = 100;

async fn replay_and_group(office: &Office, id: &ReplayId) -> Result<(Replay, GroupFacts), OfficeError> {
    let replay = office.store.replay(id).await?.ok_or_else(|| OfficeError::NoReplay(id.clone()))?;
    let facts = facts(office, replay.group()).await?;
    Ok((replay, facts))
}

/// Returns the detail of an audit record, which says where an approval is not a second person's.
fn said(who: &Person, detail: String) -> String {
    if who.kind() == IdentityKind::OneMachine { format!("{detail}. {ONE_MACHINE}") } else { detail }
}

/// Judges the gate for a person who approves or resumes.
async fn judge_approval(
    office: &Office,
    facts: &GroupFacts,
    to_send: &LettersToSend,
    approver: &Person,
    waivers: &[Waiver],
) -> Result<Judged, OfficeError> {
    judge(office, facts, to_send, Moment::Approval { approver: Some(approver), waivers }).await
}
