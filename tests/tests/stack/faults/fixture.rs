//! The queues of one case behind the shared deployed office: orders, a consumer that fails on them until the test
//! changes that, an event source mapping that brings the letters to intake, and the final checks.

use super::proxy::{Call, Proxy};
use async_trait::async_trait;
use consumer::{Consumer, ConsumerConfig, Failure, Handler};
use dlo_tests::deployed::{Deployed, until, variable};
use dlo_tests::processes;
use domain::id::{GroupId, LetterId, QueueArn, ReplayId};
use domain::letter::LetterStateKind;
use domain::message::Content;
use domain::replay::{OutcomeKind, WaveLedger};
use harness::world::order;
use lambda::connect;
use lambda::queue::SqsQueue;
use office::office::StepMessage;
use queue::{Outgoing, Queue, Received};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use wire::{EntriesAnswer, GroupRow, GroupsAnswer, LettersAnswer, PlanAnswer, ReplayAnswer};

/// The visibility timeout of a case's queues: longer than two busy cores need from a receive to its delete.
const VISIBILITY_S: u32 = 4;
/// The visibility timeout of the steps: how long the step of a killed function stays invisible.
const STEP_VISIBILITY_S: u32 = 20;
/// The functions whose calls go through the proxy.
const FUNCTIONS: [&str; 2] = ["Intake", "Replay"];
/// The functions whose calls are only recorded, through a proxy of their own: no fault is meant for them.
const RECORDED: [&str; 2] = ["Sweep", "Api"];
/// The services that are called through a proxy, as the SDK's settings name them.
const SERVICES: [&str; 8] = ["DYNAMODB", "SQS", "CLOUDWATCH", "S3", "SNS", "EVENTBRIDGE", "SSM", "LAMBDA"];

/// The deployed office with the proxy in place, which all cases share.
pub struct Stack {
    pub deployed: Deployed,
    pub queue: Arc<SqsQueue>,
    pub proxy: Proxy,
    recorder: Proxy,
    pub otto: String,
    pub anna: String,
    /// The names of the changed functions, and their variables before the change.
    before: Vec<(String, Value)>,
}

impl Stack {
    /// Puts the proxy between the functions and the endpoint.
    pub async fn begin() -> Self {
        let deployed = Deployed::find();
        let proxy = Proxy::start(&deployed.endpoint).await;
        let recorder = Proxy::start(&deployed.endpoint).await;
        let mut before = Vec::new();
        for function in FUNCTIONS.into_iter().chain(RECORDED) {
            let is_faulty = FUNCTIONS.contains(&function);
            let name = deployed.function(function).await;
            let old = deployed.variables(&name).await;
            let mut new = old.clone();
            for service in SERVICES {
                let url = if is_faulty { &proxy.url } else { &recorder.url };
                new[format!("AWS_ENDPOINT_URL_{service}")] = url.as_str().into();
            }
            new[super::calls::APP] = function.into();
            // These letters name their main queues, which the deployment must name as well. The stack's own queue is in
            // the same account and region.
            if is_faulty {
                new["DLO_DEFAULT_MAIN_QUEUE"] = "".into();
            }
            if function == "Intake" {
                let own = old["DLO_MAIN_QUEUES"].as_str().expect("the stack's main queues");
                let (place, _) = own.rsplit_once(':').expect("an ARN");
                let cases = super::QUEUES.iter().map(|case| format!("{place}:{}", queue_name(case)));
                new["DLO_MAIN_QUEUES"] = cases.chain([own.to_owned()]).collect::<Vec<_>>().join(",").into();
            }
            new[processes::RUN] = processes::run().into();
            deployed.set_variables(&name, &new).await;
            before.push((name, old));
        }
        let queue = Arc::new(SqsQueue::new(&connect::to_endpoint(&deployed.endpoint).await));
        let (otto, anna) = (variable("DLO_STACK_OPERATOR"), variable("DLO_STACK_APPROVER"));
        let stack = Self { deployed, queue, proxy, recorder, otto, anna, before };
        stack.step_visibility(STEP_VISIBILITY_S).await;
        stack
    }

