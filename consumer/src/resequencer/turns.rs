//! Turns: handlers of numbered messages run one after the other, in the order of the numbers.

use super::{Released, Resequencer, ResequencerPolicy};
use crate::clock::{system_now, to_duration};
use domain::time::{Span, Timestamp};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Lets handlers of one key's messages take turns by their numbers. For several keys, keep one for each. Clones share the
/// state.
///
/// A waiting handler uses up a place of [`ConsumerConfig::concurrency`](crate::ConsumerConfig), so let the policy hold
/// fewer messages than that. A message that fails and comes back later is out of order.
///
/// ```
/// use consumer::queue::Received;
/// use consumer::resequencer::Turns;
/// use consumer::{Classify, Failure, Handler, here};
///
/// struct InOrder {
///     turns: Turns,
/// }
///
/// #[async_trait::async_trait]
/// impl Handler for InOrder {
///     async fn handle(&self, received: &Received) -> Result<(), Failure> {
///         let number = received.content.body.parse().permanent(here!())?;
///         let turn = self.turns.turn(number).await;
///         tracing::info!(number, after_gap = turn.after_gap(), "the next one waits until `turn` is dropped");
///         Ok(())
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Turns {
    shared: Arc<Shared>,
    now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// The longest wait before looking again: the clock may have gone back.
    wait_max: Span,
}

struct Shared {
    state: Mutex<State>,
}

struct State {
    order: Resequencer<oneshot::Sender<Turn>>,
    /// Released, and waiting for the current turn to end; in the order of their numbers.
    ready: VecDeque<Released<oneshot::Sender<Turn>>>,
    is_taken: bool,
    /// The largest number that had a turn.
    largest: Option<u64>,
}

impl State {
    /// Puts a number before the larger ones that had no turn yet, if it came after they were released.
    fn make_ready(&mut self, released: Released<oneshot::Sender<Turn>>) {
        let at = self.ready.partition_point(|ready| ready.sequence <= released.sequence);
        self.ready.insert(at, released);
    }

    /// Whether a number is out of order, now that it gets its turn.
    fn is_after_gap(&self, next: &Released<oneshot::Sender<Turn>>) -> bool {
        match self.largest {
            Some(largest) if next.sequence == largest => false,
            // Also if it was delivered twice, and comes right after itself.
            Some(largest) if next.sequence < largest => true,
            _ => next.after_gap,
        }
    }
}

/// The turn of one number. Ends when it is dropped.
///
/// ```
/// # use consumer::resequencer::{ResequencerPolicy, Turns};
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let turn = Turns::new(ResequencerPolicy::default(), 1).turn(1).await;
/// assert!(!turn.after_gap());
/// # });
/// ```
#[must_use = "the turn ends when it is dropped"]
pub struct Turn {
    shared: Arc<Shared>,
    after_gap: bool,
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("after_gap", &self.after_gap).finish()
    }
}

impl Turns {
    /// Expects `first` as the first number.
    ///
    /// ```
    /// # use consumer::resequencer::{ResequencerPolicy, Turns};
    /// let turns = Turns::new(ResequencerPolicy { held_max: 5, ..ResequencerPolicy::default() }, 1);
    /// # let _ = turns;
    /// ```
    pub fn new(policy: ResequencerPolicy, first: u64) -> Self {
        let order = Resequencer::new(policy, first);
        let state = Mutex::new(State { order, ready: VecDeque::new(), is_taken: false, largest: None });
        Self { shared: Arc::new(Shared { state }), now: Arc::new(system_now), wait_max: policy.wait_max }
    }

    /// Waits until all smaller numbers are done or given up, and nobody else has the turn.
    ///
    /// ```
    /// # use consumer::resequencer::{ResequencerPolicy, Turns};
    /// # use std::sync::Mutex;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let turns = Turns::new(ResequencerPolicy::default(), 1);
    /// let done = Mutex::new(Vec::new());
    /// let handle = async |number| {
    ///     let _turn = turns.turn(number).await;
    ///     done.lock().unwrap().push(number);
    /// };
    /// tokio::join!(handle(3), handle(1), handle(2));
    /// assert_eq!(*done.lock().unwrap(), [1, 2, 3]);
    /// # });
    /// ```
    pub async fn turn(&self, sequence: u64) -> Turn {
        let (go, mut turn) = oneshot::channel();
        self.shared.release(|order| order.offer(sequence, go, (self.now)()));
        loop {
            let wait_until = self.shared.lock().order.wait_until();
            // Nothing is held back: only turns are in the way, and each ends by itself.
            let Some(left) = wait_until.map(|until| until.since((self.now)()).max(Span::ZERO).min(self.wait_max))
            else {
                return self.taken(turn.await);
            };
            match tokio::time::timeout(to_duration(left), &mut turn).await {
                Ok(taken) => return self.taken(taken),
                Err(_) => self.shared.release(|order| order.expire((self.now)())),
            }
        }
    }

    /// Every number is released at some time, so the error does not occur; without order the work is still done.
    fn taken(&self, taken: Result<Turn, oneshot::error::RecvError>) -> Turn {
        taken.unwrap_or_else(|_| Turn { shared: self.shared.clone(), after_gap: true })
    }
}

