//! The audit as a person reads it.

use super::words;
use domain::audit::{Act, AuditRecord};
use domain::id::{Actor, ReplayId};

/// Who did it: the office is not a person.
pub fn who(actor: &Actor) -> String {
    if is_office(actor) { "The office".to_string() } else { actor.to_string() }
}

/// Whether the office did it by itself.
pub fn is_office(actor: &Actor) -> bool {
    actor.as_str() == Actor::OFFICE
}

/// What was done, to be said after who did it. A replay that stopped itself was stopped by nobody else.
pub fn what(record: &AuditRecord) -> &'static str {
    words::act(record.act)
}

/// The particulars, unless they only repeat the reason.
pub fn detail(record: &AuditRecord) -> Option<&str> {
    let detail = record.detail.trim();
    (!detail.is_empty() && record.reason.as_deref().map(str::trim) != Some(detail)).then_some(detail)
}

/// How much an entry stands out.
pub fn tone(act: Act) -> words::Tone {
    match act {
        Act::ReplayPausedItself | Act::GroupRegressed | Act::LateReturn => words::Tone::Danger,
        Act::ConditionWaived | Act::ReplayPaused | Act::ReplayAborted | Act::FixWithdrawn | Act::LetterQuarantined => {
            words::Tone::Warn
        }
        Act::ReplayApproved | Act::ReplayResumed | Act::WaveStarted => words::Tone::Info,
        Act::GroupResolved | Act::ReplayFinished | Act::WaveSettled => words::Tone::Ok,
        Act::GroupOpened | Act::FixDeclared | Act::NoteChanged | Act::ReplayPlanned => words::Tone::Quiet,
        Act::GroupsMerged | Act::GroupsUnmerged | Act::MergeAllowed => words::Tone::Quiet,
        Act::TransformSaved | Act::TransformTried | Act::LettersReleased => words::Tone::Quiet,
    }
}

/// What happened in one replay.
pub fn of_replay(records: &[AuditRecord], replay: &ReplayId) -> Vec<AuditRecord> {
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
    fn entries_read_as_sentences() {
        let rows = [
            (record("office", Act::WaveStarted, "Wave 1", None, None), "The office started a wave", Some("Wave 1")),
            (record("ana", Act::ReplayPaused, "", Some("lunch"), None), "ana paused the replay", None),
            (record("ana", Act::NoteChanged, "x", Some("x"), None), "ana changed the note", None),
        ];
        for (record, sentence, particulars) in rows {
            assert_eq!(format!("{} {}", who(&record.actor), what(&record)), sentence);
            assert_eq!(detail(&record), particulars);
        }
    }

    #[test]
    fn a_replay_has_only_its_own_events() {
        let all = [
            record("a", Act::FixDeclared, "", None, None),
            record("a", Act::ReplayApproved, "", None, Some("r1")),
            record("a", Act::ReplayApproved, "", None, Some("r2")),
        ];
        assert_eq!(of_replay(&all, &ReplayId::new("r2")).len(), 1);
    }
}
