//! Groups: the list, the details of a group, and the acts on it.

use super::answer::{Answer, ApiError, Object, body};
use super::replays::view;
use super::{Api, Caller};
use crate::act;
use crate::error::OfficeError;
use crate::gate::{LettersToSend, Moment, judge};
use crate::merged::{self, MergedGroup};
use crate::office::Office;
use crate::port::GroupFacts;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, Path, State};
use domain::group::merging::name;
use domain::group::{GroupState, Variant, arrival_bucket};
use domain::id::GroupId;
use domain::letter::LetterStateKind;
use domain::limits::{ARRIVAL_BARS, ARRIVAL_BUCKET_MS, GROUPS_SHOWN_MAX, PAGE_MAX};
use domain::role::Permission;
use domain::time::{Span, Timestamp};
use wire::{
    DeclareFixRequest, DeploymentRequest, GroupDetail, GroupName, GroupRow, GroupsAnswer, Me, MergedVariant,
    NoteRequest, PlanRequest, PlanView, PreviewRulesRequest, ReasonRequest, ReleaseRequest, RowFacts, RulesPreview,
    Summary, UnmergeRequest, attention,
};

pub(super) async fn me(State(api): State<Api>, Extension(caller): Extension<Caller>) -> Json<Me> {
    Json(api.me(&caller))
}

pub(super) async fn list(State(api): State<Api>) -> Answer<GroupsAnswer> {
    let now = api.office.now();
    let (mut listed, mut groups, mut cursor) = (Vec::new(), 0, None);
    let cut = loop {
        let page = api.office.store.groups(first_bucket(now), cursor.as_ref(), PAGE_MAX).await?;
        groups += page.items.iter().filter(|facts| facts.group.merge.into.is_none()).count();
        let slim = |facts: GroupFacts| GroupFacts { group: merged::slim(facts.group), ..facts };
        listed.extend(page.items.into_iter().map(slim));
        match page.next {
            None => break false,
            Some(_) if groups >= GROUPS_SHOWN_MAX => break true,
            Some(next) => cursor = Some(next),
        }
    };
    let mut rows = Vec::new();
    for facts in merged::fold(listed) {
        rows.push(row(&api, &facts, now).await?);
    }
    rows.sort_by_cached_key(attention);
    let summary = Summary::new(&rows);
    let watching = api.watching.iter().map(|queue| queue.name().to_string()).collect();
    Ok(Json(GroupsAnswer { groups: rows, summary, cut, watching }))
}

/// Returns the first bucket of the 24 hours in a sparkline: 23 whole hours and the current one.
fn first_bucket(now: Timestamp) -> i64 {
    let hour = Span::from_mins(60).as_ms();
    let this_hour = now.as_ms().div_euclid(hour) * hour;
    arrival_bucket(Timestamp::from_ms(this_hour - (ARRIVAL_BARS as i64 - 1) * hour))
}

async fn row(api: &Api, facts: &GroupFacts, now: Timestamp) -> Result<GroupRow, ApiError> {
    let per_bar = Span::from_mins(60).as_ms() / ARRIVAL_BUCKET_MS;
    let first = first_bucket(now);
    let mut arrivals = vec![0; ARRIVAL_BARS];
    for (bucket, n) in &facts.arrivals {
        if let Some(bar) = arrivals.get_mut(((bucket - first) / per_bar).max(0) as usize) {
            *bar += n;
        }
    }
    let an_hour_ago = arrival_bucket(now) - per_bar;
    let last_hour = facts.arrivals.iter().filter(|(bucket, _)| *bucket > an_hour_ago).map(|(_, n)| n).sum();
    let wave = match facts.group.state.replay() {
        Some(id) => api
            .office
            .store
            .replay(id)
            .await?
            .and_then(|replay| replay.wave().map(|wave| (wave + 1, replay.plan().waves.len() as u32))),
        None => None,
    };
    let more = RowFacts {
        oldest_sent_at: facts.oldest_sent_at,
        loss_at: facts.loss_at,
        arrivals,
        arrivals_last_hour: last_hour,
        wave,
    };
    let row = GroupRow::new(&facts.group, &facts.counts, more);
    let title = name(&facts.group, &api.office.policy.groups).to_string();
    Ok(GroupRow { title, ..row })
}

pub(super) async fn show(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
) -> Answer<GroupDetail> {
    detail(&api, &caller, &id).await.map(Json)
}

