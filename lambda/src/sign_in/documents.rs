//! The issuer's OIDC documents: discovery, key set, and the exchange of codes for tokens.

use super::exchanges::{EXCHANGES_MAX, Exchanges, Grant};
use domain::time::{Span, Timestamp};
use reqwest::{Client, Url, redirect};
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long the cached discovery document is used before it is fetched again.
const CACHED_FOR: Span = Span::from_mins(60);
/// Shortest time between two attempts after a failure. An unreachable issuer must not delay every request.
const RETRY_INTERVAL_MIN: Span = Span::from_secs(10);
/// Time limit of one request to the issuer.
pub(super) const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);
/// Longest accepted document, in bytes.
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// A document of the issuer could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The HTTP client could not be built.
    #[error("the HTTP client for the issuer could not be built")]
    Client(#[source] reqwest::Error),
    /// The issuer did not respond, or responded with an error.
    #[error("the issuer's document {url} could not be fetched")]
    Response {
        /// The document's URL.
        url: String,
        /// The error.
        #[source]
        source: reqwest::Error,
    },
    /// The last attempt failed less than 10 s ago.
    #[error("the issuer's document {url} could not be fetched less than 10 s ago; try again shortly")]
    RecentlyUnreachable {
        /// The document's URL.
        url: String,
    },
    /// The document would not be fetched over TLS.
    #[error("the issuer's document {url} must have an https URL. Check IssuerUrl and DiscoveryUrl")]
    Insecure {
        /// The document's URL.
        url: String,
    },
    /// As many exchanges as allowed wait for the issuer.
    #[error("{EXCHANGES_MAX} exchanges with the issuer are under way")]
    TooManyExchanges,
    /// The document is too large.
    #[error("the issuer's document {url} is larger than {DOCUMENT_BYTES_MAX} bytes")]
    TooLarge {
        /// The document's URL.
        url: String,
    },
    /// The discovery document describes another issuer.
    #[error("{url} describes the issuer {found}, but the office expects {expected}. Check IssuerUrl")]
    OtherIssuer {
        /// The document's URL.
        url: String,
        /// The issuer that the document names.
        found: String,
        /// The issuer of the office.
        expected: String,
    },
    /// The document is not as OIDC defines it, or names an unsafe URL.
    #[error("{url} is not a valid OIDC document")]
    Invalid {
        /// The document's URL.
        url: String,
    },
}

/// The issuer's discovery document.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Discovery {
    issuer: String,
    jwks_uri: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
}

/// The issuer's response to the exchange of a code.
#[derive(Deserialize)]
pub(super) struct Exchange {
    pub(super) id_token: Option<String>,
    pub(super) refresh_token: Option<String>,
    pub(super) error: Option<String>,
    pub(super) error_description: Option<String>,
}

#[derive(Default)]
struct Cache {
    attempted_at: Option<Timestamp>,
    discovery: Option<Discovery>,
}

/// Fetches the documents of one issuer.
pub(super) struct Documents {
    client: Client,
    issuer: String,
    well_known: Url,
    cache: Mutex<Cache>,
    exchanges: Exchanges,
}

impl Documents {
    /// Creates a client for an issuer whose documents have this base URL.
    pub(super) fn new(issuer: &str, base_url: &str) -> Result<Self, DocumentError> {
        crate::connect::provide_tls();
        let client = Client::builder().timeout(REQUEST_TIME_MAX).redirect(redirect::Policy::none()).build();
        let url = format!("{}/.well-known/openid-configuration", base_url.trim_end_matches('/'));
        let well_known = safe(&url).ok_or(DocumentError::Insecure { url })?;
        let client = client.map_err(DocumentError::Client)?;
        Ok(Self { client, issuer: issuer.into(), well_known, cache: Mutex::default(), exchanges: Exchanges::default() })
    }

