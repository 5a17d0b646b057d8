//! What the page of a group offers first while no replay is under way: the action that helps now, and why.

use domain::deployment::Deployment;
use domain::fix::{Fix, FixKind};
use domain::gate::{Condition, ConditionKind};
use domain::letter::LetterStateKind;
use domain::reading::{Category, Class};
use wire::GroupAnswer;

/// The action that the page offers first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Discard the letters: no fix can help them.
    Discard,
    /// Look at the letters in quarantine: no others are left.
    Quarantine,
    /// Declare the first fix.
    DeclareFix,
    /// Declare another fix: letters failed after this one took effect.
    DeclareNewerFix,
    /// Edit the program of the declared transform: its dry run stands in the way.
    EditProgram,
    /// Plan the replay. `first` is false while something must happen outside the office first.
    Plan {
        /// Whether it is the main action.
        first: bool,
    },
    /// Wait: the plan is being made.
    Drafting,
    /// Send only the originals of the plan's letters, which look like error envelopes.
    Unwrap,
    /// Try the fix's program on the plan's letters: its dry run used others.
    TryProgram,
    /// Approve the plan.
    Approve {
        /// Whether it is the main action.
        first: bool,
    },
}

/// Returns what the page offers first.
pub fn offer(detail: &GroupAnswer) -> Offer {
    let letters = |kind| detail.counts.tally(kind).letters;
    match (letters(LetterStateKind::Waiting) > 0, letters(LetterStateKind::Quarantined) > 0) {
        (true, _) if unmet(detail, ConditionKind::LettersReplayable).is_some() => return Offer::Discard,
        (false, true) => return Offer::Quarantine,
        _ => {}
    }
    let Some(fix) = detail.row.state.fix() else {
        return if is_hopeless(detail) { Offer::Discard } else { Offer::DeclareFix };
    };
    let is_live = unmet(detail, ConditionKind::FixIsLive).is_none();
    if !is_live && runs_another(fix, detail.deployment.as_ref()).is_none() {
        return Offer::DeclareNewerFix;
    }
    let edits = fix.kind == FixKind::PayloadTransform;
    let untried = is_live && unmet(detail, ConditionKind::DryRun).is_some();
    let wrapped = is_live && unmet(detail, ConditionKind::Unwrapped).is_some();
    match (&detail.plan, &detail.drafting) {
        _ if untried && edits => Offer::EditProgram,
        (Some(_), _) if untried => Offer::TryProgram,
        (Some(plan), _) if wrapped && plan.plan.wrapped.program().is_some() => Offer::Unwrap,
        (Some(_), _) => Offer::Approve { first: is_live },
        (None, Some(draft)) if draft.failed.is_none() => Offer::Drafting,
        _ => Offer::Plan { first: is_live },
    }
}

/// Explains why the page offers to discard the letters. Returns `None` if it does not.
pub fn why_discard(detail: &GroupAnswer) -> Option<&'static str> {
    (offer(detail) == Offer::Discard).then(|| match detail.row.classification.category {
        _ if unmet(detail, ConditionKind::LettersReplayable).is_some() => "No fix helps letters that cannot be sent.",
        Category::Expired => "These messages were too late for their consumer. A fix cannot change that.",
        _ => "The tenant of these letters does not exist or is closed. If that is right, no fix helps them.",
    })
}

/// Names the condition of the gate that blocks the group's replay, with its evidence. Returns `None` if none does.
pub fn blocked_by(detail: &GroupAnswer) -> Option<String> {
    let first = detail.row.blocked.as_ref()?;
    let is_first = |condition: &&Condition| condition.evidence == *first;
    // Where no letter can be sent, the other conditions do not matter.
    let letters = unmet(detail, ConditionKind::LettersReplayable).filter(|_| offer(detail) == Offer::Discard);
    let condition = letters.or_else(|| detail.gate.conditions.iter().find(is_first))?;
    Some(format!("\"{}\" is unmet. {}", condition.kind.label(), condition.evidence))
}

