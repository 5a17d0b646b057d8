//! Conformance suites: one per port, run on every implementation of it.

pub mod queue;
pub mod store;
