//! Calls that the other cases do not cause, made without a fault so that `calls` records them.

use super::fixture::Fixture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::id::LetterId;
use domain::message::Content;
use lambda::store::BUCKET_FROM_BYTES;
use queue::{Outgoing, Queue};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Returns an order that no compression brings below the size from which content goes to the bucket.
fn large_order() -> String {
    let hashes = (0..=BUCKET_FROM_BYTES as u64 / 32).flat_map(|n| Sha256::digest(n.to_be_bytes()).to_vec());
    json!({ "type": "order.placed", "order_id": "ord_000001", "note": STANDARD.encode(hashes.collect::<Vec<_>>()) })
        .to_string()
}

/// A letter whose content lies in the bucket is kept, looked at, discarded, taken back and sent. A person asks for the
/// doctor, and `sweep` looks at who consumes the queues.
pub async fn rare_calls_are_made(fixture: Fixture) {
    let (deployed, body) = (&fixture.stack.deployed, large_order());
    let content = Content { body: body.clone(), ..Content::default() };
    let outgoing = Outgoing { content, ..Outgoing::default() };
    let sent = fixture.stack.queue.send_batch(&fixture.main, &[outgoing]).await.expect("the queue answers").remove(0);
    let letter = LetterId::from_message(&fixture.main, &sent.expect("the queue accepts it"));
    fixture.consume();
    let group = fixture.counted(1).await;
    fixture.fails_on(|_| false);
    let detail: Value = deployed.get(&fixture.stack.otto, &format!("/letters/{letter}")).await;
    assert!(detail.to_string().len() > BUCKET_FROM_BYTES, "the content comes from the bucket");

    let (anna, path) = (&fixture.stack.anna, format!("/groups/{}/discard", group.id));
    let preview = deployed.done(anna, &format!("{path}/preview"), json!({ "letters": [letter], "filter": {} })).await;
    let discard = json!({ "letters": [letter], "seen_at": preview["seen_at"], "reason": "test_data" });
    deployed.done(anna, &path, discard).await;
    deployed.done(anna, &format!("{path}/undo"), json!({ "letters": [letter], "reason": "tested" })).await;
    fixture.counted(1).await;

    let doctor: Value = deployed.get(&fixture.stack.otto, "/doctor").await;
    assert!(doctor.to_string().contains(fixture.main.name()), "{doctor}");
    let (failed, answer) = deployed.invoke("Sweep", &json!({})).await;
    assert!(!failed, "{answer}");

    let id = fixture.replay(&group.id, json!({})).await;
    assert_eq!(fixture.finished(&id).await.delivered, 1);
    assert_eq!(fixture.processed(), [body]);
    fixture.ends_exactly(Some(&id), 0, 1).await;
}