/// Whether the class says that no fix can help: the message was too late, or its tenant is gone. A guess does not say it.
fn is_hopeless(detail: &GroupAnswer) -> bool {
    let found = &detail.row.classification;
    found.firm_class() == Class::Permanent && matches!(found.category, Category::Expired | Category::InvalidTenant)
}

fn unmet(detail: &GroupAnswer, kind: ConditionKind) -> Option<&Condition> {
    detail.gate.conditions.iter().find(|condition| condition.kind == kind && !condition.holds())
}

fn runs_another<'a>(fix: &Fix, deployment: Option<&'a Deployment>) -> Option<&'a Deployment> {
    deployment.filter(|deployment| fix.kind == FixKind::Deploy && deployment.version != fix.reference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{group_answer, replay};
    use domain::gate::Status;
    use domain::group::{GroupState, Tally};
    use domain::reading::Confidence;
    use domain::replay::{Ending, Plan, PlanHash, ReplayState, Wrapped};
    use domain::time::{Span, Timestamp};
    use domain::transform::TransformRef;
    use wire::PlanAnswer;

    const UNMET: Status = Status::Unmet { opens_at: None };

    fn fix(kind: FixKind) -> Fix {
        let ended = ReplayState::Finished { at: Timestamp::from_ms(0), ending: Ending::Completed };
        Fix { kind, ..replay(ended, &[]).replay.plan.fix }
    }

    /// Returns a group with so many waiting and quarantined letters, and these unmet conditions.
    fn group(waiting: i64, quarantined: i64, fix: Option<Fix>, unmet: &[ConditionKind]) -> GroupAnswer {
        let mut detail = group_answer("g");
        for (kind, letters) in [(LetterStateKind::Waiting, waiting), (LetterStateKind::Quarantined, quarantined)] {
            detail.counts.by_state.insert(kind, Tally { letters, ..Tally::default() });
        }
        if let Some(fix) = fix {
            detail.row.state = GroupState::FixDeclared { fix };
        }
        let status = |kind| if unmet.contains(&kind) { UNMET } else { Status::Met };
        let condition = |kind| Condition { kind, status: status(kind), evidence: format!("{kind:?}.") };
        detail.gate.conditions = ConditionKind::ALL.map(condition).into();
        detail.row.blocked = unmet.first().map(|kind| format!("{kind:?}."));
        detail
    }

    fn classified(category: Category, pct: u8) -> GroupAnswer {
        let mut detail = group(5, 0, None, &[ConditionKind::FixDeclared]);
        let found = &mut detail.row.classification;
        (found.class, found.category, found.confidence) = (Class::Permanent, category, Confidence::from_pct(pct));
        detail
    }

    #[test]
    fn the_first_offer_is_what_the_conditions_ask_for() {
        use ConditionKind::*;
        let deploy = || Some(fix(FixKind::Deploy));
        for (detail, expected) in [
            (group(5, 0, None, &[FixDeclared]), Offer::DeclareFix),
            (group(0, 0, None, &[FixDeclared, LettersReplayable]), Offer::DeclareFix),
            (group(5, 1, None, &[FixDeclared, LettersReplayable]), Offer::Discard),
            (group(0, 1, None, &[FixDeclared, LettersReplayable]), Offer::Quarantine),
            (group(5, 0, deploy(), &[LettersReplayable]), Offer::Discard),
            (group(5, 0, deploy(), &[]), Offer::Plan { first: true }),
            (group(5, 0, deploy(), &[Quiet, QueueReady]), Offer::Plan { first: true }),
            (group(5, 0, deploy(), &[FixIsLive, Quiet]), Offer::DeclareNewerFix),
            (group(5, 0, Some(fix(FixKind::PayloadTransform)), &[DryRun]), Offer::EditProgram),
            (classified(Category::Expired, 95), Offer::Discard),
            (classified(Category::InvalidTenant, 90), Offer::Discard),
            (classified(Category::InvalidTenant, 25), Offer::DeclareFix),
            (classified(Category::ConsumerBug, 95), Offer::DeclareFix),
        ] {
            assert_eq!(offer(&detail), expected, "{:?} {:?}", detail.gate, detail.row.classification);
        }
    }

    #[test]
    fn a_fix_that_is_not_deployed_yet_asks_for_no_newer_one() {
        let mut detail = group(5, 0, Some(fix(FixKind::Deploy)), &[ConditionKind::FixIsLive]);
        let deployment = |version: &str| {
            Some(Deployment {
                service: "orders".into(),
                version: version.into(),
                commit: None,
                at: Timestamp::from_ms(0),
            })
        };
        detail.deployment = deployment("v1");
        assert_eq!(offer(&detail), Offer::Plan { first: false }, "it is to be deployed, not declared again");
        detail.deployment = deployment("v2");
        assert_eq!(offer(&detail), Offer::DeclareNewerFix, "it runs, and letters still fail");
    }

    #[test]
    fn a_plan_asks_for_what_its_letters_need() {
        use ConditionKind::*;
        let transform = || Some(TransformRef { version: 2, program_hash: "h".into() });
        let deploy = |transform| Some(Fix { transform, ..fix(FixKind::Deploy) });
        let planned = |fix: Option<Fix>, unmet: &[ConditionKind], original_at: Option<&str>| {
            let mut detail = group(5, 0, fix, unmet);
            let plan = replay(ReplayState::Finished { at: Timestamp::from_ms(0), ending: Ending::Completed }, &[]);
            let wrapped = Wrapped { letters: 5, original_at: original_at.map(Into::into) };
            let plan = Plan { wrapped, ..plan.replay.plan };
            let (hash, duration_ms) = (PlanHash("h".into()), Span::from_secs(1));
            detail.plan = Some(PlanAnswer { plan, hash, duration_ms, arrived_since: 0 });
            offer(&detail)
        };
        let approve = Offer::Approve { first: true };
        assert_eq!(planned(deploy(None), &[], None), approve);
        assert_eq!(planned(deploy(None), &[Unwrapped], Some(".payload")), Offer::Unwrap);
        assert_eq!(planned(deploy(None), &[Unwrapped], None), approve, "the wrappers differ: no one program is right");
        assert_eq!(planned(deploy(transform()), &[DryRun], Some(".payload")), Offer::TryProgram);
        let program = Some(Fix { transform: transform(), ..fix(FixKind::PayloadTransform) });
        assert_eq!(planned(program, &[DryRun], Some(".payload")), Offer::EditProgram);
    }

    #[test]
    fn an_offer_to_discard_says_why_no_fix_helps() {
        use ConditionKind::*;
        let why = |detail: &GroupAnswer| why_discard(detail).unwrap_or_default();
        assert!(why(&group(5, 0, None, &[LettersReplayable])).starts_with("No fix helps letters that cannot be sent"));
        assert!(why(&classified(Category::Expired, 95)).starts_with("These messages were too late"));
        assert!(
            why(&classified(Category::InvalidTenant, 95)).starts_with("The tenant of these letters does not exist")
        );
        assert_eq!(why(&group(5, 0, None, &[FixDeclared])), "");
    }

    #[test]
    fn what_blocks_a_replay_cannot_be_misread_as_met() {
        use ConditionKind::*;
        let blocked = |unmet: &[ConditionKind]| blocked_by(&group(5, 0, Some(fix(FixKind::Deploy)), unmet));
        assert_eq!(blocked(&[]), None);
        assert_eq!(blocked(&[FixIsLive, Quiet]).as_deref(), Some("\"Fix is live\" is unmet. FixIsLive."));
        let letters = "\"Letters can be replayed\" is unmet. LettersReplayable.";
        assert_eq!(blocked(&[FixIsLive, LettersReplayable]).as_deref(), Some(letters), "it asks for what is offered");
    }
}
