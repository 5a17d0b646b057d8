//! Exchange rates, for ranking groups by money at risk.

use crate::money::{Currency, Decimal, Money, Purse};
use alloc::collections::BTreeMap;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The highest accepted rate. The largest real one between two currencies of ISO 4217 is below a million.
const RATE_END: i64 = 1_000_000_000;

/// Exchange rates of a team. The office ranks groups and adds up money with them, says "about", and never books anything
/// by them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// The currency that amounts are converted to.
    pub base: Currency,
    /// The day of the rates, for example `2026-11-20`. Pages show it beside converted amounts.
    pub date: String,
    /// The value of one unit of each currency in the base currency: a decimal in a string, above 0.
    pub values: BTreeMap<Currency, Rate>,
}

/// The value of one unit of a currency: above 0 and below 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
#[serde(try_from = "String", into = "String")]
pub struct Rate(Decimal);

impl TryFrom<String> for Rate {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let rate = Decimal::from_str_exact(text.trim()).ok();
        let rate = rate.filter(|rate| *rate > Decimal::ZERO && *rate < RATE_END.into());
        rate.map(Self).ok_or("a rate must be a decimal above 0 and below 10^9 in a string, for example \"0.92\"")
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        alloc::format!("{}", rate.0)
    }
}

impl Rates {
    /// Returns the value of one unit of a currency in the base currency; `None` if it has no rate.
    pub fn rate_for(&self, currency: Currency) -> Option<Decimal> {
        if currency == self.base { Some(Decimal::ONE) } else { self.values.get(&currency).map(|rate| rate.0) }
    }

    /// Returns the sum of a purse in the base currency, to two decimal places. `None` without money, and if a currency has
    /// no rate or the sum is too large.
    pub fn convert(&self, purse: &Purse) -> Option<Money> {
        let sums = purse.sums();
        let amount = sums.iter().try_fold(Decimal::ZERO, |total, sum| {
            total.checked_add(sum.amount.checked_mul(self.rate_for(sum.currency)?)?)
        })?;
        (!sums.is_empty()).then(|| Money { amount: amount.round_dp(2), currency: self.base })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purses_are_converted_if_every_currency_has_a_rate() {
        let text = r#"{ "base": "EUR", "date": "2026-11-20", "values": { "JPY": "0.0055", "USD": "0.9" } }"#;
        let rates: Rates = serde_json::from_str(text).unwrap();
        let rows = [
            ("", None),
            ("10 EUR", Some("10")),
            ("1234567 JPY", Some("6790.12")),
            ("1 EUR, 2 USD", Some("2.80")),
            ("1 EUR, 2 CHF", None),
        ];
        for (purse, expected) in rows {
            let mut sums = Purse::empty();
            for sum in purse.split(", ").filter(|sum| !sum.is_empty()) {
                let (amount, currency) = sum.split_once(' ').unwrap();
                sums.add(Money { amount: amount.parse().unwrap(), currency: Currency::parse(currency).unwrap() });
            }
            let converted = rates.convert(&sums);
            assert_eq!(converted.map(|money| money.amount), expected.map(|text| text.parse().unwrap()), "{purse}");
        }
    }

    #[test]
    fn a_rate_is_a_positive_decimal() {
        for (rate, is_valid) in [("0.92", true), ("0", false), ("-1", false), ("x", false), ("1000000000", false)] {
            let text = alloc::format!(r#"{{ "base": "EUR", "date": "d", "values": {{ "USD": "{rate}" }} }}"#);
            assert_eq!(serde_json::from_str::<Rates>(&text).is_ok(), is_valid, "{rate}");
        }
        assert!(serde_json::from_str::<Rates>(r#"{ "base": "EUR", "date": "d", "values": { "USD": 1 } }"#).is_err());
    }
}
