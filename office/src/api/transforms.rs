//! Payload transforms: the versions of a group, saving a version, previews and dry runs.

use super::answer::{Answer, Object, body};
use super::views::{View, Views};
use super::{Caller, Current};
use crate::act;
use crate::audit::{criteria, letters_in_words};
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

/// What the program said of letters that it failed on may hold their values.
const FAILURES: &str = "What a transform said of letters that it failed on";

pub(super) async fn show(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<GroupId>,
) -> Answer<TransformsAnswer> {
    let store = &api.office.store;
    if store.group(&id).await?.is_none() {
        return Err(OfficeError::NoGroup(id).into());
    }
    let versions = store.transforms(&id).await?;
    if versions.iter().filter_map(|facts| facts.dry_run.as_ref()).any(|run| !run.failures.is_empty()) {
        let view = View { act: Act::PayloadViewed, group: &id, replay: None, detail: FAILURES.into() };
        views.record(&api, &caller, view).await?;
    }
    let versions = versions.into_iter();
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
    let request = body(request)?;
    let preview = act::preview(&api.office, &id, &request).await?;
    if !preview.letters.is_empty() {
        let which = criteria(&request.filter).map(|criteria| format!(", {criteria}")).unwrap_or_default();
        let detail =
            format!("Values of {} in a preview of a transform{which}", letters_in_words(preview.letters.len() as u64));
        let view = View { act: Act::PayloadViewed, group: &id, replay: None, detail };
        views.record(&api, &caller, view).await?;
    }
    Ok(Json(preview))
}

pub(super) async fn dry_run(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<GroupId>,
    request: Result<Json<Object<DryRunRequest>>, JsonRejection>,
) -> Answer<DryRun> {
    let run = act::dry_run(&api.office, &caller.actor, &id, &body(request)?).await?;
    if !run.failures.is_empty() {
        let which = criteria(&run.filter).map(|criteria| format!(", {criteria}")).unwrap_or_default();
        let detail = format!("{FAILURES}, in a dry run of {}{which}", run.transform.label());
        let view = View { act: Act::PayloadViewed, group: &id, replay: None, detail };
        views.record(&api, &caller, view).await?;
    }
    Ok(Json(run))
}
