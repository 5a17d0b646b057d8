//! The issuer's OIDC documents: discovery, key set, and the exchange of codes for tokens.

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
const REQUEST_TIME_MAX: Duration = Duration::from_secs(5);
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
    pub(super) jwks_uri: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
}

/// The issuer's response to the exchange of a code.
#[derive(Deserialize)]
pub(super) struct Exchange {
    pub(super) id_token: Option<String>,
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
    well_known: String,
    cache: Mutex<Cache>,
}

impl Documents {
    /// Creates a client for the issuer with this base URL.
    pub(super) fn new(base_url: &str) -> Result<Self, DocumentError> {
        crate::connect::provide_tls();
        let client = Client::builder().timeout(REQUEST_TIME_MAX).redirect(redirect::Policy::none()).build();
        let well_known = format!("{}/.well-known/openid-configuration", base_url.trim_end_matches('/'));
        Ok(Self { client: client.map_err(DocumentError::Client)?, well_known, cache: Mutex::default() })
    }

    /// Returns the discovery document. If the issuer does not respond, returns the cached one.
    pub(super) async fn discovery(&self, now: Timestamp) -> Result<Discovery, DocumentError> {
        let mut cache = self.cache.lock().await;
        let age = cache.attempted_at.map(|at| now.since(at));
        let valid_for = if cache.discovery.is_some() { CACHED_FOR } else { RETRY_INTERVAL_MIN };
        let mut failed = None;
        if age.is_none_or(|age| age >= valid_for) {
            cache.attempted_at = Some(now);
            match self.get(&self.well_known).await {
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
            || failed.unwrap_or_else(|| DocumentError::RecentlyUnreachable { url: self.well_known.clone() });
        cache.discovery.clone().ok_or_else(unreachable)
    }

    /// Returns the URL of the issuer's sign-in page, with the parameters that every sign-in has in common.
    pub(super) async fn sign_in_url(
        &self,
        client_id: &str,
        scope: &str,
        now: Timestamp,
    ) -> Result<String, DocumentError> {
        let invalid = || DocumentError::Invalid { url: self.well_known.clone() };
        let mut url = safe(self.discovery(now).await?.authorization_endpoint).ok_or_else(invalid)?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("scope", scope)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// Exchanges a code. Returns the issuer's tokens, or its error.
    pub(super) async fn exchange(&self, form: &[(&str, &str)], now: Timestamp) -> Result<Exchange, DocumentError> {
        let invalid = || DocumentError::Invalid { url: self.well_known.clone() };
        let url = safe(self.discovery(now).await?.token_endpoint).ok_or_else(invalid)?;
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

    /// Fetches a document.
    pub(super) async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, DocumentError> {
        let response = self.client.get(url).send().await.and_then(reqwest::Response::error_for_status);
        self.document(url, response).await
    }

    async fn document<T: serde::de::DeserializeOwned>(
        &self,
        url: &str,
        response: Result<reqwest::Response, reqwest::Error>,
    ) -> Result<T, DocumentError> {
        let failed = |source: reqwest::Error| DocumentError::Response { url: url.into(), source: source.without_url() };
        let response = response.map_err(failed)?;
        let invalid = || DocumentError::Invalid { url: url.into() };
        if response.content_length().is_some_and(|bytes| bytes > DOCUMENT_BYTES_MAX as u64) {
            return Err(invalid());
        }
        let bytes = response.bytes().await.map_err(failed)?;
        serde_json::from_slice(&bytes).map_err(|_| invalid())
    }
}

/// Returns the URL if codes and tokens may travel to it: over TLS, or to this machine.
fn safe(url: Option<String>) -> Option<Url> {
    let url: Url = url?.parse().ok()?;
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

    fn documents(authorize: &str, token: &str) -> Documents {
        let discovery = Discovery {
            jwks_uri: String::new(),
            authorization_endpoint: Some(authorize.into()),
            token_endpoint: Some(token.into()),
        };
        let cache = Cache { attempted_at: Some(NOW), discovery: Some(discovery) };
        Documents { cache: Mutex::new(cache), ..Documents::new("http://127.0.0.1:1").unwrap() }
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
                let rejected = documents.exchange(&code, NOW).await;
                assert!(matches!(rejected, Err(DocumentError::Invalid { .. })), "{url}");
            }
        }
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
        let documents = Documents::new("http://127.0.0.1:1").unwrap();
        assert!(matches!(documents.discovery(NOW).await, Err(DocumentError::Response { .. })));
        let soon = NOW.plus(Span::from_secs(9));
        assert!(matches!(documents.discovery(soon).await, Err(DocumentError::RecentlyUnreachable { .. })));
        let later = NOW.plus(Span::from_secs(10));
        assert!(matches!(documents.discovery(later).await, Err(DocumentError::Response { .. })));
        let cached = self::documents("https://people.example/a", "https://people.example/t");
        assert!(cached.discovery(NOW.plus(CACHED_FOR)).await.is_ok(), "the cached document is used");
    }
}
