//! The adapters for AWS on endpoints of this machine: `cargo ci --only aws`.

mod consumers;
mod office;
mod open;
mod queue;
mod store;
