//! Replays: an immutable plan, waves, outcomes that follow from the consumer's behaviour, and a ledger that accounts
//! for every letter.
//!
//! A [`Plan`] cannot be executed. Only an approval through an open gate turns it into a [`Replay`], and only a replay
//! has a next [`Step`]. The executor performs the step and records it; it makes no decisions.

mod approved;
mod block;
mod draft;
mod entry;
mod ledger;
mod message_groups;
mod plan;
mod receipt;
mod state;
mod step;
mod tagged;

pub use crate::gate::Waiver;
pub use crate::wrapped::Wrapped;
pub use approved::Replay;
pub use block::{BLOCK_ENTRIES, Block, BlockError};
pub use draft::{Draft, DraftEnding, Selected, first_moves, planned};
pub use entry::{Confirmation, Entry, Outcome, OutcomeKind, ReturnCause, SkipReason};
pub use ledger::{Ledger, LedgerMove, WaveLedger};
pub use message_groups::{Clearance, MessageGroups, rounds};
pub use plan::{LeftOut, Plan, PlanError, PlanHash, PlanOptions, letters_digest, plan_waves};
pub use receipt::{RECEIPT_VERSION, Receipt, Unproven};
pub use state::{Approval, Backlog, Ending, Lease, PauseReason, Phase, QueueCounts, ReplayState, Resumed};
pub use step::{Begun, Settling, Step, begun, next_canary, next_step, tripped, wave_delay};
