//! The symptoms that a message names: codes, and the words that say what went wrong.
//!
//! A frame says where an error was thrown, and its type says by what. Clients, drivers and validators throw one type at
//! one place for everything that they were answered, so only the message tells a deadlock from a missing value. Its
//! other words are no help there: most of them are data, or say again where it happened. So a message is reduced to a
//! set of words from a fixed list, of codes, and of names in which such words are joined (`ResourceNotFoundException`).
//!
//! A text of several words in quotation marks is not searched where a word announces that somebody wrote it (`note "…"`).

use crate::read::template::{self, MASK, Template};
use crate::read::vocabulary;
use crate::text::{head, split_last};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The part of a template that is read, bytes. What follows it are details of one occurrence.
const TEMPLATE_BYTES_MAX: usize = 400;
/// The longest code, bytes: `AADSTS50034`, `0x80070005`.
const CODE_BYTES_MAX: usize = 12;
/// The longest word of the list, bytes. A longer one is not looked up.
const WORD_BYTES_MAX: usize = 24;

/// Returns the symptoms that a message names, sorted, with blanks between them. Empty if it names none.
pub fn symptoms(template: &Template) -> String {
    let normal = head(&template.normal[..template.normal_end], TEMPLATE_BYTES_MAX);
    let mut found = Vec::new();
    let mut before = "";
    for (at, part) in normal.split('"').enumerate() {
        let is_note = at % 2 == 1 && part.contains(' ') && announces_note(before);
        if !is_note {
            for name in part.split_whitespace().filter_map(without_namespace) {
                name.split(is_separator).for_each(|part| add(part, &mut found));
            }
        }
        before = part;
    }
    found.sort_unstable();
    found.dedup();
    found.join(" ")
}

/// Whether a text ends by announcing a text that somebody wrote, in quotation marks.
fn announces_note(before: &str) -> bool {
    #[rustfmt::skip]
    const NOTES: &[&str] = &[
        "note", "notes", "comment", "remark", "text", "title", "subject", "description", "value", "input", "string", "content", "body",
        "name", "field", "literal", "answer", "instruction", "instructions", "notiz", "hinweis", "kommentar", "bemerkung", "titel",
        "betreff", "beschreibung", "remarque", "commentaire", "titre", "nota", "comentario", "commento", "titolo",
    ];
    let last = before.rsplit(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty()).unwrap_or_default();
    NOTES.contains(&last.to_lowercase().as_str())
}

/// Whether a template says something that no word of the list does: a sentence in a language that the list lacks. Names
/// and ids are none.
pub fn is_sentence(template: &Template) -> bool {
    const WORDS_MIN: usize = 2;
    const SIGNS_MIN: usize = 4;
    let normal = head(&template.normal[..template.normal_end], TEMPLATE_BYTES_MAX);
    let is_word = |word: &&str| {
        word.chars().count() > 1
            && word.starts_with(char::is_lowercase)
            && word.chars().all(|c| c.is_alphabetic() || c == '-')
    };
    normal.split_whitespace().filter(is_word).count() >= WORDS_MIN
        || normal.chars().filter(|c| template::is_unspaced(*c)).count() >= SIGNS_MIN
}

fn is_separator(c: char) -> bool {
    matches!(c, '=' | '(' | ')' | ',' | ';' | ':' | '`' | '[' | ']' | '{' | '}' | '<' | '>' | '|')
}

/// Returns a token without the namespace before its last name. `None` if it is a path, an address or a dotted name of
/// something else than a class: their words are names.
fn without_namespace(token: &str) -> Option<&str> {
    if token.contains(['/', '\\', '@']) {
        return None;
    }
    let token = token.trim_end_matches('.');
    match split_last(token, b'.') {
        Some((_, class)) if class.starts_with(|c: char| c.is_ascii_uppercase()) => Some(class),
        Some((before, after))
            if before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric) =>
        {
            None
        }
        _ => Some(token),
    }
}

fn add<'a>(part: &'a str, found: &mut Vec<&'a str>) {
    if is_code(part) {
        found.push(part);
    } else if part.bytes().all(|b| b.is_ascii_lowercase()) {
        // Most parts are one word.
        found.extend(symptom(part));
    } else if !part.contains(MASK) {
        words(part).filter_map(symptom).for_each(|word| found.push(word));
    }
}

