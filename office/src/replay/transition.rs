//! Transitions of a replay: the next phase, a pause, the end. Each is one commit of replay, group and audit.

use super::Did;
use crate::audit::{Auditor, letters_in_words};
use crate::commit::commit;
use crate::error::OfficeError;
use crate::gate::{LettersToSend, Moment, judge};
use crate::merged;
use crate::names::json_name;
use crate::office::Office;
use crate::port::{Expect, GroupFacts, Write};
use crate::summary;
use domain::alert::{Alert, AlertKind};
use domain::audit::Act;
use domain::fix::Fix;
use domain::gate::{Condition, ConditionKind, Status};
use domain::group::{GroupState, Tally, Variant};
use domain::id::Actor;
use domain::impact::Severity;
use domain::letter::LetterStateKind;
use domain::limits::CLOCK_SKEW_MAX;
use domain::metric::{Datum, REPLAY_SUCCESS, REPLAYS_PAUSED};
use domain::replay::{Begun, Ending, Ledger, PauseReason, Phase, Replay, WaveLedger, begun};
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
    let entered = replay.entered(wave, phase, ledger);
    let record = match phase {
        Phase::Sending => begun(replay, &entered, wave, &columns).map(|begun| started(begun, wave, waves, &columns)),
        Phase::BetweenWaves { .. } => Some((
            Act::WaveSettled,
            format!("Wave {} of {waves}: {} delivered, {} returned", wave + 1, columns.delivered, columns.returned),
        )),
        Phase::Observing { .. } => None,
    };
    let is_last = wave as usize + 1 >= waves && columns.pending == 0;
    let group = match (&facts.variant.state, phase) {
        (GroupState::Replaying { replay, fix }, Phase::Observing { .. }) if is_last => {
            Some(GroupState::Verifying { replay: replay.clone(), fix: fix.clone() })
        }
        _ => None,
    };
    let transition = Transition { replay, group: &facts.variant, now };
    transition.commit(office, entered, group, record).await
}

/// Returns the record of a wave, or of the canary after a resumption, that begins.
fn started(begun: Begun, wave: u32, waves: usize, columns: &WaveLedger) -> (Act, String) {
    let number = wave + 1;
    let wave = format!("wave {number} of {waves}");
    match begun {
        Begun::Wave(letters) => (Act::WaveStarted, format!("Wave {number} of {waves}: {}", letters_in_words(letters))),
        Begun::Canary(letters) => {
            let rest = match columns.pending.saturating_sub(letters) {
                0 => String::new(),
                n => format!("; its other {n} follow if the canary passes"),
            };
            (Act::CanaryStarted, format!("{} of {wave}{rest}", letters_in_words(letters)))
        }
        Begun::Rest(letters) => {
            (Act::WaveStarted, format!("The canary passed; the rest of {wave}: {}", letters_in_words(letters)))
        }
    }
}

/// Writes a replay. Returns whether it still had this version.
pub(super) async fn put(office: &Office, replay: &Replay, version: u64) -> Result<bool, OfficeError> {
    let write = Write::Replay { replay: Box::new(replay.clone()), expect: Expect::Version(version) };
    Ok(crate::commit::commit(office, vec![write]).await?.is_made())
}

/// Counts a replay's waits from now, because its clock has gone back: what was stored lies in the future.
pub(super) async fn restart_waits(office: &Office, replay: &Replay, now: Timestamp) -> Result<Did, OfficeError> {
    let stored_at = replay.last_sent_at().map(|at| at.since(now).as_ms());
    tracing::error!(replay = %replay.id(), ahead_ms = stored_at, "the clock went back; the replay's windows and delays restart");
    Ok(if put(office, &replay.restarted_waits(now), replay.version()).await? { Did::Something } else { Did::Lost })
}

