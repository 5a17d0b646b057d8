//! Letters a second through intake and through a replay, on the embedded office: one process, one run, real store on
//! disk, queues in memory. `cargo run --release -p dlo-tests --example office_rates`.

use consumer::queue::{Outgoing, Queue};
use dlo_tests::world::{World, order};
use domain::fix::FixKind;
use domain::letter::LetterStateKind;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::read::Stamp;
use domain::reading::Class;
use domain::replay::PlanOptions;
use domain::time::Span;
use domain::wire::{Approve, DeclareFix};
use lambda::act;
use std::time::Instant;

#[tokio::main]
async fn main() {
    let world = World::new().await;
    let mut stored = 0;
    for target in [1_000, 99_000, 100_000] {
        let (fill, measured) = if target == 99_000 { (98_000, 0) } else { (0, 1_000) };
        if fill > 0 {
            intake(&world, stored, fill).await;
            stored += fill;
        }
        if measured > 0 {
            let rate = intake(&world, stored, measured).await;
            stored += measured;
            println!("intake, {stored} letters stored: {rate:.0} letters/s");
        }
    }
    let group = world.only_group().await;
    let counts = world.store.group_facts(&group, i64::MAX).await.expect("the store").expect("a group").counts;
    assert_eq!(counts.of(LetterStateKind::Waiting).letters as u64, stored);
    replay(&world, stored).await;
}

/// Puts letters into the dead-letter queue, then times how long intake takes for them.
async fn intake(world: &World, first: u64, count: u64) -> f64 {
    let mut n = first;
    while n < first + count {
        let end = (n + BATCH_ENTRIES_MAX as u64).min(first + count);
        let batch: Vec<_> = (n..end).map(|n| dead(world, n)).collect();
        for sent in world.queue.send_batch(&world.dlq, &batch).await.expect("the queue") {
            sent.expect("a letter is sent");
        }
        n = end;
    }
    let started = Instant::now();
    let mut kept = 0;
    loop {
        // A batch of an event source mapping.
        let mut messages = Vec::new();
        while messages.len() < 100 {
            let more = world.queue.receive(&world.dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("receive");
            if more.is_empty() {
                break;
            }
            messages.extend(more);
        }
        if messages.is_empty() {
            break;
        }
        let handles: Vec<_> = messages.iter().map(|m| m.receipt_handle.clone()).collect();
        let report = lambda::intake::keep(&world.office, messages.into_iter().map(|m| world.dead(m)).collect()).await;
        assert!(report.failed.is_empty());
        kept += report.kept as u64;
        for chunk in handles.chunks(BATCH_ENTRIES_MAX) {
            world.queue.delete_batch(&world.dlq, chunk).await.expect("delete");
        }
    }
    assert_eq!(kept, count);
    count as f64 / started.elapsed().as_secs_f64()
}

fn dead(world: &World, n: u64) -> Outgoing {
    let stamp = Stamp {
        error_type: Some("orders::pricing::Overflow".into()),
        message: Some(format!("the total of order {n} does not fit")),
        class: Some(Class::Permanent),
        consumer: Some("orders".into()),
        consumer_version: Some("v1".into()),
        original_message_id: Some(format!("m-{n}").as_str().into()),
        main_queue: Some(world.main.clone()),
        first_sent_at: Some(world.office.now()),
        failed_at: Some(world.office.now()),
        ..Stamp::default()
    };
    let attributes = [(FAILURE_ATTRIBUTE.to_string(), Attribute::text(stamp.print()))].into();
    Outgoing { content: Content { body: order(n), attributes, ..Content::default() }, ..Outgoing::default() }
}

/// Plans, approves and sends them all, at the highest pace, and settles them.
async fn replay(world: &World, letters: u64) {
    let group = world.only_group().await;
    world.advance(Span::from_secs(1));
    let fix = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.expect("a fix");
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(5_000), pace_per_s: Some(10_000), ..PlanOptions::default() };
    let started = Instant::now();
    let plan = act::make_plan(&world.office, &world.otto(), &group, &options).await.expect("a plan");
    println!("plan of {letters} letters: {:.1} s", started.elapsed().as_secs_f64());
    let approve = Approve { plan_hash: plan.hash(), reason: "measured".into(), waivers: Vec::new() };
    act::approve(&world.office, &world.anna(), &group, &approve).await.expect("an open gate");
    let (mut sending_s, mut settling_s) = (0.0, 0.0);
    loop {
        let started = Instant::now();
        let sent_before = world.ledger(&plan.id).await.total().sent();
        assert_eq!(world.steps().await, 0);
        let sent = world.ledger(&plan.id).await.total().sent() - sent_before;
        *if sent > 0 { &mut sending_s } else { &mut settling_s } += started.elapsed().as_secs_f64();
        world.queue.purge(&world.main).await.expect("purge");
        if world.replay(&plan.id).await.is_finished() {
            break;
        }
        world.advance(Span::from_secs(1));
    }
    assert_eq!(world.ledger(&plan.id).await.total().delivered, letters);
    println!(
        "replay of {letters} letters: {:.0} letters/s sent, {:.0} letters/s settled",
        letters as f64 / sending_s,
        letters as f64 / settling_s
    );
}
