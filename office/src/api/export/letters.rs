//! The letters of a group as a file: those that a state and a filter select, as in the list.

use super::{FileQuery, PAGE_MAX, ROWS_MAX, Row, file, json_name, moment};
use crate::api::answer::ApiError;
use crate::api::letters::Selected;
use crate::api::views::{View, Views};
use crate::api::{Caller, Current};
use crate::audit::criteria;
use crate::error::OfficeError;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query};
use axum::response::Response;
use domain::audit::Act;
use domain::id::GroupId;
use std::sync::Arc;
use wire::LetterRow;

impl Row for LetterRow {
    const COLUMNS: &'static [&'static str] = &[
        "letter",
        "message_type",
        "tenant",
        "customer",
        "amount",
        "currency",
        "state",
        "sent_at",
        "died_at",
        "loss_at",
        "deadline",
        "deaths",
        "replays",
        "size_bytes",
        "not_replayable",
    ];

    fn cells(&self) -> Vec<String> {
        let money = self.impact.money.as_ref();
        vec![
            self.id.to_string(),
            self.message_type.clone().unwrap_or_default(),
            self.tenant.clone().unwrap_or_default(),
            self.impact.customer.clone().unwrap_or_default(),
            money.map(|money| money.amount.to_string()).unwrap_or_default(),
            money.map(|money| money.currency.to_string()).unwrap_or_default(),
            json_name(&self.state.kind()),
            moment(self.sent_at),
            moment(self.died_at),
            self.loss_at.map(moment).unwrap_or_default(),
            self.impact.deadline.map(moment).unwrap_or_default(),
            self.deaths.to_string(),
            self.replays.to_string(),
            self.size_bytes.to_string(),
            self.replayability.reason().map(ToString::to_string).unwrap_or_default(),
        ]
    }
}

pub(in crate::api) async fn of_group_letters(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<GroupId>,
    selected: Result<Query<Selected>, QueryRejection>,
    query: Result<Query<FileQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let (Query(selected), Query(query)) = (selected?, query?);
    let store = &*api.office.store;
    let group = store.group(&id).await?.ok_or_else(|| OfficeError::NoGroup(id.clone()))?;
    let filter = selected.filter();
    let state = selected.state.map(|state| format!(", {}", state.as_str())).unwrap_or_default();
    let criteria = criteria(&filter).map(|criteria| format!(", {criteria}")).unwrap_or_default();
    let detail = format!("Letters as {}{state}{criteria}", query.form.label());
    views.record(&api, &caller, View { act: Act::LettersExported, group: &id, replay: None, detail }).await?;
    let (mut rows, mut cursor) = (Vec::new(), query.page().cursor());
    // The number of pages is limited, too: under a filter that few letters match, a page reads many of them.
    for _ in 0..ROWS_MAX / PAGE_MAX {
        let page = crate::letters::list(store, &group, selected.state, &filter, cursor.as_ref(), PAGE_MAX).await?;
        rows.extend(page.items.iter().map(LetterRow::new));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    file(&format!("letters-{id}"), &query, &rows, cursor)
}
