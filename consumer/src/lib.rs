//! What a queue consumer uses: failure envelopes, retry with full jitter, early dead-lettering.
//!
//! A team writes a [`Handler`]; [`Consumer::run`] receives, handles, deletes, retries and dead-letters:
//!
//! * success: the message is deleted;
//! * a [`Class::Permanent`] failure: a copy with the failure stamped on it goes to the dead-letter queue at once, then
//!   the message is deleted;
//! * a [`Class::Transient`] or [`Class::Unknown`] failure: it becomes visible again after a backoff with full jitter;
//!   on the last receive that the queue's redrive policy allows it is dead-lettered with its stamp, so that the letter
//!   says why it died;
//! * a panic is a failure of its message, never of the loop;
//! * a message that a replay of the office sent, and that was handled, is told to the office with a receipt, where
//!   [`ConsumerConfig::receipts`] names a queue for that.
//!
//! ```no_run
//! use queue::{Queue, Received};
//! use consumer::{At, Consumer, ConsumerConfig, Failure, Handler, Judge, here};
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
//!     // The same body will not parse the next time either: dead-letter it now, with error and place on the stamp.
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
//! What it does not do yet: extend the visibility timeout of a handler that needs longer than the queue allows.
#![deny(missing_docs)]

pub mod backoff;
mod config;
mod decide;
mod failure;
mod frame;
mod panic;
mod receipt;
mod run;
mod settle;
mod stamp;

pub use config::{ConsumerConfig, Outcome};
pub use domain::reading::Class;
pub use failure::{At, Failure, Judge};
pub use frame::Frame;
pub use panic::guard;
pub use run::{Consumer, Handler};
