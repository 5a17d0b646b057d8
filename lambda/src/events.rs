//! Alerts as events on a bus of EventBridge, for rules that bring them where people look: a chat, a pager, a ticket.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use domain::alert::{Alert, AlertKind};
use office::port::{Alerts, SinkError};
use serde::Serialize;
use std::io;

/// The source that rules match.
pub const SOURCE: &str = "dead-letter-office";

/// EventBridge.
pub struct EventBridgeAlerts {
    client: Client,
    bus: String,
    dashboard: Option<String>,
}

/// The detail of an event: the alert, and where its group is shown.
#[derive(Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    alert: &'a Alert,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl EventBridgeAlerts {
    /// To this bus, by its name or ARN. Events link to the dashboard where its address is known.
    pub fn new(config: &SdkConfig, bus: impl Into<String>, dashboard: Option<String>) -> Self {
        Self { client: Client::new(config), bus: bus.into(), dashboard }
    }
}

#[async_trait]
impl Alerts for EventBridgeAlerts {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| SinkError { what: "an alert", source };
        let url = self.dashboard.as_deref().map(|dashboard| super::alerts::place(dashboard, alert));
        let detail = serde_json::to_string(&Detail { alert, url }).map_err(|error| failed(Box::new(error)))?;
        let entry = PutEventsRequestEntry::builder()
            .event_bus_name(&self.bus)
            .source(SOURCE)
            .detail_type(kind(alert.kind))
            .time(DateTime::from_millis(alert.at.as_ms()))
            .detail(detail);
        let answer = self.client.put_events().entries(entry.build()).send().await;
        let answer = answer.map_err(|error| failed(Box::new(error)))?;
        // What a bus does not take is told of in an answer that is not an error.
        match answer.entries().iter().find_map(|entry| entry.error_code().map(|code| (code, entry.error_message()))) {
            Some((code, said)) => {
                Err(failed(Box::new(io::Error::other(format!("{code}: {}", said.unwrap_or_default())))))
            }
            None => Ok(()),
        }
    }
}

/// The kind in words, as rules match it.
fn kind(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::NewCause => "New cause",
        AlertKind::Regression => "Regression",
        AlertKind::ReplayPaused => "Replay stopped",
    }
}
