//! The adapters for AWS: the only place that knows its SDK.
//!
//! | port | adapter |
//! |---|---|
//! | queue | [`queue::SqsQueue`] |
//! | store | [`store::DynamoStore`]: one table |

pub mod connect;
pub mod queue;
mod retry;
pub mod store;
