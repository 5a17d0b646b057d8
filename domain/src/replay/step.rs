//! The next step of a replay: a pure function of its state, its ledger and the time. `docs/replay.md` lists every step
//! in a table generated from tested rows.

use super::approved::Replay;
use super::entry::OutcomeKind;
use super::ledger::{Ledger, WaveLedger};
use super::plan::{Plan, wave_delay_ceiling};
use super::state::{Backlog, Ending, PauseReason, Phase, ReplayState};
use crate::limits::CLOCK_SKEW_MAX;
use crate::time::{Span, Timestamp};
use serde::Serialize;

/// What the executor does next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Send unsent letters of this wave at the plan's pace.
    Send {
        /// The wave.
        wave: u32,
        /// The maximum number of letters before the replay is examined again.
        letters_max: u64,
    },
    /// Count from now whatever was stored with a time in the future, because the clock has gone back.
    RestartWaits,
    /// Check the main queue: whether its backlog is drained, and whether all letters sent have left it.
    LookAtQueue,
    /// Give letters in flight their outcome.
    Settle(Settling),
    /// Give unsent letters the outcome `skipped(aborted)`.
    SkipUnsent,
    /// Enter this phase.
    Enter {
        /// The wave.
        wave: u32,
        /// The phase.
        phase: Phase,
    },
    /// Pause the replay.
    Pause(PauseReason),
    /// Finish the replay.
    Finish(Ending),
    /// Do nothing before this moment.
    Wait {
        /// When to ask again.
        until: Timestamp,
    },
    /// Do nothing until a person acts.
    Idle,
}

/// Which letters in flight have their outcome. They have not returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Settling {
    /// Letters sent until this moment have left the main queue, and their window is over: they are delivered.
    pub delivered_until: Option<Timestamp>,
    /// What happened to letters sent until this moment will never be known: they are skipped as in doubt. Prevails over
    /// `delivered_until`.
    pub unknown_until: Option<Timestamp>,
}

impl Settling {
    /// Returns the outcome of a letter sent at this moment: `Delivered`, `Skipped` as in doubt, or `None` if it has none
    /// yet. A time in the future was written by a clock that has gone back since: the letter was sent before the last
    /// send of the replay, which counts from then.
    pub fn outcome_for(&self, sent_at: Timestamp, now: Timestamp) -> Option<OutcomeKind> {
        let is_future = sent_at > now.plus(CLOCK_SKEW_MAX);
        let sent_at = if is_future { self.delivered_until.or(self.unknown_until)? } else { sent_at };
        if self.unknown_until.is_some_and(|until| sent_at <= until) {
            return Some(OutcomeKind::Skipped);
        }
        self.delivered_until.filter(|until| sent_at <= *until).map(|_| OutcomeKind::Delivered)
    }
}

