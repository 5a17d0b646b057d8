//! An amount and its currency: exact decimals, in major or minor units.

use crate::limits::{AMOUNT_END, AMOUNT_SCALE_MAX};
use crate::money::{Currency, Decimal, Money};
use crate::read::json::Raw;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The longest text that is parsed as a number: 28 digits, a sign, a point, an exponent, and room for zeros.
const NUMBER_BYTES_MAX: usize = 64;

/// Resolves a currency rule: `=EUR` is a fixed currency, anything else is a pointer to it.
pub fn currency_at(body: Raw<'_>, rule: &str) -> Option<Currency> {
    match rule.strip_prefix('=') {
        Some(fixed) => Currency::parse(fixed),
        None => Currency::parse(&body.pointer(rule)?.as_text()?),
    }
}

/// Returns the exact decimal of a JSON number, or of a string that contains only a number.
pub fn decimal(raw: Raw<'_>) -> Option<Decimal> {
    let text = raw.as_text().or_else(|| raw.as_number().map(Cow::Borrowed))?;
    let text = text.trim();
    if text.len() > NUMBER_BYTES_MAX || text.is_empty() {
        return None;
    }
    if text.contains(['e', 'E']) { Decimal::from_scientific(text).ok() } else { Decimal::from_str_exact(text).ok() }
}

/// Returns the money without its sign: a failed refund is as bad as a failed payment.
pub fn money(
    amount: Option<Raw<'_>>,
    currency: Option<Currency>,
    minor: bool,
    remarks: &mut Vec<String>,
) -> Option<Money> {
    let Some(amount) = decimal(amount?) else {
        remarks.push("The amount is ignored: it is not a number of at most 28 digits.".to_string());
        return None;
    };
    let Some(currency) = currency else {
        remarks.push("The amount is ignored: its currency is missing.".to_string());
        return None;
    };
    let amount = amount.abs();
    let amount = if minor { amount.checked_div(Decimal::from(10_u32.pow(minor_digits(currency))))? } else { amount };
    if amount >= Decimal::from(AMOUNT_END) {
        remarks.push("The amount is ignored: it is implausibly large.".to_string());
        return None;
    }
    if amount.scale() <= AMOUNT_SCALE_MAX {
        return Some(Money { amount, currency });
    }
    let rounded = amount.round_dp(AMOUNT_SCALE_MAX).normalize();
    if rounded != amount {
        remarks.push(format!("The amount was rounded to {AMOUNT_SCALE_MAX} decimal places."));
    }
    Some(Money { amount: rounded, currency })
}

/// Returns the number of decimal places of a currency's minor unit (ISO 4217, list one; 2 for unlisted currencies).
pub fn minor_digits(currency: Currency) -> u32 {
    match currency.as_str() {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI" | "VND"
        | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}

/// Reads an amount that is an object, `{"value":"12.50","currency":"EUR"}`: returns the key, the number, the currency.
pub fn amount_object(value: Raw<'_>) -> Option<(&'static str, Raw<'_>, Option<Currency>)> {
    let (key, amount) = ["value", "amount", "total"]
        .into_iter()
        .find_map(|key| Some((key, value.get(key)?)))
        .filter(|(_, raw)| decimal(*raw).is_some())?;
    let currency: Option<String> =
        ["currency", "currencyCode", "currency_code"].iter().find_map(|key| value.string(key));
    Some((key, amount, currency.and_then(|text| Currency::parse(&text))))
}
