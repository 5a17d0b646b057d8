//! Runs programs in the jq language over payloads, in a separate process.
//!
//! A running program cannot be interrupted. So [`Transforms`] runs it in another process of the same executable. That
//! process has no environment, cannot open files or sockets, has little memory, and is killed if a letter takes too
//! long. Values that a program does not change keep their text: digits, escapes and blanks (module `splice`).
//!
//! ```
//! use transform::{Applied, Transforms};
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
//! # runtime.block_on(async {
//! let transforms = Transforms::in_this_process();
//! let run = transforms.sending().run(".quantity = 1", &[r#"{"quantity": 0, "price": 1.10}"#], false).await;
//! let outcomes = run.expect("a worker").expect("a valid program");
//! let expected = r#"{"quantity":1,"price":1.10}"#.to_string();
//! assert_eq!(outcomes, [Ok(Applied::Changed { body: expected, changes: vec![] })]);
//! # });
//! ```

mod engine;
mod json;
mod limits;
mod number;
mod outcome;
mod splice;
mod worker;
mod workers;

pub use limits::PREVIEWS_MAX;
pub use outcome::{Applied, Failure, Outcome, Run};
pub use worker::{WORKER_ARGUMENT, work_if_asked};
pub use workers::{Runner, Transforms, WorkerError};
