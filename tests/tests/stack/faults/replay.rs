//! Faults under a replay: every letter reaches its consumer, and the ledger counts every possible double send.

use super::fixture::Fixture;
use super::proxy::{Call, Fault, Moment, Refusal};
use dlo_tests::deployed::until;
use domain::id::ReplayId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::replay::{PauseReason, ReplayState};
use harness::world::number_of;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const LETTERS: u64 = 30;
const BATCH: u64 = BATCH_ENTRIES_MAX as u64;

/// All letters in one wave, the canary, and in one hand: three batches at once.
fn one_hand() -> Value {
    json!({ "canary_letters": LETTERS, "pace_per_s": 1_000 })
}

/// All letters in one wave, one batch in hand.
fn batch_by_batch() -> Value {
    json!({ "canary_letters": LETTERS, "pace_per_s": BATCH })
}

/// All letters in one wave, one letter in a second: a request to pause has half a minute before the last of them is sent.
fn one_by_one() -> Value {
    json!({ "canary_letters": LETTERS, "pace_per_s": 1 })
}

/// Matches commits of this replay.
fn commits(replay: &ReplayId) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let id = replay.as_str().to_owned();
    move |call| call.operation == "TransactWriteItems" && call.body.contains(&id)
}

/// Every letter is delivered, and the consumer receives each once, although the next `times` commits fail.
async fn delivers_each_once(fixture: Fixture, fault: Fault, times: u32) {
    let group = fixture.dead(LETTERS).await;
    let arm = |id: &ReplayId| fixture.stack.proxy.arm(fault, times, commits(id));
    let (id, mut armed) = fixture.replay_armed(&group.id, one_hand(), arm).await;
    let total = fixture.finished(&id).await;
    for _ in 0..times {
        assert!(armed.has_struck());
    }
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, 0));
    assert!(fixture.processed_each().values().all(|times| *times == 1));
    fixture.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// More often than the SDK itself retries.
pub async fn store_throttles(fixture: Fixture) {
    delivers_each_once(fixture, Fault::Refuse(Refusal::Throttled), 6).await;
}

pub async fn store_conflicts(fixture: Fixture) {
    delivers_each_once(fixture, Fault::Refuse(Refusal::Conflict), 6).await;
}

/// The function retries commits that took effect; none takes effect twice.
pub async fn answers_of_commits_are_lost(fixture: Fixture) {
    delivers_each_once(fixture, Fault::Cut(Moment::After), 6).await;
}

/// Every letter is delivered although one batch of ten met a fault. `sent_twice` letters may have been sent twice, and
/// the consumer processes `processed_twice` letters twice.
async fn survives_a_send(fixture: Fixture, fault: Fault, sent_twice: u64, processed_twice: u64) {
    let group = fixture.dead(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(fault, 1, fixture.is_send());
    let id = fixture.replay(&group.id, one_hand()).await;
    let total = fixture.finished(&id).await;
    assert!(armed.has_struck());
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, sent_twice));
    all_are_processed(&fixture, processed_twice).await;
    fixture.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// Waits until the consumer has processed every letter, `twice` of them twice.
async fn all_are_processed(fixture: &Fixture, twice: u64) {
    let all = (LETTERS + twice) as usize;
    until("the consumer has processed every letter", async || (fixture.processed().len() >= all).then_some(())).await;
    let times = fixture.processed_each();
    assert_eq!(times.len() as u64, LETTERS);
    assert_eq!(times.values().filter(|times| **times == 2).count() as u64, twice);
    assert!(times.values().all(|times| *times < 3));
}

/// SQS refuses the batch: nothing was sent, and no entry is in doubt.
pub async fn send_is_refused(fixture: Fixture) {
    survives_a_send(fixture, Fault::Refuse(Refusal::SqsThrottled), 0, 0).await;
}

/// The batch was sent, but the function gets no answer.
pub async fn answer_of_a_send_is_lost(fixture: Fixture) {
    survives_a_send(fixture, Fault::Cut(Moment::After), BATCH, BATCH).await;
}

/// The batch was not sent, and the function gets no answer.
pub async fn send_is_cut_off(fixture: Fixture) {
    survives_a_send(fixture, Fault::Cut(Moment::Before), BATCH, 0).await;
}

