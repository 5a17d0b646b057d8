//! A filter over three-letter sequences: one pass over a text tells which of some hundred wordings it may contain.
//!
//! Without it, every wording costs a pass of its own. The filter has false positives but no false negatives.

/// Bits of the filter, a power of two. A message of 300 bytes sets 4 percent of them.
const BITS: usize = 8_192;

/// The positions in the filter of a wording's first, middle and last three letters.
pub type Slots = [u16; 3];

/// Computes a wording's slots, at compile time: an unmatched letter is compared with every wording.
pub const fn slots(wording: &str) -> Slots {
    let bytes = wording.as_bytes();
    assert!(bytes.len() >= 3, "a wording has at least three letters");
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
    /// Collects the sequences of this text.
    pub fn new(text: &str) -> Self {
        let mut bits = [0; BITS / 64];
        for gram in text.as_bytes().windows(3) {
            let at = usize::from(slot(gram[0], gram[1], gram[2]));
            bits[at / 64] |= 1 << (at % 64);
        }
        Self(bits)
    }

    /// Returns false only if the text certainly does not contain the wording.
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
        fn contained_wordings_pass(before in "\\PC{0,20}", wording in "\\PC{3,12}", after in "\\PC{0,20}") {
            prop_assert!(Grams::new(&(before + &wording + &after)).may_hold(&slots(&wording)));
        }
    }

    #[test]
    fn most_absent_wordings_are_rejected() {
        let grams = Grams::new("connection to the order service timed out after 30 seconds");
        assert!(!grams.may_hold(&slots("permission denied")) && !grams.may_hold(&slots("duplicate key")));
    }
}
