//! Letters: the list of a group, and the details of a letter with its payload.

use super::answer::ApiError;
use super::pages::{PageQuery, next_of};
use super::views::{View, Views};
use super::{Caller, Current};
use crate::error::OfficeError;
use crate::letters;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query};
use domain::audit::Act;
use domain::facet::Facets;
use domain::filter::LetterFilter;
use domain::id::{GroupId, LetterId};
use domain::letter::LetterStateKind;
use domain::time::Timestamp;
use serde::Deserialize;
use std::sync::Arc;
use wire::{LetterAnswer, LetterRow, LettersAnswer};

/// The selected letters.
#[derive(Debug, Deserialize)]
pub(super) struct Selected {
    pub(super) state: Option<LetterStateKind>,
    message_type: Option<String>,
    tenant: Option<String>,
    died_from: Option<Timestamp>,
    died_before: Option<Timestamp>,
    replays_max: Option<u32>,
}

impl Selected {
    /// Returns the filter, as in a plan. Query strings cannot hold a struct in a struct, so its fields are repeated
    /// here.
    pub(super) fn filter(&self) -> LetterFilter {
        LetterFilter {
            message_type: self.message_type.clone(),
            tenant: self.tenant.clone(),
            died_from: self.died_from,
            died_before: self.died_before,
            replays_max: self.replays_max,
        }
    }
}

pub(super) async fn of_group(
    Current(api): Current,
    Path(id): Path<GroupId>,
    selected: Result<Query<Selected>, QueryRejection>,
    page: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Json<LettersAnswer>, ApiError> {
    let (Query(selected), Query(page)) = (selected?, page?);
    let store = &*api.office.store;
    let group = store.group(&id).await?.ok_or(OfficeError::NoGroup(id))?;
    let filter = selected.filter();
    let letters = letters::list(store, &group, selected.state, &filter, page.cursor().as_ref(), page.limit()).await?;
    let next = next_of(&letters);
    Ok(Json(LettersAnswer { letters: letters.items.iter().map(LetterRow::new).collect(), next }))
}

/// The values that letters share are parts of their payloads, so seeing them is audited like seeing one of these.
pub(super) async fn facets(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<GroupId>,
) -> Result<Json<Facets>, ApiError> {
    let found = crate::facets::of_group(&*api.office.store, &id).await?;
    let view = View { act: Act::PayloadViewed, group: &id, replay: None, detail: "What the letters share".into() };
    views.record(&api, &caller, view).await?;
    Ok(Json(found))
}

pub(super) async fn show(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<LetterId>,
) -> Result<Json<LetterAnswer>, ApiError> {
    let letter = api.office.store.letter(&id).await?.ok_or_else(|| OfficeError::NoLetter(id.clone()))?;
    let detail = format!("Letter {id}");
    let view = View { act: Act::PayloadViewed, group: &letter.group, replay: None, detail };
    views.record(&api, &caller, view).await?;
    let mut deaths = api.office.store.deaths(&id).await?;
    if deaths.is_empty() {
        deaths.push(letter.latest_death(&letter.original_message_id, None));
    }
    let trace_url = letter.content.trace_header.as_deref().and_then(|header| api.office.policy.links.trace_of(header));
    Ok(Json(LetterAnswer { trace_url, ..LetterAnswer::new(letter, deaths) }))
}
