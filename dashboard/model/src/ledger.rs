//! A replay in numbers: its progress, the state of each wave, and a ledger in which every letter is counted once.

use super::gate::letters;
use super::money::count;
use super::when::span;
use super::words::{Tone, is_new_canary, is_used_up};
use domain::id::ReplayId;
use domain::replay::{Ending, OutcomeKind, PauseReason, Phase, Plan, ReplayState, WaveLedger};
use domain::time::{Span, Timestamp};
use wire::ReplayAnswer;

/// Columns that are always shown. The others appear only with letters in them.
const ALWAYS: [OutcomeKind; 4] =
    [OutcomeKind::Delivered, OutcomeKind::Returned, OutcomeKind::InFlight, OutcomeKind::Pending];

/// Returns the ledger's columns in reading order.
pub fn columns(total: &WaveLedger) -> Vec<OutcomeKind> {
    let sometimes = [OutcomeKind::Sending, OutcomeKind::Expired, OutcomeKind::Skipped];
    ALWAYS.into_iter().chain(sometimes.into_iter().filter(|kind| total.get(*kind) > 0)).collect()
}

/// Returns the number of letters with a final outcome.
pub fn settled(ledger: &WaveLedger) -> u64 {
    ledger.delivered + ledger.returned + ledger.expired + ledger.skipped
}

/// Describes the evidence of delivery: receipts, or no failure within the window. Returns `None` without a delivered
/// letter.
pub fn delivery_evidence(ledger: &WaveLedger, window: Span) -> Option<String> {
    let by_window = ledger.delivered.saturating_sub(ledger.confirmed);
    match (ledger.confirmed, by_window) {
        (0, 0) => None,
        (_, 0) => Some("all confirmed".into()),
        (0, _) => Some(format!("no failure seen for {}", span(window))),
        (n, others) => Some(format!("{} confirmed, {} with no failure for {}", count(n), count(others), span(window))),
    }
}

/// Returns the completed share of a replay in percent, rounded down: 100 means complete.
pub fn done_pct(ledger: &WaveLedger) -> u64 {
    settled(ledger) * 100 / ledger.selected().max(1)
}

/// Returns the first 8 characters of a replay's ID, enough to tell replays apart.
pub fn short(id: &ReplayId) -> String {
    id.as_str().chars().take(8).collect()
}

/// Returns the title of the browser tab: `38% · Replay 1a2b3c4d`.
pub fn tab_title(view: &ReplayAnswer) -> String {
    let id = short(view.replay.id());
    match &view.replay.state {
        ReplayState::Finished { .. } => format!("Replay {id}"),
        ReplayState::Paused { .. } => format!("Paused at {}% · Replay {id}", done_pct(&view.total)),
        _ => format!("{}% · Replay {id}", done_pct(&view.total)),
    }
}

/// Describes the progress for a screen reader.
pub fn progress(ledger: &WaveLedger) -> String {
    let pending = ledger.pending + ledger.sending;
    format!(
        "{} of {}: {} delivered, {} returned, {} in flight, {} pending",
        count(settled(ledger)),
        letters(ledger.selected()),
        count(ledger.delivered),
        count(ledger.returned),
        count(ledger.in_flight),
        count(pending)
    )
}

/// The state of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveState {
    /// An earlier wave is not finished.
    Waiting,
    /// Its letters are being sent.
    Sending,
    /// Sent, and observed until then.
    Observed(Timestamp),
    /// Sent, but the consumer has not received it yet: this many messages wait in the main queue.
    Queued(u64),
    /// No failure was seen in the window, but the main queue was not yet seen without the letters: this many messages wait
    /// there, or consumers hold them.
    NotGone(u64),
    /// Passed. The next wave starts then.
    BetweenWaves(Timestamp),
    /// Passed.
    Passed,
    /// Too many of its letters returned, and the replay was resumed later with another fix.
    Resumed,
    /// The replay paused because too many of its letters returned.
    TooManyReturned,
    /// The replay paused in this wave, by a person or for a reason other than returned letters.
    Paused,
    /// The replay was aborted before this wave.
    NotSent,
    /// The replay was aborted during this wave.
    Aborted,
}

