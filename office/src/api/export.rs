//! Files: the audit log of a group, its letters, and the outcome of every letter of a replay, as JSON lines or CSV.
//!
//! A response has at most [`ROWS_MAX`] rows; the header `dlo-next` is the cursor of the next response. Who saved a file
//! is in the audit log.

mod letters;

pub(super) use letters::of_group_letters;

use super::answer::ApiError;
use super::cell::harmless;
use super::pages::PageQuery;
use super::replays::rows_of;
use super::views::{View, Views};
use super::{Caller, Current};
use crate::audit::moment;
use crate::error::OfficeError;
use crate::names::json_name;
use crate::port::Cursor;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use domain::audit::{Act, AuditRecord};
use domain::id::{GroupId, ReplayId};
use domain::limits::PAGE_MAX;
use domain::replay::{Confirmation, Outcome};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wire::{EntryRow, ErrorCode};

/// The most rows of a response. A function's response has at most 6 MB, and a row with long reasons nearly 3 KB.
const ROWS_MAX: usize = 2_000;
/// The cursor of the next response; missing from the last.
const NEXT: HeaderName = HeaderName::from_static("dlo-next");

/// The format of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileFormat {
    /// One JSON value per line, with every field, for programs.
    #[default]
    Jsonl,
    /// Comma-separated values (RFC 4180), for spreadsheets.
    Csv,
}

impl FileFormat {
    /// Returns the format in words.
    fn label(self) -> &'static str {
        match self {
            Self::Jsonl => "JSON Lines",
            Self::Csv => "CSV",
        }
    }
}

/// The requested file.
#[derive(Debug, Deserialize)]
pub(super) struct FileQuery {
    #[serde(default)]
    form: FileFormat,
    cursor: Option<String>,
}

/// A row of a file.
trait Row: Serialize {
    const COLUMNS: &'static [&'static str];
    fn cells(&self) -> Vec<String>;
}

impl Row for AuditRecord {
    const COLUMNS: &'static [&'static str] = &["at", "actor", "act", "group", "replay", "detail", "reason"];

    fn cells(&self) -> Vec<String> {
        vec![
            moment(self.at),
            self.actor.to_string(),
            json_name(&self.act),
            self.group.to_string(),
            self.replay.as_ref().map(ToString::to_string).unwrap_or_default(),
            self.detail.clone(),
            self.reason.clone().unwrap_or_default(),
        ]
    }
}

impl Row for EntryRow {
    const COLUMNS: &'static [&'static str] = &[
        "replay",
        "seq",
        "wave",
        "letter",
        "message_type",
        "amount",
        "currency",
        "outcome",
        "at",
        "sends",
        "detail",
        "changed_by",
    ];

    fn cells(&self) -> Vec<String> {
        let entry = &self.entry;
        let (at, detail) = match &entry.outcome {
            Outcome::Pending => (None, String::new()),
            Outcome::Sending { since } => (Some(*since), String::new()),
            Outcome::InFlight { sent_at, message_id } => (Some(*sent_at), message_id.to_string()),
            Outcome::Expired { at } => (Some(*at), String::new()),
            Outcome::Delivered { at, confirmed } => {
                let by = |by: &Confirmation| format!("confirmed by {} {}", by.consumer, by.version);
                (Some(*at), confirmed.as_ref().map_or_else(|| "window passed without a return".into(), by))
            }
            Outcome::Returned { at, cause, group, title } => {
                (Some(*at), format!("{}: {title} ({group})", json_name(cause)))
            }
            Outcome::Skipped { reason, detail } => {
                let words = detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
                (None, format!("{}{words}", json_name(reason)))
            }
        };
        let money = self.impact.as_ref().and_then(|impact| impact.money.as_ref());
        vec![
            entry.replay.to_string(),
            entry.seq.to_string(),
            // From 1, as people count.
            (entry.wave + 1).to_string(),
            entry.letter.to_string(),
            self.message_type.clone().unwrap_or_default(),
            money.map(|money| money.amount.to_string()).unwrap_or_default(),
            money.map(|money| money.currency.to_string()).unwrap_or_default(),
            entry.outcome.kind().as_str().to_string(),
            at.map(moment).unwrap_or_default(),
            entry.sends.to_string(),
            detail,
            entry.changed_by.as_ref().map(|by| format!("v{} {}", by.version, by.body_hash)).unwrap_or_default(),
        ]
    }
}