/// Returns the next step. `entropy` is a fresh random number for each call; it only jitters the delay between waves.
///
/// ```
/// use domain::replay::{Ledger, Replay, Step, WaveLedger, next_step};
/// use domain::time::Timestamp;
/// # use domain::fix::FixKind;
/// # use domain::gate::{ConsumerFacts, GateFacts, QueueFact, evaluate};
/// # use domain::policy::GatePolicy;
/// # use domain::replay::{Approval, Plan};
/// # use domain::time::Span;
/// # fn approved(now: Timestamp) -> Replay {
/// #     let plan: Plan = serde_json::from_value(serde_json::json!({
/// #         "id": "r", "group": "g", "main_queue": "arn:aws:sqs:local:0:orders", "made_by": "otto", "made_at": now,
/// #         "fix": { "kind": "deploy", "reference": "v2", "declared_by": "otto", "declared_at": now,
/// #             "effective_at": now },
/// #         "letters": { "letters": 12, "priced": 0, "money": [] }, "message_types": [], "letters_digest": "",
/// #         "oldest_sent_at": null, "left_out": [], "waves": [2, 10], "rounds": 2, "pace_per_s": 10,
/// #         "pause_share_pct": 50, "sample_letters_min": 5, "window_ms": 10_000, "slack_ms": 2_000,
/// #         "backlog_ms_max": 60_000, "wave_delay_ms": 1_000, "wave_delay_ms_max": 9_000,
/// #     })).unwrap();
/// #     let facts = GateFacts {
/// #         group: &plan.group, class: domain::reading::Class::Permanent, fix: Some(&plan.fix), last_died_at: None, last_undated_at: None,
/// #         dry_run: None, filter: &plan.filter, deployment: None,
/// #         consumers: ConsumerFacts::default(), letters: &plan.letters, left_out: &[], unchecked: &[], wrapped: &plan.wrapped,
/// #         queue: QueueFact::Ready("standard queue".into()), approver: Some(&"anna".into()),
/// #         waivers: &[], four_eyes: true,
/// #     };
/// #     let policy = GatePolicy { quiet_ms: Span::ZERO, ..GatePolicy::default() };
/// #     let gate = evaluate(&facts, &policy, now).open().unwrap();
/// #     let approval = Approval {
/// #         by: "anna".into(), by_id: None, at: now, reason: "tested".into(), plan_hash: plan.hash(), waivers: Vec::new(),
/// #         policy_version: 0,
/// #     };
/// #     plan.approve(gate, approval).unwrap()
/// # }
///
/// // A plan of 12 letters, approved through the open gate: a canary of 2, then 10.
/// let now = Timestamp::from_ms(1_800_000_000_000);
/// let replay = approved(now);
/// let wave = |pending| WaveLedger { pending, ..WaveLedger::default() };
/// let ledger = Ledger(vec![wave(2), wave(10)]);
/// assert_eq!(next_step(&replay, &ledger, now, 0), Step::Send { wave: 0, letters_max: 2 });
/// ```
pub fn next_step(replay: &Replay, ledger: &Ledger, now: Timestamp, entropy: u64) -> Step {
    match &replay.state() {
        ReplayState::Running { wave, phase } => running(replay, ledger, *wave, *phase, now, entropy),
        ReplayState::Paused { .. } => observe(replay, ledger, now)
            .unwrap_or_else(|| if ledger.total().pending == 0 { Step::Finish(Ending::Completed) } else { Step::Idle }),
        ReplayState::Aborting { .. } => {
            if ledger.total().pending > 0 {
                return Step::SkipUnsent;
            }
            observe(replay, ledger, now).unwrap_or(Step::Finish(Ending::Aborted))
        }
        ReplayState::Finished { .. } => Step::Idle,
    }
}

fn running(replay: &Replay, ledger: &Ledger, wave: u32, phase: Phase, now: Timestamp, entropy: u64) -> Step {
    let columns = ledger.wave(wave);
    // Letters may return long after their window, so every wave is examined again, except for waves before a
    // resumption, which a person has examined.
    let first = replay.resumed().map_or(0, |resumed| resumed.wave);
    if let Some(why) = (first..=wave).rev().find_map(|wave| tripped(replay, wave, &ledger.wave(wave))) {
        return Step::Pause(why);
    }
    if replay.is_ahead_of(now) {
        return Step::RestartWaits;
    }
    let total = ledger.total();
    if matches!(phase, Phase::Observing { .. })
        && total.in_flight + total.sending > 0
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
            // A resumption's canary has passed, so the remaining letters of its wave follow.
            if columns.pending + columns.sending > 0 {
                return Step::Enter { wave, phase: Phase::Sending };
            }
            after_wave(replay, wave, now, entropy)
        }),
        Phase::BetweenWaves { until } if now < until => Step::Wait { until },
        Phase::BetweenWaves { .. } => Step::Enter { wave: wave + 1, phase: Phase::Sending },
    }
}