impl WaveState {
    /// Returns the state's tone and label. The page adds the state's time or count.
    pub fn look(self) -> (Tone, &'static str) {
        match self {
            Self::Waiting => (Tone::Quiet, "Waiting for the previous wave"),
            Self::Sending => (Tone::Info, "Sending"),
            Self::Observed(_) => (Tone::Info, "Observing until"),
            Self::Queued(_) => (Tone::Warn, "Waiting in the main queue:"),
            Self::NotGone(_) => (Tone::Warn, "No failure seen so far. Still in the main queue:"),
            Self::BetweenWaves(_) => (Tone::Quiet, "Passed. Next wave in"),
            Self::Passed => (Tone::Ok, "Passed"),
            Self::Resumed => (Tone::Quiet, "Paused here, then resumed"),
            Self::TooManyReturned => (Tone::Danger, "Paused: too many returned"),
            Self::Paused => (Tone::Warn, "Paused"),
            Self::NotSent => (Tone::Quiet, "Not sent"),
            Self::Aborted => (Tone::Quiet, "Aborted"),
        }
    }
}

/// Returns the state of a wave; waves count from 0.
pub fn wave_state(view: &ReplayAnswer, wave: u32) -> WaveState {
    let columns = view.ledger.wave(wave);
    let queued = view.replay.backlog.filter(|backlog| !backlog.is_drained()).map(|backlog| backlog.visible_count);
    let observed = |otherwise: WaveState| match (queued, view.observed_until) {
        _ if columns.in_flight == 0 => otherwise,
        (Some(n), _) => WaveState::Queued(n),
        (_, Some(until)) => not_gone(view, until).unwrap_or(WaveState::Observed(until)),
        _ => otherwise,
    };
    let waves = view.replay.plan.waves.len() as u32;
    let is_sent = |wave: u32| view.ledger.wave(wave).sent() + view.ledger.wave(wave).sending > 0;
    let limit = pause_mille(view, wave);
    let too_many = returned_mille(&columns).is_some_and(|mille| mille > limit);
    let passed = if too_many { WaveState::Resumed } else { WaveState::Passed };
    match &view.replay.state {
        ReplayState::Paused { wave: at, why: PauseReason::TooManyReturned { wave: judged, .. }, .. }
            if wave == judged.unwrap_or(*at) =>
        {
            observed(WaveState::TooManyReturned)
        }
        ReplayState::Running { wave: at, .. } | ReplayState::Paused { wave: at, .. } if wave < *at => passed,
        ReplayState::Running { wave: at, .. } | ReplayState::Paused { wave: at, .. } if wave > *at => {
            WaveState::Waiting
        }
        ReplayState::Running { phase: Phase::Sending, .. } if is_used_up(view, wave) => passed,
        ReplayState::Running { phase: Phase::Sending, .. } => WaveState::Sending,
        ReplayState::Running { phase: Phase::Observing { until }, .. } => observed(WaveState::Observed(*until)),
        ReplayState::Running { phase: Phase::BetweenWaves { until }, .. } if !too_many => {
            WaveState::BetweenWaves(*until)
        }
        ReplayState::Running { phase: Phase::BetweenWaves { .. }, .. } => WaveState::Resumed,
        ReplayState::Paused { .. } => observed(WaveState::Paused),
        ReplayState::Finished { ending: Ending::Completed, .. } => passed,
        // Aborted: a wave passed before the next one was sent.
        _ if (wave + 1..).take_while(|later| *later < waves).any(is_sent) => passed,
        _ if !is_sent(wave) => WaveState::NotSent,
        _ if !too_many && columns.sent() == columns.selected() && columns.in_flight == 0 => passed,
        _ => observed(WaveState::Aborted),
    }
}

/// Returns the state of a wave whose window is over while the main queue was not seen without its letters.
fn not_gone(view: &ReplayAnswer, until: Timestamp) -> Option<WaveState> {
    let backlog = view.replay.backlog.filter(|backlog| backlog.seen_at >= until && backlog.gone_since.is_none())?;
    Some(WaveState::NotGone(backlog.visible_count + backlog.in_flight_count))
}

