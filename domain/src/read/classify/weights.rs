//! Words that were weighed: the last evidence, asked only where no table, code, type or form of a sentence says anything.
//!
//! The weight of a word is how much more often it occurs in transient than in permanent errors, counted in the labelled
//! errors of the reader's exam ([`tables::weights`]). The weights of all words are added, and the sum must be clear. A
//! permanent failure that is called transient loops, so "transient" needs more. The result is a guess
//! ([`Classification::firm_class`]): people see it with the words that decided, and nothing else depends on it.

use super::tables::weights::WEIGHTS;
use super::{conditions, finding, names, parts, spaced};
use crate::read::sorted::Sought;
use crate::reading::{Category, Class, Classification, GUESS_PCT_MAX};
use crate::text;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The least sum that suggests "transient", in the unit of the weights.
const TRANSIENT_MIN: i32 = 30;
/// The greatest sum that suggests "permanent".
const PERMANENT_MAX: i32 = -5;
/// The part of a message that is weighed, bytes.
const MESSAGE_BYTES_MAX: usize = 400;
/// The words of a message that are weighed.
const MESSAGE_WORDS_MAX: usize = 30;
/// The words that a reason names.
const NAMED_MAX: usize = 3;
/// Words that only hold a sentence together.
#[rustfmt::skip]
const OF_GRAMMAR: &[&str] = &[
    "an", "and", "are", "as", "at", "been", "by", "for", "has", "have", "in", "is", "it", "its", "of", "on", "or", "that", "the", "this", "to", "was", "were", "with",
];
/// Words in the names of types that say nothing but that it is an error, or what a language calls every error.
const OF_EVERY_TYPE: &[&str] = &["error", "errors", "exception", "runtime", "string", "wrap"];

/// Returns the words of a failure that are weighed: those of its message and of its type's last name, in lower case,
/// sorted, each once. Words with digits are data, and words of grammar say nothing.
pub fn words(error_type: &str, message: &str) -> Vec<String> {
    let is_word =
        |word: &&str| word.len() > 1 && !word.contains(|c: char| c.is_numeric()) && !OF_GRAMMAR.contains(word);
    let said = spaced(text::head(message, MESSAGE_BYTES_MAX));
    let named = spaced(names::last(error_type));
    let of_type = conditions::words(&named).into_iter().filter(|word| !OF_EVERY_TYPE.contains(word));
    let words = conditions::words(&said).into_iter().take(MESSAGE_WORDS_MAX).chain(of_type);
    let mut words: Vec<String> = words.filter(is_word).map(ToString::to_string).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Returns what the words of a failure suggest, if they do so clearly.
pub fn find(error_type: &str, message: &str) -> Option<Classification> {
    let rest = parts::without_unsaid(text::head(message, MESSAGE_BYTES_MAX));
    let words = words(error_type, rest.as_deref().unwrap_or(message));
    let mut weighed: Vec<(&str, i32)> = words.iter().filter_map(|word| Some((word.as_str(), weight(word)?))).collect();
    let sum: i32 = weighed.iter().map(|(_, weight)| weight).sum();
    let (class, towards) = match sum {
        TRANSIENT_MIN.. => (Class::Transient, 1),
        ..=PERMANENT_MAX => (Class::Permanent, -1),
        _ => return None,
    };
    weighed.retain(|(_, weight)| weight * towards > 0);
    weighed.sort_by_key(|(_, weight)| -weight * towards);
    weighed.truncate(NAMED_MAX);
    let (noun, verb) = if weighed.len() == 1 { ("word", "suggests") } else { ("words", "suggest") };
    let reason = format!("the {noun} {} {verb} {}", listed(&weighed), super::word(class));
    Some(finding(class, Category::Unknown, GUESS_PCT_MAX, reason))
}

/// Returns the weight of a word, in tenths of the natural logarithm of the ratio.
fn weight(word: &str) -> Option<i32> {
    let sought = Sought::new(word);
    let at = WEIGHTS.binary_search_by(|(row, _)| sought.order_of(row)).ok()?;
    Some(i32::from(WEIGHTS[at].1))
}

/// Lists words in quotation marks: `"must"`, `"must" and "schema"`, `"a", "b" and "c"`.
fn listed(words: &[(&str, i32)]) -> String {
    let mut list = String::new();
    for (at, (word, _)) in words.iter().enumerate() {
        let before = if at == 0 {
            ""
        } else if at + 1 == words.len() {
            " and "
        } else {
            ", "
        };
        list.push_str(&format!("{before}\"{word}\""));
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_message_and_type_without_data() {
        let found = words("shop.CacheColdError", "price cache is cold, order-7 of a1b2 waits for sku_list");
        assert_eq!(found, ["cache", "cold", "list", "order", "price", "sku", "waits"]);
    }

    #[test]
    fn only_a_clear_sum_is_a_guess_and_no_class_is_firm() {
        assert_eq!(find("", ""), None);
        assert_eq!(find("", "the parrot is resting"), None);
        for (error_type, message, class) in [
            ("Error", "connection server timeout", Class::Transient),
            ("Error", "invalid schema argument", Class::Permanent),
        ] {
            let found = find(error_type, message).expect(message);
            assert_eq!((found.class, found.firm_class()), (class, Class::Unknown), "{}", found.reason);
            assert!(found.reason.starts_with("the words \""), "{}", found.reason);
        }
    }

    #[test]
    fn the_table_is_sorted_and_small() {
        assert!(WEIGHTS.windows(2).all(|two| two[0].0 < two[1].0));
        assert!((100..=600).contains(&WEIGHTS.len()), "{}", WEIGHTS.len());
    }
}
