//! Requests: the token, conditional reads, a limit on waiting, and errors as the office words them.

use super::error::ApiError;
use super::json;
use crate::session;
use dashboard_model::route::encode;
use gloo_net::http::{Method, RequestBuilder, Response};
use leptos::prelude::set_timeout_with_handle;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use web_sys::AbortController;
use wire::API_ROOT;

/// How long an answer may take. A Lambda function that starts cold answers in 2 s; API Gateway gives up at 29 s.
const WAIT_MS: u32 = 15_000;
/// The same for what changes something: a plan of 100,000 letters is written for a minute or more.
const WAIT_FOR_CHANGE_MS: u32 = 300_000;

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
    let Some(told) = fetch(path, seen).await? else { return Ok(Answer::Same) };
    let value = understood(&told)?;
    seen.0.replace(told.etag);
    Ok(Answer::New(value))
}

/// A file, put together from as many answers as it takes.
pub(super) async fn file(path: &str) -> Result<String, ApiError> {
    let mut whole = String::new();
    let mut cursor = String::new();
    loop {
        // Nothing was seen before, so something is always told.
        let Some(told) = fetch(&format!("{path}{cursor}"), &Seen::default()).await? else { return Ok(whole) };
        whole.push_str(&told.text);
        let Some(next) = told.next else { return Ok(whole) };
        cursor = format!("&cursor={}", encode(&next));
    }
}

pub(super) async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    understood(&deliver(path, serde_json::to_string(body).ok()).await?)
}

pub(super) async fn delete(path: &str) -> Result<(), ApiError> {
    told(send(request(Method::DELETE, path), None).await?).await.map(|_| ())
}

fn deliver(path: &str, body: Option<String>) -> Pin<Box<dyn Future<Output = Result<Told, ApiError>>>> {
    let request = request(Method::POST, path);
    Box::pin(async move { told(send(request, body).await?).await })
}

/// What was answered, not yet read. Everything but the reading is compiled once.
struct Told {
    status: u16,
    etag: Option<String>,
    /// Where a file goes on.
    next: Option<String>,
    text: String,
}

fn fetch(path: &str, seen: &Seen) -> Pin<Box<dyn Future<Output = Result<Option<Told>, ApiError>>>> {
    let mut request = request(Method::GET, path);
    if let Some(etag) = &*seen.0.borrow() {
        request = request.header("If-None-Match", etag);
    }
    Box::pin(async move {
        let response = send(request, None).await?;
        if response.status() == 304 { Ok(None) } else { told(response).await.map(Some) }
    })
}

fn request(method: Method, path: &str) -> RequestBuilder {
    let request = RequestBuilder::new(&format!("{API_ROOT}{path}")).method(method).header("Accept", "application/json");
    match session::token() {
        Some(token) => request.header("Authorization", &format!("Bearer {token}")),
        None => request,
    }
}

async fn send(request: RequestBuilder, body: Option<String>) -> Result<Response, ApiError> {
    let unreachable = |err: gloo_net::Error| ApiError::Unreachable { detail: err.to_string() };
    let waited_ms = if body.is_some() { WAIT_FOR_CHANGE_MS } else { WAIT_MS };
    let late = Rc::new(Cell::new(false));
    let abort = AbortController::new().ok();
    let timer = abort.clone().and_then(|abort| {
        let late = Rc::clone(&late);
        let stop = move || {
            late.set(true);
            abort.abort();
        };
        set_timeout_with_handle(stop, Duration::from_millis(waited_ms.into())).ok()
    });
    let request = request.abort_signal(abort.as_ref().map(AbortController::signal).as_ref());
    let request = match body {
        Some(body) => request.header("Content-Type", "application/json").body(body),
        None => request.build(),
    };
    let sent = request.map_err(unreachable)?.send().await;
    if let Some(timer) = timer {
        timer.clear();
    }
    sent.map_err(|err| if late.get() { ApiError::TooSlow { waited_ms } } else { unreachable(err) })
}

async fn told(response: Response) -> Result<Told, ApiError> {
    let (status, etag, ok) = (response.status(), response.headers().get("etag"), response.ok());
    let next = response.headers().get("dlo-next");
    let text = response.text().await.map_err(|err| ApiError::Unreachable { detail: err.to_string() })?;
    let told = Told { status, etag, next, text };
    if ok { Ok(told) } else { Err(refusal(&told)) }
}

fn refusal(told: &Told) -> ApiError {
    match understood(told) {
        Ok(body) => ApiError::Refused { status: told.status, body },
        Err(err) => err,
    }
}

fn understood<T: DeserializeOwned>(told: &Told) -> Result<T, ApiError> {
    json::read(&told.text).map_err(|wrong| ApiError::NotUnderstood { status: told.status, detail: wrong.to_string() })
}
