//! What deaths add to the record of a variant while its state stays: an earlier first death, the end of a value in its title,
//! and the versions that letters died on.

use super::Variant;
use crate::letter::Letter;
use crate::limits::DIED_ON_VERSIONS_MAX;
use alloc::string::String;
use alloc::vec::Vec;

impl Variant {
    /// Returns the variant after new letters: with an earlier first death, and without the values of its title that one of
    /// them lacks. `None` if neither changes.
    pub fn after_letters<'a>(&self, letters: impl IntoIterator<Item = &'a Letter> + Clone) -> Option<Self> {
        let first_died_at = letters.clone().into_iter().map(|letter| letter.died_at).fold(self.first_died_at, Ord::min);
        let title_values = self.values_shared_with(letters);
        let is_same = first_died_at == self.first_died_at && title_values == self.title_values;
        (!is_same).then(|| Self { first_died_at, title_values, ..self.moved(self.state.clone()) })
    }

    /// Returns the variant after deaths on these versions of its consumer. `None` if they are known.
    pub fn died_on<'a>(&self, versions: impl IntoIterator<Item = &'a String>) -> Option<Self> {
        let new: Vec<_> = versions.into_iter().filter(|version| !self.died_on.contains(version)).cloned().collect();
        if new.is_empty() {
            return None;
        }
        let mut died_on = [self.died_on.as_slice(), &new].concat();
        died_on.drain(..died_on.len().saturating_sub(DIED_ON_VERSIONS_MAX));
        // More new ones than are remembered: the same again is no change.
        (died_on != self.died_on).then(|| Self { died_on, ..self.moved(self.state.clone()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::merging::tests::variant;
    use alloc::string::ToString;

    #[test]
    fn new_versions_are_noted_in_order_and_the_oldest_go() {
        let names = |from: usize, to: usize| (from..=to).map(|n| n.to_string()).collect::<Vec<_>>();
        for (known, seen, expected) in [
            (names(1, 0), names(1, 1), Some(names(1, 1))),
            (names(1, 1), names(1, 1), None),
            (names(1, 1), names(1, 0), None),
            (names(1, 1), names(1, 3), Some(names(1, 3))),
            (names(2, 3), names(1, 1), Some([names(2, 3), names(1, 1)].concat())),
            (names(1, 8), names(9, 10), Some(names(3, 10))),
            (names(1, 8), names(1, 8), None),
        ] {
            let before = Variant { died_on: known.clone(), ..variant("a", 0) };
            let after = before.died_on(&seen);
            assert!(after.as_ref().is_none_or(|after| after.version == before.version + 1), "a change like any other");
            assert_eq!(after.map(|after| after.died_on), expected, "{known:?} {seen:?}");
        }
    }
}