/// The function is killed while it sends its second batch.
async fn killed(fixture: Fixture, moment: Moment, processed_twice: u64) {
    let group = fixture.dead(LETTERS).await;
    let mut first = fixture.stack.proxy.arm(Fault::Hold(Moment::After), 1, fixture.is_send());
    let id = fixture.replay(&group.id, batch_by_batch()).await;
    let sent = first.strikes().await;
    let mut second = fixture.stack.proxy.arm(Fault::Hold(moment), 1, fixture.is_send());
    sent.release();
    let struck = second.strikes().await;
    let ledger = fixture.view(&id).await.total;
    assert_eq!(
        (ledger.in_flight, ledger.sending, ledger.pending),
        (BATCH, BATCH, LETTERS - 2 * BATCH),
        "in the middle of the wave"
    );
    fixture.kill_caller(&struck.call).await;
    // A call held before it takes effect is lost with its sender.
    drop(struck);
    let total = fixture.finished_by_sweep(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, BATCH));
    all_are_processed(&fixture, processed_twice).await;
    fixture.ends_exactly(Some(&id), 0, LETTERS).await;
}

pub async fn killed_before_a_send(fixture: Fixture) {
    killed(fixture, Moment::Before, 0).await;
}

pub async fn killed_after_a_send(fixture: Fixture) {
    killed(fixture, Moment::After, BATCH).await;
}

