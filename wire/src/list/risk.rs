//! Ranks by money at risk. Amounts of different currencies are never compared by their numbers.

use crate::GroupRow;
use crate::sorted::sorted;
use alloc::vec;
use alloc::vec::Vec;
use domain::money::{Currency, Money};
use domain::policy::Rates;

/// Returns each row's rank by money at risk: 0 for the most. Rows without money come last.
///
/// If every row with money has a converted total ([`GroupRow::about`]), that decides. Otherwise each currency is ranked by
/// itself, and a row has its best rank of all its currencies: the largest sum of each currency comes first.
pub fn risk_ranks(rows: &[&GroupRow]) -> Vec<u64> {
    let is_rated = rows.iter().all(|row| row.open.money.is_empty() || row.about.is_some());
    let sums = rows.iter().enumerate().flat_map(|(at, row)| {
        let money = if is_rated { row.about.as_slice() } else { row.open.money.sums() };
        money.iter().map(move |sum| (*sum, at))
    });
    let sums = sorted(sums.collect(), |(a, _), (b, _)| a.currency.cmp(&b.currency).then(b.amount.cmp(&a.amount)));
    let mut ranks = vec![u64::MAX; rows.len()];
    let (mut place, mut rank) = (0, 0);
    let mut before: Option<Money> = None;
    for (sum, at) in sums {
        if before.is_none_or(|before| before.currency != sum.currency) {
            (place, rank) = (0, 0);
        } else if before.is_some_and(|before| before.amount != sum.amount) {
            // Equal sums have the same rank.
            rank = place;
        }
        ranks[at] = ranks[at].min(rank);
        place += 1;
        before = Some(sum);
    }
    ranks
}

/// Returns the currencies of these rows whose amounts cannot be compared: those without a rate, if there are several
/// currencies.
pub fn unrated(rows: &[GroupRow], rates: Option<&Rates>) -> Vec<Currency> {
    let sums = rows.iter().flat_map(|row| row.open.money.sums());
    let mut found: Vec<Currency> = sums.map(|sum| sum.currency).collect();
    found.sort_unstable();
    found.dedup();
    if found.len() < 2 {
        return Vec::new();
    }
    found.retain(|currency| rates.is_none_or(|rates| rates.rate_for(*currency).is_none()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::sample;
    use alloc::format;
    use domain::money::Purse;

    /// Returns rows with these sums (`1234567 JPY, 5 EUR`), converted if there are rates.
    fn rows(texts: &[&str], rates: Option<&Rates>) -> Vec<GroupRow> {
        let row = |(at, text): (usize, &&str)| {
            let mut row = sample::row(&format!("{at}"), 1, None, 1, None, None, 0);
            let mut purse = Purse::empty();
            for sum in text.split(", ").filter(|sum| !sum.is_empty()) {
                let (amount, currency) = sum.split_once(' ').unwrap();
                purse.add(Money { amount: amount.parse().unwrap(), currency: Currency::parse(currency).unwrap() });
            }
            row.about = rates.and_then(|rates| rates.convert(&purse));
            row.open.money = purse;
            row
        };
        texts.iter().enumerate().map(row).collect()
    }

    fn rates() -> Rates {
        serde_json::from_str(r#"{ "base": "EUR", "date": "2026-11-20", "values": { "JPY": "0.0055", "USD": "0.9" } }"#)
            .unwrap()
    }

    #[test]
    fn yen_are_not_euros() {
        let texts = ["1234567 JPY", "64000 EUR", "", "500 EUR", "2000000 JPY", "100 EUR, 1300000 JPY", "64000 EUR"];
        let ranks = |rates: Option<&Rates>| risk_ranks(&rows(&texts, rates).iter().collect::<Vec<_>>());
        // By rate: 6,790 EUR, 64,000 EUR, nothing, 500 EUR, 11,000 EUR, 7,250 EUR, 64,000 EUR.
        assert_eq!(ranks(Some(&rates())), [4, 0, u64::MAX, 5, 2, 3, 0]);
        // Without rates, the largest sum of each currency comes first.
        assert_eq!(ranks(None), [2, 0, u64::MAX, 2, 0, 1, 0]);
    }

    #[test]
    fn one_currency_without_a_rate_makes_all_of_them_incomparable() {
        let rates = rates();
        let rows = rows(&["10 EUR", "9 CHF", "500 JPY"], Some(&rates));
        assert_eq!(risk_ranks(&rows.iter().collect::<Vec<_>>()), [0, 0, 0]);
        assert_eq!(unrated(&rows, Some(&rates)), [Currency::parse("CHF").unwrap()]);
        assert_eq!(unrated(&rows, None).len(), 3);
        assert!(unrated(&rows[..1], None).is_empty(), "a single currency needs no rate");
    }
}
