//! A tiny model of two queues, a main queue and its dead-letter queue, that watches what a real pair does.
//!
//! It does not foretell which messages a receive gives, only what no receive may ever do: lose a message, hand one to
//! two holders, break the order of a group, change what was sent, or keep back what is due.

use super::embedded::EmbeddedWorld;
use super::*;
use std::collections::BTreeMap;

/// After so many receives the next one moves a message.
pub const RECEIVES_MAX: u32 = 2;
/// How long a received message stays invisible unless asked otherwise.
pub const VISIBILITY: Span = Span::from_secs(30);
const GROUPS: [&str; 3] = ["a", "b", "c"];

/// One thing done to the queues; indices are taken modulo what there is.
#[derive(Clone, Debug)]
pub enum Op {
    /// Sends a message of a group; the same deduplication number within five minutes is a duplicate.
    Send { group: usize, deduplication: u8, delay_s: i64 },
    /// Receives from the main queue or the dead-letter queue.
    Receive { dlq: bool, max: usize, visibility_s: Option<i64> },
    /// Deletes by a handle that was once given.
    Delete { handle: usize },
    /// Changes visibility by a handle that was once given.
    Hide { handle: usize, visibility_s: i64 },
    /// Lets time pass.
    Pass { seconds: i64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Main,
    Dead,
    Deleted,
}

#[derive(Debug)]
struct Known {
    outgoing: Outgoing,
    place: Place,
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
    place: Place,
}

/// The model beside the queues it watches.
pub struct Watched<'a> {
    world: &'a EmbeddedWorld,
    kind: Kind,
    main: QueueArn,
    dlq: QueueArn,
    now_s: i64,
    /// Rises with each message and each move: what orders the messages of a queue.
    orders: usize,
    known: BTreeMap<MessageId, Known>,
    given: Vec<Given>,
    duplicates: BTreeMap<String, (MessageId, i64)>,
}

