//! The set-up of a simulation: the queues, the store, the processes that run handlers, the consumer, the clock.

mod mishaps;

use super::checker::Checker;
use super::forger::Forger;
use super::reports::Reporter;
use super::{orders, receipts, reports};
use domain::id::QueueArn;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::message::{Content, DeadMessage};
use domain::policy::{GatePolicy, MessageTypeRule, Policy, QueuePolicy, ReplayPolicy};
use domain::time::{Span, Timestamp};
use harness::faults::{Faults, FaultyQueue, FaultyStore, Outage, RandomFaults, Watch};
use harness::lag::Lag;
use harness::samples::{Chance, START};
use local::queue::{EmbeddedQueue, QueueSettings};
use local::sinks::{LogAlerts, SeriesMetrics};
use local::store::SqliteStore;
use office::act;
use office::office::Office;
use office::policy::Policies;
use office::port::Store;
use queue::{Outgoing, Queue, Received};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use transform::Transforms;
use wire::DeploymentRequest;

/// The visibility timeout of the main queue.
pub(super) const VISIBILITY: Span = Span::from_secs(1);
/// How long the gate requires quiet.
pub(super) const QUIET: Span = Span::from_secs(2);
/// The largest error of a process's clock.
pub(super) const SKEW: Span = Span::from_ms(200);
/// The version of the consumer that processes everything.
const FINAL: u32 = u32::MAX;

/// The process of a function. It has its own clock and may die.
#[derive(Clone)]
pub(super) struct Process {
    pub name: &'static str,
    pub office: Office,
    pub faults: Arc<Faults>,
    /// How far its clock is wrong, milliseconds; and how far without jumps.
    skew: Arc<AtomicI64>,
    usual_skew: i64,
}

/// The numbers of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Placed orders.
    pub orders: u64,
    /// Letters sent by replays.
    pub sends: u64,
    /// Sent letters that a transform changed.
    pub changed: u64,
    /// Approved replays.
    pub replays: u64,
    /// Plans that were made in steps.
    pub drafted: u64,
    /// Merges of fingerprints into groups.
    pub merges: u64,
    /// Letters confirmed by receipts.
    pub confirmed: u64,
    /// Letters that people discarded.
    pub discarded: u64,
    /// Discarded letters that are open again, because people took them back or they died again.
    pub taken_back: u64,
    /// New letters that have their reason from a report.
    pub explained: u64,
    /// Messages that intake left in their queue once, for a late report.
    pub left: u64,
    /// A hash of the checker's whole log: it differs between different runs.
    pub print: u64,
}

impl std::ops::AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.orders += other.orders;
        self.sends += other.sends;
        self.changed += other.changed;
        self.replays += other.replays;
        self.drafted += other.drafted;
        self.merges += other.merges;
        self.confirmed += other.confirmed;
        self.discarded += other.discarded;
        self.taken_back += other.taken_back;
        self.explained += other.explained;
        self.left += other.left;
        self.print = self.print.wrapping_add(other.print);
    }
}

/// The whole simulated system.
pub(super) struct Fixture {
    pub seed: u64,
    pub chance: Chance,
    pub store: Arc<dyn Store>,
    pub queue: Arc<EmbeddedQueue>,
    pub checker: Arc<Checker>,
    pub main: QueueArn,
    pub dlq: QueueArn,
    pub steps: QueueArn,
    pub receipts: QueueArn,
    /// Whether the consumer sends receipts.
    pub sends_receipts: bool,
    pub forger: Forger,
    pub reporter: Reporter,
    /// How often each order was processed.
    pub processed: BTreeMap<u64, u32>,
    pub version: u32,
    pub calm: bool,
    /// Whether clocks of processes jump in this run.
    pub clocks_jump: bool,
    processes: Vec<Process>,
    placed: u64,
    clock: Arc<AtomicI64>,
    /// Until when the consumer is off.
    off_until: Timestamp,
}