/// Waits for letters in flight, then settles them. Returns `None` if nothing is in flight.
fn observe(replay: &Replay, ledger: &Ledger, now: Timestamp) -> Option<Step> {
    let total = ledger.total();
    if total.in_flight + total.sending == 0 {
        return None;
    }
    if replay.is_ahead_of(now) {
        return Some(Step::RestartWaits);
    }
    let (sent_at, slack) = (replay.last_sent_at().unwrap_or(now), replay.plan().slack_ms);
    let backlog = replay.backlog();
    if let Some(settling) = backlog.and_then(|backlog| given_up(replay, &backlog, now)) {
        return Some(Step::Settle(settling));
    }
    if backlog.is_none_or(|backlog| backlog.drained_at.is_none()) {
        let look_from = sent_at.plus(slack);
        return Some(if now < look_from { Step::Wait { until: look_from } } else { Step::LookAtQueue });
    }
    let until = replay.window_ends_at(now);
    if now < until {
        return Some(Step::Wait { until });
    }
    // Drained was not enough: a consumer may have taken a letter once and died with it.
    let at_the_end = backlog.filter(|backlog| backlog.seen_at >= until && backlog.is_current(now));
    let Some((gone_since, backlog)) = at_the_end.and_then(|backlog| Some((backlog.gone_since?, backlog))) else {
        return Some(Step::LookAtQueue);
    };
    // The last letter may just have moved to the dead-letter queue, where intake finds it.
    let intake_until = gone_since.plus(slack);
    if now < intake_until {
        return Some(Step::Wait { until: intake_until });
    }
    // An executor that was frozen may have sent a letter after the check, in its very millisecond even.
    let cleared_until = backlog.cleared_before.unwrap_or(sent_at).minus(slack).minus(Span::from_ms(1));
    Some(Step::Settle(Settling {
        delivered_until: Some(now.minus(replay.window()).min(cleared_until)),
        unknown_until: expired_until(replay, &backlog, gone_since),
    }))
}

/// Gives up on letters whose fate will never be known, by the latest check of the main queue.
fn given_up(replay: &Replay, backlog: &Backlog, now: Timestamp) -> Option<Settling> {
    if backlog.gone_since.is_some() || !backlog.is_current(now) {
        return None;
    }
    let expired_until = backlog.retention_ms.map(|retention| now.minus(retention));
    let is_expired = expired_until.is_some_and(|at| replay.last_sent_at().is_some_and(|sent_at| sent_at < at));
    // A person who aborts a replay on a queue that is never empty must not wait for its retention. If the consumer is
    // off, the letters do wait: they still lie on the queue.
    let is_aborting = matches!(replay.state(), ReplayState::Aborting { .. });
    let is_over = is_aborting && matches!(stuck(replay, now), Some(PauseReason::QueueNeverEmpty { .. }));
    let unknown_until = if is_over { Some(now) } else { expired_until.filter(|_| is_expired) };
    unknown_until.map(|until| Settling { delivered_until: None, unknown_until: Some(until) })
}

/// Whether the letters sent have still not left the main queue after the longest wait, or left it so late that the queue
/// may have deleted them.
fn stuck(replay: &Replay, now: Timestamp) -> Option<PauseReason> {
    let backlog = replay.backlog()?;
    let (visible_count, in_flight_count) = (backlog.visible_count, backlog.in_flight_count);
    if let Some(gone_since) = backlog.gone_since {
        let may_have_expired = expired_until(replay, &backlog, gone_since) >= replay.last_sent_at();
        return (may_have_expired && replay.last_sent_at().is_some())
            .then_some(PauseReason::BacklogNotDrained { visible_count });
    }
    let until = replay.window_ends_at(now).plus(replay.plan().backlog_ms_max);
    (backlog.seen_at >= until).then_some(if backlog.is_drained() {
        PauseReason::QueueNeverEmpty { visible_count, in_flight_count }
    } else {
        PauseReason::BacklogNotDrained { visible_count }
    })
}

/// Returns until when letters were sent that the queue may have deleted, unprocessed, before it was seen without them.
fn expired_until(replay: &Replay, backlog: &Backlog, gone_since: Timestamp) -> Option<Timestamp> {
    backlog.retention_ms.map(|retention| gone_since.minus(retention).plus(replay.plan().slack_ms))
}

