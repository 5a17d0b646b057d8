//! Tests of the AWS adapters at endpoints of this machine: `cargo ci --only aws`.

mod consumers;
mod office;
mod open;
mod once;
mod queue;
mod store;
