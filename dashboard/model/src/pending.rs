//! Compares the order on the screen with the order of the latest answer.
//!
//! Rows never move while the reader works with them: new rows wait until the reader asks for them.

use domain::id::GroupId;
use std::collections::HashSet;

/// Changes since the order on the screen was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Groups that are not on the screen yet.
    pub new: usize,
    /// Whether other groups would move or disappear.
    pub moved: bool,
}

impl Pending {
    /// Compares the order on the screen with the current order.
    pub fn between(shown: &[GroupId], wanted: &[GroupId]) -> Self {
        let known: HashSet<&GroupId> = shown.iter().collect();
        let kept = wanted.iter().filter(|id| known.contains(id));
        let new = wanted.len() - kept.clone().count();
        Self { new, moved: !kept.eq(shown.iter()) }
    }

    /// Returns whether nothing changed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Describes the changes; empty if there are none.
    pub fn words(&self) -> String {
        match (self.new, self.moved) {
            (0, false) => String::new(),
            (0, true) => "Order changed".to_string(),
            (new, _) => format!("{new} new"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_described_and_not_applied() {
        let ids = |text: &str| text.chars().map(|c| GroupId::new(c.to_string())).collect::<Vec<_>>();
        let rows = [
            ("abc", "abc", 0, false, ""),
            ("abc", "abcd", 1, false, "1 new"),
            ("abc", "dabce", 2, false, "2 new"),
            ("abc", "acb", 0, true, "Order changed"),
            ("abc", "ab", 0, true, "Order changed"),
            ("abc", "xba", 1, true, "1 new"),
            ("", "ab", 2, false, "2 new"),
        ];
        for (shown, wanted, new, moved, words) in rows {
            let pending = Pending::between(&ids(shown), &ids(wanted));
            assert_eq!(pending, Pending { new, moved }, "{shown} {wanted}");
            assert_eq!(pending.words(), words);
        }
    }
}
