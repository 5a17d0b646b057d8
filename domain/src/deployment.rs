//! A deployment of a consumer, reported by a CI pipeline or a demo: the gate's evidence that a fix is live.

use crate::id::QueueArn;
use crate::time::{Span, Timestamp};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// A version of a service that went live.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deployment {
    /// The service's name, equal to `consumer` in its letters.
    pub service: String,
    /// The version.
    pub version: String,
    /// The commit, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When it went live.
    pub at: Timestamp,
}

/// The consumers that the platform had attached to a main queue when it was last checked. Consumers that run outside
/// the platform are not included.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The main queue.
    pub queue: QueueArn,
    /// When it was checked.
    pub seen_at: Timestamp,
    /// The attached consumers.
    pub consumers: Vec<AttachedConsumer>,
}

/// A consumer that the platform runs. What the platform did not tell is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedConsumer {
    /// The service's name, equal to the name in its deployments.
    pub service: String,
    /// The function's name, which its role sessions carry; `None` where the platform runs no functions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The log that it writes to: the name of a log group, or of a file on one machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_group: Option<String>,
    /// Whether the platform delivers messages to it.
    pub enabled: bool,
    /// The platform's word for that state.
    pub state: String,
    /// The function's timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// The most messages that it gets at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
    /// Whether the platform heeds the list of failed messages that it returns (`ReportBatchItemFailures`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reports_failures: Option<bool>,
    /// Whether the platform deletes messages that match none of its filters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<bool>,
}

/// A check older than this is ignored: the checker, which runs every minute and takes many queues in turns, has failed.
pub const CHECK_AGE_MAX: Span = Span::from_mins(30);

impl Attached {
    /// Whether a sender is one of the queue's consumers. `sender` is SQS's `SenderId`: for a function the id of its role
    /// and the name of the session, which is the function's. Returns `None` if nothing recent is known about the queue,
    /// or if its consumers are no functions.
    pub fn is_consumer(&self, sender: &str, now: Timestamp) -> Option<bool> {
        let functions = || self.consumers.iter().filter_map(|consumer| consumer.function.as_deref());
        if now.since(self.seen_at) > CHECK_AGE_MAX || functions().next().is_none() {
            return None;
        }
        let session = sender.split_once(':').map(|(_, session)| session);
        Some(functions().any(|function| session == Some(function)))
    }

    /// Returns the consumer that is the function with this name. Returns `None` if nothing recent is known about the
    /// queue.
    pub fn consumer(&self, function: &str, now: Timestamp) -> Option<&AttachedConsumer> {
        self.functions(function, now).next()
    }

    /// Returns the consumer whose lists of failed messages the platform ignores, if it is the function with this name.
    /// Returns `None` if nothing recent is known about the queue.
    pub fn ignoring(&self, function: &str, now: Timestamp) -> Option<&AttachedConsumer> {
        self.functions(function, now).find(|consumer| consumer.reports_failures == Some(false))
    }

    /// Returns the mappings of a function: it may have several. None if nothing recent is known.
    fn functions<'a>(&'a self, name: &str, now: Timestamp) -> impl Iterator<Item = &'a AttachedConsumer> {
        let is_recent = now.since(self.seen_at) <= CHECK_AGE_MAX;
        self.consumers.iter().filter(move |consumer| is_recent && consumer.function.as_deref() == Some(name))
    }

    /// Explains why no consumer receives messages from the queue. Returns `None` if one does, or if it is unknown.
    pub fn why_unattended(&self, now: Timestamp) -> Option<String> {
        let first = self.consumers.first()?;
        let is_known =
            now.since(self.seen_at) <= CHECK_AGE_MAX && self.consumers.iter().all(|consumer| !consumer.enabled);
        is_known.then(|| {
            format!(
                "No consumer receives messages from {}: its consumer {} is {}.",
                self.queue.name(),
                first.service,
                first.state.to_lowercase()
            )
        })
    }

    /// Returns the service that consumes the queue, if there is exactly one.
    pub fn only_service(&self) -> Option<&str> {
        match self.consumers.as_slice() {
            [one] => Some(&one.service),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_unattended_only_if_every_consumer_is_off_and_the_check_is_recent() {
        let consumer = |service: &str, state: &str| AttachedConsumer {
            service: service.into(),
            function: None,
            enabled: state == "Enabled",
            state: state.into(),
            ..AttachedConsumer::default()
        };
        let at = Timestamp::from_ms(0);
        for (states, minutes, off) in [
            (&[][..], 0, false),
            (&["Enabled"], 0, false),
            (&["Disabled"], 0, true),
            (&["Disabling"], 0, true),
            (&["Enabling"], 0, true),
            (&["Disabled"], 30, true),
            (&["Disabled"], 31, false),
            (&["Disabled", "Enabled"], 0, false),
            (&["Disabled", "Disabled"], 0, true),
        ] {
            let consumers = states.iter().map(|state| consumer("orders", state)).collect();
            let attached = Attached { queue: "arn:aws:sqs:r:1:orders".into(), seen_at: at, consumers };
            let why = attached.why_unattended(at.plus(Span::from_mins(minutes)));
            assert_eq!(why.is_some(), off, "{states:?} {minutes}");
            assert_eq!(attached.only_service(), (states.len() == 1).then_some("orders"));
        }
        let attached = Attached {
            queue: "arn:aws:sqs:r:1:main".into(),
            seen_at: at,
            consumers: [consumer("orders", "Disabled")].into(),
        };
        let words = "No consumer receives messages from main: its consumer orders is disabled.";
        assert_eq!(attached.why_unattended(at).as_deref(), Some(words));
    }

    #[test]
    fn a_sender_is_a_consumer_if_its_session_is_named_like_an_attached_function() {
        let consumer = |function: Option<&str>| AttachedConsumer {
            service: "orders".into(),
            function: function.map(Into::into),
            enabled: true,
            state: "Enabled".into(),
            ..AttachedConsumer::default()
        };
        let (now, late) = (Timestamp::from_ms(0), Timestamp::from_ms(31 * 60_000));
        // The attached functions, the sender, when it is asked, the answer.
        for (functions, sender, at, wanted) in [
            (&[Some("orders-fn")][..], "AROA1:orders-fn", now, Some(true)),
            (&[Some("orders-fn"), Some("copy-fn")], "AROA2:copy-fn", now, Some(true)),
            (&[Some("orders-fn")], "AROA1:orders", now, Some(false)),
            (&[Some("orders-fn")], "orders-fn", now, Some(false)),
            (&[Some("orders-fn")], "AIDA1", now, Some(false)),
            (&[Some("orders-fn")], "AROA1:orders-fn", late, None),
            (&[None], "AROA1:orders-fn", now, None),
            (&[], "AROA1:orders-fn", now, None),
        ] {
            let consumers = functions.iter().copied().map(consumer).collect();
            let attached = Attached { queue: QueueArn::from("orders"), seen_at: now, consumers };
            assert_eq!(attached.is_consumer(sender, at), wanted, "{functions:?} {sender}");
        }
    }
}
