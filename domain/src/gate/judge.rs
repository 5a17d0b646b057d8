//! The judgement of each condition, with its evidence in one sentence.

use super::consumers::{dependency_healthy, safe_to_repeat};
use super::judgement::{Judgement, met, unmet};
use super::{Condition, ConditionKind, GateFacts, QueueFact, Status};
use crate::deployment::Deployment;
use crate::fix::{Fix, FixKind};
use crate::limits::CLOCK_SKEW_MAX;
use crate::money::{Money, Purse};
use crate::person::IdentityKind;
use crate::policy::GatePolicy;
use crate::text::grouped;
use crate::time::Timestamp;
use crate::transform::DryCounts;
use alloc::format;
use alloc::string::{String, ToString};

pub(super) fn judge(kind: ConditionKind, facts: &GateFacts<'_>, policy: &GatePolicy, now: Timestamp) -> Condition {
    let (status, evidence) = match kind {
        ConditionKind::FixDeclared => fix_declared(facts),
        ConditionKind::FixIsLive => fix_is_live(facts),
        ConditionKind::Quiet => quiet(facts, policy, now),
        ConditionKind::DryRun => dry_run(facts),
        ConditionKind::DependencyHealthy => dependency_healthy(facts, now),
        ConditionKind::SafeToRepeat => safe_to_repeat(facts.consumers.repeats),
        ConditionKind::LettersReplayable => letters_replayable(facts),
        ConditionKind::Unwrapped => unwrapped(facts),
        ConditionKind::QueueReady => match &facts.queue {
            QueueFact::Ready(words) => met(words.clone()),
            QueueFact::NotReady(why) => unmet(why.clone()),
        },
        ConditionKind::Approval => approval(facts, policy),
    };
    let waiver = facts.waivers.iter().find(|waiver| waiver.condition == kind && kind.is_waivable());
    let status = match (status, waiver) {
        (Status::Unmet { .. }, Some(waiver)) => Status::Waived { by: waiver.by.clone(), reason: waiver.reason.clone() },
        (status, _) => status,
    };
    Condition { kind, status, evidence }
}

fn fix_declared(facts: &GateFacts<'_>) -> Judgement {
    match facts.fix {
        Some(fix) => met(format!("{}, declared by {}", fix.label(), fix.declared_by)),
        None => unmet("No fix is declared."),
    }
}

fn fix_is_live(facts: &GateFacts<'_>) -> Judgement {
    let Some(fix) = facts.fix else {
        return unmet("Starts once a fix is declared.");
    };
    if fix.kind == FixKind::PayloadTransform {
        return met("Letters are changed on sending; no deployment needed");
    }
    if let (FixKind::Deploy, Some(deployment)) = (fix.kind, facts.deployment)
        && deployment.version != fix.reference
    {
        return unmet(format!(
            "{} runs {}, but the fix is in {}. Deploy the fix.",
            deployment.service, deployment.version, fix.reference
        ));
    }
    let effective_at = effective_at(fix, facts.deployment);
    if facts.last_died_at.is_some_and(|died_at| died_at > effective_at) {
        return unmet(format!("Still failing after {} took effect. Declare a newer fix.", fix.reference));
    }
    let is_unknown = facts.last_undated_at.is_some_and(|read_at| read_at > effective_at);
    match (fix.kind, facts.deployment) {
        (FixKind::Deploy, Some(deployment)) if is_unknown => {
            met(format!("{} runs {}; some letters failed at an unknown time", deployment.service, deployment.version))
        }
        (FixKind::Deploy, Some(deployment)) => {
            met(format!("{} runs {}, deployed after the last failure", deployment.service, deployment.version))
        }
        _ => met("Declared after the last failure; no deployment reported"),
    }
}

/// Returns when a fix took effect: when its version went live, if that was reported; else when it was declared.
pub fn effective_at(fix: &Fix, deployment: Option<&Deployment>) -> Timestamp {
    match deployment {
        Some(deployment) if fix.kind == FixKind::Deploy && deployment.version == fix.reference => deployment.at,
        _ => fix.effective_at,
    }
}

fn quiet(facts: &GateFacts<'_>, policy: &GatePolicy, now: Timestamp) -> Judgement {
    let Some(fix) = facts.fix else {
        return unmet("Starts once a fix is declared.");
    };
    if fix.kind == FixKind::PayloadTransform {
        return met("Not required for a transform, which changes the letters themselves");
    }
    let effective_at = effective_at(fix, facts.deployment);
    let from = facts.last_death_until().map_or(effective_at, |died_at| died_at.max(effective_at));
    let opens_at = from.plus(policy.quiet_ms);
    let words = span_words(policy.quiet_ms.as_ms());
    if now >= opens_at {
        met(format!("No new failure for {words} or more"))
    } else if from > now.plus(CLOCK_SKEW_MAX) {
        let words = "The fix, or the last failure, has a time in the future: the clock went back. Waive this, or declare the fix again.";
        (Status::Unmet { opens_at: Some(opens_at) }, words.into())
    } else {
        (Status::Unmet { opens_at: Some(opens_at) }, format!("Clears after {words} without a new failure."))
    }
}