/// Whether a part of a template is a code. The template has masked every other number, and names such as `R01` that no
/// word calls a code.
fn is_code(part: &str) -> bool {
    let is_number = |text: &str| (2..=5).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    part.len() <= CODE_BYTES_MAX
        && part.bytes().any(|b| b.is_ascii_digit())
        && (is_number(part.trim_start_matches('-'))
            || part.starts_with("0x")
            || part.starts_with(|c: char| c.is_ascii_uppercase()) && template::is_code_name(part)
            || template::is_outcome_code(part)
            || part.len() == 5 && part.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase()))
}

/// Splits a name into its words: `NotFoundError`, `NOT_FOUND`, `not-found`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’');
    name.split(is_mark).flat_map(humps)
}

/// Splits a word before each capital that a small letter is beside: `HTTPTimeout` is `HTTP` and `Timeout`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    core::iter::from_fn(move || {
        let mut chars = rest.char_indices().peekable();
        let mut before = chars.next()?.1;
        while let Some((at, c)) = chars.next() {
            let is_start = before.is_lowercase() || chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            if c.is_uppercase() && is_start {
                let (first, others) = rest.split_at(at);
                rest = others;
                return Some(first);
            }
            before = c;
        }
        Some(core::mem::take(&mut rest))
    })
}

/// Returns the word of the list that a word is a form of.
fn symptom(word: &str) -> Option<&'static str> {
    let word = word.trim_matches(['\'', '’']);
    if !(2..=WORD_BYTES_MAX).contains(&word.len()) {
        return None;
    }
    let is_lower = word.bytes().all(|b| b.is_ascii_lowercase());
    let word = if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) };
    // `can't` and `cannot` say the same.
    if word == "cannot" || word.ends_with("n't") || word.ends_with("n’t") {
        return Some("not");
    }
    let word = match &*word {
        "cancelled" => "canceled".into(),
        "authorised" => "authorized".into(),
        "unauthorised" => "unauthorized".into(),
        "unrecognised" => "unrecognized".into(),
        other => template::singular(other),
    };
    vocabulary::find(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::vocabulary::WORDS;

    fn found(message: &str) -> String {
        symptoms(&template::from_message(message, "E"))
    }

    #[test]
    fn the_list_is_sorted_and_in_the_singular() {
        assert!(WORDS.is_sorted_by(|a, b| a < b));
        for word in WORDS {
            assert_eq!(template::singular(word), *word);
            assert_eq!(word.to_lowercase(), *word);
            assert!(word.len() <= WORD_BYTES_MAX, "{word}");
        }
    }

    #[test]
    fn codes_states_and_joined_names_are_symptoms_and_data_is_none() {
        for (message, symptoms) in [
            ("Request failed with status code 404", "404"),
            ("ERROR: deadlock detected\n  Detail: Process 7 waits for ShareLock", "deadlock detected"),
            (
                "ERROR: null value in column \"total\" violates not-null constraint",
                "column constraint not null total violate",
            ),
            ("UNAVAILABLE: io exception", "unavailable"),
            ("NOT_FOUND: order 7 of Müller & Söhne", "found not"),
            (
                "An error occurred (ThrottlingException) when calling the PutItem operation",
                "calling item occurred operation put throttling",
            ),
            ("java.net.ConnectException: Connection refused", "connect connection refused"),
            ("ORA-00060: deadlock detected while waiting for resource", "ORA-00060 deadlock detected resource waiting"),
            ("Name can't be blank", "blank not"),
            ("Email has already been taken", "already email taken"),
            ("HTTPTimeout", "timeout"),
            ("der Auftrag wurde bereits storniert", "bereit wurde"),
            ("read /srv/locked/denied.txt for anna@refused.example", "read"),
            ("note \"the token is denied\" exceeds 30 characters", "character exceed"),
            ("it said \"the access is denied\"", "access denied"),
            ("order 4711 of Zoë Brandt", ""),
            ("", ""),
        ] {
            assert_eq!(found(message), symptoms, "{message}");
        }
    }

    #[test]
    fn order_repetition_and_number_do_not_count() {
        assert_eq!(found("locks denied, denied lock"), found("lock is denied"));
        assert_eq!(found("the token doesn't exist"), found("the tokens don't exist"));
    }
}
