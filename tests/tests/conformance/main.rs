//! The conformance suites on the embedded queue and store.

mod queue;
mod store;
