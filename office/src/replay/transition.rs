//! Turns of a replay: the next phase, a pause, the end. Each is one commit of replay, group and audit.

use super::Did;
use super::checks::{Occasion, gate_of, main_queue_fact};
use crate::error::OfficeError;
use crate::intake::word;
use crate::merged;
use crate::office::Office;
use crate::port::{CommitError, Expect, GroupFacts, Write};
use domain::alert::{Alert, AlertKind};
use domain::audit::{Act, AuditRecord};
use domain::fix::Fix;
use domain::group::{GroupState, Tally, Variant};
use domain::id::Actor;
use domain::metric::{Datum, REPLAYS_PAUSED};
use domain::replay::{Ending, Ledger, PauseReason, Phase, Replay};
use domain::time::Timestamp;

/// Enters a phase. Before a wave is sent the gate is judged again.
pub(super) async fn enter(
    office: &Office,
    replay: &Replay,
    ledger: &Ledger,
    wave: u32,
    phase: Phase,
) -> Result<Did, OfficeError> {
    let facts = facts_of(office, replay).await?;
    if phase == Phase::Sending {
        let unmet = unmet_before_wave(office, replay, &facts, ledger).await?;
        if !unmet.is_empty() {
            return pause(office, replay, PauseReason::GateClosed { unmet }).await;
        }
    }
    let now = office.now();
    let columns = ledger.wave(wave);
    let waves = replay.plan().waves.len();
    let record = match phase {
        // A wave that is sent in rounds starts once.
        Phase::Sending if columns.sent() > 0 && replay.resumed().is_none() => None,
        Phase::Sending => {
            Some((Act::WaveStarted, format!("Wave {} of {waves}: {} letters", wave + 1, columns.pending)))
        }
        Phase::BetweenWaves { .. } => Some((
            Act::WaveSettled,
            format!("Wave {} of {waves}: {} delivered, {} came back", wave + 1, columns.delivered, columns.returned),
        )),
        Phase::Observing { .. } => None,
    };
    let is_last = wave as usize + 1 >= waves && columns.pending == 0;
    let group = match (&facts.group.state, phase) {
        (GroupState::Replaying { replay, fix }, Phase::Observing { .. }) if is_last => {
            Some(GroupState::Verifying { replay: replay.clone(), fix: fix.clone() })
        }
        _ => None,
    };
    let turn = Transition { replay, group: &facts.group, now };
    turn.commit(office, replay.entered(wave, phase, ledger), group, record).await
}

async fn unmet_before_wave(
    office: &Office,
    replay: &Replay,
    facts: &GroupFacts,
    ledger: &Ledger,
) -> Result<Vec<String>, OfficeError> {
    let letters = Tally { letters: ledger.total().pending as i64, ..Tally::default() };
    let occasion = Occasion {
        fix: facts.group.state.fix(),
        letters: &letters,
        filter: &replay.plan().filter,
        left_out: &[],
        unchecked: &[],
        approver: Some(&replay.approval().by),
        waivers: &replay.approval().waivers,
        message_types: &replay.plan().message_types,
        // A queue that gives no answer this once is no reason to stop: the step comes again.
        queue: main_queue_fact(office, Some(&replay.plan().main_queue)).await?,
        deaths_count: false,
    };
    let gate = gate_of(office, &facts.group, &facts.counts, &occasion).await?;
    Ok(gate.unmet_but_approval().iter().map(|c| format!("{}: {}", c.kind.label(), c.evidence)).collect())
}

/// Pauses, and tells people.
pub(super) async fn pause(office: &Office, replay: &Replay, why: PauseReason) -> Result<Did, OfficeError> {
    let facts = facts_of(office, replay).await?;
    let now = office.now();
    let Some(paused) = replay.pause(why.clone(), Actor::office(), now) else { return Ok(Did::Lost) };
    // Letters came back: the fix that they were sent for no longer counts.
    let fix = facts.group.state.fix().filter(|_| !matches!(why, PauseReason::TooManyReturned { .. })).cloned();
    let group = in_this_replay(&facts.group, replay).then(|| GroupState::Paused { replay: replay.id().clone(), fix });
    let words = reason_in_words(&why);
    let turn = Transition { replay, group: &facts.group, now };
    let did = turn.commit(office, paused, group, Some((Act::ReplayPausedItself, words.clone()))).await?;
    if matches!(did, Did::Something) {
        office.measure(&[Datum::one(&REPLAYS_PAUSED, &[], now, 1.0)]).await;
        office.alert(stopped(&facts.group, replay, words, now)).await;
    }
    Ok(did)
}

