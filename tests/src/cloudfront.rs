//! What CloudFront's origin access control does to requests for a function URL.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::id::to_hex;
use sha2::{Digest, Sha256};
use wire::BODY_HASH_HEADER;

/// The largest request body, bytes.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// Puts a signature into `Authorization`, over what the caller sent there, and refuses a body whose hash the caller did
/// not send: the signature is made from that hash, and Lambda compares it with the body. For `axum::middleware::from_fn`.
pub async fn behind(request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_BYTES_MAX).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    let hash = parts.headers.get(BODY_HASH_HEADER).and_then(|hash| hash.to_str().ok());
    let needs_hash = !bytes.is_empty() || matches!(parts.method, Method::POST | Method::PUT);
    if (needs_hash || hash.is_some()) && hash != Some(to_hex(&Sha256::digest(&bytes)).as_str()) {
        return (StatusCode::FORBIDDEN, "the request signature does not match").into_response();
    }
    parts.headers.insert(AUTHORIZATION, HeaderValue::from_static("AWS4-HMAC-SHA256 Credential=AKIA, Signature=0f"));
    next.run(Request::from_parts(parts, Body::from(bytes))).await
}
