//! How many messages are handled at once: fixed, or adapted to the load by additive increase and multiplicative
//! decrease (AIMD, as in TCP; Chiu and Jain, 1989). Pure.

/// The limits of [`Aimd`].
///
/// ```
/// use consumer::concurrency::AimdPolicy;
///
/// let policy = AimdPolicy { limit_min: 2, ..AimdPolicy::default() };
/// assert_eq!(policy.keep_pct, 50);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AimdPolicy {
    /// The lowest limit, at least 1. Default: 1.
    pub limit_min: usize,
    /// The share of the limit that is kept after an overload, percent, 1 to 99. Default: 50, as in TCP.
    pub keep_pct: u8,
}

impl Default for AimdPolicy {
    fn default() -> Self {
        Self { limit_min: 1, keep_pct: 50 }
    }
}

/// A concurrency limit that grows by one for each full round of successes and shrinks at each overload.
///
/// ```
/// use consumer::concurrency::{Aimd, AimdPolicy};
///
/// let mut limit = Aimd::new(AimdPolicy::default(), 8);
/// assert_eq!(limit.current(), 8);
/// limit.overloaded();
/// assert_eq!(limit.current(), 4);
/// (0..4).for_each(|_| limit.succeeded());
/// assert_eq!(limit.current(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct Aimd {
    policy: AimdPolicy,
    limit_max: usize,
    limit: usize,
    /// Successes since the last change.
    successes: usize,
}

impl Aimd {
    /// Returns a limit that starts at its maximum.
    ///
    /// ```
    /// # use consumer::concurrency::{Aimd, AimdPolicy};
    /// assert_eq!(Aimd::new(AimdPolicy::default(), 10).current(), 10);
    /// ```
    pub fn new(policy: AimdPolicy, limit_max: usize) -> Self {
        let limit_max = limit_max.max(1);
        Self { policy, limit_max, limit: limit_max, successes: 0 }
    }

    /// Returns the limit, at least 1.
    ///
    /// ```
    /// # use consumer::concurrency::{Aimd, AimdPolicy};
    /// assert_eq!(Aimd::new(AimdPolicy::default(), 0).current(), 1);
    /// ```
    pub fn current(&self) -> usize {
        self.limit
    }

    /// Counts a success; after as many as the limit, the limit grows by one.
    ///
    /// ```
    /// # use consumer::concurrency::{Aimd, AimdPolicy};
    /// let mut limit = Aimd::new(AimdPolicy::default(), 2);
    /// limit.succeeded();
    /// assert_eq!(limit.current(), 2, "never above the maximum");
    /// ```
    pub fn succeeded(&mut self) {
        self.successes += 1;
        if self.successes >= self.limit {
            self.successes = 0;
            self.limit = (self.limit + 1).min(self.limit_max);
        }
    }

    /// Shrinks the limit: a call timed out, was throttled, or the dependency is down.
    ///
    /// ```
    /// # use consumer::concurrency::{Aimd, AimdPolicy};
    /// let mut limit = Aimd::new(AimdPolicy::default(), 3);
    /// (0..9).for_each(|_| limit.overloaded());
    /// assert_eq!(limit.current(), 1);
    /// ```
    pub fn overloaded(&mut self) {
        self.successes = 0;
        let pct = usize::from(self.policy.keep_pct.clamp(1, 99));
        // In two parts, because no limit overflows.
        let kept = self.limit / 100 * pct + self.limit % 100 * pct / 100;
        self.limit = kept.max(self.policy.limit_min.clamp(1, self.limit_max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_limit_stays_within_its_bounds(
            limit_min: usize, limit_max in prop_oneof![0_usize..1_000, usize::MAX - 9..=usize::MAX], keep_pct: u8, acts: Vec<bool>,
        ) {
            let mut limit = Aimd::new(AimdPolicy { limit_min, keep_pct }, limit_max);
            for success in acts {
                if success { limit.succeeded() } else { limit.overloaded() }
                prop_assert!((1..=limit_max.max(1)).contains(&limit.current()));
            }
        }
    }

    #[test]
    fn it_recovers_by_one_per_round() {
        let mut limit = Aimd::new(AimdPolicy::default(), 100);
        limit.overloaded();
        let successes = (0..).take_while(|_| {
            limit.succeeded();
            limit.current() < 100
        });
        // 50 + 51 + … + 99, the last one counted by the loop's end.
        assert_eq!(successes.count(), (50..100).sum::<usize>() - 1);
    }
}
