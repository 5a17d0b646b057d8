//! The witness with real runtimes, against a Runtime and Extensions API of this machine.

mod examples;
mod harmless;
mod node;
mod passing;
mod python;
mod queue;
mod sandbox;
mod service;
mod whole_way;
