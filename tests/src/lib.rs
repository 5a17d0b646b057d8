//! What integration tests share: conformance suites, and endpoints of this machine that speak AWS.

pub mod conformance;
pub mod deployed;
pub mod endpoint;
