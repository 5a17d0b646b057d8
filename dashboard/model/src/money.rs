//! Money as text: exact to the last stored digit, grouped by thousands.

use super::sorted::sorted;
use domain::group::Customers;
use domain::money::{Currency, Money, Purse};
use domain::text::grouped;

pub use domain::money::{Amount, amount};

/// Formats all sums of a purse in one line: `€1,234.00 + $50.00`. An empty purse is a dash.
pub fn line(purse: &Purse) -> String {
    if purse.is_empty() {
        return "—".to_string();
    }
    by_size(purse).iter().map(|sum| amount(sum).text()).collect::<Vec<_>>().join(" + ")
}

/// Returns the sums, largest figure first. Currencies are not converted.
pub fn by_size(purse: &Purse) -> Vec<Money> {
    sorted(purse.sums().to_vec(), |a, b| b.amount.cmp(&a.amount).then_with(|| a.currency.cmp(&b.currency)))
}

/// Explains that currencies are not compared. Returns `None` if all of them have a rate.
pub fn not_compared(unrated: &[Currency]) -> Option<String> {
    let names: Vec<&str> = unrated.iter().map(Currency::as_str).collect();
    let (last, others) = names.split_last()?;
    let names = if others.is_empty() { (*last).to_string() } else { format!("{} and {last}", others.join(", ")) };
    Some(format!("Currencies are not compared: the policy has no rates for {names}. Each is ranked by itself."))
}

/// Formats a converted total: `about €64,000`.
pub fn about(money: &Money) -> String {
    let whole = Money { amount: money.amount.round(), ..*money };
    format!("about {}", amount(&whole).major)
}

/// Formats a converted total that is not complete: `≥ €64,000`. It is rounded down, because it is a lower bound.
pub fn at_least(money: &Money) -> String {
    let whole = Money { amount: money.amount.floor(), ..*money };
    format!("≥ {}", amount(&whole).major)
}

/// Formats a count, grouped by thousands.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Formats a count that is signed in the API. A negative count is shown as 0.
pub fn count_signed(n: i64) -> String {
    count(n.max(0).unsigned_abs())
}

/// Formats a number of customers. One that may be too high says so: `≤ 42`.
pub fn customers(customers: Customers) -> String {
    match customers {
        Customers::Exact(n) => count(n),
        Customers::AtMost(n) => format!("≤ {}", count(n)),
    }
}

/// Formats a count with its noun: `1 letter`, `2,000 letters`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::money::Currency;

    fn money(text: &str) -> Money {
        let (amount, currency) = text.split_once(' ').unwrap();
        Money { amount: amount.parse().unwrap(), currency: Currency::parse(currency).unwrap() }
    }

    #[test]
    fn a_count_that_may_be_too_high_says_so() {
        for (n, text) in
            [(Customers::Exact(2), "2"), (Customers::AtMost(2), "≤ 2"), (Customers::AtMost(1_234), "≤ 1,234")]
        {
            assert_eq!(customers(n), text);
        }
    }

    #[test]
    fn purses_show_the_largest_sum_first() {
        let mut purse = Purse::empty();
        assert_eq!(line(&purse), "—");
        purse.add(money("5 EUR"));
        purse.add(money("70 USD"));
        assert_eq!(line(&purse), "$70.00 + €5.00");
    }

    #[test]
    fn converted_and_incomparable_money_says_so() {
        assert_eq!(about(&money("6790.62 EUR")), "about €6,791");
        assert_eq!(at_least(&money("6790.62 EUR")), "≥ €6,790");
        let codes = |text: &str| text.split_whitespace().filter_map(Currency::parse).collect::<Vec<_>>();
        assert_eq!(not_compared(&[]), None);
        let words = not_compared(&codes("CHF EUR USD")).unwrap();
        assert!(words.contains("no rates for CHF, EUR and USD."), "{words}");
    }

    #[test]
    fn counts_are_grouped() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), text);
        }
        assert_eq!(count_signed(-3), "0");
        assert_eq!(counted(1, "letter", "letters"), "1 letter");
        assert_eq!(counted(1200, "letter", "letters"), "1,200 letters");
    }
}