fn dry_run(facts: &GateFacts<'_>) -> Judgement {
    let Some(transform) = facts.fix.and_then(|fix| fix.transform.as_ref()) else {
        return unmet("The fix has no transform.");
    };
    let label = transform.label();
    let Some(run) = facts.dry_run.filter(|run| run.transform == *transform) else {
        return unmet(format!("{label} has not been tried on the waiting letters. Start a dry run."));
    };
    if !run.is_about(facts.filter) {
        return unmet(format!(
            "The dry run of {label} used other letters than this plan. Start one with the plan's filter, or without a filter."
        ));
    }
    let DryCounts { changed, unchanged, failed } = run.counts;
    let words =
        format!("Version {} changes {changed}, leaves {unchanged} unchanged, fails on {failed}", transform.version);
    match (run.is_whole(), changed) {
        (false, _) => {
            unmet(format!("The dry run of {label} is still running: {} letters tried so far.", run.counts.total()))
        }
        (true, 0) => unmet(format!("{words}. A fix must change at least one letter.")),
        (true, _) => met(words),
    }
}

fn letters_replayable(facts: &GateFacts<'_>) -> Judgement {
    let left_out = facts.left_out.join("; ");
    match (facts.letters.letters, left_out.is_empty()) {
        (0, true) => unmet("No waiting letters in this group."),
        (0, false) => unmet(format!("No letter can be sent. Not included: {left_out}.")),
        (n, is_all) => {
            let mut words = match (n, is_all) {
                (1, true) => "1 letter can be sent".to_string(),
                (n, true) => format!("{} letters can be sent", grouped(&n.to_string())),
                (n, false) => format!("{} can be sent; not included: {left_out}", grouped(&n.to_string())),
            };
            for unchecked in facts.unchecked {
                words.push_str("; not checked: ");
                words.push_str(unchecked);
            }
            met(words)
        }
    }
}

/// Whether a transform does the right thing, its dry run and preview show.
fn unwrapped(facts: &GateFacts<'_>) -> Judgement {
    let transform = facts.fix.and_then(|fix| fix.transform.as_ref());
    let words = facts.wrapped.words(facts.letters.letters, transform.is_some());
    if let Some(transform) = transform {
        return met(format!("{words}; {} changes what is sent", transform.label()));
    }
    let way = match facts.wrapped.original_at {
        Some(_) => "Send only the original, or waive this if the consumer accepts the wrapper.",
        None => {
            "The wrappers differ: plan some of the letters, write a transform, or waive this if the consumer accepts them."
        }
    };
    unmet(format!("{words}. {way}"))
}

fn approval(facts: &GateFacts<'_>, policy: &GatePolicy) -> Judgement {
    let four_eyes = facts.four_eyes || policy.second_person_from(&facts.letters.money, facts.fix);
    match (facts.approver, facts.fix) {
        (None, _) => unmet("Waiting for an approver."),
        (Some(rule), _) if four_eyes && rule.name.is_rule() => unmet("A rule cannot replace the second approver."),
        // Nobody else can sign in there, so a rule for two people would only be a formality.
        (Some(approver), _) if four_eyes && approver.kind() == IdentityKind::OneMachine => {
            met(format!("{} can approve. {ONE_MACHINE}", approver.name))
        }
        (Some(approver), Some(fix)) if four_eyes && approver.is(&fix.declared_by, fix.declared_by_id.as_ref()) => {
            unmet(format!("{} declared the fix. Another person must approve it.", fix.declared_by))
        }
        (Some(approver), _) => met(format!("{} can approve", approver.name)),
    }
}

impl GatePolicy {
    /// Whether this much money, under this fix, needs a second person although `four_eyes` is off.
    pub fn second_person_from(&self, money: &Purse, fix: Option<&Fix>) -> bool {
        let is_changed = fix.is_some_and(|fix| fix.transform.is_some());
        let reaches =
            |limit: &Money| money.sums().iter().any(|sum| sum.currency == limit.currency && sum.amount >= limit.amount);
        self.four_eyes_from.iter().any(|limit| is_changed || reaches(limit))
    }
}

/// Why an approval on one machine is not a second person's.
pub const ONE_MACHINE: &str =
    "All sign-in links of this machine belong to one person, so this is not a second person's approval.";

/// Returns a span in words for evidence: `10 s`, `5 min`, `2 h`.
fn span_words(ms: i64) -> String {
    match ms / 1000 {
        s if s < 120 => format!("{s} s"),
        s if s < 7200 => format!("{} min", s / 60),
        s => format!("{} h", s / 3600),
    }
    .to_string()
}
