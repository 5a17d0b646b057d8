//! What a letter costs, read from its body: by the policy's pointers, else by common names.

use super::json::Raw;
use super::when;
use crate::impact::Impact;
use crate::money::{Currency, Decimal, Money};
use crate::policy::{MessageTypeRule, Policy};
use crate::time::Timestamp;
use alloc::collections::VecDeque;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Names of amounts in the major unit, the best first. Written without case, `_` and `-`.
const AMOUNTS: &[&str] = &[
    "totalamount",
    "grandtotal",
    "ordertotal",
    "amounttotal",
    "amount",
    "total",
    "amountdue",
    "paymentamount",
    "price",
    "totalprice",
];
/// Names of amounts in the minor unit.
const AMOUNTS_MINOR: &[&str] = &[
    "totalamountcents",
    "totalcents",
    "amountcents",
    "amountminor",
    "amountinminor",
    "amountincents",
    "totalminor",
    "pricecents",
    "minorunits",
];
const CURRENCIES: &[&str] = &["currency", "currencycode", "currencyiso", "isocurrency", "amountcurrency"];
const CUSTOMERS: &[&str] = &[
    "customerid",
    "customer",
    "customernumber",
    "userid",
    "user",
    "accountid",
    "account",
    "clientid",
    "buyerid",
    "buyer",
    "memberid",
];
const CUSTOMER_IDS: &[&str] = &["id", "customerid", "userid", "uuid", "number", "email"];
const DEADLINES: &[&str] = &[
    "deadline",
    "deadlineat",
    "expiresat",
    "expireat",
    "expires",
    "expiry",
    "expiration",
    "validuntil",
    "dueat",
    "due",
    "duedate",
    "notafter",
];

/// How deep common names are looked for, and among how many members.
const DEPTH_MAX: usize = 3;
const MEMBERS_MAX: usize = 512;
/// The longest customer id that is taken as one.
const CUSTOMER_BYTES_MAX: usize = 256;

/// The rule for a message type: the first that names it, or `*`.
pub fn rule_for<'p>(policy: &'p Policy, message_type: Option<&str>) -> Option<&'p MessageTypeRule> {
    policy
        .message_types
        .iter()
        .find(|rule| rule.message_type == "*" || Some(rule.message_type.as_str()) == message_type)
}

/// The impact, with remarks on what could not be read.
pub fn impact(body: Raw<'_>, message_type: Option<&str>, policy: &Policy, remarks: &mut Vec<String>) -> Impact {
    let rule = rule_for(policy, message_type);
    let found = common_names(body);
    let mut impact = Impact { severity: rule.and_then(|r| r.severity).unwrap_or_default(), ..Impact::default() };
    let pointed = |pointer: &Option<String>| pointer.as_deref().and_then(|p| body.pointer(p));

    let named = rule.is_some_and(|r| r.amount.is_some() || r.amount_minor.is_some());
    impact.money = if named {
        let minor = rule.is_some_and(|r| r.amount.is_none());
        let amount = rule.and_then(|r| pointed(&r.amount).or_else(|| pointed(&r.amount_minor)));
        let currency = rule.and_then(|r| r.currency.as_deref()).and_then(|c| currency_at(body, c)).or(found.currency);
        money(amount, currency, minor, remarks)
    } else {
        let guess = found.amount.and_then(|(_, amount, minor)| money(Some(amount), found.currency, minor, remarks));
        impact.guessed |= guess.is_some();
        guess
    };
    impact.customer = match rule.and_then(|r| r.customer.as_deref()) {
        Some(pointer) => body.pointer(pointer).and_then(Raw::as_scalar),
        None => found.customer.and_then(|(_, raw)| customer_id(raw)).inspect(|_| impact.guessed = true),
    };
    impact.customer = impact.customer.take().filter(|id| !id.is_empty() && id.len() <= CUSTOMER_BYTES_MAX);
    impact.deadline = match rule.and_then(|r| r.deadline.as_deref()) {
        Some(pointer) => body.pointer(pointer).and_then(moment),
        None => found.deadline.and_then(|(_, raw)| moment(raw)),
    };
    impact
}

fn moment(raw: Raw<'_>) -> Option<Timestamp> {
    when::parse(&raw.as_scalar()?)
}

/// `=EUR` is the currency itself; anything else points to it.
fn currency_at(body: Raw<'_>, rule: &str) -> Option<Currency> {
    match rule.strip_prefix('=') {
        Some(fixed) => Currency::parse(fixed),
        None => Currency::parse(&body.pointer(rule)?.as_string()?),
    }
}

