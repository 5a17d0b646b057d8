//! The witness: why messages failed, for consumers in any runtime, without a change of code.
//!
//! It stands between a function's runtime and Lambda's Runtime API. It sees the batch that the function is given and
//! what comes of it, and reports failures to the office's receipts queue. It never fails the function: whatever the
//! witness cannot do, it leaves out.
//!
//! One program has three forms. As an **extension** ([`extension`]) Lambda starts it beside the function. As a **wrapper**
//! ([`wrapper`]) it starts the function's runtime with the proxy's address. With **`run`** ([`run`]) it is both, for
//! images and custom runtimes.

#![deny(missing_docs)]

pub mod backlog;

pub mod compose;
pub mod credentials;
pub mod event;
pub mod extension;
pub mod health;
pub mod http;
pub mod lambda_error;
pub mod logs;
pub mod outbox;
pub mod proxy;
pub mod run;
pub mod said;
pub mod settings;
pub mod sign;
pub mod sqs;
pub mod tee;
pub mod telemetry;
pub mod voice;
pub mod watch;
pub mod wrapper;
