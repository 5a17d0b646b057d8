//! Tables of learned weights: of each feature of a text, four bytes of its hash and one byte of its weight, in the order
//! of the hashes. Tests learn the tables from labelled examples (`rules::taught`).

/// The size of an entry.
const ENTRY_BYTES: usize = 5;

/// A table of weights.
pub struct Weights(&'static [u8]);

impl Weights {
    /// Returns the table in these bytes.
    pub const fn new(bytes: &'static [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the weight of a feature by its hash; what was never learned has none.
    pub fn weight(&self, hash: u32) -> i32 {
        let (entries, _) = self.0.as_chunks::<ENTRY_BYTES>();
        let at = entries.binary_search_by_key(&hash, |&[a, b, c, d, _]| u32::from_be_bytes([a, b, c, d]));
        at.map_or(0, |at| i32::from(i8::from_be_bytes([entries[at][4]])))
    }

    /// Whether the entries are in order, and their size in bytes.
    #[cfg(test)]
    pub fn checked(&self) -> (bool, usize) {
        let (entries, rest) = self.0.as_chunks::<ENTRY_BYTES>();
        (rest.is_empty() && entries.windows(2).all(|two| two[0][..4] < two[1][..4]), self.0.len())
    }
}

/// FNV-1a of words, each with a blank after it.
pub fn hash(words: &[&str]) -> u32 {
    let bytes = words.iter().flat_map(|word| word.bytes().chain([b' ']));
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
