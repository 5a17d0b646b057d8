//! Restricts the panel to programs on this machine and to the panel's own page.
//!
//! The panel has no sign-in, so a website must not reach it through the visitor's browser. Three checks prevent that:
//!
//! * the Host header excludes domains that were rebound to the loopback;
//! * `Sec-Fetch-Site` and `Origin` exclude posts from other sites (programs send neither header);
//! * the JSON content type, which the handlers require, excludes plain forms.

use super::refusal;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

/// The page loads only files from its own origin.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn protect(request: Request, next: Next) -> Response {
    let mut response = match refusal_reason(request.method(), request.headers()) {
        None => next.run(request).await,
        Some(message) => refusal(StatusCode::FORBIDDEN, "foreign_request", message),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // The files change with each version of the program, and the state can change at any time.
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns why a request is refused; `None` if it is allowed.
fn refusal_reason(method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text("host").unwrap_or_default();
    if !is_loopback(host) {
        return Some("The control panel accepts requests to 127.0.0.1 and localhost only.");
    }
    if *method == Method::GET || *method == Method::HEAD {
        return None;
    }
    let own_page = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => origin.strip_prefix("http://") == Some(host),
        (None, None) => true,
    };
    (!own_page).then_some("The control panel accepts changes from its own page only.")
}

fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| match host.strip_prefix(name) {
        Some("") => true,
        Some(suffix) => suffix.strip_prefix(':').is_some_and(is_port),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: Method, lines: &[(&'static str, &'static str)], passes: bool) {
        let header = |(name, value): &(&'static str, &'static str)| {
            (header::HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        let headers = lines.iter().map(header).collect();
        assert_eq!(refusal_reason(&method, &headers).is_none(), passes, "{method} {lines:?}");
    }

    #[test]
    fn only_this_machine_and_the_own_page_pass() {
        let host = ("host", "127.0.0.1:8080");
        check(Method::GET, &[host], true);
        check(Method::GET, &[("host", "localhost:1")], true);
        check(Method::GET, &[("host", "[::1]:8080")], true);
        check(Method::GET, &[("host", "127.0.0.1")], true);
        check(Method::GET, &[], false);
        check(Method::GET, &[("host", "evil.example:8080")], false);
        check(Method::GET, &[("host", "localhost.evil.example")], false);
        check(Method::GET, &[("host", "127.0.0.1:80.evil.example")], false);
        check(Method::GET, &[("host", "127.0.0.1:")], false);
        check(Method::GET, &[host, ("sec-fetch-site", "cross-site")], true);
        check(Method::POST, &[host], true);
        check(Method::POST, &[host, ("sec-fetch-site", "same-origin")], true);
        check(Method::POST, &[host, ("sec-fetch-site", "none")], true);
        check(Method::POST, &[host, ("sec-fetch-site", "same-site")], false);
        check(Method::POST, &[host, ("sec-fetch-site", "cross-site")], false);
        check(Method::POST, &[host, ("origin", "http://127.0.0.1:8080")], true);
        check(Method::POST, &[host, ("origin", "http://127.0.0.1:9090")], false);
        check(Method::POST, &[host, ("origin", "https://evil.example")], false);
        check(Method::POST, &[host, ("origin", "null")], false);
        check(Method::POST, &[("host", "evil.example")], false);
        check(Method::DELETE, &[host, ("sec-fetch-site", "cross-site")], false);
    }
}
