//! Alerts on AWS: one SNS topic. Level and kind are message attributes, for the filters of its subscriptions.

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_sns::Client;
use aws_sdk_sns::types::MessageAttributeValue;
use domain::alert::Alert;
use office::port::{Alerts, SinkError};

/// The longest subject (SNS: under 100 characters, ASCII, no line breaks).
const SUBJECT_CHARS_MAX: usize = 99;

/// SNS.
pub struct SnsAlerts {
    client: Client,
    topic: String,
    dashboard: Option<String>,
}

impl SnsAlerts {
    /// To this topic. Alerts link to the dashboard where its address is known.
    pub fn new(config: &SdkConfig, topic: impl Into<String>, dashboard: Option<String>) -> Self {
        Self { client: Client::new(config), topic: topic.into(), dashboard }
    }
}

#[async_trait]
impl Alerts for SnsAlerts {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| SinkError { what: "an alert", source };
        let mut asked = self.client.publish().topic_arn(&self.topic).subject(subject(alert));
        asked = asked.message(words(alert, self.dashboard.as_deref()));
        let (level, kind) = (office::intake::word(&alert.level), office::intake::word(&alert.kind));
        for (name, value) in [("level", level), ("kind", kind)] {
            let value = MessageAttributeValue::builder().data_type("String").string_value(value).build();
            asked = asked.message_attributes(name, value.map_err(|error| failed(Box::new(error)))?);
        }
        asked.send().await.map_err(|error| failed(Box::new(error)))?;
        Ok(())
    }
}

/// The title, as far as a subject can hold it.
fn subject(alert: &Alert) -> String {
    let level = office::intake::word(&alert.level).to_uppercase();
    let printable = |c: char| if c.is_ascii_graphic() { c } else { ' ' };
    format!("[{level}] {}", alert.title).chars().map(printable).take(SUBJECT_CHARS_MAX).collect()
}

/// Where an alert's group is shown.
pub(super) fn place(dashboard: &str, alert: &Alert) -> String {
    format!("{}/groups/{}", dashboard.trim_end_matches('/'), alert.group)
}

fn words(alert: &Alert, dashboard: Option<&str>) -> String {
    let place = match dashboard {
        Some(dashboard) => place(dashboard, alert),
        None => format!("Group {}", alert.group),
    };
    format!("{}\n\n{}\n\n{place}\n", alert.title, alert.advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::alert::AlertKind;
    use domain::impact::Severity;
    use domain::time::Timestamp;

    fn alert(title: &str) -> Alert {
        Alert {
            kind: AlertKind::NewCause,
            level: Severity::Critical,
            at: Timestamp::from_ms(0),
            group: "3fa9".into(),
            replay: None,
            title: title.into(),
            advice: "Open the group.".into(),
        }
    }

    #[test]
    fn subject_holds_what_sns_takes() {
        for (title, expected) in [
            ("New cause: Overflow", "[CRITICAL] New cause: Overflow"),
            ("two\r\nlines \u{1F4EE}", "[CRITICAL] two  lines  "),
        ] {
            assert_eq!(subject(&alert(title)), expected);
        }
        assert_eq!(subject(&alert(&"x".repeat(500))).len(), SUBJECT_CHARS_MAX);
    }

    #[test]
    fn words_lead_to_the_group() {
        let words = words(&alert("New cause"), Some("https://office.example/"));
        assert_eq!(words, "New cause\n\nOpen the group.\n\nhttps://office.example/groups/3fa9\n");
    }
}
