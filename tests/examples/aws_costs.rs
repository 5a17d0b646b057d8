//! What the office asks of DynamoDB for a thousand letters kept and a thousand replayed, measured on MiniStack, which
//! counts capacity units as AWS documents them. `cargo run -p dlo-tests --features aws --example aws_costs`.

use consumer::queue::{Queue, Received};
use dlo_tests::endpoint::Endpoint;
use dlo_tests::world::World;
use domain::fix::FixKind;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::replay::PlanOptions;
use domain::time::Span;
use domain::wire::{Approve, DeclareFix};
use lambda::act;
use lambda::aws::store::{DynamoStore, Usage};
use std::sync::Arc;
use std::time::Instant;

const LETTERS: u64 = 1_000;
/// Dollars per unit, us-east-1, on demand.
const WRITE_DOLLARS: f64 = 0.625e-6;
const READ_DOLLARS: f64 = 0.125e-6;

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

#[tokio::main]
async fn main() {
    let endpoint = Endpoint::ministack();
    let store = Arc::new(endpoint.store().await);
    let world = World::on(store.clone()).await;
    world.place(0, LETTERS).await;
    world.consume(&fails, "v1").await;

    let mut measure = Measure { store: &store, before: store.usage(), started: Instant::now() };
    let kept = intake(&world).await;
    measure.print("kept", kept as u64);
    let group = world.only_group().await;
    measure.print("counters and list of one group read", 1);
    world.store.letters_of(&group, None, None, 50).await.expect("a page");
    measure.print("page of 50 letters read", 1);
    world.store.groups(0, None, 200).await.expect("groups");
    measure.print("list of groups read", 1);

    let declare = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &declare).await.expect("a fix");
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(10), pace_per_s: Some(1_000), ..PlanOptions::default() };
    let plan = act::make_plan(&world.office, &world.otto(), &group, &options).await.expect("a plan");
    measure.print("planned", LETTERS);
    let approve = Approve { plan_hash: plan.hash(), reason: "measured".into(), waivers: Vec::new() };
    act::approve(&world.office, &world.anna(), &group, &approve).await.expect("an open gate");
    while !world.replay(&plan.id).await.is_finished() {
        world.steps().await;
        world.consume(&works, "v2").await;
        world.advance(Span::from_secs(1));
    }
    measure.print("replayed", LETTERS);
    assert_eq!(world.ledger(&plan.id).await.total().delivered, LETTERS);
    world.counters_are_exact(&group).await;
}

/// In batches of 100, as an event source mapping hands them over.
async fn intake(world: &World) -> usize {
    let mut kept = 0;
    loop {
        let mut batch = Vec::new();
        while batch.len() < 100 {
            let more = world.queue.receive(&world.dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("receive");
            if more.is_empty() {
                break;
            }
            batch.extend(more);
        }
        if batch.is_empty() {
            return kept;
        }
        let messages = batch.into_iter().map(|message| world.dead(message)).collect();
        kept += lambda::intake::keep(&world.office, messages).await.kept;
    }
}

struct Measure<'a> {
    store: &'a DynamoStore,
    before: Usage,
    started: Instant,
}

impl Measure<'_> {
    fn print(&mut self, what: &str, count: u64) {
        let (now, took) = (self.store.usage(), self.started.elapsed());
        let (reads, writes) = (now.read_units - self.before.read_units, now.write_units - self.before.write_units);
        let calls = now.calls - self.before.calls;
        let millions = (reads * READ_DOLLARS + writes * WRITE_DOLLARS) / count as f64 * 1e6;
        println!(
            "{count} {what}: {calls} calls, {reads} read units, {writes} write units, {:.2} s; $ {millions:.2} per million",
            took.as_secs_f64()
        );
        (self.before, self.started) = (now, Instant::now());
    }
}
