//! Explains why a replay is paused, what to do next, and what its returned letters say about the fix.

use super::gate::letters;
use super::money::{count, counted};
use super::sorted::sorted;
use domain::fix::Fix;
use domain::replay::{PauseReason, ReplayState, ReturnCause};
use wire::{EntryRow, ReplayAnswer};

/// Explains why a replay is paused.
pub fn why(reason: &PauseReason, wave: u32) -> String {
    match reason {
        PauseReason::TooManyReturned { returned, sent, pause_share_pct, wave: judged } => {
            let rule = match pause_share_pct {
                0 => "No letter of a canary may return.".to_string(),
                pct => format!("The replay pauses above {pct}%."),
            };
            format!("{returned} of {} sent in wave {} returned. {rule}", letters(*sent), judged.unwrap_or(wave) + 1)
        }
        PauseReason::GateClosed { unmet } => format!("The gate closed before wave {}. {}", wave + 1, sentences(unmet)),
        PauseReason::QueueUnavailable { detail } => {
            format!("The main queue is unavailable: {}", sentences(std::slice::from_ref(detail)))
        }
        PauseReason::BacklogNotDrained { visible_count: 0 } => {
            "The main queue's retention passed before the letters left it. Is the consumer running?".into()
        }
        PauseReason::BacklogNotDrained { visible_count } => format!(
            "The main queue isn't draining: {} waiting. Is the consumer running?",
            counted(*visible_count, "message", "messages")
        ),
        PauseReason::QueueNeverEmpty { visible_count, in_flight_count } => format!(
            "No failure seen, but the main queue still has messages: {} waiting, {} held by consumers. Whether the letters were processed is unknown. \
             Let the consumer send receipts.",
            count(*visible_count),
            count(*in_flight_count)
        ),
        PauseReason::UnprovenReturn { .. } => {
            "A message with this replay's marker failed again with the same cause, but in another form than it was sent, so it is not counted as \
             returned. The consumer seems to dead-letter by hand. Check the group's newest letters before you resume."
                .into()
        }
        PauseReason::ByPerson { reason } => sentences(std::slice::from_ref(reason)),
    }
}

fn sentences(parts: &[String]) -> String {
    let sentence = |part: &String| format!("{}.", part.trim_end_matches('.'));
    parts.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

/// The next step for a paused replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// This many letters are still in flight: wait for their outcomes.
    Wait(u64),
    /// The fix failed: declare a new one.
    DeclareFix,
    /// An approver can resume the replay.
    Resume,
}

/// Returns the next step, or `None` if the replay is not paused.
pub fn next(view: &ReplayAnswer, fix: Option<&Fix>) -> Option<Next> {
    let ReplayState::Paused { .. } = view.replay.state else { return None };
    let in_flight = view.total.in_flight + view.total.sending;
    Some(match (fix, in_flight) {
        (None, _) => Next::DeclareFix,
        (Some(_), 0) => Next::Resume,
        (Some(_), n) => Next::Wait(n),
    })
}

/// Explains why a replay cannot be resumed yet. Returns `None` if it can.
pub fn why_not_resume(view: &ReplayAnswer, fix: Option<&Fix>) -> Option<String> {
    let ReplayState::Paused { .. } = view.replay.state else { return Some("The replay is not paused.".to_string()) };
    let in_flight = view.total.in_flight + view.total.sending;
    if in_flight > 0 {
        return Some(format!("{} still in flight.", counted(in_flight, "letter is", "letters are")));
    }
    fix.is_none().then(|| "Declare a new fix first.".to_string())
}

