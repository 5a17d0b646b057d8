//! A case's own queues behind the one deployed office: orders, a consumer that fails on them until the test says
//! otherwise, letters that come through a mapping of their own, and what must be true in the end.

use super::proxy::{Call, Proxy, process_at};
use async_trait::async_trait;
use consumer::{Consumer, ConsumerConfig, Failure, Handler};
use dlo_tests::deployed::{Deployed, until, variable};
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
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use wire::{EntriesPage, GroupRow, GroupsAnswer, LettersPage, PlanView, ReplayView};

/// How long a message stays invisible; longer than two busy cores need from a receive to its delete.
const VISIBILITY_S: u32 = 4;
/// How long the step of a function that was killed stays invisible.
const STEP_VISIBILITY_S: u32 = 20;
/// The functions whose calls go through the proxy.
const FUNCTIONS: [&str; 2] = ["Intake", "Replay"];

/// What all cases share.
pub struct Rig {
    pub stack: Deployed,
    pub queue: Arc<SqsQueue>,
    pub proxy: Proxy,
    otto: String,
    anna: String,
    run: u128,
    before: Vec<(String, Value)>,
}

impl Rig {
    /// Puts the proxy between the functions and the endpoint.
    pub async fn begin() -> Self {
        let stack = Deployed::find();
        let proxy = Proxy::start(&stack.endpoint).await;
        let mut before = Vec::new();
        for function in FUNCTIONS {
            let name = stack.function(function).await;
            let old = stack.variables(&name).await;
            let mut new = old.clone();
            for service in ["DYNAMODB", "SQS", "CLOUDWATCH"] {
                new[format!("AWS_ENDPOINT_URL_{service}")] = proxy.url.as_str().into();
            }
            // Letters here say their main queue themselves.
            new["DLO_DEFAULT_MAIN_QUEUE"] = "".into();
            stack.set_variables(&name, &new).await;
            before.push((name, old));
        }
        let queue = Arc::new(SqsQueue::new(&connect::to_endpoint(&stack.endpoint).await));
        let (otto, anna) = (variable("DLO_STACK_OPERATOR"), variable("DLO_STACK_APPROVER"));
        let run = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_millis();
        let rig = Self { stack, queue, proxy, otto, anna, run, before };
        rig.step_visibility(STEP_VISIBILITY_S).await;
        rig
    }

    /// The functions as they were.
    pub async fn end(&self) {
        self.step_visibility(360).await;
        for (name, variables) in &self.before {
            self.stack.set_variables(name, variables).await;
        }
    }

    /// The queue of steps.
    fn steps(&self) -> QueueArn {
        self.before[0].1["DLO_STEPS"].as_str().expect("the stack sets it").into()
    }

    async fn step_visibility(&self, seconds: u32) {
        let named = json!({ "QueueName": self.steps().name() });
        let found = self.stack.call("sqs", "AmazonSQS.GetQueueUrl", &named).await;
        let asked = json!({
            "QueueUrl": found["QueueUrl"], "Attributes": { "VisibilityTimeout": seconds.to_string() },
        });
        self.stack.call("sqs", "AmazonSQS.SetQueueAttributes", &asked).await;
    }

    /// Nothing waits on a queue, is held there, or is delayed.
    pub async fn is_empty(&self, queue: &QueueArn) -> bool {
        let now = self.queue.attributes(queue).await.expect("it exists");
        now.visible_count + now.in_flight_count + now.delayed_count == 0
    }

    /// All steps are done.
    pub async fn steps_are_done(&self) {
        until("all steps are done", async || self.is_empty(&self.steps()).await.then_some(())).await;
    }
}

/// Whether the consumer fails on a body.
type Fails = Box<dyn Fn(&str) -> bool + Send>;

/// The team's handler.
struct Service {
    error_type: String,
    fails: Mutex<Fails>,
    took: Mutex<Vec<String>>,
}

#[async_trait]
impl Handler for Service {
    async fn handle(&self, received: &Received) -> Result<(), Failure> {
        let body = &received.content.body;
        if (self.fails.lock().expect("no test panics in it"))(body) {
            return Err(Failure::permanent(&self.error_type, "it does not work yet"));
        }
        self.took.lock().expect("no test panics in it").push(body.clone());
        Ok(())
    }
}

/// One case.
pub struct Fixture {
    pub rig: Arc<Rig>,
    name: String,
    pub main: QueueArn,
    dlq: QueueArn,
    mapping: String,
    service: Arc<Service>,
    stop: watch::Sender<bool>,
}

