//! Measures what the office asks of AWS for a thousand letters kept and a thousand replayed: DynamoDB's calls and units,
//! and the requests of SQS, CloudWatch and Lambda that go with them. MiniStack counts the units as AWS documents them;
//! `cargo ci --only aws` installs it.
//!
//! `cargo run -p dlo-tests --example aws_costs -- 100`: letters of a batch, 100 by default.

use async_trait::async_trait;
use dlo_tests::endpoint::Endpoint;
use domain::fix::FixKind;
use domain::id::{MessageId, QueueArn};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::metric::Datum;
use domain::replay::PlanOptions;
use domain::time::Span;
use harness::world::World;
use lambda::store::{DynamoStore, Usage};
use office::act;
use office::port::{Metrics, SinkError};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use wire::{ApproveRequest, DeclareFixRequest};

const LETTERS: u64 = 1_000;
/// The messages of one event: the template's `BatchSize`.
const BATCH: u64 = 100;
/// Dollars per unit or request, us-east-1, on demand. The duration of functions is not included.
const WRITE_DOLLARS: f64 = 0.625e-6;
const READ_DOLLARS: f64 = 0.125e-6;
const SQS_DOLLARS: f64 = 0.40e-6;
const CLOUDWATCH_DOLLARS: f64 = 10e-6;
const INVOCATION_DOLLARS: f64 = 0.20e-6;

fn fails(_: &Received) -> Option<&'static str> {
    Some("orders::pricing::Overflow")
}

fn works(_: &Received) -> Option<&'static str> {
    None
}

#[tokio::main]
async fn main() {
    let batch = std::env::args().nth(1).map_or(BATCH, |batch| batch.parse().expect("a number of letters"));
    let endpoint = Endpoint::ministack();
    let store = Arc::new(endpoint.store().await);
    let mut world = World::on(store.clone()).await;
    let requests = Arc::new(Requests::default());
    let steps = world.office.steps.clone();
    world.office.queue = Arc::new(Counted { inner: world.office.queue.clone(), steps, requests: requests.clone() });
    world.office.metrics = Arc::new(Counting(requests.clone()));
    world.place(0, LETTERS).await;
    world.consume(&fails, "v1").await;

    let mut measure = Measure { store: &store, requests: &requests, before: store.usage(), started: Instant::now() };
    let kept = intake(&world, batch).await;
    // The event source mapping: receives and deletes of ten messages, and one event per batch.
    requests.sqs(2 * LETTERS.div_ceil(BATCH_ENTRIES_MAX as u64));
    requests.invocations.fetch_add(LETTERS.div_ceil(batch), Ordering::SeqCst);
    measure.print("stored", kept as u64);
    let group = world.only_group().await;
    measure.print("counters and list of one group read", 1);
    world.store.letters_of(&group, None, None, 50).await.expect("a page");
    measure.print("page of 50 letters read", 1);
    world.store.groups(0, None, 200).await.expect("groups");
    measure.print("list of groups read", 1);

    let declare = DeclareFixRequest { kind: FixKind::Deploy, reference: "v2".into(), note: None };
    act::declare_fix(&world.office, &world.otto(), &group, &declare).await.expect("a fix");
    world.advance(Span::from_secs(11));
    let options = PlanOptions { canary_letters: Some(10), pace_per_s: Some(1_000), ..PlanOptions::default() };
    let plan = act::make_plan(&world.office, &world.otto(), &group, &options).await.expect("a plan");
    measure.print("planned", LETTERS);
    let approve = ApproveRequest { plan_hash: plan.hash(), reason: "measured".into(), waivers: Vec::new() };
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

/// Runs intake in batches, as an event source mapping does.
async fn intake(world: &World, batch_size: u64) -> usize {
    let mut kept = 0;
    loop {
        let mut batch = Vec::new();
        while batch.len() < batch_size as usize {
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
        kept += office::intake::keep(&world.office, messages).await.kept;
    }
}

/// The requests to services other than DynamoDB.
#[derive(Default)]
struct Requests {
    sqs: AtomicU64,
    cloudwatch: AtomicU64,
    invocations: AtomicU64,
}

impl Requests {
    fn sqs(&self, requests: u64) {
        self.sqs.fetch_add(requests, Ordering::SeqCst);
    }
}

/// A queue that counts requests. A sent step is also received, handled and deleted.
struct Counted {
    inner: Arc<dyn Queue>,
    steps: QueueArn,
    requests: Arc<Requests>,
}

#[async_trait]
impl Queue for Counted {
    async fn receive(
        &self,
        queue: &QueueArn,
        max: usize,
        wait: Span,
        visibility: Option<Span>,
    ) -> Result<Vec<Received>, QueueError> {
        self.requests.sqs(1);
        self.inner.receive(queue, max, wait, visibility).await
    }

    async fn send_batch(
        &self,
        queue: &QueueArn,
        messages: &[Outgoing],
    ) -> Result<Vec<Result<MessageId, EntryFailure>>, QueueError> {
        self.requests.sqs(1);
        if *queue == self.steps {
            self.requests.sqs(2);
            self.requests.invocations.fetch_add(1, Ordering::SeqCst);
        }
        self.inner.send_batch(queue, messages).await
    }

    async fn delete_batch(
        &self,
        queue: &QueueArn,
        receipt_handles: &[String],
    ) -> Result<Vec<Result<(), EntryFailure>>, QueueError> {
        self.requests.sqs(1);
        self.inner.delete_batch(queue, receipt_handles).await
    }

    async fn change_visibility(&self, queue: &QueueArn, handle: &str, visibility: Span) -> Result<(), QueueError> {
        self.requests.sqs(1);
        self.inner.change_visibility(queue, handle, visibility).await
    }

    async fn attributes(&self, queue: &QueueArn) -> Result<QueueAttributes, QueueError> {
        self.requests.sqs(1);
        self.inner.attributes(queue).await
    }
}

/// Metrics that count calls.
struct Counting(Arc<Requests>);

#[async_trait]
impl Metrics for Counting {
    async fn put(&self, _: &[Datum]) -> Result<(), SinkError> {
        self.0.cloudwatch.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

struct Measure<'a> {
    store: &'a DynamoStore,
    requests: &'a Requests,
    before: Usage,
    started: Instant,
}

impl Measure<'_> {
    fn print(&mut self, what: &str, count: u64) {
        let (now, took) = (self.store.usage(), self.started.elapsed());
        let (reads, writes) = (now.read_units - self.before.read_units, now.write_units - self.before.write_units);
        let calls = now.calls - self.before.calls;
        let since = |counter: &AtomicU64| counter.swap(0, Ordering::SeqCst);
        let (sqs, cloudwatch) = (since(&self.requests.sqs), since(&self.requests.cloudwatch));
        let invocations = since(&self.requests.invocations);
        let dollars = reads * READ_DOLLARS
            + writes * WRITE_DOLLARS
            + sqs as f64 * SQS_DOLLARS
            + cloudwatch as f64 * CLOUDWATCH_DOLLARS
            + invocations as f64 * INVOCATION_DOLLARS;
        println!(
            "{count} {what}: DynamoDB {calls} calls, {reads} read units, {writes} write units; SQS {sqs} requests, CloudWatch {cloudwatch}, Lambda {invocations}; {:.2} s; $ {:.2} per million",
            took.as_secs_f64(),
            dollars / count as f64 * 1e6
        );
        (self.before, self.started) = (now, Instant::now());
    }
}