/// What the common names gave: the rank of the name, best first, and the value.
#[derive(Default)]
struct Found<'a> {
    amount: Option<(usize, Raw<'a>, bool)>,
    currency: Option<Currency>,
    customer: Option<(usize, Raw<'a>)>,
    deadline: Option<(usize, Raw<'a>)>,
}

/// Walks the upper levels of the body breadth first, so that `amount` beats `lines.0.amount`.
fn common_names(body: Raw<'_>) -> Found<'_> {
    let mut found = Found::default();
    let mut level = VecDeque::from([(body, 0)]);
    let mut left = MEMBERS_MAX;
    while let Some((object, depth)) = level.pop_front() {
        for (key, value) in object.members() {
            let Some(rest) = left.checked_sub(1) else { return found };
            left = rest;
            let name = plain(key);
            note(&mut found, &name, value, depth);
            if value.is_object() && depth + 1 < DEPTH_MAX {
                level.push_back((value, depth + 1));
            }
        }
    }
    found
}

/// A key without case and separators; empty when it is too long to be a common name.
fn plain(key: &str) -> String {
    if key.len() > 32 {
        return String::new();
    }
    key.chars().filter(|c| !matches!(c, '_' | '-')).map(|c| c.to_ascii_lowercase()).collect()
}

fn note<'a>(found: &mut Found<'a>, name: &str, value: Raw<'a>, depth: usize) {
    // A level costs more than any rank within a list.
    let rank = |names: &[&str]| names.iter().position(|n| *n == name).map(|at| at + depth * 100);
    let better = |rank: &usize, old: Option<usize>| old.is_none_or(|old| *rank < old);
    let is_amount = |raw: Raw<'_>| decimal(raw).is_some() || raw.is_object();
    let amount = rank(AMOUNTS).map(|r| (r, false)).or_else(|| rank(AMOUNTS_MINOR).map(|r| (r, true)));
    if let Some((rank, minor)) = amount.filter(|(r, _)| better(r, found.amount.map(|a| a.0)) && is_amount(value)) {
        match amount_object(value) {
            Some((inner, currency)) => {
                found.amount = Some((rank, inner, minor));
                found.currency = currency.or(found.currency);
            }
            None if !value.is_object() => found.amount = Some((rank, value, minor)),
            None => {}
        }
    }
    if found.currency.is_none() && rank(CURRENCIES).is_some() {
        found.currency = value.as_string().and_then(|text| Currency::parse(&text));
    }
    if let Some(rank) =
        rank(CUSTOMERS).filter(|r| better(r, found.customer.map(|c| c.0)) && customer_id(value).is_some())
    {
        found.customer = Some((rank, value));
    }
    if let Some(rank) = rank(DEADLINES).filter(|r| better(r, found.deadline.map(|d| d.0)) && moment(value).is_some()) {
        found.deadline = Some((rank, value));
    }
}

/// An amount written as an object, `{"value":"12.50","currency":"EUR"}`.
fn amount_object(value: Raw<'_>) -> Option<(Raw<'_>, Option<Currency>)> {
    let amount =
        ["value", "amount", "total"].iter().find_map(|key| value.get(key)).filter(|raw| decimal(*raw).is_some())?;
    let currency = ["currency", "currencyCode", "currency_code"].iter().find_map(|key| value.string(key));
    Some((amount, currency.and_then(|text| Currency::parse(&text))))
}

fn customer_id(raw: Raw<'_>) -> Option<String> {
    if raw.is_object() {
        return raw
            .members()
            .find(|(key, _)| CUSTOMER_IDS.contains(&plain(key).as_str()))
            .and_then(|(_, v)| v.as_scalar());
    }
    raw.as_scalar()
}

/// The exact decimal of a number, or of a string that is nothing but one.
fn decimal(raw: Raw<'_>) -> Option<Decimal> {
    let text = raw.as_scalar()?;
    let text = text.trim();
    if text.len() > 64 || text.is_empty() {
        return None;
    }
    if text.contains(['e', 'E']) { Decimal::from_scientific(text).ok() } else { Decimal::from_str_exact(text).ok() }
}

fn money(amount: Option<Raw<'_>>, currency: Option<Currency>, minor: bool, remarks: &mut Vec<String>) -> Option<Money> {
    let amount = match amount.map(|raw| (decimal(raw), raw)) {
        Some((Some(amount), _)) => amount.abs(),
        Some((None, _)) => {
            remarks.push("The amount is not a number that fits 28 digits.".to_string());
            return None;
        }
        None => return None,
    };
    let Some(currency) = currency else {
        remarks.push("There is an amount, but no currency.".to_string());
        return None;
    };
    let amount = if minor { amount.checked_div(Decimal::from(10_u32.pow(minor_digits(currency))))? } else { amount };
    Some(Money { amount, currency })
}

/// The digits after the point of a currency's minor unit (ISO 4217, amendment 176).
fn minor_digits(currency: Currency) -> u32 {
    match currency.as_str() {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "VND" | "VUV"
        | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
