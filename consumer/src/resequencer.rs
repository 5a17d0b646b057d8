//! Puts the messages of a standard queue into order by a sequence number of their own. Pure and bounded.
//!
//! SQS keeps order on FIFO queues only. Where a producer numbers its messages per key, a consumer of a standard queue
//! holds back what came too early, until the gap closes or has waited for long enough. ("Resequencer", Hohpe and Woolf,
//! "Enterprise Integration Patterns".)
//!
//! [`Resequencer`] is the pure rule; [`Turns`] lets handlers wait by it.

mod turns;

pub use turns::{Turn, Turns};

use domain::time::{Span, Timestamp};
use std::collections::BTreeMap;

/// The limits of a [`Resequencer`].
///
/// ```
/// use consumer::resequencer::ResequencerPolicy;
///
/// assert_eq!(ResequencerPolicy::default().held_max, 100);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResequencerPolicy {
    /// The most messages that are held back. With more, the gap is skipped. Default: 100.
    pub held_max: usize,
    /// How long a gap holds up what follows it; must be shorter than the visibility timeout. Default: 10 s, a third of
    /// SQS's default visibility timeout.
    pub wait_max: Span,
}

impl Default for ResequencerPolicy {
    fn default() -> Self {
        Self { held_max: 100, wait_max: Span::from_secs(10) }
    }
}

/// One released message.
///
/// ```
/// use consumer::resequencer::Released;
///
/// let released = Released { sequence: 7, item: "m-7", after_gap: false };
/// assert!(!released.after_gap);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released<T> {
    /// Its sequence number.
    pub sequence: u64,
    /// The message.
    pub item: T,
    /// Whether numbers before it are missing, or it came after its successors: then it is out of order.
    pub after_gap: bool,
}

/// Puts the messages of one key into order.
///
/// ```
/// use consumer::resequencer::{Resequencer, ResequencerPolicy};
/// use domain::time::Timestamp;
///
/// let now = Timestamp::from_ms(0);
/// let mut order = Resequencer::new(ResequencerPolicy::default(), 1);
/// assert!(order.offer(2, "b", now).is_empty());
/// let released = order.offer(1, "a", now);
/// assert_eq!(released.iter().map(|released| released.item).collect::<Vec<_>>(), ["a", "b"]);
/// ```
#[derive(Clone, Debug)]
pub struct Resequencer<T> {
    policy: ResequencerPolicy,
    next: u64,
    /// Messages by their number. SQS may deliver one several times.
    held: BTreeMap<u64, Vec<T>>,
    held_count: usize,
    /// The number that was released last.
    last: Option<u64>,
    /// Since when the current gap holds up messages.
    waiting_since: Option<Timestamp>,
}

impl<T> Resequencer<T> {
    /// Returns a resequencer that expects `first` as the first number.
    ///
    /// ```
    /// # use consumer::resequencer::{Resequencer, ResequencerPolicy};
    /// let order: Resequencer<&str> = Resequencer::new(ResequencerPolicy::default(), 1);
    /// assert_eq!(order.next_sequence(), 1);
    /// ```
    pub fn new(policy: ResequencerPolicy, first: u64) -> Self {
        Self { policy, next: first, held: BTreeMap::new(), held_count: 0, last: None, waiting_since: None }
    }

    /// Returns the number that is expected next.
    ///
    /// ```
    /// # use consumer::resequencer::{Resequencer, ResequencerPolicy};
    /// # use domain::time::Timestamp;
    /// let mut order = Resequencer::new(ResequencerPolicy::default(), 1);
    /// order.offer(1, (), Timestamp::from_ms(0));
    /// assert_eq!(order.next_sequence(), 2);
    /// ```
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// Takes a message; returns what may be handled now, in order.
    ///
    /// A number that came after its successors is released at once and marked. Messages of one number, which SQS delivered
    /// twice or which failed and came back, wait together, are released one after the other, and count as in order.
    ///
    /// ```
    /// # use consumer::resequencer::{Resequencer, ResequencerPolicy};
    /// # use domain::time::Timestamp;
    /// let mut order = Resequencer::new(ResequencerPolicy::default(), 5);
    /// let late = order.offer(4, "late", Timestamp::from_ms(0));
    /// assert!(late[0].after_gap);
    /// ```
    pub fn offer(&mut self, sequence: u64, item: T, now: Timestamp) -> Vec<Released<T>> {
        let mut released = Vec::new();
        if sequence < self.next {
            released.push(Released { sequence, item, after_gap: self.last != Some(sequence) });
        } else {
            self.held.entry(sequence).or_default().push(item);
            self.held_count += 1;
        }
        self.release(now, &mut released);
        if self.held_count > self.policy.held_max {
            self.skip_gap(now, &mut released);
        }
        released
    }

    /// Returns what may be handled because its gap has waited for long enough. Call it when [`Self::wait_until`] comes.
    ///
    /// ```
    /// # use consumer::resequencer::{Resequencer, ResequencerPolicy};
    /// # use domain::time::Timestamp;
    /// let mut order = Resequencer::new(ResequencerPolicy::default(), 1);
    /// order.offer(3, "c", Timestamp::from_ms(0));
    /// assert!(order.expire(Timestamp::from_ms(9_999)).is_empty());
    /// assert!(order.expire(Timestamp::from_ms(10_000))[0].after_gap);
    /// ```
    pub fn expire(&mut self, now: Timestamp) -> Vec<Released<T>> {
        let mut released = Vec::new();
        // A clock that went back must not hold up the gap until it has caught up.
        if self.waiting_since.is_some_and(|since| since > now) {
            self.waiting_since = Some(now);
        }
        if self.wait_until().is_some_and(|until| until <= now) {
            self.skip_gap(now, &mut released);
        }
        released
    }

