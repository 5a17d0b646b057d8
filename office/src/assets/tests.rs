//! The responses to a browser's requests.

use super::{File, is_named_by_contents, router};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use tower::ServiceExt;

static BUILT: &[File] = &[
    File { path: "app-0123456789abcdef.css", etag: "W/\"c\"", raw: b"p{}", brotli: None, gzip: None },
    File {
        path: "app-0123456789abcdef_bg.wasm",
        etag: "W/\"w\"",
        raw: b"raw wasm",
        brotli: Some(b"br wasm"),
        gzip: Some(b"gz wasm"),
    },
    File { path: "index.html", etag: "W/\"i\"", raw: b"<main>", brotli: None, gzip: None },
];
static NOT_BUILT: &[File] = &[];

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

async fn ask(router: Router, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    Answer { status: parts.status, headers: parts.headers, body: String::from_utf8_lossy(&body).into_owned() }
}

#[tokio::test]
async fn each_path_has_its_response() {
    for (path, status, body) in [
        ("/", 200, "<main>"),
        ("/index.html", 200, "<main>"),
        ("/groups/7f2a?tab=letters", 200, "<main>"),
        ("/app-0123456789abcdef.css", 200, "p{}"),
        ("/app-0000000000000000.css", 404, "File not found.\n"),
        ("/groups/favicon.ico", 404, "File not found.\n"),
        ("/api/v1/nothing", 404, "File not found.\n"),
        ("/../../etc/passwd", 200, "<main>"),
        ("/%2e%2e/secret.txt", 404, "File not found.\n"),
    ] {
        let answer = ask(router(BUILT), "GET", path, &[]).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (status, body), "{path}");
    }
}

#[tokio::test]
async fn the_client_gets_the_smallest_form_it_can_read() {
    for (accepts, encoding, body) in
        [("gzip, br", "br", "br wasm"), ("gzip", "gzip", "gz wasm"), ("identity", "", "raw wasm")]
    {
        let wasm = "/app-0123456789abcdef_bg.wasm";
        let answer = ask(router(BUILT), "GET", wasm, &[("accept-encoding", accepts)]).await;
        assert_eq!((answer.header("content-encoding"), answer.body.as_str()), (encoding, body), "{accepts}");
        assert_eq!(answer.header("content-type"), "application/wasm");
        assert_eq!(answer.header("vary"), "accept-encoding");
    }
}

#[tokio::test]
async fn hashed_files_are_cached_forever_and_pages_are_revalidated() {
    for (path, cache) in [
        ("/app-0123456789abcdef.css", "public, max-age=31536000, immutable"),
        ("/", "no-cache"),
        ("/groups", "no-cache"),
    ] {
        assert_eq!(ask(router(BUILT), "GET", path, &[]).await.header("cache-control"), cache, "{path}");
    }
}

#[tokio::test]
async fn a_known_version_is_not_sent_again() {
    for (known, status) in [("W/\"i\"", 304), ("W/\"x\", W/\"i\"", 304), ("*", 304), ("W/\"x\"", 200), ("\"i\"", 200)] {
        let answer = ask(router(BUILT), "GET", "/", &[("if-none-match", known)]).await;
        assert_eq!(answer.status.as_u16(), status, "{known}");
        assert_eq!(answer.body.is_empty(), status == 304, "{known}");
        assert_eq!(answer.header("etag"), "W/\"i\"");
    }
}

#[tokio::test]
async fn only_reading_is_allowed() {
    let head = ask(router(BUILT), "HEAD", "/", &[]).await;
    assert_eq!((head.status, head.body.as_str()), (StatusCode::OK, ""));
    assert_eq!(head.header("content-length"), "6");
    for method in ["POST", "PUT", "DELETE"] {
        let answer = ask(router(BUILT), method, "/", &[]).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
}

#[tokio::test]
async fn every_answer_carries_the_security_headers() {
    for path in ["/", "/app-0123456789abcdef.css", "/nothing.js"] {
        let answer = ask(router(BUILT), "GET", path, &[]).await;
        let csp = answer.header("content-security-policy");
        assert!(
            csp.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';"),
            "{csp}"
        );
        assert!(!csp.contains("unsafe-inline") && !csp.contains("  "), "{csp}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
    }
}

#[tokio::test]
async fn without_a_dashboard_one_sentence_says_how_to_build_it() {
    let answer = ask(router(NOT_BUILT), "GET", "/", &[]).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.body.contains("`cargo demo`") && answer.body.contains("`cargo xtask dashboard`"));
}

#[test]
fn names_with_a_hash_are_recognised() {
    for (path, hashed) in [
        ("app-0123456789abcdef.css", true),
        ("dlo-dashboard-0123456789abcdef_bg.wasm", true),
        ("snippets/x-0123456789abcdef/inline0.js", false),
        ("app-0123456789abcdeg.css", false),
        ("app-0123.css", false),
        ("index.html", false),
    ] {
        assert_eq!(is_named_by_contents(path), hashed, "{path}");
    }
}