/// Returns the share of a wave's sent letters that returned, per mille. Returns `None` before the first letter is sent.
pub fn returned_mille(columns: &WaveLedger) -> Option<u64> {
    let sent = columns.sent();
    (sent > 0).then(|| columns.returned * 1000 / sent)
}

/// Formats a share in per mille: `3.4%`, `12%`.
pub fn share(mille: u64) -> String {
    if mille == 0 || mille >= 100 { format!("{}%", mille / 10) } else { format!("{}.{}%", mille / 10, mille % 10) }
}

/// Returns the share of returned letters above which the replay pauses in a wave, per mille.
pub fn pause_mille(view: &ReplayAnswer, wave: u32) -> u64 {
    let is_canary = wave == 0 || is_new_canary(view, wave);
    u64::from(view.replay.plan.pause_share_pct_of(is_canary)) * 10
}

/// Describes a share of returned letters above which a replay pauses: `any of the canary returns`.
fn returns_above(pct: u8, of: &str) -> String {
    if pct == 0 { format!("any letter of {of} returns") } else { format!("more than {pct}% of {of} returns") }
}

/// Describes when a replay of this plan pauses: `when any letter of the canary returns, or more than 50% of a later wave
/// returns`.
pub fn pauses_when(plan: &Plan) -> String {
    let (canary, wave) = (plan.pause_share_pct_of(true), plan.pause_share_pct_of(false));
    if canary == wave {
        return format!("when {}", returns_above(wave, "a wave"));
    }
    format!("when {}, or {}", returns_above(canary, "the canary"), returns_above(wave, "a later wave"))
}

/// Describes the rule that pauses the replay, and the running wave's share.
pub fn pause_rule(view: &ReplayAnswer) -> String {
    let rule = format!("Pauses {}", pauses_when(&view.replay.plan));
    let ReplayState::Running { wave, .. } = view.replay.state else { return format!("{rule}.") };
    let columns = view.ledger.wave(wave);
    // After a resumption, only letters sent since then count.
    let before = view.replay.resumed.filter(|resumed| resumed.wave == wave);
    let sent = columns.sent().saturating_sub(before.map_or(0, |before| before.sent));
    let returned = columns.returned.saturating_sub(before.map_or(0, |before| before.returned));
    match sent {
        0 => format!("{rule}."),
        _ if is_new_canary(view, wave) => {
            format!("{rule}; the new canary is at {} ({returned} of {sent}).", share(returned * 1000 / sent))
        }
        _ => format!("{rule}; wave {} is at {} ({returned} of {sent}).", wave + 1, share(returned * 1000 / sent)),
    }
}

/// Returns what is sent: a wave, or the canary after a resumption.
fn part_of(view: &ReplayAnswer, wave: u32) -> String {
    let canary = if is_new_canary(view, wave) { "the new canary, in " } else { "" };
    format!("{canary}wave {}", wave + 1)
}