pub(super) async fn of_group(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<GroupId>,
    query: Result<Query<FileQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query?;
    let store = &api.office.store;
    if store.group(&id).await?.is_none() {
        return Err(OfficeError::NoGroup(id).into());
    }
    let detail = format!("Group history as {}", query.form.label());
    views.record(&api, &caller, View { act: Act::HistoryExported, group: &id, replay: None, detail }).await?;
    let (mut rows, mut cursor) = (Vec::new(), query.page().cursor());
    while rows.len() < ROWS_MAX {
        let page = store.audit(&id, cursor.as_ref(), PAGE_MAX).await?;
        rows.extend(page.items);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    file(&format!("group-{id}"), &query, &rows, cursor)
}

pub(super) async fn of_replay(
    Current(api): Current,
    Extension(caller): Extension<Caller>,
    Extension(views): Extension<Arc<Views>>,
    Path(id): Path<ReplayId>,
    query: Result<Query<FileQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let Query(query) = query?;
    let store = &api.office.store;
    let replay = store.replay(&id).await?.ok_or_else(|| OfficeError::NoReplay(id.clone()))?;
    let detail = format!("Replay history as {}", query.form.label());
    let view = View { act: Act::HistoryExported, group: replay.group(), replay: Some(&id), detail };
    views.record(&api, &caller, view).await?;
    let (mut rows, mut cursor) = (Vec::new(), query.page().cursor());
    while rows.len() < ROWS_MAX {
        let page = store.entries(&id, None, None, cursor.as_ref(), PAGE_MAX).await?;
        rows.extend(rows_of(&api.office, page.items).await?);
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    file(&format!("replay-{id}"), &query, &rows, cursor)
}

impl FileQuery {
    fn page(&self) -> PageQuery {
        PageQuery { cursor: self.cursor.clone(), limit: None }
    }
}

fn file<R: Row>(name: &str, query: &FileQuery, rows: &[R], next: Option<Cursor>) -> Result<Response, ApiError> {
    let unwritten = |error: String| ApiError {
        log: Some(error),
        ..ApiError::new(ErrorCode::Internal, "The file could not be created. Try again.")
    };
    let (bytes, kind, ending) = match query.form {
        FileFormat::Jsonl => {
            (lines(rows).map_err(|error| unwritten(error.to_string()))?, "application/x-ndjson", "jsonl")
        }
        FileFormat::Csv => {
            let first = query.cursor.is_none();
            (table(rows, first).map_err(|error| unwritten(error.to_string()))?, "text/csv; charset=utf-8", "csv")
        }
    };
    let mut response = ([(CONTENT_TYPE, kind)], bytes).into_response();
    let headers = response.headers_mut();
    // Ids and cursors consist of letters, digits and dots, so they are valid header values.
    if let Ok(name) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.{ending}\"")) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    if let Some(next) = next.and_then(|next| HeaderValue::from_str(&next.0).ok()) {
        headers.insert(NEXT, next);
    }
    Ok(response)
}

fn lines<R: Row>(rows: &[R]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut bytes, row)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Writes rows as CSV. Only the first response has a header row, so that responses can be concatenated.
fn table<R: Row>(rows: &[R], first: bool) -> Result<Vec<u8>, csv::Error> {
    let mut table = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    if first {
        table.write_record(R::COLUMNS)?;
    }
    for row in rows {
        table.write_record(row.cells().iter().map(|cell| harmless(cell)))?;
    }
    table.into_inner().map_err(|error| csv::Error::from(error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::audit::Act;
    use domain::id::Actor;

    fn record(detail: &str) -> AuditRecord {
        AuditRecord {
            at: domain::time::Timestamp::from_ms(1_800_000_000_123),
            actor: Actor::from("otto"),
            act: Act::ReplayPaused,
            group: GroupId::from("g"),
            replay: None,
            detail: detail.into(),
            reason: Some("said \"stop\",\nand meant it".into()),
        }
    }

    #[test]
    fn a_table_has_one_header_and_no_formula() {
        let text = |first| String::from_utf8(table(&[record("=cmd|' /C calc'!A0")], first).unwrap()).unwrap();
        let row = "2027-01-15T08:00:00.123Z,otto,replay_paused,g,,'=cmd|' /C calc'!A0,\"said \"\"stop\"\",\nand meant it\"\r\n";
        assert_eq!(text(true), format!("at,actor,act,group,replay,detail,reason\r\n{row}"));
        assert_eq!(text(false), row);
    }

    #[test]
    fn each_line_is_one_record() {
        let bytes = lines(&[record("a\nb"), record("c")]).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let records: Vec<AuditRecord> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(records, [record("a\nb"), record("c")]);
    }
}
