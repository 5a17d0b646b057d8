//! The audit log as sentences.

use super::words;
use domain::audit::{Act, AuditRecord};
use domain::id::{Actor, ReplayId};

/// Returns the actor's name. The office acts under its own name.
pub fn who(actor: &Actor) -> String {
    if is_office(actor) { "The office".to_string() } else { actor.to_string() }
}

/// Returns whether the office acted by itself.
pub fn is_office(actor: &Actor) -> bool {
    actor.as_str() == Actor::OFFICE
}

/// Returns the action in the past tense, to follow the actor's name.
pub fn what(record: &AuditRecord) -> &'static str {
    words::act(record.act)
}

/// Returns the details, unless they only repeat the reason.
pub fn detail(record: &AuditRecord) -> Option<&str> {
    let detail = record.detail.trim();
    (!detail.is_empty() && record.reason.as_deref().map(str::trim) != Some(detail)).then_some(detail)
}

/// Returns how strongly an entry stands out.
pub fn tone(act: Act) -> words::Tone {
    match act {
        Act::ReplayPausedItself | Act::GroupRegressed | Act::LateReturn | Act::DiscardedDiedAgain => {
            words::Tone::Danger
        }
        Act::PlanFailed
        | Act::ConditionWaived
        | Act::ReplayPaused
        | Act::ReplayAborted
        | Act::FixWithdrawn
        | Act::LetterQuarantined => words::Tone::Warn,
        Act::DiscardBegun | Act::LettersDiscarded => words::Tone::Warn,
        Act::UndoBegun | Act::DiscardUndone | Act::GroupDiscarded => words::Tone::Quiet,
        Act::ReplayApproved | Act::ReplayResumed | Act::WaveStarted | Act::CanaryStarted => words::Tone::Info,
        Act::GroupResolved | Act::ReplayFinished | Act::WaveSettled => words::Tone::Ok,
        Act::GroupOpened | Act::FixDeclared | Act::NoteChanged | Act::OwnerChanged | Act::LogsRequested => {
            words::Tone::Quiet
        }
        Act::GroupsMerged | Act::GroupsUnmerged | Act::MergeAllowed => words::Tone::Quiet,
        Act::PlanBegun
        | Act::PlanCancelled
        | Act::ReplayPlanned
        | Act::TransformSaved
        | Act::TransformTried
        | Act::LettersReleased => words::Tone::Quiet,
        Act::PayloadViewed | Act::HistoryExported | Act::LettersExported => words::Tone::Quiet,
    }
}

/// Returns the records with each run of one person's views of payloads as one record, so that views do not hide changes.
/// The record has the time of the latest view.
pub fn folded(records: &[AuditRecord]) -> Vec<AuditRecord> {
    let same = |a: &AuditRecord, b: &AuditRecord| a.act == Act::PayloadViewed && a.act == b.act && a.actor == b.actor;
    let runs = records.chunk_by(same).filter_map(|run| {
        let first = run.first()?.clone();
        Some(if run.len() == 1 { first } else { AuditRecord { detail: format!("{} times", run.len()), ..first } })
    });
    runs.collect()
}

/// Returns the records of one replay.
pub fn for_replay(records: &[AuditRecord], replay: &ReplayId) -> Vec<AuditRecord> {
    records.iter().filter(|record| record.replay.as_ref() == Some(replay)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::GroupId;
    use domain::time::Timestamp;

    fn record(actor: &str, act: Act, detail: &str, reason: Option<&str>, replay: Option<&str>) -> AuditRecord {
        AuditRecord {
            at: Timestamp::from_ms(0),
            actor: Actor::new(actor),
            act,
            group: GroupId::new("g"),
            replay: replay.map(ReplayId::new),
            detail: detail.into(),
            reason: reason.map(Into::into),
        }
    }

    #[test]
    fn records_read_as_sentences() {
        let rows = [
            (record("office", Act::WaveStarted, "Wave 1", None, None), "The office started a wave", Some("Wave 1")),
            (record("ana", Act::ReplayPaused, "", Some("lunch"), None), "ana paused the replay", None),
            (record("ana", Act::NoteChanged, "x", Some("x"), None), "ana changed the note", None),
        ];
        for (record, sentence, details) in rows {
            assert_eq!(format!("{} {}", who(&record.actor), what(&record)), sentence);
            assert_eq!(detail(&record), details);
        }
    }

    #[test]
    fn views_of_one_person_are_one_record() {
        let view = |actor, letter: &str| record(actor, Act::PayloadViewed, letter, None, None);
        let all = [
            view("ana", "Letter 1"),
            view("ana", "Letter 2"),
            view("otto", "Letter 1"),
            record("ana", Act::NoteChanged, "x", None, None),
            record("ana", Act::NoteChanged, "x", None, None),
            view("ana", "Letter 3"),
        ];
        let folded = folded(&all);
        let sentences: Vec<_> =
            folded.iter().map(|record| format!("{} {}: {}", record.actor, what(record), record.detail)).collect();
        let expected = [
            "ana viewed a payload: 2 times",
            "otto viewed a payload: Letter 1",
            "ana changed the note: x",
            "ana changed the note: x",
            "ana viewed a payload: Letter 3",
        ];
        assert_eq!(sentences, expected);
    }

    #[test]
    fn a_replay_shows_only_its_own_records() {
        let all = [
            record("a", Act::FixDeclared, "", None, None),
            record("a", Act::ReplayApproved, "", None, Some("r1")),
            record("a", Act::ReplayApproved, "", None, Some("r2")),
        ];
        assert_eq!(for_replay(&all, &ReplayId::new("r2")).len(), 1);
    }
}
