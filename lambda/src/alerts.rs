//! Alerts through an SNS topic. Level and kind are message attributes, so subscriptions can filter on them.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_sns::Client;
use aws_sdk_sns::types::MessageAttributeValue;
use domain::alert::Alert;
use office::port::{Alerts, SinkError};

/// Longest subject, in characters. SNS requires fewer than 100, all ASCII, without line breaks.
const SUBJECT_CHARS_MAX: usize = 99;

/// Publishes alerts to an SNS topic.
pub struct SnsAlerts {
    client: Client,
    topic: String,
    dashboard: Option<String>,
}

impl SnsAlerts {
    /// Creates an adapter for the topic with this ARN. Alerts link to the dashboard if its URL is given.
    pub fn new(config: &SdkConfig, topic: impl Into<String>, dashboard: Option<String>) -> Self {
        Self { client: Client::new(config), topic: topic.into(), dashboard }
    }
}

#[async_trait]
impl Alerts for SnsAlerts {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| SinkError { what: "an alert", source };
        let mut request = self.client.publish().topic_arn(&self.topic).subject(subject(alert));
        request = request.message(message(alert, self.dashboard.as_deref()));
        let (level, kind) = (office::names::json_name(&alert.level), office::names::json_name(&alert.kind));
        for (name, value) in [("level", level), ("kind", kind)] {
            let value = MessageAttributeValue::builder().data_type("String").string_value(value).build();
            request = request.message_attributes(name, value.map_err(|error| failed(Box::new(error)))?);
        }
        request.send().await.map_err(|error| failed(Box::new(error)))?;
        Ok(())
    }
}

/// Returns the level and the title, shortened to what an SNS subject can hold.
pub(super) fn subject(alert: &Alert) -> String {
    let level = office::names::json_name(&alert.level).to_uppercase();
    let printable = |c: char| if c.is_ascii_graphic() { c } else { ' ' };
    format!("[{level}] {}", alert.title).chars().map(printable).take(SUBJECT_CHARS_MAX).collect()
}

/// Returns the URL of the alert's group in the dashboard, or of the dashboard.
pub(super) fn url(dashboard: &str, alert: &Alert) -> String {
    let dashboard = dashboard.trim_end_matches('/');
    alert.group.as_ref().map_or_else(|| dashboard.to_string(), |group| format!("{dashboard}/groups/{group}"))
}

/// Returns the mail's text.
pub(super) fn message(alert: &Alert, dashboard: Option<&str>) -> String {
    let (title, advice) = (&alert.title, &alert.advice);
    let place = match (dashboard, &alert.group) {
        (Some(dashboard), _) => url(dashboard, alert),
        (None, Some(group)) => format!("Group {group}"),
        (None, None) => return format!("{title}\n\n{advice}\n"),
    };
    format!("{title}\n\n{advice}\n\n{place}\n")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use domain::alert::AlertKind;
    use domain::impact::Severity;
    use domain::time::Timestamp;

    /// Returns an alert with this title.
    pub fn alert(title: &str) -> Alert {
        Alert {
            kind: AlertKind::NewGroup,
            level: Severity::Critical,
            at: Timestamp::from_ms(0),
            group: Some("3fa9".into()),
            replay: None,
            title: title.into(),
            summary: "New group (permanent, StorageError, order.placed, group 3fa9)".into(),
            advice: "Open the group.".into(),
        }
    }

    #[test]
    fn subject_is_made_acceptable_to_sns() {
        for (title, expected) in [
            ("New group: Overflow", "[CRITICAL] New group: Overflow"),
            ("two\r\nlines \u{1F4EE}", "[CRITICAL] two  lines  "),
        ] {
            assert_eq!(subject(&alert(title)), expected);
        }
        assert_eq!(subject(&alert(&"x".repeat(500))).len(), SUBJECT_CHARS_MAX);
    }

    #[test]
    fn message_links_to_the_group() {
        let message = message(&alert("New group"), Some("https://office.example/"));
        assert_eq!(message, "New group\n\nOpen the group.\n\nhttps://office.example/groups/3fa9\n");
    }
}
