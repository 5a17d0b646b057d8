//! Faults under intake: every letter is stored and counted exactly once.

use super::fixture::Fixture;
use super::proxy::{Call, Fault, Moment, Refusal};
use domain::id::LetterId;

const LETTERS: u64 = 15;

/// Matches commits that store one of these letters.
fn keeps(letters: &[LetterId]) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let keys: Vec<String> = letters.iter().map(|id| format!("\"L#{id}\"")).collect();
    move |call| call.operation == "TransactWriteItems" && keys.iter().any(|key| call.body.contains(key))
}

/// Every letter is counted once although the next `times` commits fail.
async fn survives(fixture: Fixture, fault: Fault, times: u32) {
    let letters = fixture.place(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(fault, times, keeps(&letters));
    fixture.consume();
    fixture.counted(LETTERS).await;
    for _ in 0..times {
        assert!(armed.has_struck());
    }
    fixture.ends_exactly(None, LETTERS, 0).await;
}

/// More often than the SDK itself retries.
pub async fn store_throttles(fixture: Fixture) {
    survives(fixture, Fault::Refuse(Refusal::Throttled), 6).await;
}

pub async fn store_conflicts(fixture: Fixture) {
    survives(fixture, Fault::Refuse(Refusal::Conflict), 4).await;
}

/// The letters are stored, but the function gets no answer and retries.
pub async fn answers_of_commits_are_lost(fixture: Fixture) {
    survives(fixture, Fault::Cut(Moment::After), 2).await;
}

/// DynamoDB refuses every commit with one of the letters. The others are stored; the refused one stays in its queue
/// until DynamoDB accepts it.
pub async fn store_refuses_one_letter(fixture: Fixture) {
    let letters = fixture.place(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(Fault::Refuse(Refusal::Invalid), u32::MAX, keeps(&letters[7..8]));
    fixture.consume();
    fixture.counted(LETTERS - 1).await;
    armed.strikes().await;
    drop(armed);
    fixture.counted(LETTERS).await;
    fixture.ends_exactly(None, LETTERS, 0).await;
}

/// CloudWatch is down while these letters arrive.
pub async fn metrics_fail(fixture: Fixture) {
    let is_metric = |call: &Call| call.operation == "PutMetricData";
    let mut armed = fixture.stack.proxy.arm(Fault::Refuse(Refusal::Unavailable), u32::MAX, is_metric);
    fixture.place(LETTERS).await;
    fixture.consume();
    fixture.counted(LETTERS).await;
    armed.strikes().await;
    drop(armed);
    fixture.ends_exactly(None, LETTERS, 0).await;
}

/// The function is killed after storing the letters and before it answers: it receives the same batch again.
pub async fn killed_after_storing(fixture: Fixture) {
    let letters = fixture.place(LETTERS).await;
    let mut armed = fixture.stack.proxy.arm(Fault::Hold(Moment::After), 1, keeps(&letters));
    fixture.consume();
    let struck = armed.strikes().await;
    fixture.kill_caller(&struck.call).await;
    struck.release();
    fixture.counted(LETTERS).await;
    fixture.ends_exactly(None, LETTERS, 0).await;
}
