//! Replays: a frozen plan, waves, outcomes judged by what the consumer did, and a ledger that closes.
//!
//! A [`Plan`] cannot be executed. Only an approval with an open gate makes a [`Replay`] of it, and only a replay has
//! a next [`Step`]. The executor does what the step says and records it; it decides nothing.

mod entry;
mod ledger;
mod message_groups;
mod plan;
mod receipt;
mod state;
mod step;
mod tagged;

pub use entry::{Confirmation, Entry, Outcome, OutcomeKind, SkipReason, Verdict};
pub use ledger::{Ledger, LedgerMove, WaveLedger};
pub use message_groups::{MessageGroups, Turn, rounds};
pub use plan::{LeftOut, Plan, PlanError, PlanHash, PlanOptions, letters_digest, plan_waves};
pub use receipt::{RECEIPT_VERSION, Receipt, Unproven};
pub use state::{Approval, Backlog, Ending, Lease, PauseReason, Phase, Replay, ReplayState, Resumed, Waiver};
pub use step::{Step, next_step, tripped, wave_delay};
