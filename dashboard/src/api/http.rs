//! Requests: the token, conditional reads, a limit on waiting, and errors as the office words them.

use super::error::ApiError;
use crate::route::encode;
use crate::session;
use domain::wire::{API_ROOT, ErrorBody};
use gloo_net::http::{Method, RequestBuilder, Response};
use leptos::prelude::set_timeout_with_handle;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use web_sys::AbortController;

/// How long an answer may take. A Lambda function that starts cold answers in 2 s; API Gateway gives up at 29 s.
const WAIT_MS: u32 = 15_000;

/// The `ETag` of the answer that its holder has; shared by clones.
#[derive(Clone, Debug, Default)]
pub struct Seen(Rc<RefCell<Option<String>>>);

impl Seen {
    /// Forgets it: the next answer comes whole.
    pub fn forget(&self) {
        self.0.replace(None);
    }
}

/// What a conditional read gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// What the asker has is still so.
    Same,
    /// This.
    New(T),
}

impl<T> Answer<T> {
    /// The new value, if it is one.
    pub fn into_new(self) -> Option<T> {
        match self {
            Self::Same => None,
            Self::New(value) => Some(value),
        }
    }
}

/// A path from its parts, each encoded.
pub(super) fn path(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", encode(part))).collect()
}

pub(super) async fn get<T: DeserializeOwned>(path: &str, seen: &Seen) -> Result<Answer<T>, ApiError> {
    let mut request = request(Method::GET, path);
    let etag = seen.0.borrow().clone();
    if let Some(etag) = &etag {
        request = request.header("If-None-Match", etag);
    }
    let response = send(request, None::<&()>).await?;
    if response.status() == 304 {
        return Ok(Answer::Same);
    }
    let etag = response.headers().get("etag");
    let value = read(response).await?;
    seen.0.replace(etag);
    Ok(Answer::New(value))
}

pub(super) async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    read(send(request(Method::POST, path), Some(body)).await?).await
}

pub(super) async fn delete(path: &str) -> Result<(), ApiError> {
    let response = send(request(Method::DELETE, path), None::<&()>).await?;
    if response.ok() { Ok(()) } else { Err(refusal(response).await) }
}

fn request(method: Method, path: &str) -> RequestBuilder {
    let request = RequestBuilder::new(&format!("{API_ROOT}{path}")).method(method).header("Accept", "application/json");
    match session::token() {
        Some(token) => request.header("Authorization", &format!("Bearer {token}")),
        None => request,
    }
}

async fn send(request: RequestBuilder, body: Option<&impl Serialize>) -> Result<Response, ApiError> {
    let unreachable = |err: gloo_net::Error| ApiError::Unreachable { detail: err.to_string() };
    let late = Rc::new(Cell::new(false));
    let abort = AbortController::new().ok();
    let timer = abort.clone().and_then(|abort| {
        let late = Rc::clone(&late);
        let stop = move || {
            late.set(true);
            abort.abort();
        };
        set_timeout_with_handle(stop, Duration::from_millis(WAIT_MS.into())).ok()
    });
    let request = request.abort_signal(abort.as_ref().map(AbortController::signal).as_ref());
    let request = match body {
        Some(body) => request.json(body),
        None => request.build(),
    };
    let sent = request.map_err(unreachable)?.send().await;
    if let Some(timer) = timer {
        timer.clear();
    }
    sent.map_err(|err| if late.get() { ApiError::TooSlow { waited_ms: WAIT_MS } } else { unreachable(err) })
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T, ApiError> {
    if !response.ok() {
        return Err(refusal(response).await);
    }
    let status = response.status();
    let not_understood = |detail: String| ApiError::NotUnderstood { status, detail };
    let text = response.text().await.map_err(|err| ApiError::Unreachable { detail: err.to_string() })?;
    serde_json::from_str(&text).map_err(|err| not_understood(err.to_string()))
}

async fn refusal(response: Response) -> ApiError {
    let status = response.status();
    let text = response.text().await.unwrap_or_default();
    match serde_json::from_str::<ErrorBody>(&text) {
        Ok(body) => ApiError::Refused { status, body },
        Err(err) => ApiError::NotUnderstood { status, detail: err.to_string() },
    }
}
