//! Conformance suites: one for each port, run on every implementation.

pub mod once;
pub mod queue;
pub mod store;
