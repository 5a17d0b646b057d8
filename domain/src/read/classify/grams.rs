//! Which of some hundred wordings a text may hold, told in one pass over it: a filter of its three-letter sequences.
//!
//! Searching for each wording by itself costs a pass a wording. The filter never says no to a wording that is there.

/// Bits of the filter, a power of two: a message of 300 bytes sets 4 percent of them.
const BITS: usize = 8_192;

/// The three-letter sequences of a text.
pub struct Grams([u64; BITS / 64]);

impl Grams {
    /// Those of this text.
    pub fn of(text: &str) -> Self {
        let mut bits = [0; BITS / 64];
        for gram in text.as_bytes().windows(3) {
            let at = slot(gram);
            bits[at / 64] |= 1 << (at % 64);
        }
        Self(bits)
    }

    /// False only where the text surely does not hold the wording.
    pub fn may_hold(&self, wording: &str) -> bool {
        let bytes = wording.as_bytes();
        let (Some(first), Some(last)) = (bytes.first_chunk::<3>(), bytes.last_chunk::<3>()) else { return true };
        let middle = &bytes[(bytes.len() - 3) / 2..][..3];
        [first, middle, last].iter().all(|gram| {
            let at = slot(gram);
            self.0[at / 64] >> (at % 64) & 1 == 1
        })
    }
}

fn slot(gram: &[u8]) -> usize {
    let mixed = gram.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(67).wrapping_add(usize::from(*byte)));
    mixed.wrapping_mul(0x9E5) >> 3 & (BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_a_text_holds_passes(before in "\\PC{0,20}", wording in "\\PC{0,12}", after in "\\PC{0,20}") {
            prop_assert!(Grams::of(&(before + &wording + &after)).may_hold(&wording));
        }
    }

    #[test]
    fn most_of_what_it_does_not_hold_is_refused() {
        let grams = Grams::of("connection to the order service timed out after 30 seconds");
        assert!(!grams.may_hold("permission denied") && !grams.may_hold("duplicate key"));
    }
}