impl Fixture {
    pub async fn new(rig: Arc<Rig>, case: &str) -> Self {
        let fifo = if case.starts_with("fifo") { ".fifo" } else { "" };
        let name = format!("{case}-{}", rig.run);
        let mut settings = vec![("VisibilityTimeout", VISIBILITY_S.to_string())];
        if !fifo.is_empty() {
            settings.push(("FifoQueue", "true".into()));
        }
        let dlq = rig.queue.create(&format!("{name}-dlq{fifo}"), &settings).await.expect("a queue");
        let policy = json!({ "deadLetterTargetArn": dlq.as_str(), "maxReceiveCount": 1 });
        settings.push(("RedrivePolicy", policy.to_string()));
        let main = rig.queue.create(&format!("{name}{fifo}"), &settings).await.expect("a queue");
        let asked = json!({
            "EventSourceArn": dlq.as_str(), "FunctionName": rig.stack.function("Intake").await, "BatchSize": 10,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
        });
        let mapped = rig.stack.lambda(Method::POST, "event-source-mappings/", Some(&asked)).await;
        let mapping = mapped["UUID"].as_str().expect("an id").to_owned();
        let service = Service {
            error_type: format!("faults::{case}"),
            fails: Mutex::new(Box::new(|_| true)),
            took: Mutex::default(),
        };
        let (stop, _) = watch::channel(false);
        Self { rig, name, main, dlq, mapping, service: Arc::new(service), stop }
    }

    /// Places orders that nobody takes yet; gives the letters that they will be. On a FIFO queue of three message
    /// groups.
    pub async fn place(&self, count: u64) -> Vec<LetterId> {
        let mut letters = Vec::new();
        for n in 0..count {
            let grouped = self.main.is_fifo();
            let content = Content {
                body: order(n),
                message_group_id: grouped.then(|| format!("lane-{}", n % 3)),
                ..Content::default()
            };
            let deduplication_id = grouped.then(|| n.to_string());
            let message = Outgoing { content, deduplication_id, ..Outgoing::default() };
            let sent = self.rig.queue.send_batch(&self.main, &[message]).await.expect("the queue answers");
            letters.extend(sent.into_iter().map(|id| LetterId::of(&self.main, &id.expect("it is taken"))));
        }
        letters
    }

    /// The consumer begins. It fails on everything until it is told otherwise.
    pub fn consume(&self) {
        let config = ConsumerConfig::new(self.main.clone(), "faults", || "v1".into());
        let config = ConsumerConfig { wait: domain::time::Span::from_secs(1), ..config };
        let consumer = Consumer::new(config, self.rig.queue.clone(), self.service.clone());
        tokio::spawn(consumer.run(self.stop.subscribe()));
    }

    /// From now on the consumer fails on these alone.
    pub fn fails_on(&self, fails: impl Fn(&str) -> bool + Send + 'static) {
        *self.service.fails.lock().expect("no test panics in it") = Box::new(fails);
    }

    /// What the consumer has taken, in order.
    pub fn took(&self) -> Vec<String> {
        self.service.took.lock().expect("no test panics in it").clone()
    }

    /// How often it has taken each.
    pub fn took_each(&self) -> BTreeMap<String, usize> {
        self.took().into_iter().fold(BTreeMap::new(), |mut times, body| {
            *times.entry(body).or_default() += 1;
            times
        })
    }

    pub async fn group(&self) -> Option<GroupRow> {
        let all: GroupsAnswer = self.rig.stack.get(&self.rig.otto, "/groups").await;
        let mut ours = all.groups.into_iter().filter(|row| row.queue == self.main.name());
        let group = ours.next();
        assert!(ours.next().is_none(), "one cause");
        group
    }

    /// So many letters of one group are counted, and never more.
    pub async fn counted(&self, letters: u64) -> GroupRow {
        until(&format!("{}: {letters} letters", self.name), async || {
            let group = self.group().await?;
            assert!(group.open.letters <= letters.cast_signed(), "{} are counted", group.open.letters);
            (group.open.letters == letters.cast_signed()).then_some(group)
        })
        .await
    }

    /// Dead letters of a consumer that works from now on.
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

    /// The same; what shall go wrong is armed before it starts.
    pub async fn replay_armed<T>(
        &self,
        group: &GroupId,
        options: Value,
        arm: impl FnOnce(&ReplayId) -> T,
    ) -> (ReplayId, T) {
        let (stack, otto) = (&self.rig.stack, &self.rig.otto);
        self.operator(&format!("/groups/{group}/fix"), json!({ "kind": "deploy", "reference": "v2" })).await;
        let plan = stack.done(otto, &format!("/groups/{group}/plan"), json!({ "options": options })).await;
        let plan: PlanView = serde_json::from_value(plan).expect("a plan");
        let armed = arm(&plan.plan.id);
        self.presses(&format!("/groups/{group}/approve"), json!({ "plan_hash": plan.hash })).await;
        (plan.plan.id, armed)
    }

