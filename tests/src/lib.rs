//! What integration tests share: conformance suites, endpoints of this machine that speak AWS, a deployed stack, the
//! processes that a test may kill, and the report of skipped cases.

pub mod cloudfront;
pub mod conformance;
pub mod costs;
pub mod deployed;
pub mod endpoint;
pub mod issuer;
pub mod postgres;
pub mod processes;
pub mod skipped;
