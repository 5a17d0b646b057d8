//! People, who press every button that they see, and some that they should not.

use super::fixture::Fixture;
use super::programs;
use domain::filter::LetterFilter;
use domain::fix::FixKind;
use domain::gate::ConditionKind;
use domain::group::GroupState;
use domain::id::{Actor, GroupId, ReplayId};
use domain::letter::LetterStateKind;
use domain::limits::PAGE_MAX;
use domain::replay::{PlanHash, PlanOptions};
use domain::time::Span;
use office::act;
use office::office::Office;
use office::port::GroupFacts;
use wire::{
    ApproveRequest, DeclareFixRequest, DryRunRequest, PlanRequest, ReleaseRequest, ResumeRequest, SaveTransformRequest,
    UnmergeRequest, WaiverRequest,
};

enum Wish {
    Declare,
    Transform,
    Withdraw,
    Plan,
    ApproveRequest,
    Pause(ReplayId),
    ResumeRequest(ReplayId),
    Abort(ReplayId),
    UnmergeRequest(GroupId),
    ReleaseRequest,
}

/// Somebody does something about some group. What is refused is refused: the checker sees what is not.
pub(super) async fn act(fixture: &mut Fixture) {
    let Ok(page) = fixture.store.groups(i64::MAX, None, PAGE_MAX).await else { return };
    if page.items.is_empty() {
        return;
    }
    let at = fixture.chance.below(page.items.len());
    // What is merged shows its head; somebody with an old page tries all the same.
    let head = page.items[at].group.merge.into.as_ref().filter(|_| fixture.chance.below(8) > 0);
    let facts = page.items.iter().find(|facts| Some(&facts.group.id) == head).unwrap_or(&page.items[at]);
    let planned = fixture.store.plan(&facts.group.id).await.is_ok_and(|plan| plan.is_some());
    if let Some(wish) = wish(fixture, facts, planned) {
        press(fixture, facts, wish).await;
    }
}

fn wish(fixture: &mut Fixture, facts: &GroupFacts, planned: bool) -> Option<Wish> {
    let mut dice = |n| fixture.chance.below(n);
    if let Some(other) = facts.group.merge.members.first().filter(|_| dice(20) == 0) {
        return Some(Wish::UnmergeRequest(other.clone()));
    }
    if facts.counts.of(LetterStateKind::Quarantined).letters > 0 && dice(6) == 0 {
        return Some(Wish::ReleaseRequest);
    }
    match &facts.group.state {
        GroupState::Open | GroupState::Regressed { .. } if dice(4) == 0 => Some(Wish::Transform),
        GroupState::Open | GroupState::Regressed { .. } => Some(Wish::Declare),
        GroupState::FixDeclared { .. } => Some(match dice(9) {
            0 => Wish::Withdraw,
            1 => Wish::Declare,
            2 => Wish::Plan,
            _ => {
                if planned {
                    Wish::ApproveRequest
                } else {
                    Wish::Plan
                }
            }
        }),
        GroupState::Replaying { replay, .. } | GroupState::Verifying { replay, .. } => match dice(12) {
            0 | 1 => Some(Wish::Pause(replay.clone())),
            2 => Some(Wish::Abort(replay.clone())),
            _ => None,
        },
        GroupState::Paused { replay, .. } => Some(match dice(9) {
            0 => Wish::Abort(replay.clone()),
            1 => Wish::Withdraw,
            2 => Wish::Transform,
            3..5 => Wish::Declare,
            _ => Wish::ResumeRequest(replay.clone()),
        }),
        GroupState::Resolved { .. } => None,
    }
}

/// Somebody stops a replay, whatever it is doing.
pub(super) async fn stop(office: &Office, replay: &ReplayId, aborts: bool) {
    let otto = Actor::from("otto");
    if aborts {
        let _ = act::abort(office, &otto, replay, "no more of it").await;
    } else {
        let _ = act::pause(office, &otto, replay, "something is wrong").await;
    }
}

/// Most plans take what waits; some only what died early, or late, or was never replayed.
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

