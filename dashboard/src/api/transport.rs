//! One HTTP request: its timeout, its response, and its errors.

use super::error::ApiError;
use crate::{clock, json};
use domain::id::to_hex;
use domain::time::Timestamp;
use gloo_net::http::{Method, RequestBuilder, Response};
use js_sys::Uint8Array;
use leptos::prelude::{set_timeout_with_handle, window};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortController;
use wire::{API_ROOT, BODY_HASH_HEADER, NOW_HEADER};

/// The timeout of reads. A cold Lambda function responds within 2 s; API Gateway times out after 29 s.
const WAIT_MS: u32 = 15_000;
/// The timeout of writes: storing a plan of 100,000 letters takes a minute or more.
const WAIT_FOR_WRITE_MS: u32 = 300_000;

/// A response before it is parsed. Only parsing depends on the type, so everything else is compiled once.
pub(super) struct Reply {
    status: u16,
    pub(super) etag: Option<String>,
    /// The cursor of a file's next page.
    pub(super) next: Option<String>,
    pub(super) text: String,
}

/// Posts a request that needs no session.
pub(super) async fn exchange<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    let body = serde_json::to_string(body).ok();
    parse(&read(send(plain(Method::POST, path), body).await?).await?)
}

/// Returns a request without authorization.
pub(super) fn plain(method: Method, path: &str) -> RequestBuilder {
    RequestBuilder::new(&format!("{API_ROOT}{path}")).method(method).header("Accept", "application/json")
}

pub(super) async fn send(request: RequestBuilder, body: Option<String>) -> Result<Response, ApiError> {
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
        Some(body) => {
            let request = request.header("Content-Type", "application/json");
            let request = match hash(&body).await {
                Some(hash) => request.header(BODY_HASH_HEADER, &hash),
                None => request,
            };
            request.body(body)
        }
        None => request.build(),
    };
    let asked_at = clock::here();
    let sent = request.map_err(unreachable)?.send().await;
    if let Some(timer) = timer {
        timer.clear();
    }
    if let Some(now) = sent.as_ref().ok().and_then(office_time) {
        clock::heard(now, asked_at);
    }
    sent.map_err(|err| if timed_out.get() { ApiError::TooSlow { waited_ms } } else { unreachable(err) })
}

/// Returns the SHA-256 of a body, hex. `None` without HTTPS: then the browser offers no cryptography, and there is no
/// CloudFront that needs the hash.
async fn hash(body: &str) -> Option<String> {
    if !window().is_secure_context() {
        return None;
    }
    let subtle = window().crypto().ok()?.subtle();
    let digest = subtle.digest_with_str_and_u8_array("SHA-256", body.as_bytes()).ok()?;
    Some(to_hex(&Uint8Array::new(&JsFuture::from(digest).await.ok()?).to_vec()))
}

fn office_time(response: &Response) -> Option<Timestamp> {
    response.headers().get(NOW_HEADER)?.parse().ok().map(Timestamp::from_ms)
}

pub(super) async fn read(response: Response) -> Result<Reply, ApiError> {
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

pub(super) fn parse<T: DeserializeOwned>(reply: &Reply) -> Result<T, ApiError> {
    json::read(&reply.text).map_err(|error| ApiError::Unexpected { status: reply.status, detail: error.to_string() })
}
