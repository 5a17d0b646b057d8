//! Faults under intake: whatever happens, so many letters are counted as died, once each.

use super::proxy::{Call, Fault, Moment, Refusal};
use super::scene::Scene;
use domain::id::LetterId;

const LETTERS: u64 = 15;

/// Commits that keep one of these letters.
fn keeps(letters: &[LetterId]) -> impl Fn(&Call) -> bool + Send + Sync + 'static {
    let keys: Vec<String> = letters.iter().map(|id| format!("\"L#{id}\"")).collect();
    move |call| call.operation == "TransactWriteItems" && keys.iter().any(|key| call.body.contains(key))
}

/// Letters are counted though the store fails so often.
async fn survives(scene: Scene, fault: Fault, times: u32) {
    let letters = scene.place(LETTERS).await;
    let mut armed = scene.rig.proxy.arm(fault, times, keeps(&letters));
    scene.consume();
    scene.counted(LETTERS).await;
    for _ in 0..times {
        assert!(armed.has_struck());
    }
    scene.ends_exactly(None, LETTERS, 0).await;
}

/// More often than the SDK itself tries again.
pub async fn store_throttles(scene: Scene) {
    survives(scene, Fault::Refuse(Refusal::Throttled), 6).await;
}

pub async fn store_conflicts(scene: Scene) {
    survives(scene, Fault::Refuse(Refusal::Conflict), 4).await;
}

/// The letters are stored, and the function is not told: it asks again.
pub async fn answers_of_commits_are_lost(scene: Scene) {
    survives(scene, Fault::Cut(Moment::After), 2).await;
}

/// DynamoDB takes no commit with one of the letters: the others are kept, and it stays in its queue until it is taken.
pub async fn store_takes_all_but_one(scene: Scene) {
    let letters = scene.place(LETTERS).await;
    let mut armed = scene.rig.proxy.arm(Fault::Refuse(Refusal::Invalid), u32::MAX, keeps(&letters[7..8]));
    scene.consume();
    scene.counted(LETTERS - 1).await;
    armed.strikes().await;
    drop(armed);
    scene.counted(LETTERS).await;
    scene.ends_exactly(None, LETTERS, 0).await;
}

/// CloudWatch works for nobody while these letters die.
pub async fn metrics_fail(scene: Scene) {
    let is_meant = |call: &Call| call.operation == "PutMetricData";
    let mut armed = scene.rig.proxy.arm(Fault::Refuse(Refusal::Unavailable), u32::MAX, is_meant);
    scene.place(LETTERS).await;
    scene.consume();
    scene.counted(LETTERS).await;
    armed.strikes().await;
    drop(armed);
    scene.ends_exactly(None, LETTERS, 0).await;
}

/// The letters are stored, and the function dies before it answers: the same batch comes again.
pub async fn killed_after_storing(scene: Scene) {
    let letters = scene.place(LETTERS).await;
    let mut armed = scene.rig.proxy.arm(Fault::Hold(Moment::After), 1, keeps(&letters));
    scene.consume();
    let struck = armed.strikes().await;
    scene.kill_caller(&struck.call).await;
    struck.goes_on();
    scene.counted(LETTERS).await;
    scene.ends_exactly(None, LETTERS, 0).await;
}
