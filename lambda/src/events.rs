//! Alerts as events on an EventBridge bus. Rules on the bus forward them to a chat, a pager or a ticket system.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use domain::alert::{Alert, AlertKind};
use office::port::{Alerts, SinkError};
use serde::Serialize;
use std::io;

/// The `source` of all events, for rules to match.
pub const SOURCE: &str = "dead-letter-office";

/// Puts alerts on an EventBridge bus.
pub struct EventBridgeAlerts {
    client: Client,
    bus: String,
    dashboard: Option<String>,
}

/// The `detail` of an event: the alert, and its URL in the dashboard.
#[derive(Serialize)]
struct Detail<'a> {
    #[serde(flatten)]
    alert: &'a Alert,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
}

impl EventBridgeAlerts {
    /// Creates an adapter for the bus with this name or ARN. Events link to the dashboard if its URL is given.
    pub fn new(config: &SdkConfig, bus: impl Into<String>, dashboard: Option<String>) -> Self {
        Self { client: Client::new(config), bus: bus.into(), dashboard }
    }
}

#[async_trait]
impl Alerts for EventBridgeAlerts {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| SinkError { what: "an alert", source };
        let url = self.dashboard.as_deref().map(|dashboard| super::alerts::url(dashboard, alert));
        let detail = serde_json::to_string(&Detail { alert, url }).map_err(|error| failed(Box::new(error)))?;
        let entry = PutEventsRequestEntry::builder()
            .event_bus_name(&self.bus)
            .source(SOURCE)
            .detail_type(detail_type(alert.kind))
            .time(DateTime::from_millis(alert.at.as_ms()))
            .detail(detail);
        let response = self.client.put_events().entries(entry.build()).send().await;
        let response = response.map_err(|error| failed(Box::new(error)))?;
        // A rejected entry is reported in a successful response.
        match response.entries().iter().find_map(|entry| entry.error_code().map(|code| (code, entry.error_message()))) {
            Some((code, message)) => {
                Err(failed(Box::new(io::Error::other(format!("{code}: {}", message.unwrap_or_default())))))
            }
            None => Ok(()),
        }
    }
}

/// Returns the `detail-type` of an alert kind, for rules to match.
fn detail_type(kind: AlertKind) -> &'static str {
    match kind {
        AlertKind::NewGroup => "New group",
        AlertKind::Regression => "Regression",
        AlertKind::ReplayPaused => "Replay paused",
        AlertKind::ClockJumped => "Clock jumped",
    }
}
