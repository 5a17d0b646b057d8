//! The issuer's public keys, fetched when they are needed and kept for an hour.

use super::documents::{DocumentError, Documents};
use super::token::Key;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::{Span, Timestamp};
use serde::Deserialize;
use std::collections::HashMap;
use tokio::sync::Mutex;

/// How long keys are good without a look.
const KEPT: Span = Span::from_mins(60);
/// Between two looks, whatever tokens ask for: a key nobody has must not become a flood at the issuer's door.
const LOOKS_APART: Span = Span::from_secs(60);
/// Bytes of a coordinate of P-256.
const COORDINATE_BYTES: usize = 32;

#[derive(Default)]
struct Known {
    looked_at: Option<Timestamp>,
    keys: HashMap<String, Key>,
}

/// Keys by their ids.
#[derive(Default)]
pub(super) struct Keys {
    known: Mutex<Known>,
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
    /// The key of this id. Asks the issuer when the keys are old or do not have it; while it does not answer, those
    /// that are known stay good.
    pub(super) async fn find(&self, documents: &Documents, kid: &str, now: Timestamp) -> Option<Key> {
        let mut known = self.known.lock().await;
        let age = known.looked_at.map(|at| now.since(at));
        let old = age.is_none_or(|age| age >= KEPT);
        let unknown = !known.keys.contains_key(kid) && age.is_none_or(|age| age >= LOOKS_APART);
        if old || unknown {
            known.looked_at = Some(now);
            match fetch(documents, now).await {
                Ok(keys) => known.keys = keys,
                Err(error) => {
                    tracing::error!(error = office::error::chain(&error), "the issuer's keys could not be read");
                }
            }
        }
        known.keys.get(kid).cloned()
    }
}

async fn fetch(documents: &Documents, now: Timestamp) -> Result<HashMap<String, Key>, DocumentError> {
    let discovery = documents.discovery(now).await?;
    let document: Document = documents.get(&discovery.jwks_uri).await?;
    Ok(document.keys.into_iter().filter_map(|key| Some((key.kid.clone()?, key.key()?))).collect())
}

impl WebKey {
    /// The key, if it is one for signatures that are taken here.
    fn key(&self) -> Option<Key> {
        if self.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?).ok();
        match (self.kty.as_str(), self.crv.as_deref()) {
            ("RSA", _) => Some(Key::Rsa { n: bytes(&self.n)?, e: bytes(&self.e)? }),
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(&self.x)?, bytes(&self.y)?);
                let whole = x.len() == COORDINATE_BYTES && y.len() == COORDINATE_BYTES;
                whole.then(|| Key::P256([&[4][..], &x, &y].concat()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tokens;
    use super::super::token::tests::Issuer;
    use super::*;
    use axum::{Json, Router, routing::get};
    use domain::role::Role;
    use office::api::Identify;
    use serde_json::{Value, json};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::net::TcpListener;

    const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);

    /// An issuer on this machine: its address, and how often its keys were read.
    async fn issuer(document: Value) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let looks = Arc::new(AtomicUsize::new(0));
        let (discovery, counted) = (json!({ "jwks_uri": format!("{url}/keys") }), looks.clone());
        let router =
            Router::new().route("/.well-known/openid-configuration", get(async move || Json(discovery))).route(
                "/keys",
                get(async move || {
                    counted.fetch_add(1, Ordering::SeqCst);
                    Json(document)
                }),
            );
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, looks)
    }

    fn document(signer: &Issuer) -> Value {
        let point = signer.point();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        json!({ "keys": [
            { "kid": "k0", "kty": "oct", "k": "c2VjcmV0" },
            { "kid": "k1", "kty": "EC", "crv": "P-256", "use": "sig", "x": x, "y": y },
            { "kid": "k2", "kty": "EC", "crv": "P-256", "use": "enc", "x": x, "y": y },
        ] })
    }

    fn token(signer: &Issuer, kid: &str) -> String {
        let claims = json!({ "iss": "https://issuer", "aud": "client", "exp": 1_763_600_600, "sub": "s-1",
            "cognito:username": "otto", "cognito:groups": ["operator"] });
        signer.sign(&json!({ "alg": "ES256", "kid": kid }), &claims)
    }

    #[tokio::test]
    async fn bearer_of_a_good_token_is_known_by_name_and_role() {
        let signer = Issuer::new();
        let (url, looks) = issuer(document(&signer)).await;
        let tokens = Tokens::new("https://issuer".into(), "client".into(), Some(url)).unwrap();
        for _ in 0..3 {
            let caller = tokens.who(&token(&signer, "k1"), NOW).await.unwrap();
            assert_eq!((caller.actor.as_str(), caller.role), ("otto", Role::Operator));
        }
        assert_eq!(looks.load(Ordering::SeqCst), 1, "the keys are kept");
        assert_eq!(tokens.who(&token(&signer, "k2"), NOW).await, None, "a key for something else");
        assert_eq!(tokens.who(&token(&Issuer::new(), "k1"), NOW).await, None);
    }

    #[tokio::test]
    async fn unknown_key_asks_the_issuer_once_a_minute() {
        let signer = Issuer::new();
        let (url, looks) = issuer(document(&signer)).await;
        let tokens = Tokens::new("https://issuer".into(), "client".into(), Some(url)).unwrap();
        for (second, expected) in [(0, 1), (1, 1), (59, 1), (60, 2), (61, 2), (121, 3)] {
            let now = NOW.plus(Span::from_secs(second));
            assert_eq!(tokens.who(&token(&signer, "forged"), now).await, None);
            assert_eq!(looks.load(Ordering::SeqCst), expected, "after {second} s");
        }
    }

    #[tokio::test]
    async fn issuer_that_is_away_lets_nobody_in_and_breaks_nothing() {
        let signer = Issuer::new();
        let tokens = Tokens::new("https://issuer".into(), "client".into(), Some("http://127.0.0.1:1".into())).unwrap();
        assert_eq!(tokens.who(&token(&signer, "k1"), NOW).await, None);
    }
}
