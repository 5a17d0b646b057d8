//! Letters: a group's list, and a letter's own page with its payload.

use super::Api;
use super::answer::ApiError;
use super::pages::next_of;
use crate::error::OfficeError;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use domain::id::{GroupId, LetterId};
use domain::letter::LetterStateKind;
use domain::limits::PAGE_MAX;
use domain::wire::{LetterDetail, LetterRow, LettersPage};
use serde::Deserialize;

/// Which letters.
#[derive(Debug, Deserialize)]
pub(super) struct LettersQuery {
    state: Option<LetterStateKind>,
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn of_group(
    State(api): State<Api>,
    Path(id): Path<GroupId>,
    query: Result<Query<LettersQuery>, QueryRejection>,
) -> Result<Json<LettersPage>, ApiError> {
    let Query(query) = query?;
    if api.office.store.group(&id).await?.is_none() {
        return Err(OfficeError::NoGroup(id).into());
    }
    let page = super::pages::PageQuery { cursor: query.cursor, limit: query.limit };
    let letters =
        api.office.store.letters_of(&id, query.state, page.cursor().as_ref(), page.limit().min(PAGE_MAX)).await?;
    let next = next_of(&letters);
    Ok(Json(LettersPage { letters: letters.items.iter().map(LetterRow::of).collect(), next }))
}

pub(super) async fn show(State(api): State<Api>, Path(id): Path<LetterId>) -> Result<Json<LetterDetail>, ApiError> {
    let letter = api.office.store.letter(&id).await?.ok_or_else(|| OfficeError::NoLetter(id.clone()))?;
    let mut deaths = api.office.store.deaths(&id).await?;
    if deaths.is_empty() {
        deaths.push(letter.latest_death(&letter.original_message_id, None));
    }
    Ok(Json(LetterDetail::of(letter, deaths)))
}
