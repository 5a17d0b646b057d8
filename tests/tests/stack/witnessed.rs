//! The whole way of a consumer that does not know the office: an ordinary Python function, started by
//! `dlo-witness run`, fails; SQS redrives its messages without a word; the deployed office has them as one group with the
//! error's type, message and stack. The function is mended, a fix is declared, and the witness confirms the replay.
//!
//! The office is one of its own. MiniStack names no function as the sender of a message, so this office must not know
//! which function consumes the queue: otherwise it would refuse the reports (`office::reports` has the case). MiniStack
//! hands over no main queue with a dead letter, so the office is given one.

mod function;

use crate::cloud::Cloud;
use dlo_tests::deployed::{Deployed, until, variable};
use dlo_tests::processes;
use domain::id::{GroupId, QueueArn, ReplayId};
use domain::message::Content;
use domain::report::ReportKind;
use function::Function;
use lambda::connect;
use lambda::queue::SqsQueue;
use libtest_mimic::Trial;
use queue::{Outgoing, Queue};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::runtime::Runtime;
use wire::{GroupAnswer, GroupsAnswer, PlanAnswer, ReplayAnswer};

/// Payments without a price. One batch, so that all fail before the first one is a dead letter.
const PAYMENTS: u64 = 3;
/// How often SQS delivers a message before it moves it.
const RECEIVES_MAX: u64 = 2;
/// Windows that nobody waits for: only receipts end them, however slow the machine is.
const POLICY: &str = r#"{"gate":{"quiet_ms":1000},"message_types":[{"message_type":"*","idempotent":true}],"replay":{"wave_delay_ms":1000,"wave_delay_ms_max":1000,"window_slack_ms":600000}}"#;

/// The test.
pub fn trial(runtime: &'static Runtime) -> Trial {
    let name = "witnessed::a_python_function_is_explained_and_its_replay_confirmed";
    crate::trial(runtime, name, a_python_function_is_explained_and_its_replay_confirmed)
}

async fn a_python_function_is_explained_and_its_replay_confirmed() {
    let way = Way::begin().await;
    way.fails().await;
    let group = way.is_explained().await;
    way.is_mended().await;
    let replay = way.replays(&group).await;
    way.is_confirmed(&replay).await;
    way.end().await;
}

struct Way {
    stack: Deployed,
    /// The API of the office that watches this function's dead-letter queue.
    office: Deployed,
    cloud: Cloud,
    queue: SqsQueue,
    function: Function,
    name: String,
    main: QueueArn,
    dlq: QueueArn,
    otto: String,
    anna: String,
}

impl Way {
    async fn begin() -> Self {
        let stack = Deployed::find();
        let queue = SqsQueue::new(&connect::to_endpoint(&stack.endpoint).await);
        let name = format!("witnessed-{}", processes::run());
        let dlq = queue.create(&format!("{name}-dlq"), &[]).await.expect("a queue");
        let redrive = json!({ "deadLetterTargetArn": dlq.as_str(), "maxReceiveCount": RECEIVES_MAX }).to_string();
        let settings = [("RedrivePolicy", redrive), ("VisibilityTimeout", "1".to_owned())];
        let main = queue.create(&name, &settings).await.expect("a queue");
        let cloud = Cloud::at(&stack.endpoint);
        deploy(&cloud, &name, &main, &dlq);
        let office = stack.at(cloud.output(&name, "Dashboard").trim_start_matches("https://").trim_end_matches('/'));
        let function = Function::create(&name, &cloud.output(&name, "ReceiptsQueueUrl")).await;
        let (otto, anna) = (variable("DLO_STACK_OPERATOR"), variable("DLO_STACK_APPROVER"));
        Self { stack, office, cloud, queue, function, name, main, dlq, otto, anna }
    }

    /// Payments without a price fail as often as SQS delivers them. The office has taken all reports before it takes the
    /// first letter: a report that comes later is another test's (`office::reports`).
    async fn fails(&self) {
        self.takes_letters(false).await;
        let payment = |n: u64| Outgoing {
            content: Content { body: json!({ "type": "payment", "payment": n }).to_string(), ..Content::default() },
            ..Outgoing::default()
        };
        let payments: Vec<_> = (0..PAYMENTS).map(payment).collect();
        let sent = self.queue.send_batch(&self.main, &payments).await.expect("the queue answers");
        assert!(sent.iter().all(Result::is_ok), "{sent:?}");
        self.function.consume(&self.main).await;
        let waiting = |queue| async move {
            let now = self.queue.attributes(queue).await.expect("the queue exists");
            (now.visible_count, now.in_flight_count)
        };
        until("all payments are dead", async || (waiting(&self.dlq).await == (PAYMENTS, 0)).then_some(())).await;
        let receipts = QueueArn::from(self.cloud.output(&self.name, "ReceiptsQueue").as_str());
        until("the reports are taken", async || (waiting(&receipts).await == (0, 0)).then_some(())).await;
        self.takes_letters(true).await;
    }

