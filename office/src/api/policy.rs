//! The policy: what applies, checks of another one, and its versions.

use super::answer::{Answer, Object, body};
use super::{Caller, Current};
use crate::act::{self, Author};
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Extension, Json, Query};
use domain::policy::{PolicyVersion, QueuePolicy};
use serde::Deserialize;
use wire::{CheckPolicyRequest, PolicyAnswer, PolicyCheckAnswer, PolicyHistoryAnswer, PolicyRequest, PolicyRow};

/// The versions of a page without `limit`.
pub(super) const VERSIONS_DEFAULT: usize = 20;
/// The most versions of a page: each may be as long as a request's body, and a response has a limit, too.
pub(super) const VERSIONS_MAX: usize = 50;

/// The requested versions.
#[derive(Debug, Deserialize)]
pub(super) struct HistoryQuery {
    before: Option<u64>,
    limit: Option<usize>,
}

pub(super) async fn show(Current(api): Current) -> Answer<PolicyAnswer> {
    let named = api.office.policies.named().clone();
    Ok(Json(match api.office.store.policy().await? {
        Some(newest) => answer(newest, named),
        None => {
            let policy = act::own_policy(&api.office);
            PolicyAnswer { version: 0, by: None, at: None, reason: None, policy, named }
        }
    }))
}

pub(super) async fn check(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    request: Result<Json<Object<CheckPolicyRequest>>, JsonRejection>,
) -> Answer<PolicyCheckAnswer> {
    Ok(Json(act::check_policy(&api.office, &author(&caller), &body(request)?.policy).await?))
}

pub(super) async fn change(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    request: Result<Json<Object<PolicyRequest>>, JsonRejection>,
) -> Answer<PolicyAnswer> {
    let written = act::change_policy(&api.office, &author(&caller), &body(request)?).await?;
    Ok(Json(answer(written, api.office.policies.named().clone())))
}

pub(super) async fn history(
    Current(api): Current,
    query: Result<Query<HistoryQuery>, QueryRejection>,
) -> Answer<PolicyHistoryAnswer> {
    let Query(query) = query?;
    let limit = query.limit.unwrap_or(VERSIONS_DEFAULT).min(VERSIONS_MAX);
    let versions = api.office.store.policies(query.before, limit).await?;
    // The numbers have no gaps, so that the last one says whether there are more.
    let next = versions.last().map(|last| last.version).filter(|version| versions.len() == limit && *version > 1);
    Ok(Json(PolicyHistoryAnswer { versions: versions.into_iter().map(row).collect(), next }))
}

fn author(caller: &Caller) -> Author {
    Author { person: caller.person(), signed_in_at: caller.signed_in_at.unwrap_or_default() }
}

fn answer(version: PolicyVersion, named: QueuePolicy) -> PolicyAnswer {
    let PolicyVersion { version, policy, by, at, reason, .. } = version;
    PolicyAnswer { version, by: Some(by), at: Some(at), reason: Some(reason), policy, named }
}

fn row(version: PolicyVersion) -> PolicyRow {
    let PolicyVersion { version, policy, by, at, reason, changes } = version;
    PolicyRow { version, by, at, reason, changes, policy }
}
