//! Lookup of names in a sorted table. Most names differ within their first eight bytes, which compare as one number.

use core::cmp::Ordering;

/// A name to look up.
#[derive(Clone, Copy)]
pub struct Sought<'a> {
    name: &'a str,
    lead: u64,
}

impl<'a> Sought<'a> {
    pub fn new(name: &'a str) -> Self {
        Self { name, lead: lead(name) }
    }

    /// Orders a row's name relative to this one, in the order of `str`.
    pub fn order_of(self, row: &str) -> Ordering {
        lead(row).cmp(&self.lead).then_with(|| row.cmp(self.name))
    }
}

/// Returns the first eight bytes as a number with the same order; shorter names are padded with zeros.
fn lead(name: &str) -> u64 {
    let bytes = name.as_bytes();
    match bytes.first_chunk() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => {
            let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            if bytes.is_empty() { 0 } else { number << (8 * (8 - bytes.len())) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;
    use alloc::vec::Vec;

    #[test]
    fn names_have_the_order_of_their_text() {
        let names = ["", "\0", "a", "a\0", "a\0\0\0\0\0\0\0", "ab", "abcdefgh", "abcdefghi", "abcdefgi", "é", "éa"];
        let longer = names.iter().map(|name| String::from(*name) + "zz");
        let all: Vec<String> = names.iter().map(|name| String::from(*name)).chain(longer).collect();
        for (row, sought) in all.iter().flat_map(|row| all.iter().map(move |sought| (row, sought))) {
            assert_eq!(Sought::new(sought).order_of(row), row.as_str().cmp(sought), "{row:?} and {sought:?}");
        }
    }
}