    /// Restores the functions. After cases that all passed, checks first that no step is left, and afterwards that the
    /// functions made only calls that are written down.
    pub async fn end(&self, all_passed: bool) {
        if all_passed {
            until("no step is left", async || self.is_empty(&self.steps()).await.then_some(())).await;
        }
        self.step_visibility(360).await;
        for (name, variables) in &self.before {
            self.deployed.set_variables(name, variables).await;
        }
        if all_passed {
            let recorded = || [&self.proxy, &self.recorder].into_iter().flat_map(|proxy| proxy.calls(|_| true));
            super::calls::keep(recorded());
            super::calls::check(recorded());
        }
    }

    /// The queue of steps.
    fn steps(&self) -> QueueArn {
        self.before[0].1["DLO_STEPS"].as_str().expect("the template sets it").into()
    }

    async fn step_visibility(&self, seconds: u32) {
        let name = json!({ "QueueName": self.steps().name() });
        let found = self.deployed.call("sqs", "AmazonSQS.GetQueueUrl", &name).await;
        let change = json!({
            "QueueUrl": found["QueueUrl"], "Attributes": { "VisibilityTimeout": seconds.to_string() },
        });
        self.deployed.call("sqs", "AmazonSQS.SetQueueAttributes", &change).await;
    }

    /// Returns whether a queue has no visible, in-flight or delayed message.
    pub async fn is_empty(&self, queue: &QueueArn) -> bool {
        let now = self.queue.attributes(queue).await.expect("the queue exists");
        now.visible_count + now.in_flight_count + now.delayed_count == 0
    }
}

/// Returns whether the consumer fails on a body.
type Fails = Box<dyn Fn(&str) -> bool + Send>;

/// The team's handler.
struct Service {
    error_type: String,
    fails: Mutex<Fails>,
    processed: Mutex<Vec<String>>,
}

#[async_trait]
impl Handler for Service {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        let body = &received.content.body;
        if (self.fails.lock().expect("no panic while locked"))(body) {
            return Err(Failure::permanent(&self.error_type, "not fixed yet"));
        }
        self.processed.lock().expect("no panic while locked").push(body.clone());
        Ok(())
    }
}

fn fifo(case: &str) -> &'static str {
    if case.starts_with("fifo") { ".fifo" } else { "" }
}

/// The name of a case's main queue.
fn queue_name(case: &str) -> String {
    format!("{case}-{}{}", processes::run(), fifo(case))
}

/// The queues and the consumer of one case.
pub struct Fixture {
    pub stack: Arc<Stack>,
    name: String,
    pub main: QueueArn,
    dlq: QueueArn,
    mapping: String,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
}

impl Fixture {
    pub async fn new(stack: Arc<Stack>, case: &str) -> Self {
        let fifo = fifo(case);
        let name = format!("{case}-{}", processes::run());
        let mut settings = vec![("VisibilityTimeout", VISIBILITY_S.to_string())];
        if !fifo.is_empty() {
            settings.push(("FifoQueue", "true".into()));
        }
        let dlq = stack.queue.create(&format!("{name}-dlq{fifo}"), &settings).await.expect("a queue");
        let policy = json!({ "deadLetterTargetArn": dlq.as_str(), "maxReceiveCount": 1 });
        settings.push(("RedrivePolicy", policy.to_string()));
        let main = stack.queue.create(&queue_name(case), &settings).await.expect("a queue");
        let request = json!({
            "EventSourceArn": dlq.as_str(), "FunctionName": stack.deployed.function("Intake").await, "BatchSize": 10,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
        });
        let mapping = stack.deployed.lambda(Method::POST, "event-source-mappings/", Some(&request)).await;
        let mapping = mapping["UUID"].as_str().expect("an id").to_owned();
        let service = Service {
            error_type: format!("faults::{case}"),
            fails: Mutex::new(Box::new(|_| true)),
            processed: Mutex::default(),
        };
        let (stop, _) = watch::channel(false);
        Self { stack, name, main, dlq, mapping, service: Arc::new(service), stop }
    }

    /// Places orders before the consumer starts, on a FIFO queue in three message groups. Returns the ids of the letters
    /// that they will become.
    pub async fn place(&self, count: u64) -> Vec<LetterId> {
        let mut letters = Vec::new();
        for n in 0..count {
            let grouped = self.main.is_fifo();
            let content = Content {
                body: order(n),
                message_group_id: grouped.then(|| format!("group-{}", n % 3)),
                ..Content::default()
            };
            let deduplication_id = grouped.then(|| n.to_string());
            let message = Outgoing { content, deduplication_id, ..Outgoing::default() };
            let sent = self.stack.queue.send_batch(&self.main, &[message]).await.expect("the queue answers");
            letters.extend(
                sent.into_iter().map(|id| LetterId::from_message(&self.main, &id.expect("the queue accepts it"))),
            );
        }
        letters
    }

