//! An amount and its currency: exact decimals, in major or minor units.

use crate::limits::{AMOUNT_END, AMOUNT_SCALE_MAX};
use crate::money::{Currency, Decimal, Money};
use crate::read::json::Raw;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The longest text that is tried as a number: 28 digits, a sign, a point, an exponent, and generous zeros.
const NUMBER_BYTES_MAX: usize = 64;

/// `=EUR` is the currency itself; anything else points to it.
pub fn currency_at(body: Raw<'_>, rule: &str) -> Option<Currency> {
    match rule.strip_prefix('=') {
        Some(fixed) => Currency::parse(fixed),
        None => Currency::parse(&body.pointer(rule)?.as_text()?),
    }
}

/// The exact decimal of a number, or of a string that is nothing but one.
pub fn decimal(raw: Raw<'_>) -> Option<Decimal> {
    let text = raw.as_text().or_else(|| raw.as_number().map(Cow::Borrowed))?;
    let text = text.trim();
    if text.len() > NUMBER_BYTES_MAX || text.is_empty() {
        return None;
    }
    if text.contains(['e', 'E']) { Decimal::from_scientific(text).ok() } else { Decimal::from_str_exact(text).ok() }
}

/// The money, without its sign: a refund that fails is as bad as a payment.
pub fn money(
    amount: Option<Raw<'_>>,
    currency: Option<Currency>,
    minor: bool,
    remarks: &mut Vec<String>,
) -> Option<Money> {
    let Some(amount) = decimal(amount?) else {
        remarks.push("The amount is not a number that fits 28 digits.".to_string());
        return None;
    };
    let Some(currency) = currency else {
        remarks.push("There is an amount, but no currency.".to_string());
        return None;
    };
    let amount = amount.abs();
    let amount = if minor { amount.checked_div(Decimal::from(10_u32.pow(minor_digits(currency))))? } else { amount };
    if amount >= Decimal::from(AMOUNT_END) {
        remarks.push("The amount is too large to be money.".to_string());
        return None;
    }
    if amount.scale() <= AMOUNT_SCALE_MAX {
        return Some(Money { amount, currency });
    }
    let rounded = amount.round_dp(AMOUNT_SCALE_MAX).normalize();
    if rounded != amount {
        remarks.push(format!("The amount was rounded to {AMOUNT_SCALE_MAX} digits after its point."));
    }
    Some(Money { amount: rounded, currency })
}

/// The digits after the point of a currency's minor unit (ISO 4217, list one; two where it is not listed).
pub fn minor_digits(currency: Currency) -> u32 {
    match currency.as_str() {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI" | "VND"
        | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        "CLF" | "UYW" => 4,
        _ => 2,
    }
}

/// An amount written as an object, `{"value":"12.50","currency":"EUR"}`: the key, the number, the currency.
pub fn amount_object(value: Raw<'_>) -> Option<(&'static str, Raw<'_>, Option<Currency>)> {
    let (key, amount) = ["value", "amount", "total"]
        .into_iter()
        .find_map(|key| Some((key, value.get(key)?)))
        .filter(|(_, raw)| decimal(*raw).is_some())?;
    let currency: Option<String> =
        ["currency", "currencyCode", "currency_code"].iter().find_map(|key| value.string(key));
    Some((key, amount, currency.and_then(|text| Currency::parse(&text))))
}
