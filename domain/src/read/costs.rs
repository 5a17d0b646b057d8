//! The impact of a letter, read from its body: by the policy's pointers, else by common names.

mod amount;
mod names;

use super::json::{Index, Raw};
use super::when;
use crate::impact::Impact;
use crate::policy::{MessageTypeRule, Policy};
use crate::time::Timestamp;
use alloc::string::String;
use alloc::vec::Vec;
use amount::{currency_at, money};
use names::Found;

/// The longest accepted customer id, bytes.
const CUSTOMER_BYTES_MAX: usize = 256;

/// The input from which the impact is read.
#[derive(Clone, Copy)]
pub struct Payload<'p> {
    /// The innermost body.
    pub raw: Raw<'p>,
    /// Its members.
    pub members: &'p Index<'p>,
    /// The message's type.
    pub message_type: Option<&'p str>,
    /// The deadline that the envelope states.
    pub stated_deadline: Option<Timestamp>,
}

/// Reads the impact. Adds remarks about guesses and unreadable values.
pub fn impact(payload: Payload<'_>, policy: &Policy, remarks: &mut Vec<String>) -> Impact {
    let none = MessageTypeRule::default();
    let rule = policy.message_type_rule(payload.message_type).unwrap_or(&none);
    let prices = rule.amount.is_some() || rule.amount_minor.is_some();
    // If a rule has pointers to everything, nothing needs to be guessed.
    let guesses = !(prices && rule.currency.is_some() && rule.customer.is_some() && rule.deadline.is_some());
    let found = if guesses { names::find(payload.members) } else { Found::default() };
    let pointed = |pointer: &Option<String>| pointer.as_deref().and_then(|p| payload.raw.pointer(p));
    let mut guessed = Guessed::default();

    let money = if prices {
        let minor = rule.amount.is_none();
        let amount = if minor { pointed(&rule.amount_minor) } else { pointed(&rule.amount) };
        let fixed = rule.currency.as_deref().and_then(|c| currency_at(payload.raw, c));
        money(amount, fixed.or(found.currency), minor, remarks)
    } else {
        found.amount.as_ref().and_then(|amount| {
            let money = money(Some(amount.raw), found.currency, amount.minor, remarks)?;
            guessed.note("the amount", found.path(amount.at, amount.key, amount.inner));
            Some(money)
        })
    };
    let customer = match &rule.customer {
        Some(pointer) => payload.raw.pointer(pointer).and_then(Raw::as_scalar).filter(|id| is_customer(id)),
        None => found.customer.as_ref().map(|customer| {
            guessed.note("the customer", found.path(customer.at, customer.key, customer.inner));
            customer.id.clone()
        }),
    };
    let deadline = match &rule.deadline {
        Some(pointer) => payload.raw.pointer(pointer).and_then(moment),
        None => payload.stated_deadline.or_else(|| {
            let (_, at, key, moment) = found.deadline?;
            guessed.note("the deadline", found.path(at, key, None));
            Some(moment)
        }),
    };
    let guessed = guessed.say(remarks);
    Impact { money, customer, severity: rule.severity.unwrap_or_default(), deadline, guessed }
}

fn is_customer(id: &str) -> bool {
    !id.is_empty() && id.len() <= CUSTOMER_BYTES_MAX
}

fn moment(raw: Raw<'_>) -> Option<Timestamp> {
    when::parse(&raw.as_scalar()?)
}

/// The guessed values and where they came from: the pointers that the policy needs to make them certain.
#[derive(Default)]
struct Guessed(String);

impl Guessed {
    fn note(&mut self, what: &str, path: String) {
        let before = if self.0.is_empty() { "Guessed by name: " } else { ", " };
        self.0 = [&self.0, before, what, " from ", &path].concat();
    }

    fn say(mut self, remarks: &mut Vec<String>) -> bool {
        let any = !self.0.is_empty();
        if any {
            self.0.push('.');
            remarks.push(self.0);
        }
        any
    }
}

#[cfg(test)]
#[path = "costs_tests.rs"]
mod tests;
