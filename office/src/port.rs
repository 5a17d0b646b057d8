//! The ports: what the handlers need of the world. Each has two real implementations (AWS, and the embedded office of
//! `dlo`), and one conformance suite that both pass.

mod commit_cost;
mod cursor;
mod payloads;
mod store;

pub use commit_cost::{BUCKETS_TOGETHER, WAVES_TOGETHER};
pub use cursor::ListPosition;
pub use payloads::{OutOfSight, Payloads, Presence};
pub use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received, Redrive};
pub use store::{CommitError, Cursor, Expect, GroupFacts, Page, Store, StoreError, TransformFacts, Write};

use async_trait::async_trait;
use domain::alert::Alert;
use domain::metric::Datum;

/// Where metrics go. Losing some must never fail anything else: the handlers log an error and go on.
#[async_trait]
pub trait Metrics: Send + Sync {
    /// Sends data; at most 1,000 at once.
    async fn put(&self, data: &[Datum]) -> Result<(), SinkError>;
}

/// Where alerts go.
#[async_trait]
pub trait Alerts: Send + Sync {
    /// Tells the right people.
    async fn raise(&self, alert: &Alert) -> Result<(), SinkError>;
}

/// A metric or an alert did not get out.
#[derive(Debug, thiserror::Error)]
#[error("{what} could not be sent")]
pub struct SinkError {
    /// What.
    pub what: &'static str,
    /// The fault.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}
