//! The security headers of every response, files and API alike.

use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
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
