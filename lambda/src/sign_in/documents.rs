//! The issuer's own documents: where it sends people, where it takes their codes, where its keys lie.

use domain::time::{Span, Timestamp};
use reqwest::{Client, Url, redirect};
use serde::Deserialize;
use std::time::Duration;
use tokio::sync::Mutex;

/// How long what the issuer says of itself is good without a look.
const KEPT: Span = Span::from_mins(60);
/// After a look in vain: an issuer that is away must not hold up whoever comes next.
const LOOKS_APART: Span = Span::from_secs(10);
/// How long the issuer may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest document that is read, bytes.
const DOCUMENT_BYTES_MAX: usize = 256 * 1024;

/// A document of the issuer cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The client could not be made.
    #[error("the client for the issuer's documents could not be made")]
    Client(#[source] reqwest::Error),
    /// The issuer does not answer.
    #[error("{url} could not be read")]
    Answer {
        /// What was asked for.
        url: String,
        /// The fault.
        #[source]
        source: reqwest::Error,
    },
    /// It did not a moment ago.
    #[error("{url} could not be read a moment ago")]
    Away {
        /// What was asked for.
        url: String,
    },
    /// The issuer's answer is not what it should be.
    #[error("{url} is not what an OIDC issuer has there")]
    Document {
        /// What was asked for.
        url: String,
    },
}

/// What an issuer says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Discovery {
    pub(super) jwks_uri: String,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
}

/// What an issuer answers to a code.
#[derive(Deserialize)]
pub(super) struct Exchange {
    pub(super) id_token: Option<String>,
    pub(super) error: Option<String>,
    pub(super) error_description: Option<String>,
}

#[derive(Default)]
struct Known {
    looked_at: Option<Timestamp>,
    discovery: Option<Discovery>,
}

/// Reads documents of one issuer.
pub(super) struct Documents {
    client: Client,
    well_known: String,
    known: Mutex<Known>,
}

impl Documents {
    /// Of the issuer whose documents lie here.
    pub(super) fn new(address: &str) -> Result<Self, DocumentError> {
        crate::connect::provide_tls();
        let client = Client::builder().timeout(PATIENCE).redirect(redirect::Policy::none()).build();
        let well_known = format!("{}/.well-known/openid-configuration", address.trim_end_matches('/'));
        Ok(Self { client: client.map_err(DocumentError::Client)?, well_known, known: Mutex::default() })
    }

    /// What the issuer says of itself; while it does not answer, what it said last.
    pub(super) async fn discovery(&self, now: Timestamp) -> Result<Discovery, DocumentError> {
        let mut known = self.known.lock().await;
        let age = known.looked_at.map(|at| now.since(at));
        let good_for = if known.discovery.is_some() { KEPT } else { LOOKS_APART };
        let mut failed = None;
        if age.is_none_or(|age| age >= good_for) {
            known.looked_at = Some(now);
            match self.get(&self.well_known).await {
                Ok(discovery) => known.discovery = Some(discovery),
                Err(error) => {
                    tracing::error!(error = office::error::chain(&error), "the issuer cannot be asked");
                    failed = Some(error);
                }
            }
        }
        let away = || failed.unwrap_or_else(|| DocumentError::Away { url: self.well_known.clone() });
        known.discovery.clone().ok_or_else(away)
    }

    /// Where a page sends people, with what every sign-in to a client asks.
    pub(super) async fn way_in(&self, client_id: &str, scope: &str, now: Timestamp) -> Result<String, DocumentError> {
        let missing = || DocumentError::Document { url: self.well_known.clone() };
        let mut url = safe(self.discovery(now).await?.authorization_endpoint).ok_or_else(missing)?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("scope", scope)
            .append_pair("code_challenge_method", "S256");
        Ok(url.into())
    }

    /// What the issuer gives for a code, or says against it.
    pub(super) async fn exchange(&self, form: &[(&str, &str)], now: Timestamp) -> Result<Exchange, DocumentError> {
        let missing = || DocumentError::Document { url: self.well_known.clone() };
        let url = safe(self.discovery(now).await?.token_endpoint).ok_or_else(missing)?;
        let body =
            Url::parse_with_params("form:/", form).map_err(|_| missing())?.query().unwrap_or_default().to_owned();
        let asked =
            self.client.post(url.clone()).header("content-type", "application/x-www-form-urlencoded").body(body);
        let answer = asked.send().await;
        // What is wrong with a code comes with the status 400.
        let answer = answer.and_then(|answer| match answer.status().as_u16() {
            400 | 401 => Ok(answer),
            _ => answer.error_for_status(),
        });
        self.document(url.as_str(), answer).await
    }

    /// A document.
    pub(super) async fn get<T: serde::de::DeserializeOwned>(&self, url: &str) -> Result<T, DocumentError> {
        let answer = self.client.get(url).send().await.and_then(reqwest::Response::error_for_status);
        self.document(url, answer).await
    }

    async fn document<T: serde::de::DeserializeOwned>(
        &self,
        url: &str,
        answer: Result<reqwest::Response, reqwest::Error>,
    ) -> Result<T, DocumentError> {
        let failed = |source: reqwest::Error| DocumentError::Answer { url: url.into(), source: source.without_url() };
        let answer = answer.map_err(failed)?;
        let document = || DocumentError::Document { url: url.into() };
        if answer.content_length().is_some_and(|bytes| bytes > DOCUMENT_BYTES_MAX as u64) {
            return Err(document());
        }
        let bytes = answer.bytes().await.map_err(failed)?;
        serde_json::from_slice(&bytes).map_err(|_| document())
    }
}

/// Codes and tokens cross no network in the clear; an issuer on this machine may do without TLS.
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
        let known = Known { looked_at: Some(NOW), discovery: Some(discovery) };
        Documents { known: Mutex::new(known), ..Documents::new("http://127.0.0.1:1").unwrap() }
    }

    #[tokio::test]
    async fn people_are_sent_over_tls_or_not_at_all() {
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
            assert_eq!(documents.way_in("client", "openid", NOW).await.is_ok(), is_safe, "{url}");
            if !is_safe {
                let refused = documents.exchange(&code, NOW).await;
                assert!(matches!(refused, Err(DocumentError::Document { .. })), "{url}");
            }
        }
    }

    #[tokio::test]
    async fn people_are_sent_with_what_every_sign_in_asks() {
        let asked = "response_type=code&client_id=a%26b&scope=openid+groups&code_challenge_method=S256";
        for (authorize, glue) in [("https://people.example/a", "?"), ("https://people.example/a?tenant=1", "&")] {
            let way_in = documents(authorize, "").way_in("a&b", "openid groups", NOW).await;
            assert_eq!(way_in.unwrap(), format!("{authorize}{glue}{asked}"));
        }
    }

    #[tokio::test]
    async fn issuer_that_is_away_is_asked_again_after_a_moment_and_what_it_said_stays_good() {
        let documents = Documents::new("http://127.0.0.1:1").unwrap();
        assert!(matches!(documents.discovery(NOW).await, Err(DocumentError::Answer { .. })));
        let soon = NOW.plus(Span::from_secs(9));
        assert!(matches!(documents.discovery(soon).await, Err(DocumentError::Away { .. })));
        let later = NOW.plus(Span::from_secs(10));
        assert!(matches!(documents.discovery(later).await, Err(DocumentError::Answer { .. })));
        let known = self::documents("https://people.example/a", "https://people.example/t");
        assert!(known.discovery(NOW.plus(KEPT)).await.is_ok(), "it does not answer now, but it has");
    }
}
