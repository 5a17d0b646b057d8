//! A retry budget: at most a share of the requests of a window may be retried. Pure: the caller passes the time.
//!
//! Retries help against single failures and hurt in an outage: with three attempts each, a dependency that is down gets
//! three times its load. Each request deposits a part of a token; a retry withdraws a whole one. Tokens expire with the
//! window, so a long quiet time does not pay for a storm. (gRPC's retry throttling, Finagle's `RetryBudget` and
//! `tower`'s `TpsBudget` do the same.)
//!
//! **Exactly**: a request is the first attempt of an operation, and its retries are none. In each window
//! `retries <= floor(requests · share_pct / 100) + retries_min`. So 10% are ten retries for 100 operations: 110 calls at
//! most, and `retries_min` more.
//!
//! **Clocks** may jump. A jump forward is time that has passed, so it empties the window; after a jump back the window
//! goes on as it was. Neither adds more than the `retries_min` of a new window.

use crate::clock::Onward;
use domain::time::{Span, Timestamp};

/// The number of parts of a window; a token expires up to one part later than the window says.
const SLOTS: usize = 10;
/// A whole token, in the unit that requests deposit.
const TOKEN: u64 = 100;

/// The limits of a [`Budget`].
///
/// ```
/// use consumer::budget::BudgetPolicy;
/// use domain::time::Span;
///
/// let strict = BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() };
/// assert_eq!((strict.share_pct, strict.window), (10, Span::from_secs(10)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetPolicy {
    /// The retries per hundred requests of the window, 0 to 100; higher values count as 100. Default: 10.
    pub share_pct: u8,
    /// The window, at least 10 ms. Default: 10 s, as in Finagle and `tower`.
    pub window: Span,
    /// Retries of a window that are allowed whatever its requests, so that a service with few requests may retry.
    /// Default: 10, one per second.
    pub retries_min: u32,
}

impl Default for BudgetPolicy {
    fn default() -> Self {
        Self { share_pct: 10, window: Span::from_secs(10), retries_min: 10 }
    }
}

/// Requests and retries of one part of the window.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The number of the part since the epoch.
    at: i64,
    requests: u64,
    retries: u64,
}

/// A token bucket of retries for one dependency.
///
/// ```
/// use consumer::budget::{Budget, BudgetPolicy};
/// use domain::time::Timestamp;
///
/// let mut budget = Budget::new(BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() });
/// let now = Timestamp::from_ms(0);
/// assert!(!budget.withdraw(now));
/// (0..10).for_each(|_| budget.deposit(now));
/// assert!(budget.withdraw(now));
/// assert!(!budget.withdraw(now), "one retry for ten requests");
/// ```
#[derive(Clone, Debug)]
pub struct Budget {
    policy: BudgetPolicy,
    slots: [Slot; SLOTS],
    onward: Onward,
}

/// What a [`Budget`] says of its window.
///
/// ```
/// use consumer::budget::{Budget, BudgetPolicy};
/// use domain::time::Timestamp;
///
/// let budget = Budget::new(BudgetPolicy::default());
/// assert_eq!(budget.usage(Timestamp::from_ms(0)).retries_left, 10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct BudgetUsage {
    /// Requests in the window, without their retries: first calls of a dependency, first receives of a consumer.
    pub requests: u64,
    /// Retries in the window.
    pub retries: u64,
    /// Retries that the window still allows.
    pub retries_left: u64,
}

impl Budget {
    /// Returns a budget without requests.
    ///
    /// ```
    /// # use consumer::budget::{Budget, BudgetPolicy};
    /// let budget = Budget::new(BudgetPolicy::default());
    /// # let _ = budget;
    /// ```
    pub fn new(policy: BudgetPolicy) -> Self {
        Self { policy, slots: [Slot::default(); SLOTS], onward: Onward::default() }
    }

