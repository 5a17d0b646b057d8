//! The fixes of a group that no longer count, with what became of them. A group's state has only the current fix; its audit
//! log remembers the others.

use domain::audit::{Act, AuditRecord};
use domain::fix::Fix;
use domain::id::Actor;
use domain::time::Timestamp;

/// A fix that no longer counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Its kind and reference: `Deploy v2`.
    pub label: String,
    /// Who declared it.
    pub by: Actor,
    /// When it was declared.
    pub at: Timestamp,
    /// What became of it, in one sentence.
    pub result: String,
}

/// Returns the fixes before the current one, newest first. `records` is the audit log, newest first.
pub fn tried(records: &[AuditRecord], current: Option<&Fix>) -> Vec<Tried> {
    let mut fixes: Vec<Tried> = Vec::new();
    for record in records.iter().rev() {
        if record.act == Act::FixDeclared {
            fixes.push(Tried {
                label: record.detail.clone(),
                by: record.actor.clone(),
                at: record.at,
                result: String::new(),
            });
        } else if let (Some(result), Some(fix)) = (result(record), fixes.last_mut()) {
            fix.result = result;
        }
    }
    // The current fix was declared last.
    if current.is_some_and(|current| fixes.last().is_some_and(|fix| fix.at == current.declared_at)) {
        fixes.pop();
    }
    for fix in &mut fixes {
        if fix.result.is_empty() {
            fix.result = "Replaced by a newer fix.".to_string();
        }
    }
    fixes.reverse();
    fixes
}

/// Returns what a record says about the fix that counted at its time.
fn result(record: &AuditRecord) -> Option<String> {
    let reason = record.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    Some(match record.act {
        // A replay that paused for another reason says nothing about its fix.
        Act::ReplayPausedItself if record.detail.contains("returned;") => format!("{}.", record.detail),
        Act::FixWithdrawn => format!("Withdrawn{reason}"),
        Act::ReplayAborted => format!("Its replay was aborted{reason}"),
        Act::GroupResolved => "It resolved the group.".to_string(),
        Act::GroupRegressed => "It resolved the group, and then a letter failed again.".to_string(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::id::GroupId;

    /// Returns records from oldest to newest as the API gives them: newest first.
    fn log(entries: &[(Act, &str, Option<&str>)]) -> Vec<AuditRecord> {
        let record = |(at, (act, detail, reason)): (usize, &(Act, &str, Option<&str>))| AuditRecord {
            at: Timestamp::from_ms(at as i64),
            actor: Actor::new("otto"),
            act: *act,
            group: GroupId::new("g"),
            replay: None,
            detail: (*detail).into(),
            reason: reason.map(Into::into),
        };
        entries.iter().enumerate().map(record).rev().collect()
    }

    #[test]
    fn failed_withdrawn_and_aborted_fixes_are_remembered() {
        let records = log(&[
            (Act::FixDeclared, "Deploy v2", None),
            (Act::ReplayPausedItself, "The gate is closed: quiet", None),
            (Act::ReplayPausedItself, "1 of 2 letters of wave 1 returned; none may return", None),
            (Act::FixDeclared, "Deploy v3", None),
            (Act::FixDeclared, "Deploy v4", None),
            (Act::ReplayAborted, "", Some("wrong queue")),
            (Act::FixDeclared, "Deploy v5", None),
        ]);
        let lines = |current: Option<&Fix>| -> Vec<String> {
            tried(&records, current).iter().map(|fix| format!("{}: {}", fix.label, fix.result)).collect()
        };
        let failed = [
            "Deploy v4: Its replay was aborted: wrong queue",
            "Deploy v3: Replaced by a newer fix.",
            "Deploy v2: 1 of 2 letters of wave 1 returned; none may return.",
        ];
        let state = domain::replay::ReplayState::Running { wave: 0, phase: domain::replay::Phase::Sending };
        let sample = crate::sample::replay(state, &[]).replay.plan.fix;
        let current = Fix { declared_at: Timestamp::from_ms(6), ..sample };
        assert_eq!(lines(Some(&current)), failed);
        assert_eq!(lines(None)[1..], failed, "without a current fix, the last one was tried too");
    }
}
