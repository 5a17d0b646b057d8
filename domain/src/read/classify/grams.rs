//! Which of some hundred wordings a text may hold, told in one pass over it: a filter of its three-letter sequences.
//!
//! Searching for each wording by itself costs a pass a wording. The filter never says no to a wording that is there.

/// Bits of the filter, a power of two: a message of 300 bytes sets 4 percent of them.
const BITS: usize = 8_192;

/// Where the first, the middle and the last three letters of a wording stand in the filter.
pub type Slots = [u16; 3];

/// The slots of a wording; computed when the tables are compiled, because a letter that nothing matches is compared
/// with all of them.
pub const fn slots(wording: &str) -> Slots {
    let bytes = wording.as_bytes();
    assert!(bytes.len() >= 3, "a wording has three letters");
    let (middle, last) = ((bytes.len() - 3) / 2, bytes.len() - 3);
    [
        slot(bytes[0], bytes[1], bytes[2]),
        slot(bytes[middle], bytes[middle + 1], bytes[middle + 2]),
        slot(bytes[last], bytes[last + 1], bytes[last + 2]),
    ]
}

/// The three-letter sequences of a text.
pub struct Grams([u64; BITS / 64]);

impl Grams {
    /// Those of this text.
    pub fn of(text: &str) -> Self {
        let mut bits = [0; BITS / 64];
        for gram in text.as_bytes().windows(3) {
            let at = usize::from(slot(gram[0], gram[1], gram[2]));
            bits[at / 64] |= 1 << (at % 64);
        }
        Self(bits)
    }

    /// False only where the text surely does not hold the wording of these slots.
    pub fn may_hold(&self, slots: &Slots) -> bool {
        slots.iter().all(|slot| self.0[usize::from(*slot) / 64] >> (slot % 64) & 1 == 1)
    }
}

const fn slot(a: u8, b: u8, c: u8) -> u16 {
    let mixed = ((a as usize).wrapping_mul(67).wrapping_add(b as usize)).wrapping_mul(67).wrapping_add(c as usize);
    (mixed.wrapping_mul(0x9E5) >> 3 & (BITS - 1)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_a_text_holds_passes(before in "\\PC{0,20}", wording in "\\PC{3,12}", after in "\\PC{0,20}") {
            prop_assert!(Grams::of(&(before + &wording + &after)).may_hold(&slots(&wording)));
        }
    }

    #[test]
    fn most_of_what_it_does_not_hold_is_refused() {
        let grams = Grams::of("connection to the order service timed out after 30 seconds");
        assert!(!grams.may_hold(&slots("permission denied")) && !grams.may_hold(&slots("duplicate key")));
    }
}
