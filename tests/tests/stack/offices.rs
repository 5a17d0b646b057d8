//! Stacks beside each other: a second office in the same account and region, five queues attached to it with the script
//! of `dlo attach`, a deployment that fails, one that is changed, and a stack that is deleted and takes its letters back.
//!
//! The office of `cargo aws up` stands beside it all the time and notices nothing. MiniStack finishes every stack that it
//! accepts, whatever its queues and functions are: so the failing deployment has a resource that MiniStack refuses. It
//! takes every queue for FIFO where the template asks, so batches always have 10 letters.

use crate::cloud::Cloud;
use dlo_tests::deployed::{Deployed, until, variable};
use dlo_tests::processes;
use domain::id::QueueArn;
use domain::marker::FAILURE_ATTRIBUTE;
use domain::message::{Attribute, Content};
use domain::read::Stamp;
use harness::world::order;
use lambda::connect;
use lambda::queue::SqsQueue;
use libtest_mimic::Trial;
use local::attach::{Candidate, stack_name};
use queue::{Outgoing, Queue};
use serde_json::json;
use std::collections::BTreeSet;
use tokio::runtime::Runtime;
use wire::GroupsAnswer;

/// How many queues are attached. The last one is FIFO.
const ATTACHED: usize = 5;

/// The test.
pub fn trial(runtime: &'static Runtime) -> Trial {
    let name = "offices::two_offices_stand_side_by_side";
    crate::trial(runtime, name, two_offices_stand_side_by_side)
}

async fn two_offices_stand_side_by_side() {
    let offices = Offices::begin().await;
    let first_before = offices.first().await;
    offices.a_first_deployment_that_fails_loses_no_letter().await;
    offices.deploy(&[]);
    offices.resources_name_their_office();
    offices.attach();
    offices.letters_arrive_in_the_second_only().await;
    offices.an_attached_queue_is_switched_off_and_on().await;
    offices.a_detached_queue_keeps_its_letters().await;
    offices.it_moves_to_a_restored_table_and_comes_back_after_it_was_deleted().await;
    assert_eq!(offices.first().await, first_before, "the office beside them");
    offices.clean_up();
}

/// A main queue with its dead-letter queue.
struct Pair {
    main: QueueArn,
    dlq: QueueArn,
}

struct Offices {
    stack: Deployed,
    cloud: Cloud,
    queue: SqsQueue,
    anna: String,
    /// The second office's stack, and the beginning of the names of its queues.
    name: String,
    own: Pair,
    attached: Vec<Pair>,
}

impl Offices {
    async fn begin() -> Self {
        let stack = Deployed::find();
        let queue = SqsQueue::new(&connect::to_endpoint(&stack.endpoint).await);
        let name = format!("second-{}", processes::run());
        let own = pair(&queue, &name, "").await;
        let mut attached = Vec::new();
        for n in 1..=ATTACHED {
            let fifo = if n == ATTACHED { ".fifo" } else { "" };
            attached.push(pair(&queue, &format!("{name}-{n}"), fifo).await);
        }
        let cloud = Cloud::at(&stack.endpoint);
        Self { stack, cloud, queue, anna: variable("DLO_STACK_APPROVER"), name, own, attached }
    }

    /// The groups of the office that stood there before, as a person sees them: queues and open letters.
    async fn first(&self) -> BTreeSet<(String, i64)> {
        let all: GroupsAnswer = self.stack.get(&self.anna, "/groups").await;
        all.groups.into_iter().map(|group| (group.queue, group.open.letters)).collect()
    }

    /// Parameters of the second office. Its people are those of the first, by an issuer of its own choice.
    fn parameters(&self) -> Vec<String> {
        let mains =
            self.attached.iter().chain([&self.own]).map(|pair| pair.main.as_str()).collect::<Vec<_>>().join(",");
        vec![
            format!("DeadLetterQueueArn={}", self.own.dlq),
            format!("MainQueueArns={mains}"),
            format!("IssuerUrl={}", variable("DLO_STACK_ISSUER")),
            format!("ClientId={}", variable("DLO_STACK_CLIENT")),
            format!("DiscoveryUrl={}", variable("DLO_STACK_DISCOVERY")),
            "AttachedQueues=true".into(),
            "ApiConcurrency=0".into(),
            "SavedQueries=false".into(),
            "BatchingWindowSeconds=1".into(),
        ]
    }

    fn deploy(&self, more: &[String]) {
        let template = variable("DLO_STACK_TEMPLATE");
        self.cloud.deploy(&self.name, &template, &[self.parameters(), more.to_vec()].concat()).expect("it deploys");
    }

