//! Discarding letters of a group, and taking them back.

use super::answer::{Answer, Object, body};
use super::groups::detail;
use super::{Caller, Current};
use crate::act;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, Path};
use domain::id::GroupId;
use wire::{DiscardPreviewAnswer, DiscardPreviewRequest, DiscardRequest, GroupAnswer, UndoDiscardRequest};

pub(super) async fn preview(
    Current(api): Current,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DiscardPreviewRequest>>, JsonRejection>,
) -> Answer<DiscardPreviewAnswer> {
    Ok(Json(act::preview_discard(&api.office, &id, &body(request)?).await?))
}

pub(super) async fn discard(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DiscardRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::discard(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn undo(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<UndoDiscardRequest>>, JsonRejection>,
) -> Answer<GroupAnswer> {
    act::undo_discard(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}
