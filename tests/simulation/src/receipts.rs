//! Receipts of the consumer. In most runs it sends some; they are lost, doubled, delayed and forged on their way. Reports
//! (`reports`) come on the same queue.

use super::fixture::{Fixture, Process};
use domain::id::MessageId;
use domain::limits::BATCH_ENTRIES_MAX;
use domain::marker::{MARKER_ATTRIBUTE, Marker};
use domain::message::Content;
use domain::replay::{RECEIPT_VERSION, Receipt};
use domain::time::Span;
use office::event;
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

/// Sends a receipt for a processed message with a marker.
pub(super) async fn send_for(fixture: &mut Fixture, message: &Received) {
    let Some(marker) = marker_of(message).filter(|_| fixture.sends_receipts) else { return };
    // A consumer that copied the marker to another message confirms that one. While no message id is known, the office
    // believes it (docs/security.md), so it is not told.
    if !fixture.checker.processed(message) && !fixture.checker.is_answered(&marker) {
        return;
    }
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
        handed(&process, vec![(another, forged.print())]).await;
    }
}

async fn send(fixture: &Fixture, receipt: &Receipt, delay_s: i64) {
    let content = Content { body: receipt.print(), ..Content::default() };
    let outgoing = Outgoing { content, delay: Span::from_secs(delay_s), ..Outgoing::default() };
    let sent = fixture.queue.send_batch(&fixture.receipts, &[outgoing]).await.expect("the queue of receipts");
    sent.into_iter().for_each(|sent| drop(sent.expect("a receipt is sent")));
}

/// Runs the handler of receipts and reports on the visible ones; sometimes in two functions at once. Returns how many
/// there were.
pub(super) async fn handle(fixture: &mut Fixture) -> usize {
    let received =
        fixture.queue.receive(&fixture.receipts, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap_or_default();
    if received.is_empty() {
        return 0;
    }
    let mut messages = received.clone();
    for message in &mut messages {
        message.system.sender_id = Some(fixture.reporter.sender(&message.message_id).into());
    }
    let first = fixture.process();
    let failed = if fixture.chance.below(6) == 0 {
        let second = fixture.other(&first);
        tokio::join!(taken(&first, messages.clone()), taken(&second, messages)).0
    } else {
        taken(&first, messages).await
    };
    if let Some(failed) = failed {
        // The queue's redrive policy takes away what never counts; what the office could not read comes again.
        let is_done = |message: &&Received| {
            !failed.contains(&message.message_id) || fixture.reporter.is_strange(&message.message_id)
        };
        let handles: Vec<_> = received.iter().filter(is_done).map(|message| message.receipt_handle.clone()).collect();
        if !handles.is_empty() {
            let _ = fixture.queue.delete_batch(&fixture.receipts, &handles).await;
        }
    }
    received.len()
}

/// Handles messages of the receipts queue. Returns the failed ones; `None` if the process died and did not answer.
async fn taken(process: &Process, messages: Vec<Received>) -> Option<BTreeSet<MessageId>> {
    let failed = event::receipts(&process.office, messages).await;
    (!process.faults.is_dead()).then(|| failed.into_iter().collect())
}

/// Hands receipts to the office directly.
async fn handed(process: &Process, receipts: Vec<(MessageId, String)>) {
    take_receipts(&process.office, receipts).await;
}
