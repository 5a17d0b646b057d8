//! The next step of a replay: a pure function of its state, its ledger and the time.
//!
//! | state | ledger and time | step |
//! |---|---|---|
//! | running, sending | too many came back | pause |
//! | running, sending | letters of the wave not sent | send |
//! | running, sending | all sent | observe until the last window ends |
//! | running, observing | too many came back | pause |
//! | running, observing | main queue's backlog not drained, slack over | look at the queue |
//! | running, observing | backlog not drained for too long | pause |
//! | running, observing | windows have ended | settle |
//! | running, observing | windows run | wait |
//! | running, observing | wave settled, more waves | rest, then the next wave |
//! | running, observing | wave settled, last wave | finish |
//! | running, resting | too many came back | pause |
//! | running, resting | time not come | wait |
//! | running, resting | time come | begin the next wave |
//! | paused | main queue's backlog not drained, slack over | look at the queue |
//! | paused | windows have ended | settle |
//! | paused | windows run | wait |
//! | paused | nothing in flight, letters not sent | nothing: a person decides |
//! | paused | nothing in flight, all sent | finish |
//! | stopping | letters not sent | skip them |
//! | stopping | letters in flight | as when paused |
//! | stopping | nothing in flight | finish |
//! | finished | - | nothing |

use super::ledger::{Ledger, WaveLedger};
use super::plan::{Plan, wave_delay_ceiling};
use super::state::{Ending, PauseReason, Phase, Replay, ReplayState};
use crate::time::{Span, Timestamp};
use serde::Serialize;

/// What the executor does next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Send letters of this wave that are not sent, at the plan's pace.
    Send {
        /// The wave.
        wave: u32,
        /// How many at most before the replay is looked at again.
        letters_max: u64,
    },
    /// Ask the main queue whether its backlog is drained.
    LookAtQueue,
    /// Judge as delivered what was sent before the moment and has not come back.
    Settle {
        /// Sent at or before this moment.
        sent_until: Timestamp,
    },
    /// Give the letters that were not sent the outcome `skipped(aborted)`.
    SkipUnsent,
    /// Enter this phase.
    Enter {
        /// The wave.
        wave: u32,
        /// The phase.
        phase: Phase,
    },
    /// Pause.
    Pause(PauseReason),
    /// It is over.
    Finish(Ending),
    /// Nothing before this moment.
    Wait {
        /// Until when.
        until: Timestamp,
    },
    /// Nothing until a person acts.
    Rest,
}

/// The next step. `entropy` is any number, a fresh random one each time; it only jitters the rest between waves.
pub fn next_step(replay: &Replay, ledger: &Ledger, now: Timestamp, entropy: u64) -> Step {
    match &replay.state() {
        ReplayState::Running { wave, phase } => running(replay, ledger, *wave, *phase, now, entropy),
        ReplayState::Paused { .. } => observe(replay, ledger, now)
            .unwrap_or_else(|| if ledger.total().pending == 0 { Step::Finish(Ending::Completed) } else { Step::Rest }),
        ReplayState::Aborting { .. } => {
            if ledger.total().pending > 0 {
                return Step::SkipUnsent;
            }
            observe(replay, ledger, now).unwrap_or(Step::Finish(Ending::Aborted))
        }
        ReplayState::Finished { .. } => Step::Rest,
    }
}

fn running(replay: &Replay, ledger: &Ledger, wave: u32, phase: Phase, now: Timestamp, entropy: u64) -> Step {
    let columns = ledger.wave(wave);
    // A letter may come back when its window is long over: every wave is judged again, except those before a
    // resumption, which a person has looked at.
    let first = replay.resumed().map_or(0, |resumed| resumed.wave);
    if let Some(why) = (first..=wave).rev().find_map(|wave| tripped(replay, wave, &ledger.wave(wave))) {
        return Step::Pause(why);
    }
    if matches!(phase, Phase::Observing { .. })
        && ledger.total().in_flight > 0
        && let Some(why) = stuck(replay, now)
    {
        return Step::Pause(why);
    }
    match phase {
        Phase::Sending if sendable(replay, wave, &columns) > 0 => {
            Step::Send { wave, letters_max: sendable(replay, wave, &columns) }
        }
        Phase::Sending => Step::Enter { wave, phase: Phase::Observing { until: replay.window_ends_at(now) } },
        Phase::Observing { .. } => observe(replay, ledger, now).unwrap_or_else(|| {
            // A resumption's canary has passed: the rest of its wave follows.
            if columns.pending + columns.sending > 0 {
                return Step::Enter { wave, phase: Phase::Sending };
            }
            after_wave(replay, wave, now, entropy)
        }),
        Phase::BetweenWaves { until } if now < until => Step::Wait { until },
        Phase::BetweenWaves { .. } => Step::Enter { wave: wave + 1, phase: Phase::Sending },
    }
}

