//! A forger: messages that lie about themselves. It copies markers and stamps of real messages onto fresh orders, which
//! consumers that copy attributes do honestly, and names queues that letters must not be sent to.
//!
//! Every forged message is an order of its own, which must be processed or kept like any other. What it copies must
//! change no other letter and no ledger.

use super::fixture::Fixture;
use super::orders;
use domain::id::{MessageId, QueueArn};
use domain::limits::ATTRIBUTES_MAX;
use domain::marker::{FAILURE_ATTRIBUTE, MARKER_ATTRIBUTE};
use domain::message::Attribute;
use domain::read::Stamp;
use domain::reading::Class;
use queue::{Outgoing, Queue as _, Received};
use std::collections::{BTreeMap, BTreeSet};

/// The most message ids and markers that it remembers.
const SEEN_MAX: usize = 20;

/// What the forger has seen on the main queue.
#[derive(Default)]
pub(super) struct Forger {
    ids: Vec<MessageId>,
    markers: Vec<Attribute>,
    /// The orders of the messages whose ids it has seen.
    orders: BTreeMap<MessageId, u64>,
    /// Orders whose message id a forged letter claims.
    claimed: BTreeSet<u64>,
}

impl Forger {
    /// Remembers a message that the consumer received.
    pub fn saw(&mut self, message: &Received) {
        remember(&mut self.ids, message.message_id.clone());
        self.orders.extend(orders::number_of(&message.content.body).map(|n| (message.message_id.clone(), n)));
        if let Some(marker) = message.content.attributes.get(MARKER_ATTRIBUTE) {
            remember(&mut self.markers, marker.clone());
        }
    }
}

impl Forger {
    /// Returns whether a forged letter claims to be this order. Where its id is taken, each copy that its consumer
    /// dead-lettered is a letter of its own.
    pub fn claims(&self, order: u64) -> bool {
        self.claimed.contains(&order)
    }

    fn claim(&mut self, id: &MessageId) {
        self.claimed.extend(self.orders.get(id));
    }
}

fn remember<T>(seen: &mut Vec<T>, item: T) {
    if seen.len() == SEEN_MAX {
        seen.remove(0);
    }
    seen.push(item);
}

/// Sends a forged message to the dead-letter queue or to the main queue.
pub(super) async fn act(fixture: &mut Fixture) {
    let (n, mut content) = fixture.next_order();
    if content.attributes.len() + 2 > ATTRIBUTES_MAX {
        return fixture.place(1).await;
    }
    fixture.register(n, &content);
    let dead = fixture.chance.below(3) > 0;
    if !fixture.forger.markers.is_empty() && fixture.chance.below(4) > 0 {
        let at = fixture.chance.below(fixture.forger.markers.len());
        content.attributes.insert(MARKER_ATTRIBUTE.into(), fixture.forger.markers[at].clone());
    }
    if dead && fixture.chance.below(4) > 0 {
        let stamp = stamp(fixture);
        content.attributes.insert(FAILURE_ATTRIBUTE.into(), Attribute::text(stamp.print()));
    }
    let queue = if dead { fixture.dlq.clone() } else { fixture.main.clone() };
    let deduplication_id = queue.is_fifo().then(|| format!("forged-{n}"));
    let forged = Outgoing { content, deduplication_id, ..Outgoing::default() };
    let sent = fixture.queue.send_batch(&queue, &[forged]).await.expect("the queue");
    sent.into_iter().for_each(|sent| drop(sent.expect("a forged message is sent")));
}

fn stamp(fixture: &mut Fixture) -> Stamp {
    let id = match fixture.forger.ids.len() {
        0 => None,
        count => Some(fixture.forger.ids[fixture.chance.below(count)].clone()),
    };
    if let Some(id) = &id {
        fixture.forger.claim(id);
    }
    let others = [&fixture.steps, &fixture.receipts, &fixture.dlq].map(QueueArn::clone);
    let main_queue = match fixture.chance.below(8) {
        0..4 => Some(fixture.main.clone()),
        at @ 4..7 => Some(others[at - 4].clone()),
        _ => None,
    };
    Stamp {
        error_type: Some("orders::pricing::Overflow".into()),
        class: Some(if fixture.chance.below(2) == 0 { Class::Permanent } else { Class::Transient }),
        consumer: Some(orders::SERVICE.into()),
        original_message_id: id,
        main_queue,
        failed_at: Some(fixture.now()),
        ..Stamp::default()
    }
}
