//! A deployment of a consumer, as a CI pipeline (or a demo) reports it: the gate's evidence for a deployed fix.

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
    /// The service's name, as letters have it in `consumer`.
    pub service: String,
    /// The version.
    pub version: String,
    /// The commit, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// When it went live.
    pub at: Timestamp,
}

/// What the platform has attached to a main queue to take its messages, as it was seen last. Consumers that run elsewhere
/// are not in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attached {
    /// The main queue.
    pub queue: QueueArn,
    /// When it was looked at.
    pub seen_at: Timestamp,
    /// What was attached.
    pub consumers: Vec<AttachedConsumer>,
}

/// A consumer that the platform runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedConsumer {
    /// The service's name, as its deployments have it.
    pub service: String,
    /// Whether it is given messages.
    pub enabled: bool,
    /// The platform's word for that.
    pub state: String,
}

/// A look that is older says nothing: who looks each minute has stopped.
const LOOK_AGE_MAX: Span = Span::from_mins(30);

impl Attached {
    /// Why nobody takes messages from the queue, if that is known.
    pub fn why_nobody(&self, now: Timestamp) -> Option<String> {
        let first = self.consumers.first()?;
        let is_known =
            now.since(self.seen_at) <= LOOK_AGE_MAX && self.consumers.iter().all(|consumer| !consumer.enabled);
        is_known.then(|| {
            format!(
                "Nobody takes messages from {}: {} is attached to it, and that is {}.",
                self.queue.name(),
                first.service,
                first.state.to_lowercase()
            )
        })
    }

    /// The service that takes its messages, where there is one.
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
    fn a_queue_is_off_only_when_all_that_is_attached_is_off_and_was_seen_lately() {
        let consumer = |service: &str, state: &str| AttachedConsumer {
            service: service.into(),
            enabled: state == "Enabled",
            state: state.into(),
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
            let why = attached.why_nobody(at.plus(Span::from_mins(minutes)));
            assert_eq!(why.is_some(), off, "{states:?} {minutes}");
            assert_eq!(attached.only_service(), (states.len() == 1).then_some("orders"));
        }
        let attached = Attached {
            queue: "arn:aws:sqs:r:1:main".into(),
            seen_at: at,
            consumers: [consumer("orders", "Disabled")].into(),
        };
        let words = "Nobody takes messages from main: orders is attached to it, and that is disabled.";
        assert_eq!(attached.why_nobody(at).as_deref(), Some(words));
    }
}
