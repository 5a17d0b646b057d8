//! A library for SQS consumers: retries that do not feed an outage, dead letters that say why, and work done once.
//!
//! Implement [`Handler`] for one message. [`Consumer::run`] receives messages, calls the handler, and then:
//!
//! * deletes the message on success;
//! * on a [`Class::Permanent`] failure sends a copy with an error stamp to the dead-letter queue, then deletes the
//!   message;
//! * on a [`Class::Transient`] or [`Class::Unknown`] failure makes the message visible again after a wait, as its
//!   [`strategy`] says. On the last receive it dead-letters the message with a stamp instead, so that every dead letter
//!   carries its error;
//! * dead-letters at once what has failed on three different instances, and unhandled what is past its time to live;
//! * treats a panic as a failure of that message; the loop keeps running;
//! * sends a receipt to the Dead Letter Office for each handled message that a replay had sent, and notices of its
//!   circuits, if [`ConsumerConfig::receipts`] names a queue.
//!
//! On AWS Lambda the event source mapping receives and deletes; use [`Consumer::handle_batch`] there, or
//! `Consumer::handle_event` of the feature `lambda`. `queue::sqs::SqsQueue` of the feature `sqs` is SQS.
//!
//! Class and category come from the office's own reader: a rule of [`ConsumerConfig::policy`] first, then what the
//! handler says, then the error itself.
//!
//! # Inside a handler
//!
//! * [`dependency::Dependency`]: circuit breaker, retry budget and time limit around calls to one service;
//! * [`retry`]: repeats a call in process, for milliseconds to seconds;
//! * [`once`]: does work once per key, however often its message is delivered.
//!
//! # The stamp
//!
//! The stamp is the message attribute `dlo.failure`: JSON of the reader's [`Stamp`](domain::read::Stamp) and of
//! [`StampContext`], at most 16 KiB. The body and all other attributes stay as they were. A message with ten attributes,
//! or as large as its dead-letter queue takes, has no room for a stamp: the queue's own redrive policy then dead-letters it
//! without one.
//!
//! # Example
//!
//! ```no_run
//! use consumer::{At, Classify, Consumer, ConsumerConfig, Failure, Handler, here};
//! use queue::{Queue, Received};
//! use std::sync::Arc;
//!
//! struct Doubler;
//!
//! #[async_trait::async_trait]
//! impl Handler for Doubler {
//!     async fn handle(&self, received: &Received) -> Result<(), Failure> {
//!         let number = parse(&received.content.body).at(here!())?;
//!         println!("{}", number.saturating_mul(2));
//!         Ok(())
//!     }
//! }
//!
//! fn parse(body: &str) -> Result<u32, Failure> {
//!     // The same body will fail again, so dead-letter it now, with the error and its location on the stamp.
//!     body.trim().parse::<u32>().permanent(here!())
//! }
//!
//! async fn run(queue: Arc<dyn Queue>, shutdown: tokio::sync::watch::Receiver<bool>) {
//!     let main = "arn:aws:sqs:eu-west-1:111122223333:numbers".into();
//!     let config = ConsumerConfig::new(main, "doubler", || env!("CARGO_PKG_VERSION").into());
//!     Consumer::new(config, queue, Arc::new(Doubler)).run(shutdown).await;
//! }
//! ```
//!
//! # Limits
//!
//! A handler must finish within nine tenths of the queue's visibility timeout, unless [`ConsumerConfig::handler_max`]
//! allows it longer; then the consumer extends the timeout while the handler runs.
#![deny(missing_docs)]

pub mod attempts;
pub mod backoff;
mod batch;
pub mod breaker;
pub mod budget;
mod call;
mod case;
mod clock;
pub mod concurrency;
mod config;
mod dead_letter;
mod decide;
mod delete;
pub mod dependency;
mod dlqs;
#[cfg(feature = "dynamodb")]
pub mod dynamodb;
mod expiry;
mod failure;
#[cfg(test)]
#[path = "fake_tests.rs"]
mod fake;
mod frame;
mod handle;
mod heartbeat;
mod instance;
#[cfg(feature = "lambda")]
pub mod lambda;
#[cfg(feature = "tower")]
pub mod layer;
#[cfg(feature = "metrics")]
pub mod measure;
mod notice;
pub mod once;
mod panic;
#[cfg(feature = "postgres")]
pub mod postgres;
mod problem;
mod receipt;
pub mod resequencer;
pub mod retry;
mod run;
mod settle;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod stamp;
mod stop;
pub mod strategy;
mod timely;

pub use config::{ConsumerConfig, Outcome};
pub use decide::Reason;
pub use domain;
pub use domain::reading::Class;
pub use domain::time::{Span, Timestamp};
pub use failure::{At, CircuitNote, Classify, Failure, FailureContext};
pub use frame::Frame;
pub use handle::Handler;
pub use instance::Instance;
pub use panic::guard;
pub use problem::Problem;
pub use queue;
pub use run::Consumer;
pub use stamp::StampContext;

/// Compiles and runs the examples of the README, which need these features.
#[cfg(all(doctest, feature = "lambda", feature = "postgres", feature = "sqs", feature = "tower"))]
#[doc = include_str!("../README.md")]
struct Readme;
