//! Who may use the panel: programs of this machine, and the panel's own page.
//!
//! There is no sign-in, so a page of the internet must not reach it through the visitor's browser: the Host header
//! stops names that were rebound to the loopback, `Sec-Fetch-Site` and `Origin` stop posts of other sites (programs
//! send neither), and the JSON content type that the handlers ask for stops plain forms.

use super::refusal;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;

/// Everything the page needs comes from its own origin, as files.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn protect(request: Request, next: Next) -> Response {
    let mut response = match trespass(request.method(), request.headers()) {
        None => next.run(request).await,
        Some(words) => refusal(StatusCode::FORBIDDEN, "foreign_request", words),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // The files change with the program, the state at any time.
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Why a request is refused; none when it may pass.
fn trespass(method: &Method, headers: &HeaderMap) -> Option<&'static str> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let host = text("host").unwrap_or_default();
    if !is_loopback(host) {
        return Some("The control panel answers only on this machine's own address.");
    }
    if *method == Method::GET || *method == Method::HEAD {
        return None;
    }
    let own_page = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => origin.strip_prefix("http://") == Some(host),
        (None, None) => true,
    };
    (!own_page).then_some("Only the control panel's own page may do this.")
}

fn is_loopback(host: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| match host.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
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
        assert_eq!(trespass(&method, &headers).is_none(), passes, "{method} {lines:?}");
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
