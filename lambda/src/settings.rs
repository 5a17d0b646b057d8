//! Settings that the stack passes to its functions in environment variables. Each process reads them once.

use super::alerts::SnsAlerts;
use super::connect;
use super::events::EventBridgeAlerts;
use super::fanout::AlertFanout;
use super::logs::CloudWatchLogs;
use super::metrics::CloudWatchMetrics;
use super::payloads::S3Payloads;
use super::queue::SqsQueue;
use super::store::{BUCKET_FROM_BYTES, DynamoStore};
use domain::id::QueueArn;
use domain::policy::{Policy, PolicyError, QueuePolicy};
use domain::time::Timestamp;
use office::office::{Office, PlanLimits};
use office::policy::Policies;
use office::port::{Alerts, Logs, NoLogs, Store, StoreError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use transform::Transforms;

/// A setting is missing or invalid.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A required environment variable is not set.
    #[error("the environment variable {0} is not set; deploy the function with infra/template.yaml, which sets it")]
    Missing(&'static str),
    /// The policy is not valid, and the store has none that would apply instead.
    #[error("DLO_POLICY is not a valid policy; check the stack's parameter Policy")]
    Policy(#[source] PolicyError),
    /// The policy is not valid, and the store does not say whether it has one.
    #[error("DLO_POLICY is not a valid policy, and the store cannot be asked for its own")]
    Store(#[source] StoreError),
    /// The client for logs could not be created.
    #[error("the HTTP client for CloudWatch Logs could not be created")]
    Logs(#[source] reqwest::Error),
}

/// Returns a required variable.
pub fn required(name: &'static str) -> Result<String, SettingsError> {
    optional(name).ok_or(SettingsError::Missing(name))
}

/// Returns an optional variable. An empty value counts as missing.
pub fn optional(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Parses a comma-separated list of queue ARNs.
pub fn queues(list: &str) -> Vec<QueueArn> {
    list.split(',').map(str::trim).filter(|arn| !arn.is_empty()).map(QueueArn::from).collect()
}

/// Returns the main queues that the stack names. Its default is for letters of its first dead-letter queue only: the
/// others, and those that stacks of their own attach, belong to other main queues.
fn named(main: Vec<QueueArn>, default_main: Option<String>, watching: &[QueueArn]) -> QueuePolicy {
    QueuePolicy { main, default_main: default_main.map(QueueArn::new), default_dlq: watching.first().cloned() }
}

/// Builds the office from the stack's settings, with its SDK clients. Call this once per process.
pub async fn office() -> Result<Office, SettingsError> {
    let config = connect::from_env().await;
    let store = DynamoStore::new(&config, required("DLO_TABLE")?);
    let mut policy = deployed_policy(optional("DLO_POLICY").as_deref(), &store).await?;
    let list = |name| queues(&optional(name).unwrap_or_default());
    let named = named(list("DLO_MAIN_QUEUES"), optional("DLO_DEFAULT_MAIN_QUEUE"), &list("DLO_WATCHING"));
    policy.queues = policy.queues.and(&named);
    let closed = ["DLO_WATCHING", "DLO_RECEIPTS", "DLO_STEPS", "DLO_FAILED"].into_iter().flat_map(list);
    let mut sinks: Vec<Box<dyn Alerts>> = Vec::new();
    if let Some(topic) = optional("DLO_ALERTS_TOPIC") {
        sinks.push(Box::new(SnsAlerts::new(&config, topic, optional("DLO_DASHBOARD"))));
    }
    if let Some(bus) = optional("DLO_ALERTS_BUS") {
        sinks.push(Box::new(EventBridgeAlerts::new(&config, bus, optional("DLO_DASHBOARD"))));
    }
    let carries_titles = optional("DLO_ALERTS_CARRY_TITLES").as_deref() == Some("true");
    let mut store = store.keeping_closed(&policy);
    if let Some(bucket) = optional("DLO_BUCKET") {
        store = store.with_bucket(&config, bucket, BUCKET_FROM_BYTES);
    }
    let steps = QueueArn::new(required("DLO_STEPS")?);
    Ok(Office {
        store: Arc::new(store),
        queue: Arc::new(SqsQueue::new(&config).with_ages(&config, steps.clone())),
        metrics: Arc::new(CloudWatchMetrics::new(&config, optional("DLO_OFFICE"))),
        alerts: Arc::new(AlertFanout { sinks, carries_titles }),
        payloads: Arc::new(S3Payloads::new(&config)),
        logs: logs(&config)?,
        policy: Arc::new(policy),
        policy_version: 0,
        policies: Arc::new(Policies::new(named)),
        steps,
        closed_queues: Arc::new(closed.collect()),
        clock: Arc::new(now),
        // Randomness only chooses delays, so a failing generator does no harm.
        entropy: Arc::new(|| getrandom::u64().unwrap_or_default()),
        custody: true,
        retentions: Arc::new(Mutex::new(HashMap::new())),
        sweeps: Arc::default(),
        known_groups: Arc::default(),
        planning: PlanLimits::default(),
        transforms: Arc::new(Transforms::with_this_executable()),
    })
}

/// Returns the deployment's policy, which applies until the store has one. If it is not valid and the store has one, the
/// deployment's has no effect: its error is logged, and the default takes its place. Otherwise the error is returned,
/// because the default could let a replay through that the team has forbidden.
pub async fn deployed_policy(text: Option<&str>, store: &dyn Store) -> Result<Policy, SettingsError> {
    let Some(text) = text else { return Ok(Policy::default()) };
    let error = match Policy::parse(text) {
        Ok(policy) => return Ok(policy),
        Err(error) => error,
    };
    let Some(stored) = store.policy().await.map_err(SettingsError::Store)? else {
        return Err(SettingsError::Policy(error));
    };
    let (version, error) = (stored.version, office::error::chain(&error));
    tracing::error!(version, error, "the parameter Policy is not a valid policy; the stored policy applies");
    Ok(Policy::default())
}

/// Returns the logs of consumers, if the stack names any.
fn logs(config: &connect::SdkConfig) -> Result<Arc<dyn Logs>, SettingsError> {
    if optional("DLO_CONSUMER_LOGS").is_none() {
        return Ok(Arc::new(NoLogs));
    }
    Ok(Arc::new(CloudWatchLogs::new(config).map_err(SettingsError::Logs)?))
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stacks_default_main_queue_is_for_its_first_dead_letter_queue() {
        let watching = queues("orders-dlq,refunds-dlq,");
        let named = named(queues("orders,refunds"), Some("orders".into()), &watching);
        let of = |dlq: &str| named.default_of(&dlq.into()).map(QueueArn::as_str);
        assert_eq!((of("orders-dlq"), of("refunds-dlq"), of("attached-dlq")), (Some("orders"), None, None));
    }
}
