//! What may go wrong under the deployed office, one case at a time or several at once, each with queues of its own:
//! AWS refuses calls, answers are lost, functions are killed at a known call. No letter is lost or counted twice, and
//! what may have been sent twice is counted as that. `cargo aws up`, then `cargo aws test`.

mod fixture;
mod intake;
mod proxy;
mod replay;

use fixture::{Fixture, Rig};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, LocalSet};

type Case = fn(Fixture) -> Pin<Box<dyn Future<Output = ()>>>;

macro_rules! cases {
    ($($name:literal $case:path),* $(,)?) => { [$(($name, (|fixture| Box::pin($case(fixture))) as Case)),*] };
}

/// Cases at a time: more keep two cores busy with waiting for each other.
const AT_ONCE: usize = 6;

fn cases() -> Vec<(&'static str, Case)> {
    Vec::from(cases! {
        // Those that wait for a lease first.
        "replay-killed-before-a-send" replay::killed_before_a_send,
        "replay-killed-after-a-send" replay::killed_after_a_send,
        "replay-of-two-executors" replay::two_executors,
        "fifo-replay" replay::keeps_the_order_of_message_groups,
        "replay-paused" replay::paused_in_a_wave,
        "replay-of-which-60-pct-return" replay::stops_when_60_pct_return,
        "replay-whose-answer-is-lost" replay::answer_of_a_send_is_lost,
        "replay-cut-off" replay::send_is_cut_off,
        "replay-refused" replay::send_is_refused,
        "replay-throttled" replay::store_throttles,
        "replay-contended" replay::store_conflicts,
        "replay-unrecorded" replay::answers_of_commits_are_lost,
        "intake-killed" intake::killed_after_storing,
        "intake-throttled" intake::store_throttles,
        "intake-contended" intake::store_conflicts,
        "intake-unrecorded" intake::answers_of_commits_are_lost,
        "intake-unmeasured" intake::metrics_fail,
        "intake-refused" intake::store_takes_all_but_one,
    })
}

#[tokio::test]
async fn no_letter_is_lost_or_counted_twice_whatever_fails() {
    LocalSet::new().run_until(told()).await;
}

async fn told() {
    let rig = Arc::new(Rig::begin().await);
    let (room, mut running, mut names) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new(), HashMap::new());
    for (name, case) in cases() {
        let (rig, room) = (rig.clone(), room.clone());
        let task = running.spawn_local(async move {
            let _room = room.acquire_owned().await;
            let started = Instant::now();
            case(Fixture::new(rig, name).await).await;
            println!("{name}: {:.1} s", started.elapsed().as_secs_f64());
        });
        names.insert(task.id(), name);
    }
    let mut failed = Vec::new();
    while let Some(ended) = running.join_next().await {
        failed.extend(ended.err().map(|error| names[&error.id()]));
    }
    if failed.is_empty() {
        rig.steps_are_done().await;
    }
    rig.end().await;
    assert!(failed.is_empty(), "{failed:?} failed");
}
