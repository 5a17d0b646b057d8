//! People who press every button that they see, and some that they should not.

use super::fixture::Fixture;
use super::programs;
use domain::discard::DiscardReason;
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::group::GroupState;
use domain::id::{Actor, GroupId, LetterId, ReplayId};
use domain::letter::LetterStateKind;
use domain::limits::PAGE_MAX;
use domain::replay::{PlanHash, PlanOptions};
use domain::time::Span;
use office::act;
use office::office::Office;
use office::port::GroupFacts;
use wire::{
    ApproveRequest, DeclareFixRequest, DiscardPreviewRequest, DiscardRequest, DryRunRequest, PlanRequest,
    ReleaseRequest, ResumeRequest, SaveTransformRequest, UndoDiscardRequest, UnmergeRequest, WaiverRequest,
};

enum Action {
    Declare,
    Transform,
    Withdraw,
    Plan,
    Cancel,
    Approve,
    Pause(ReplayId),
    Resume(ReplayId),
    Abort(ReplayId),
    Unmerge(GroupId),
    Release,
    Discard,
    Undo,
}

/// Lets a person act on a random group. Refusals are fine: the checker observes every action that takes effect.
pub(super) async fn act(fixture: &mut Fixture) {
    let Ok(page) = fixture.store.groups(i64::MAX, None, PAGE_MAX).await else { return };
    if page.items.is_empty() {
        return;
    }
    let at = fixture.chance.below(page.items.len());
    // A merged variant leads to its representative, except on an old page.
    let representative = page.items[at].variant.merge.into.as_ref().filter(|_| fixture.chance.below(8) > 0);
    let facts = page.items.iter().find(|facts| Some(&facts.variant.id) == representative).unwrap_or(&page.items[at]);
    let planned = fixture.store.plan(&facts.variant.id).await.is_ok_and(|plan| plan.is_some());
    if let Some(action) = choose(fixture, facts, planned) {
        perform(fixture, facts, action).await;
    }
}

fn choose(fixture: &mut Fixture, facts: &GroupFacts, planned: bool) -> Option<Action> {
    let mut below = |n| fixture.chance.below(n);
    if let Some(other) = facts.variant.merge.members.first().filter(|_| below(20) == 0) {
        return Some(Action::Unmerge(other.clone()));
    }
    if facts.counts.tally(LetterStateKind::Quarantined).letters > 0 && below(6) == 0 {
        return Some(Action::Release);
    }
    // Rare, so that most letters are left for replays.
    if below(40) == 0 {
        return Some(Action::Discard);
    }
    if facts.counts.tally(LetterStateKind::Discarded).letters > 0 && below(4) == 0 {
        return Some(Action::Undo);
    }
    let is_drafted = !facts.variant.drafts.is_empty();
    if is_drafted && below(10) == 0 {
        return Some(Action::Cancel);
    }
    match &facts.variant.state {
        GroupState::Open | GroupState::Regressed { .. } if below(4) == 0 => Some(Action::Transform),
        GroupState::Open | GroupState::Regressed { .. } => Some(Action::Declare),
        GroupState::FixDeclared { .. } => Some(match below(9) {
            0 => Action::Withdraw,
            1 => Action::Declare,
            2 => Action::Plan,
            _ => {
                if planned {
                    Action::Approve
                } else if is_drafted && below(8) > 0 {
                    return None;
                } else {
                    Action::Plan
                }
            }
        }),
        GroupState::Replaying { replay, .. } | GroupState::Verifying { replay, .. } => match below(12) {
            0 | 1 => Some(Action::Pause(replay.clone())),
            2 => Some(Action::Abort(replay.clone())),
            _ => None,
        },
        GroupState::Paused { replay, .. } => Some(match below(9) {
            0 => Action::Abort(replay.clone()),
            1 => Action::Withdraw,
            2 => Action::Transform,
            3..5 => Action::Declare,
            _ => Action::Resume(replay.clone()),
        }),
        GroupState::Resolved { .. } | GroupState::Discarded { .. } => None,
    }
}

/// Pauses or aborts a replay, whatever its state.
pub(super) async fn pause_or_abort(office: &Office, replay: &ReplayId, aborts: bool) {
    let otto = Actor::from("otto");
    if aborts {
        let _ = act::abort(office, &otto, replay, "not needed any more").await;
    } else {
        let _ = act::pause(office, &otto, replay, "something is wrong").await;
    }
}

/// Cancels the plan that is being made for a group.
pub(super) async fn cancel(office: &Office, group: &GroupId) {
    let _ = act::cancel_plan(office, &Actor::from("otto"), group).await;
}

/// Returns a filter for a plan: mostly all letters; sometimes those that died early or late, or were never replayed.
fn filter(fixture: &mut Fixture) -> LetterFilter {
    let any = LetterFilter::default();
    let ago = Span::from_secs(fixture.chance.below(120) as i64);
    let then = Some(fixture.now().minus(ago));
    match fixture.chance.below(12) {
        0 => LetterFilter { died_before: then, ..any },
        1 => LetterFilter { died_from: then, ..any },
        2 => LetterFilter { replays_max: Some(0), ..any },
        _ => any,
    }
}

