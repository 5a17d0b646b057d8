//! What happens around every call: request id and log line, authorisation, and the ETag that saves sending an unchanged
//! response.

use super::answer::ApiError;
use super::door::Door;
use super::packed;
use super::{Api, Caller};
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use domain::id::to_hex;
use domain::role::Permission;
use domain::time::Timestamp;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Instant;
use wire::{ErrorCode, NOW_HEADER, TOKEN_HEADER};

/// The largest response, bytes. A page has at most 200 rows and a letter at most 1 MiB, of which JSON may escape every
/// byte.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Only programs see it: the dashboard knows without asking that it has no token.
const NO_TOKEN: &str =
    "The call has no token. Sign in, and send the token in the header `Authorization: Bearer <token>`.";

/// Returns the office's time.
type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Calls the handler if the caller has the permission.
pub(super) async fn authorise(
    State((api, permission)): State<(Api, Permission)>,
    Extension(door): Extension<Arc<Door>>,
    mut request: Request,
    next: Next,
) -> Response {
    let token = token(request.headers());
    let api = match api.current().await {
        Ok(api) => api,
        Err(error) => return error.into_response(),
    };
    let caller = match token {
        Some(token) => door.admit(&api, &token).await,
        None => Err(ApiError::new(ErrorCode::SignedOut, NO_TOKEN)),
    };
    let caller = match caller {
        Ok(caller) => caller,
        Err(error) => {
            let is_signed_out = error.code == ErrorCode::SignedOut;
            let mut response = error.into_response();
            if is_signed_out {
                response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            return response;
        }
    };
    if !caller.role.may(permission) {
        tracing::warn!(actor = %caller.actor, role = caller.role.as_str(), ?permission, "a call without permission was rejected");
        let message =
            format!("Your role is {}; this needs the role {}.", caller.role.as_str(), permission.least_role().as_str());
        return ApiError::new(ErrorCode::Forbidden, message).into_response();
    }
    request.extensions_mut().insert::<Caller>(caller);
    request.extensions_mut().insert::<Api>(api);
    next.run(request).await
}

/// Returns the bearer token of a request. A proxy that signs requests for AWS puts its signature into `Authorization`, so
/// the other header comes first.
pub fn token(headers: &HeaderMap) -> Option<String> {
    let token = [TOKEN_HEADER, AUTHORIZATION.as_str()].into_iter().find_map(|name| {
        let (scheme, token) = headers.get(name)?.to_str().ok()?.split_once(' ')?;
        // RFC 9110: a scheme is the same in any case.
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    token.map(String::from)
}

/// Gives the request an id, adds it to errors, keeps responses out of caches, and writes one log line.
pub async fn finish(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id = request_id();
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let response = next.run(request).await;
    let error = response.extensions().get::<ApiError>().cloned();
    let (status, elapsed_ms) = (response.status().as_u16(), started.elapsed().as_millis() as u64);
    let log = error.as_ref().and_then(|error| error.log.as_deref()).unwrap_or_default();
    if status >= 500 {
        tracing::error!(request_id, %method, path, status, elapsed_ms, error = log, "call failed");
    } else {
        tracing::debug!(request_id, %method, path, status, elapsed_ms, "call");
    }
    let mut response = match error {
        Some(error) => {
            let (parts, _) = response.into_parts();
            let mut whole = (parts.status, Json(error.body(&request_id))).into_response();
            for name in [WWW_AUTHENTICATE, ALLOW, RETRY_AFTER] {
                if let Some(value) = parts.headers.get(&name) {
                    whole.headers_mut().insert(name, value.clone());
                }
            }
            whole
        }
        None => response,
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        headers.insert("x-request-id", id);
    }
    response
}

fn request_id() -> String {
    let mut bytes = [0; 8];
    // Without randomness the id is only less useful; no response depends on it.
    let _ = getrandom::fill(&mut bytes);
    to_hex(&bytes)
}

/// Tells the office's time in a header of each response, 304 included. Pages count ages and the time to loss by it: a
/// browser's own clock may be hours off.
pub(super) async fn tell_time(State(clock): State<Clock>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().insert(NOW_HEADER, HeaderValue::from(clock().as_ms()));
    response
}

/// Adds an ETag to responses to GET, and packs them. Responds with 304 if the caller has the same already, which keeps
/// polling cheap.
pub(super) async fn conditional(request: Request, next: Next) -> Response {
    let is_get = request.method() == Method::GET;
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let packed_is_wanted = packed::is_wanted(request.headers());
    let response = next.run(request).await;
    if !is_get || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, ANSWER_BYTES_MAX).await else {
        return ApiError::new(
            ErrorCode::TooLarge,
            "The response is too large to send. Request fewer rows with `limit`.",
        )
        .into_response();
    };
    // Weak: packed or not, it is the same answer. A handler that can send it in several forms has made the tag.
    let own = parts.headers.remove(ETAG).and_then(|tag| tag.to_str().ok().map(String::from));
    let tag = own.unwrap_or_else(|| format!("W/\"{}\"", to_hex(&Sha256::digest(&bytes)[..12])));
    if known.is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        parts.headers.remove("content-length");
        parts.headers.append(VARY, HeaderValue::from_static("accept-encoding"));
        return with_tag(Response::from_parts(parts, Body::empty()), &tag);
    }
    let bytes = packed::pack(bytes, packed_is_wanted, &mut parts.headers);
    with_tag(Response::from_parts(parts, Body::from(bytes)), &tag)
}

fn with_tag(mut response: Response, tag: &str) -> Response {
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response
}
