//! Tests of the AWS adapters at endpoints of this machine: `cargo ci --only aws`.

mod attach;
mod consumers;
mod costs;
mod doctor;
mod list;
mod logs;
mod office;
mod once;
mod open;
mod queue;
mod store;