    /// Returns the discovery document. If the issuer does not respond, returns the cached one.
    pub(super) async fn discovery(&self, now: Timestamp) -> Result<Discovery, DocumentError> {
        let mut cache = self.cache.lock().await;
        let age = cache.attempted_at.map(|at| now.since(at));
        let valid_for = if cache.discovery.is_some() { CACHED_FOR } else { RETRY_INTERVAL_MIN };
        let mut failed = None;
        if age.is_none_or(|age| age >= valid_for) {
            cache.attempted_at = Some(now);
            match self.described().await {
                Ok(discovery) => cache.discovery = Some(discovery),
                Err(error) => {
                    tracing::error!(
                        error = office::error::chain(&error),
                        "the issuer's discovery document could not be fetched"
                    );
                    failed = Some(error);
                }
            }
        }
        let unreachable =
            || failed.unwrap_or_else(|| DocumentError::RecentlyUnreachable { url: self.well_known.to_string() });
        cache.discovery.clone().ok_or_else(unreachable)
    }

    /// Fetches the discovery document, which must be the issuer's own (OpenID Connect Discovery, section 4.3).
    async fn described(&self) -> Result<Discovery, DocumentError> {
        let discovery: Discovery = self.get(self.well_known.clone()).await?;
        if discovery.issuer != self.issuer {
            let (found, expected) = (discovery.issuer, self.issuer.clone());
            return Err(DocumentError::OtherIssuer { url: self.well_known.to_string(), found, expected });
        }
        Ok(discovery)
    }

    /// Fetches the issuer's keys.
    pub(super) async fn keys<T: serde::de::DeserializeOwned>(&self, now: Timestamp) -> Result<T, DocumentError> {
        let url = self.discovery(now).await?.jwks_uri;
        self.get(safe(&url).ok_or(DocumentError::Insecure { url })?).await
    }

    /// Returns the URL of the issuer's sign-in page, with the parameters that every sign-in has in common.
    pub(super) async fn sign_in_url(
        &self,
        client_id: &str,
        scope: &str,
        now: Timestamp,
    ) -> Result<String, DocumentError> {
        let invalid = || DocumentError::Invalid { url: self.well_known.to_string() };
        let endpoint = self.discovery(now).await?.authorization_endpoint;
        let mut url = endpoint.as_deref().and_then(safe).ok_or_else(invalid)?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("scope", scope)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// Exchanges a code or a refresh token. Returns the issuer's tokens, or its error. Fails at once if
    /// [`EXCHANGES_MAX`] are under way.
    pub(super) async fn exchange(
        &self,
        grant: Grant,
        form: &[(&str, &str)],
        now: Timestamp,
    ) -> Result<Exchange, DocumentError> {
        let _place = self.exchanges.place(grant).ok_or(DocumentError::TooManyExchanges)?;
        let invalid = || DocumentError::Invalid { url: self.well_known.to_string() };
        let endpoint = self.discovery(now).await?.token_endpoint;
        let url = endpoint.as_deref().and_then(safe).ok_or_else(invalid)?;
        let body =
            Url::parse_with_params("form:/", form).map_err(|_| invalid())?.query().unwrap_or_default().to_owned();
        let request =
            self.client.post(url.clone()).header("content-type", "application/x-www-form-urlencoded").body(body);
        let response = request.send().await;
        // The issuer rejects a code with status 400, and explains it in the body.
        let response = response.and_then(|response| match response.status().as_u16() {
            400 | 401 => Ok(response),
            _ => response.error_for_status(),
        });
        self.document(url.as_str(), response).await
    }

    async fn get<T: serde::de::DeserializeOwned>(&self, url: Url) -> Result<T, DocumentError> {
        let response = self.client.get(url.clone()).send().await.and_then(reqwest::Response::error_for_status);
        self.document(url.as_str(), response).await
    }

    async fn document<T: serde::de::DeserializeOwned>(
        &self,
        url: &str,
        response: Result<reqwest::Response, reqwest::Error>,
    ) -> Result<T, DocumentError> {
        let failed = |source: reqwest::Error| DocumentError::Response { url: url.into(), source: source.without_url() };
        let mut response = response.map_err(failed)?;
        let mut bytes = Vec::new();
        // Counted while reading: the length that a response states may be missing or wrong.
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if bytes.len() + chunk.len() > DOCUMENT_BYTES_MAX {
                return Err(DocumentError::TooLarge { url: url.into() });
            }
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).map_err(|_| DocumentError::Invalid { url: url.into() })
    }
}

