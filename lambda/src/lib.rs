//! AWS adapters for the office's ports, and the code that the Lambda functions' `main`s share.
//!
//! Only this crate names the AWS SDK, and the features `sqs` of `queue` and `dynamodb` of `consumer`.
//!
//! | port | adapter |
//! |---|---|
//! | metrics | [`metrics::CloudWatchMetrics`] |
//! | alerts | [`alerts::SnsAlerts`] and [`events::EventBridgeAlerts`] |
//! | queue | [`queue::SqsQueue`] |
//! | none: evidence for the gate | [`consumers::Lambda`]: which functions consume the main queues, in which version |
//! | logs | [`logs::CloudWatchLogs`] |
//! | payloads | [`payloads::S3Payloads`] |
//! | store | [`store::DynamoStore`]: one DynamoDB table, and a bucket for large content |

// They panic if they cannot write: see `office::log`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub use ::queue::batch;

pub mod alerts;
pub mod connect;
pub mod consumers;
pub mod events;
mod fanout;
pub mod function;
pub mod intake;
pub mod logs;
pub mod metrics;
pub mod payloads;
pub mod queue;
mod retry;
pub mod settings;
pub mod sign_in;
pub mod signed;
pub mod store;
