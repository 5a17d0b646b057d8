//! Error responses of the API: a stable code, a message for people, and the chain of causes for the log only.

use crate::error::{OfficeError, chain};
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use domain::gate::Condition;
use domain::limits::ERROR_BYTES_MAX;
use domain::text::head;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use transform::WorkerError;
use wire::{ErrorBody, ErrorCode};

/// The response of a handler.
pub(super) type Answer<T> = Result<Json<T>, ApiError>;

/// Returns the request body, or the error response if it is invalid.
pub(super) fn body<T>(request: Result<Json<Object<T>>, JsonRejection>) -> Result<T, ApiError> {
    Ok(request?.0.0)
}

/// A request body: a JSON object. A type by itself would also read its fields from an array, in their order.
pub(super) struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(PhantomData))
    }
}

struct Members<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
    type Value = Object<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

/// An error response.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// The code.
    pub code: ErrorCode,
    /// What happened, and what to do next.
    pub message: String,
    /// The unmet conditions of the gate.
    pub unmet: Vec<Condition>,
    /// Details for the log.
    pub log: Option<String>,
    /// After how many seconds a retry is worthwhile (`Retry-After`).
    pub retry_after_s: Option<u32>,
}

/// A preview takes about this long, seconds; then another one finds a place.
const PREVIEW_S: u32 = 5;

impl ApiError {
    /// Returns an error with a code and a message.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), unmet: Vec::new(), log: None, retry_after_s: None }
    }

    /// Returns the HTTP status of the code.
    pub fn status(&self) -> StatusCode {
        match self.code {
            ErrorCode::SignedOut => StatusCode::UNAUTHORIZED,
            ErrorCode::Forbidden => StatusCode::FORBIDDEN,
            ErrorCode::NotFound => StatusCode::NOT_FOUND,
            ErrorCode::Invalid => StatusCode::BAD_REQUEST,
            ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ErrorCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            ErrorCode::GateClosed | ErrorCode::Conflict => StatusCode::CONFLICT,
            ErrorCode::TooManyCalls => StatusCode::TOO_MANY_REQUESTS,
            ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(super) fn body(&self, request_id: &str) -> ErrorBody {
        ErrorBody {
            code: self.code,
            message: self.message.clone(),
            request_id: request_id.into(),
            unmet: self.unmet.clone(),
        }
    }
}

impl From<OfficeError> for ApiError {
    fn from(error: OfficeError) -> Self {
        let sentence = |text: String| {
            let mut chars = text.chars();
            let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            format!("{first}{}.", chars.as_str().trim_end_matches('.'))
        };
        let code = match &error {
            OfficeError::NoGroup(_)
            | OfficeError::NoLetter(_)
            | OfficeError::NoReplay(_)
            | OfficeError::NoTransform(_)
            | OfficeError::NoVersion => ErrorCode::NotFound,
            OfficeError::NoPlan | OfficeError::PlanChanged | OfficeError::OutOfDate | OfficeError::NotNow(_) => {
                ErrorCode::Conflict
            }
            OfficeError::GateClosed(_) => ErrorCode::GateClosed,
            OfficeError::Invalid(_) | OfficeError::Plan(_) | OfficeError::Filter(_) => ErrorCode::Invalid,
            OfficeError::Contended { .. }
            | OfficeError::OutOfTime
            | OfficeError::Queue(_)
            | OfficeError::Transform(_) => ErrorCode::Unavailable,
            OfficeError::Store(_) | OfficeError::StepRefused { .. } | OfficeError::NoAnswer { .. } => {
                ErrorCode::Internal
            }
        };
        let log = matches!(code, ErrorCode::Internal | ErrorCode::Unavailable).then(|| chain(&error));
        let message = match (&error, code) {
            (OfficeError::Queue(error), _) => sentence(error.to_string()),
            (OfficeError::Transform(error), _) => sentence(error.to_string()),
            (_, ErrorCode::Unavailable) => "Too many concurrent changes; nothing was saved. Try again.".into(),
            (_, ErrorCode::Internal) => {
                "Internal error. Reload to check whether your change was saved. If the error persists, report the request id.".into()
            }
            _ => sentence(error.to_string()),
        };
        let retry_after_s = matches!(error, OfficeError::Transform(WorkerError::Busy)).then_some(PREVIEW_S);
        let unmet = if let OfficeError::GateClosed(unmet) = error { unmet } else { Vec::new() };
        Self { code, message, unmet, log, retry_after_s }
    }
}

impl From<crate::port::StoreError> for ApiError {
    fn from(error: crate::port::StoreError) -> Self {
        OfficeError::from(error).into()
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        let code = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::TooLarge,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
            _ => ErrorCode::Invalid,
        };
        Self::new(code, format!("Invalid request body: {}.", repeated(&rejection.body_text())))
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(ErrorCode::Invalid, format!("Invalid query: {}.", repeated(&rejection.body_text())))
    }
}

/// Returns a parser's message without the long part: it repeats names of the request.
fn repeated(message: &str) -> String {
    let start = head(message, ERROR_BYTES_MAX);
    if start.len() < message.len() { format!("{start}…") } else { start.into() }
}

impl IntoResponse for ApiError {
    /// [`super::finish`] adds the request id to the body, and writes the log line.
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.body(""))).into_response();
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        response.extensions_mut().insert(self);
        response
    }
}

pub(super) async fn no_such_path() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "Not found. See /api/v1/openapi.json for all endpoints.")
}

pub(super) async fn no_such_method() -> ApiError {
    ApiError::new(ErrorCode::MethodNotAllowed, "Method not allowed here. See /api/v1/openapi.json for all endpoints.")
}