async fn unmet_before_wave(
    office: &Office,
    replay: &Replay,
    facts: &GroupFacts,
    ledger: &Ledger,
) -> Result<Vec<String>, OfficeError> {
    let letters = Tally { letters: ledger.total().pending as i64, ..Tally::default() };
    let to_send = LettersToSend { letters, ..LettersToSend::remaining(replay, &ledger.total()) };
    let judged = judge(office, facts, &to_send, Moment::BeforeWave(replay)).await?;
    // The quiet time was met when this replay was approved. If it starts in the future, the clock has gone back since.
    let latest = office.now().plus(office.policy.gate.quiet_ms).plus(CLOCK_SKEW_MAX);
    let is_ahead = |c: &Condition| {
        c.kind == ConditionKind::Quiet && matches!(c.status, Status::Unmet { opens_at: Some(at) } if at > latest)
    };
    let unmet = judged.gate.unmet_but_approval();
    Ok(unmet.iter().filter(|c| !is_ahead(c)).map(|c| format!("{}: {}", c.kind.label(), c.evidence)).collect())
}

/// Pauses a replay and raises an alert.
pub(super) async fn pause(office: &Office, replay: &Replay, why: PauseReason) -> Result<Did, OfficeError> {
    let facts = facts_of(office, replay).await?;
    let now = office.now();
    let Some(paused) = replay.pause(why.clone(), Actor::office(), now) else { return Ok(Did::Lost) };
    // Returned letters disproved the fix, so it no longer counts.
    let fix = facts.variant.state.fix().filter(|_| !matches!(why, PauseReason::TooManyReturned { .. })).cloned();
    let group = in_this_replay(&facts.variant, replay).then(|| GroupState::Paused { replay: replay.id().clone(), fix });
    let transition = Transition { replay, group: &facts.variant, now };
    let did = transition.commit(office, paused, group, Some((Act::ReplayPausedItself, reason_in_words(&why)))).await?;
    if matches!(did, Did::Something) {
        office.measure(&[Datum::one(&REPLAYS_PAUSED, &[], now, 1.0)]).await;
        office.alert(paused_alert(office, (&facts.variant, replay), &why, now)).await;
    }
    Ok(did)
}

/// Finishes a replay, all of whose letters have their outcome.
pub(super) async fn finish(
    office: &Office,
    replay: &Replay,
    ledger: &Ledger,
    ending: Ending,
) -> Result<Did, OfficeError> {
    let facts = facts_of(office, replay).await?;
    let now = office.now();
    let total = ledger.total();
    let group = in_this_replay(&facts.variant, replay).then(|| after_replay(&facts, replay, &total, now));
    let detail = format!(
        "{}: {} delivered, {} returned, {} expired, {} skipped",
        if ending == Ending::Completed { "Finished" } else { "Aborted" },
        total.delivered,
        total.returned,
        total.expired,
        total.skipped
    );
    let transition = Transition { replay, group: &facts.variant, now };
    let finished = replay.finished(ending, now);
    let did = transition.commit(office, finished, group, Some((Act::ReplayFinished, detail.clone()))).await?;
    if matches!(did, Did::Something) {
        // An aborted replay ended by a person's will, whatever its fix was worth.
        if ending == Ending::Completed
            && let Some(pct) = delivered_pct(&total)
        {
            office.measure(&[Datum::one(&REPLAY_SUCCESS, &[], now, pct)]).await;
        }
        office.alert(finished_alert(office, (&facts.variant, replay), &detail, now)).await;
    }
    Ok(did)
}

/// Returns the share of delivered letters among those that were delivered or returned. Returns `None` if there are none.
fn delivered_pct(total: &WaveLedger) -> Option<f64> {
    let known = total.delivered + total.returned;
    (known > 0).then(|| 100.0 * total.delivered as f64 / known as f64)
}

/// Returns the state of a group after its replay has finished.
fn after_replay(facts: &GroupFacts, replay: &Replay, total: &WaveLedger, now: Timestamp) -> GroupState {
    let fix = facts.variant.state.fix().cloned();
    let refuted = total.returned > 0 && fix.as_ref().is_none_or(|fix| is_refuted(fix, facts));
    let is_empty = facts.counts.open().letters == 0;
    // A replay that delivered nothing confirms no fix: people discarded its letters.
    let is_discarded = is_empty && total.delivered == 0 && facts.counts.tally(LetterStateKind::Discarded).letters > 0;
    match fix {
        _ if is_discarded => GroupState::Discarded { at: now },
        Some(fix) if is_empty => GroupState::Resolved { at: now, fix, replay: replay.id().clone() },
        // Letters that arrived late or were left out can be replayed with the same fix.
        Some(fix) if !refuted => GroupState::FixDeclared { fix },
        _ => GroupState::Open,
    }
}

