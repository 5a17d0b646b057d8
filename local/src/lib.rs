//! The office on one machine: embedded queues and store, the demo, and `dlo classify`. It wires the handlers of
//! `lambda`; it has no rule and no handler of its own.

pub mod classify;
pub mod control;
pub mod demo;
pub mod feed;
pub mod machine;
#[cfg(feature = "aws")]
pub mod open;
pub mod orders;
pub mod panel;
pub mod queue;
pub mod screen;
pub mod serve;
pub mod sign_in;
pub mod sinks;
pub mod store;
