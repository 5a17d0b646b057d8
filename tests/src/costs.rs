//! Counts what the office asks of AWS: DynamoDB's calls and units, and the requests of SQS, CloudWatch and Lambda that go
//! with them. Storage, logs and the functions' time are not included.

use crate::endpoint::Endpoint;
use async_trait::async_trait;
use domain::id::{MessageId, QueueArn};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::metric::Datum;
use domain::time::{Span, Timestamp};
use harness::world::World;
use lambda::connect;
use lambda::store::{DynamoStore, Usage};
use office::port::{Metrics, SinkError};
use queue::{EntryFailure, Outgoing, Queue, QueueAttributes, QueueError, Received};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Dollars per unit or request: us-east-1, on demand, without free tiers, as of 2026-11-20.
const WRITE_DOLLARS: f64 = 0.625e-6;
const READ_DOLLARS: f64 = 0.125e-6;
const SQS_DOLLARS: f64 = 0.40e-6;
const CLOUDWATCH_DOLLARS: f64 = 10e-6;
/// What SQS bills as one request, bytes.
const REQUEST_BYTES: usize = 64 * 1024;
const INVOCATION_DOLLARS: f64 = 0.20e-6;

/// What was asked for since the meter was read last.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Calls of DynamoDB, and its units.
    pub table: Usage,
    /// Requests to SQS.
    pub sqs: u64,
    /// Requests to CloudWatch.
    pub cloudwatch: u64,
    /// Invocations of functions.
    pub invocations: u64,
}

impl Cost {
    /// Returns the sum in dollars.
    pub fn dollars(&self) -> f64 {
        self.table.read_units * READ_DOLLARS
            + self.table.write_units * WRITE_DOLLARS
            + self.sqs as f64 * SQS_DOLLARS
            + self.cloudwatch as f64 * CLOUDWATCH_DOLLARS
            + self.invocations as f64 * INVOCATION_DOLLARS
    }

    /// Returns the cost of a thousand letters, as a row, if this is that of so many.
    pub fn row_for(self, letters: u64) -> Row {
        Row { cost: self, letters }
    }
}

/// A row of a table of costs.
pub struct Row {
    cost: Cost,
    letters: u64,
}

impl Row {
    /// The names of the columns.
    pub const HEAD: &str = "   calls   writes    reads     SQS  CloudW.  Lambda  $/million";
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { table, sqs, cloudwatch, invocations } = self.cost;
        let thousand = |count: f64| count * 1e3 / self.letters as f64;
        let dollars = self.cost.dollars() * 1e6 / self.letters as f64;
        write!(
            f,
            "{:8.0} {:8.0} {:8.0}",
            thousand(table.calls as f64),
            thousand(table.write_units),
            thousand(table.read_units)
        )?;
        write!(f, " {:7.0} {:8.0}", thousand(sqs as f64), thousand(cloudwatch as f64))?;
        write!(f, " {:7.0} {dollars:10.2}", thousand(invocations as f64))
    }
}

/// Meters an office over DynamoDB.
pub struct Meter {
    store: Arc<DynamoStore>,
    requests: Arc<Requests>,
    before: Usage,
}

impl Meter {
    /// Creates an office over a new table whose requests are counted. Those of the world itself are not.
    pub async fn office(endpoint: &Endpoint) -> (World, Self) {
        // One note for each group and minute tells that it changed. The minute never ends here, so that no figure depends on
        // how long the measurement takes.
        let minute = Arc::new(|| Timestamp::from_ms(0));
        let store = Arc::new(endpoint.store().await.with_clock(minute));
        let mut world = World::on(store.clone()).await;
        world.store = Arc::new(DynamoStore::new(&connect::to_endpoint(&endpoint.url).await, store.table_name()));
        let requests = Arc::new(Requests::default());
        let steps = world.office.steps.clone();
        world.office.queue = Arc::new(Counted { inner: world.office.queue.clone(), steps, requests: requests.clone() });
        world.office.metrics = Arc::new(Counting(requests.clone()));
        (world, Self { store, requests, before: Usage::default() })
    }

    /// Adds what an event source mapping asks for to hand over these messages: receives and deletes of up to ten, and an
    /// invocation per event.
    pub fn handed_over(&self, messages: u64, batch: u64) {
        self.requests.sqs(2 * messages.div_ceil(batch.min(BATCH_ENTRIES_MAX as u64)));
        self.requests.invocations.fetch_add(messages.div_ceil(batch), Ordering::SeqCst);
    }

    /// Adds what senders ask for who send messages of these sizes, in bytes, one by one. SQS bills 64 KiB as one request.
    pub fn sent(&self, sizes: impl Iterator<Item = usize>) {
        self.requests.sqs(sizes.map(|bytes| bytes.div_ceil(REQUEST_BYTES).max(1) as u64).sum());
    }

    /// Returns the cost since the last call.
    pub fn read(&mut self) -> Cost {
        let now = self.store.usage();
        let before = std::mem::replace(&mut self.before, now);
        let since = |counter: &AtomicU64| counter.swap(0, Ordering::SeqCst);
        Cost {
            table: Usage {
                calls: now.calls - before.calls,
                read_units: now.read_units - before.read_units,
                write_units: now.write_units - before.write_units,
            },
            sqs: since(&self.requests.sqs),
            cloudwatch: since(&self.requests.cloudwatch),
            invocations: since(&self.requests.invocations),
        }
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
