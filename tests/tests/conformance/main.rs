//! The conformance suites on the embedded queue and store.

mod once;
mod queue;
mod store;
