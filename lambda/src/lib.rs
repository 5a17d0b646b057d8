//! AWS adapters for the office's ports, and the code that the Lambda functions' `main`s share.
//!
//! Of the office, only this crate names the AWS SDK.
//!
//! | port | adapter |
//! |---|---|
//! | metrics | [`metrics::CloudWatchMetrics`] |
//! | alerts | [`alerts::SnsAlerts`] and [`events::EventBridgeAlerts`] |
//! | queue | [`queue::SqsQueue`] |
//! | none: evidence for the gate | [`consumers::Lambda`]: which functions consume the main queues, in which version |
//! | payloads | [`payloads::S3Payloads`] |
//! | store | [`store::DynamoStore`]: one DynamoDB table, and a bucket for large content |

// They panic if they cannot write: see `office::log`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod alerts;
pub mod batch;
pub mod connect;
pub mod consumers;
pub mod events;
pub mod function;
pub mod intake;
pub mod metrics;
pub mod payloads;
pub mod queue;
mod retry;
pub mod settings;
pub mod sign_in;
pub mod store;
