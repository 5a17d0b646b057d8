//! The issuer's public keys, fetched on demand and cached for an hour.

use super::documents::{DocumentError, Documents};
use super::token::Key;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::{Span, Timestamp};
use serde::Deserialize;
use std::collections::HashMap;
use tokio::sync::Mutex;

/// How long cached keys are used before they are fetched again.
const CACHED_FOR: Span = Span::from_mins(60);
/// Shortest time between two fetches. Tokens with made-up key IDs must not flood the issuer with requests.
const FETCH_INTERVAL_MIN: Span = Span::from_secs(60);
/// Bytes per coordinate of a point on P-256.
const COORDINATE_BYTES: usize = 32;

#[derive(Default)]
struct Cache {
    attempted_at: Option<Timestamp>,
    keys: HashMap<String, Key>,
}

/// A cache of keys by their IDs.
#[derive(Default)]
pub(super) struct Keys {
    cache: Mutex<Cache>,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<WebKey>,
}

#[derive(Deserialize)]
struct WebKey {
    kid: Option<String>,
    kty: String,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl Keys {
    /// Returns the key with this ID. Fetches the issuer's keys if the cached ones are old or lack this ID. If the
    /// issuer does not respond, the cached keys stay in use.
    pub(super) async fn find(&self, documents: &Documents, kid: &str, now: Timestamp) -> Option<Key> {
        let mut cache = self.cache.lock().await;
        let age = cache.attempted_at.map(|at| now.since(at));
        let old = age.is_none_or(|age| age >= CACHED_FOR);
        let unknown = !cache.keys.contains_key(kid) && age.is_none_or(|age| age >= FETCH_INTERVAL_MIN);
        if old || unknown {
            // Set before the fetch, so that failed fetches keep the interval as well.
            cache.attempted_at = Some(now);
            match fetch(documents, now).await {
                Ok(keys) => cache.keys = keys,
                Err(error) => {
                    tracing::error!(error = office::error::chain(&error), "the issuer's keys could not be fetched");
                }
            }
        }
        cache.keys.get(kid).cloned()
    }
}

async fn fetch(documents: &Documents, now: Timestamp) -> Result<HashMap<String, Key>, DocumentError> {
    let document: Document = documents.keys(now).await?;
    Ok(document.keys.into_iter().filter_map(|key| Some((key.kid.clone()?, key.key()?))).collect())
}

impl WebKey {
    /// Returns the key if it is a signature key of an accepted type.
    fn key(&self) -> Option<Key> {
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Some(Key::Rsa { n: bytes(&self.n)?, e: bytes(&self.e)? }),
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&self.x)?, bytes(&self.y)?);
                let complete = x.len() == COORDINATE_BYTES && y.len() == COORDINATE_BYTES;
                complete.then(|| Key::P256([&[4][..], &x, &y].concat()))
            }
            _ => None,
        }
    }
}
