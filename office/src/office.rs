//! The office: its ports, its policy, its clock. Built once per process and shared by all handlers.

use crate::error::OfficeError;
use crate::port::{Alerts, Metrics, Outgoing, Payloads, Queue, Store};
use domain::alert::Alert;
use domain::id::{QueueArn, ReplayId};
use domain::limits::DELAY_S_MAX;
use domain::message::Content;
use domain::metric::Datum;
use domain::policy::Policy;
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use transform::Transforms;

/// Everything a handler needs. Cloning shares it.
#[derive(Clone)]
pub struct Office {
    /// Where letters, groups and replays are kept.
    pub store: Arc<dyn Store>,
    /// The queues.
    pub queue: Arc<dyn Queue>,
    /// Where metrics go.
    pub metrics: Arc<dyn Metrics>,
    /// Where alerts go.
    pub alerts: Arc<dyn Alerts>,
    /// What letters only point to.
    pub payloads: Arc<dyn Payloads>,
    /// What the team decided.
    pub policy: Arc<Policy>,
    /// The queue of our own step messages.
    pub steps: QueueArn,
    /// The clock; the simulation brings its own.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Random numbers; the simulation brings its own.
    pub entropy: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Retentions that were read from queues in this process. They change rarely, and only a display depends on them.
    pub retentions: Arc<Mutex<HashMap<QueueArn, Span>>>,
    /// What runs payload transforms.
    pub transforms: Arc<Transforms>,
}

/// A message on the queue of steps: look at this replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMessage {
    /// The replay.
    pub replay: ReplayId,
    /// Whether it only says that something may have changed. The chain of steps goes on by itself; a nudge that finds
    /// nothing to do must not start a second one.
    #[serde(default)]
    pub nudge: bool,
}

impl Office {
    /// Now.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Asks for a look at a replay at a moment, or up to 15 minutes before it (SQS's longest delay): a step that comes
    /// early finds that it has to wait.
    pub async fn schedule(&self, message: &StepMessage, at: Timestamp) -> Result<(), OfficeError> {
        let delay_s = at.since(self.now()).as_secs_up().min(DELAY_S_MAX);
        // A struct of a text and a flag always has a JSON form.
        let body = serde_json::to_string(message).unwrap_or_default();
        let outgoing = Outgoing {
            content: Content { body, ..Content::default() },
            deduplication_id: None,
            delay: Span::from_secs(delay_s),
        };
        let answers = self.queue.send_batch(&self.steps, &[outgoing]).await?;
        match answers.into_iter().next() {
            Some(Ok(_)) => Ok(()),
            Some(Err(source)) => Err(OfficeError::StepRefused { replay: message.replay.clone(), source }),
            None => Err(OfficeError::NoAnswer { queue: self.steps.clone() }),
        }
    }

    /// Says that something about a replay may have changed. Losing it costs only time: sweep says it again.
    pub async fn nudge(&self, replay: &ReplayId) {
        let message = StepMessage { replay: replay.clone(), nudge: true };
        if let Err(error) = self.schedule(&message, self.now()).await {
            tracing::warn!(replay = %replay, error = %crate::error::chain(&error), "a nudge was lost; sweep will send another");
        }
    }

    /// Sends metrics. They never fail anything else.
    pub async fn measure(&self, data: &[Datum]) {
        if data.is_empty() {
            return;
        }
        if let Err(error) = self.metrics.put(data).await {
            tracing::warn!(error = %crate::error::chain(&error), "metrics were lost");
        }
    }

    /// Raises an alert. It never fails anything else.
    pub async fn alert(&self, alert: Alert) {
        if let Err(error) = self.alerts.raise(&alert).await {
            tracing::error!(error = %crate::error::chain(&error), kind = ?alert.kind, group = %alert.group, "an alert was lost");
        }
    }

    /// How long a dead-letter queue keeps messages: its own word, or the policy's where it gives none.
    pub async fn retention(&self, dlq: &QueueArn) -> Span {
        if let Some(span) = self.retentions.lock().ok().and_then(|known| known.get(dlq).copied()) {
            return span;
        }
        let Ok(attributes) = self.queue.attributes(dlq).await else {
            return self.policy.retention_ms;
        };
        if let Ok(mut known) = self.retentions.lock() {
            known.insert(dlq.clone(), attributes.retention);
        }
        attributes.retention
    }
}
