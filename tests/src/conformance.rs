//! Conformance suites: one for each port, run on every implementation.

pub mod queue;
pub mod store;
