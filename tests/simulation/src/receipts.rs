//! Receipts of the consumer: in most stories it sends some, and they are lost, doubled, late and forged on their way.

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

/// The longest that a receipt is late, seconds: longer than any window.
const LATE_S_MAX: usize = 120;

fn receipt(fixture: &Fixture, message: &Received, marker: &Marker) -> Receipt {
    Receipt {
        v: RECEIPT_VERSION,
        marker: marker.print(),
        message_id: message.message_id.clone(),
        consumer: super::orders::SERVICE.into(),
        consumer_version: format!("v{}", fixture.version),
        processed_at: fixture.now(),
    }
}

fn marker_of(message: &Received) -> Option<Marker> {
    message.content.attributes.get(MARKER_ATTRIBUTE)?.as_text().and_then(Marker::parse)
}

/// The consumer has processed a message, and tells of it if a replay sent it.
pub(super) async fn tell(fixture: &mut Fixture, message: &Received) {
    let Some(marker) = marker_of(message).filter(|_| fixture.tells) else { return };
    fixture.checker.processed(&marker);
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

/// Somebody writes a receipt for a message that the consumer has failed on, and does not know all that it takes: which
/// attempt it was, or which message.
pub(super) async fn forge(fixture: &mut Fixture, message: &Received) {
    let Some(marker) = marker_of(message).filter(|_| fixture.tells && fixture.chance.below(4) == 0) else { return };
    if fixture.chance.below(2) == 0 {
        let forged = Marker { attempt: marker.attempt + 100, ..marker };
        let receipt = receipt(fixture, message, &forged);
        return send(fixture, &receipt, 0).await;
    }
    // Only as long as it is known which message the letter is. The office gets it at once: later it may not be.
    if fixture.checker.is_one_message(&marker) {
        let another = MessageId::new(format!("not-{}", message.message_id));
        let forged = Receipt { message_id: another.clone(), ..receipt(fixture, message, &marker) };
        let process = fixture.process();
        taken(&process, vec![(another, forged.print())]).await;
    }
}

async fn send(fixture: &Fixture, receipt: &Receipt, delay_s: i64) {
    let content = Content { body: receipt.print(), ..Content::default() };
    let outgoing = Outgoing { content, delay: Span::from_secs(delay_s), ..Outgoing::default() };
    let sent = fixture.queue.send_batch(&fixture.receipts, &[outgoing]).await.expect("the queue of receipts");
    sent.into_iter().for_each(|sent| drop(sent.expect("a receipt is sent")));
}

/// The office takes the receipts that are there: now and then two functions the same ones at once. Gives how many.
pub(super) async fn take(fixture: &mut Fixture) -> usize {
    let received =
        fixture.queue.receive(&fixture.receipts, BATCH_ENTRIES_MAX, Span::ZERO, None).await.unwrap_or_default();
    if received.is_empty() {
        return 0;
    }
    let messages: Vec<_> = received.iter().map(|r| (r.message_id.clone(), r.content.body.clone())).collect();
    let first = fixture.process();
    let failed = if fixture.chance.below(6) == 0 {
        let second = fixture.other(&first);
        tokio::join!(taken(&first, messages.clone()), taken(&second, messages)).0
    } else {
        taken(&first, messages).await
    };
    if let Some(failed) = failed {
        let taken = received.iter().filter(|receipt| !failed.contains(&receipt.message_id));
        let handles: Vec<_> = taken.map(|receipt| receipt.receipt_handle.clone()).collect();
        if !handles.is_empty() {
            let _ = fixture.queue.delete_batch(&fixture.receipts, &handles).await;
        }
    }
    received.len()
}

/// What comes again; none when the process died and has answered nothing.
async fn taken(process: &Process, messages: Vec<(MessageId, String)>) -> Option<BTreeSet<MessageId>> {
    let failed = take_receipts(&process.office, messages).await;
    (!process.faults.is_dead()).then(|| failed.into_iter().collect())
}