/// What is in flight is waited for, then settled; none when nothing is in flight.
fn observe(replay: &Replay, ledger: &Ledger, now: Timestamp) -> Option<Step> {
    let total = ledger.total();
    if total.in_flight + total.sending == 0 {
        return None;
    }
    let until = replay.window_ends_at(now);
    let drained = replay.backlog().is_some_and(|backlog| backlog.is_drained());
    let look_from = replay.last_sent_at().unwrap_or(now).plus(replay.plan().slack_ms);
    Some(match drained {
        false if now < look_from => Step::Wait { until: look_from },
        false => Step::LookAtQueue,
        true if now < until => Step::Wait { until },
        true => Step::Settle { sent_until: now.minus(replay.window()) },
    })
}

/// Whether the main queue was looked at past the longest wait for its backlog, and is still not drained.
fn stuck(replay: &Replay, now: Timestamp) -> Option<PauseReason> {
    let backlog = replay.backlog().filter(|backlog| !backlog.is_drained())?;
    let until = replay.window_ends_at(now).plus(replay.plan().backlog_ms_max);
    (backlog.seen_at >= until).then_some(PauseReason::BacklogNotDrained { visible_count: backlog.visible_count })
}

fn after_wave(replay: &Replay, wave: u32, now: Timestamp, entropy: u64) -> Step {
    if wave as usize + 1 >= replay.plan().waves.len() {
        return Step::Finish(Ending::Completed);
    }
    let until = now.plus(wave_delay(&replay.plan(), wave + 1, entropy));
    Step::Enter { wave, phase: Phase::BetweenWaves { until } }
}

/// The rest before a wave: exponential with full jitter, so that neither many replays nor many waves beat in time.
pub fn wave_delay(plan: &Plan, wave: u32, entropy: u64) -> Span {
    let ceiling_ms = wave_delay_ceiling(plan, wave).as_ms().max(0) as u64;
    Span::from_ms((entropy % (ceiling_ms + 1)) as i64)
}

/// How many letters of the wave may go out now: all that are not sent, or the canary of a resumption.
fn sendable(replay: &Replay, wave: u32, columns: &WaveLedger) -> u64 {
    let unsent = columns.pending + columns.sending;
    match replay.resumed() {
        Some(resumed) if resumed.probing && resumed.wave == wave => {
            let canary = replay.plan().waves.first().copied().unwrap_or(1);
            let since = columns.sent().saturating_sub(resumed.sent);
            unsent.min(canary.saturating_sub(since))
        }
        _ => unsent,
    }
}

/// Whether so many letters of a wave came back that the replay stops itself. Letters whose window still runs count as
/// not returned, so it never stops on a share that may yet fall; and a canary smaller than the minimum sample counts
/// whole, because otherwise it could say nothing. After a resumption only what was sent since then is judged.
pub fn tripped(replay: &Replay, wave: u32, columns: &WaveLedger) -> Option<PauseReason> {
    let plan = &replay.plan();
    let before = replay.resumed().filter(|resumed| resumed.wave == wave);
    let sent = columns.sent().saturating_sub(before.map_or(0, |b| b.sent));
    let returned = columns.returned.saturating_sub(before.map_or(0, |b| b.returned));
    let probing = before.is_some_and(|b| b.probing);
    let canary = plan.waves.first().copied().unwrap_or(1);
    let whole = if probing { canary.min(columns.selected()) } else { columns.selected() };
    let sample = plan.sample_letters_min.min(whole).max(1);
    let too_many = u128::from(returned) * 100 > u128::from(plan.stop_share_pct) * u128::from(sent);
    (sent >= sample && too_many).then_some(PauseReason::TooManyReturned {
        returned,
        sent,
        stop_share_pct: plan.stop_share_pct,
        wave: Some(wave),
    })
}
