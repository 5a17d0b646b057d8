//! The deployed office at an endpoint of this machine: `cargo aws up`, then `cargo aws test`.

mod faults;
mod story;
