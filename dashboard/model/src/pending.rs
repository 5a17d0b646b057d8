//! The order on the screen against the order that the latest answer would give: rows never jump under a person's
//! hands, what is new waits until they ask.

use domain::id::GroupId;
use std::collections::HashSet;

/// What has changed since the order on the screen was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Groups that are not on the screen yet.
    pub new: usize,
    /// Whether others would stand elsewhere or have left.
    pub moved: bool,
}

impl Pending {
    /// Compares the order on the screen with the one it would have now.
    pub fn between(shown: &[GroupId], wanted: &[GroupId]) -> Self {
        let known: HashSet<&GroupId> = shown.iter().collect();
        let stayed = wanted.iter().filter(|id| known.contains(id));
        let new = wanted.len() - stayed.clone().count();
        Self { new, moved: !stayed.eq(shown.iter()) }
    }

    /// Whether there is nothing to show.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// In words.
    pub fn words(&self) -> String {
        match (self.new, self.moved) {
            (0, false) => String::new(),
            (0, true) => "The order has changed".to_string(),
            (new, _) => format!("{new} new"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_order_are_told_not_done() {
        let ids = |text: &str| text.chars().map(|c| GroupId::new(c.to_string())).collect::<Vec<_>>();
        let rows = [
            ("abc", "abc", 0, false, ""),
            ("abc", "abcd", 1, false, "1 new"),
            ("abc", "dabce", 2, false, "2 new"),
            ("abc", "acb", 0, true, "The order has changed"),
            ("abc", "ab", 0, true, "The order has changed"),
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
