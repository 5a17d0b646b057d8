//! The adapters for AWS: the only place that knows its SDK.
//!
//! | port | adapter |
//! |---|---|
//! | store | [`store::DynamoStore`]: one table |

pub mod connect;
pub mod store;
