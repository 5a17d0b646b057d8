//! A replay in numbers: how far it is, what each wave is doing, and a ledger that closes.

use super::gate::letters;
use super::money::count;
use super::words::Tone;
use domain::id::ReplayId;
use domain::replay::{Ending, OutcomeKind, PauseReason, Phase, ReplayState, WaveLedger};
use domain::time::Timestamp;
use wire::ReplayView;

/// Columns that are always shown; the others only when a letter is in them.
const ALWAYS: [OutcomeKind; 4] =
    [OutcomeKind::Delivered, OutcomeKind::Returned, OutcomeKind::InFlight, OutcomeKind::Pending];

/// The columns of the ledger in the order in which people read them.
pub fn columns(total: &WaveLedger) -> Vec<OutcomeKind> {
    let sometimes = [OutcomeKind::Sending, OutcomeKind::Expired, OutcomeKind::Skipped];
    ALWAYS.into_iter().chain(sometimes.into_iter().filter(|kind| total.get(*kind) > 0)).collect()
}

/// Letters whose outcome is known.
pub fn settled(ledger: &WaveLedger) -> u64 {
    ledger.delivered + ledger.returned + ledger.expired + ledger.skipped
}

/// How it is known that letters were delivered; none where none were.
pub fn known_by(ledger: &WaveLedger) -> Option<String> {
    let by_window = ledger.delivered.saturating_sub(ledger.confirmed);
    match (ledger.confirmed, by_window) {
        (0, 0) => None,
        (_, 0) => Some("all confirmed".into()),
        (0, _) => Some("by their window".into()),
        (n, left) => Some(format!("{} confirmed, {} by their window", count(n), count(left))),
    }
}

/// How much of a replay is done, percent; 100 only when all of it is.
pub fn done_pct(ledger: &WaveLedger) -> u64 {
    settled(ledger) * 100 / ledger.selected().max(1)
}

/// The first characters of a replay's id: enough to tell two apart.
pub fn short(id: &ReplayId) -> String {
    id.as_str().chars().take(8).collect()
}

/// What the browser's tab says: `38 % · Replay 1a2b3c4d`.
pub fn tab_title(view: &ReplayView) -> String {
    let id = short(view.replay.id());
    match &view.replay.state {
        ReplayState::Finished { .. } => format!("Replay {id}"),
        ReplayState::Paused { .. } => format!("Stopped at {} % · Replay {id}", done_pct(&view.total)),
        _ => format!("{} % · Replay {id}", done_pct(&view.total)),
    }
}

/// How far it is, in words, for a screen reader.
pub fn progress(ledger: &WaveLedger) -> String {
    let to_go = ledger.pending + ledger.sending;
    format!(
        "{} of {}: {} delivered, {} came back, {} in flight, {} to go",
        count(settled(ledger)),
        letters(ledger.selected()),
        count(ledger.delivered),
        count(ledger.returned),
        count(ledger.in_flight),
        count(to_go)
    )
}

/// What a wave is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaveState {
    /// Not its turn yet.
    Waits,
    /// Its letters go out.
    Sending,
    /// Sent; what the consumer does with it is watched until then.
    Observed(Timestamp),
    /// Sent, and not taken by the consumer yet: so many messages wait in the main queue.
    Queued(u64),
    /// It went well; the next begins then.
    BetweenWaves(Timestamp),
    /// It went well.
    Passed,
    /// The replay was stopped in it and went on with another fix.
    Overcome,
    /// The replay stopped itself in it.
    Stopped,
    /// The replay was paused in it, by a person or because something else than its letters stood in the way.
    Paused,
    /// The replay was ended before its turn.
    NotSent,
    /// The replay was ended in it.
    Ended,
}

