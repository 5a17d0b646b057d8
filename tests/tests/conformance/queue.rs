//! The queue conformance suite on the embedded queue, and tests that need an embedded queue: random walks beside a model,
//! concurrent callers, and a crash after any acknowledged call.

use dlo_tests::conformance::queue::embedded::{EmbeddedWorld, MovedClock};
use dlo_tests::conformance::queue::model::{Checked, Op};
use dlo_tests::conformance::queue::{self as suite, KINDS, Kind, QueueWorld, grouped, message};
use domain::id::QueueArn;
use domain::time::Span;
use local::queue::QueueSettings;
use local::sqlite::Opening;
use proptest::prelude::*;
use queue::{Outgoing, Queue};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

async fn embedded() -> EmbeddedWorld {
    EmbeddedWorld::in_memory()
}

dlo_tests::queue_conformance!(embedded);

fn op() -> impl Strategy<Value = Op> {
    let visibility = prop_oneof![Just(None), (0..60_i64).prop_map(Some)];
    prop_oneof![
        6 => (0..3_usize, 0..12_u8, prop_oneof![3 => Just(0), 1 => 0..60_i64])
            .prop_map(|(group, deduplication, delay_s)| Op::Send { group, deduplication, delay_s }),
        8 => (any::<bool>(), 1..=10_usize, visibility)
            .prop_map(|(dlq, max, visibility_s)| Op::Receive { dlq, max, visibility_s }),
        4 => any::<usize>().prop_map(|handle| Op::Delete { handle }),
        3 => (any::<usize>(), 0..90_i64).prop_map(|(handle, visibility_s)| Op::Hide { handle, visibility_s }),
        4 => (1..120_i64).prop_map(|seconds| Op::Pass { seconds }),
    ]
}

fn walk(kind: Kind, ops: &[Op]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let world = EmbeddedWorld::in_memory();
        let mut checked = Checked::new(&world, kind).await;
        for op in ops {
            checked.step(op).await;
        }
        checked.drain().await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn standard_queue_loses_nothing_and_has_one_holder(ops in prop::collection::vec(op(), 1..120)) {
        walk(Kind::Standard, &ops);
    }

    #[test]
    fn fifo_queue_loses_nothing_and_keeps_order(ops in prop::collection::vec(op(), 1..120)) {
        walk(Kind::Fifo, &ops);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_consumers_receive_each_message_once() {
    for kind in KINDS {
        let world = Arc::new(EmbeddedWorld::in_memory());
        let queue = world.make(kind, QueueSettings::default()).await;
        let remaining = Arc::new(AtomicUsize::new(400));
        let mut tasks = JoinSet::new();
        for producer in 0..4 {
            let (world, queue) = (world.clone(), queue.clone());
            tasks.spawn(async move {
                for number in 0..100 {
                    let mut message = message(kind, &format!("{producer}/{number}"));
                    message.content.message_group_id = Some(format!("group-{producer}"));
                    suite::send(&*world, &queue, message).await;
                }
                Vec::new()
            });
        }
        for _ in 0..6 {
            let (world, queue, remaining) = (world.clone(), queue.clone(), remaining.clone());
            tasks.spawn(async move { consume(&world, &queue, &remaining).await });
        }
        let taken: Vec<String> = tasks.join_all().await.concat();
        assert_eq!(taken.len(), 400, "{kind:?}");
        assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 400, "{kind:?}: each once");
    }
}

/// Receives and deletes until no message remains, or none has come for long.
async fn consume(world: &EmbeddedWorld, queue: &QueueArn, remaining: &AtomicUsize) -> Vec<String> {
    let mut taken = Vec::new();
    let mut quiet = 0;
    while remaining.load(Ordering::SeqCst) > 0 && quiet < 200 {
        let received = world.queues.receive(queue, 3, Span::from_ms(50), None).await.expect("answered");
        quiet = if received.is_empty() { quiet + 1 } else { 0 };
        for message in received {
            suite::delete(world, queue, &message).await;
            remaining.fetch_sub(1, Ordering::SeqCst);
            taken.push(message.content.body);
        }
    }
    taken
}

/// Copies the files as a killed process leaves them: never closed.
fn crash_copy(from: &Path, to: &Path) {
    for name in ["queues.db", "queues.db-wal"] {
        std::fs::copy(from.join(name), to.join(name)).expect("the files can be copied");
    }
}

async fn contents(world: &EmbeddedWorld) -> Vec<String> {
    let mut contents = Vec::new();
    for queue in world.queues.queues().await.expect("answered") {
        contents.push(format!("{queue} {:?}", world.queues.attributes(&queue).await.expect("it exists")));
        contents.push(format!("{:?}", world.queues.peek(&queue, 1000).await.expect("it exists")));
    }
    contents
}

#[tokio::test]
async fn crash_after_any_acknowledged_call_loses_nothing() {
    for kind in KINDS {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = MovedClock::default();
        let world = EmbeddedWorld::open(&folder.path().join("queues.db"), clock.clone()).expect("a new file");
        let dlq = world.make(kind, QueueSettings::default()).await;
        let main = world.make(kind, suite::hidden_s(30).dead_letters_to(&dlq, 1)).await;
        for round in 0..12 {
            let batch: Vec<Outgoing> =
                (0..3).map(|number| grouped(&format!("g{number}"), &format!("{round}-{number}"))).collect();
            let batch: Vec<Outgoing> = batch
                .into_iter()
                .map(|message| match kind {
                    Kind::Standard => Outgoing { deduplication_id: None, ..message },
                    Kind::Fifo => message,
                })
                .collect();
            world.queues.send_batch(&main, &batch).await.expect("answered");
            same_after_a_crash(&world, folder.path(), &clock).await;
            let received = suite::receive(&world, &main, 2).await;
            same_after_a_crash(&world, folder.path(), &clock).await;
            suite::delete(&world, &main, &received[0]).await;
            same_after_a_crash(&world, folder.path(), &clock).await;
            world.advance(Span::from_secs(10)).await;
        }
        let dead = world.queues.attributes(&dlq).await.expect("it exists");
        assert!(dead.visible_count > 0, "some messages moved before a crash");
    }
}

async fn same_after_a_crash(world: &EmbeddedWorld, folder: &Path, clock: &MovedClock) {
    let copy = tempfile::tempdir().expect("a folder");
    crash_copy(folder, copy.path());
    // A copy without the mark: nothing tells it from an incomplete one.
    let opening = Opening { accept_damage: true, ..Opening::default() };
    let path = copy.path().join("queues.db");
    let reopened = EmbeddedWorld::open_as(&path, clock.clone(), &opening).expect("it opens again");
    assert_eq!(contents(&reopened).await, contents(world).await);
}

#[tokio::test]
async fn reopened_file_continues_where_it_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("queues.db");
    let clock = MovedClock::default();
    let first = EmbeddedWorld::open(&path, clock.clone()).expect("a new file");
    let queue = first.make(Kind::Fifo, suite::hidden_s(60)).await;
    let sent = suite::send(&first, &queue, grouped("a", "kept")).await;
    let held = suite::receive_one(&first, &queue).await;
    drop(first);
    let second = EmbeddedWorld::open(&path, clock).expect("it opens again");
    suite::nothing(&second, &queue).await;
    assert_eq!(suite::send(&second, &queue, grouped("a", "kept")).await, sent, "duplicates are remembered");
    suite::delete(&second, &queue, &held).await;
    let next = suite::send(&second, &queue, grouped("a", "next")).await;
    assert_ne!(next, sent, "ids are never reused");
    assert_eq!(suite::receive_one(&second, &queue).await.message_id, next);
}
