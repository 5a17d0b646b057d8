//! Replays: the list, the details of a replay, its letters, and the acts on it.

use super::answer::{Answer, ApiError, Object, body};
use super::pages::{PageQuery, next_of};
use super::{Caller, Current};
use crate::act;
use crate::error::OfficeError;
use crate::office::Office;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Extension, Json, Path, Query};
use domain::fix::Fix;
use domain::group::merging::{name, shown_name};
use domain::group::{GroupState, Variant};
use domain::id::{GroupId, ReplayId};
use domain::replay::{Entry, OutcomeKind, Replay};
use serde::Deserialize;
use wire::{ApproveRequest, EntriesAnswer, EntryRow, ReasonRequest, ReplayAnswer, ReplaysAnswer, ResumeRequest};

/// Returns a replay with its ledger.
pub(super) async fn view(office: &Office, replay: Replay) -> Result<ReplayAnswer, ApiError> {
    let ledger = office.store.ledger(replay.id()).await?;
    let group = office.store.group(replay.group()).await?;
    let total = ledger.total();
    let observed_until = (total.in_flight > 0).then(|| replay.window_ends_at(office.now()));
    let fix = group.as_ref().and_then(|group| fix_of(&group.state, replay.id()));
    let group_title = match &group {
        Some(group) => title_of(office, group).await?,
        None => String::new(),
    };
    Ok(ReplayAnswer { fix, group_title, observed_until, replay: (&replay).into(), ledger, total })
}

/// Returns the group's title as its page shows it. The counters say whether enough letters agree on a value, so they are
/// read only where the title has values.
async fn title_of(office: &Office, group: &Variant) -> Result<String, ApiError> {
    let rules = &office.policy.groups;
    if group.title_values.is_empty() {
        return Ok(name(group, rules).to_string());
    }
    let facts = office.store.group_facts(&group.id, i64::MAX).await?;
    Ok(facts
        .map_or_else(|| name(group, rules).to_string(), |facts| shown_name(group, &facts.counts, rules).into_owned()))
}

/// Returns the fix that counts for a replay, if its group is still about this replay.
fn fix_of(state: &GroupState, replay: &ReplayId) -> Option<Fix> {
    let current = match state {
        GroupState::Resolved { replay, .. } => Some(replay),
        other => other.replay(),
    };
    state.fix().filter(|_| current == Some(replay)).cloned()
}

pub(super) async fn approve(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(group): Path<GroupId>,
    request: Result<Json<Object<ApproveRequest>>, JsonRejection>,
) -> Answer<ReplayAnswer> {
    let replay = act::approve(&api.office, caller.person(), &group, &body(request)?).await?;
    view(&api.office, replay).await.map(Json)
}

pub(super) async fn list(
    Current(api): Current,
    page: Result<Query<PageQuery>, QueryRejection>,
) -> Answer<ReplaysAnswer> {
    let Query(page) = page?;
    let found = api.office.store.replays(None, page.cursor().as_ref(), page.limit()).await?;
    let next = next_of(&found);
    let mut replays = Vec::with_capacity(found.items.len());
    for replay in found.items {
        replays.push(view(&api.office, replay).await?);
    }
    Ok(Json(ReplaysAnswer { replays, next }))
}

pub(super) async fn show(Current(api): Current, Path(id): Path<ReplayId>) -> Answer<ReplayAnswer> {
    let replay = api.office.store.replay(&id).await?.ok_or(OfficeError::NoReplay(id))?;
    view(&api.office, replay).await.map(Json)
}

/// The requested letters of a replay.
#[derive(Debug, Deserialize)]
pub(super) struct EntriesQuery {
    wave: Option<u32>,
    outcome: Option<OutcomeKind>,
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn entries(
    Current(api): Current,
    Path(id): Path<ReplayId>,
    query: Result<Query<EntriesQuery>, QueryRejection>,
) -> Answer<EntriesAnswer> {
    let Query(query) = query?;
    let store = &api.office.store;
    if store.replay(&id).await?.is_none() {
        return Err(OfficeError::NoReplay(id).into());
    }
    let page = PageQuery { cursor: query.cursor, limit: query.limit };
    let found = store.entries(&id, query.wave, query.outcome, page.cursor().as_ref(), page.limit()).await?;
    let next = next_of(&found);
    Ok(Json(EntriesAnswer { entries: rows_of(&api.office, found.items).await?, next }))
}

/// Returns rows of entries with details of their letters.
pub(super) async fn rows_of(office: &Office, entries: Vec<Entry>) -> Result<Vec<EntryRow>, ApiError> {
    let ids: Vec<_> = entries.iter().map(|entry| entry.letter.clone()).collect();
    let letters = office.store.letters(&ids).await?;
    let rows = entries.into_iter().map(|entry| {
        let letter = letters.iter().find(|letter| letter.id == entry.letter);
        EntryRow {
            message_type: letter.and_then(|letter| letter.diagnosis.message_type.clone()),
            impact: letter.map(|letter| letter.diagnosis.impact.clone()),
            entry,
        }
    });
    Ok(rows.collect())
}

pub(super) async fn pause(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<ReplayId>,
    request: Result<Json<Object<ReasonRequest>>, JsonRejection>,
) -> Answer<ReplayAnswer> {
    let replay = act::pause(&api.office, &caller.actor, &id, &body(request)?.reason).await?;
    view(&api.office, replay).await.map(Json)
}

pub(super) async fn abort(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<ReplayId>,
    request: Result<Json<Object<ReasonRequest>>, JsonRejection>,
) -> Answer<ReplayAnswer> {
    let replay = act::abort(&api.office, &caller.actor, &id, &body(request)?.reason).await?;
    view(&api.office, replay).await.map(Json)
}

pub(super) async fn resume(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<ReplayId>,
    request: Result<Json<Object<ResumeRequest>>, JsonRejection>,
) -> Answer<ReplayAnswer> {
    let replay = act::resume(&api.office, caller.person(), &id, &body(request)?).await?;
    view(&api.office, replay).await.map(Json)
}
