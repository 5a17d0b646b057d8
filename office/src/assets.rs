//! Serves the dashboard's embedded files: precompressed, cached by name, under a strict content security policy.

mod accept;
mod headers;
#[cfg(test)]
mod tests;

pub use headers::{secure, security_headers, tls_only};

use accept::Encoding;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

/// One file of `dashboard/dist`, as the crate `dashboard_files` embeds it.
#[derive(Debug)]
pub struct File {
    /// Its path below `dashboard/dist`.
    pub path: &'static str,
    /// Its ETag, which changes with its contents.
    pub etag: &'static str,
    /// Its bytes.
    pub raw: &'static [u8],
    /// Its bytes compressed with Brotli, if that makes them fewer.
    pub brotli: Option<&'static [u8]>,
    /// Its bytes compressed with gzip, if that makes them fewer.
    pub gzip: Option<&'static [u8]>,
}

/// The files of a dashboard, sorted by path; empty if it was not built.
pub type Files = &'static [File];

const INDEX: &str = "index.html";
/// Never a page of the dashboard: an API client must not get HTML for a mistyped path.
const API: &str = "api/";
/// For files whose name changes with their contents.
const CACHE_FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");
const NOT_BUILT: &str = "This program was built without its dashboard. Run `cargo demo`, \
    or run `cargo xtask dashboard` and build it again.\n";

/// Returns the router of everything but the API. Use it as the fallback of the whole router.
pub fn router(files: Files) -> Router {
    let answer = move |uri: Uri, headers: HeaderMap| async move { answer(files, uri.path(), &headers) };
    Router::new().fallback_service(get(answer)).layer(map_response(secure))
}

fn answer(files: Files, path: &str, headers: &HeaderMap) -> Response {
    let path = path.trim_start_matches('/');
    if let Some(file) = find(files, path) {
        return serve(file, headers);
    }
    let names_a_file = path.rsplit('/').next().is_some_and(|name| name.contains('.'));
    if names_a_file || path.starts_with(API) {
        return (StatusCode::NOT_FOUND, "File not found.\n").into_response();
    }
    // A page of the dashboard: its own router knows which.
    match find(files, INDEX) {
        Some(index) => serve(index, headers),
        None => (StatusCode::SERVICE_UNAVAILABLE, NOT_BUILT).into_response(),
    }
}

fn find(files: Files, path: &str) -> Option<&'static File> {
    let at = files.binary_search_by(|file| file.path.cmp(path)).ok()?;
    files.get(at)
}

fn serve(file: &'static File, headers: &HeaderMap) -> Response {
    let mut response =
        if unchanged(file, headers) { StatusCode::NOT_MODIFIED.into_response() } else { contents(file, headers) };
    let cache = if is_named_by_contents(file.path) { CACHE_FOREVER } else { REVALIDATE };
    let out = response.headers_mut();
    out.insert(CACHE_CONTROL, cache);
    out.insert(ETAG, HeaderValue::from_static(file.etag));
    out.insert(VARY, HeaderValue::from_static("accept-encoding"));
    response
}

fn unchanged(file: &File, headers: &HeaderMap) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    known
        .flat_map(|list| list.split(','))
        .any(|etag| matches!(etag.trim(), known if known == file.etag || known == "*"))
}

fn contents(file: &'static File, headers: &HeaderMap) -> Response {
    let accepted = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let (encoding, bytes) = match accept::best(accepted, file.brotli.is_some(), file.gzip.is_some()) {
        Encoding::Brotli => (Some("br"), file.brotli),
        Encoding::Gzip => (Some("gzip"), file.gzip),
        Encoding::Identity => (None, None),
    };
    let mut response = Body::from(Bytes::from_static(bytes.unwrap_or(file.raw))).into_response();
    let out = response.headers_mut();
    out.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(file.path)));
    if let Some(encoding) = encoding {
        out.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}

/// `name-0123456789abcdef.css`, `name-0123456789abcdef_bg.wasm`: the hash is 16 hexadecimal digits.
fn is_named_by_contents(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name).trim_end_matches("_bg");
    let hash = stem.rsplit_once('-').map_or("", |(_, hash)| hash);
    hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a caller with these `Accept-Encoding` headers accepts gzip.
pub(crate) fn accepts_gzip<'a>(values: impl IntoIterator<Item = &'a HeaderValue>) -> bool {
    let values = values.into_iter().filter_map(|value| value.to_str().ok());
    matches!(accept::best(values, false, true), Encoding::Gzip)
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
