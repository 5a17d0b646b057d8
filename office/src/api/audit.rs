//! The audit log of a group, page by page.

use super::Current;
use super::answer::Answer;
use super::pages::PageQuery;
use crate::error::OfficeError;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Json, Path, Query};
use domain::audit::AuditRecord;
use domain::id::GroupId;
use serde::Deserialize;
use wire::AuditAnswer;

/// The most pages that are read for one answer without views. If most records are views, the answer is short and has a
/// cursor.
const PAGES_MAX: usize = 20;

/// The requested records.
#[derive(Debug, Deserialize)]
pub(super) struct AuditQuery {
    views: Option<bool>,
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(super) async fn of_group(
    Current(api): Current,
    Path(id): Path<GroupId>,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Answer<AuditAnswer> {
    let Query(query) = query?;
    let store = &*api.office.store;
    if store.group(&id).await?.is_none() {
        return Err(OfficeError::NoGroup(id).into());
    }
    let with_views = query.views.unwrap_or(true);
    let page = PageQuery { cursor: query.cursor, limit: query.limit };
    let (mut items, mut cursor) = (Vec::<AuditRecord>::new(), page.cursor());
    for _ in 0..PAGES_MAX {
        // Never more than are still missing: the cursor is that of the last record read.
        let read = store.audit(&id, cursor.as_ref(), page.limit() - items.len()).await?;
        cursor = read.next;
        items.extend(read.items.into_iter().filter(|record| with_views || !record.act.is_view()));
        if cursor.is_none() || items.len() >= page.limit() {
            break;
        }
    }
    Ok(Json(AuditAnswer { records: items, next: cursor.map(|cursor| cursor.0) }))
}