impl Fixture {
    pub async fn new(seed: u64) -> Self {
        let (mut chance, clock) = (Chance(seed), Arc::new(AtomicI64::new(START.as_ms())));
        let now = clock_with_skew(&clock, &Arc::default());
        let queue = Arc::new(EmbeddedQueue::open_in_memory(now.clone()).expect("embedded queues"));
        let ending = if chance.below(3) == 0 { ".fifo" } else { "" };
        let named = |name: &str, ending: &str| QueueArn::new(format!("arn:aws:sqs:local:000000000000:{name}{ending}"));
        let (main, dlq, steps) = (named("orders", ending), named("orders-dlq", ending), named("dlo-steps", ""));
        let receipts = named("dlo-receipts", "");
        for plain in [&dlq, &steps, &receipts] {
            queue.create_queue(plain, QueueSettings::default()).await.expect("a queue");
        }
        let sends_receipts = chance.below(3) > 0;
        let settings = QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() };
        queue.create_queue(&main, settings.dead_letters_to(&dlq, 3)).await.expect("a queue");
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open_in_memory().expect("a store"));
        let checker = Arc::new(Checker::new(main.clone(), now.clone()));
        let metrics = Arc::new(SeriesMetrics::open_in_memory().expect("metrics"));
        let (rate, lag, planning) = (chance.below(60), Arc::new(Lag::new(now)), mishaps::plan_limits(&mut chance));
        let named = QueuePolicy { main: vec![main.clone()], ..QueuePolicy::default() };
        let processes = ["one", "two"].map(|name| {
            let faults = faults(checker.clone(), lag.clone(), Chance(chance.number()), rate);
            let usual_skew = chance.below(2 * SKEW.as_ms() as usize) as i64 - SKEW.as_ms();
            let (skew, entropy) = (Arc::new(AtomicI64::new(usual_skew)), Mutex::new(Chance(chance.number())));
            let office = Office {
                store: Arc::new(FaultyStore { inner: store.clone(), faults: faults.clone() }),
                queue: Arc::new(FaultyQueue { inner: queue.clone(), faults: faults.clone() }),
                metrics: metrics.clone(),
                alerts: Arc::new(LogAlerts::default()),
                payloads: Arc::new(office::port::NoPayloads),
                logs: Arc::new(office::port::NoLogs),
                policy: Arc::new(Policy { queues: named.clone(), ..policy() }),
                policy_version: 0,
                policies: Arc::new(Policies::new(named.clone())),
                steps: steps.clone(),
                closed_queues: Arc::new([&dlq, &steps, &receipts].map(Clone::clone).into()),
                clock: clock_with_skew(&clock, &skew),
                entropy: Arc::new(move || entropy.lock().map(|mut chance| chance.number()).unwrap_or_default()),
                custody: true,
                retentions: Arc::new(Mutex::new(HashMap::new())),
                sweeps: Arc::default(),
                known_groups: Arc::default(),
                planning,
                transforms: Arc::new(Transforms::in_this_process()),
            };
            Process { name, office, faults, skew, usual_skew }
        });
        let (clocks_jump, reporter) = (chance.below(4) == 0, Reporter::new(&mut chance));
        Self {
            seed,
            chance,
            store,
            queue,
            checker,
            main,
            dlq,
            steps,
            receipts,
            sends_receipts,
            forger: Forger::default(),
            reporter,
            processed: BTreeMap::new(),
            version: 1,
            calm: false,
            clocks_jump,
            off_until: START,
            processes: processes.to_vec(),
            placed: 0,
            clock,
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.clock.load(Ordering::SeqCst))
    }

    pub fn advance(&self, span: Span) {
        self.clock.fetch_add(span.as_ms(), Ordering::SeqCst);
    }

    /// Returns a random process, restarted if it was dead.
    pub fn process(&mut self) -> Process {
        let at = self.chance.below(self.processes.len());
        self.started(at)
    }

    /// Returns the other process, restarted if it was dead.
    pub fn other(&mut self, process: &Process) -> Process {
        let at = self.processes.iter().position(|other| other.name != process.name).unwrap_or_default();
        self.started(at)
    }

    fn started(&self, at: usize) -> Process {
        let process = self.processes[at].clone();
        process.faults.restart();
        process
    }

    /// Returns the offices of all processes.
    pub fn offices(&self) -> impl Iterator<Item = &Office> {
        self.processes.iter().map(|process| &process.office)
    }

    pub fn set_outage(&self, outage: Option<(QueueArn, Outage)>) {
        self.processes.iter().for_each(|process| process.faults.set_outage(outage.clone()));
    }

    /// Ends all faults, and deploys a consumer that processes everything.
    pub fn end_faults(&mut self) {
        self.set_outage(None);
        for process in &self.processes {
            process.faults.set_rates(0, 0);
            process.skew.store(process.usual_skew, Ordering::SeqCst);
        }
        (self.version, self.calm) = (FINAL, true);
    }

    /// Places orders, as a producer.
    pub async fn place(&mut self, count: u64) {
        for _ in 0..count {
            let (n, content) = self.next_order();
            self.register(n, &content);
            let deduplication_id = self.main.is_fifo().then(|| format!("order-{n}"));
            let order = Outgoing { content, deduplication_id, ..Outgoing::default() };
            let sent = self.queue.send_batch(&self.main, &[order]).await.expect("the main queue");
            sent.into_iter().for_each(|sent| drop(sent.expect("an order is sent")));
        }
    }

    /// Returns the next order, with its number.
    pub fn next_order(&self) -> (u64, Content) {
        (self.placed, orders::content(self.seed, self.placed, self.main.is_fifo()))
    }

    /// Records an order that is about to be sent: it must not get lost.
    pub fn register(&mut self, n: u64, content: &Content) {
        self.checker.placed(n, content);
        self.placed = n + 1;
    }

    /// Deploys the next version of the consumer, and reports the deployment in half of the cases.
    pub async fn deploy(&mut self) {
        self.version += 1;
        if self.chance.below(2) == 0 {
            let process = self.process();
            let report = DeploymentRequest {
                service: orders::SERVICE.into(),
                version: format!("v{}", self.version),
                commit: None,
                at: None,
            };
            let _ = act::report_deployment(&process.office, &report).await;
        }
    }

    /// Runs the consumer on some messages: it processes them, dead-letters them, or dies before deleting them.
    pub async fn consume(&mut self) {
        if self.stops_in_the_middle().await {
            return;
        }
        let max = 1 + self.chance.below(BATCH_ENTRIES_MAX);
        let received = self.queue.receive(&self.main, max, Span::ZERO, None).await.unwrap_or_default();
        let batch: Vec<_> = received.iter().map(|message| message.message_id.clone()).collect();
        for message in received {
            let Some(n) = orders::number_of(&message.content.body) else {
                self.checker.report(format!("a message on the main queue is not an order: {:?}", message.content.body));
                continue;
            };
            self.forger.saw(&message);
            let dies = !self.calm && self.chance.below(40) == 0;
            // A transform repairs every other order.
            let repaired = n.is_multiple_of(2) && message.content.body.contains("\"changed\"");
            let error = orders::fails(self.seed, n, self.version).filter(|_| self.version != FINAL && !repaired);
            match error {
                None => {
                    *self.processed.entry(n).or_default() += 1;
                    reports::succeeded(self, &message).await;
                }
                Some(error) => {
                    receipts::forge(self, &message).await;
                    reports::failed(self, &message, &batch, error).await;
                    let silent = self.chance.below(5) == 0;
                    let stamped = orders::stamped((self.seed, &self.main), &message, error, self.version, self.now());
                    match stamped {
                        Some(stamped) if !silent => {
                            self.checker.failed(&message);
                            self.dead_letter(n, stamped).await;
                        }
                        // No stamp: SQS moves the message after the third receive.
                        _ => continue,
                    }
                }
            }
            if !dies {
                let _ = self.queue.delete_batch(&self.main, std::slice::from_ref(&message.receipt_handle)).await;
                if error.is_none() {
                    self.checker.gone(&message);
                }
            }
            // A function sends the receipt before its platform deletes the message, and may die in between.
            if error.is_none() && (!dies || self.chance.below(2) == 0) {
                receipts::send_for(self, &message).await;
            }
        }
    }

    async fn dead_letter(&mut self, n: u64, content: Content) {
        let unique = self.chance.number();
        let deduplication_id = self.dlq.is_fifo().then(|| format!("dead-{n}-{unique}"));
        let dead = Outgoing { content, deduplication_id, ..Outgoing::default() };
        let sent = self.queue.send_batch(&self.dlq, &[dead]).await.expect("the dead-letter queue");
        sent.into_iter().for_each(|sent| drop(sent.expect("a letter is sent")));
    }

    /// Returns a received message as intake gets it.
    pub fn dead(&self, received: Received) -> DeadMessage {
        DeadMessage {
            dlq: self.dlq.clone(),
            message_id: received.message_id,
            content: received.content,
            system: received.system,
        }
    }

    pub fn orders(&self) -> u64 {
        self.placed
    }

    pub fn summary(&self) -> Summary {
        Summary { orders: self.placed, ..self.checker.summary() }
    }
}

/// Returns the random faults of a process.
fn faults(watch: Arc<dyn Watch>, lag: Arc<Lag>, chance: Chance, rate: usize) -> Arc<Faults> {
    let faults = Arc::new(Faults::default());
    faults.set_watch(watch);
    faults.set_lag(lag);
    faults.fail_at_random(RandomFaults { chance, faults_per_mille: rate, deaths_pct: 40, refusals_per_mille: rate });
    faults
}

type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

fn clock_with_skew(clock: &Arc<AtomicI64>, skew: &Arc<AtomicI64>) -> Now {
    let (clock, skew) = (clock.clone(), skew.clone());
    Arc::new(move || Timestamp::from_ms(clock.load(Ordering::SeqCst) + skew.load(Ordering::SeqCst)))
}

fn policy() -> Policy {
    Policy {
        gate: GatePolicy { quiet_ms: QUIET, ..GatePolicy::default() },
        replay: ReplayPolicy {
            pace_per_s: 20,
            window_slack_ms: Span::from_secs(1),
            backlog_ms_max: Span::from_secs(60),
            wave_delay_ms: Span::from_ms(500),
            wave_delay_ms_max: Span::from_secs(2),
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