    /// Starts the consumer. It fails on every order until [`Self::fails_on`] changes that.
    pub fn consume(&self) {
        let config = ConsumerConfig::new(self.main.clone(), "faults", || "v1".into());
        let config = ConsumerConfig { wait: domain::time::Span::from_secs(1), ..config };
        let consumer = Consumer::new(config, self.stack.queue.clone(), self.service.clone());
        tokio::spawn(consumer.run(self.stop.subscribe()));
    }

    /// Makes the consumer fail on these bodies only, from now on.
    pub fn fails_on(&self, fails: impl Fn(&str) -> bool + Send + 'static) {
        *self.service.fails.lock().expect("no panic while locked") = Box::new(fails);
    }

    /// Returns the bodies that the consumer has processed, in order.
    pub fn processed(&self) -> Vec<String> {
        self.service.processed.lock().expect("no panic while locked").clone()
    }

    /// Returns how often the consumer has processed each body.
    pub fn processed_each(&self) -> BTreeMap<String, usize> {
        self.processed().into_iter().fold(BTreeMap::new(), |mut times, body| {
            *times.entry(body).or_default() += 1;
            times
        })
    }

    pub async fn group(&self) -> Option<GroupRow> {
        let all: GroupsAnswer = self.stack.deployed.get(&self.stack.otto, "/groups").await;
        let mut ours = all.groups.into_iter().filter(|row| row.queue == self.main.name());
        let group = ours.next();
        assert!(ours.next().is_none(), "all letters are in one group");
        group
    }

    /// Waits until the group counts exactly so many open letters. Fails if it ever counts more.
    pub async fn counted(&self, letters: u64) -> GroupRow {
        until(&format!("{}: {letters} letters", self.name), async || {
            let group = self.group().await?;
            assert!(group.open.letters <= letters.cast_signed(), "{} are counted", group.open.letters);
            (group.open.letters == letters.cast_signed()).then_some(group)
        })
        .await
    }

    /// Makes so many dead letters, then repairs the consumer.
    pub async fn dead(&self, count: u64) -> GroupRow {
        self.place(count).await;
        self.consume();
        let group = self.counted(count).await;
        self.fails_on(|_| false);
        group
    }

    /// Declares a fix, plans and approves.
    pub async fn replay(&self, group: &GroupId, options: Value) -> ReplayId {
        self.replay_armed(group, options, |_| ()).await.0
    }

    /// Like [`Self::replay`], but calls `arm` with the replay's id before the approval.
    pub async fn replay_armed<T>(
        &self,
        group: &GroupId,
        options: Value,
        arm: impl FnOnce(&ReplayId) -> T,
    ) -> (ReplayId, T) {
        let (deployed, otto) = (&self.stack.deployed, &self.stack.otto);
        self.operator(&format!("/groups/{group}/fix"), json!({ "kind": "deploy", "reference": "v2" })).await;
        let plan = deployed.done(otto, &format!("/groups/{group}/plan"), json!({ "options": options })).await;
        let plan: PlanAnswer = serde_json::from_value(plan).expect("a plan");
        let armed = arm(&plan.plan.id);
        self.approver(&format!("/groups/{group}/approve"), json!({ "plan_hash": plan.hash })).await;
        (plan.plan.id, armed)
    }

    /// Posts a request of the approver that passes the gate; waives the quiet time.
    pub async fn approver(&self, path: &str, mut request: Value) {
        request["reason"] = "tested".into();
        request["waivers"] = json!([{ "condition": "quiet", "reason": "no other failures here" }]);
        let (status, answer) = self.stack.deployed.post(&self.stack.anna, path, request).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    }

    /// Posts a request of the operator.
    pub async fn operator(&self, path: &str, request: Value) {
        self.stack.deployed.done(&self.stack.otto, path, request).await;
    }

    /// Pauses a replay as the operator.
    pub async fn pause(&self, replay: &ReplayId) {
        self.operator(&format!("/replays/{replay}/pause"), json!({ "reason": "tested" })).await;
    }

    /// Aborts a replay as the operator.
    pub async fn abort(&self, replay: &ReplayId) {
        self.operator(&format!("/replays/{replay}/abort"), json!({ "reason": "tested" })).await;
    }