    /// A first deployment that fails keeps its table and its bucket, because its intake may have taken letters into them.
    /// The next deployment continues with them.
    async fn a_first_deployment_that_fails_loses_no_letter(&self) {
        let before = self.cloud.mappings();
        self.letter(&self.own, 0).await;
        let template = self.cloud.broken(&variable("DLO_STACK_TEMPLATE"));
        let name = format!("broken-{}", processes::run());
        let failed = self.cloud.deploy(&name, &template.to_string_lossy(), &self.parameters());
        std::fs::remove_file(&template).expect("the broken template");
        assert!(failed.is_err(), "a stack with a broken resource deploys");
        assert_eq!(self.cloud.status(&name), "ROLLBACK_COMPLETE");
        assert_eq!(self.cloud.mappings(), before, "no mapping is left");
        let left = self.cloud.left_by_rollback(&name);
        let (table, bucket) = (&left["Table"], &left["Contents"]);
        self.cloud.delete(&name);
        assert!(self.cloud.tables().contains(table) && self.cloud.buckets().contains(bucket), "{left:?}");
        // A name of its own, because the second office is deployed for the first time later.
        let existing = [format!("ExistingTable={table}"), format!("ExistingBucket={bucket}")];
        let parameters = [self.parameters(), existing.to_vec()].concat();
        self.cloud.deploy(&name, &variable("DLO_STACK_TEMPLATE"), &parameters).expect("it deploys");
        let expected = vec![(self.own.main.name().to_owned(), 1)];
        until("the letter of the failed deployment", async || {
            let open = self.open_in(&name).await;
            (open == expected).then_some(())
        })
        .await;
        self.cloud.delete(&name);
    }

    fn resources_name_their_office(&self) {
        let tagged = self.cloud.tagged(&self.name);
        let outputs = ["TableName", "IntakeFunctionArn", "AlertsTopic", "ReceiptsQueue"];
        for name in outputs.map(|key| self.cloud.output(&self.name, key)) {
            assert!(tagged.iter().any(|arn| arn.ends_with(&name)), "{name} is not among {tagged:?}");
        }
    }

    /// Runs the script that `dlo attach` prints. MiniStack cannot say which queues name a dead-letter queue, so the test
    /// says it.
    fn attach(&self) {
        for pair in &self.attached {
            let mains = vec![pair.main.clone()];
            let candidate = Candidate { queue: pair.dlq.clone(), mains, findings: Vec::new(), remarks: Vec::new() };
            let script = candidate.script(&self.cloud.url(&pair.dlq), &self.name).expect("plain names");
            self.cloud.sh(&script);
            assert_eq!(self.cloud.tag(&pair.dlq), format!("{}:watch", self.name));
            assert_eq!(self.cloud.tag(&pair.main), format!("{}:replay", self.name));
        }
        let alarms = self.cloud.alarms(&format!("dlo-attach-{}", self.name));
        assert_eq!(alarms.len(), 2 * ATTACHED, "two alarms for each queue, with a name of their own: {alarms:?}");
    }

    /// Puts a letter into a dead-letter queue, with an order of this number.
    async fn letter(&self, pair: &Pair, n: u64) {
        let stamp = Stamp {
            error_type: Some("offices::Closed".into()),
            message: Some("the office is closed".into()),
            main_queue: Some(pair.main.clone()),
            ..Stamp::default()
        };
        let attributes = [(FAILURE_ATTRIBUTE.to_owned(), Attribute::text(stamp.print()))];
        let grouped = pair.dlq.is_fifo();
        let content = Content {
            body: order(n),
            attributes: attributes.into(),
            message_group_id: grouped.then(|| "group".to_owned()),
            ..Content::default()
        };
        let message = Outgoing { content, deduplication_id: grouped.then(|| format!("{n}")), ..Outgoing::default() };
        let sent = self.queue.send_batch(&pair.dlq, &[message]).await.expect("the queue answers");
        assert!(sent.iter().all(Result::is_ok), "{sent:?}");
    }

    /// The open letters of each main queue in the second office.
    async fn second(&self) -> Vec<(String, i64)> {
        self.open_in(&self.name).await
    }

    /// The open letters of each main queue, as an office's API says it.
    async fn open_in(&self, office: &str) -> Vec<(String, i64)> {
        let host = self.cloud.output(office, "Dashboard");
        let host = host.trim_start_matches("https://").trim_end_matches('/');
        let all: GroupsAnswer = self.stack.at(host).get(&self.anna, "/groups").await;
        let mut open: Vec<_> = all.groups.into_iter().map(|group| (group.queue, group.open.letters)).collect();
        open.sort();
        open
    }

    /// Waits until the second office has so many open letters of each queue: first of its own, then of those attached.
    async fn has(&self, letters: [i64; ATTACHED + 1]) {
        let names = [&self.own].into_iter().chain(&self.attached).map(|pair| pair.main.name().to_owned());
        let mut expected: Vec<_> = names.zip(letters).filter(|(_, letters)| *letters > 0).collect();
        expected.sort();
        let total: i64 = letters.iter().sum();
        until(&format!("{total} letters in the second office"), async || {
            let open = self.second().await;
            let now: i64 = open.iter().map(|(_, letters)| letters).sum();
            assert!(now <= total, "more letters than were sent: {open:?}");
            (open == expected).then_some(())
        })
        .await;
    }