/// The end: every letter has its outcome.
pub(super) async fn finish(
    office: &Office,
    replay: &Replay,
    ledger: &Ledger,
    ending: Ending,
) -> Result<Did, OfficeError> {
    let facts = facts_of(office, replay).await?;
    let now = office.now();
    let total = ledger.total();
    let group = in_this_replay(&facts.group, replay).then(|| after_replay(&facts, replay, total.returned, now));
    let detail = format!(
        "{}: {} delivered, {} came back, {} expired, {} not sent",
        if ending == Ending::Completed { "Finished" } else { "Aborted" },
        total.delivered,
        total.returned,
        total.expired,
        total.skipped
    );
    let turn = Transition { replay, group: &facts.group, now };
    let finished = replay.finished(ending, now);
    turn.commit(office, finished, group, Some((Act::ReplayFinished, detail))).await
}

/// What a finished replay means for its group.
fn after_replay(facts: &GroupFacts, replay: &Replay, returned: u64, now: Timestamp) -> GroupState {
    let fix = facts.group.state.fix().cloned();
    let refuted = returned > 0 && fix.as_ref().is_none_or(|fix| is_refuted(fix, facts));
    match fix {
        Some(fix) if facts.counts.open().letters == 0 => {
            GroupState::Resolved { at: now, fix, replay: replay.id().clone() }
        }
        // Letters that arrived late, or were kept back, can follow under the same fix.
        Some(fix) if !refuted => GroupState::FixDeclared { fix },
        _ => GroupState::Open,
    }
}

/// A fix is refuted when a letter died of the cause after it took effect.
fn is_refuted(fix: &Fix, facts: &GroupFacts) -> bool {
    facts.counts.last_died_at.is_some_and(|died_at| died_at > fix.effective_at)
}

fn in_this_replay(group: &Variant, replay: &Replay) -> bool {
    group.state.replay() == Some(replay.id())
}

async fn facts_of(office: &Office, replay: &Replay) -> Result<GroupFacts, OfficeError> {
    let cause = merged::read(&*office.store, replay.group(), i64::MAX).await?;
    Ok(cause.ok_or_else(|| OfficeError::NoGroup(replay.group().clone()))?.whole)
}

/// A change of a replay and its group at one moment.
struct Transition<'a> {
    replay: &'a Replay,
    group: &'a Variant,
    now: Timestamp,
}

impl Transition<'_> {
    async fn commit(
        &self,
        office: &Office,
        after: Replay,
        group_state: Option<GroupState>,
        record: Option<(Act, String)>,
    ) -> Result<Did, OfficeError> {
        let mut records: Vec<_> = record.into_iter().collect();
        let mut writes =
            vec![Write::Replay { replay: Box::new(after), expect: Expect::Version(self.replay.version()) }];
        if let Some(state) = group_state {
            if let GroupState::Resolved { .. } = state {
                records.push((Act::GroupResolved, "No letter of the group is open".to_string()));
            }
            let group = Box::new(self.group.moved(state));
            writes.push(Write::Variant { group, expect: Expect::Version(self.group.version) });
        }
        writes.extend(records.into_iter().map(|(act, detail)| {
            Write::Audit(Box::new(AuditRecord {
                at: self.now,
                actor: Actor::office(),
                act,
                group: self.group.id.clone(),
                replay: Some(self.replay.id().clone()),
                detail,
                reason: None,
            }))
        }));
        match office.store.commit(writes).await {
            Ok(()) => Ok(Did::Something),
            Err(CommitError::Conflict(_)) => Ok(Did::Lost),
            Err(CommitError::Store(error)) => Err(error.into()),
        }
    }
}

/// Why a replay is paused, in a sentence.
pub(crate) fn reason_in_words(why: &PauseReason) -> String {
    match why {
        PauseReason::TooManyReturned { returned, sent, stop_share_pct, wave } => {
            let of = wave.map(|wave| format!(" of wave {}", wave + 1)).unwrap_or_default();
            format!("{returned} of {sent} letters{of} came back; it stops itself above {stop_share_pct} %")
        }
        PauseReason::GateClosed { unmet } => format!("The gate has closed: {}", unmet.join("; ")),
        PauseReason::QueueUnavailable { detail } => format!("The main queue cannot take letters: {detail}"),
        PauseReason::BacklogNotDrained { visible_count } => format!(
            "Nobody takes the letters from the main queue: {visible_count} messages wait there. Is its consumer on?"
        ),
        PauseReason::ByPerson { reason } => reason.clone(),
    }
}

fn stopped(group: &Variant, replay: &Replay, words: String, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::ReplayPaused,
        level: group.severity,
        at: now,
        group: group.id.clone(),
        replay: Some(replay.id().clone()),
        title: format!("Replay of {} {} stopped by itself: {words}", word(&group.classification.class), group.title),
        advice: "Look at what came back. Declare the next fix when it is live, then resume, or abort.".into(),
    }
}
