//! Receipts of the consumer. In most runs it sends some; they are lost, doubled, delayed and forged on their way.

use super::fixture::{Fixture, Process};
use domain::id::MessageId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::Content;
use domain::replay::{RECEIPT_VERSION, Receipt};
use domain::time::Span;
use office::replay::take_receipts;
use queue::{Outgoing, Queue as _, Received};
use std::collections::BTreeSet;

/// The longest delay of a receipt in seconds: longer than any window.
const LATE_S_MAX: usize = 120;

fn receipt(fixture: &Fixture, message: &Received, marker: &Marker) -> Receipt {
    Receipt {
        v: RECEIPT_VERSION,
        marker: marker.print(),
        message_id: message.message_id.clone(),
        consumer: super::orders::SERVICE.into(),
        consumer_version: format!("v{}", fixture.version),
        processed_at: fixture.now(),
        idempotent: false,
    }
}

fn marker_of(message: &Received) -> Option<Marker> {
    message.content.attributes.get(MARKER_ATTRIBUTE)?.as_text().and_then(Marker::parse)
}

/// Sends a receipt for a processed message if a replay sent it.
pub(super) async fn send_for(fixture: &mut Fixture, message: &Received) {
    let Some(marker) = marker_of(message).filter(|_| fixture.sends_receipts) else { return };
    fixture.checker.processed(message);
    let receipt = receipt(fixture, message, &marker);
    match fixture.chance.below(10) {
        0 => {}
        1 => {
            send(fixture, &receipt, 0).await;
            send(fixture, &receipt, 0).await;
        }
        2 | 3 => {
            let delay_s = fixture.chance.below(LATE_S_MAX) as i64;
            send(fixture, &receipt, delay_s).await;
        }
        _ => send(fixture, &receipt, 0).await,
    }
}

/// Forges a receipt for a message that the consumer failed on, with a wrong attempt or a wrong message id.
pub(super) async fn forge(fixture: &mut Fixture, message: &Received) {
    let Some(marker) = marker_of(message).filter(|_| fixture.sends_receipts && fixture.chance.below(4) == 0) else {
        return;
    };
    if fixture.chance.below(2) == 0 {
        let forged = Marker { attempt: marker.attempt + 100, ..marker };
        let receipt = receipt(fixture, message, &forged);
        return send(fixture, &receipt, 0).await;
    }
    // Only while the message id of the entry is known, so the office gets the receipt at once.
    if fixture.checker.is_one_message(&marker) {
        let another = MessageId::new(format!("not-{}", message.message_id));
        let forged = Receipt { message_id: another.clone(), ..receipt(fixture, message, &marker) };
        let process = fixture.process();
        failed(&process, vec![(another, forged.print())]).await;
    }
}

async fn send(fixture: &Fixture, receipt: &Receipt, delay_s: i64) {
    let content = Content { body: receipt.print(), ..Content::default() };
    let outgoing = Outgoing { content, delay: Span::from_secs(delay_s), ..Outgoing::default() };
    let sent = fixture.queue.send_batch(&fixture.receipts, &[outgoing]).await.expect("the queue of receipts");
    sent.into_iter().for_each(|sent| drop(sent.expect("a receipt is sent")));
}

/// Runs the handler of receipts on the visible ones; sometimes in two functions at once. Returns how many there were.
pub(super) async fn handle(fixture: &mut Fixture) -> usize {
    let received =
        fixture.queue.receive(&fixture.receipts, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap_or_default();
    if received.is_empty() {
        return 0;
    }
    let messages: Vec<_> = received.iter().map(|r| (r.message_id.clone(), r.content.body.clone())).collect();
    let first = fixture.process();
    let failed = if fixture.chance.below(6) == 0 {
        let second = fixture.other(&first);
        tokio::join!(failed(&first, messages.clone()), failed(&second, messages)).0
    } else {
        failed(&first, messages).await
    };
    if let Some(failed) = failed {
        let handled = received.iter().filter(|receipt| !failed.contains(&receipt.message_id));
        let handles: Vec<_> = handled.map(|receipt| receipt.receipt_handle.clone()).collect();
        if !handles.is_empty() {
            let _ = fixture.queue.delete_batch(&fixture.receipts, &handles).await;
        }
    }
    received.len()
}

/// Returns the failed messages; `None` if the process died and did not answer.
async fn failed(process: &Process, messages: Vec<(MessageId, String)>) -> Option<BTreeSet<MessageId>> {
    let failed = take_receipts(&process.office, messages).await;
    (!process.faults.is_dead()).then(|| failed.into_iter().collect())
}