impl WaveState {
    /// The state's tone and words; the moment that belongs to it is shown beside them.
    pub fn look(self) -> (Tone, &'static str) {
        match self {
            Self::Waits => (Tone::Quiet, "Waits for the wave before"),
            Self::Sending => (Tone::Info, "Sending"),
            Self::Observed(_) => (Tone::Info, "Observed until"),
            Self::Queued(_) => (Tone::Warn, "Not taken from the main queue yet:"),
            Self::BetweenWaves(_) => (Tone::Quiet, "Passed; next wave in"),
            Self::Passed => (Tone::Ok, "Passed"),
            Self::Overcome => (Tone::Quiet, "Stopped here, then resumed"),
            Self::Stopped => (Tone::Danger, "Stopped: too many came back"),
            Self::Paused => (Tone::Warn, "Paused"),
            Self::NotSent => (Tone::Quiet, "Not sent"),
            Self::Ended => (Tone::Quiet, "Ended"),
        }
    }
}

/// What a wave (from 0) is doing.
pub fn wave_state(view: &ReplayView, wave: u32) -> WaveState {
    let columns = view.ledger.wave(wave);
    let queued = view.replay.backlog.filter(|backlog| !backlog.is_drained()).map(|backlog| backlog.visible_count);
    let watched = |otherwise: WaveState| match (queued, view.observed_until) {
        (Some(n), _) if columns.in_flight > 0 => WaveState::Queued(n),
        (_, Some(until)) if columns.in_flight > 0 => WaveState::Observed(until),
        _ => otherwise,
    };
    let line = u64::from(view.replay.plan.stop_share_pct) * 10;
    let too_many = back_mille(&columns).is_some_and(|mille| mille > line);
    let passed = if too_many { WaveState::Overcome } else { WaveState::Passed };
    match &view.replay.state {
        ReplayState::Paused { wave: at, why: PauseReason::TooManyReturned { wave: of, .. }, .. }
            if wave == of.unwrap_or(*at) =>
        {
            watched(WaveState::Stopped)
        }
        ReplayState::Running { wave: at, .. } | ReplayState::Paused { wave: at, .. } if wave < *at => passed,
        ReplayState::Running { wave: at, .. } | ReplayState::Paused { wave: at, .. } if wave > *at => WaveState::Waits,
        ReplayState::Running { phase: Phase::Sending, .. } => WaveState::Sending,
        ReplayState::Running { phase: Phase::Observing { until }, .. } => watched(WaveState::Observed(*until)),
        ReplayState::Running { phase: Phase::BetweenWaves { until }, .. } => WaveState::BetweenWaves(*until),
        ReplayState::Paused { .. } => watched(WaveState::Paused),
        ReplayState::Finished { ending: Ending::Completed, .. } => passed,
        _ if columns.sent() + columns.sending == 0 => WaveState::NotSent,
        _ => watched(WaveState::Ended),
    }
}

/// The share of a wave's sent letters that came back, per mille; none before anything was sent.
pub fn back_mille(columns: &WaveLedger) -> Option<u64> {
    let sent = columns.sent();
    (sent > 0).then(|| columns.returned * 1000 / sent)
}

/// `3.4 %`, `12 %`.
pub fn share(mille: u64) -> String {
    if mille == 0 || mille >= 100 { format!("{} %", mille / 10) } else { format!("{}.{} %", mille / 10, mille % 10) }
}

/// Whether it will stop itself: the rule, and where the wave stands.
pub fn stop_words(view: &ReplayView) -> String {
    let plan = &view.replay.plan;
    let rule = format!("Stops itself when more than {} % of a wave come back", plan.stop_share_pct);
    let ReplayState::Running { wave, .. } = view.replay.state else { return format!("{rule}.") };
    let columns = view.ledger.wave(wave);
    // After a resumption only what was sent since then is judged.
    let before = view.replay.resumed.filter(|resumed| resumed.wave == wave);
    let sent = columns.sent().saturating_sub(before.map_or(0, |before| before.sent));
    let returned = columns.returned.saturating_sub(before.map_or(0, |before| before.returned));
    match sent {
        0 => format!("{rule}."),
        _ => format!("{rule}; wave {} is at {} ({returned} of {sent}).", wave + 1, share(returned * 1000 / sent)),
    }
}

