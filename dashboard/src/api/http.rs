//! Requests with the session's token: renewal, conditional reads, and files.

use super::error::ApiError;
use super::renew::{renew_after_refusal, renew_if_due};
use super::transport::{Reply, parse, plain, read, send};
use crate::session;
use dashboard_model::route::encode;
use gloo_net::http::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use wire::TOKEN_HEADER;

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
    parse(&send_body(Method::POST, path, serde_json::to_string(body).ok()).await?)
}

/// Sends a body that is JSON already, and returns the response's text.
pub(super) async fn send_text(method: Method, path: &str, body: String) -> Result<String, ApiError> {
    Ok(send_body(method, path, Some(body)).await?.text)
}

pub(super) async fn delete(path: &str) -> Result<(), ApiError> {
    read(send(request(Method::DELETE, path), None).await?).await.map(|_| ())
}

/// Deletes something, and returns what is left of it.
pub(super) async fn remove<T: DeserializeOwned>(path: &str) -> Result<T, ApiError> {
    parse(&send_body(Method::DELETE, path, None).await?)
}

type Replying = Pin<Box<dyn Future<Output = Result<Reply, ApiError>>>>;

fn send_body(method: Method, path: &str, body: Option<String>) -> Replying {
    let path = path.to_string();
    let build = move || request(method.clone(), &path);
    Box::pin(async move { read(authorized(&build, body).await?).await })
}

/// Sends a request with a token that is renewed first if it expires soon, or afterwards if the office refuses it.
async fn authorized(build: &dyn Fn() -> RequestBuilder, body: Option<String>) -> Result<Response, ApiError> {
    renew_if_due().await;
    let response = send(build(), body.clone()).await?;
    if response.status() == 401 && renew_after_refusal().await { send(build(), body).await } else { Ok(response) }
}

fn fetch(path: &str, seen: &Seen) -> Pin<Box<dyn Future<Output = Result<Option<Reply>, ApiError>>>> {
    let (path, etag) = (path.to_string(), seen.0.borrow().clone());
    let build = move || {
        let request = request(Method::GET, &path);
        if let Some(etag) = &etag { request.header("If-None-Match", etag) } else { request }
    };
    Box::pin(async move {
        let response = authorized(&build, None).await?;
        if response.status() == 304 { Ok(None) } else { read(response).await.map(Some) }
    })
}

fn request(method: Method, path: &str) -> RequestBuilder {
    let request = plain(method, path);
    match session::token() {
        Some(token) => request.header(TOKEN_HEADER, &format!("Bearer {token}")),
        None => request,
    }
}
