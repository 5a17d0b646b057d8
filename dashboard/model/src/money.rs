//! Money as text: exact to the last stored digit, grouped by thousands.

use super::sorted::sorted;
use domain::group::Customers;
use domain::money::{Currency, Money, Purse};
use domain::text::grouped;

/// An amount in two parts, so that the page can show the minor unit in a quieter colour.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Sign, symbol and major unit: `€1,234`.
    pub major: String,
    /// The minor unit with its point: `.50`. Empty if the currency has no minor unit.
    pub minor: String,
}

impl Amount {
    /// Returns both parts as one text.
    pub fn text(&self) -> String {
        format!("{}{}", self.major, self.minor)
    }
}

/// Formats an amount of money.
pub fn amount(money: &Money) -> Amount {
    let digits = minor_digits(money.currency.as_str());
    // Rescaling only adds zeros: an amount keeps its digits beyond the currency's minor unit.
    let mut exact = money.amount.normalize();
    if exact.scale() < digits {
        exact.rescale(digits);
    }
    let text = exact.abs().to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let sign = if exact.is_sign_negative() && !exact.is_zero() { "−" } else { "" };
    let major = format!("{sign}{}{}", symbol(money.currency.as_str()), grouped(whole));
    Amount { major, minor: if fraction.is_empty() { String::new() } else { format!(".{fraction}") } }
}

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

/// Returns the number of minor digits per ISO 4217.
fn minor_digits(currency: &str) -> u32 {
    match currency {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "VND" | "VUV"
        | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

/// Returns an unambiguous symbol, or the currency's code and a narrow space.
fn symbol(currency: &str) -> String {
    match currency {
        "EUR" => "€".to_string(),
        "USD" => "$".to_string(),
        "GBP" => "£".to_string(),
        "JPY" => "¥".to_string(),
        "INR" => "₹".to_string(),
        code => format!("{code}\u{202f}"),
    }
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
    fn money_is_shown_exactly() {
        let rows = [
            ("0.5 EUR", "€0.50"),
            ("12 EUR", "€12.00"),
            ("1234.5 EUR", "€1,234.50"),
            ("1234567.89 USD", "$1,234,567.89"),
            ("1234.500 EUR", "€1,234.50"),
            ("0.001 EUR", "€0.001"),
            ("-7.25 GBP", "−£7.25"),
            ("100000 JPY", "¥100,000"),
            ("1.5 KWD", "KWD\u{202f}1.500"),
            ("79228162514264337593543950335 EUR", "€79,228,162,514,264,337,593,543,950,335"),
        ];
        for (input, output) in rows {
            let shown = amount(&money(input)).text();
            // A decimal of 29 digits has no room for the cents.
            assert!(shown == output || shown == format!("{output}.00"), "{input}: {shown}");
        }
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
