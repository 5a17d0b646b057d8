//! Discarding letters of a group, and taking them back.

use super::answer::{Answer, Object, body};
use super::groups::detail;
use super::{Caller, Current};
use crate::act;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, Path};
use domain::id::GroupId;
use wire::{DiscardPreview, DiscardPreviewRequest, DiscardRequest, GroupDetail, UndoDiscardRequest};

pub(super) async fn preview(
    Current(api): Current,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DiscardPreviewRequest>>, JsonRejection>,
) -> Answer<DiscardPreview> {
    Ok(Json(act::preview_discard(&api.office, &id, &body(request)?).await?))
}

pub(super) async fn discard(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DiscardRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::discard(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}

pub(super) async fn undo(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<UndoDiscardRequest>>, JsonRejection>,
) -> Answer<GroupDetail> {
    act::undo_discard(&api.office, &caller.actor, &id, &body(request)?).await?;
    detail(&api, &caller, &id).await.map(Json)
}
