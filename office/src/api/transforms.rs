//! Payload transforms: the versions of a group, saving a version, previews and dry runs.

use super::answer::{Answer, Object, body};
use super::views::{View, Views};
use super::{Caller, Current};
use crate::act;
use crate::error::OfficeError;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Extension, Json, Path};
use domain::audit::Act;
use domain::id::GroupId;
use domain::transform::{DryRun, Transform};
use std::sync::Arc;
use wire::{
    DryRunRequest, PreviewTransformRequest, SaveTransformRequest, TransformPreviewAnswer, TransformView,
    TransformsAnswer,
};

pub(super) async fn show(Current(api): Current, Path(id): Path<GroupId>) -> Answer<TransformsAnswer> {
    let store = &api.office.store;
    if store.group(&id).await?.is_none() {
        return Err(OfficeError::NoGroup(id).into());
    }
    let versions = store.transforms(&id).await?.into_iter();
    let versions = versions.map(|facts| TransformView { transform: facts.transform, dry_run: facts.dry_run });
    Ok(Json(TransformsAnswer { versions: versions.collect() }))
}

pub(super) async fn save(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<SaveTransformRequest>>, JsonRejection>,
) -> Answer<Transform> {
    Ok(Json(act::save_transform(&api.office, &caller.actor, &id, &body(request)?).await?))
}

pub(super) async fn preview(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<PreviewTransformRequest>>, JsonRejection>,
) -> Answer<TransformPreviewAnswer> {
    let preview = act::preview(&api.office, &id, &body(request)?).await?;
    if !preview.letters.is_empty() {
        let detail = "Values of letters in a preview of a transform".to_string();
        let view = View { act: Act::PayloadViewed, group: &id, replay: None, detail };
        views.record(&api, &caller, view).await?;
    }
    Ok(Json(preview))
}

pub(super) async fn dry_run(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DryRunRequest>>, JsonRejection>,
) -> Answer<DryRun> {
    Ok(Json(act::dry_run(&api.office, &caller.actor, &id, &body(request)?).await?))
}