    pub async fn view(&self, replay: &ReplayId) -> ReplayAnswer {
        self.stack.deployed.get(&self.stack.otto, &format!("/replays/{replay}")).await
    }

    /// Waits for the end of a replay whose chain of steps was cut. Invokes sweep, which restarts the chain, without
    /// waiting for its schedule.
    pub async fn finished_by_sweep(&self, replay: &ReplayId) -> WaveLedger {
        until(&format!("{}: the replay finishes", self.name), async || {
            let (failed, answer) = self.stack.deployed.invoke("Sweep", &json!({})).await;
            assert!(!failed, "{answer}");
            let view = self.view(replay).await;
            view.replay.is_finished().then_some(view.total)
        })
        .await
    }

    /// Waits for the end of a replay that must never pause.
    pub async fn finished(&self, replay: &ReplayId) -> WaveLedger {
        until(&format!("{}: the replay finishes", self.name), async || {
            let view = self.view(replay).await;
            assert!(!view.replay.is_paused(), "{:?}", view.replay.state);
            view.replay.is_finished().then_some(view.total)
        })
        .await
    }

    /// Matches the sends to this case's main queue.
    pub fn is_send(&self) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
        let queue = format!("/{}\"", self.main.name());
        move |call| call.operation == "SendMessageBatch" && call.body.contains(&queue)
    }

    /// Returns the sends to this case's main queue that functions have begun.
    pub fn sends(&self) -> Vec<Call> {
        self.stack.proxy.calls(self.is_send())
    }

    /// Invokes the replay function with a step, as the event source mapping of the queue of steps does.
    pub async fn step(&self, replay: &ReplayId) {
        let body =
            serde_json::to_string(&StepMessage { replay: replay.clone(), nudge: true, chain: 0 }).expect("a step");
        let record = json!({ "messageId": "by-hand", "body": body, "eventSourceARN": "arn:aws:sqs:us-east-1:0:steps" });
        let (failed, answer) = self.stack.deployed.invoke("Replay", &json!({ "Records": [record] })).await;
        assert!(!failed && answer == json!({ "batchItemFailures": [] }), "{answer}");
    }

    /// Kills the function process that makes a held call, and waits for its end.
    pub async fn kill_caller(&self, call: &Call) {
        let caller = self.stack.proxy.caller(call).expect("the caller is a function of this test run");
        caller.kill();
        until("the killed function ends", async || (!caller.is_running()).then_some(())).await;
    }

    /// Checks the end of every case: the counters equal the list of letters, the ledger equals its entries, and the
    /// queues are empty. Removes the event source mapping.
    pub async fn ends_exactly(self, replay: Option<&ReplayId>, open: u64, delivered: u64) {
        for queue in [&self.main, &self.dlq] {
            let empty = async || self.stack.is_empty(queue).await.then_some(());
            until(&format!("{} is empty", queue.name()), empty).await;
        }
        let group = self.group().await.expect("a group");
        let counted = (group.open.letters, group.delivered);
        assert_eq!(counted, (open.cast_signed(), delivered.cast_signed()), "{}: open, delivered", self.name);
        let (deployed, otto) = (&self.stack.deployed, &self.stack.otto);
        let page: LettersAnswer = deployed.get(otto, &format!("/groups/{}/letters?limit=200", group.id)).await;
        let done =
            page.letters.iter().filter(|letter| letter.state.kind() == LetterStateKind::Delivered).count() as u64;
        assert_eq!((page.letters.len() as u64 - done, done), (open, delivered), "{}: letters", self.name);
        if let Some(replay) = replay {
            let total = self.view(replay).await.total;
            let page: EntriesAnswer = deployed.get(otto, &format!("/replays/{replay}/entries?limit=200")).await;
            for kind in OutcomeKind::ALL {
                let entries = page.entries.iter().filter(|row| row.entry.outcome.kind() == kind).count() as u64;
                assert_eq!(entries, total.get(kind), "{}: {kind:?}", self.name);
            }
            let twice = page.entries.iter().filter(|row| row.entry.sends > 1).count() as u64;
            assert_eq!(twice, total.sent_twice, "{}: sent twice", self.name);
        }
        let mapping = format!("event-source-mappings/{}", self.mapping);
        self.stack.deployed.lambda(Method::DELETE, &mapping, None).await;
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // Ends the consumer even if the case failed.
        self.stop.send_replace(true);
    }
}