async fn detail(api: &Api, caller: &Caller, id: &GroupId) -> Result<GroupDetail, ApiError> {
    let office = &api.office;
    let now = office.now();
    let read = merged::read(&*office.store, id, first_bucket(now)).await?;
    let MergedGroup { facts, members } = read.ok_or_else(|| OfficeError::NoGroup(id.clone()))?;
    let to_send = LettersToSend::now(office, &facts).await?;
    let approver = caller.role.may(Permission::Approve).then(|| caller.person());
    let moment = Moment::Approval { approver: approver.as_ref(), waivers: &[] };
    let judged = judge(office, &facts, &to_send, moment).await?;
    let plan = match (&facts.group.state, office.store.plan(id).await?) {
        // The plan of another fix cannot be approved, so it is not shown.
        (GroupState::FixDeclared { fix }, Some(plan)) if plan.fix == *fix => Some(plan_view(&facts, plan)),
        _ => None,
    };
    let replays = merged::replays(&*office.store, &facts.group).await?;
    let replay = match replays.first() {
        Some(latest) => Some(view(office, latest.clone()).await?),
        None => None,
    };
    Ok(GroupDetail {
        row: row(api, &facts, now).await?,
        failure: facts.group.failure.clone(),
        reported: facts.group.reported.as_deref().cloned(),
        note: facts.group.note.clone(),
        gate: (&judged.gate).into(),
        quiet_ms: office.policy.gate.quiet_ms.as_ms(),
        plan,
        replay,
        replays: replays.iter().map(|replay| replay.id().clone()).collect(),
        deployment: judged.deployment,
        merged: members.into_iter().map(merged_variant).collect(),
        unmerged: facts.group.merge.unmerged,
        merged_into: match &facts.group.merge.into {
            Some(group) => office.store.group(group).await?.map(|group| named(office, &group)),
            None => None,
        },
        counts: facts.counts,
    })
}

fn merged_variant(facts: GroupFacts) -> MergedVariant {
    MergedVariant {
        open_letters: facts.counts.open().letters,
        last_died_at: facts.counts.last_died_at,
        first_died_at: facts.group.first_died_at,
        id: facts.group.id,
        title: facts.group.title,
    }
}

fn named(office: &Office, group: &Variant) -> GroupName {
    GroupName { id: group.id.clone(), title: name(group, &office.policy.groups).to_string() }
}

fn plan_view(facts: &GroupFacts, plan: domain::replay::Plan) -> PlanView {
    let of = |kind| facts.counts.of(kind).letters;
    let waiting = of(LetterStateKind::Waiting) + of(LetterStateKind::Quarantined);
    let left_out: u64 = plan.left_out.iter().map(|left| left.letters).sum();
    let planned = plan.letters.letters + left_out as i64;
    PlanView {
        hash: plan.hash(),
        duration_ms: plan.duration_estimate(),
        arrived_since: (waiting - planned).max(0) as u64,
        plan,
    }
}

pub(super) async fn declare_fix(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DeclareFixRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::declare_fix(&api.office, caller.person(), &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn withdraw_fix(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<ReasonRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::withdraw_fix(&api.office, &caller.actor, &id, &body(request)?.reason).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn note(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<NoteRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::change_note(&api.office, &caller.actor, &id, &body(request)?.note).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn plan(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<PlanRequest>>, JsonRejection>,
) -> Answer<PlanView> {
    let plan = act::plan(&api.office, &caller.actor, &id, &body(request)?).await?;
    let group = merged::read(&*api.office.store, &id, i64::MAX).await?.ok_or(OfficeError::NoGroup(id))?;
    Ok(Json(plan_view(&group.facts, plan)))
}

pub(super) async fn unmerge(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<UnmergeRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::unmerge(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn allow_merge(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<ReasonRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::allow_merge(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn release(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<ReleaseRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::release(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn preview(
    State(api): State<Api>,
    request: Result<Json<Object<PreviewRulesRequest>>, JsonRejection>,
) -> Answer<RulesPreview> {
    let rules = body(request)?.groups;
    let groups = merged::variants(&*api.office.store).await?;
    Ok(Json(RulesPreview::new(&groups, &api.office.policy.groups, &rules)))
}

pub(super) async fn report_deployment(
    State(api): State<Api>,
    request: Result<Json<Object<DeploymentRequest>>, JsonRejection>,
) -> Answer<domain::deployment::Deployment> {
    Ok(Json(act::report_deployment(&api.office, &body(request)?).await?))
}