/// Returns the announcement for screen readers. It changes with waves and pauses, never with counts.
pub fn announcement(view: &ReplayAnswer) -> String {
    let total = &view.total;
    let sums = format!("{} delivered, {} returned", total.delivered, total.returned);
    match &view.replay.state {
        ReplayState::Running { wave, phase: Phase::Sending } if is_used_up(view, *wave) => {
            "Resuming with a canary.".to_string()
        }
        ReplayState::Running { wave, phase: Phase::Sending } => {
            format!("Sending {} of {}.", part_of(view, *wave), view.replay.plan.waves.len())
        }
        ReplayState::Running { wave, phase: Phase::Observing { .. } } => {
            format!("Sent {}. Observing its letters.", part_of(view, *wave))
        }
        ReplayState::Running { wave, phase: Phase::BetweenWaves { .. } } => {
            let did = if wave_state(view, *wave) == WaveState::Resumed { "is over" } else { "passed" };
            format!("Wave {} {did}.", wave + 1)
        }
        ReplayState::Paused { by, .. } if by.as_str() == domain::id::Actor::OFFICE => {
            "The replay paused automatically.".to_string()
        }
        ReplayState::Paused { by, .. } => format!("{by} paused the replay."),
        ReplayState::Aborting { .. } => "The replay is being aborted.".to_string(),
        ReplayState::Finished { ending: Ending::Completed, .. } => format!("The replay finished: {sums}."),
        ReplayState::Finished { ending: Ending::Aborted, .. } => format!("The replay was aborted: {sums}."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use domain::id::Actor;
    use domain::replay::{Backlog, QueueCounts, Resumed};

    fn ledger(delivered: u64, returned: u64, in_flight: u64, pending: u64) -> WaveLedger {
        WaveLedger { delivered, returned, in_flight, pending, ..WaveLedger::default() }
    }

    #[test]
    fn percentages_are_rounded_down() {
        for (delivered, returned, in_flight, pending, pct) in
            [(0, 0, 0, 10, 0), (999, 0, 1, 0, 99), (1000, 0, 0, 0, 100), (1, 1, 1, 1, 50), (0, 0, 0, 0, 0)]
        {
            assert_eq!(done_pct(&ledger(delivered, returned, in_flight, pending)), pct);
        }
        for (mille, text) in [(0, "0%"), (34, "3.4%"), (99, "9.9%"), (125, "12%"), (1000, "100%")] {
            assert_eq!(share(mille), text);
        }
        assert_eq!(returned_mille(&ledger(0, 0, 0, 5)), None);
        assert_eq!(returned_mille(&ledger(1, 1, 2, 5)), Some(250));
    }

    #[test]
    fn shown_columns_add_up_to_all_letters() {
        let mut total = ledger(5, 2, 1, 2);
        let sum = |total: &WaveLedger| columns(total).iter().map(|kind| total.get(*kind)).sum::<u64>();
        assert_eq!((columns(&total).len(), sum(&total)), (4, total.selected()));
        total.skipped = 3;
        total.expired = 1;
        total.sending = 1;
        assert_eq!((columns(&total).len(), sum(&total)), (7, total.selected()));
    }

    #[test]
    fn the_ledger_shows_the_evidence_of_delivery() {
        for (delivered, confirmed, words) in [
            (0, 0, None),
            (40, 40, Some("all confirmed")),
            (40, 0, Some("no failure seen for 8 s")),
            (1_040, 1_000, Some("1,000 confirmed, 40 with no failure for 8 s")),
        ] {
            let ledger = WaveLedger { confirmed, ..ledger(delivered, 0, 0, 0) };
            assert_eq!(delivery_evidence(&ledger, Span::from_secs(8)).as_deref(), words);
        }
    }

    #[test]
    fn each_wave_has_a_state() {
        use WaveState::*;
        let at = Timestamp::from_ms(9);
        let running = |phase| ReplayState::Running { wave: 1, phase };
        let paused = |by: &str| ReplayState::Paused {
            wave: 1,
            why: PauseReason::ByPerson { reason: "r".into() },
            by: Actor::new(by),
            at,
        };
        let too_many = |wave| ReplayState::Paused {
            wave: 1,
            why: PauseReason::TooManyReturned { returned: 3, sent: 5, pause_share_pct: 50, wave },
            by: Actor::office(),
            at,
        };
        let finished = |ending| ReplayState::Finished { ending, at };
        let rows = [
            (running(Phase::Sending), [Passed, Sending, Waiting]),
            (running(Phase::Observing { until: at }), [Passed, Observed(at), Waiting]),
            (running(Phase::BetweenWaves { until: at }), [Passed, BetweenWaves(at), Waiting]),
            (paused("office"), [Passed, Paused, Waiting]),
            (too_many(None), [Passed, TooManyReturned, Waiting]),
            (too_many(Some(1)), [Passed, TooManyReturned, Waiting]),
            (too_many(Some(0)), [TooManyReturned, Paused, Waiting]),
            (paused("ana"), [Passed, Paused, Waiting]),
            (finished(Ending::Completed), [Passed, Passed, Passed]),
            (finished(Ending::Aborted), [Passed, Passed, NotSent]),
        ];
        for (state, expected) in rows {
            let waves = [ledger(1, 0, 0, 0), ledger(3, 2, 0, 0), ledger(0, 0, 0, 20)];
            let view = sample::replay(state.clone(), &waves);
            let states: Vec<_> = (0..3).map(|wave| wave_state(&view, wave)).collect();
            assert_eq!(states, expected, "{state:?}");
        }
        let waves = [ledger(1, 0, 0, 0), ledger(0, 3, 2, 0), ledger(0, 0, 0, 20)];
        let mut view = sample::replay(paused("office"), &waves);
        view.observed_until = Some(at);
        assert_eq!(wave_state(&view, 1), Observed(at), "a paused wave is observed to its end");
        let measured = |visible, in_flight| {
            let counts = QueueCounts { visible, in_flight, delayed: 0 };
            Some(Backlog::measured(at, counts, None, None))
        };
        view.replay.backlog = measured(9, 1);
        assert_eq!(wave_state(&view, 1), Queued(9), "the consumer has received nothing yet");
        view.replay.backlog = measured(9, 22);
        assert_eq!(wave_state(&view, 1), NotGone(31), "the window is over, and the queue is not empty");
        let skipped = |sent: u64, returned, skipped| WaveLedger { skipped, ..ledger(sent, returned, 0, 0) };
        let waves = [ledger(1, 0, 0, 0), skipped(3, 0, 2), skipped(0, 0, 20)];
        let view = sample::replay(finished(Ending::Aborted), &waves);
        let states: Vec<_> = (0..3).map(|wave| wave_state(&view, wave)).collect();
        assert_eq!(states, [Passed, Aborted, NotSent], "aborted in the second wave");
        let view =
            sample::replay(finished(Ending::Aborted), &[ledger(1, 0, 0, 0), ledger(0, 5, 0, 0), skipped(0, 0, 20)]);
        assert_eq!(wave_state(&view, 1), Aborted, "its letters returned");
        let waves = [ledger(1, 3, 0, 0), ledger(0, 0, 0, 2), ledger(0, 0, 0, 20)];
        assert_eq!(wave_state(&sample::replay(running(Phase::Sending), &waves), 0), Resumed);
    }

    #[test]
    fn titles_rules_and_announcements_are_sentences() {
        let waves = [ledger(3, 2, 0, 0), ledger(0, 0, 0, 5)];
        let mut view = sample::replay(ReplayState::Running { wave: 0, phase: Phase::Sending }, &waves);
        assert_eq!(tab_title(&view), "50% · Replay replay-1");
        let rule = "Pauses when any letter of the canary returns, or more than 50% of a later wave returns";
        assert_eq!(pause_rule(&view), format!("{rule}; wave 1 is at 40% (2 of 5)."));
        view.replay.plan.canary_pause_share_pct = None;
        assert_eq!(pause_rule(&view), "Pauses when more than 50% of a wave returns; wave 1 is at 40% (2 of 5).");
        assert_eq!(progress(&view.total), "5 of 10 letters: 3 delivered, 2 returned, 0 in flight, 5 pending");
        assert_eq!(announcement(&view), "Sending wave 1 of 2.");
        view.replay.resumed = Some(Resumed { wave: 0, sent: 3, returned: 2, probing: true });
        assert_eq!(announcement(&view), "Resuming with a canary.");
        assert_eq!(wave_state(&view, 0), WaveState::Passed);
        view.ledger.0[0].pending = 3;
        assert_eq!(announcement(&view), "Sending the new canary, in wave 1 of 2.");
        assert!(pause_rule(&view).ends_with("the new canary is at 0% (0 of 2)."));
        view.replay.state = ReplayState::Finished { ending: Ending::Completed, at: Timestamp::from_ms(0) };
        assert_eq!(tab_title(&view), "Replay replay-1");
        assert_eq!(announcement(&view), "The replay finished: 3 delivered, 2 returned.");
    }
}
