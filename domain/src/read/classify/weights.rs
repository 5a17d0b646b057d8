//! Words that are weighed: what labelled errors with the same words were.
//!
//! The words of a message that its template shows, its pairs of neighbouring words and the words of its type's name have
//! a weight each, learned from the labelled errors of the reader's exam (`rules::weights`). The weights that an error has
//! are added: a sum above zero suggests "transient". The sum decides nothing by itself:
//!
//! - Where nothing else is known, a clear sum is a guess ([`find`]).
//! - Where only a word or the form of a sentence is known, a sum the other way makes it a guess ([`doubted`]).
//!
//! People see a guess with the words that suggest it, and nothing else depends on it ([`Classification::firm_class`]). A
//! permanent failure that is called transient loops, so "transient" needs more.

use super::network::NETWORK;
use super::quoted::Shown;
use super::{conditions, finding, names, spaced};
use crate::read::template;
use crate::reading::{Category, Class, Classification, Confidence, GUESS_PCT_MAX};
use crate::text;
use crate::weights::{Weights, hash};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The weights of words, pairs of words and words of types.
static WEIGHTS: Weights = Weights::new(include_bytes!("tables/weights.bin"));
/// The least sum that suggests "transient" where nothing else is known.
const TRANSIENT_MIN: i32 = 32;
/// The greatest sum that suggests "permanent" where nothing else is known.
const PERMANENT_MAX: i32 = -8;
/// "Transient" is doubted below this sum.
const TRANSIENT_DOUBTED: i32 = 0;
/// "Permanent" is doubted above this sum.
const PERMANENT_DOUBTED: i32 = 24;
/// What is surer than this, percent, is not doubted: codes, types and whole sentences.
const DOUBTED_PCT_MAX: u8 = 65;
/// The part of a message whose data is masked, bytes.
const READ_BYTES_MAX: usize = 1024;
/// The part of a message that is weighed, bytes.
const MESSAGE_BYTES_MAX: usize = 400;
/// The words of a message that are weighed.
const MESSAGE_WORDS_MAX: usize = 40;
/// What begins the reason of a class that a wording decided.
const WORDING: &str = "wording: \"";
/// The words that a reason names.
const NAMED_MAX: usize = 3;
/// Words that only hold a sentence together.
#[rustfmt::skip]
const OF_GRAMMAR: &[&str] = &[
    "an", "and", "are", "as", "at", "been", "by", "for", "has", "have", "in", "is", "it", "its", "of", "on", "or", "that", "the", "this", "to", "was", "were", "with",
];
/// Words in the names of types that say nothing but that it is an error, or what a language calls every error.
const OF_EVERY_TYPE: &[&str] = &["error", "errors", "exception", "runtime", "string", "wrap"];

/// Gives each word, pair of words and word of the type's name of a failure, whose data is masked, to `see`, with its hash.
/// Words with digits are data. A word may come several times.
fn each(error_type: &str, message: &str, mut see: impl FnMut(u32, &[&str])) {
    let is_word = |word: &str| word.len() > 1 && !word.contains(|c: char| c.is_numeric());
    see(hash(&[]), &[]);
    let said = spaced(text::head(message, MESSAGE_BYTES_MAX));
    let mut before = None;
    for word in conditions::words(&said).into_iter().take(MESSAGE_WORDS_MAX) {
        let word = Some(word).filter(|word| is_word(word));
        if let Some(word) = word.filter(|word| !OF_GRAMMAR.contains(word)) {
            see(hash(&[word]), &[word]);
        }
        if let (Some(before), Some(word)) = (before, word) {
            see(hash(&[before, word]), &[before, word]);
        }
        before = word;
    }
    let named = spaced(names::last(error_type));
    let of_type = conditions::words(&named).into_iter().filter(|word| is_word(word) && !OF_EVERY_TYPE.contains(word));
    of_type.for_each(|word| see(hash(&["", "", word]), &[word]));
}

/// Returns the hashes of what is weighed in a failure, sorted, each once. The hash of nothing is always among them: its
/// weight is what all errors have in common.
pub fn hashes(error_type: &str, message: &str) -> Vec<u32> {
    hashes_shown(error_type, &shown(error_type, message))
}