/// Returns the URL if codes, tokens and keys may travel to and from it: over TLS, or on this machine.
fn safe(url: &str) -> Option<Url> {
    let url: Url = url.parse().ok()?;
    let is_safe = match url.scheme() {
        "https" => url.has_host(),
        "http" => matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "[::1]")),
        _ => false,
    };
    is_safe.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_763_600_000_000);
    const ISSUER: &str = "https://issuer";

    fn documents(authorize: &str, token: &str) -> Documents {
        let discovery = Discovery {
            issuer: ISSUER.into(),
            jwks_uri: String::new(),
            authorization_endpoint: Some(authorize.into()),
            token_endpoint: Some(token.into()),
        };
        let cache = Cache { attempted_at: Some(NOW), discovery: Some(discovery) };
        Documents { cache: Mutex::new(cache), ..Documents::new(ISSUER, "http://127.0.0.1:1").unwrap() }
    }

    #[tokio::test]
    async fn sign_in_and_exchange_require_tls() {
        let code = [("code", "k1")];
        for (url, is_safe) in [
            ("https://people.example:8443/oauth2", true),
            ("http://127.0.0.1:1/oauth2", true),
            ("http://localhost:1/oauth2", true),
            ("http://people.example/oauth2", false),
            ("http://127.0.0.1.people.example/oauth2", false),
            ("javascript:alert(1)", false),
            ("", false),
        ] {
            let documents = documents(url, url);
            assert_eq!(documents.sign_in_url("client", "openid", NOW).await.is_ok(), is_safe, "{url}");
            if !is_safe {
                let rejected = documents.exchange(Grant::Code, &code, NOW).await;
                assert!(matches!(rejected, Err(DocumentError::Invalid { .. })), "{url}");
            }
        }
    }

    #[tokio::test]
    async fn exchanges_above_the_limit_are_refused_at_once_and_codes_take_no_place_of_renewals() {
        let (asked, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
        let (answer, answered) = tokio::sync::watch::channel(false);
        let issuer = move || {
            let (asked, mut answered) = (asked.clone(), answered.clone());
            async move {
                asked.send(()).ok();
                answered.wait_for(|answered| *answered).await.ok();
                "{}"
            }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(issuer)).await });
        let documents = std::sync::Arc::new(documents(&url, &url));
        let exchange = |grant| {
            let documents = documents.clone();
            async move { documents.exchange(grant, &[("code", "k1")], NOW).await }
        };
        let waiting: Vec<_> = (0..EXCHANGES_MAX).map(|_| tokio::spawn(exchange(Grant::Code))).collect();
        for _ in 0..EXCHANGES_MAX {
            arrivals.recv().await.unwrap();
        }
        assert!(matches!(exchange(Grant::Code).await, Err(DocumentError::TooManyExchanges)));
        let renewal = tokio::spawn(exchange(Grant::Refresh));
        arrivals.recv().await.unwrap();
        answer.send(true).unwrap();
        for exchange in waiting.into_iter().chain([renewal]) {
            assert!(exchange.await.unwrap().is_ok(), "it was let in");
        }
        assert!(exchange(Grant::Code).await.is_ok(), "the places are free again");
    }

    #[tokio::test]
    async fn sign_in_url_has_the_common_parameters() {
        let parameters = "response_type=code&client_id=a%26b&scope=openid+groups&code_challenge_method=S256";
        for (authorize, separator) in [("https://people.example/a", "?"), ("https://people.example/a?tenant=1", "&")] {
            let url = documents(authorize, "").sign_in_url("a&b", "openid groups", NOW).await;
            assert_eq!(url.unwrap(), format!("{authorize}{separator}{parameters}"));
        }
    }

    #[tokio::test]
    async fn unreachable_issuer_is_retried_after_ten_seconds_and_its_document_stays_in_use() {
        let documents = Documents::new(ISSUER, "http://127.0.0.1:1").unwrap();
        assert!(matches!(documents.discovery(NOW).await, Err(DocumentError::Response { .. })));
        let soon = NOW.plus(Span::from_secs(9));
        assert!(matches!(documents.discovery(soon).await, Err(DocumentError::RecentlyUnreachable { .. })));
        let later = NOW.plus(Span::from_secs(10));
        assert!(matches!(documents.discovery(later).await, Err(DocumentError::Response { .. })));
        let cached = self::documents("https://people.example/a", "https://people.example/t");
        assert!(cached.discovery(NOW.plus(CACHED_FOR)).await.is_ok(), "the cached document is used");
    }

    #[test]
    fn documents_come_over_tls_or_from_this_machine() {
        for (base_url, is_safe) in [
            ("https://people.example/realms/staff", true),
            ("http://127.0.0.1:4566/pool", true),
            ("http://localhost:4566", true),
            ("http://people.example", false),
            ("ftp://127.0.0.1", false),
            ("people.example", false),
        ] {
            let result = Documents::new(ISSUER, base_url);
            assert_eq!(result.is_ok(), is_safe, "{base_url}");
            assert!(is_safe || matches!(result.err(), Some(DocumentError::Insecure { .. })), "{base_url}");
        }
    }

    /// Serves one body at every path, in chunks and without stating its length.
    async fn serves(chunks: Vec<String>) -> String {
        use axum::body::{Body, Bytes};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let body = move || {
            let chunks = chunks.clone().into_iter().map(|chunk| Ok::<_, std::io::Error>(Bytes::from(chunk)));
            async move { Body::from_stream(futures_util::stream::iter(chunks)) }
        };
        let router = axum::Router::new().fallback(body);
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    #[tokio::test]
    async fn a_document_of_another_issuer_is_refused() {
        for (issuer, is_ours) in [(ISSUER, true), ("https://issuer/", false), ("https://evil.example", false)] {
            let body = serde_json::json!({ "issuer": issuer, "jwks_uri": "https://issuer/keys" }).to_string();
            let documents = Documents::new(ISSUER, &serves(vec![body]).await).unwrap();
            let result = documents.discovery(NOW).await;
            assert_eq!(result.is_ok(), is_ours, "{issuer}");
            assert!(is_ours || matches!(result, Err(DocumentError::OtherIssuer { .. })), "{issuer}");
        }
    }

    #[tokio::test]
    async fn keys_are_not_fetched_without_tls() {
        let body = serde_json::json!({ "issuer": ISSUER, "jwks_uri": "http://people.example/keys" }).to_string();
        let documents = Documents::new(ISSUER, &serves(vec![body]).await).unwrap();
        let result = documents.keys::<serde_json::Value>(NOW).await;
        assert!(matches!(result, Err(DocumentError::Insecure { .. })), "{result:?}");
    }

    #[tokio::test]
    async fn a_large_document_is_dropped_while_it_is_read() {
        let start = serde_json::json!({ "issuer": ISSUER, "jwks_uri": "https://issuer/keys" }).to_string();
        let blank = " ".repeat(1024);
        for (blanks, is_accepted) in [(DOCUMENT_BYTES_MAX / 1024 - 1, true), (DOCUMENT_BYTES_MAX / 1024, false)] {
            let chunks = std::iter::once(start.clone()).chain(std::iter::repeat_n(blank.clone(), blanks));
            let documents = Documents::new(ISSUER, &serves(chunks.collect()).await).unwrap();
            let result = documents.discovery(NOW).await;
            assert_eq!(result.is_ok(), is_accepted, "{blanks}");
            assert!(is_accepted || matches!(result, Err(DocumentError::TooLarge { .. })), "{result:?}");
        }
    }
}