    /// The approver presses a button behind the gate; the office is not asked to wait for quiet.
    pub async fn presses(&self, path: &str, mut ask: Value) {
        ask["reason"] = "tested".into();
        ask["waivers"] = json!([{ "condition": "quiet", "reason": "nothing else is here" }]);
        let (status, answer) = self.rig.stack.post(&self.rig.anna, path, ask).await;
        assert_eq!(status, StatusCode::OK, "{path}: {answer}");
    }

    /// What an operator does.
    pub async fn operator(&self, path: &str, ask: Value) {
        self.rig.stack.done(&self.rig.otto, path, ask).await;
    }

    /// A button of the operator's.
    pub async fn stops(&self, replay: &ReplayId, how: &str) {
        self.operator(&format!("/replays/{replay}/{how}"), json!({ "reason": "tested" })).await;
    }

    pub async fn view(&self, replay: &ReplayId) -> ReplayView {
        self.rig.stack.get(&self.rig.otto, &format!("/replays/{replay}")).await
    }

    /// The end of a replay whose chain of steps is cut: sweep starts it anew, here sooner than by its schedule.
    pub async fn finished_by_sweep(&self, replay: &ReplayId) -> WaveLedger {
        until(&format!("{}: the replay finishes", self.name), async || {
            let (failed, answer) = self.rig.stack.invoke("Sweep", &json!({})).await;
            assert!(!failed, "{answer}");
            let view = self.view(replay).await;
            view.replay.is_finished().then_some(view.total)
        })
        .await
    }

    /// The end of a replay that nothing stops.
    pub async fn finished(&self, replay: &ReplayId) -> WaveLedger {
        until(&format!("{}: the replay finishes", self.name), async || {
            let view = self.view(replay).await;
            assert!(!view.replay.is_paused(), "{:?}", view.replay.state);
            view.replay.is_finished().then_some(view.total)
        })
        .await
    }

    /// What meant a send to this case's main queue.
    pub fn is_send(&self) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
        let queue = format!("/{}\"", self.main.name());
        move |call| call.operation == "SendMessageBatch" && call.body.contains(&queue)
    }

    /// The sends to this case's main queue that functions have begun.
    pub fn sends(&self) -> Vec<Call> {
        self.rig.proxy.calls(self.is_send())
    }

    /// Hands the function a step of a replay, as the mapping of the queue of steps does.
    pub async fn step(&self, replay: &ReplayId) {
        let body = serde_json::to_string(&StepMessage { replay: replay.clone(), nudge: true }).expect("a step");
        let record = json!({ "messageId": "by-hand", "body": body, "eventSourceARN": "arn:aws:sqs:us-east-1:0:steps" });
        let (failed, answer) = self.rig.stack.invoke("Replay", &json!({ "Records": [record] })).await;
        assert!(!failed && answer == json!({ "batchItemFailures": [] }), "{answer}");
    }

    /// Kills the process that makes a call, and waits for its end.
    pub async fn kill_caller(&self, call: &Call) {
        let pid = process_at(call.port).expect("the caller is a process of this machine");
        let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "process {pid} is killed");
        until("the process is gone", async || process_at(call.port).is_none().then_some(())).await;
    }

    /// Whatever happened: counters are what the list of letters says, the ledger is what its entries say, and no queue
    /// has a message left.
    pub async fn ends_exactly(self, replay: Option<&ReplayId>, open: u64, delivered: u64) {
        for queue in [&self.main, &self.dlq] {
            let empty = async || self.rig.is_empty(queue).await.then_some(());
            until(&format!("{} is empty", queue.name()), empty).await;
        }
        let group = self.group().await.expect("the group");
        let counted = (group.open.letters, group.delivered);
        assert_eq!(counted, (open.cast_signed(), delivered.cast_signed()), "{}: open, delivered", self.name);
        let (stack, otto) = (&self.rig.stack, &self.rig.otto);
        let page: LettersPage = stack.get(otto, &format!("/groups/{}/letters?limit=200", group.id)).await;
        let done =
            page.letters.iter().filter(|letter| letter.state.kind() == LetterStateKind::Delivered).count() as u64;
        assert_eq!((page.letters.len() as u64 - done, done), (open, delivered), "{}: letters", self.name);
        if let Some(replay) = replay {
            let total = self.view(replay).await.total;
            let page: EntriesPage = stack.get(otto, &format!("/replays/{replay}/entries?limit=200")).await;
            for kind in OutcomeKind::ALL {
                let entries = page.entries.iter().filter(|row| row.entry.outcome.kind() == kind).count() as u64;
                assert_eq!(entries, total.get(kind), "{}: {kind:?}", self.name);
            }
            let twice = page.entries.iter().filter(|row| row.entry.sends > 1).count() as u64;
            assert_eq!(twice, total.sent_twice, "{}: sent twice", self.name);
        }
        let mapping = format!("event-source-mappings/{}", self.mapping);
        self.rig.stack.lambda(Method::DELETE, &mapping, None).await;
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        // The consumer ends, however the case did.
        self.stop.send_replace(true);
    }
}
