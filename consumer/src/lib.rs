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
//! * a panic is a failure of its message, never of the loop.
//!
//! What it does not do yet: extend the visibility timeout of a handler that needs longer than the queue allows.
#![deny(missing_docs)]

pub mod backoff;
mod config;
mod decide;
mod failure;
mod panic;
mod place;
pub mod queue;
mod run;
mod settle;
mod stamp;

pub use config::{ConsumerConfig, Outcome};
pub use domain::reading::Class;
pub use failure::{At, Failure, Judge};
pub use panic::guard;
pub use place::Frame;
pub use run::{Consumer, Handler};
