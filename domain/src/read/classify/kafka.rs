//! What a broker of Kafka answers.

use super::tables::kafka as table;
use super::{by_wording, finding, word};
use crate::reading::{Category, Class, Classification};
use alloc::format;
use alloc::string::ToString;

/// Kafka's number in brackets, or its sentence. Every error of its table is transient or permanent.
pub fn by_kafka(message: &str, lower: &str, of_broker: bool) -> Option<Classification> {
    let number =
        message.strip_prefix('[').and_then(|rest| rest.split_once(']')).and_then(|(n, _)| n.parse::<u16>().ok());
    let retriable = match number {
        Some(number) if number <= table::NUMBER_MAX => table::RETRIABLE_NUMBERS.contains(&number),
        Some(_) => return None,
        None => {
            let retriable = table::RETRIABLE_SENTENCES.iter().any(|sentence| lower.contains(sentence));
            if !retriable && !of_broker {
                return None;
            }
            retriable
        }
    };
    let category = by_wording(lower).map_or(Category::Unknown, |found| found.category);
    let (class, category) = match (retriable, number, category) {
        (true, _, Category::Unknown) => (Class::Transient, Category::DependencyUnavailable),
        (true, _, category) => (Class::Transient, category),
        (false, _, category) => (Class::Permanent, category),
    };
    let what = number.map_or_else(|| "sentence".to_string(), |n| format!("error {n}"));
    Some(finding(
        class,
        category,
        if number.is_some() { 95 } else { 80 },
        format!("matched: Kafka {what}, {}", word(class)),
    ))
}