async fn press(fixture: &mut Fixture, facts: &GroupFacts, wish: Wish) {
    let process = fixture.process();
    let (office, group) = (&process.office, &facts.group.id);
    // Mostly each does their own part.
    let approves = matches!(wish, Wish::ApproveRequest | Wish::ResumeRequest(_)) != (fixture.chance.below(6) == 0);
    let who = Actor::from(if approves { "anna" } else { "otto" });
    let reason = || "because".to_string();
    match wish {
        Wish::Declare => {
            let kind = [FixKind::Deploy, FixKind::Deploy, FixKind::DataRepair][fixture.chance.below(3)];
            let ask = DeclareFixRequest { kind, reference: format!("v{}", fixture.version), note: None };
            let _ = act::declare_fix(office, &who, group, &ask).await;
        }
        Wish::Transform => transform(fixture, office, &who, group).await,
        Wish::Withdraw => drop(act::withdraw_fix(office, &who, group, "it was none").await),
        Wish::Plan => {
            let canary = fixture.chance.below(4) as u64;
            let options = PlanOptions {
                canary_letters: (canary > 0).then_some(canary),
                growth_factor: Some(1 + fixture.chance.below(4) as u64),
                ..PlanOptions::default()
            };
            let ask = PlanRequest { options, filter: filter(fixture) };
            let _ = act::plan(office, &who, group, &ask).await;
        }
        Wish::ApproveRequest => {
            let plan = fixture.store.plan(group).await.ok().flatten();
            let plan_hash = match plan {
                Some(plan) if fixture.chance.below(10) > 0 => plan.hash(),
                _ => PlanHash("00".into()),
            };
            let ask = ApproveRequest { plan_hash, reason: reason(), waivers: waivers(fixture) };
            let _ = act::approve(office, &who, group, &ask).await;
        }
        Wish::Pause(replay) => drop(act::pause(office, &who, &replay, "lunch").await),
        Wish::ResumeRequest(replay) => {
            let fix = fixture.store.group(group).await.ok().flatten().and_then(|group| group.state.fix().cloned());
            let program_hash = fix.and_then(|fix| fix.transform).map(|named| named.program_hash);
            let program_hash = program_hash.filter(|_| fixture.chance.below(8) > 0);
            let ask = ResumeRequest { reason: reason(), program_hash, waivers: waivers(fixture) };
            let _ = act::resume(office, &who, &replay, &ask).await;
        }
        Wish::UnmergeRequest(fingerprint) => {
            let _ = act::unmerge(office, &who, group, &UnmergeRequest { fingerprint, reason: reason() }).await;
        }
        Wish::ReleaseRequest => {
            let _ = act::release(office, &who, group, &ReleaseRequest { letters: Vec::new(), reason: reason() }).await;
        }
        Wish::Abort(replay) => drop(act::abort(office, &who, &replay, "enough").await),
    }
}

/// Somebody saves a program, mostly tries it over all letters, and says that it is the fix.
async fn transform(fixture: &mut Fixture, office: &Office, who: &Actor, group: &GroupId) {
    let save = SaveTransformRequest { program: programs::any(&mut fixture.chance), note: None };
    let Ok(saved) = act::save_transform(office, who, group, &save).await else { return };
    let mut go_on = None;
    while fixture.chance.below(10) > 0 {
        let ask = DryRunRequest { version: saved.version, go_on, filter: filter(fixture) };
        match act::dry_run(office, who, group, &ask).await {
            Ok(run) if !run.is_whole() => go_on = Some(run.revision),
            Ok(_) => break,
            Err(_) => return,
        }
    }
    let kind = FixKind::PayloadTransform;
    let ask = DeclareFixRequest { kind, reference: format!("v{}", saved.version), note: None };
    let _ = act::declare_fix(office, who, group, &ask).await;
}

fn waivers(fixture: &mut Fixture) -> Vec<WaiverRequest> {
    let condition = match fixture.chance.below(4) {
        0 => ConditionKind::Quiet,
        1 => ConditionKind::FixIsLive,
        _ => return Vec::new(),
    };
    vec![WaiverRequest { condition, reason: "traffic is switched off".into() }]
}
