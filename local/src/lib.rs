//! The office on one machine: embedded queues and store, the demo service, and the commands of `dlo`.
//!
//! This crate only wires the handlers of the crate `office`; it contains no rules and no handlers of its own.

// They panic if they cannot write: see `office::log`.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "aws")]
pub mod attach;
pub mod backup;
pub mod classify;
pub mod clock;
pub mod control;
pub mod demo;
#[cfg(feature = "aws")]
pub mod doctor;
pub mod evacuate;
pub mod feed;
pub mod http;
pub mod logs;
pub mod machine;
#[cfg(feature = "aws")]
pub mod open;
pub mod orders;
pub mod orders_py;
pub mod panel;
pub mod policy;
mod private;
pub mod queue;
pub mod remote;
pub mod screen;
pub mod serve;
pub mod sign_in;
pub mod sinks;
pub mod sqlite;
pub mod store;
pub mod witness;
