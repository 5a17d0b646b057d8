//! How many customers a group has. Each variant counts its own; a group counts each of them once.

use super::Variant;
use crate::id::GroupId;
use crate::limits::{CUSTOMERS_PER_VARIANT, CUSTOMERS_READ_MAX};
use alloc::vec::Vec;
use core::cmp::Reverse;
use serde::{Deserialize, Serialize};

/// A number of different customers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "Shown", into = "Shown")]
pub enum Customers {
    /// This many.
    Exact(u64),
    /// This many or fewer: whoever has letters in several merged variants may be counted in each of them.
    AtMost(u64),
}

/// The form of [`Customers`] in JSON.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Shown {
    /// Different customers with letters in this group.
    customers: u64,
    /// Whether there may be fewer: whoever has letters in several merged variants may be counted in each of them. Sweep
    /// counts each customer once within minutes, for groups of up to 10,000 customers in all variants together.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    customers_at_most: bool,
}

impl From<Shown> for Customers {
    fn from(shown: Shown) -> Self {
        if shown.customers_at_most { Self::AtMost(shown.customers) } else { Self::Exact(shown.customers) }
    }
}

impl From<Customers> for Shown {
    fn from(customers: Customers) -> Self {
        Self { customers: customers.number(), customers_at_most: matches!(customers, Customers::AtMost(_)) }
    }
}

impl Customers {
    /// Returns the number, or the highest that it can be.
    pub fn number(self) -> u64 {
        match self {
            Self::Exact(number) | Self::AtMost(number) => number,
        }
    }
}

/// The customers of several variants, counted in both ways at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedCustomers {
    /// The customers of each variant, added up.
    pub sum: u64,
    /// The different ones among them.
    pub different: u64,
}

/// Chooses the groups whose customers a sweep counts, from representatives and the sums of their variants' customers: first
/// those whose sum has grown most, as many as one sweep reads.
pub fn groups_to_count<'a>(groups: impl Iterator<Item = (&'a Variant, u64)>) -> Vec<&'a GroupId> {
    let due = groups.filter_map(|(group, sum)| {
        let read = sum + CUSTOMERS_PER_VARIANT * (1 + group.merge.members.len() as u64);
        Some((group.merge.uncounted(sum)?, read, &group.id))
    });
    let mut due: Vec<_> = due.collect();
    due.sort_by_key(|(grown, ..)| Reverse(*grown));
    let mut left = CUSTOMERS_READ_MAX;
    due.retain(|(_, read, _)| {
        let after = left.checked_sub(*read);
        left = after.unwrap_or(left);
        after.is_some()
    });
    due.into_iter().map(|(.., id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::Customers::{AtMost, Exact};
    use super::*;
    use crate::group::merging::MergeState;
    use crate::group::merging::tests::variant;
    use alloc::string::String;
    use alloc::vec;

    #[test]
    fn customers_are_exact_while_no_variant_has_more_than_were_counted() {
        let counted = |sum, different| Some(CountedCustomers { sum, different });
        // Members, what was counted, the sum now, what is shown, and by how much it has grown if it is to be counted.
        for (members, counted, sum, shown, uncounted) in [
            (0, None, 12_000, Exact(12_000), None),
            (1, None, 0, Exact(0), None),
            (1, None, 1, Exact(1), None),
            (1, None, 2, AtMost(2), Some(2)),
            (1, counted(5, 3), 5, Exact(3), None),
            (1, counted(5, 3), 7, AtMost(5), Some(2)),
            // Read before the last customers came.
            (1, counted(5, 3), 4, AtMost(4), Some(1)),
            (2, None, 10_000, AtMost(10_000), Some(10_000)),
            (2, None, 10_001, AtMost(10_001), None),
            (2, counted(9_999, 4_000), 10_001, AtMost(4_002), None),
        ] {
            let members = (0..members).map(|n| GroupId::new(alloc::format!("member {n}"))).collect();
            let merge = MergeState { members, counted, ..MergeState::default() };
            assert_eq!((merge.customers(sum), merge.uncounted(sum)), (shown, uncounted), "{sum} of {merge:?}");
        }
    }

    #[test]
    fn a_sweep_counts_the_groups_that_have_grown_most_up_to_its_limit() {
        let group = |id: &str, counted: Option<(u64, u64)>| {
            let mut group = variant(id, 0);
            group.merge.members.insert(GroupId::from("member"));
            group.merge.counted = counted.map(|(sum, different)| CountedCustomers { sum, different });
            group
        };
        let (few, many, known) =
            (group("few", None), group("many", Some((9_000, 9_000))), group("known", Some((5, 5))));
        let rows: Vec<(&Variant, u64)> = vec![(&known, 5), (&many, 9_400), (&few, 600), (&known, 10_001)];
        assert_eq!(groups_to_count(rows.into_iter()), [&few.id, &many.id]);

        let new: Vec<_> = (0..11).map(|n| group(&alloc::format!("new {n:02}"), None)).collect();
        let rows = [(&many, 9_001), (&few, 1_000)].into_iter().chain(new.iter().map(|group| (group, 9_999)));
        let chosen = groups_to_count(rows.clone());
        let expected: Vec<_> = new[..9].iter().chain([&few]).map(|group| &group.id).collect();
        assert_eq!(chosen, expected, "nine of the largest, and a small one beside them");
        let rows = rows.filter(|(group, _)| !chosen.contains(&&group.id));
        assert_eq!(groups_to_count(rows), [&new[9].id, &new[10].id, &many.id], "the others in the next sweep");
    }

    #[test]
    fn json_marks_a_number_that_may_be_too_high() {
        for (customers, json) in
            [(Exact(3), r#"{"customers":3}"#), (AtMost(3), r#"{"customers":3,"customers_at_most":true}"#)]
        {
            assert_eq!(serde_json::to_string(&customers).ok(), Some(String::from(json)));
            assert_eq!(serde_json::from_str::<Customers>(json).ok(), Some(customers));
        }
    }
}
