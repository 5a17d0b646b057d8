//! The adapters for AWS: the only place that knows its SDK. And what the functions' mains share.
//!
//! | port | adapter |
//! |---|---|
//! | metrics | [`metrics::CloudWatchMetrics`] |
//! | alerts | [`alerts::SnsAlerts`] and [`events::EventBridgeAlerts`] |
//! | queue | [`queue::SqsQueue`] |
//! | (evidence) | [`consumers::Lambda`]: what consumes the main queues, and which version |
//! | payloads | [`payloads::S3Payloads`] |
//! | store | [`store::DynamoStore`]: one table |

pub mod alerts;
pub mod batch;
pub mod connect;
pub mod consumers;
pub mod events;
pub mod function;
pub mod metrics;
pub mod payloads;
pub mod queue;
mod retry;
pub mod settings;
pub mod sign_in;
pub mod store;
