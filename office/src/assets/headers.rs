//! The security headers of every response, files and API alike.

use axum::extract::Request;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, HOST, HeaderName, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

/// Allows only our own files, and no inline script or style. WebAssembly may be compiled; `eval` may not run.
const CSP: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";
/// The dashboard writes to the clipboard and needs no other permission of the browser.
const PERMISSIONS: &str = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()";

/// Returns the headers. A response that sets one of them keeps its own.
pub fn security_headers() -> [(HeaderName, HeaderValue); 6] {
    [
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP)),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
        (HeaderName::from_static("permissions-policy"), HeaderValue::from_static(PERMISSIONS)),
    ]
}

/// Adds the headers; for `axum::middleware::map_response(secure)` around any router.
pub async fn secure(mut response: Response) -> Response {
    for (name, value) in security_headers() {
        response.headers_mut().entry(name).or_insert(value);
    }
    response
}

/// For two years, browsers reach this host over TLS only (RFC 6797).
const TLS_ONLY: HeaderValue = HeaderValue::from_static("max-age=63072000");

/// Tells browsers to use TLS only, except on this machine, where there is none; for `axum::middleware::from_fn`.
pub async fn tls_only(request: Request, next: Next) -> Response {
    let is_here = is_loopback(request.headers());
    let mut response = next.run(request).await;
    if !is_here {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, TLS_ONLY);
    }
    response
}

fn is_loopback(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "[::1]" | "localhost") || name.ends_with(".localhost")
}