/// Describes a resumption's first step: a canary for the new fix, in the first wave with unsent letters.
pub fn resumption(view: &ReplayAnswer, fix: Option<&Fix>) -> String {
    let waves = view.replay.plan.waves.len() as u32;
    let has_letters = |wave: &u32| {
        let columns = view.ledger.wave(*wave);
        columns.pending + columns.sending > 0
    };
    let wave = (view.replay.wave().unwrap_or(0)..waves).find(has_letters).unwrap_or(0);
    let columns = view.ledger.wave(wave);
    let canary = view.replay.plan.waves.first().copied().unwrap_or(1).min(columns.pending + columns.sending);
    let fix = fix.map(|fix| format!(" for {} {}", fix.kind.label(), fix.reference)).unwrap_or_default();
    format!(
        "Resumes wave {} with a canary of {}{fix}. The canary is observed before the remaining letters are sent.",
        wave + 1,
        letters(canary)
    )
}

/// Returned letters with the same failure and cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Returns {
    /// The failure.
    pub title: String,
    /// What the return says about the fix.
    pub cause: ReturnCause,
    /// The group of that failure.
    pub group: domain::id::GroupId,
    /// The letters, latest return first.
    pub rows: Vec<EntryRow>,
}

/// Groups returned letters by failure and cause. Groups that disprove the fix come first, then larger ones.
pub fn returns(rows: &[EntryRow]) -> Vec<Returns> {
    let mut all: Vec<Returns> = Vec::new();
    for row in rows {
        let domain::replay::Outcome::Returned { cause, group, title, .. } = &row.entry.outcome else { continue };
        match all.iter_mut().find(|r| r.cause == *cause && r.group == *group && r.title == *title) {
            Some(returns) => returns.rows.push(row.clone()),
            None => {
                all.push(Returns { title: title.clone(), cause: *cause, group: group.clone(), rows: vec![row.clone()] })
            }
        }
    }
    for returns in &mut all {
        returns.rows = sorted(std::mem::take(&mut returns.rows), |a, b| returned_at(b).cmp(&returned_at(a)));
    }
    sorted(all, |a, b| a.cause.cmp(&b.cause).then_with(|| b.rows.len().cmp(&a.rows.len())))
}

/// Gives returns of the replay's own group the title that its page shows: letters carry the title with masks.
pub fn named(mut all: Vec<Returns>, view: &ReplayAnswer) -> Vec<Returns> {
    for returns in all.iter_mut().filter(|returns| returns.group == *view.replay.group()) {
        returns.title.clone_from(&view.group_title);
    }
    all
}

fn returned_at(row: &EntryRow) -> Option<domain::time::Timestamp> {
    match row.entry.outcome {
        domain::replay::Outcome::Returned { at, .. } => Some(at),
        _ => None,
    }
}

