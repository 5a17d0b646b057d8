//! The sort orders of the list of groups.

use super::fold::folded;
use super::risk::risk_ranks;
use crate::GroupRow;
use crate::sorted::sorted;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// A sort order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The office's own order: by next step, money, time to expiry.
    #[default]
    Attention,
    /// By title.
    Title,
    /// By failures in the last hour.
    Arrivals,
    /// By open letters.
    Letters,
    /// By money at risk.
    Risk,
    /// By customers.
    Customers,
    /// By the age of the oldest open letter.
    Age,
    /// By the time until the first letter expires.
    Loss,
}

/// A sort direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dir {
    /// Least first.
    Asc,
    /// Greatest first.
    Desc,
}

impl Dir {
    /// Both directions.
    pub const ALL: [Self; 2] = [Self::Asc, Self::Desc];

    /// Returns the direction's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asc => "asc",
            Self::Desc => "desc",
        }
    }

    /// Returns the opposite direction.
    pub fn opposite(self) -> Self {
        match self {
            Self::Asc => Self::Desc,
            Self::Desc => Self::Asc,
        }
    }
}

impl Sort {
    /// All sort orders.
    pub const ALL: [Self; 8] = [
        Self::Attention,
        Self::Title,
        Self::Arrivals,
        Self::Letters,
        Self::Risk,
        Self::Customers,
        Self::Age,
        Self::Loss,
    ];

    /// Returns the order's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Attention => "attention",
            Self::Title => "title",
            Self::Arrivals => "arrivals",
            Self::Letters => "letters",
            Self::Risk => "risk",
            Self::Customers => "customers",
            Self::Age => "age",
            Self::Loss => "loss",
        }
    }

    /// Returns the order's label.
    pub fn label(self) -> &'static str {
        match self {
            Self::Attention => "Attention",
            Self::Title => "Error",
            Self::Arrivals => "Last hour",
            Self::Letters => "Letters",
            Self::Risk => "At risk",
            Self::Customers => "Customers",
            Self::Age => "Oldest",
            Self::Loss => "Expires in",
        }
    }

    /// Returns the direction that puts the worst group first.
    pub fn worst_first(self) -> Dir {
        match self {
            Self::Title | Self::Loss => Dir::Asc,
            _ => Dir::Desc,
        }
    }
}

/// Sorts rows that arrive in attention order. Ties keep that order. Rows without a value come last in both directions.
pub fn sort(rows: &mut Vec<&GroupRow>, by: Sort, dir: Dir) {
    if by == Sort::Attention {
        if dir != by.worst_first() {
            rows.reverse();
        }
        return;
    }
    if by == Sort::Risk {
        return sort_by_risk(rows, dir);
    }
    *rows = sorted(core::mem::take(rows), |a, b| {
        let missing = |row: &GroupRow| match by {
            Sort::Age => row.oldest_sent_at.is_none(),
            Sort::Loss => row.loss_at.is_none(),
            _ => false,
        };
        missing(a).cmp(&missing(b)).then_with(|| {
            let order = compare(a, b, by);
            if dir == Dir::Desc { order.reverse() } else { order }
        })
    });
}

/// Sorts by rank, as the order of attention does: rows without money come last in both directions.
fn sort_by_risk(rows: &mut Vec<&GroupRow>, dir: Dir) {
    let ranked = core::mem::take(rows);
    let ranks = risk_ranks(&ranked);
    let key = |rank: u64| (rank == u64::MAX, if dir == Dir::Desc { rank } else { u64::MAX - rank });
    let ranked = sorted(ranked.into_iter().zip(ranks).collect(), |a, b| key(a.1).cmp(&key(b.1)));
    *rows = ranked.into_iter().map(|(row, _)| row).collect();
}

fn compare(a: &GroupRow, b: &GroupRow, by: Sort) -> Ordering {
    match by {
        Sort::Attention | Sort::Risk => Ordering::Equal,
        Sort::Title => folded(&a.title).cmp(&folded(&b.title)),
        Sort::Arrivals => a.arrivals_last_hour.cmp(&b.arrivals_last_hour),
        Sort::Letters => a.open.letters.cmp(&b.open.letters),
        Sort::Customers => a.customers.number().cmp(&b.customers.number()),
        // The older, the greater its age.
        Sort::Age => b.oldest_sent_at.cmp(&a.oldest_sent_at),
        Sort::Loss => a.loss_at.cmp(&b.loss_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::sample;
    use alloc::vec::Vec;

    fn check(by: Sort, dir: Dir, expected: &str) {
        // title, letters, euros, customers, sent (hours ago), expiry (hours from now), failures in the last hour
        let rows = [
            sample::row("b", 10, Some(5), 1, Some(2), Some(9), 0),
            sample::row("a", 30, None, 3, Some(50), Some(1), 4),
            sample::row("C", 20, Some(900), 2, None, None, 4),
        ];
        let mut refs: Vec<&GroupRow> = rows.iter().collect();
        sort(&mut refs, by, dir);
        let titles: Vec<&str> = refs.iter().map(|row| row.title.as_str()).collect();
        assert_eq!(titles.join(" "), expected, "{by:?} {dir:?}");
    }

    #[test]
    fn rows_are_ordered_worst_first_and_missing_values_last() {
        check(Sort::Attention, Dir::Desc, "b a C");
        check(Sort::Attention, Dir::Asc, "C a b");
        check(Sort::Title, Dir::Asc, "a b C");
        check(Sort::Letters, Dir::Desc, "a C b");
        check(Sort::Letters, Dir::Asc, "b C a");
        check(Sort::Risk, Dir::Desc, "C b a");
        check(Sort::Risk, Dir::Asc, "b C a");
        check(Sort::Customers, Dir::Desc, "a C b");
        check(Sort::Age, Dir::Desc, "a b C");
        check(Sort::Age, Dir::Asc, "b a C");
        check(Sort::Loss, Dir::Asc, "a b C");
        check(Sort::Arrivals, Dir::Desc, "a C b");
    }
}
