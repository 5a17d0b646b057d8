//! Random numbers from a seed: the same seed generates the same orders.

/// SplitMix64 (Steele, Lea, Flood 2014): small, uniform enough for a demo, and the same on every platform.
pub(super) struct Chance(u64);

impl Chance {
    /// Creates the random numbers of order `number`, independent of the orders before it.
    pub(super) fn for_order(seed: u64, number: u64) -> Self {
        let mut chance = Self(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.next();
        chance
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from 0 to `bound - 1`; `bound` is at least 1.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// Returns an element of a list, which must not be empty.
    pub(super) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let at = self.below(list.len() as u64);
        &list[usize::try_from(at).unwrap_or(0)]
    }

    /// Returns true in `pct` of 100 cases.
    pub(super) fn pct(&mut self, pct: u64) -> bool {
        self.below(100) < pct
    }
}
