//! What leaves an AWS account with an alert by default has no word of a letter's error.

use domain::alert::{Alert, AlertKind};
use domain::policy::Policy;
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::world::World;
use office::sweep;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Errors in plain words, which a title does not mask, and words of them.
const ERRORS: [(&str, &[&str]); 3] = [
    ("no account for customer mueller of tenant acme", &["account", "customer", "mueller", "acme"]),
    ("patient diagnosed with diabetes", &["patient", "diagnosed", "diabetes"]),
    ("see evil.example/login", &["evil", "login"]),
];

#[tokio::test]
async fn the_summary_of_every_alert_about_a_group_has_no_word_of_its_error() {
    let world = World::new().await;
    for (nth, (error, _)) in ERRORS.iter().enumerate() {
        for order in 0..10 {
            world.die(nth as u64 * 100 + order, error, world.office.now()).await;
        }
        world.intake().await;
    }
    world.advance(Span::from_mins(61));
    sweep::run(&world.office).await.unwrap();
    let groups: Vec<_> = new_groups(&world).iter().filter_map(|alert| alert.group.clone()).collect();
    let [sick, well, _] = groups.as_slice() else { panic!("three groups: {groups:?}") };

    // The first one's replay is paused; the second one's finishes, and its cause comes back.
    let plan = world.plan_with_fix(sick, "v2", &PlanOptions::default()).await;
    let replay = world.approve(sick, &plan).await;
    assert!(world.run(replay.id(), &|_| Some("patient diagnosed with diabetes"), "v2").await.is_paused());
    let plan = world.plan_with_fix(well, "v3", &PlanOptions::default()).await;
    let replay = world.approve(well, &plan).await;
    world.run(replay.id(), &|_| None, "v3").await;
    world.advance(Span::from_mins(1));
    for (nth, (error, _)) in ERRORS.iter().enumerate() {
        world.die(nth as u64 * 100 + 50, error, world.office.now()).await;
    }
    world.intake().await;

    let alerts = world.alerts.recent(100);
    let kinds: BTreeSet<_> = alerts.iter().map(|alert| alert.kind).collect();
    use AlertKind::{GroupGrowing, NewGroup, Regression, ReplayFinished, ReplayPaused};
    assert!(kinds.is_superset(&[NewGroup, GroupGrowing, Regression, ReplayFinished, ReplayPaused].into()), "{kinds:?}");
    for alert in alerts {
        let sent = serde_json::to_string(&alert.clone().without_words()).unwrap();
        let words = ERRORS.iter().flat_map(|(_, words)| *words);
        assert_eq!(words.filter(|word| sent.contains(**word)).collect::<Vec<_>>(), [] as [&&str; 0], "{sent}");
        assert!(alert.summary.starts_with(alert.kind.label()), "{}", alert.summary);
        let group = alert.group.as_ref().map(|group| group.as_str()[..8].to_string()).unwrap_or_default();
        assert!(alert.summary.ends_with(&format!("order.placed, group {group})")), "{}", alert.summary);
    }
}

#[tokio::test]
async fn a_message_type_that_the_policy_does_not_name_is_left_out() {
    let mut world = World::new().await;
    let unnamed = Policy { message_types: Vec::new(), ..Policy::clone(&world.office.policy) };
    world.office.policy = Arc::new(unnamed);
    world.die(1, "no account for customer mueller", world.office.now()).await;
    world.intake().await;
    let alerts = new_groups(&world);
    let [alert] = alerts.as_slice() else { panic!("one group: {alerts:?}") };
    assert!(!alert.summary.contains("order.placed"), "{}", alert.summary);
}

/// Returns the alerts of new groups, oldest first.
fn new_groups(world: &World) -> Vec<Alert> {
    let mut alerts = world.alerts.recent(100);
    alerts.reverse();
    alerts.into_iter().filter(|alert| alert.kind == AlertKind::NewGroup).collect()
}
