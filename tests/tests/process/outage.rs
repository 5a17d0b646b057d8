//! The demo's payment service goes away and comes back: the gate shows what the consumer reports of its circuit.

use domain::gate::ConditionKind;
use domain::role::Role;
use harness::running::{Client, Demo, until};
use local::orders::Kind;
use std::time::Duration;
use wire::{GroupAnswer, GroupsAnswer};

/// The deadline for conditions: a notice of a circuit may be ten seconds old.
const DEADLINE: Duration = Duration::from_secs(60);
/// More than fail before the circuit opens.
const ORDERS: u32 = 60;

/// The evidence for the condition *Dependency healthy*, of each group with its title.
async fn evidence(client: &Client) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for group in client.get::<GroupsAnswer>("/groups").await.groups {
        let detail: GroupAnswer = client.get(&format!("/groups/{}", group.id)).await;
        let condition = detail.gate.conditions.iter().find(|one| one.kind == ConditionKind::DependencyHealthy);
        found.push((group.title, condition.map(|condition| condition.evidence.clone()).unwrap_or_default()));
    }
    found
}

#[tokio::test]
async fn an_outage_closes_the_gate_until_the_consumers_circuit_closes() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = Demo::start_with(folder.path(), &["--fresh"]);
    let (otto, panel) = (demo.sign_in(Role::Operator).await, demo.panel());
    panel.set_payments(false).await;
    panel.place(ORDERS, Kind::Good).await;
    until("every order dead, and the circuit reported", DEADLINE, async || {
        let open: i64 = otto.get::<GroupsAnswer>("/groups").await.groups.iter().map(|row| row.open.letters).sum();
        let found = evidence(&otto).await;
        let is_open = |(_, evidence): &(String, String)| evidence.contains("its circuit to payments is ");
        (open == i64::from(ORDERS) && found.iter().all(is_open)).then_some(())
    })
    .await;
    let titles: Vec<String> = evidence(&otto).await.into_iter().map(|(title, _)| title).collect();
    assert!(titles.iter().any(|title| title.contains("CircuitOpen")), "{titles:?}");
    assert!(titles.len() <= 2, "calls that timed out, and calls that were not made: {titles:?}");

    panel.set_payments(true).await;
    until("the circuit reported as closed", DEADLINE, async || {
        // The next orders are the probes.
        panel.place(1, Kind::Good).await;
        let found = evidence(&otto).await;
        let is_closed = |(_, evidence): &(String, String)| evidence.contains("has closed since the last failure");
        found.iter().all(is_closed).then_some(())
    })
    .await;
}