    /// Returns when the current gap is skipped; `None` if nothing is held back.
    ///
    /// ```
    /// # use consumer::resequencer::{Resequencer, ResequencerPolicy};
    /// # use domain::time::Timestamp;
    /// let mut order = Resequencer::new(ResequencerPolicy::default(), 1);
    /// order.offer(2, (), Timestamp::from_ms(5));
    /// assert_eq!(order.wait_until(), Some(Timestamp::from_ms(10_005)));
    /// ```
    pub fn wait_until(&self) -> Option<Timestamp> {
        self.waiting_since.map(|since| since.plus(self.policy.wait_max))
    }

    /// Jumps to the first held number, and releases from there.
    fn skip_gap(&mut self, now: Timestamp, released: &mut Vec<Released<T>>) {
        let Some((sequence, items)) = self.held.pop_first() else { return };
        self.pass(sequence, items, true, released);
        self.waiting_since = None;
        self.release(now, released);
    }

    fn release(&mut self, now: Timestamp, released: &mut Vec<Released<T>>) {
        let before = self.next;
        while let Some(items) = self.held.remove(&self.next) {
            self.pass(self.next, items, false, released);
        }
        if self.held.is_empty() {
            self.waiting_since = None;
        } else if self.waiting_since.is_none() || self.next > before {
            // A new gap has its own time.
            self.waiting_since = Some(now);
        }
    }
}

impl<T> Resequencer<T> {
    /// Releases the messages of one number.
    fn pass(&mut self, sequence: u64, items: Vec<T>, after_gap: bool, released: &mut Vec<Released<T>>) {
        self.held_count -= items.len();
        released.extend(items.into_iter().map(|item| Released { sequence, item, after_gap }));
        self.last = Some(sequence);
        self.next = sequence.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(s: i64) -> Timestamp {
        Timestamp::from_ms(s * 1000)
    }

    /// Offers numbers one per second; returns them as released, `!` for out of order.
    fn play(policy: ResequencerPolicy, offered: &[u64]) -> String {
        let mut order = Resequencer::new(policy, 1);
        let mut released = Vec::new();
        for (s, sequence) in offered.iter().enumerate() {
            released.extend(order.expire(at(s as i64)));
            released.extend(order.offer(*sequence, (), at(s as i64)));
        }
        released.extend(order.expire(at(1_000)));
        let shown = released.iter().map(|one| format!("{}{}", one.sequence, if one.after_gap { "!" } else { "" }));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_come_out_in_order_or_marked() {
        let check = |offered: &[u64], expected| assert_eq!(play(ResequencerPolicy::default(), offered), expected);
        check(&[1, 2, 3], "1 2 3");
        check(&[3, 1, 2], "1 2 3");
        check(&[2, 2, 1], "1 2 2");
        check(&[3, 2, 3, 1, 3, 1], "1 2 3 3 3 1!");
        check(&[1, 1], "1 1");
        check(&[1, 1, 3, 3, 2], "1 1 2 3 3");
        check(&[3, 3], "3! 3!");
        check(&[1, 3, 4], "1 3! 4");
        check(&[2, 4, 1, 3], "1 2 3 4");
        check(&[u64::MAX], "18446744073709551615!");
        let small = ResequencerPolicy { held_max: 2, ..ResequencerPolicy::default() };
        assert_eq!(play(small, &[3, 4, 5, 1]), "3! 4 5 1!");
        let hasty = ResequencerPolicy { wait_max: Span::from_secs(1), ..ResequencerPolicy::default() };
        assert_eq!(play(hasty, &[2, 1, 4, 5, 3]), "2! 1! 4! 5 3!");
    }

    #[test]
    fn a_clock_that_went_back_holds_up_a_gap_for_its_time_and_no_longer() {
        let mut order = Resequencer::new(ResequencerPolicy::default(), 1);
        assert!(order.offer(2, (), at(90_000)).is_empty());
        assert!(order.expire(at(5)).is_empty());
        assert!(order.expire(at(14)).is_empty());
        assert_eq!(order.expire(at(15)).len(), 1);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_unmarked_are_in_order(
            offered in proptest::collection::vec((1_u64..40, 0_i64..5), 0..100), held_max in 0_usize..10,
        ) {
            let mut order = Resequencer::new(ResequencerPolicy { held_max, ..ResequencerPolicy::default() }, 1);
            let (mut now, mut released) = (0, Vec::new());
            for (sequence, wait) in &offered {
                now += wait;
                released.extend(order.expire(at(now)));
                released.extend(order.offer(*sequence, (), at(now)));
                prop_assert!(order.held_count <= held_max);
                prop_assert_eq!(order.held_count, order.held.values().map(Vec::len).sum::<usize>());
            }
            while order.wait_until().is_some() {
                now += 10;
                released.extend(order.expire(at(now)));
            }
            let mut came: Vec<u64> = offered.iter().map(|(sequence, _)| *sequence).collect();
            let mut left: Vec<u64> = released.iter().map(|one| one.sequence).collect();
            let unmarked: Vec<u64> = released.iter().filter(|one| !one.after_gap).map(|one| one.sequence).collect();
            prop_assert!(unmarked.is_sorted());
            came.sort_unstable();
            left.sort_unstable();
            prop_assert_eq!(came, left);
        }
    }
}
