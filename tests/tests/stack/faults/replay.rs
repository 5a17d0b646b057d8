//! Faults under a replay: each letter reaches its consumer, and the ledger says how often it may have been sent.

use super::proxy::{Call, Fault, Moment, Refusal};
use super::scene::Scene;
use dlo_tests::deployed::until;
use domain::id::ReplayId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::replay::{PauseReason, ReplayState};
use harness::world::number_of;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const LETTERS: u64 = 25;
const BATCH: u64 = BATCH_ENTRIES_MAX as u64;

/// All letters at once: the canary is the whole replay.
fn one_wave() -> Value {
    json!({ "canary_letters": LETTERS, "pace_per_s": 1_000 })
}

/// Commits of this replay.
fn commits(replay: &ReplayId) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let id = replay.as_str().to_owned();
    move |call| call.operation == "TransactWriteItems" && call.body.contains(&id)
}

/// Every letter is delivered, and its consumer got each once.
async fn delivers_each_once(scene: Scene, fault: Fault, times: u32) {
    let group = scene.dead(LETTERS).await;
    let arm = |id: &ReplayId| scene.rig.proxy.arm(fault, times, commits(id));
    let (id, mut armed) = scene.replay_armed(&group.id, one_wave(), arm).await;
    let total = scene.finished(&id).await;
    for _ in 0..times {
        assert!(armed.has_struck());
    }
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, 0));
    assert!(scene.took_each().values().all(|times| *times == 1));
    scene.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// More often than the SDK itself tries again.
pub async fn store_throttles(scene: Scene) {
    delivers_each_once(scene, Fault::Refuse(Refusal::Throttled), 6).await;
}

pub async fn store_conflicts(scene: Scene) {
    delivers_each_once(scene, Fault::Refuse(Refusal::Conflict), 6).await;
}

/// What was committed is asked for again, and not done twice.
pub async fn answers_of_commits_are_lost(scene: Scene) {
    delivers_each_once(scene, Fault::Cut(Moment::After), 6).await;
}

/// Every letter is delivered though a batch of ten was struck once, and how often it went out is counted.
async fn survives_a_send(scene: Scene, fault: Fault, sent_twice: u64, took_twice: u64) {
    let group = scene.dead(LETTERS).await;
    let mut armed = scene.rig.proxy.arm(fault, 1, scene.is_send());
    let id = scene.replay(&group.id, one_wave()).await;
    let total = scene.finished(&id).await;
    assert!(armed.has_struck());
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, sent_twice));
    is_taken(&scene, took_twice).await;
    scene.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// The consumer has each letter, and so many of them twice.
async fn is_taken(scene: &Scene, twice: u64) {
    let all = (LETTERS + twice) as usize;
    until("the consumer has taken them", async || (scene.took().len() >= all).then_some(())).await;
    let times = scene.took_each();
    assert_eq!(times.len() as u64, LETTERS);
    assert_eq!(times.values().filter(|times| **times == 2).count() as u64, twice);
    assert!(times.values().all(|times| *times < 3));
}

/// SQS did nothing, and says so: nothing is in doubt.
pub async fn send_is_refused(scene: Scene) {
    survives_a_send(scene, Fault::Refuse(Refusal::SqsThrottled), 0, 0).await;
}

/// The batch went out, and nobody knows.
pub async fn answer_of_a_send_is_lost(scene: Scene) {
    survives_a_send(scene, Fault::Cut(Moment::After), BATCH, BATCH).await;
}

/// The batch did not go out, and nobody knows.
pub async fn send_is_cut_off(scene: Scene) {
    survives_a_send(scene, Fault::Cut(Moment::Before), BATCH, 0).await;
}

/// The function dies while its second batch is on its way.
async fn killed(scene: Scene, moment: Moment, took_twice: u64) {
    let group = scene.dead(LETTERS).await;
    let mut first = scene.rig.proxy.arm(Fault::Hold(Moment::After), 1, scene.is_send());
    let id = scene.replay(&group.id, one_wave()).await;
    let sent = first.strikes().await;
    let mut second = scene.rig.proxy.arm(Fault::Hold(moment), 1, scene.is_send());
    sent.goes_on();
    let struck = second.strikes().await;
    let ledger = scene.view(&id).await.total;
    assert_eq!((ledger.in_flight, ledger.sending, ledger.pending), (BATCH, BATCH, LETTERS - 2 * BATCH), "in mid-wave");
    scene.kill_caller(&struck.call).await;
    // One that was held before is lost with its sender.
    drop(struck);
    let total = scene.finished_by_sweep(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, BATCH));
    is_taken(&scene, took_twice).await;
    scene.ends_exactly(Some(&id), 0, LETTERS).await;
}

pub async fn killed_before_a_send(scene: Scene) {
    killed(scene, Moment::Before, 0).await;
}

pub async fn killed_after_a_send(scene: Scene) {
    killed(scene, Moment::After, BATCH).await;
}

