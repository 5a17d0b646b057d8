//! What a stack tells its functions: the environment, read once.

use super::alerts::SnsAlerts;
use super::connect;
use super::events::EventBridgeAlerts;
use super::metrics::CloudWatchMetrics;
use super::payloads::S3Payloads;
use super::queue::SqsQueue;
use super::store::{BUCKET_FROM_BYTES, DynamoStore};
use async_trait::async_trait;
use domain::alert::Alert;
use domain::id::QueueArn;
use domain::policy::Policy;
use domain::time::Timestamp;
use office::office::Office;
use office::port::{Alerts, SinkError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use transform::Transforms;

/// A setting is missing or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// It is not there.
    #[error("the environment variable {0} is not set; the stack sets it")]
    Missing(&'static str),
    /// The policy is not one.
    #[error("DLO_POLICY is not a policy")]
    Policy(#[source] serde_json::Error),
}

/// A variable that must be there.
pub fn required(name: &'static str) -> Result<String, SettingsError> {
    optional(name).ok_or(SettingsError::Missing(name))
}

/// A variable that may be there; empty counts as not.
pub fn optional(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Queues by their ARNs, separated by commas.
pub fn queues(list: &str) -> Vec<QueueArn> {
    list.split(',').map(str::trim).filter(|arn| !arn.is_empty()).map(QueueArn::from).collect()
}

/// The office as the stack describes it; its clients are made here, once per process.
pub async fn office() -> Result<Office, SettingsError> {
    let config = connect::from_env().await;
    let policy: Policy = match optional("DLO_POLICY") {
        Some(text) => serde_json::from_str(&text).map_err(SettingsError::Policy)?,
        None => Policy::default(),
    };
    let mut alerts: Vec<Box<dyn Alerts>> = Vec::new();
    if let Some(topic) = optional("DLO_ALERTS_TOPIC") {
        alerts.push(Box::new(SnsAlerts::new(&config, topic, optional("DLO_DASHBOARD"))));
    }
    if let Some(bus) = optional("DLO_ALERTS_BUS") {
        alerts.push(Box::new(EventBridgeAlerts::new(&config, bus, optional("DLO_DASHBOARD"))));
    }
    let store = DynamoStore::new(&config, required("DLO_TABLE")?);
    let mut store = store.keeping_delivered(policy.delivered_kept());
    if let Some(bucket) = optional("DLO_BUCKET") {
        store = store.with_bucket(&config, bucket, BUCKET_FROM_BYTES);
    }
    Ok(Office {
        store: Arc::new(store),
        queue: Arc::new(SqsQueue::new(&config)),
        metrics: Arc::new(CloudWatchMetrics::new(&config)),
        alerts: Arc::new(Everywhere(alerts)),
        payloads: Arc::new(S3Payloads::new(&config)),
        policy: Arc::new(policy),
        steps: QueueArn::new(required("DLO_STEPS")?),
        clock: Arc::new(now),
        // Only waits are drawn by chance.
        entropy: Arc::new(|| getrandom::u64().unwrap_or_default()),
        retentions: Arc::new(Mutex::new(HashMap::new())),
        transforms: Arc::new(Transforms::with_this_executable()),
    })
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// All places that are told. Where there is none, an alert is a line of the log: without its title, which says what a
/// letter says.
struct Everywhere(Vec<Box<dyn Alerts>>);

#[async_trait]
impl Alerts for Everywhere {
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError> {
        if self.0.is_empty() {
            tracing::warn!(kind = ?alert.kind, level = ?alert.level, group = %alert.group, "an alert that nobody hears");
        }
        // One place that cannot be told must not keep the others from it.
        let mut told = Ok(());
        for place in &self.0 {
            told = told.and(place.raise(alert).await);
        }
        told
    }
}