    /// Counts a request: the first attempt of an operation, and none of its retries.
    ///
    /// ```
    /// # use consumer::budget::{Budget, BudgetPolicy};
    /// # use domain::time::Timestamp;
    /// let mut budget = Budget::new(BudgetPolicy::default());
    /// budget.deposit(Timestamp::from_ms(5));
    /// assert_eq!(budget.usage(Timestamp::from_ms(5)).requests, 1);
    /// ```
    pub fn deposit(&mut self, now: Timestamp) {
        let now = self.onward.advance(now);
        self.slot(now).requests += 1;
    }

    /// Takes a token for a retry. Returns false if the budget is exhausted: then do not retry.
    ///
    /// ```
    /// # use consumer::budget::{Budget, BudgetPolicy};
    /// # use domain::time::Timestamp;
    /// let mut budget = Budget::new(BudgetPolicy { retries_min: 1, ..BudgetPolicy::default() });
    /// assert!(budget.withdraw(Timestamp::from_ms(5)));
    /// assert!(!budget.withdraw(Timestamp::from_ms(5)));
    /// ```
    pub fn withdraw(&mut self, now: Timestamp) -> bool {
        let now = self.onward.advance(now);
        let allowed = self.window(now).retries_left > 0;
        if allowed {
            self.slot(now).retries += 1;
        }
        allowed
    }

    /// Returns the window's requests and retries.
    ///
    /// ```
    /// # use consumer::budget::{Budget, BudgetPolicy};
    /// # use domain::time::Timestamp;
    /// let budget = Budget::new(BudgetPolicy::default());
    /// assert_eq!(budget.usage(Timestamp::from_ms(5)).retries, 0);
    /// ```
    pub fn usage(&self, now: Timestamp) -> BudgetUsage {
        self.window(self.onward.peek(now))
    }

    fn window(&self, now: Timestamp) -> BudgetUsage {
        let oldest = self.number(now).saturating_sub(SLOTS as i64 - 1);
        let live = self.slots.iter().filter(|slot| slot.at >= oldest);
        let (requests, retries) = live.fold((0, 0), |sum, slot| (sum.0 + slot.requests, sum.1 + slot.retries));
        let share = requests.saturating_mul(u64::from(self.policy.share_pct.min(100))) / TOKEN;
        let allowed = share.saturating_add(u64::from(self.policy.retries_min));
        BudgetUsage { requests, retries, retries_left: allowed.saturating_sub(retries) }
    }

    /// Returns the policy.
    ///
    /// ```
    /// # use consumer::budget::{Budget, BudgetPolicy};
    /// assert_eq!(Budget::new(BudgetPolicy::default()).policy().share_pct, 10);
    /// ```
    pub fn policy(&self) -> &BudgetPolicy {
        &self.policy
    }

    fn number(&self, now: Timestamp) -> i64 {
        now.as_ms().div_euclid((self.policy.window.as_ms() / SLOTS as i64).max(1))
    }

