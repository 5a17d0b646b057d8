//! The office: its ports, its policy, its clock. Built once per process and shared by all handlers.

use crate::error::OfficeError;
use crate::known::KnownGroups;
use crate::policy::{Policies, Seen};
use crate::port::{Alerts, Logs, Metrics, Outgoing, Payloads, Queue, Store};
use crate::sweeps::Sweeps;
use domain::alert::Alert;
use domain::id::{QueueArn, ReplayId};
use domain::limits::{DELAY_S_MAX, DRAFT_STEP_LETTERS, DRAFT_TOGETHER_MAX, PLAN_REQUEST_LETTERS_MAX};
use domain::message::Content;
use domain::metric::Datum;
use domain::policy::Policy;
use domain::reading::Reading;
use domain::time::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use transform::Transforms;

/// Everything that a handler needs. Clones share it.
#[derive(Clone)]
pub struct Office {
    /// The store of letters, groups and replays.
    pub store: Arc<dyn Store>,
    /// The queues.
    pub queue: Arc<dyn Queue>,
    /// The sink of metrics.
    pub metrics: Arc<dyn Metrics>,
    /// The sink of alerts.
    pub alerts: Arc<dyn Alerts>,
    /// The payloads in S3 that letters point to.
    pub payloads: Arc<dyn Payloads>,
    /// The logs of consumers.
    pub logs: Arc<dyn Logs>,
    /// The team's policy: the deployment's, or the store's newest version in what [`Office::current`] returns.
    pub policy: Arc<Policy>,
    /// The version of that policy; 0 for the deployment's.
    pub policy_version: u64,
    /// What this process has read of the policy in the store.
    pub policies: Arc<Policies>,
    /// The queue of the office's own step messages.
    pub steps: QueueArn,
    /// The queues that no letter may be sent to: the office's own (steps, receipts, and their dead-letter queues) and
    /// the dead-letter queues that it watches. The office acts on what it receives from them.
    pub closed_queues: Arc<BTreeSet<QueueArn>>,
    /// The clock. The simulation supplies its own.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Random numbers. The simulation supplies its own.
    pub entropy: Arc<dyn Fn() -> u64 + Send + Sync>,
    /// Whether the office takes letters off their queues, which then can no longer lose them. An office that only looks
    /// does not.
    pub custody: bool,
    /// The retentions that this process has read from queues. They change rarely, and only a display depends on them.
    pub retentions: Arc<Mutex<HashMap<QueueArn, Span>>>,
    /// What this process knows of the sweeps.
    pub sweeps: Arc<Sweeps>,
    /// What this process knows of all groups.
    pub known_groups: Arc<KnownGroups>,
    /// How much of a plan is made at once.
    pub planning: PlanLimits,
    /// The workers that run payload transforms.
    pub transforms: Arc<Transforms>,
}

/// How much of a plan is made at once. Tests choose less.
#[derive(Clone, Copy, Debug)]
pub struct PlanLimits {
    /// The most waiting letters of a group whose plan is made within one request.
    pub in_request: u64,
    /// Letters that one step reads at least before it ends.
    pub in_step: u64,
    /// The most letters that one commit adds to a plan that is made in steps.
    pub together: usize,
}

impl Default for PlanLimits {
    fn default() -> Self {
        Self { in_request: PLAN_REQUEST_LETTERS_MAX, in_step: DRAFT_STEP_LETTERS, together: DRAFT_TOGETHER_MAX }
    }
}

/// A message on the step queue: do what this replay, or this plan that is being made, needs next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepMessage {
    /// The replay, or the draft.
    pub replay: ReplayId,
    /// Whether this is only a hint that something may have changed. Each step schedules the next one itself, so a nudge
    /// that finds nothing to do must not start a second chain of steps.
    #[serde(default)]
    pub nudge: bool,
    /// The chain of steps that it continues: see [`domain::replay::Replay::chain`]; of a draft its run.
    #[serde(default)]
    pub chain: u64,
}

impl Office {
    /// Returns the office with the current policy, at most [`POLICY_AGE_MAX`](domain::limits::POLICY_AGE_MAX)
    /// old. Call it once for each event or request.
    pub async fn current(&self) -> Result<Self, OfficeError> {
        match self.policies.recent(self.now()) {
            Some(seen) => Ok(self.following(seen)),
            None => self.latest().await,
        }
    }

    /// Returns the office with the newest version of the policy.
    pub async fn latest(&self) -> Result<Self, OfficeError> {
        // The time before the read: what is written during it may be missed.
        let at = self.now();
        Ok(self.following(self.policies.remember(self.store.policy().await?, at)))
    }

    fn following(&self, seen: Seen) -> Self {
        let office = match seen.newest {
            Some((policy_version, policy)) => Self { policy, policy_version, ..self.clone() },
            None => self.clone(),
        };
        office.store.keep_closed(&office.policy);
        office
    }

    /// Returns why no letter may be sent to a queue, as a sentence; `None` if letters may be sent there.
    pub fn refuses(&self, queue: &QueueArn) -> Option<String> {
        let is_closed = *queue == self.steps || self.closed_queues.contains(queue);
        is_closed.then(|| {
            format!("{} is a queue of this office or a dead-letter queue, so no letter is sent there.", queue.name())
        })
    }

    /// Removes the main queue from a reading if no letter may be sent there, and says so in a remark.
    pub(crate) fn withhold_own_queue(&self, reading: &mut Reading) {
        if let Some(why) = reading.main_queue.as_ref().and_then(|queue| self.refuses(queue)) {
            reading.main_queue = None;
            reading.diagnosis.remarks.push(why);
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Schedules a step for this time. SQS delays a message by 15 minutes at most, so a step for later comes early,
    /// finds that it has to wait, and schedules itself again.
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

    /// Schedules a step now, because something about a replay may have changed. A lost nudge costs only time: each
    /// sweep sends one to every unfinished replay.
    pub async fn nudge(&self, replay: &ReplayId) {
        let message = StepMessage { replay: replay.clone(), nudge: true, chain: 0 };
        if let Err(error) = self.schedule(&message, self.now()).await {
            tracing::warn!(replay = %replay, error = %crate::error::chain(&error), "a nudge was not sent; the next sweep sends another");
        }
    }

    /// Sends metrics. A failure is only logged.
    pub async fn measure(&self, data: &[Datum]) {
        if data.is_empty() {
            return;
        }
        if let Err(error) = self.metrics.put(data).await {
            tracing::warn!(error = %crate::error::chain(&error), "metrics were not sent and are lost");
        }
    }

    /// Raises an alert. A failure is only logged.
    pub async fn alert(&self, alert: Alert) {
        if let Err(error) = self.alerts.raise(&alert).await {
            tracing::error!(error = %crate::error::chain(&error), kind = ?alert.kind, group = alert.group.as_ref().map(|group| group.as_str()), "an alert was not sent and is lost");
        }
    }

    /// Returns how long a dead-letter queue keeps letters that the office leaves there: its own attribute, or the policy's
    /// value if the queue does not answer. `None` if the office takes them into custody.
    pub async fn retention(&self, dlq: &QueueArn) -> Option<Span> {
        if self.custody { None } else { Some(self.retention_of(dlq).await) }
    }

    async fn retention_of(&self, dlq: &QueueArn) -> Span {
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
