//! A small model of a main queue and its dead-letter queue, which checks a real pair beside it.
//!
//! It does not predict which messages a receive returns. It checks that no receive loses a message, gives one message to
//! two consumers, breaks the order of a group, changes a message, or withholds a due message.

use super::embedded::EmbeddedWorld;
use super::*;
use std::collections::BTreeMap;

/// After this many receives, the next one moves a message.
pub const RECEIVES_MAX: u32 = 2;
/// The visibility timeout of the queues.
pub const VISIBILITY: Span = Span::from_secs(30);
const GROUPS: [&str; 3] = ["a", "b", "c"];

/// An operation on the queues. Indices are taken modulo the number of handles or groups.
#[derive(Clone, Debug)]
pub enum Op {
    /// Sends a message of a group; the same deduplication number within five minutes is a duplicate.
    Send { group: usize, deduplication: u8, delay_s: i64 },
    /// Receives from the main queue or the dead-letter queue.
    Receive { dlq: bool, max: usize, visibility_s: Option<i64> },
    /// Deletes by a handle from an earlier receive.
    Delete { handle: usize },
    /// Changes visibility by a handle from an earlier receive.
    Hide { handle: usize, visibility_s: i64 },
    /// Lets time pass.
    Pass { seconds: i64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Location {
    Main,
    Dead,
    Deleted,
}

#[derive(Debug)]
struct Known {
    outgoing: Outgoing,
    location: Location,
    order: usize,
    visible_at_s: i64,
    receives_here: u32,
    receive_count: u32,
}

#[derive(Clone, Debug)]
struct Given {
    id: MessageId,
    receipt_handle: String,
    receive_count: u32,
    location: Location,
}

/// The model beside the queues that it checks.
pub struct Checked<'a> {
    world: &'a EmbeddedWorld,
    kind: Kind,
    main: QueueArn,
    dlq: QueueArn,
    now_s: i64,
    /// Rises with each message and each move; orders the messages of a queue.
    orders: usize,
    known: BTreeMap<MessageId, Known>,
    given: Vec<Given>,
    duplicates: BTreeMap<String, (MessageId, i64)>,
}

impl<'a> Checked<'a> {
    /// Creates empty queues and an empty model.
    pub async fn new(world: &'a EmbeddedWorld, kind: Kind) -> Self {
        let dlq = world.make(kind, QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() }).await;
        let settings = QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() };
        let main = world.make(kind, settings.dead_letters_to(&dlq, RECEIVES_MAX)).await;
        let (known, given, duplicates) = Default::default();
        Self { world, kind, main, dlq, now_s: 0, orders: 0, known, given, duplicates }
    }

    /// Performs an operation and checks its result.
    pub async fn step(&mut self, op: &Op) {
        match *op {
            Op::Send { group, deduplication, delay_s } => self.send(group, deduplication, delay_s).await,
            Op::Receive { dlq, max, visibility_s } => {
                self.receive(dlq, max, visibility_s).await;
            }
            Op::Delete { handle } => self.delete(handle).await,
            Op::Hide { handle, visibility_s } => self.hide(handle, visibility_s).await,
            Op::Pass { seconds } => {
                self.world.advance(Span::from_secs(seconds)).await;
                self.now_s += seconds;
            }
        }
        let stored = self.known.values().filter(|known| known.location != Location::Deleted).count();
        let mut counted = 0;
        for queue in [&self.main, &self.dlq] {
            let now = self.world.port().attributes(queue).await.expect("it exists");
            counted += now.visible_count + now.in_flight_count + now.delayed_count;
        }
        assert_eq!(counted, stored as u64, "both queues together hold every message that was sent and not deleted");
    }

    /// Empties both queues: every message that was not deleted must come out once.
    pub async fn drain(&mut self) {
        // Each round removes at least the first message of every remaining group.
        for _ in 0..=self.known.len() {
            if self.known.values().all(|known| known.location == Location::Deleted) {
                return;
            }
            self.step(&Op::Pass { seconds: 1_000 }).await;
            for dlq in [false, true] {
                while self.receive(dlq, 10, Some(900)).await > 0 {
                    let last = self.given.len();
                    for handle in last.saturating_sub(10)..last {
                        self.delete(handle).await;
                    }
                }
            }
        }
        panic!("some messages never come out: {:?}", self.known);
    }

    async fn send(&mut self, group: usize, deduplication: u8, delay_s: i64) {
        self.orders += 1;
        let order = self.orders;
        let mut outgoing = grouped(GROUPS[group % GROUPS.len()], &format!("body {order}"));
        match self.kind {
            Kind::Standard => (outgoing.deduplication_id, outgoing.delay) = (None, Span::from_secs(delay_s)),
            Kind::Fifo => outgoing.deduplication_id = Some(deduplication.to_string()),
        }
        let id = send(self.world, &self.main, outgoing.clone()).await;
        if let Some(deduplication_id) = &outgoing.deduplication_id {
            let known = self.duplicates.get(deduplication_id).filter(|(_, sent_s)| self.now_s - sent_s < 300);
            if let Some((first, _)) = known {
                assert_eq!(id, *first, "a duplicate answers the first id");
                return;
            }
            self.duplicates.insert(deduplication_id.clone(), (id.clone(), self.now_s));
        }
        let visible_at_s = self.now_s + outgoing.delay.as_secs_up();
        let known =
            Known { outgoing, location: Location::Main, order, visible_at_s, receives_here: 0, receive_count: 0 };
        assert!(self.known.insert(id, known).is_none(), "ids are unique");
    }

    async fn receive(&mut self, dlq: bool, max: usize, visibility_s: Option<i64>) -> usize {
        let (location, queue) =
            if dlq { (Location::Dead, self.dlq.clone()) } else { (Location::Main, self.main.clone()) };
        let anything_due = self.anything_due(location);
        let visibility = visibility_s.map(Span::from_secs);
        let received =
            self.world.port().receive(&queue, max, Span::ZERO, visibility).await.expect("the receive is answered");
        assert!(received.len() <= max);
        if !dlq {
            self.record_moves().await;
        }
        assert!(!received.is_empty() || !anything_due, "a due message is returned");
        let until_s = self.now_s + visibility_s.unwrap_or(VISIBILITY.as_secs_up());
        for (index, message) in received.iter().enumerate() {
            self.accept(location, message, &received[..index], until_s);
        }
        received.len()
    }

    /// Checks one received message and records that it is in flight.
    fn accept(&mut self, location: Location, message: &Received, before: &[Received], until_s: i64) {
        let id = &message.message_id;
        assert!(before.iter().all(|other| other.message_id != *id), "a message comes once in one receive");
        if self.kind == Kind::Fifo {
            self.check_order(location, message, before);
        }
        let known = self.known.get_mut(id).expect("only sent messages are received");
        assert_eq!(known.location, location, "{known:?}");
        assert!(known.visible_at_s <= self.now_s, "it is in flight or delayed: {known:?}");
        assert!(location == Location::Dead || known.receives_here < RECEIVES_MAX, "{known:?}");
        assert_eq!(message.content, known.outgoing.content, "the content is unchanged");
        known.receive_count += 1;
        known.receives_here += 1;
        known.visible_at_s = until_s;
        assert_eq!(message.system.receive_count, Some(known.receive_count));
        assert_eq!(message.system.source_queue.is_some(), location == Location::Dead);
        self.given.push(Given {
            id: id.clone(),
            receipt_handle: message.receipt_handle.clone(),
            receive_count: known.receive_count,
            location,
        });
    }

    /// Every earlier message of the group that is still in the queue comes earlier in the same receive.
    fn check_order(&self, location: Location, message: &Received, before: &[Received]) {
        let this = &self.known[&message.message_id];
        let earlier = self.known.iter().filter(|(_, known)| {
            known.location == location
                && known.order < this.order
                && known.outgoing.content.message_group_id == this.outgoing.content.message_group_id
        });
        for (id, known) in earlier {
            assert!(before.iter().any(|other| other.message_id == *id), "{known:?} comes before {this:?}");
        }
    }

    /// Returns the messages of a queue in order, by group on FIFO queues and one by one on standard queues.
    fn message_groups(&self, location: Location) -> Vec<Vec<&Known>> {
        let mut message_groups: BTreeMap<(Option<&String>, usize), Vec<&Known>> = BTreeMap::new();
        let mut here: Vec<&Known> = self.known.values().filter(|known| known.location == location).collect();
        here.sort_by_key(|known| known.order);
        for known in here {
            let message_group = match self.kind {
                Kind::Standard => (None, known.order),
                Kind::Fifo => (known.outgoing.content.message_group_id.as_ref(), 0),
            };
            message_groups.entry(message_group).or_default().push(known);
        }
        message_groups.into_values().collect()
    }

    fn is_dead(&self, location: Location, known: &Known) -> bool {
        location == Location::Main && known.receives_here >= RECEIVES_MAX
    }

    fn anything_due(&self, location: Location) -> bool {
        let first = |message_group: Vec<&Known>| {
            let first = message_group
                .into_iter()
                .find(|known| known.visible_at_s > self.now_s || !self.is_dead(location, known));
            first.is_some_and(|known| known.visible_at_s <= self.now_s)
        };
        self.message_groups(location).into_iter().any(first)
    }

    /// Records the messages that a receive on the main queue has moved to the dead-letter queue.
    async fn record_moves(&mut self) {
        for moved in self.world.queues.peek(&self.dlq, usize::MAX).await.expect("it exists") {
            let known = self.known.get_mut(&moved.message_id).expect("only sent messages are moved");
            if known.location == Location::Main {
                assert!(known.receives_here >= RECEIVES_MAX && known.visible_at_s <= self.now_s, "{known:?}");
                self.orders += 1;
                (known.location, known.order) = (Location::Dead, self.orders);
                (known.visible_at_s, known.receives_here) = (self.now_s, 0);
            }
        }
    }

    async fn delete(&mut self, handle: usize) {
        let Some(given) = self.pick(handle) else { return };
        let queue = if given.location == Location::Dead { &self.dlq } else { &self.main };
        let deleted = self.world.port().delete_batch(queue, std::slice::from_ref(&given.receipt_handle)).await;
        let deleted = deleted.expect("the delete is answered").remove(0);
        let Some(known) = self.known.get_mut(&given.id) else { unreachable!("only known messages are received") };
        if known.location != given.location {
            assert_eq!(deleted, Ok(()), "it is already gone");
            return;
        }
        let current = known.receive_count == given.receive_count;
        match self.kind {
            Kind::Standard => assert_eq!(deleted, Ok(())),
            Kind::Fifo => assert_eq!(deleted.is_ok(), current && known.visible_at_s > self.now_s, "{known:?}"),
        }
        if deleted.is_ok() && current {
            known.location = Location::Deleted;
        }
    }

    async fn hide(&mut self, handle: usize, visibility_s: i64) {
        let Some(given) = self.pick(handle) else { return };
        let queue = if given.location == Location::Dead { &self.dlq } else { &self.main };
        let span = Span::from_secs(visibility_s);
        let changed = self.world.port().change_visibility(queue, &given.receipt_handle, span).await;
        let known = self.known.get_mut(&given.id).expect("only known messages are received");
        let held = known.location == given.location
            && known.receive_count == given.receive_count
            && known.visible_at_s > self.now_s;
        assert_eq!(changed.is_ok(), held, "{known:?}: {changed:?}");
        if held {
            known.visible_at_s = self.now_s + visibility_s;
        }
    }

    fn pick(&self, handle: usize) -> Option<Given> {
        (!self.given.is_empty()).then(|| self.given[handle % self.given.len()].clone())
    }
}
