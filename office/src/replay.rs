//! The replay handler: asks `domain` for the next step of a replay, does it, and records it. It decides nothing itself.
//!
//! Step messages drive it. Every change depends on the version that was read. So the next run can continue after two
//! executors at once, after a pause from the API, and after a crash between any two calls.

mod backlog;
mod batch;
mod blocks;
pub(crate) mod changed;
mod order;
mod receipt;
mod send;
mod settle;
mod transition;

pub(crate) use blocks::unreadable;
pub use receipt::take_receipts;

use crate::commit::Tries;
use crate::error::OfficeError;
use crate::office::{Office, StepMessage};
use crate::planning;
use domain::id::{LetterId, ReplayId};
use domain::limits::LEASE_MS;
use domain::replay::{PauseReason, Replay, ReplayState, Step, next_step};
use domain::time::{Span, Timestamp};

/// The most steps of one run. The next run continues.
const STEPS_MAX: usize = 64;

/// How long a run starts new work: half a lease, and a quarter of the function's timeout. So a run ends by itself and
/// is never killed with letters half sent.
pub(crate) const RUN: Span = Span::from_ms(LEASE_MS / 2);

/// What follows a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Another run at this time.
    At(Timestamp),
    /// Nothing, until a person acts or the executor that is at work continues.
    Nothing,
    /// Nothing: there is no such replay. Its plan may still be a draft.
    NoReplay,
}

/// The result of one step.
enum Did {
    /// Progress: do the next step at once.
    Something,
    /// Everything that can be done before this time.
    AllUntil(Timestamp),
    /// Nothing, and nothing can be done before this time.
    Waits(Timestamp),
    /// Another process was faster: read the replay again.
    Lost,
}

/// Handles one step message: does what can be done now, and schedules the next step. `executor` names the process in
/// its leases and must be unique. After an error the message must come again.
///
/// ```
/// # use domain::id::ReplayId;
/// # use office::error::OfficeError;
/// # use office::office::{Office, StepMessage};
/// # async fn example(office: &Office, replay: ReplayId) -> Result<(), OfficeError> {
/// let message = StepMessage { replay, nudge: false, chain: 0 };
/// office::replay::handle(office, &message, "process 7").await
/// # }
/// ```
pub async fn handle(office: &Office, message: &StepMessage, executor: &str) -> Result<(), OfficeError> {
    let (next, progressed) = run(office, &message.replay, executor).await?;
    let at = match next {
        Next::At(at) => at,
        Next::Nothing => return Ok(()),
        Next::NoReplay => return planning::handle(office, message).await,
    };
    match chain_after(office, message, progressed).await? {
        Some(chain) => {
            let step = StepMessage { replay: message.replay.clone(), nudge: false, chain };
            office.schedule(&step, at).await
        }
        None => Ok(()),
    }
}

/// Returns the chain that the next step belongs to; `None` if another chain of steps goes on. Steps of the replay's own
/// chain continue it. Others, such as nudges, begin a new chain if they found something to do, and end the old one with
/// that: its executor may have died. Without chains, every nudge that finds work would add a step for ever.
async fn chain_after(office: &Office, message: &StepMessage, progressed: bool) -> Result<Option<u64>, OfficeError> {
    let mut tries = Tries::new(format!("replay {}", message.replay));
    loop {
        tries.begin()?;
        let Some(replay) = office.store.replay(&message.replay).await? else { return Ok(None) };
        if !message.nudge && message.chain == replay.chain() {
            return Ok(Some(message.chain));
        }
        if !progressed {
            return Ok(None);
        }
        let next = replay.in_new_chain();
        if transition::put(office, &next, replay.version()).await? {
            return Ok(Some(next.chain()));
        }
    }
}

/// Pauses a replay, because a message speaks against it that cannot be counted as a returned letter. Does nothing if the
/// replay is not running.
pub(crate) async fn pause_unproven(office: &Office, id: &ReplayId, letter: LetterId) -> Result<(), OfficeError> {
    let mut tries = Tries::new(format!("replay {id}"));
    loop {
        tries.begin()?;
        let Some(replay) = office.store.replay(id).await? else { return Ok(()) };
        if !matches!(replay.state(), ReplayState::Running { .. }) {
            return Ok(());
        }
        let why = PauseReason::UnprovenReturn { letter: letter.clone() };
        if !matches!(transition::pause(office, &replay, why).await?, Did::Lost) {
            return Ok(());
        }
    }
}

/// Does what can be done now. Returns what follows, and whether anything was done.
pub async fn run(office: &Office, id: &ReplayId, executor: &str) -> Result<(Next, bool), OfficeError> {
    let mut progressed = false;
    let until = office.now().plus(RUN);
    for _ in 0..STEPS_MAX {
        let Some(replay) = office.store.replay(id).await? else {
            return Ok((Next::NoReplay, progressed));
        };
        let ledger = office.store.ledger(id).await?;
        let now = office.now();
        if progressed && now >= until {
            return Ok((Next::At(now), true));
        }
        let step = next_step(&replay, &ledger, now, (office.entropy)());
        let did = match step {
            Step::Idle => return Ok((Next::Nothing, progressed)),
            Step::Wait { until } => return Ok((Next::At(until), progressed)),
            Step::Send { wave, letters_max } => {
                if is_busy_elsewhere(&replay, executor, now) {
                    return Ok((Next::Nothing, progressed));
                }
                send::send(office, (&replay, &ledger), (wave, letters_max), executor, until).await?
            }
            Step::RestartWaits => transition::restart_waits(office, &replay, now).await?,
            Step::LookAtQueue => backlog::check(office, &replay, &ledger).await?,
            Step::Settle(settling) => settle::settle(office, (&replay, &ledger), settling).await?,
            Step::SkipUnsent => settle::skip_unsent(office, &replay, &ledger).await?,
            Step::Enter { wave, phase } => transition::enter(office, &replay, &ledger, wave, phase).await?,
            Step::Pause(why) => transition::pause(office, &replay, why).await?,
            Step::Finish(ending) => transition::finish(office, &replay, &ledger, ending).await?,
        };
        match did {
            Did::Something => progressed = true,
            Did::AllUntil(at) => return Ok((Next::At(at), true)),
            Did::Waits(at) => return Ok((Next::At(at), progressed)),
            Did::Lost => {}
        }
    }
    Ok((Next::At(office.now().plus(Span::from_secs(1))), progressed))
}

/// Returns whether another executor holds the replay, or has just sent as much as the pace allows. Then this run ends
/// and the other continues. If the other has died, the next sweep starts a new run.
fn is_busy_elsewhere(replay: &Replay, executor: &str, now: Timestamp) -> bool {
    replay.is_held_by_another(executor, now) || replay.is_paced(now)
}
