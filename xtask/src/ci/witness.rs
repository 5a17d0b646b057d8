//! The layer `witness` behind real runtimes, against a Runtime and Extensions API of this machine.

use super::tally::Tally;
use super::{built, rust};
use crate::failure::Outcome;
use crate::paths::Paths;
use crate::tools::{aws, lambda_runtimes};

pub fn layer(paths: &Paths) -> Outcome<Tally> {
    lambda_runtimes::ensure(paths)?;
    aws::ensure_ministack(paths)?;
    let programs = built::ensure(paths)?;
    built::run_all(&built::chosen(&programs, rust::WITNESS)?, |_| Ok(()))
}
