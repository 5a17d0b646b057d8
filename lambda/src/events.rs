//! Alerts as events on an EventBridge bus. Rules on the bus forward them to a chat, a pager or a ticket system.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use aws_sdk_eventbridge::types::builders::PutEventsRequestEntryBuilder;
use domain::alert::{Alert, AlertEvent};
use office::port::{Alerts, SinkError};
use std::io;

/// The `source` of all events, for rules to match.
pub const SOURCE: &str = "dead-letter-office";

/// Puts alerts on an EventBridge bus.
pub struct EventBridgeAlerts {
    client: Client,
    bus: String,
    dashboard: Option<String>,
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
        let entry = entry(&self.bus, alert, self.dashboard.as_deref()).map_err(|error| failed(Box::new(error)))?;
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

/// Returns the event of an alert. `docs/schema/event.json` describes its detail.
pub(super) fn entry(
    bus: &str,
    alert: &Alert,
    dashboard: Option<&str>,
) -> Result<PutEventsRequestEntryBuilder, serde_json::Error> {
    let url = dashboard.map(|dashboard| super::alerts::url(dashboard, alert));
    let detail = serde_json::to_string(&AlertEvent::new(alert.clone(), url))?;
    let entry = PutEventsRequestEntry::builder().event_bus_name(bus).source(SOURCE).detail_type(alert.kind.label());
    Ok(entry.time(DateTime::from_millis(alert.at.as_ms())).detail(detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::alert::{AlertKind, EVENT_VERSION};
    use domain::impact::Severity;
    use domain::time::Timestamp;
    use serde_json::{Value, json};

    const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/event.json");

    fn alert(kind: AlertKind) -> Alert {
        Alert {
            kind,
            level: Severity::Critical,
            at: Timestamp::from_ms(1_700_000_000_000),
            group: Some("3fa9".into()),
            replay: Some("r-1".into()),
            title: "Replay paused: \u{1F4EE}".into(),
            summary: String::new(),
            advice: "Open the replay.".into(),
        }
    }

    fn schema() -> Value {
        serde_json::from_str(&std::fs::read_to_string(SCHEMA).unwrap_or_default()).unwrap_or_default()
    }

    #[test]
    fn the_schema_is_that_of_the_type() {
        let mut schema = serde_json::to_value(schemars::schema_for!(AlertEvent)).unwrap();
        schema["title"] = json!("Detail of an alert's event");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(SCHEMA, serde_json::to_string_pretty(&schema).unwrap() + "\n").unwrap();
        }
        // Not as texts: whether keys keep their order depends on what else is built.
        assert_eq!(self::schema(), schema, "run this test with UPDATE=1, and look at the difference");
    }

    /// Returns the values of a type of the schema that is one of several words.
    fn words(definition: &Value) -> Vec<&str> {
        let alternatives = definition["oneOf"].as_array().into_iter().flatten();
        alternatives
            .flat_map(|one| {
                one["const"]
                    .as_str()
                    .into_iter()
                    .chain(one["enum"].as_array().into_iter().flatten().filter_map(Value::as_str))
            })
            .collect()
    }

    #[test]
    fn what_is_put_on_the_bus_follows_the_schema() {
        let schema = schema();
        let required: Vec<&str> = schema["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(schema["properties"]["v"]["const"], EVENT_VERSION, "an event of another version is noticed");
        let (kinds, levels) = (words(&schema["$defs"]["AlertKind"]), words(&schema["$defs"]["Severity"]));
        for kind in AlertKind::ALL {
            let whole = alert(kind);
            let bare = Alert { group: None, replay: None, ..whole.clone() };
            for (alert, dashboard) in [(&whole, Some("https://office.example/")), (&bare, None)] {
                let entry = entry("bus", alert, dashboard).unwrap().build();
                let detail: Value = serde_json::from_str(entry.detail().unwrap()).unwrap();
                let members = detail.as_object().unwrap();
                let unknown = members.keys().find(|name| schema["properties"].get(name).is_none());
                assert_eq!(unknown, None, "the schema lacks a member of {detail}");
                assert_eq!(required.iter().find(|name| !members.contains_key(**name)), None, "{detail} lacks a member");
                assert!(kinds.contains(&detail["kind"].as_str().unwrap()), "{detail}");
                assert!(levels.contains(&detail["level"].as_str().unwrap()), "{detail}");
                assert_eq!((&detail["v"], entry.detail_type()), (&json!(1), Some(kind.label())));
                let read: AlertEvent = serde_json::from_value(detail).unwrap();
                assert_eq!(read.alert, *alert);
            }
        }
    }
}
