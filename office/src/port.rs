//! The ports: what the handlers need from their platform. Each has two real implementations, AWS and the embedded
//! office of `dlo`, and one conformance suite that both pass.

mod changed;
mod commit_cost;
mod cursor;
mod entries;
mod logs;
mod page;
mod payloads;
mod store;

pub use changed::{ChangePoint, Changed};
pub use commit_cost::{BUCKETS_TOGETHER, WAVES_TOGETHER};
pub use cursor::{ListPosition, Listed, is_of_id};
pub use logs::{LogQuery, Logged, Logs, LogsError, NoLogs};
pub use page::{Cursor, Page, StoreError};
pub use payloads::{NoPayloads, Payloads, Presence};
pub use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received, Redrive};
pub use store::{CommitError, EntryKey, Expect, GroupFacts, Store, TransformFacts, Write};

use async_trait::async_trait;
use domain::alert::Alert;
use domain::metric::Datum;

/// The sink of metrics. If it fails, the handlers log the error and continue: losing metrics fails nothing else.
#[async_trait]
pub trait Metrics: Send + Sync {
    /// Sends at most 1,000 data points.
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError>;
}

/// The sink of alerts.
#[async_trait]
pub trait Alerts: Send + Sync {
    /// Notifies the people in charge.
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError>;
}

/// A metric or an alert that could not be sent.
#[derive(Debug, thiserror::Error)]
#[error("{what} could not be sent")]
pub struct SinkError {
    /// What could not be sent, for example `an alert`.
    pub what: &'static str,
    /// The cause.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