fn after_wave(replay: &Replay, wave: u32, now: Timestamp, entropy: u64) -> Step {
    if wave as usize + 1 >= replay.plan().waves.len() {
        return Step::Finish(Ending::Completed);
    }
    let until = now.plus(wave_delay(replay.plan(), wave + 1, entropy));
    Step::Enter { wave, phase: Phase::BetweenWaves { until } }
}

/// Returns the delay before a wave: exponential with full jitter, so that replays and waves do not synchronise.
pub fn wave_delay(plan: &Plan, wave: u32, entropy: u64) -> Span {
    let ceiling_ms = wave_delay_ceiling(plan, wave).as_ms().max(0) as u64;
    Span::from_ms((entropy % (ceiling_ms + 1)) as i64)
}

/// Returns how many letters of the wave may be sent now: all unsent ones, or the canary of a resumption.
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

/// What begins when a replay enters the phase `Sending`, with its number of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// A wave.
    Wave(u64),
    /// The canary after a resumption: the first letters of what is left of its wave.
    Canary(u64),
    /// The other letters of the wave whose canary has passed.
    Rest(u64),
}

/// Returns what begins when a replay enters the phase `Sending` of a wave, from its records before and after. Returns
/// `None` for a further round of what began before.
pub fn begun(before: &Replay, after: &Replay, wave: u32, columns: &WaveLedger) -> Option<Begun> {
    let of_wave = |replay: &Replay| replay.resumed().filter(|resumed| resumed.wave == wave);
    match of_wave(after) {
        Some(resumed) if resumed.probing => {
            (columns.sent() == resumed.sent).then(|| Begun::Canary(sendable(after, wave, columns)))
        }
        Some(_) => of_wave(before).is_some_and(|resumed| resumed.probing).then_some(Begun::Rest(columns.pending)),
        None => (columns.sent() == 0).then_some(Begun::Wave(columns.pending)),
    }
}

/// Returns the size of the canary with which a resumed replay goes on; 0 if no letter is left to send.
pub fn next_canary(resumed: &Replay, ledger: &Ledger) -> u64 {
    let waves = &resumed.plan().waves;
    let left = (resumed.wave().unwrap_or(0)..waves.len() as u32).map(|wave| ledger.wave(wave).pending);
    left.into_iter().find(|pending| *pending > 0).unwrap_or(0).min(waves.first().copied().unwrap_or(1))
}

/// Returns the pause if too many letters of a wave returned. Letters with a running window count as not returned, so
/// the replay never pauses on a share that may still fall. A canary smaller than the minimum sample counts as a whole,
/// because otherwise it would never count. After a resumption only letters sent since then count.
///
/// A canary has a rule of its own: the first wave, and the first letters after a resumption. If none of its letters may
/// return, the first that does pauses the replay, whatever the sample.
pub fn tripped(replay: &Replay, wave: u32, columns: &WaveLedger) -> Option<PauseReason> {
    let plan = &replay.plan();
    let before = replay.resumed().filter(|resumed| resumed.wave == wave);
    let sent = columns.sent().saturating_sub(before.map_or(0, |b| b.sent));
    let returned = columns.returned.saturating_sub(before.map_or(0, |b| b.returned));
    let probing = before.is_some_and(|b| b.probing);
    let canary = plan.waves.first().copied().unwrap_or(1);
    let whole = if probing { canary.min(columns.selected()) } else { columns.selected() };
    let pause_share_pct = plan.pause_share_pct_of(wave == 0 || probing);
    let sample = if pause_share_pct == 0 { 1 } else { plan.sample_letters_min.min(whole).max(1) };
    let too_many = u128::from(returned) * 100 > u128::from(pause_share_pct) * u128::from(sent);
    (sent >= sample && too_many).then_some(PauseReason::TooManyReturned {
        returned,
        sent,
        pause_share_pct,
        wave: Some(wave),
    })
}
