//! People, who press every button that they see, and some that they should not.

use super::programs;
use super::scene::Scene;
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
use wire::{Approve, AskDryRun, DeclareFix, MakePlan, Part, Release, Resume, SaveTransform, WaiverAsk};

enum Wish {
    Declare,
    Transform,
    Withdraw,
    Plan,
    Approve,
    Pause(ReplayId),
    Resume(ReplayId),
    Abort(ReplayId),
    Part(GroupId),
    Release,
}

/// Somebody does something about some group. What is refused is refused: the witness sees what is not.
pub(super) async fn act(scene: &mut Scene) {
    let Ok(page) = scene.store.groups(i64::MAX, None, PAGE_MAX).await else { return };
    if page.items.is_empty() {
        return;
    }
    let at = scene.chance.below(page.items.len());
    // What is merged shows its head; somebody with an old page tries all the same.
    let head = page.items[at].group.kin.into.as_ref().filter(|_| scene.chance.below(8) > 0);
    let facts = page.items.iter().find(|facts| Some(&facts.group.id) == head).unwrap_or(&page.items[at]);
    let planned = scene.store.plan(&facts.group.id).await.is_ok_and(|plan| plan.is_some());
    if let Some(wish) = wish(scene, facts, planned) {
        press(scene, facts, wish).await;
    }
}

fn wish(scene: &mut Scene, facts: &GroupFacts, planned: bool) -> Option<Wish> {
    let mut dice = |n| scene.chance.below(n);
    if let Some(other) = facts.group.kin.also.first().filter(|_| dice(20) == 0) {
        return Some(Wish::Part(other.clone()));
    }
    if facts.counts.of(LetterStateKind::Quarantined).letters > 0 && dice(6) == 0 {
        return Some(Wish::Release);
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
                    Wish::Approve
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
            _ => Wish::Resume(replay.clone()),
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
fn filter(scene: &mut Scene) -> LetterFilter {
    let any = LetterFilter::default();
    let ago = Span::from_secs(scene.chance.below(120) as i64);
    let then = Some(scene.now().minus(ago));
    match scene.chance.below(12) {
        0 => LetterFilter { died_before: then, ..any },
        1 => LetterFilter { died_from: then, ..any },
        2 => LetterFilter { replays_max: Some(0), ..any },
        _ => any,
    }
}

async fn press(scene: &mut Scene, facts: &GroupFacts, wish: Wish) {
    let process = scene.process();
    let (office, group) = (&process.office, &facts.group.id);
    // Mostly each does their own part.
    let approves = matches!(wish, Wish::Approve | Wish::Resume(_)) != (scene.chance.below(6) == 0);
    let who = Actor::from(if approves { "anna" } else { "otto" });
    let reason = || "because".to_string();
    match wish {
        Wish::Declare => {
            let kind = [FixKind::Deploy, FixKind::Deploy, FixKind::DataRepair][scene.chance.below(3)];
            let ask = DeclareFix { kind, reference: format!("v{}", scene.version), note: None };
            let _ = act::declare_fix(office, &who, group, &ask).await;
        }
        Wish::Transform => transform(scene, office, &who, group).await,
        Wish::Withdraw => drop(act::withdraw_fix(office, &who, group, "it was none").await),
        Wish::Plan => {
            let canary = scene.chance.below(4) as u64;
            let options = PlanOptions {
                canary_letters: (canary > 0).then_some(canary),
                growth_factor: Some(1 + scene.chance.below(4) as u64),
                ..PlanOptions::default()
            };
            let ask = MakePlan { options, filter: filter(scene) };
            let _ = act::plan(office, &who, group, &ask).await;
        }
        Wish::Approve => {
            let plan = scene.store.plan(group).await.ok().flatten();
            let plan_hash = match plan {
                Some(plan) if scene.chance.below(10) > 0 => plan.hash(),
                _ => PlanHash("00".into()),
            };
            let ask = Approve { plan_hash, reason: reason(), waivers: waivers(scene) };
            let _ = act::approve(office, &who, group, &ask).await;
        }
        Wish::Pause(replay) => drop(act::pause(office, &who, &replay, "lunch").await),
        Wish::Resume(replay) => {
            let fix = scene.store.group(group).await.ok().flatten().and_then(|group| group.state.fix().cloned());
            let program_hash = fix.and_then(|fix| fix.transform).map(|named| named.program_hash);
            let program_hash = program_hash.filter(|_| scene.chance.below(8) > 0);
            let ask = Resume { reason: reason(), program_hash, waivers: waivers(scene) };
            let _ = act::resume(office, &who, &replay, &ask).await;
        }
        Wish::Part(fingerprint) => {
            let _ = act::part(office, &who, group, &Part { fingerprint, reason: reason() }).await;
        }
        Wish::Release => {
            let _ = act::release(office, &who, group, &Release { letters: Vec::new(), reason: reason() }).await;
        }
        Wish::Abort(replay) => drop(act::abort(office, &who, &replay, "enough").await),
    }
}

/// Somebody saves a program, mostly tries it over all letters, and says that it is the fix.
async fn transform(scene: &mut Scene, office: &Office, who: &Actor, group: &GroupId) {
    let save = SaveTransform { program: programs::any(&mut scene.chance), note: None };
    let Ok(saved) = act::save_transform(office, who, group, &save).await else { return };
    let mut go_on = None;
    while scene.chance.below(10) > 0 {
        let ask = AskDryRun { version: saved.version, go_on, filter: filter(scene) };
        match act::dry_run(office, who, group, &ask).await {
            Ok(run) if !run.is_whole() => go_on = Some(run.revision),
            Ok(_) => break,
            Err(_) => return,
        }
    }
    let kind = FixKind::PayloadTransform;
    let ask = DeclareFix { kind, reference: format!("v{}", saved.version), note: None };
    let _ = act::declare_fix(office, who, group, &ask).await;
}

fn waivers(scene: &mut Scene) -> Vec<WaiverAsk> {
    let condition = match scene.chance.below(4) {
        0 => ConditionKind::Quiet,
        1 => ConditionKind::FixIsLive,
        _ => return Vec::new(),
    };
    vec![WaiverAsk { condition, reason: "traffic is switched off".into() }]
}
