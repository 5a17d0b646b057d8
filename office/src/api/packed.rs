//! Compresses responses: a list of 2,000 groups is 1.5 MB of JSON, and a tenth of it packed.
//!
//! Only responses to GET come here, and they hold no secret of the reader. Responses that hold one, such as a session's
//! token, are never packed: who sees the length of a packed response, and can choose text in it, can guess the rest of it
//! (BREACH). See decision 66.

use crate::assets::accepts_gzip;
use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use axum::http::{HeaderMap, HeaderValue};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Below this size packing saves no packet of the network.
const LEAST_BYTES: usize = 1024;
/// One step above the fastest that looks for repeated text lazily: 1.5 MB of rows take about 15 ms.
const LEVEL: u32 = 4;

/// Returns whether the caller accepts gzip.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    accepts_gzip(headers.get_all(ACCEPT_ENCODING))
}

/// Packs a response's bytes if that makes them fewer, and says so in its headers.
pub(super) fn pack(bytes: Bytes, is_wanted: bool, headers: &mut HeaderMap) -> Bytes {
    headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    if !is_wanted || bytes.len() < LEAST_BYTES || headers.contains_key(CONTENT_ENCODING) {
        return bytes;
    }
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::new(LEVEL));
    // Writing to memory cannot fail; if it did, the bytes are sent as they are.
    let Ok(packed) = encoder.write_all(&bytes).and_then(|()| encoder.finish()) else { return bytes };
    if packed.len() >= bytes.len() {
        return bytes;
    }
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.remove(CONTENT_LENGTH);
    Bytes::from(packed)
}
