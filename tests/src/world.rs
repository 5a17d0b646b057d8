//! A whole office in one process under a clock that only a test moves: real handlers, real store, real queues, and a
//! consumer whose verdict on each message the test decides.

mod acts;
mod books;

use crate::faults::{Faults, FaultyQueue, FaultyStore};
use crate::office::{Chance, START};
use consumer::queue::{Outgoing, Queue, Received};
use domain::gate::ConditionKind;
use domain::id::{Actor, MessageId, QueueArn, ReplayId};
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content, DeadMessage};
use domain::policy::{GatePolicy, MessageTypeRule, Policy, ReplayPolicy};
use domain::read::Stamp;
use domain::reading::Class;
use domain::replay::Replay;
use domain::time::{Span, Timestamp};
use lambda::office::{Office, StepMessage};
use lambda::port::Store;
use lambda::{intake, replay, sweep};
use local::queue::{EmbeddedQueue, QueueSettings};
use local::sinks::{LogAlerts, SeriesMetrics};
use local::store::SqliteStore;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use transform::Transforms;

/// Why the consumer cannot process a message; none when it can.
pub type Verdict<'a> = &'a dyn Fn(&Received) -> Option<&'static str>;

/// The office and what surrounds it.
pub struct World {
    /// The office, behind [`World::faults`].
    pub office: Office,
    /// The store without faults: what a test looks at.
    pub store: Arc<dyn Store>,
    /// The queues without faults.
    pub queue: Arc<EmbeddedQueue>,
    /// What goes wrong between the handlers and their ports.
    pub faults: Arc<Faults>,
    /// The alerts that were raised.
    pub alerts: Arc<LogAlerts>,
    /// The main queue.
    pub main: QueueArn,
    /// Its dead-letter queue.
    pub dlq: QueueArn,
    /// Bodies that the consumer has processed, in order.
    pub processed: Mutex<Vec<String>>,
    clock: Arc<AtomicI64>,
    _folder: TempDir,
}

/// How long a message stays invisible on the main queue.
pub const VISIBILITY: Span = Span::from_secs(2);