/// Returns the message with its data masked: names of persons and things are not weighed.
fn shown(error_type: &str, message: &str) -> String {
    template::from_message(text::head(message, READ_BYTES_MAX), error_type).shown
}

fn hashes_shown(error_type: &str, shown: &str) -> Vec<u32> {
    let mut hashes = Vec::new();
    each(error_type, shown, |hash, _| hashes.push(hash));
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Returns the sum of the weights of a failure with this shown message.
fn sum(error_type: &str, shown: &str) -> i32 {
    hashes_shown(error_type, shown).into_iter().map(|hash| WEIGHTS.weight(hash)).sum()
}

/// Returns what the words of a failure suggest, if they do so clearly.
pub fn find(error_type: &str, message: &str) -> Option<Classification> {
    let shown = shown(error_type, message);
    let class = match sum(error_type, &shown) {
        TRANSIENT_MIN.. => Class::Transient,
        ..=PERMANENT_MAX => Class::Permanent,
        _ => return None,
    };
    let reason = reason(error_type, message, &shown, class)?;
    Some(finding(class, Category::Unknown, GUESS_PCT_MAX, reason))
}

/// Makes a class a guess if only a word or the form of a sentence speaks for it, and the words against it.
pub fn doubted(found: Classification, error_type: &str, message: &str) -> Classification {
    let other = match found.class {
        Class::Transient => Class::Permanent,
        Class::Permanent => Class::Transient,
        Class::Unknown => return found,
    };
    let is_weak = (GUESS_PCT_MAX + 1..=DOUBTED_PCT_MAX).contains(&found.confidence.as_pct());
    if !is_weak || is_bare(&found.reason, message) {
        return found;
    }
    let shown = shown(error_type, message);
    let sum = sum(error_type, &shown);
    let is_doubted = if other == Class::Permanent { sum < TRANSIENT_DOUBTED } else { sum > PERMANENT_DOUBTED };
    match is_doubted.then(|| reason(error_type, message, &shown, other)).flatten() {
        Some(against) => Classification {
            confidence: Confidence::from_pct(GUESS_PCT_MAX),
            reason: format!("{}; but {against}", found.reason),
            ..found
        },
        None => found,
    }
}

/// Whether a message has no other words than the wording that a reason names, or ends with one about the network:
/// `connection refused`, `payments: connection refused`. No words are left that could speak against it: those of the
/// wording weigh what they do in longer sentences, and those before it say where it happened.
fn is_bare(reason: &str, message: &str) -> bool {
    let quoted = reason.strip_prefix(WORDING).and_then(|rest| rest.split_once('"'));
    let Some((wording, _)) = quoted else { return false };
    let lower = message.to_lowercase();
    // .NET names the address last: `Connection refused (tax.internal:8443)`.
    let address = lower.strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let lower = address.filter(|(_, address)| !address.contains(' ')).map_or(lower.as_str(), |(said, _)| said);
    let before = lower.trim_end_matches(['.', '!', ' ', '"', '\'', '`', '”', '»']).strip_suffix(wording);
    let is_end = before
        .is_some_and(|before| before.is_empty() || before.ends_with([' ', ':', '"', '\'', '`', '“', '«']))
        && NETWORK.contains(&wording);
    is_end || {
        let (wording, message) = (spaced(wording), spaced(message));
        let said = conditions::words(&wording);
        conditions::all_words(&message).all(|word| said.contains(&word))
    }
}

/// Says which words suggest a class, the weightiest first. Names none that a title would mask. `None` if there is no such
/// word at all.
fn reason(error_type: &str, message: &str, shown: &str, class: Class) -> Option<String> {
    let towards = if class == Class::Transient { 1 } else { -1 };
    let mut weighed: Vec<(i32, String)> = Vec::new();
    each(error_type, shown, |hash, words| {
        let weight = WEIGHTS.weight(hash) * towards;
        if weight > 0 && !words.is_empty() {
            weighed.push((weight, words.join(" ")));
        }
    });
    weighed.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    if weighed.is_empty() {
        return None;
    }
    let shown = Shown::new(error_type, message);
    let mut named: Vec<&str> = Vec::new();
    for (_, words) in &weighed {
        // A word that is part of a pair that is named already says nothing more.
        let is_new = !named.iter().any(|named| named.contains(words.as_str()) || words.contains(named));
        if named.len() < NAMED_MAX && is_new && words.split(' ').all(|word| shown.has(word)) {
            named.push(words);
        }
    }
    let verb = if let [word] = named[..]
        && !word.contains(' ')
    {
        ("word", "suggests")
    } else {
        ("words", "suggest")
    };
    let class = super::word(class);
    Some(match listed(&named).as_str() {
        "" => format!("words in its data suggest {class}"),
        listed => format!("the {} {listed} {} {class}", verb.0, verb.1),
    })
}

/// Lists words in quotation marks: `"must"`, `"must" and "schema"`, `"a", "b" and "c"`.
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.to_string(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pairs_and_the_words_of_the_type_are_weighed_without_data() {
        let mut found = Vec::new();
        each("shop.CacheColdError", "the cache is cold, order-7 of a1b2 waits", |_, words| found.push(words.join(" ")));
        let words = ["", "cache", "the cache", "cache is", "cold", "is cold", "order", "cold order", "waits"];
        assert_eq!(found[..words.len()], words);
        assert_eq!(found[words.len()..], ["cache", "cold"]);
    }

    #[test]
    fn names_are_not_weighed() {
        let hashes = |message| hashes("Error", message);
        assert_eq!(hashes("no credit for customer Anna Berg"), hashes("no credit for customer Bo Ek"));
        assert_ne!(hashes("no credit for customer Anna Berg"), hashes("no stock for customer Anna Berg"));
    }

    #[test]
    fn only_a_clear_sum_is_a_guess_and_no_class_is_firm() {
        assert_eq!(find("", "zzz qqq"), None);
        for (error_type, message, class) in [
            ("Error", "connection to server timed out waiting for response", Class::Transient),
            ("Error", "invalid schema argument", Class::Permanent),
        ] {
            let found = find(error_type, message).expect(message);
            assert_eq!((found.class, found.firm_class()), (class, Class::Unknown), "{}", found.reason);
            assert!(found.reason.starts_with("the word"), "{}", found.reason);
        }
    }

    #[test]
    fn words_make_a_weak_answer_a_guess_and_leave_a_strong_one() {
        let message = "invalid schema argument";
        for (class, pct, kept) in [
            (Class::Transient, 65, 25),
            (Class::Transient, 85, 85),
            (Class::Permanent, 65, 65),
            (Class::Unknown, 50, 50),
        ] {
            let found = doubted(finding(class, Category::Unknown, pct, "a rule"), "Error", message);
            assert_eq!((found.class, found.confidence.as_pct()), (class, kept), "{}", found.reason);
            assert_eq!(found.reason.starts_with("a rule; but the word"), kept != pct, "{}", found.reason);
        }
    }

    #[test]
    fn a_bare_condition_is_not_doubted_by_its_own_words() {
        let wording = |words| finding(Class::Transient, Category::Unknown, 65, format!("{WORDING}{words}\""));
        for (words, message, pct) in [
            ("connection refused", "Connection refused.", 65),
            ("connection refused", "Connection refused (Connection refused)", 65),
            ("connection refused", "payments: connection refused", 65),
            ("connection refused", "payments: connection refused by the schema argument", 25),
            ("unexpected eof", "unexpected EOF", 65),
            ("unexpected eof", "schema argument: unexpected EOF", 25),
        ] {
            let found = doubted(wording(words), "", message);
            assert_eq!(found.confidence.as_pct(), pct, "{message}: {}", found.reason);
        }
    }

    #[test]
    fn the_table_is_sorted_and_small() {
        let (is_sorted, bytes) = WEIGHTS.checked();
        assert!(is_sorted && (1_000..=60_000).contains(&bytes), "{bytes} bytes");
    }
}
