//! HTTP requests: authorization, conditional reads, timeouts and errors.

use super::error::ApiError;
use crate::json;
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

/// The timeout of reads. A cold Lambda function responds within 2 s; API Gateway times out after 29 s.
const WAIT_MS: u32 = 15_000;
/// The timeout of writes: storing a plan of 100,000 letters takes a minute or more.
const WAIT_FOR_WRITE_MS: u32 = 300_000;

/// The `ETag` of the last response, shared by clones.
#[derive(Clone, Debug, Default)]
pub struct Seen(Rc<RefCell<Option<String>>>);

impl Seen {
    /// Clears the `ETag`: the next response is complete.
    pub fn forget(&self) {
        self.0.replace(None);
    }
}

/// The result of a conditional read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The value has not changed.
    Same,
    /// The new value.
    New(T),
}

impl<T> Answer<T> {
    /// Returns the new value, if there is one.
    pub fn into_new(self) -> Option<T> {
        match self {
            Self::Same => None,
            Self::New(value) => Some(value),
        }
    }
}

/// Joins path segments, each percent-encoded.
pub(super) fn path(parts: &[&str]) -> String {
    parts.iter().map(|part| format!("/{}", encode(part))).collect()
}

pub(super) async fn get<T: DeserializeOwned>(path: &str, seen: &Seen) -> Result<Answer<T>, ApiError> {
    let Some(reply) = fetch(path, seen).await? else { return Ok(Answer::Same) };
    let value = parse(&reply)?;
    seen.0.replace(reply.etag);
    Ok(Answer::New(value))
}

/// Downloads a file, page by page.
pub(super) async fn file(path: &str) -> Result<String, ApiError> {
    let mut whole = String::new();
    let mut cursor = String::new();
    loop {
        // Without an `ETag` the server never answers 304.
        let Some(reply) = fetch(&format!("{path}{cursor}"), &Seen::default()).await? else { return Ok(whole) };
        whole.push_str(&reply.text);
        let Some(next) = reply.next else { return Ok(whole) };
        cursor = format!("&cursor={}", encode(&next));
    }
}

pub(super) async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    parse(&send_post(path, serde_json::to_string(body).ok()).await?)
}

pub(super) async fn delete(path: &str) -> Result<(), ApiError> {
    read(send(request(Method::DELETE, path), None).await?).await.map(|_| ())
}

fn send_post(path: &str, body: Option<String>) -> Pin<Box<dyn Future<Output = Result<Reply, ApiError>>>> {
    let request = request(Method::POST, path);
    Box::pin(async move { read(send(request, body).await?).await })
}

/// A response before it is parsed. Only parsing depends on the type, so everything else is compiled once.
struct Reply {
    status: u16,
    etag: Option<String>,
    /// The cursor of a file's next page.
    next: Option<String>,
    text: String,
}

fn fetch(path: &str, seen: &Seen) -> Pin<Box<dyn Future<Output = Result<Option<Reply>, ApiError>>>> {
    let mut request = request(Method::GET, path);
    if let Some(etag) = &*seen.0.borrow() {
        request = request.header("If-None-Match", etag);
    }
    Box::pin(async move {
        let response = send(request, None).await?;
        if response.status() == 304 { Ok(None) } else { read(response).await.map(Some) }
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
    let waited_ms = if body.is_some() { WAIT_FOR_WRITE_MS } else { WAIT_MS };
    let timed_out = Rc::new(Cell::new(false));
    let abort = AbortController::new().ok();
    let timer = abort.clone().and_then(|abort| {
        let timed_out = Rc::clone(&timed_out);
        let cancel = move || {
            timed_out.set(true);
            abort.abort();
        };
        set_timeout_with_handle(cancel, Duration::from_millis(waited_ms.into())).ok()
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
    sent.map_err(|err| if timed_out.get() { ApiError::TooSlow { waited_ms } } else { unreachable(err) })
}

async fn read(response: Response) -> Result<Reply, ApiError> {
    let (status, etag, ok) = (response.status(), response.headers().get("etag"), response.ok());
    let next = response.headers().get("dlo-next");
    let text = response.text().await.map_err(|err| ApiError::Unreachable { detail: err.to_string() })?;
    let reply = Reply { status, etag, next, text };
    if ok { Ok(reply) } else { Err(refusal(&reply)) }
}

fn refusal(reply: &Reply) -> ApiError {
    match parse(reply) {
        Ok(body) => ApiError::Refused { status: reply.status, body },
        Err(err) => err,
    }
}

fn parse<T: DeserializeOwned>(reply: &Reply) -> Result<T, ApiError> {
    json::read(&reply.text).map_err(|error| ApiError::Unexpected { status: reply.status, detail: error.to_string() })
}