    fn slot(&mut self, now: Timestamp) -> &mut Slot {
        let at = self.number(now);
        let slot = &mut self.slots[at.rem_euclid(SLOTS as i64) as usize];
        if slot.at < at || (slot.at == 0 && slot.requests == 0 && slot.retries == 0) {
            *slot = Slot { at, ..Slot::default() };
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(1_763_600_000_000 + ms)
    }

    fn strict() -> Budget {
        Budget::new(BudgetPolicy { retries_min: 0, ..BudgetPolicy::default() })
    }

    #[test]
    fn a_tenth_of_the_requests_may_be_retried() {
        let mut budget = strict();
        (0..100).for_each(|n| budget.deposit(at(n * 10)));
        let retried = (0..100).filter(|_| budget.withdraw(at(1_000))).count();
        assert_eq!(retried, 10);
        assert_eq!(budget.usage(at(1_000)), BudgetUsage { requests: 100, retries: 10, retries_left: 0 });
    }

    #[test]
    fn tokens_expire_with_the_window() {
        let mut budget = strict();
        (0..100).for_each(|_| budget.deposit(at(0)));
        assert_eq!(budget.usage(at(8_999)).retries_left, 10);
        assert_eq!(budget.usage(at(10_000)).retries_left, 0);
        assert!(!budget.withdraw(at(10_000)));
    }

    #[test]
    fn few_requests_may_be_retried_too() {
        let mut budget = Budget::new(BudgetPolicy { retries_min: 2, ..BudgetPolicy::default() });
        assert_eq!([1, 2, 3].map(|ms| budget.withdraw(at(ms))), [true, true, false]);
        assert!(budget.withdraw(at(10_001)), "the next window has its own");
    }

    #[test]
    fn a_clock_that_went_back_refills_nothing_and_its_window_goes_on() {
        let mut budget = Budget::new(BudgetPolicy { retries_min: 1, ..BudgetPolicy::default() });
        let day = 24 * 3_600_000;
        assert!(budget.withdraw(at(day)));
        assert!(!budget.withdraw(at(0)), "a day back");
        assert!(!budget.withdraw(at(8_999)));
        assert!(budget.withdraw(at(10_000)), "10 s later, and not a day");
        (0..100).for_each(|n| budget.deposit(at(10_000 + n)));
        assert_eq!(budget.usage(at(10_100)), BudgetUsage { requests: 100, retries: 1, retries_left: 10 });
        assert_eq!(
            budget.usage(at(-day)),
            BudgetUsage { requests: 100, retries: 1, retries_left: 10 },
            "asked, not counted"
        );
    }

    #[test]
    fn a_clock_that_went_forth_is_a_new_window_and_no_more() {
        let mut budget = Budget::new(BudgetPolicy { retries_min: 2, ..BudgetPolicy::default() });
        (0..100).for_each(|n| budget.deposit(at(n)));
        let day = 24 * 3_600_000;
        let granted = (0..100).filter(|_| budget.withdraw(at(day))).count();
        assert_eq!(granted, 2, "the requests of yesterday pay for nothing");
        assert_eq!((0..100).filter(|_| budget.withdraw(at(200))).count(), 0, "nor does coming back");
    }

    #[derive(Clone, Copy, Debug)]
    enum Act {
        Request,
        Retry,
    }

    proptest! {
        /// Clocks that are set back, by any span and at any time, never allow more than clocks that stand still.
        #[test]
        fn no_jump_back_adds_a_retry(
            acts in proptest::collection::vec((-100_000_i64..100, prop_oneof![Just(Act::Request), Just(Act::Retry)]), 1..400),
        ) {
            let (mut jumping, mut standing) = (strict(), strict());
            let mut now = 0;
            for (jump, act) in acts {
                now += jump.min(0);
                match act {
                    Act::Request => (jumping.deposit(at(now)), standing.deposit(at(0))).0,
                    Act::Retry => prop_assert_eq!(jumping.withdraw(at(now)), standing.withdraw(at(0))),
                }
            }
            prop_assert_eq!(jumping.usage(at(now)), standing.usage(at(0)));
        }

        #[test]
        fn no_retry_exceeds_its_windows_share(
            acts in proptest::collection::vec((0_i64..300, prop_oneof![Just(Act::Request), Just(Act::Retry)]), 1..400),
            share_pct in 0_u8..=100, retries_min in 0_u32..5,
        ) {
            let policy = BudgetPolicy { share_pct, retries_min, window: Span::from_secs(10) };
            let mut budget = Budget::new(policy);
            let (mut now, mut requests, mut retries) = (0, Vec::new(), Vec::new());
            for (wait_ms, act) in acts {
                now += wait_ms;
                match act {
                    Act::Request => {
                        budget.deposit(at(now));
                        requests.push(now);
                    }
                    Act::Retry if budget.withdraw(at(now)) => {
                        retries.push(now);
                        // Nine parts lie in the window for certain, whatever part of the tenth has passed.
                        let in_last = |times: &[i64], ms: i64| times.iter().filter(|time| **time > now - ms).count();
                        let allowed = in_last(&requests, 10_000) * usize::from(share_pct) / 100 + retries_min as usize;
                        prop_assert!(in_last(&retries, 9_000) <= allowed);
                    }
                    Act::Retry => {}
                }
            }
        }
    }
}