    async fn letters_arrive_in_the_second_only(&self) {
        for (n, pair) in (0..).zip([&self.own].into_iter().chain(&self.attached)) {
            self.letter(pair, n).await;
        }
        self.has([1; ATTACHED + 1]).await;
        // Metrics of two offices do not mix.
        let wanted = (ATTACHED + 1) as f64;
        let measured = async || {
            let now = self.cloud.metric_sum(&self.name, "NewGroups");
            assert!(now <= wanted, "{now} new groups");
            (now == wanted).then_some(())
        };
        until("one new group for each queue", measured).await;
    }

    /// A change of a stack's parameter reaches the mapping.
    async fn an_attached_queue_is_switched_off_and_on(&self) {
        let (off, other) = (&self.attached[0], &self.attached[1]);
        self.change(off, "IntakeEnabled=false");
        self.letter(off, 100).await;
        self.letter(other, 101).await;
        self.has([1, 1, 2, 1, 1, 1]).await;
        let waiting = self.queue.attributes(&off.dlq).await.expect("the queue exists");
        assert_eq!(waiting.visible_count, 1, "a queue that is switched off keeps its letters");
        self.change(off, "IntakeEnabled=true");
        self.has([1, 2, 2, 1, 1, 1]).await;
    }

    fn change(&self, pair: &Pair, parameter: &str) {
        let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../infra/attach.yaml");
        let intake = self.cloud.output(&self.name, "IntakeFunctionArn");
        let parameters =
            [format!("DeadLetterQueueArn={}", pair.dlq), format!("IntakeFunctionArn={intake}"), parameter.to_owned()];
        self.cloud.deploy(&stack_name(&pair.dlq), template, &parameters).expect("it changes");
        assert_eq!(self.cloud.status(&stack_name(&pair.dlq)), "UPDATE_COMPLETE");
    }

    async fn a_detached_queue_keeps_its_letters(&self) {
        let (gone, other) = (&self.attached[2], &self.attached[3]);
        self.cloud.delete(&stack_name(&gone.dlq));
        assert!(!self.cloud.mappings().iter().any(|queue| queue == gone.dlq.as_str()), "its mapping is gone");
        self.letter(gone, 102).await;
        self.letter(other, 103).await;
        self.has([1, 2, 2, 1, 2, 1]).await;
        let waiting = self.queue.attributes(&gone.dlq).await.expect("the queue exists");
        assert_eq!(waiting.visible_count, 1, "a queue that is detached keeps its letters");
    }

    /// Restores the second office's table and moves the running stack to it; then deletes the stack, and deploys it anew on
    /// the same table and bucket.
    async fn it_moves_to_a_restored_table_and_comes_back_after_it_was_deleted(&self) {
        let before = self.second().await;
        let (table, bucket) = (self.cloud.output(&self.name, "TableName"), self.cloud.output(&self.name, "BucketName"));
        let restored = self.cloud.restored(&table);
        let left = (self.cloud.tables(), self.cloud.buckets());
        assert!(left.0.contains(&table) && left.1.contains(&bucket), "{left:?}");
        let existing = [format!("ExistingTable={restored}"), format!("ExistingBucket={bucket}")];
        self.deploy(&existing);
        assert_eq!(self.cloud.output(&self.name, "TableName"), restored);
        assert_eq!(self.second().await, before, "the letters of the restored table");
        self.cloud.delete(&self.name);
        let kept = self.cloud.tagged(&self.name);
        assert!(matches!(kept.as_slice(), [only] if only.ends_with(&table)), "what the deleted stack left: {kept:?}");
        self.deploy(&existing);
        assert_eq!(self.second().await, before, "the letters that the deleted stack left");
        // It goes on where it stopped.
        self.letter(&self.own, 104).await;
        self.has([2, 2, 2, 1, 2, 1]).await;
        self.cloud.delete(&self.name);
        assert_eq!((self.cloud.tables(), self.cloud.buckets()), left, "nothing is created, and nothing deleted");
    }

    /// Removes the stacks of the attached queues. The queues, the table and the bucket go with the endpoint.
    fn clean_up(&self) {
        let left = self.attached.iter().enumerate().filter(|(n, _)| *n != 2);
        left.for_each(|(_, pair)| self.cloud.delete(&stack_name(&pair.dlq)));
        let of_second = |queue: &String| queue.contains(&self.name);
        assert!(!self.cloud.mappings().iter().any(of_second), "no mapping is left");
    }
}

async fn pair(queue: &SqsQueue, name: &str, fifo: &str) -> Pair {
    let kind = || if fifo.is_empty() { Vec::new() } else { vec![("FifoQueue", "true".to_owned())] };
    let dlq = queue.create(&format!("{name}-dlq{fifo}"), &kind()).await.expect("a queue");
    let redrive = json!({ "deadLetterTargetArn": dlq.as_str(), "maxReceiveCount": 1 }).to_string();
    let settings = [kind(), vec![("RedrivePolicy", redrive)]].concat();
    let main = queue.create(&format!("{name}{fifo}"), &settings).await.expect("a queue");
    Pair { main, dlq }
}
