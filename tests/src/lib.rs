//! What tests that cross crates share: conformance suites, sample records, a whole office under a test's clock, and
//! faults between the handlers and their ports.

pub mod carried;
pub mod conformance;
#[cfg(feature = "aws")]
pub mod endpoint;
pub mod faults;
mod lag;
pub mod lockstep;
pub mod model;
pub mod office;
pub mod rates;
pub mod running;
pub mod simulation;
pub mod world;
