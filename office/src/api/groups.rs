//! Groups: the details of a group, and the acts on it.

use super::answer::{Answer, ApiError, Object, body};
use super::replays::view;
use super::rows::{chart, row};
use super::{Api, Caller, Current};
use crate::act::{self, Planned};
use crate::error::OfficeError;
use crate::gate::{LettersToSend, Moment, judge};
use crate::known::first_bucket;
use crate::merged::{self, MergedGroup};
use crate::office::Office;
use crate::planning;
use crate::port::GroupFacts;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, Path};
use domain::group::merging::name;
use domain::group::{GroupCounts, GroupState, Variant};
use domain::id::GroupId;
use domain::role::Permission;
use wire::{
    DeclareFixRequest, DeploymentRequest, DraftView, GateFact, GateView, GroupAnswer, GroupName, LogsView,
    LookInLogsRequest, MeAnswer, MergedVariant, NoteRequest, OwnerRequest, PlanAnswer, PlanRequest, PlanningAnswer,
    PreviewRulesRequest, ReasonRequest, ReleaseRequest, RulesPreview, UnmergeRequest,
};

pub(super) async fn me(Current(api): Current, Extension(caller): Extension<Caller>) -> Json<MeAnswer> {
    Json(api.me(&caller))
}

pub(super) async fn show(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
) -> Answer<GroupAnswer> {
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn detail(api: &Api, caller: &Caller, id: &GroupId) -> Result<GroupAnswer, ApiError> {
    let office = &api.office;
    let now = office.now();
    let read = merged::read(&*office.store, id, first_bucket(now)).await?;
    let MergedGroup { facts, members } = read.ok_or_else(|| OfficeError::NoGroup(id.clone()))?;
    let to_send = LettersToSend::now(office, &facts).await?;
    let approver = caller.role.may(Permission::Approve).then(|| caller.person());
    let moment = Moment::Approval { approver: approver.as_ref(), waivers: &[] };
    let judged = judge(office, &facts, &to_send, moment).await?;
    let plan = match (&facts.variant.state, office.store.plan(id).await?) {
        // The plan of another fix cannot be approved, so it is not shown.
        (GroupState::FixDeclared { fix }, Some(plan)) if plan.fix == *fix => Some(plan_view(&facts, plan)),
        _ => None,
    };
    let drafts = planning::current(office, &facts.variant).await?;
    let replays = merged::replays(&*office.store, &facts.variant).await?;
    let replay = match replays.first() {
        Some(latest) => Some(view(office, latest.clone()).await?),
        None => None,
    };
    let gate = GateView::from(&judged.gate);
    let has_plan = match (&facts.variant.state, &replay) {
        (GroupState::Paused { replay: id, .. }, Some(view)) if view.replay.id() == id => {
            view.total.in_flight + view.total.sending == 0
        }
        _ => plan.is_some(),
    };
    let is_judged =
        matches!(facts.variant.state, GroupState::FixDeclared { .. } | GroupState::Paused { fix: Some(_), .. });
    let fact = is_judged.then(|| GateFact::new(&gate, has_plan));
    Ok(GroupAnswer {
        row: row(office, &facts, fact, now).await?,
        chart: chart(&facts, now),
        failure: facts.variant.failure.clone(),
        reported: facts.variant.reported.as_deref().cloned(),
        logs: LogsView::new(&facts.variant, office.logs.can_read()),
        note: facts.variant.note.clone(),
        gate,
        quiet_ms: office.policy.gate.quiet_ms.as_ms(),
        discarding: facts.variant.discarding.as_ref().map(|task| task.progress()),
        discarded_kept_ms: office.policy.discarded_kept().map(|kept| kept.as_ms()),
        plan,
        drafting: drafts.first().map(|draft| draft_view(&facts, draft)),
        replay,
        replays: replays.iter().map(|replay| replay.id().clone()).collect(),
        deployment: judged.deployment,
        died_on: died_on(&facts, &members),
        merged: members.into_iter().map(merged_variant).collect(),
        unmerged: facts.variant.merge.unmerged,
        merged_into: match &facts.variant.merge.into {
            Some(group) => office.store.group(group).await?.map(|group| named(office, &group)),
            None => None,
        },
        counts: GroupCounts {
            customers: facts.variant.merge.customers(facts.counts.customers).number(),
            ..facts.counts
        },
    })
}

/// Returns the versions that letters of any variant of the group died on, each once.
fn died_on(facts: &GroupFacts, members: &[GroupFacts]) -> Vec<String> {
    let mut versions = facts.variant.died_on.clone();
    for version in members.iter().flat_map(|member| &member.variant.died_on) {
        if !versions.contains(version) {
            versions.push(version.clone());
        }
    }
    versions
}

fn merged_variant(facts: GroupFacts) -> MergedVariant {
    MergedVariant {
        open_letters: facts.counts.open().letters,
        last_died_at: facts.counts.last_died_at,
        first_died_at: facts.variant.first_died_at,
        id: facts.variant.id,
        title: facts.variant.title,
    }
}

fn named(office: &Office, group: &Variant) -> GroupName {
    GroupName { id: group.id.clone(), title: name(group, &office.policy.groups).to_string() }
}

/// Returns the letters of a group that a plan reads.
fn waiting(facts: &GroupFacts) -> i64 {
    planning::LISTS.iter().map(|list| facts.counts.tally(*list).letters).sum()
}

fn draft_view(facts: &GroupFacts, draft: &domain::replay::Draft) -> DraftView {
    DraftView::new(draft, waiting(facts).max(0).unsigned_abs())
}

fn plan_view(facts: &GroupFacts, plan: domain::replay::Plan) -> PlanAnswer {
    let left_out: u64 = plan.left_out.iter().map(|left| left.letters).sum();
    let planned = plan.letters.letters + left_out as i64;
    PlanAnswer {
        hash: plan.hash(),
        duration_ms: plan.duration_estimate(),
        arrived_since: (waiting(facts) - planned).max(0) as u64,
        plan,
    }
}

pub(super) async fn declare_fix(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DeclareFixRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::declare_fix(&api.office, caller.person(), &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn withdraw_fix(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<ReasonRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::withdraw_fix(&api.office, &caller.actor, &id, &body(request)?.reason).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn note(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<NoteRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::change_note(&api.office, &caller.actor, &id, &body(request)?.note).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn owner(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<OwnerRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::change_owner(&api.office, &caller.actor, &id, &body(request)?.owner).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn look_in_logs(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<LookInLogsRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    body(request)?;
    act::request_logs(&api.office, &caller.actor, &id).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn plan(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<PlanRequest>>, JsonRejection>,
) -> Answer<PlanningAnswer> {
    let planned = act::plan(&api.office, &caller.actor, &id, &body(request)?).await?;
    let group = merged::read(&*api.office.store, &id, i64::MAX).await?.ok_or(OfficeError::NoGroup(id))?;
    Ok(Json(match planned {
        Planned::Plan(plan) => PlanningAnswer::Plan(Box::new(plan_view(&group.facts, *plan))),
        Planned::Draft(draft) => PlanningAnswer::Draft { drafting: draft_view(&group.facts, &draft) },
    }))
}

pub(super) async fn cancel_plan(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
) -> Answer<GroupAnswer> {
    act::cancel_plan(&api.office, &caller.actor, &id).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn unmerge(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<UnmergeRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::unmerge(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn allow_merge(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<ReasonRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::allow_merge(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn release(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<ReleaseRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::release(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn preview(
    Current(api): Current,
    request: Result<Json<Object<PreviewRulesRequest>>, JsonRejection>,
) -> Answer<RulesPreview> {
    let rules = body(request)?.groups;
    let groups = merged::variants(&*api.office.store).await?;
    Ok(Json(RulesPreview::new(&groups, &api.office.policy.groups, &rules)))
}

pub(super) async fn report_deployment(
    Current(api): Current,
    request: Result<Json<Object<DeploymentRequest>>, JsonRejection>,
) -> Answer<domain::deployment::Deployment> {
    Ok(Json(act::report_deployment(&api.office, &body(request)?).await?))
}
