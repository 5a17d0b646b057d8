//! Payments of 50,000 EUR die over three days, and nobody looks: who is alerted, when, and how often.

use domain::alert::{Alert, AlertKind};
use domain::impact::Severity;
use domain::policy::{MessageTypeRule, Policy};
use domain::time::{Span, Timestamp};
use harness::world::World;
use office::sweep;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Orders of 10.10 EUR, 11.10 EUR, 12.10 EUR, …: together 50,071.70 EUR.
const ORDERS: i64 = 307;
const MINUTES: i64 = 3 * 24 * 60;
/// Sweeps run each minute; so many minutes apart the story is the same, to the sweep.
const SWEEP_EVERY: i64 = 2;

/// Lets the payments die, one by one and evenly, and returns the alerts, oldest first.
async fn three_days(severity: Severity) -> (World, Vec<Alert>, Timestamp) {
    let mut world = World::new().await;
    let mut policy = Policy::clone(&world.office.policy);
    let rules = policy.message_types.drain(..);
    policy.message_types = rules.map(|rule| MessageTypeRule { severity: Some(severity), ..rule }).collect();
    world.office.policy = Arc::new(policy);
    let start = world.office.now();
    let mut died = 0;
    for _ in 0..=MINUTES / SWEEP_EVERY {
        let elapsed = world.office.now().since(start).as_ms() / 60_000;
        while died < ORDERS && died * MINUTES <= elapsed * ORDERS {
            world.die(died as u64, "the ledger rejects the currency", world.office.now()).await;
            died += 1;
        }
        world.intake().await;
        sweep::run(&world.office).await.unwrap();
        world.advance(Span::from_mins(SWEEP_EVERY));
    }
    assert_eq!(died, ORDERS);
    let mut alerts = world.alerts.recent(usize::MAX);
    alerts.reverse();
    (world, alerts, start)
}

/// Returns an alert as a line: hours since the start, kind, what the title says after the group's own title.
fn line(alert: &Alert, start: Timestamp) -> String {
    let minutes = alert.at.since(start).as_ms() / 60_000;
    let says = alert.title.rsplit(": ").next().unwrap_or_default();
    format!("{:>2}:{:02} {}: {says}", minutes / 60, minutes % 60, alert.kind.label())
}

#[tokio::test]
async fn a_cause_that_nobody_looks_at_raises_ten_alerts_in_three_days() {
    let (_world, alerts, start) = three_days(Severity::Warning).await;
    let lines: Vec<String> = alerts.iter().map(|alert| line(alert, start)).collect();
    let expected = [
        " 0:00 New group: the ledger rejects the currency",
        " 1:00 Group waiting: the oldest letter has waited for 60 min",
        " 2:08 Group growing: 10 open letters",
        "23:14 Group growing: 100 open letters",
        "24:00 Group waiting: the oldest letter has waited for 24 h",
        "30:58 Money at risk: 10121.30 EUR at risk",
        "44:34 Money at risk: 20074.10 EUR at risk",
        "48:00 Group waiting: the oldest letter has waited for 2 days",
        "64:02 Money at risk: 40168.40 EUR at risk",
        "72:00 Group waiting: the oldest letter has waited for 3 days",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn new_letters_of_a_critical_cause_are_announced_ever_more_rarely() {
    let (_world, alerts, start) = three_days(Severity::Critical).await;
    assert!(alerts.iter().all(|alert| alert.level == Severity::Critical));
    let lines: Vec<String> = alerts.iter().map(|alert| line(alert, start)).collect();
    let expected = [
        " 0:00 New group: the ledger rejects the currency",
        " 1:00 Group growing: 4 new, 5 open letters; the oldest letter has waited for 60 min",
        " 2:08 Group growing: 10 open letters",
        " 3:00 Group growing: 3 new, 13 open letters",
        " 7:00 Group growing: 17 new, 30 open letters",
        "15:00 Group growing: 34 new, 64 open letters",
        "23:14 Group growing: 100 open letters",
        "24:00 Group waiting: the oldest letter has waited for 24 h",
        "30:58 Money at risk: 10121.30 EUR at risk",
        "31:00 Group growing: 33 new, 133 open letters",
        "44:34 Money at risk: 20074.10 EUR at risk",
        "48:00 Group waiting: the oldest letter has waited for 2 days",
        "55:00 Group growing: 102 new, 235 open letters",
        "64:02 Money at risk: 40168.40 EUR at risk",
        "72:00 Group waiting: the oldest letter has waited for 3 days",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn an_alert_that_cannot_be_sent_is_sent_by_a_later_sweep() {
    let mut world = World::new().await;
    let sinks = world.alerts.clone();
    for order in 0..10 {
        world.die(order, "the ledger rejects the currency", world.office.now()).await;
    }
    world.intake().await;
    let kinds = || world_kinds(&sinks.recent(usize::MAX));
    world.office.alerts = Arc::new(Broken);
    sweep::run(&world.office).await.unwrap();
    assert_eq!(kinds(), BTreeSet::from([AlertKind::NewGroup]));
    world.office.alerts = sinks.clone();
    sweep::run(&world.office).await.unwrap();
    assert_eq!(kinds(), BTreeSet::from([AlertKind::NewGroup, AlertKind::GroupGrowing]));
    sweep::run(&world.office).await.unwrap();
    assert_eq!(sinks.recent(usize::MAX).len(), 2, "announced once");
}

fn world_kinds(alerts: &[Alert]) -> BTreeSet<AlertKind> {
    alerts.iter().map(|alert| alert.kind).collect()
}

/// A sink that does not answer.
struct Broken;

#[async_trait::async_trait]
impl office::port::Alerts for Broken {
    async fn raise(&self, _: &Alert) -> Result<(), office::port::SinkError> {
        Err(office::port::SinkError { what: "an alert", source: "no answer".into() })
    }
}