impl<'a> Watched<'a> {
    /// Fresh queues and an empty model.
    pub async fn new(world: &'a EmbeddedWorld, kind: Kind) -> Self {
        let dlq = world.make(kind, QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() }).await;
        let settings = QueueSettings { visibility_timeout: VISIBILITY, ..QueueSettings::default() };
        let main = world.make(kind, settings.dead_letters_to(&dlq, RECEIVES_MAX)).await;
        let (known, given, duplicates) = Default::default();
        Self { world, kind, main, dlq, now_s: 0, orders: 0, known, given, duplicates }
    }

    /// Does one thing and checks what came of it.
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
        let stored = self.known.values().filter(|known| known.place != Place::Deleted).count();
        let mut counted = 0;
        for queue in [&self.main, &self.dlq] {
            let is = self.world.port().attributes(queue).await.expect("it exists");
            counted += is.visible_count + is.in_flight_count + is.delayed_count;
        }
        assert_eq!(counted, stored as u64, "both queues together hold what was sent and not deleted");
    }

    /// Empties both queues: everything that was not deleted comes out, once.
    pub async fn drain(&mut self) {
        // Each round takes at least the first of every group that is left.
        for _ in 0..=self.known.len() {
            if self.known.values().all(|known| known.place == Place::Deleted) {
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
        panic!("not everything comes out: {:?}", self.known);
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
        let known = Known { outgoing, place: Place::Main, order, visible_at_s, receives_here: 0, receive_count: 0 };
        assert!(self.known.insert(id, known).is_none(), "an id is given once");
    }

    async fn receive(&mut self, dlq: bool, max: usize, visibility_s: Option<i64>) -> usize {
        let (place, queue) = if dlq { (Place::Dead, self.dlq.clone()) } else { (Place::Main, self.main.clone()) };
        let anything_due = self.anything_due(place);
        let visibility = visibility_s.map(Span::from_secs);
        let received =
            self.world.port().receive(&queue, max, Span::ZERO, visibility).await.expect("the receive is answered");
        assert!(received.len() <= max);
        if !dlq {
            self.bury().await;
        }
        assert!(!received.is_empty() || !anything_due, "what is due is given");
        let until_s = self.now_s + visibility_s.unwrap_or(VISIBILITY.as_secs_up());
        for (index, message) in received.iter().enumerate() {
            self.accept(place, message, &received[..index], until_s);
        }
        received.len()
    }

    /// Checks one received message and notes that it is held.
    fn accept(&mut self, place: Place, message: &Received, before: &[Received], until_s: i64) {
        let id = &message.message_id;
        assert!(before.iter().all(|other| other.message_id != *id), "a message comes once in one receive");
        if self.kind == Kind::Fifo {
            self.check_order(place, message, before);
        }
        let known = self.known.get_mut(id).expect("only what was sent is received");
        assert_eq!(known.place, place, "{known:?}");
        assert!(known.visible_at_s <= self.now_s, "somebody holds it, or it is delayed: {known:?}");
        assert!(place == Place::Dead || known.receives_here < RECEIVES_MAX, "{known:?}");
        assert_eq!(message.content, known.outgoing.content, "it comes as it was sent");
        known.receive_count += 1;
        known.receives_here += 1;
        known.visible_at_s = until_s;
        assert_eq!(message.system.receive_count, Some(known.receive_count));
        assert_eq!(message.system.source_queue.is_some(), place == Place::Dead);
        self.given.push(Given {
            id: id.clone(),
            receipt_handle: message.receipt_handle.clone(),
            receive_count: known.receive_count,
            place,
        });
    }

    /// All earlier messages of the group that are still in the queue came earlier in this very receive.
    fn check_order(&self, place: Place, message: &Received, before: &[Received]) {
        let this = &self.known[&message.message_id];
        let earlier = self.known.iter().filter(|(_, known)| {
            known.place == place
                && known.order < this.order
                && known.outgoing.content.message_group_id == this.outgoing.content.message_group_id
        });
        for (id, known) in earlier {
            assert!(before.iter().any(|other| other.message_id == *id), "{known:?} comes before {this:?}");
        }
    }

    /// The messages of a queue in order, by group on FIFO queues and each for itself on standard ones.
    fn message_groups(&self, place: Place) -> Vec<Vec<&Known>> {
        let mut message_groups: BTreeMap<(Option<&String>, usize), Vec<&Known>> = BTreeMap::new();
        let mut here: Vec<&Known> = self.known.values().filter(|known| known.place == place).collect();
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

    fn is_dead(&self, place: Place, known: &Known) -> bool {
        place == Place::Main && known.receives_here >= RECEIVES_MAX
    }

    fn anything_due(&self, place: Place) -> bool {
        let first = |message_group: Vec<&Known>| {
            let first =
                message_group.into_iter().find(|known| known.visible_at_s > self.now_s || !self.is_dead(place, known));
            first.is_some_and(|known| known.visible_at_s <= self.now_s)
        };
        self.message_groups(place).into_iter().any(first)
    }

    /// A receive on the main queue moves some of the dead; which ones shows in the dead-letter queue.
    async fn bury(&mut self) {
        for buried in self.world.queues.peek(&self.dlq, usize::MAX).await.expect("it exists") {
            let known = self.known.get_mut(&buried.message_id).expect("only what was sent is moved");
            if known.place == Place::Main {
                assert!(known.receives_here >= RECEIVES_MAX && known.visible_at_s <= self.now_s, "{known:?}");
                self.orders += 1;
                (known.place, known.order) = (Place::Dead, self.orders);
                (known.visible_at_s, known.receives_here) = (self.now_s, 0);
            }
        }
    }

    async fn delete(&mut self, handle: usize) {
        let Some(given) = self.pick(handle) else { return };
        let queue = if given.place == Place::Dead { &self.dlq } else { &self.main };
        let deleted = self.world.port().delete_batch(queue, std::slice::from_ref(&given.receipt_handle)).await;
        let deleted = deleted.expect("the delete is answered").remove(0);
        let Some(known) = self.known.get_mut(&given.id) else { unreachable!("only known messages are given") };
        if known.place != given.place {
            assert_eq!(deleted, Ok(()), "there is nothing left to delete");
            return;
        }
        let current = known.receive_count == given.receive_count;
        match self.kind {
            Kind::Standard => assert_eq!(deleted, Ok(())),
            Kind::Fifo => assert_eq!(deleted.is_ok(), current && known.visible_at_s > self.now_s, "{known:?}"),
        }
        if deleted.is_ok() && current {
            known.place = Place::Deleted;
        }
    }

    async fn hide(&mut self, handle: usize, visibility_s: i64) {
        let Some(given) = self.pick(handle) else { return };
        let queue = if given.place == Place::Dead { &self.dlq } else { &self.main };
        let span = Span::from_secs(visibility_s);
        let changed = self.world.port().change_visibility(queue, &given.receipt_handle, span).await;
        let known = self.known.get_mut(&given.id).expect("only known messages are given");
        let held =
            known.place == given.place && known.receive_count == given.receive_count && known.visible_at_s > self.now_s;
        assert_eq!(changed.is_ok(), held, "{known:?}: {changed:?}");
        if held {
            known.visible_at_s = self.now_s + visibility_s;
        }
    }

    fn pick(&self, handle: usize) -> Option<Given> {
        (!self.given.is_empty()).then(|| self.given[handle % self.given.len()].clone())
    }
}
