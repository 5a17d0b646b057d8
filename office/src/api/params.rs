//! Checks the parameters of every call against the table of endpoints, before its handler runs.
//!
//! What the table says is what the OpenAPI document says. A parameter that the table does not name, a second value, and
//! a value out of range are errors, so that no caller mistakes another page or another filter for the requested one.

use super::answer::ApiError;
use crate::port::{Listed, is_of_id};
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, Query as Parsed, RawPathParams, Request, State};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::limits::ID_CHARS_MAX;
use domain::text::head;
use serde_json::{Value, json};
use wire::ErrorCode;

/// A query parameter.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Its name.
    pub name: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
    /// The values that it may have.
    pub values: ParamValues,
}

/// The values that a query parameter may have.
#[derive(Clone, Copy, Debug)]
pub enum ParamValues {
    /// A whole number in a range.
    Number {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
        /// The value if the parameter is missing.
        default: Option<i64>,
    },
    /// One of these words.
    Word(fn() -> Vec<&'static str>),
    /// Any text up to a length.
    Text {
        /// The most characters.
        chars_max: usize,
    },
    /// A cursor of this list.
    Cursor(Listed),
}

/// The longest part of a parameter's name that an error repeats, bytes.
const NAME_BYTES_MAX: usize = 40;

/// Calls the handler if the parameters are those of the endpoint, within their ranges.
pub(super) async fn check(State(allowed): State<&'static [Query]>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match ids(&mut parts).await.and_then(|()| query(&parts.uri, allowed)) {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(error) => error.into_response(),
    }
}

/// Returns the schema of an id in a path.
pub(super) fn id_schema() -> Value {
    json!({ "type": "string", "pattern": format!("^[A-Za-z0-9_-]{{1,{ID_CHARS_MAX}}}$") })
}

/// Checks the ids in the path. Nothing has an id of another form, so such an id is not found. The error does not repeat
/// it: it may be long.
async fn ids(parts: &mut Parts) -> Result<(), ApiError> {
    let not_found = |what: &str| ApiError::new(ErrorCode::NotFound, format!("There is no {what} with this id."));
    match RawPathParams::from_request_parts(parts, &()).await {
        Ok(found) => {
            let is_id = |id: &str| (1..=ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(is_of_id);
            found.iter().find(|(_, id)| !is_id(id)).map_or(Ok(()), |(name, _)| Err(not_found(name)))
        }
        Err(RawPathParamsRejection::MissingPathParams(_)) => Ok(()),
        Err(_) => Err(not_found("resource")),
    }
}

fn query(uri: &Uri, allowed: &[Query]) -> Result<(), ApiError> {
    let Parsed(given) = Parsed::<Vec<(String, String)>>::try_from_uri(uri)?;
    let invalid = |message: String| ApiError::new(ErrorCode::Invalid, message);
    for (at, (name, value)) in given.iter().enumerate() {
        let Some(parameter) = allowed.iter().find(|parameter| parameter.name == name) else {
            return Err(invalid(unknown(name, allowed)));
        };
        if given[..at].iter().any(|(before, _)| before == name) {
            return Err(invalid(format!("The parameter `{name}` is given twice. Give it once.")));
        }
        if let Some(expected) = parameter.values.unmet(value) {
            return Err(invalid(format!("The parameter `{name}` must be {expected}.")));
        }
    }
    Ok(())
}

fn unknown(name: &str, allowed: &[Query]) -> String {
    let name: String = head(name, NAME_BYTES_MAX).chars().filter(|c| !c.is_control()).collect();
    let names: Vec<_> = allowed.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
    if names.is_empty() {
        return format!("Unknown parameter `{name}`. This endpoint has no query parameters.");
    }
    format!("Unknown parameter `{name}`. This endpoint has {}.", names.join(", "))
}

impl ParamValues {
    /// Returns what a value must be if it is not one of these.
    fn unmet(&self, value: &str) -> Option<String> {
        let (fits, expected) = match self {
            Self::Number { min, max, .. } => {
                let plain = value.strip_prefix('-').unwrap_or(value).bytes().all(|byte| byte.is_ascii_digit());
                let number = value.parse::<i64>().ok().filter(|_| plain);
                (number.is_some_and(|n| (*min..=*max).contains(&n)), format!("a whole number from {min} to {max}"))
            }
            Self::Word(words) => {
                let words = words();
                (words.contains(&value), format!("one of {}", words.join(", ")))
            }
            Self::Text { chars_max } => {
                (value.chars().count() <= *chars_max, format!("a text of at most {chars_max} characters"))
            }
            Self::Cursor(list) => (
                list.accepts(value),
                "the cursor of the previous page, unchanged; leave it out for the first page".to_string(),
            ),
        };
        (!fits).then_some(expected)
    }

    /// Returns the values as a JSON schema.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Number { min, max, default } => {
                let mut schema = json!({ "type": "integer", "minimum": min, "maximum": max });
                if let Some(default) = default {
                    schema["default"] = json!(default);
                }
                schema
            }
            Self::Word(words) => json!({ "type": "string", "enum": words() }),
            Self::Text { chars_max } => json!({ "type": "string", "maxLength": chars_max }),
            Self::Cursor(list) => json!({ "type": "string", "pattern": list.pattern() }),
        }
    }
}