/// What a screen reader is told when it changes: waves and stops only, never ticks.
pub fn announcement(view: &ReplayView) -> String {
    let total = &view.total;
    let sums = format!("{} delivered, {} came back", total.delivered, total.returned);
    match &view.replay.state {
        ReplayState::Running { wave, phase: Phase::Sending } => {
            format!("Wave {} of {} is being sent.", wave + 1, view.replay.plan.waves.len())
        }
        ReplayState::Running { wave, phase: Phase::Observing { .. } } => {
            format!("Wave {} is sent and being observed.", wave + 1)
        }
        ReplayState::Running { wave, phase: Phase::BetweenWaves { .. } } => format!("Wave {} has passed.", wave + 1),
        ReplayState::Paused { by, .. } if by.as_str() == domain::id::Actor::OFFICE => {
            "The replay has stopped itself.".to_string()
        }
        ReplayState::Paused { by, .. } => format!("The replay was paused by {by}."),
        ReplayState::Aborting { .. } => "The replay is being ended.".to_string(),
        ReplayState::Finished { ending: Ending::Completed, .. } => format!("The replay has finished: {sums}."),
        ReplayState::Finished { ending: Ending::Aborted, .. } => format!("The replay was ended: {sums}."),
    }
}

/// Letters sent over time, as this page has seen it.
#[derive(Clone, Debug, Default)]
pub struct Rate(Vec<(Timestamp, u64)>);

/// The rate is measured over this long.
const RATE_MS: i64 = 10_000;

impl Rate {
    /// So many had been sent at this moment.
    pub fn saw(&mut self, at: Timestamp, sent: u64) {
        if self.0.last().is_some_and(|(_, before)| *before > sent) {
            self.0.clear();
        }
        self.0.push((at, sent));
        let from = self.0.iter().rposition(|(then, _)| at.since(*then).as_ms() >= RATE_MS).unwrap_or(0);
        self.0.drain(..from);
    }