    /// Switches the mapping of the dead-letter queue on or off.
    async fn takes_letters(&self, enabled: bool) {
        let path = format!("event-source-mappings?EventSourceArn={}", self.dlq.as_str().replace(':', "%3A"));
        let found = self.stack.lambda(Method::GET, &path, None).await;
        let id = found["EventSourceMappings"][0]["UUID"].as_str().unwrap_or_else(|| panic!("no mapping: {found}"));
        let change = json!({ "Enabled": enabled });
        self.stack.lambda(Method::PUT, &format!("event-source-mappings/{id}"), Some(&change)).await;
    }

    /// All letters are one group, with the error as Python threw it.
    async fn is_explained(&self) -> GroupId {
        let row = until("the letters are kept", async || {
            let all: GroupsAnswer = self.office.get(&self.otto, "/groups").await;
            (all.summary.open_letters == PAYMENTS.cast_signed()).then_some(all.groups)
        })
        .await;
        let [row] = row.as_slice() else { panic!("one group: {row:?}") };
        assert_eq!((row.open.letters, row.queue.as_str()), (PAYMENTS.cast_signed(), self.main.name()));
        let group: GroupAnswer = self.office.get(&self.otto, &format!("/groups/{}", row.id)).await;
        assert_eq!(group.failure.error_type.as_deref(), Some("KeyError"), "{group:?}");
        assert_eq!(group.failure.message.as_deref(), Some("'price'"));
        let stack = group.failure.stack.unwrap_or_default();
        assert!(stack.contains("in charge") && stack.contains(r#"payment["price"]"#), "{stack}");
        let said = group.reported.expect("a report");
        assert_eq!((said.kind, said.by.rsplit(':').next()), (ReportKind::Error, Some(self.name.as_str())));
        assert!(said.reporter.is_some_and(|reporter| reporter.starts_with("witness/")));
        row.id.clone()
    }

    /// The function is mended. From now on a message is delivered once, however slowly the function starts.
    async fn is_mended(&self) {
        self.function.deploy("v2").await;
        let url = format!("$(aws sqs get-queue-url --queue-name '{}' --query QueueUrl --output text)", self.name);
        self.cloud
            .sh(&format!("aws sqs set-queue-attributes --queue-url \"{url}\" --attributes VisibilityTimeout=600"));
    }

    /// The fix is declared and approved.
    async fn replays(&self, group: &GroupId) -> ReplayId {
        let fix = json!({ "kind": "deploy", "reference": "v2" });
        self.office.done(&self.otto, &format!("/groups/{group}/fix"), fix).await;
        let plan = self.office.done(&self.otto, &format!("/groups/{group}/plan"), json!({})).await;
        let plan: PlanAnswer = serde_json::from_value(plan).expect("a plan");
        let request = json!({ "plan_hash": plan.hash, "reason": "tested", "waivers": [] });
        until("the gate opens", async || {
            let path = format!("/groups/{group}/approve");
            let (status, answer) = self.office.post(&self.anna, &path, request.clone()).await;
            assert!(status == StatusCode::OK || answer["code"] == "gate_closed", "{status}: {answer}");
            (status == StatusCode::OK).then_some(())
        })
        .await;
        plan.plan.id
    }

    /// Each letter is delivered because the witness confirmed it, not because it did not return.
    async fn is_confirmed(&self, replay: &ReplayId) {
        let total = until("the replay finishes", async || {
            let view: ReplayAnswer = self.office.get(&self.otto, &format!("/replays/{replay}")).await;
            assert!(!view.replay.is_paused(), "{:?}", view.replay.state);
            view.replay.is_finished().then_some(view.total)
        })
        .await;
        assert_eq!((total.delivered, total.confirmed, total.sent_twice), (PAYMENTS, PAYMENTS, 0), "{total:?}");
        let all: GroupsAnswer = self.office.get(&self.otto, "/groups").await;
        assert_eq!(all.summary.open_letters, 0);
    }

    /// Removes the function and the office. The queues and the table go with the endpoint.
    async fn end(self) {
        self.function.delete().await;
        self.cloud.delete(&self.name);
    }
}

/// Deploys the office.
fn deploy(cloud: &Cloud, name: &str, main: &QueueArn, dlq: &QueueArn) {
    let parameters = [
        format!("DeadLetterQueueArn={dlq}"),
        // Sweep looks at who consumes these queues.
        format!("MainQueueArns={main}-copy"),
        format!("DefaultMainQueueArn={main}"),
        format!("IssuerUrl={}", variable("DLO_STACK_ISSUER")),
        format!("ClientId={}", variable("DLO_STACK_CLIENT")),
        format!("DiscoveryUrl={}", variable("DLO_STACK_DISCOVERY")),
        "ApiConcurrency=0".into(),
        "SavedQueries=false".into(),
        "BatchingWindowSeconds=1".into(),
        format!("Policy=\"{}\"", POLICY.replace('"', "\\\"")),
    ];
    cloud.deploy(name, &variable("DLO_STACK_TEMPLATE"), &parameters).expect("it deploys");
}