impl World {
    /// An empty office whose waits are short.
    pub async fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let store = SqliteStore::open(&folder.path().join("office.db")).expect("a store");
        Self::over(Arc::new(store), folder).await
    }

    /// An empty office over another store.
    pub async fn on(store: Arc<dyn Store>) -> Self {
        Self::over(store, TempDir::new().expect("a temporary folder")).await
    }

    async fn over(store: Arc<dyn Store>, folder: TempDir) -> Self {
        let clock = Arc::new(AtomicI64::new(START.as_ms()));
        let now = clock.clone();
        let now: Arc<dyn Fn() -> Timestamp + Send + Sync> =
            Arc::new(move || Timestamp::from_ms(now.load(Ordering::SeqCst)));
        let queue = Arc::new(EmbeddedQueue::open_in_memory(now.clone()).expect("embedded queues"));
        let named = |name: &str| QueueArn::new(format!("arn:aws:sqs:local:000000000000:{name}"));
        let (main, dlq, steps) = (named("orders"), named("orders-dlq"), named("dlo-steps"));
        queue.create_queue(&dlq, QueueSettings::default()).await.expect("a queue");
        queue.create_queue(&steps, QueueSettings::default()).await.expect("a queue");
        let settings = QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() };
        queue.create_queue(&main, settings.dead_letters_to(&dlq, 3)).await.expect("a queue");
        let metrics = SeriesMetrics::open(&folder.path().join("metrics.db")).expect("metrics");
        let alerts = Arc::new(LogAlerts::default());
        let faults = Arc::new(Faults::default());
        let dice = AtomicU64::new(1);
        let office = Office {
            store: Arc::new(FaultyStore { inner: store.clone(), faults: faults.clone() }),
            queue: Arc::new(FaultyQueue { inner: queue.clone(), faults: faults.clone() }),
            metrics: Arc::new(metrics),
            alerts: alerts.clone(),
            payloads: Arc::new(lambda::port::OutOfSight),
            policy: Arc::new(policy()),
            steps,
            clock: now,
            entropy: Arc::new(move || Chance(dice.fetch_add(1, Ordering::SeqCst)).number()),
            retentions: Arc::new(Mutex::new(HashMap::new())),
            transforms: Arc::new(workers()),
        };
        let processed = Mutex::new(Vec::new());
        Self { office, store, queue, faults, alerts, main, dlq, processed, clock, _folder: folder }
    }

    /// Lets time pass.
    pub fn advance(&self, span: Span) {
        self.clock.fetch_add(span.as_ms(), Ordering::SeqCst);
    }

    /// Places orders on the main queue, numbered from `first`.
    pub async fn place(&self, first: u64, count: u64) {
        let bodies: Vec<String> = (first..first + count).map(order).collect();
        for chunk in bodies.chunks(BATCH_ENTRIES_MAX) {
            let messages: Vec<_> = chunk
                .iter()
                .map(|body| Outgoing {
                    content: Content { body: body.clone(), ..Content::default() },
                    ..Outgoing::default()
                })
                .collect();
            for sent in self.queue.send_batch(&self.main, &messages).await.expect("the main queue") {
                sent.expect("an order is sent");
            }
        }
    }

    /// The consumer handles everything that it can see on the main queue: processed and deleted, or dead-lettered
    /// with its failure. Gives how many messages it handled.
    pub async fn consume(&self, verdict: Verdict<'_>, version: &str) -> usize {
        let mut handled = 0;
        loop {
            let received = self.queue.receive(&self.main, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("receive");
            if received.is_empty() {
                return handled;
            }
            for message in received {
                handled += 1;
                match verdict(&message) {
                    None => self.processed.lock().expect("a list").push(message.content.body.clone()),
                    Some(error) => self.dead_letter(&message, error, version).await,
                }
                let handles = [message.receipt_handle];
                let deleted = self.queue.delete_batch(&self.main, &handles).await.expect("delete");
                assert!(deleted.iter().all(Result::is_ok));
            }
        }
    }

    /// An order dies of something that a message tells, as a consumer dead-letters it. It was never placed on the main
    /// queue.
    pub async fn die(&self, order_number: u64, message: &str, failed_at: Timestamp) {
        let id = MessageId::new(format!("died-{order_number}"));
        let content = Content { body: order(order_number), ..Content::default() };
        self.bury(content, id, message, failed_at).await;
    }

    /// The consumer fails on a message that it received.
    pub async fn fail(&self, received: &Received, message: &str) {
        self.bury(received.content.clone(), received.message_id.clone(), message, self.office.now()).await;
    }

    async fn bury(&self, mut content: Content, id: MessageId, message: &str, failed_at: Timestamp) {
        let stamp = Stamp {
            error_type: Some("orders::StorageError".into()),
            message: Some(message.into()),
            class: Some(Class::Permanent),
            consumer: Some("orders".into()),
            original_message_id: Some(id),
            main_queue: Some(self.main.clone()),
            first_sent_at: Some(failed_at),
            failed_at: Some(failed_at),
            ..Stamp::default()
        };
        content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
        let outgoing = Outgoing { content, ..Outgoing::default() };
        for sent in self.queue.send_batch(&self.dlq, &[outgoing]).await.expect("the dead-letter queue") {
            sent.expect("a letter is sent");
        }
    }

    async fn dead_letter(&self, message: &Received, error: &str, version: &str) {
        let stamp = Stamp {
            error_type: Some(error.into()),
            message: Some(format!("{error} while the order was priced")),
            class: Some(Class::Permanent),
            consumer: Some("orders".into()),
            consumer_version: Some(version.into()),
            original_message_id: Some(message.message_id.clone()),
            main_queue: Some(self.main.clone()),
            first_sent_at: message.system.sent_at,
            failed_at: Some(self.office.now()),
            ..Stamp::default()
        };
        let mut content = message.content.clone();
        content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
        let outgoing = Outgoing { content, ..Outgoing::default() };
        for sent in self.queue.send_batch(&self.dlq, &[outgoing]).await.expect("the dead-letter queue") {
            sent.expect("a letter is sent");
        }
    }

    /// Intake takes everything that it can see in the dead-letter queue, as an event source mapping would hand it over.
    pub async fn intake(&self) -> intake::Report {
        let mut total = intake::Report::default();
        loop {
            let received = self.queue.receive(&self.dlq, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("receive");
            if received.is_empty() {
                return total;
            }
            let handles: Vec<_> = received.iter().map(|r| (r.message_id.clone(), r.receipt_handle.clone())).collect();
            let report = intake::keep(&self.office, received.into_iter().map(|r| self.dead(r)).collect()).await;
            let kept: Vec<String> =
                handles.into_iter().filter(|(id, _)| !report.failed.contains(id)).map(|(_, handle)| handle).collect();
            if !kept.is_empty() {
                self.queue.delete_batch(&self.dlq, &kept).await.expect("delete");
            }
            total.kept += report.kept;
            total.returned += report.returned;
            total.duplicates += report.duplicates;
            total.new_groups += report.new_groups;
            total.regressions += report.regressions;
            total.failed.extend(report.failed);
        }
    }

    /// A received message as intake gets it.
    pub fn dead(&self, received: Received) -> DeadMessage {
        DeadMessage {
            dlq: self.dlq.clone(),
            message_id: received.message_id,
            content: received.content,
            system: received.system,
        }
    }

    /// The replay handler handles the steps that are due; a step that fails stays in its queue. Gives how many failed.
    pub async fn steps(&self) -> usize {
        let mut failed = 0;
        loop {
            let due = self.queue.receive(&self.office.steps, BATCH_ENTRIES_MAX, Span::ZERO, None).await.expect("steps");
            if due.is_empty() {
                return failed;
            }
            for message in due {
                let step: StepMessage = serde_json::from_str(&message.content.body).expect("a step message");
                if replay::handle(&self.office, &step, "executor").await.is_err() {
                    failed += 1;
                    continue;
                }
                self.queue.delete_batch(&self.office.steps, &[message.receipt_handle]).await.expect("delete");
            }
        }
    }

    /// Everybody works, second by second, until the replay is finished, or paused with nothing in flight; at most an
    /// hour of the world's time.
    pub async fn run(&self, id: &ReplayId, verdict: Verdict<'_>, version: &str) -> Replay {
        for second in 0..3_600 {
            self.steps().await;
            self.consume(verdict, version).await;
            self.intake().await;
            self.ledger_closes(id).await;
            let replay = self.replay(id).await;
            let total = self.ledger(id).await.total();
            let paused = replay.is_paused() && total.in_flight + total.sending == 0;
            if replay.is_finished() || paused {
                return replay;
            }
            if second % 60 == 59 {
                // A sweep that meets a fault is followed by another.
                let _ = sweep::run(&self.office).await;
            }
            self.advance(Span::from_secs(1));
        }
        panic!("the replay neither finished nor paused within an hour: {:?}", self.replay(id).await.state);
    }

    /// Somebody who declares fixes.
    pub fn otto(&self) -> Actor {
        Actor::from("otto")
    }

    /// Somebody who approves.
    pub fn anna(&self) -> Actor {
        Actor::from("anna")
    }
}

/// The body of an order: a priced message of a known customer.
pub fn order(n: u64) -> String {
    format!(
        r#"{{"type":"order.placed","order_id":"ord_{n:06}","customer":{{"id":"cus_{:03}"}},"total":{{"amount":"{}.10","currency":"EUR"}}}}"#,
        n % 7,
        10 + n
    )
}

/// The number of the order that a body is.
pub fn number_of(body: &str) -> u64 {
    let value: serde_json::Value = serde_json::from_str(body).expect("an order");
    value["order_id"].as_str().and_then(|id| id.strip_prefix("ord_")).and_then(|n| n.parse().ok()).expect("a number")
}

fn policy() -> Policy {
    Policy {
        gate: GatePolicy { quiet_ms: Span::from_secs(10), ..GatePolicy::default() },
        replay: ReplayPolicy {
            pace_per_s: 20,
            window_slack_ms: Span::from_secs(2),
            rest_ms: Span::from_secs(1),
            rest_ms_max: Span::from_secs(4),
            ..ReplayPolicy::default()
        },
        message_types: vec![MessageTypeRule {
            message_type: "order.placed".into(),
            amount: Some("/total/amount".into()),
            currency: Some("/total/currency".into()),
            customer: Some("/customer/id".into()),
            ..MessageTypeRule::default()
        }],
        ..Policy::default()
    }
}

/// Workers for payload transforms: the one executable of this crate that can be one, built beside its tests.
fn workers() -> Transforms {
    let own = std::env::current_exe().expect("the executable that runs");
    let folder = own.ancestors().find(|folder| folder.join("simulate").is_file()).expect("the folder of executables");
    Transforms::by(folder.join("simulate"))
}

/// The kinds of some conditions, for a comparison.
pub fn kinds(conditions: &[domain::gate::Condition]) -> Vec<ConditionKind> {
    conditions.iter().map(|condition| condition.kind).collect()
}