/// While one executor is held with a batch in hand, others get the same step: they send nothing.
pub async fn two_executors(scene: Scene) {
    let group = scene.dead(LETTERS).await;
    let mut armed = scene.rig.proxy.arm(Fault::Hold(Moment::Before), 1, scene.is_send());
    let id = scene.replay(&group.id, one_wave()).await;
    let struck = armed.strikes().await;
    tokio::join!(scene.step(&id), scene.step(&id));
    assert_eq!(scene.sends().len(), 1, "only the one that is held");
    struck.goes_on();
    let total = scene.finished(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, 0));
    is_taken(&scene, 0).await;
    assert_eq!(scene.sends().len() as u64, LETTERS.div_ceil(BATCH));
    scene.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// A pause is acknowledged while a batch is in hand: that one goes out, and nothing after it. Once more without a hand
/// on it, for the time from the acknowledgement to the last send.
pub async fn paused_in_a_wave(scene: Scene) {
    let group = scene.dead(LETTERS).await;
    let mut armed = scene.rig.proxy.arm(Fault::Hold(Moment::Before), 1, scene.is_send());
    let id = scene.replay(&group.id, json!({ "canary_letters": LETTERS, "pace_per_s": 10 })).await;
    let struck = armed.strikes().await;
    scene.stops(&id, "pause").await;
    struck.goes_on();
    is_at_rest(&scene, &id).await;
    assert_eq!(scene.sends().len(), 1, "what was in hand");
    assert_eq!(scene.view(&id).await.total.pending, LETTERS - BATCH);

    scene.presses(&format!("/replays/{id}/resume"), json!({})).await;
    until("it sends again", async || (scene.sends().len() > 1).then_some(())).await;
    scene.stops(&id, "pause").await;
    let acknowledged = Instant::now();
    is_at_rest(&scene, &id).await;
    let sends = scene.sends();
    let later: Vec<_> = sends.iter().filter(|call| call.at > acknowledged).collect();
    assert!(later.len() < 2, "{} sends after the pause", later.len());
    let late_ms = later.last().map_or(0, |call| call.at.duration_since(acknowledged).as_millis());
    println!("the last send began {late_ms} ms after the pause was acknowledged");
    let total = scene.view(&id).await.total;
    assert!(total.pending > 0 && total.sent_twice == 0, "{total:?}");
    scene.stops(&id, "abort").await;
    let total = scene.finished(&id).await;
    assert_eq!(total.delivered + total.skipped, LETTERS);
    scene.ends_exactly(Some(&id), total.skipped, total.delivered).await;
}

/// A paused replay with nothing on its way.
async fn is_at_rest(scene: &Scene, id: &ReplayId) {
    until("nothing is on its way", async || {
        let view = scene.view(id).await;
        (view.replay.is_paused() && view.total.sending + view.total.in_flight == 0).then_some(())
    })
    .await;
}

/// Six of the canary's ten come back.
pub async fn stops_when_60_pct_return(scene: Scene) {
    let group = scene.dead(LETTERS).await;
    let seen = AtomicU64::new(0);
    scene.fails_on(move |_| seen.fetch_add(1, Ordering::Relaxed) < 6);
    let id = scene.replay(&group.id, json!({ "canary_letters": 10, "pace_per_s": 1_000 })).await;
    until("it stops itself", async || scene.view(&id).await.replay.is_paused().then_some(())).await;
    let view = scene.view(&id).await;
    let ReplayState::Paused { why: PauseReason::TooManyReturned { returned, sent, .. }, .. } = view.replay.state else {
        panic!("{:?}", view.replay.state)
    };
    assert!(returned * 2 > sent && sent == 10, "{returned} of {sent}");
    is_at_rest(&scene, &id).await;
    let total = scene.view(&id).await.total;
    assert_eq!((total.delivered, total.returned, total.pending), (4, 6, LETTERS - 10));
    assert_eq!(scene.sends().len(), 1, "nothing but the canary was sent");
    scene.stops(&id, "abort").await;
    assert_eq!(scene.finished(&id).await.skipped, LETTERS - 10);
    scene.ends_exactly(Some(&id), LETTERS - 4, 4).await;
}

/// Three message groups, each in its order, one letter of each on its way at a time.
pub async fn keeps_the_order_of_message_groups(scene: Scene) {
    const IN_EACH: u64 = 3;
    let group = scene.dead(3 * IN_EACH).await;
    let id = scene.replay(&group.id, one_wave()).await;
    let total = scene.finished(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (3 * IN_EACH, 0));
    let took: Vec<u64> = scene.took().iter().map(|body| number_of(body)).collect();
    for lane in 0..3 {
        let order: Vec<u64> = took.iter().copied().filter(|n| n % 3 == lane).collect();
        assert_eq!(order, (0..IN_EACH).map(|n| lane + 3 * n).collect::<Vec<_>>());
    }
    assert!(scene.sends().len() as u64 >= IN_EACH, "one of each message group at a time");
    scene.ends_exactly(Some(&id), 0, 3 * IN_EACH).await;
}
