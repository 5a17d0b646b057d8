//! The embedded alerts: a log line, a list of the latest alerts, and an optional webhook.
//!
//! The log line has no title, because a title contains text from letters, and content of letters is never logged. The
//! list and the webhook contain the title: their readers may read letters.

use async_trait::async_trait;
use domain::alert::Alert;
use domain::impact::Severity;
use office::port::{Alerts, SinkError};
use reqwest::{Client, Url, redirect};
use serde::Serialize;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The number of alerts in the list.
const RECENT_MAX: usize = 200;
/// The timeout of a webhook call: a batch of letters waits while an alert is raised.
const WEBHOOK_PATIENCE: Duration = Duration::from_secs(5);

/// Why a webhook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// The address is not a URL.
    #[error("the webhook's address is not a URL")]
    NotAUrl(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The scheme is not supported.
    #[error("the webhook's address must begin with http://, not with {scheme}:")]
    Scheme {
        /// The address's scheme.
        scheme: String,
    },
    /// The HTTP client could not be created.
    #[error("the webhook's HTTP client could not be created")]
    Client(#[source] reqwest::Error),
}

/// The alerts port of the office on one machine.
#[derive(Default)]
pub struct LogAlerts {
    recent: Mutex<VecDeque<Alert>>,
    webhook: Option<Webhook>,
}

struct Webhook {
    client: Client,
    url: Url,
}

/// The posted JSON: the alert, and its text in the field that chat programs display.
#[derive(Serialize)]
struct Post<'a> {
    text: String,
    #[serde(flatten)]
    alert: &'a Alert,
}

impl LogAlerts {
    /// Creates the port with a webhook: each alert is also posted to this address as JSON.
    pub fn with_webhook(url: &str) -> Result<Self, WebhookError> {
        Self::posting(url, WEBHOOK_PATIENCE)
    }

    fn posting(url: &str, patience: Duration) -> Result<Self, WebhookError> {
        let url = Url::parse(url).map_err(|error| WebhookError::NotAUrl(Box::new(error)))?;
        // This build of the client has no TLS, so an https address would never work.
        if url.scheme() != "http" {
            return Err(WebhookError::Scheme { scheme: url.scheme().into() });
        }
        let client = crate::http::client().timeout(patience).redirect(redirect::Policy::none()).build();
        let webhook = Webhook { client: client.map_err(WebhookError::Client)?, url };
        Ok(Self { webhook: Some(webhook), ..Self::default() })
    }

    /// Returns the latest alerts, newest first.
    pub fn recent(&self, count: usize) -> Vec<Alert> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).iter().take(count).cloned().collect()
    }

    fn remember(&self, alert: &Alert) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.push_front(alert.clone());
        recent.truncate(RECENT_MAX);
    }
}

#[async_trait]
impl Alerts for LogAlerts {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        log(alert);
        self.remember(alert);
        match &self.webhook {
            Some(webhook) => webhook.post(alert).await,
            None => Ok(()),
        }
    }
}

impl Webhook {
    async fn post(&self, alert: &Alert) -> Result<(), SinkError> {
        let post = Post { text: format!("{}: {}\n{}", alert.kind.label(), alert.title, alert.advice), alert };
        let response = self.client.post(self.url.clone()).json(&post).send().await;
        // Most webhooks have a secret address, so the error must not carry it to the log.
        let failed = |error: reqwest::Error| SinkError { what: "an alert", source: Box::new(error.without_url()) };
        let response = response.and_then(reqwest::Response::error_for_status).map_err(failed)?;
        if response.status().is_success() {
            return Ok(());
        }
        // A redirect. Following it would send the alert to a host that nobody configured.
        let message = format!("the webhook answered {}", response.status());
        Err(SinkError { what: "an alert", source: message.into() })
    }
}

/// Writes the log line. Even critical news is a warning: an error in the log is a failure of the office itself.
fn log(alert: &Alert) {
    let replay = alert.replay.as_ref().map(|replay| replay.as_str());
    let group = alert.group.as_ref().map(|group| group.as_str());
    macro_rules! line {
        ($level:ident) => {
            tracing::$level!(kind = ?alert.kind, severity = ?alert.level, group, replay, "{}", alert.kind.label())
        };
    }
    match alert.level {
        Severity::Critical | Severity::Warning => line!(warn),
        Severity::Info => line!(info),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::alert::AlertKind;
    use domain::time::Timestamp;
    use std::error::Error;
    use tokio::sync::mpsc;

    fn alert(n: i64) -> Alert {
        Alert {
            kind: AlertKind::ReplayPaused,
            level: Severity::Critical,
            at: Timestamp::from_ms(n),
            group: Some("9f2c".into()),
            replay: Some("77aa".into()),
            title: "product <n> is not in the catalogue".into(),
            summary: "Replay paused".into(),
            advice: "Declare another fix.".into(),
        }
    }

    /// Starts a server that answers every post with this status. Returns its address and the posted bodies.
    async fn server(status: u16) -> (String, mpsc::UnboundedReceiver<serde_json::Value>) {
        let (sender, posted) = mpsc::unbounded_channel();
        let answer = move |axum::Json(body): axum::Json<serde_json::Value>| {
            let _ = sender.send(body);
            async move { axum::http::StatusCode::from_u16(status).unwrap() }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks/secret", listener.local_addr().unwrap());
        let router = axum::Router::new().route("/hooks/secret", axum::routing::post(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, posted)
    }

    #[tokio::test]
    async fn alerts_are_listed_newest_first_and_the_oldest_are_dropped() {
        let alerts = LogAlerts::default();
        for n in 0..RECENT_MAX as i64 + 5 {
            alerts.raise(&alert(n)).await.unwrap();
        }
        assert_eq!(alerts.recent(2), [alert(204), alert(203)]);
        assert_eq!(alerts.recent(usize::MAX).len(), RECENT_MAX);
    }

    #[tokio::test]
    async fn webhook_receives_the_alert_as_json() {
        let (url, mut posted) = server(204).await;
        LogAlerts::with_webhook(&url).unwrap().raise(&alert(5)).await.unwrap();
        let expected = serde_json::json!({
            "text": "Replay paused: product <n> is not in the catalogue\nDeclare another fix.",
            "kind": "replay_paused", "level": "critical", "at": 5, "group": "9f2c", "replay": "77aa",
            "title": "product <n> is not in the catalogue", "advice": "Declare another fix.",
        });
        assert_eq!(posted.recv().await, Some(expected));
    }

    #[tokio::test]
    async fn failed_webhook_is_an_error_without_its_address_and_the_alert_is_listed() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let never_answers = format!("http://{}/hooks/secret", silent.local_addr().unwrap());
        let (refuses, _posted) = server(403).await;
        let (redirects, _also_posted) = server(302).await;
        for url in [refuses, redirects, never_answers, "http://127.0.0.1:1/hooks/secret".into()] {
            let alerts = LogAlerts::posting(&url, Duration::from_millis(200)).unwrap();
            let error = alerts.raise(&alert(1)).await.expect_err(&url);
            let text = format!("{error} {:?}", error.source());
            assert!(!text.contains("secret"), "{text}");
            assert_eq!(alerts.recent(1), [alert(1)]);
        }
    }

    #[test]
    fn webhook_needs_an_http_address() {
        for url in ["", "hooks.example.com/x", "https://hooks.example.com/x", "file:///etc/passwd"] {
            assert!(LogAlerts::with_webhook(url).is_err(), "{url}");
        }
    }
}
