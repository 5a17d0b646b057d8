//! The order of a list of letters: its column, its direction, and what the page says when not all letters are loaded.

use crate::money::count;
use crate::sorted::sorted;
use domain::money::Decimal;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use wire::LetterRow;

/// The most letters that are loaded to sort them: 25 requests of the largest page.
pub const SORTED_MAX: usize = 25 * domain::limits::PAGE_MAX;

/// A column by which letters are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LetterColumn {
    /// The time of the first send: the order of the API and of replays.
    #[default]
    Sent,
    /// The money.
    Money,
    /// The time of the latest failure.
    Failed,
    /// The time until the letter is lost.
    Loss,
    /// The number of failures.
    Failures,
    /// The number of replays.
    Replays,
}

impl LetterColumn {
    /// All columns.
    pub const ALL: [Self; 6] = [Self::Sent, Self::Money, Self::Failed, Self::Loss, Self::Failures, Self::Replays];

    /// Returns the column's word in the URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Money => "money",
            Self::Failed => "failed",
            Self::Loss => "loss",
            Self::Failures => "failures",
            Self::Replays => "replays",
        }
    }

    /// Returns whether the first click sorts downwards. Time to loss begins with the letters that are lost first, all
    /// else with the most or the latest; the time of sending keeps the order of the API.
    fn falls(self) -> bool {
        !matches!(self, Self::Sent | Self::Loss)
    }
}

/// A column with a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LetterOrder {
    /// The column.
    pub column: LetterColumn,
    /// Whether the direction is the opposite of the column's own.
    pub is_reversed: bool,
}

impl LetterOrder {
    /// Parses the word in the URL: `money`, or `-money` for the opposite direction.
    pub fn parse(word: &str) -> Option<Self> {
        let (name, is_reversed) = word.strip_prefix('-').map_or((word, false), |name| (name, true));
        let column = LetterColumn::ALL.into_iter().find(|column| column.as_str() == name)?;
        Some(Self { column, is_reversed })
    }

    /// Returns the word in the URL. Empty for the default order.
    pub fn word(self) -> String {
        match (self == Self::default(), self.is_reversed) {
            (true, _) => String::new(),
            (_, reversed) => format!("{}{}", if reversed { "-" } else { "" }, self.column.as_str()),
        }
    }

    /// Returns the order after a click on a column's heading.
    pub fn clicked(self, column: LetterColumn) -> Self {
        Self { column, is_reversed: self.column == column && !self.is_reversed }
    }

    /// Returns a column's `aria-sort`.
    pub fn aria(self, column: LetterColumn) -> &'static str {
        match (self.column == column, column.falls() != self.is_reversed) {
            (false, _) => "none",
            (true, true) => "descending",
            (true, false) => "ascending",
        }
    }

    /// Sorts letters, and returns the first `max` of them. Those without a value come last in both directions. Amounts of
    /// different currencies are not compared: each currency is a block of its own, the commonest first.
    pub fn first(self, rows: &[LetterRow], max: usize) -> Vec<LetterRow> {
        if self == Self::default() {
            return rows.iter().take(max).cloned().collect();
        }
        let falls = self.column.falls() != self.is_reversed;
        let mut counts = BTreeMap::<&str, usize>::new();
        let values: Vec<_> = rows.iter().map(|row| value(self.column, row)).collect();
        for (block, _) in values.iter().flatten() {
            *counts.entry(block).or_default() += 1;
        }
        // Each letter's place in the order is computed once, not at each comparison.
        let places = values.iter().zip(rows).map(|(value, row)| {
            let (block, number) = value.unwrap_or_default();
            (Reverse(counts.get(block).copied().filter(|_| value.is_some())), block, number, row)
        });
        let sorted = sorted(places.collect(), |a, b| {
            let by_number = if falls { b.2.cmp(&a.2) } else { a.2.cmp(&b.2) };
            a.0.cmp(&b.0).then(a.1.cmp(b.1)).then(by_number).then_with(|| tie(a.3, b.3))
        });
        sorted.into_iter().take(max).map(|place| place.3.clone()).collect()
    }
}