async fn perform(fixture: &mut Fixture, facts: &GroupFacts, action: Action) {
    let process = fixture.process();
    let (office, group) = (&process.office, &facts.variant.id);
    // Most people stay within their role.
    let approves = matches!(action, Action::Approve | Action::Resume(_)) != (fixture.chance.below(6) == 0);
    let who = Actor::from(if approves { "anna" } else { "otto" });
    let reason = || "because".to_string();
    match action {
        Action::Declare => {
            let kind = [FixKind::Deploy, FixKind::Deploy, FixKind::DataRepair][fixture.chance.below(3)];
            let request =
                DeclareFixRequest { kind, reference: format!("v{}", fixture.version), note: None, transform: None };
            let _ = act::declare_fix(office, &who, group, &request).await;
        }
        Action::Transform => transform(fixture, office, &who, group).await,
        Action::Withdraw => drop(act::withdraw_fix(office, &who, group, "wrong fix").await),
        Action::Plan => {
            let canary = fixture.chance.below(4) as u64;
            let options = PlanOptions {
                canary_letters: (canary > 0).then_some(canary),
                growth_factor: Some(1 + fixture.chance.below(4) as u64),
                ..PlanOptions::default()
            };
            let request = PlanRequest { options, filter: filter(fixture), ..PlanRequest::default() };
            let _ = act::plan(office, &who, group, &request).await;
        }
        Action::Cancel => cancel(office, group).await,
        Action::Approve => {
            let plan = fixture.store.plan(group).await.ok().flatten();
            let plan_hash = match plan {
                Some(plan) if fixture.chance.below(10) > 0 => plan.hash(),
                _ => PlanHash("00".into()),
            };
            let request = ApproveRequest { plan_hash, reason: reason(), waivers: waivers(fixture) };
            let _ = act::approve(office, &who, group, &request).await;
        }
        Action::Pause(replay) => drop(act::pause(office, &who, &replay, "lunch").await),
        Action::Resume(replay) => {
            let fix = fixture.store.group(group).await.ok().flatten().and_then(|group| group.state.fix().cloned());
            let program_hash = fix.and_then(|fix| fix.transform).map(|named| named.program_hash);
            let program_hash = program_hash.filter(|_| fixture.chance.below(8) > 0);
            let request =
                ResumeRequest { reason: reason(), program_hash, fix_declared_at: None, waivers: waivers(fixture) };
            let _ = act::resume(office, &who, &replay, &request).await;
        }
        Action::Unmerge(fingerprint) => {
            let _ = act::unmerge(office, &who, group, &UnmergeRequest { fingerprint, reason: reason() }).await;
        }
        Action::Release => {
            let _ = act::release(office, &who, group, &ReleaseRequest { letters: Vec::new(), reason: reason() }).await;
        }
        Action::Abort(replay) => drop(act::abort(office, &who, &replay, "enough").await),
        Action::Discard => discard(fixture, office, &who, group).await,
        Action::Undo => {
            let letters = named(fixture, group, LetterStateKind::Discarded).await;
            let filter = if letters.is_empty() { filter(fixture) } else { LetterFilter::default() };
            let request = UndoDiscardRequest { letters, filter, discarded_at: None, reason: reason() };
            let _ = act::undo_discard(office, &who, group, &request).await;
        }
    }
}

/// Looks at some letters, or at all of a filter, and discards them a little later.
async fn discard(fixture: &mut Fixture, office: &Office, who: &Actor, group: &GroupId) {
    let state = [LetterStateKind::Waiting, LetterStateKind::Quarantined, LetterStateKind::InReplay];
    let state = state[fixture.chance.below(state.len())];
    let letters = named(fixture, group, state).await;
    let filter = if letters.is_empty() { filter(fixture) } else { LetterFilter::default() };
    let asked = DiscardPreviewRequest { letters: letters.clone(), filter: filter.clone() };
    let Ok(seen) = act::preview_discard(office, group, &asked).await else { return };
    let reason = DiscardReason::ALL[fixture.chance.below(DiscardReason::ALL.len())];
    let note = Some("nobody needs them".to_string());
    let request = DiscardRequest { letters, filter, seen_at: seen.seen_at, reason, note };
    let _ = act::discard(office, who, group, &request).await;
}

/// Returns one or two letters of a group in a state, or none to mean all.
async fn named(fixture: &mut Fixture, group: &GroupId, state: LetterStateKind) -> Vec<LetterId> {
    let count = fixture.chance.below(8);
    if count == 0 {
        return Vec::new();
    }
    let page = fixture.store.letters_of(group, Some(state), None, PAGE_MAX).await;
    let letters = page.map(|page| page.items).unwrap_or_default();
    let from = fixture.chance.below(letters.len());
    letters.iter().skip(from).take(count).map(|letter| letter.id.clone()).collect()
}

/// Saves a program, usually with a complete dry run, and declares it as the fix.
async fn transform(fixture: &mut Fixture, office: &Office, who: &Actor, group: &GroupId) {
    let save = SaveTransformRequest { program: programs::any(&mut fixture.chance), note: None };
    let Ok(saved) = act::save_transform(office, who, group, &save).await else { return };
    let mut go_on = None;
    while fixture.chance.below(10) > 0 {
        let request = DryRunRequest { version: saved.version, go_on, filter: filter(fixture) };
        match act::dry_run(office, who, group, &request).await {
            Ok(run) if !run.is_whole() => go_on = Some(run.revision),
            Ok(_) => break,
            Err(_) => return,
        }
    }
    let kind = FixKind::PayloadTransform;
    let request = DeclareFixRequest { kind, reference: format!("v{}", saved.version), note: None, transform: None };
    let _ = act::declare_fix(office, who, group, &request).await;
}

fn waivers(fixture: &mut Fixture) -> Vec<WaiverRequest> {
    let condition = match fixture.chance.below(4) {
        0 => Some(ConditionKind::Quiet),
        1 => Some(ConditionKind::FixIsLive),
        _ => None,
    };
    // The consumers of the simulation do not say that they may handle an order twice, and the orders carry money.
    let conditions = condition.into_iter().chain([ConditionKind::SafeToRepeat]);
    conditions.map(|condition| WaiverRequest { condition, reason: "no traffic".into() }).collect()
}