/// Returns a return cause's label and explanation.
pub fn cause(cause: ReturnCause) -> (&'static str, &'static str) {
    match cause {
        ReturnCause::SameCause => ("Same cause", "The fix did not work for these letters."),
        ReturnCause::NewCause => ("Different cause", "The fix exposed a different failure, which has its own group."),
        ReturnCause::Transient => ("Transient", "Not evidence against the fix. Replay these letters later."),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use domain::id::Actor;
    use domain::id::LetterId;
    use domain::replay::WaveLedger;
    use domain::time::Timestamp;

    #[test]
    fn a_pause_has_a_reason() {
        let rows = [
            (
                PauseReason::TooManyReturned { returned: 7, sent: 10, pause_share_pct: 50, wave: None },
                "7 of 10 letters sent in wave 2 returned. The replay pauses above 50%.",
            ),
            (
                PauseReason::TooManyReturned { returned: 1, sent: 10, pause_share_pct: 0, wave: Some(0) },
                "1 of 10 letters sent in wave 1 returned. No letter of a canary may return.",
            ),
            (
                PauseReason::TooManyReturned { returned: 7, sent: 10, pause_share_pct: 50, wave: Some(0) },
                "7 of 10 letters sent in wave 1 returned. The replay pauses above 50%.",
            ),
            (
                PauseReason::GateClosed { unmet: vec!["Main queue ready: orders does not exist.".into()] },
                "The gate closed before wave 2. Main queue ready: orders does not exist.",
            ),
            (
                PauseReason::QueueUnavailable { detail: "orders is gone".into() },
                "The main queue is unavailable: orders is gone.",
            ),
            (
                PauseReason::QueueNeverEmpty { visible_count: 31, in_flight_count: 1_040 },
                "No failure seen, but the main queue still has messages: 31 waiting, 1,040 held by consumers. Whether the letters \
                 were processed is unknown. Let the consumer send receipts.",
            ),
            (
                PauseReason::UnprovenReturn { letter: LetterId::new("l") },
                "A message with this replay's marker failed again with the same cause, but in another form than it was sent, so it is \
                 not counted as returned. The consumer seems to dead-letter by hand. Check the group's newest letters before you resume.",
            ),
            (PauseReason::ByPerson { reason: "lunch".into() }, "lunch."),
        ];
        for (reason, words) in rows {
            assert_eq!(why(&reason, 1), words);
        }
    }

    #[test]
    fn a_paused_replay_has_a_next_step() {
        let paused = |in_flight| {
            let state = ReplayState::Paused {
                wave: 0,
                why: PauseReason::ByPerson { reason: "r".into() },
                by: Actor::new("ana"),
                at: Timestamp::from_ms(0),
            };
            sample::replay(state, &[WaveLedger { in_flight, pending: 3, ..WaveLedger::default() }])
        };
        let fix = paused(0).replay.plan.fix;
        assert_eq!(next(&paused(0), None), Some(Next::DeclareFix));
        assert_eq!(next(&paused(0), Some(&fix)), Some(Next::Resume));
        assert_eq!(next(&paused(2), Some(&fix)), Some(Next::Wait(2)));
        assert_eq!(why_not_resume(&paused(1), Some(&fix)).as_deref(), Some("1 letter is still in flight."));
        assert_eq!(why_not_resume(&paused(0), Some(&fix)), None);
        assert!(why_not_resume(&paused(0), None).is_some());
    }

    #[test]
    fn a_resumption_starts_with_a_canary_of_unsent_letters() {
        let at = Timestamp::from_ms(0);
        let why = PauseReason::ByPerson { reason: "r".into() };
        let state = ReplayState::Paused { wave: 0, why, by: Actor::new("ana"), at };
        let wave = |delivered, pending| WaveLedger { delivered, pending, ..WaveLedger::default() };
        let rows = [
            ([wave(4, 0), wave(0, 20)], "wave 2 with a canary of 4 letters for Deploy v2"),
            ([wave(1, 3), wave(0, 20)], "wave 1 with a canary of 3 letters for Deploy v2"),
        ];
        for (waves, part) in rows {
            let view = sample::replay(state.clone(), &waves);
            let words = resumption(&view, Some(&view.replay.plan.fix));
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn returns_are_grouped_by_verdict_and_failure() {
        let row = sample::returned;
        let rows = [
            row("a", 1, ReturnCause::Transient, "timeout"),
            row("b", 2, ReturnCause::SameCause, "null"),
            row("c", 3, ReturnCause::SameCause, "null"),
            row("d", 4, ReturnCause::NewCause, "other"),
        ];
        let grouped: Vec<_> = returns(&rows)
            .iter()
            .map(|r| format!("{} {}", r.title, r.rows.iter().map(|row| row.entry.letter.as_str()).collect::<String>()))
            .collect();
        assert_eq!(grouped, ["null cb", "other d", "timeout a"]);
        let state = ReplayState::Running { wave: 0, phase: domain::replay::Phase::Sending };
        let mut view = sample::replay(state, &[]);
        view.replay.plan.group = domain::id::GroupId::new("null");
        view.group_title = "the len is 0".into();
        let titles: Vec<_> = named(returns(&rows), &view).into_iter().map(|returns| returns.title).collect();
        assert_eq!(titles, ["the len is 0", "other", "timeout"], "its own group has one title everywhere");
    }
}