    /// Letters a second; none before two looks.
    pub fn per_s(&self) -> Option<u64> {
        let ((from, before), (to, after)) = (self.0.first()?, self.0.last()?);
        let ms = to.since(*from).as_ms();
        (ms > 0).then(|| ((after - before) * 1000).div_ceil(ms.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use domain::id::Actor;
    use domain::replay::Backlog;

    fn ledger(delivered: u64, returned: u64, in_flight: u64, pending: u64) -> WaveLedger {
        WaveLedger { delivered, returned, in_flight, pending, ..WaveLedger::default() }
    }

    #[test]
    fn percentages_never_promise_too_much() {
        for (delivered, returned, in_flight, pending, pct) in
            [(0, 0, 0, 10, 0), (999, 0, 1, 0, 99), (1000, 0, 0, 0, 100), (1, 1, 1, 1, 50), (0, 0, 0, 0, 0)]
        {
            assert_eq!(done_pct(&ledger(delivered, returned, in_flight, pending)), pct);
        }
        for (mille, text) in [(0, "0 %"), (34, "3.4 %"), (99, "9.9 %"), (125, "12 %"), (1000, "100 %")] {
            assert_eq!(share(mille), text);
        }
        assert_eq!(back_mille(&ledger(0, 0, 0, 5)), None);
        assert_eq!(back_mille(&ledger(1, 1, 2, 5)), Some(250));
    }

    #[test]
    fn columns_that_are_shown_close_the_ledger() {
        let mut total = ledger(5, 2, 1, 2);
        let sum = |total: &WaveLedger| columns(total).iter().map(|kind| total.get(*kind)).sum::<u64>();
        assert_eq!((columns(&total).len(), sum(&total)), (4, total.selected()));
        total.skipped = 3;
        total.expired = 1;
        total.sending = 1;
        assert_eq!((columns(&total).len(), sum(&total)), (7, total.selected()));
    }

    #[test]
    fn the_ledger_says_how_a_delivery_is_known() {
        for (delivered, confirmed, words) in [
            (0, 0, None),
            (40, 40, Some("all confirmed")),
            (40, 0, Some("by their window")),
            (1_040, 1_000, Some("1,000 confirmed, 40 by their window")),
        ] {
            let ledger = WaveLedger { confirmed, ..ledger(delivered, 0, 0, 0) };
            assert_eq!(known_by(&ledger).as_deref(), words);
        }
    }

    #[test]
    fn each_wave_says_what_it_does() {
        use WaveState::*;
        let at = Timestamp::from_ms(9);
        let running = |phase| ReplayState::Running { wave: 1, phase };
        let paused = |by: &str| ReplayState::Paused {
            wave: 1,
            why: PauseReason::ByPerson { reason: "r".into() },
            by: Actor::new(by),
            at,
        };
        let stopped = |wave| ReplayState::Paused {
            wave: 1,
            why: PauseReason::TooManyReturned { returned: 3, sent: 5, stop_share_pct: 50, wave },
            by: Actor::office(),
            at,
        };
        let finished = |ending| ReplayState::Finished { ending, at };
        let rows = [
            (running(Phase::Sending), [Passed, Sending, Waits]),
            (running(Phase::Observing { until: at }), [Passed, Observed(at), Waits]),
            (running(Phase::BetweenWaves { until: at }), [Passed, BetweenWaves(at), Waits]),
            (paused("office"), [Passed, Paused, Waits]),
            (stopped(None), [Passed, Stopped, Waits]),
            (stopped(Some(1)), [Passed, Stopped, Waits]),
            (stopped(Some(0)), [Stopped, Paused, Waits]),
            (paused("ana"), [Passed, Paused, Waits]),
            (finished(Ending::Completed), [Passed, Passed, Passed]),
            (finished(Ending::Aborted), [Ended, Ended, NotSent]),
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
        assert_eq!(wave_state(&view, 1), Observed(at), "a stopped wave is observed to its end");
        view.replay.backlog = Some(Backlog { seen_at: at, visible_count: 9, in_flight_count: 1 });
        assert_eq!(wave_state(&view, 1), Queued(9), "nobody has taken it yet");
        let waves = [ledger(1, 3, 0, 0), ledger(0, 0, 0, 2), ledger(0, 0, 0, 20)];
        assert_eq!(wave_state(&sample::replay(running(Phase::Sending), &waves), 0), Overcome);
    }

    #[test]
    fn titles_and_rules_are_told_in_words() {
        let waves = [ledger(3, 2, 0, 0), ledger(0, 0, 0, 5)];
        let mut view = sample::replay(ReplayState::Running { wave: 0, phase: Phase::Sending }, &waves);
        assert_eq!(tab_title(&view), "50 % · Replay replay-1");
        assert_eq!(
            stop_words(&view),
            "Stops itself when more than 50 % of a wave come back; wave 1 is at 40 % (2 of 5)."
        );
        assert_eq!(progress(&view.total), "5 of 10 letters: 3 delivered, 2 came back, 0 in flight, 5 to go");
        view.replay.state = ReplayState::Finished { ending: Ending::Completed, at: Timestamp::from_ms(0) };
        assert_eq!(tab_title(&view), "Replay replay-1");
        assert_eq!(announcement(&view), "The replay has finished: 3 delivered, 2 came back.");
    }

    #[test]
    fn the_rate_is_that_of_the_last_seconds() {
        let mut rate = Rate::default();
        assert_eq!(rate.per_s(), None);
        for s in 0..30 {
            rate.saw(Timestamp::from_ms(s * 1000), if s < 10 { 0 } else { (s as u64 - 10) * 50 });
        }
        assert_eq!(rate.per_s(), Some(50));
        assert!(rate.0.len() <= 12);
    }
}
