//! Numbers by their digits: equal if they have the same value, in whatever notation.

use jaq_json::Num;
use std::borrow::Cow;

/// Returns whether a text is a JSON number.
pub fn is_json(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

/// Parses a number. Decimals keep all their digits, and integers may have any size.
pub fn read(text: &str) -> Num {
    // As an integer, `-0` would lose its sign.
    let decimal = text == "-0" || text.contains(['.', 'e', 'E']);
    let integer = (!decimal).then(|| Num::from_str_radix(text, 10)).flatten();
    integer.unwrap_or_else(|| Num::Dec(text.to_string().into()))
}

/// Returns the JSON text of a number; `None` for NaN and infinity.
pub fn write(number: &Num) -> Option<Cow<'_, str>> {
    match number {
        Num::Int(_) | Num::BigInt(_) => Some(Cow::Owned(number.to_string())),
        Num::Float(float) => float.is_finite().then(|| Cow::Owned(number.to_string())).filter(|text| is_json(text)),
        Num::Dec(text) if is_json(text) => Some(Cow::Borrowed(text.as_str())),
        // `tonumber` accepts numbers that are not valid JSON: `"+1.50" | tonumber`, `"007.5" | tonumber`.
        Num::Dec(text) => {
            let unsigned = text.trim_start_matches(['+', '-']);
            let sign = if text.starts_with('-') { "-" } else { "" };
            let whole = unsigned.trim_start_matches('0');
            let zero = if whole.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
            Some(format!("{sign}{zero}{whole}")).filter(|text| is_json(text)).map(Cow::Owned)
        }
    }
}

/// Returns whether two number texts have the same value.
pub fn same(a: &str, b: &str) -> bool {
    a == b || canonical(a).is_some_and(|a| canonical(b).is_some_and(|b| a == b))
}

/// Returns the sign, the digits without leading and trailing zeros, and the exponent of the last digit. Zero has no sign
/// and no digits.
fn canonical(text: &str) -> Option<(bool, String, i64)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent: i64 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some((false, String::new(), 0));
    }
    let zeros = (digits.len() - significant.len()) as i64;
    let exponent = exponent.checked_sub(fraction.len() as i64)?.checked_add(zeros)?;
    Some((text.starts_with('-'), significant.into(), exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_by_value_and_not_by_text_or_float() {
        let rows = [
            ("1.10", "1.1", true),
            ("1e2", "100", true),
            ("0.1000", "1E-1", true),
            ("-0", "0", true),
            ("0.0", "0e400", true),
            ("1e400", "10e399", true),
            ("1e400", "1e401", false),
            ("123456789012345678901234567890.1", "123456789012345678901234567890.2", false),
            ("9007199254740993", "9007199254740992", false),
            ("-1", "1", false),
            ("1e99999999999999999999", "1e99999999999999999998", false),
        ];
        for (a, b, same) in rows {
            assert_eq!(super::same(a, b), same, "{a} and {b}");
        }
    }

    #[test]
    fn every_written_number_is_json() {
        for (text, written) in
            [("+1.50", Some("1.50")), ("007.5", Some("7.5")), ("000.5", Some("0.5")), ("-00.5", Some("-0.5"))]
        {
            let number = Num::Dec(text.to_string().into());
            assert_eq!(write(&number).as_deref(), written, "{text}");
        }
        for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(write(&Num::Float(float)), None, "{float}");
        }
        for float in [0.1, 1e21, 1e-7, -2.5, 1e300, 3.0] {
            let text = write(&Num::Float(float)).map(Cow::into_owned).unwrap();
            assert!(is_json(&text), "{text}");
            assert_eq!(text.parse::<f64>().unwrap(), float);
        }
    }
}