/// Returns whether a letter of the group died after the fix took effect.
fn is_refuted(fix: &Fix, facts: &GroupFacts) -> bool {
    facts.counts.last_died_at.is_some_and(|died_at| died_at > fix.effective_at)
}

fn in_this_replay(group: &Variant, replay: &Replay) -> bool {
    group.state.replay() == Some(replay.id())
}

async fn facts_of(office: &Office, replay: &Replay) -> Result<GroupFacts, OfficeError> {
    let group = merged::read(&*office.store, replay.group(), i64::MAX).await?;
    Ok(group.ok_or_else(|| OfficeError::NoGroup(replay.group().clone()))?.facts)
}

/// A change of a replay and its group.
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
            match state {
                GroupState::Resolved { .. } => {
                    records.push((Act::GroupResolved, "The group has no open letters".to_string()));
                }
                GroupState::Discarded { .. } => {
                    let detail = "The group has no open letters; the replay delivered none".to_string();
                    records.push((Act::GroupDiscarded, detail));
                }
                _ => {}
            }
            let group = Box::new(self.group.moved(state));
            writes.push(Write::Variant { variant: group, expect: Expect::Version(self.group.version) });
        }
        let audit = Auditor::office(&self.group.id, self.now).in_replay(self.replay.id());
        writes.extend(records.into_iter().map(|(act, detail)| audit.record(act, detail, None)));
        Ok(if commit(office, writes).await?.is_made() { Did::Something } else { Did::Lost })
    }
}

/// Returns why a replay is paused, in a sentence.
pub(crate) fn reason_in_words(why: &PauseReason) -> String {
    match why {
        PauseReason::TooManyReturned { returned, sent, pause_share_pct, wave } => {
            let of = wave.map(|wave| format!(" of wave {}", wave + 1)).unwrap_or_default();
            let limit = match pause_share_pct {
                0 => "none may return".to_string(),
                pct => format!("the limit is {pct}%"),
            };
            format!("{returned} of {sent} letters{of} returned; {limit}")
        }
        PauseReason::GateClosed { unmet } => format!("The gate is closed: {}", unmet.join("; ")),
        PauseReason::QueueUnavailable { detail } => format!("The main queue cannot take letters: {detail}"),
        PauseReason::BacklogNotDrained { visible_count: 0 } => {
            "The main queue's retention passed before the letters left it. Is the consumer running?".into()
        }
        PauseReason::BacklogNotDrained { visible_count } => {
            format!("The main queue isn't draining: {visible_count} messages are waiting. Is the consumer running?")
        }
        PauseReason::QueueNeverEmpty { visible_count, in_flight_count } => format!(
            "No failure was seen, but the main queue still has messages ({visible_count} waiting, {in_flight_count} in flight), so whether the letters were processed is unknown. Let the consumer send receipts."
        ),
        PauseReason::UnprovenReturn { .. } => {
            "A message with this replay's marker failed again, in another form than it was sent, so it is not counted as returned. Does the consumer dead-letter by hand?".into()
        }
        PauseReason::ByPerson { reason } => reason.clone(),
    }
}

fn finished_alert(office: &Office, (group, replay): (&Variant, &Replay), detail: &str, now: Timestamp) -> Alert {
    Alert {
        kind: AlertKind::ReplayFinished,
        level: Severity::Info,
        at: now,
        group: Some(group.id.clone()),
        replay: Some(replay.id().clone()),
        title: format!("Replay finished: {}: {detail}", group.title),
        summary: summary::about_group(&format!("Replay finished: {detail}"), group, &office.policy),
        advice: "Check the letters that returned, expired or were skipped, if any.".into(),
    }
}

fn paused_alert(office: &Office, (group, replay): (&Variant, &Replay), why: &PauseReason, now: Timestamp) -> Alert {
    let words = reason_in_words(why);
    Alert {
        kind: AlertKind::ReplayPaused,
        level: group.severity,
        at: now,
        group: Some(group.id.clone()),
        replay: Some(replay.id().clone()),
        title: format!("Replay paused ({} {}): {words}", json_name(&group.classification.class), group.title),
        summary: summary::about_group(
            &format!("Replay paused: {}", summary::pause_reason(why, &words)),
            group,
            &office.policy,
        ),
        advice: "Check the returned letters. Declare a new fix once it is live and resume, or abort.".into(),
    }
}