/// Returns a letter's value in a column, with the block that it belongs to.
fn value(column: LetterColumn, row: &LetterRow) -> Option<(&str, Decimal)> {
    let number = |n: i64| ("", Decimal::from(n));
    match column {
        LetterColumn::Sent => Some(number(row.sent_at.as_ms())),
        LetterColumn::Money => {
            let money = row.impact.money.as_ref()?;
            Some((money.currency.as_str(), money.amount))
        }
        LetterColumn::Failed => Some(number(row.died_at.as_ms())),
        LetterColumn::Loss => row.loss_at.filter(|_| row.state.kind().is_open()).map(|at| number(at.as_ms())),
        LetterColumn::Failures => Some(number(row.deaths.into())),
        LetterColumn::Replays => Some(number(row.replays.into())),
    }
}

/// Letters of the same value stay in the order of the API.
fn tie(a: &LetterRow, b: &LetterRow) -> Ordering {
    (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id))
}

/// Says that a list is sorted only as far as it is loaded. `loaded` letters are loaded, and there are more.
pub fn partly_sorted(loaded: usize, is_loading: bool) -> String {
    let loaded = count(loaded as u64);
    match is_loading {
        true => format!("{loaded} letters loaded; loading more to sort them…"),
        false => format!("Sorted among the {loaded} letters sent first. Filter the list to sort all of them."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::letter_row;
    use domain::money::{Currency, Money};
    use domain::time::Timestamp;

    fn order(word: &str) -> LetterOrder {
        LetterOrder::parse(word).unwrap()
    }

    fn sorted(word: &str, rows: &[LetterRow]) -> Vec<String> {
        order(word).first(rows, usize::MAX).iter().map(|row| row.id.to_string()).collect()
    }

    fn row(id: &str, money: Option<(i64, &str)>, loss_at: Option<i64>) -> LetterRow {
        let mut row = letter_row(id);
        row.impact.money =
            money.map(|(amount, code)| Money { amount: amount.into(), currency: Currency::parse(code).unwrap() });
        row.loss_at = loss_at.map(Timestamp::from_ms);
        row
    }

    #[test]
    fn an_order_survives_the_url() {
        for column in LetterColumn::ALL {
            for is_reversed in [false, true] {
                let order = LetterOrder { column, is_reversed };
                let word = order.word();
                assert_eq!(LetterOrder::parse(&word).unwrap_or_default(), order, "{word}");
            }
        }
        assert_eq!(LetterOrder::default().word(), "");
        for wrong in ["", "-", "name", "money-", "--money"] {
            assert_eq!(LetterOrder::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_second_click_turns_the_order_round() {
        // (before, clicked, after, aria-sort of the clicked column)
        for (before, clicked, after, aria) in [
            ("sent", LetterColumn::Money, "money", "descending"),
            ("money", LetterColumn::Money, "-money", "ascending"),
            ("-money", LetterColumn::Money, "money", "descending"),
            ("-money", LetterColumn::Loss, "loss", "ascending"),
            ("loss", LetterColumn::Sent, "sent", "ascending"),
            ("sent", LetterColumn::Sent, "-sent", "descending"),
        ] {
            let next = order(before).clicked(clicked);
            assert_eq!((next, next.aria(clicked)), (order(after), aria), "{before}");
            assert_eq!(next.aria(LetterColumn::Failures), "none");
        }
    }

    #[test]
    fn amounts_are_compared_within_a_currency() {
        let rows = [
            row("yen", Some((1_234_567, "BRL")), None),
            row("none", None, Some(3)),
            row("less", Some((5, "EUR")), Some(2)),
            row("more", Some((64_000, "EUR")), Some(9)),
        ];
        for (word, ids) in [
            ("money", ["more", "less", "yen", "none"]),
            ("-money", ["less", "more", "yen", "none"]),
            ("loss", ["less", "none", "more", "yen"]),
            ("-loss", ["more", "none", "less", "yen"]),
        ] {
            assert_eq!(sorted(word, &rows), ids, "{word}");
        }
        let first = order("money").first(&rows, 2);
        assert_eq!(first.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["more", "less"]);
        // The default order is the API's, whatever the rows say.
        assert_eq!(sorted("sent", &rows), ["yen", "none", "less", "more"]);
    }

    #[test]
    fn a_list_that_is_not_complete_says_so() {
        assert_eq!(partly_sorted(250, true), "250 letters loaded; loading more to sort them…");
        let words = "Sorted among the 1,000 letters sent first. Filter the list to sort all of them.";
        assert_eq!(partly_sorted(1_000, false), words);
    }
}
