//! The replay handler: asks `domain` for the next step of a replay, does it, records it. It decides nothing itself.
//!
//! Driven by step messages. Every change is conditional on the version that was read, so that two executors, a pause
//! from the API and a crash between any two calls all end in a state from which the next run goes on.

mod backlog;
mod batch;
pub(crate) mod changed;
mod checks;
mod order;
mod receipt;
mod send;
mod settle;
mod transition;

pub(crate) use checks::{Occasion, deployment_of, gate_of, main_queue_words};

pub use receipt::take_receipts;

use crate::error::OfficeError;
use crate::office::{Office, StepMessage};
use domain::id::ReplayId;
use domain::limits::LEASE_MS;
use domain::replay::{Replay, Step, next_step};
use domain::time::{Span, Timestamp};

/// Steps that one run does before it schedules the next: a bound for a run's time.
const STEPS_MAX: usize = 64;

/// How long a run begins something new: half a lease, and a quarter of what the function has, so that it ends by itself
/// and is not killed with letters in hand.
pub(crate) const RUN: Span = Span::from_ms(LEASE_MS / 2);

/// What a run leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Look again at this moment.
    At(Timestamp),
    /// Nothing to do until a person acts, or until another executor, who is at it, goes on.
    Nothing,
}

/// What one step did.
enum Did {
    /// Something: look for the next step at once.
    Something,
    /// Everything that may be done before this moment.
    AllUntil(Timestamp),
    /// Others were faster: read again.
    Lost,
}

/// Handles one step message: does what can be done now, and schedules the next look.
pub async fn handle(office: &Office, message: &StepMessage, executor: &str) -> Result<(), OfficeError> {
    let (next, progressed) = run(office, &message.replay, executor).await?;
    match next {
        Next::At(at) if progressed || !message.nudge => {
            let step = StepMessage { replay: message.replay.clone(), nudge: false };
            office.schedule(&step, at).await
        }
        _ => Ok(()),
    }
}

/// Does what can be done now. Also says whether anything was.
pub async fn run(office: &Office, id: &ReplayId, executor: &str) -> Result<(Next, bool), OfficeError> {
    let mut progressed = false;
    let until = office.now().plus(RUN);
    for _ in 0..STEPS_MAX {
        let Some(replay) = office.store.replay(id).await? else {
            tracing::warn!(replay = %id, "a step message names a replay that does not exist");
            return Ok((Next::Nothing, progressed));
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
                if is_anothers_turn(&replay, executor, now) {
                    return Ok((Next::Nothing, progressed));
                }
                send::send(office, &replay, (wave, letters_max), executor, until).await?
            }
            Step::LookAtQueue => backlog::look(office, &replay).await?,
            Step::Settle { sent_until } => settle::settle(office, &replay, sent_until).await?,
            Step::SkipUnsent => settle::skip_rest(office, &replay).await?,
            Step::Enter { wave, phase } => transition::enter(office, &replay, &ledger, wave, phase).await?,
            Step::Pause(why) => transition::pause(office, &replay, why).await?,
            Step::Finish(ending) => transition::finish(office, &replay, &ledger, ending).await?,
        };
        match did {
            Did::Something => progressed = true,
            Did::AllUntil(at) => return Ok((Next::At(at), true)),
            Did::Lost => {}
        }
    }
    Ok((Next::At(office.now().plus(Span::from_secs(1))), progressed))
}

/// Whether somebody else sends for this replay now, or its pace does not allow a letter yet: then this run is one too
/// many, and the other one goes on. If that one has died, sweep starts a new one.
fn is_anothers_turn(replay: &Replay, executor: &str, now: Timestamp) -> bool {
    replay.is_held_by_another(executor, now) || replay.paced_until().is_some_and(|until| until > now)
}