impl Turn {
    /// Returns whether numbers before it are missing, or it came after its successors: then it is out of order.
    ///
    /// ```
    /// # use consumer::resequencer::{ResequencerPolicy, Turns};
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let turns = Turns::new(ResequencerPolicy::default(), 7);
    /// assert!(turns.turn(6).await.after_gap(), "it came too late");
    /// # });
    /// ```
    pub fn after_gap(&self) -> bool {
        self.after_gap
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn release(
        self: &Arc<Self>,
        released: impl FnOnce(&mut Resequencer<oneshot::Sender<Turn>>) -> Vec<Released<oneshot::Sender<Turn>>>,
    ) {
        let mut state = self.lock();
        let released = released(&mut state.order);
        released.into_iter().for_each(|one| state.make_ready(one));
        drop(state);
        self.advance();
    }

    /// Gives the turn to the next number, if nobody has it.
    fn advance(self: &Arc<Self>) {
        let mut state = self.lock();
        if state.is_taken {
            return;
        }
        let next = loop {
            match state.ready.pop_front() {
                None => return,
                // Its handler is gone.
                Some(next) if next.item.is_closed() => {}
                Some(next) => break next,
            }
        };
        state.is_taken = true;
        let after_gap = state.is_after_gap(&next);
        state.largest = state.largest.max(Some(next.sequence));
        drop(state);
        // If the handler goes at this very moment, the turn comes back, is dropped, and goes to the next.
        let _ = next.item.send(Turn { shared: self.clone(), after_gap });
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.shared.lock().is_taken = false;
        self.shared.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn turns(wait_max: Span) -> Turns {
        Turns::new(ResequencerPolicy { wait_max, ..ResequencerPolicy::default() }, 1)
    }

    async fn soon<T>(what: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(60), what).await.expect("this should not take 60 s")
    }

    #[tokio::test]
    async fn one_handler_ends_before_the_next_begins_and_lost_numbers_hold_up_for_a_time() {
        let (turns, log) = (turns(Span::from_ms(20)), Mutex::new(Vec::new()));
        let handle = async |number: u64| {
            let turn = turns.turn(number).await;
            log.lock().unwrap().push(format!("begins {number} {}", turn.after_gap()));
            for _ in 0..9 {
                tokio::task::yield_now().await;
            }
            log.lock().unwrap().push(format!("ends {number}"));
        };
        soon(async { tokio::join!(handle(2), handle(4), handle(1), handle(7)) }).await;
        let begins = |n, gap| [format!("begins {n} {gap}"), format!("ends {n}")];
        let expected = [begins(1, false), begins(2, false), begins(4, true), begins(7, true)].concat();
        assert_eq!(*log.lock().unwrap(), expected);
    }

    /// SQS may deliver a message twice: its number waits for its turn all the same, and neither delivery overtakes another.
    #[tokio::test]
    async fn the_deliveries_of_one_number_wait_together_and_run_one_after_the_other() {
        let (turns, log) = (turns(Span::from_days(1)), Mutex::new(Vec::new()));
        let handle = async |number: u64, delivery: &str| {
            let turn = turns.turn(number).await;
            log.lock().unwrap().push(format!("{delivery} begins, {}", turn.after_gap()));
            tokio::task::yield_now().await;
            log.lock().unwrap().push(format!("{delivery} ends"));
        };
        let all = async {
            tokio::join!(handle(2, "2"), handle(2, "2 again"), handle(3, "3"), handle(1, "1"), handle(1, "1 again"))
        };
        soon(all).await;
        let expected =
            ["1", "1 again", "2", "2 again", "3"].map(|one| [format!("{one} begins, false"), format!("{one} ends")]);
        let log = log.into_inner().unwrap();
        let in_pairs: Vec<&[String]> = log.chunks(2).collect();
        assert!(in_pairs.iter().all(|pair| expected.iter().any(|expected| expected == *pair)), "{log:?}");
        let numbers: Vec<&str> = in_pairs.iter().map(|pair| &pair[0][..1]).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] <= pair[1]), "{log:?}");
        assert_eq!(numbers.len(), 5);
    }

    /// Or a handler that skips what is out of order would take an old state for the newest.
    #[tokio::test]
    async fn the_second_delivery_of_a_number_that_came_too_late_is_out_of_order_too() {
        let turns = turns(Span::ZERO);
        let mut marks = Vec::new();
        for number in [3, 3, 1, 1, 3, 2, 2, 4] {
            marks.push((number, soon(turns.turn(number)).await.after_gap()));
        }
        let marked: Vec<u64> = marks.iter().filter(|(_, after_gap)| *after_gap).map(|(number, _)| *number).collect();
        assert_eq!(marked, [3, 1, 1, 2, 2], "{marks:?}");
    }

    #[tokio::test]
    async fn a_handler_that_was_cancelled_holds_up_nobody() {
        let turns = turns(Span::from_days(1));
        let first = turns.turn(1).await;
        let mut second = Box::pin(turns.turn(2));
        let third = turns.turn(3);
        // It waits for its turn, gets it, and is cancelled before it can take it.
        assert!(tokio::time::timeout(Duration::ZERO, &mut second).await.is_err());
        drop(first);
        drop(second);
        assert!(!soon(third).await.after_gap());
        let gone = tokio::time::timeout(Duration::ZERO, turns.turn(5)).await;
        assert!(gone.is_err(), "4 is missing");
        drop(turns.turn(4).await);
        assert!(!soon(turns.turn(6)).await.after_gap(), "5 was cancelled while it was held back");
    }

    #[tokio::test(start_paused = true)]
    async fn thousands_that_were_cancelled_are_passed_over() {
        let turns = turns(Span::from_days(1));
        let first = turns.turn(1).await;
        for number in 2..20_000 {
            assert!(tokio::time::timeout(Duration::ZERO, turns.turn(number)).await.is_err());
        }
        let last = turns.turn(20_000);
        drop(first);
        assert!(!soon(last).await.after_gap());
    }
}
