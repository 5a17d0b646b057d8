//! Faults under intake: whatever happens, so many letters are counted as died, once each.

use super::fixture::Fixture;
use super::proxy::{Call, Fault, Moment, Refusal};
use domain::id::LetterId;

const LETTERS: u64 = 15;

/// Commits that keep one of these letters.
fn keeps(letters: &[LetterId]) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let keys: Vec<String> = letters.iter().map(|id| format!("\"L#{id}\"")).collect();
    move |call| call.operation == "TransactWriteItems" && keys.iter().any(|key| call.body.contains(key))
}

/// Letters are counted though the store fails so often.
async fn survives(fixture: Fixture, fault: Fault, times: u32) {
    let letters = fixture.place(LETTERS).await;
    let mut armed = fixture.rig.proxy.arm(fault, times, keeps(&letters));
    fixture.consume();
    fixture.counted(LETTERS).await;
    for _ in 0..times {
        assert!(armed.has_struck());
    }
    fixture.ends_exactly(None, LETTERS, 0).await;
}

/// More often than the SDK itself tries again.
pub async fn store_throttles(fixture: Fixture) {
    survives(fixture, Fault::Refuse(Refusal::Throttled), 6).await;
}

pub async fn store_conflicts(fixture: Fixture) {
    survives(fixture, Fault::Refuse(Refusal::Conflict), 4).await;
}

/// The letters are stored, and the function is not told: it asks again.
pub async fn answers_of_commits_are_lost(fixture: Fixture) {
    survives(fixture, Fault::Cut(Moment::After), 2).await;
}

/// DynamoDB takes no commit with one of the letters: the others are kept, and it stays in its queue until it is taken.
pub async fn store_takes_all_but_one(fixture: Fixture) {
    let letters = fixture.place(LETTERS).await;
    let mut armed = fixture.rig.proxy.arm(Fault::Refuse(Refusal::Invalid), u32::MAX, keeps(&letters[7..8]));
    fixture.consume();
    fixture.counted(LETTERS - 1).await;
    armed.strikes().await;
    drop(armed);
    fixture.counted(LETTERS).await;
    fixture.ends_exactly(None, LETTERS, 0).await;
}

/// CloudWatch works for nobody while these letters die.
pub async fn metrics_fail(fixture: Fixture) {
    let is_meant = |call: &Call| call.operation == "PutMetricData";
    let mut armed = fixture.rig.proxy.arm(Fault::Refuse(Refusal::Unavailable), u32::MAX, is_meant);
    fixture.place(LETTERS).await;
    fixture.consume();
    fixture.counted(LETTERS).await;
    armed.strikes().await;
    drop(armed);
    fixture.ends_exactly(None, LETTERS, 0).await;
}

/// The letters are stored, and the function dies before it answers: the same batch comes again.
pub async fn killed_after_storing(fixture: Fixture) {
    let letters = fixture.place(LETTERS).await;
    let mut armed = fixture.rig.proxy.arm(Fault::Hold(Moment::After), 1, keeps(&letters));
    fixture.consume();
    let struck = armed.strikes().await;
    fixture.kill_caller(&struck.call).await;
    struck.goes_on();
    fixture.counted(LETTERS).await;
    fixture.ends_exactly(None, LETTERS, 0).await;
}
