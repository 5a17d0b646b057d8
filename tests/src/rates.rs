//! What the examples that measure paces share: letters, an approval, and the loop that people write when they have no
//! office, which a replay's pace is measured beside.

use crate::world::{World, order};
use consumer::queue::{Outgoing, Queue, Received};
use domain::fix::FixKind;
use domain::id::{QueueArn, ReplayId};
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

/// Messages of one batch of an event source mapping.
const INTAKE_BATCH: usize = 100;

/// Orders that died of one cause, as a consumer dead-letters them.
pub fn dead(world: &World, numbers: std::ops::Range<u64>) -> Vec<Outgoing> {
    let one = |n: u64| {
        // A store may keep together what was sent together, as letters come.
        let at = world.office.now().plus(Span::from_ms(n as i64));
        let stamp = Stamp {
            error_type: Some("orders::pricing::Overflow".into()),
            message: Some(format!("the total of order {n} does not fit")),
            class: Some(Class::Permanent),
            consumer: Some("orders".into()),
            consumer_version: Some("v1".into()),
            original_message_id: Some(format!("m-{n}").as_str().into()),
            main_queue: Some(world.main.clone()),
            first_sent_at: Some(at),
            failed_at: Some(world.office.now()),
            ..Stamp::default()
        };
        let attributes = [(FAILURE_ATTRIBUTE.to_string(), Attribute::text(stamp.print()))].into();
        Outgoing { content: Content { body: order(n), attributes, ..Content::default() }, ..Outgoing::default() }
    };
    numbers.map(one).collect()
}

/// Puts messages into a queue.
pub async fn fill(queue: &dyn Queue, to: &QueueArn, messages: &[Outgoing]) {
    for batch in messages.chunks(BATCH_ENTRIES_MAX) {
        for sent in queue.send_batch(to, batch).await.expect("a send") {
            sent.expect("a message is sent");
        }
    }
}

/// Intake takes everything from a world's dead-letter queue. Gives letters a second.
pub async fn intake(world: &World) -> f64 {
    let started = Instant::now();
    let mut kept = 0;
    loop {
        let mut messages: Vec<Received> = Vec::new();
        while messages.len() < INTAKE_BATCH {
            let more = world.queue.receive(&world.dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("receive");
            if more.is_empty() {
                break;
            }
            messages.extend(more);
        }
        if messages.is_empty() {
            return kept as f64 / started.elapsed().as_secs_f64();
        }
        let handles: Vec<_> = messages.iter().map(|m| m.receipt_handle.clone()).collect();
        let report = lambda::intake::keep(&world.office, messages.into_iter().map(|m| world.dead(m)).collect()).await;
        assert!(report.failed.is_empty());
        kept += report.kept;
        for chunk in handles.chunks(BATCH_ENTRIES_MAX) {
            world.queue.delete_batch(&world.dlq, chunk).await.expect("delete");
        }
    }
}

/// A replay of all letters of the only group, approved, that nothing but what it costs slows down.
pub async fn approved(world: &World) -> ReplayId {
    let group = world.only_group().await;
    world.advance(Span::from_secs(1));
    let fix = DeclareFix { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &fix).await.expect("a fix");
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(5_000), pace_per_s: Some(10_000), ..PlanOptions::default() };
    let started = Instant::now();
    let plan = act::make_plan(&world.office, &world.otto(), &group, &options).await.expect("a plan");
    println!("  the plan: {:.1} s", started.elapsed().as_secs_f64());
    let approve = Approve { plan_hash: plan.hash(), reason: "measured".into(), waivers: Vec::new() };
    act::approve(&world.office, &world.anna(), &group, &approve).await.expect("an open gate");
    plan.id
}

/// How long the parts of a replay took.
#[derive(Default)]
pub struct Took {
    /// Runs in which letters were sent.
    pub sending_s: f64,
    /// The others: windows that end, waves that begin.
    pub settling_s: f64,
}

impl Took {
    /// Counts a run.
    pub fn add(&mut self, started: Instant, has_sent: bool) {
        *(if has_sent { &mut self.sending_s } else { &mut self.settling_s }) += started.elapsed().as_secs_f64();
    }

    /// Says how fast it was, and how many times as fast as the loop.
    pub fn print(&self, letters: u64, plain_per_s: f64) {
        let (sent, settled) = (letters as f64 / self.sending_s, letters as f64 / self.settling_s);
        let whole = letters as f64 / (self.sending_s + self.settling_s);
        println!(
            "  the replay: {sent:.0} letters/s sent ({:.1} times the plain loop), {settled:.0} settled, {whole:.0} in all",
            sent / plain_per_s
        );
    }
}

/// What people write: receives, sends and deletes so many messages a call until nothing is left. Gives messages a second.
pub async fn plain_loop(queue: &dyn Queue, dlq: &QueueArn, main: &QueueArn, at_a_time: usize) -> f64 {
    let started = Instant::now();
    let mut moved = 0;
    loop {
        let received = queue.receive(dlq, at_a_time, Span::ZERO, None).await.expect("a receive");
        if received.is_empty() {
            break;
        }
        moved += received.len();
        let again = |received: Received| Outgoing { content: received.content, ..Outgoing::default() };
        let handles: Vec<_> = received.iter().map(|received| received.receipt_handle.clone()).collect();
        let messages: Vec<_> = received.into_iter().map(again).collect();
        for sent in queue.send_batch(main, &messages).await.expect("a send") {
            sent.expect("a message is sent");
        }
        for deleted in queue.delete_batch(dlq, &handles).await.expect("a delete") {
            deleted.expect("a message is deleted");
        }
    }
    let rate = moved as f64 / started.elapsed().as_secs_f64();
    println!("  the plain loop, {at_a_time} a call: {rate:.0} letters/s");
    rate
}
