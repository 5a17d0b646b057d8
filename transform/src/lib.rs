//! Programs in the jq language over payloads, run in a process of its own.
//!
//! A program cannot be interrupted once it runs, so [`Workers`] runs it in another process of the same executable: one
//! without environment, files or network, with little memory, that is killed when a letter takes too long. What a
//! program does not change keeps its text: digits, escapes and blanks (see `splice`).

mod engine;
mod json;
mod limits;
mod number;
mod splice;
mod worker;
mod workers;

pub use engine::{Applied, Failure};
pub use worker::{WORKER_ARGUMENT, work_if_asked};
pub use workers::{Transforms, WorkerError};

use domain::transform::ProgramFault;

/// What became of one body.
pub type Outcome = Result<Applied, Failure>;

/// What a program makes of some bodies, in their order; or what is wrong with the program.
pub type Run = Result<Vec<Outcome>, Vec<ProgramFault>>;