/// The function is killed while one of the three batches in hand is held: all of them are in doubt, because their answers are
/// recorded together.
pub async fn killed_with_a_hand(fixture: Fixture) {
    let group = fixture.dead(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(Fault::Hold(Moment::After), 1, fixture.is_send());
    let id = fixture.replay(&group.id, one_hand()).await;
    let struck = armed.strikes().await;
    let all = (LETTERS / BATCH) as usize;
    until("every batch in hand is sent", async || (fixture.sends().len() == all).then_some(())).await;
    all_are_processed(&fixture, 0).await;
    let ledger = fixture.view(&id).await.total;
    assert_eq!((ledger.in_flight, ledger.sending, ledger.pending), (0, LETTERS, 0), "all in doubt");
    fixture.kill_caller(&struck.call).await;
    drop(struck);
    let total = fixture.finished_by_sweep(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, LETTERS));
    all_are_processed(&fixture, LETTERS).await;
    fixture.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// A pause is acknowledged while the letters in hand are sent: all of them go out, and nothing after them.
pub async fn paused_with_a_hand(fixture: Fixture) {
    let letters = LETTERS + 2 * BATCH;
    let group = fixture.dead(letters).await;
    let mut armed = fixture.stack.proxy.arm(Fault::Hold(Moment::Before), 1, fixture.is_send());
    let options = json!({ "canary_letters": letters, "pace_per_s": LETTERS });
    let id = fixture.replay(&group.id, options).await;
    let struck = armed.strikes().await;
    fixture.pause(&id).await;
    struck.release();
    is_idle(&fixture, &id).await;
    assert_eq!(fixture.sends().len() as u64, LETTERS / BATCH, "the batches in hand and no other");
    let total = fixture.view(&id).await.total;
    assert_eq!((total.delivered, total.pending), (LETTERS, letters - LETTERS));
    fixture.abort(&id).await;
    assert_eq!(fixture.finished(&id).await.skipped, letters - LETTERS);
    fixture.ends_exactly(Some(&id), letters - LETTERS, LETTERS).await;
}

/// While one executor is held in the middle of a send, two others get the same step and send nothing.
pub async fn two_executors(fixture: Fixture) {
    let group = fixture.dead(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(Fault::Hold(Moment::Before), 1, fixture.is_send());
    let id = fixture.replay(&group.id, batch_by_batch()).await;
    let struck = armed.strikes().await;
    tokio::join!(fixture.step(&id), fixture.step(&id));
    assert_eq!(fixture.sends().len(), 1, "only the held send");
    struck.release();
    let total = fixture.finished(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (LETTERS, 0));
    all_are_processed(&fixture, 0).await;
    assert_eq!(fixture.sends().len() as u64, LETTERS.div_ceil(BATCH));
    fixture.ends_exactly(Some(&id), 0, LETTERS).await;
}

/// A pause is acknowledged during a send: that letter is sent, and none after it. Then a second pause without a held
/// call, to measure the time from the acknowledgement to the last send.
pub async fn paused_in_a_wave(fixture: Fixture) {
    let group = fixture.dead(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(Fault::Hold(Moment::Before), 1, fixture.is_send());
    let id = fixture.replay(&group.id, one_by_one()).await;
    let struck = armed.strikes().await;
    fixture.pause(&id).await;
    struck.release();
    is_idle(&fixture, &id).await;
    assert_eq!(fixture.sends().len(), 1, "only the letter that was being sent");
    assert_eq!(fixture.view(&id).await.total.pending, LETTERS - 1);

    fixture.approver(&format!("/replays/{id}/resume"), json!({})).await;
    until("the replay sends again", async || (fixture.sends().len() > 1).then_some(())).await;
    fixture.pause(&id).await;
    let acknowledged = Instant::now();
    is_idle(&fixture, &id).await;
    let sends = fixture.sends();
    let later: Vec<_> = sends.iter().filter(|call| call.at > acknowledged).collect();
    assert!(later.len() < 2, "{} sends after the pause", later.len());
    let late_ms = later.last().map_or(0, |call| call.at.duration_since(acknowledged).as_millis());
    println!("the last send began {late_ms} ms after the pause was acknowledged");
    let total = fixture.view(&id).await.total;
    assert!(total.pending > 0 && total.sent_twice == 0, "{total:?}");
    fixture.abort(&id).await;
    let total = fixture.finished(&id).await;
    assert_eq!(total.delivered + total.skipped, LETTERS);
    fixture.ends_exactly(Some(&id), total.skipped, total.delivered).await;
}

/// Waits until a replay is paused and has no letter on its way.
async fn is_idle(fixture: &Fixture, id: &ReplayId) {
    until("no letter is on its way", async || {
        let view = fixture.view(id).await;
        assert!(!view.replay.is_finished(), "{id} has finished before it was paused: {:?}", view.total);
        (view.replay.is_paused() && view.total.sending + view.total.in_flight == 0).then_some(())
    })
    .await;
}

/// Six of the canary's ten letters return.
pub async fn pauses_when_60_pct_return(fixture: Fixture) {
    let group = fixture.dead(LETTERS).await;
    let seen = AtomicU64::new(0);
    fixture.fails_on(move |_| seen.fetch_add(1, Ordering::Relaxed) < 6);
    let options = json!({ "canary_letters": 10, "canary_pause_share_pct": 50, "pace_per_s": 1_000 });
    let id = fixture.replay(&group.id, options).await;
    until("the replay pauses itself", async || fixture.view(&id).await.replay.is_paused().then_some(())).await;
    let view = fixture.view(&id).await;
    let ReplayState::Paused { why: PauseReason::TooManyReturned { returned, sent, .. }, .. } = view.replay.state else {
        panic!("{:?}", view.replay.state)
    };
    assert!(returned * 2 > sent && sent == 10, "{returned} of {sent}");
    is_idle(&fixture, &id).await;
    let total = fixture.view(&id).await.total;
    assert_eq!((total.delivered, total.returned, total.pending), (4, 6, LETTERS - 10));
    assert_eq!(fixture.sends().len(), 1, "nothing but the canary was sent");
    fixture.abort(&id).await;
    assert_eq!(fixture.finished(&id).await.skipped, LETTERS - 10);
    fixture.ends_exactly(Some(&id), LETTERS - 4, 4).await;
}

/// Three message groups, each in its order, with one letter of each on its way at a time.
pub async fn keeps_the_order_of_message_groups(fixture: Fixture) {
    const IN_EACH: u64 = 3;
    let group = fixture.dead(3 * IN_EACH).await;
    let id = fixture.replay(&group.id, one_hand()).await;
    let total = fixture.finished(&id).await;
    assert_eq!((total.delivered, total.sent_twice), (3 * IN_EACH, 0));
    let processed: Vec<u64> = fixture.processed().iter().map(|body| number_of(body)).collect();
    for message_group in 0..3 {
        let order: Vec<u64> = processed.iter().copied().filter(|n| n % 3 == message_group).collect();
        assert_eq!(order, (0..IN_EACH).map(|n| message_group + 3 * n).collect::<Vec<_>>());
    }
    assert!(fixture.sends().len() as u64 >= IN_EACH, "one letter of each message group at a time");
    fixture.ends_exactly(Some(&id), 0, 3 * IN_EACH).await;
}
