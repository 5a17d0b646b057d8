//! Audit records: who did what to which group, and when. The only place in the office that makes one.

use crate::port::Write;
use domain::audit::{Act, AuditRecord};
use domain::filter::LetterFilter;
use domain::id::{Actor, GroupId, ReplayId};
use domain::text::is_hidden;
use domain::time::Timestamp;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Who acts on which group, and when: what all audit records of one commit share.
pub(crate) struct Auditor {
    pub actor: Actor,
    pub at: Timestamp,
    group: GroupId,
    replay: Option<ReplayId>,
}

impl Auditor {
    /// A person or a rule of the policy acts.
    pub fn new(actor: &Actor, group: &GroupId, at: Timestamp) -> Self {
        Self { actor: actor.clone(), at, group: group.clone(), replay: None }
    }

    /// The office itself acts.
    pub fn office(group: &GroupId, at: Timestamp) -> Self {
        Self::new(&Actor::office(), group, at)
    }

    /// The same, in a replay.
    pub fn in_replay(self, replay: &ReplayId) -> Self {
        Self { replay: Some(replay.clone()), ..self }
    }

    /// The write of a record. `detail` says in a sentence what was done, `reason` why, in the actor's own words.
    pub fn record(&self, act: Act, detail: impl Into<String>, reason: Option<String>) -> Write {
        Write::Audit(Box::new(AuditRecord {
            at: self.at,
            actor: self.actor.clone(),
            act,
            group: self.group.clone(),
            replay: self.replay.clone(),
            detail: detail.into(),
            reason,
        }))
    }
}

/// Returns a moment as RFC 3339 in UTC, or in milliseconds if no calendar has it.
pub(crate) fn moment(at: Timestamp) -> String {
    let nanos = i128::from(at.as_ms()) * 1_000_000;
    let moment = OffsetDateTime::from_unix_timestamp_nanos(nanos).ok().and_then(|at| at.format(&Rfc3339).ok());
    moment.unwrap_or_else(|| at.as_ms().to_string())
}

/// Returns a number of letters in words.
pub(crate) fn letters_in_words(n: u64) -> String {
    if n == 1 { "1 letter".into() } else { format!("{n} letters") }
}

/// Returns the criteria of a filter; nothing if it has none. Its texts come from letters: they are quoted, and show no
/// character that changes how the rest is read.
pub(crate) fn criteria(filter: &LetterFilter) -> Option<String> {
    let quoted = |text: &String| {
        let plain: String = text.chars().map(|c| if is_hidden(c) || c == '"' { ' ' } else { c }).collect();
        format!("\"{plain}\"")
    };
    let LetterFilter { message_type, tenant, died_from, died_before, replays_max } = filter;
    let criteria = [
        message_type.as_ref().map(|text| format!("message type {}", quoted(text))),
        tenant.as_ref().map(|text| format!("tenant {}", quoted(text))),
        died_from.map(|at| format!("failed at or after {}", moment(at))),
        died_before.map(|at| format!("failed before {}", moment(at))),
        replays_max.map(|max| format!("at most {max} replays")),
    ];
    let criteria: Vec<String> = criteria.into_iter().flatten().collect();
    (!criteria.is_empty()).then(|| criteria.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_are_named_and_cannot_be_forged() {
        assert_eq!(criteria(&LetterFilter::default()), None);
        let filter = LetterFilter {
            message_type: Some("orders.v1\", tenant \"b\u{202e}".into()),
            tenant: Some("a".into()),
            died_from: Some(Timestamp::from_ms(0)),
            died_before: Some(Timestamp::from_ms(i64::MAX)),
            replays_max: Some(2),
        };
        assert_eq!(
            criteria(&filter).as_deref(),
            Some(
                "message type \"orders.v1 , tenant  b \", tenant \"a\", failed at or after 1970-01-01T00:00:00Z, failed before 9223372036854775807, at most 2 replays"
            )
        );
    }
}
