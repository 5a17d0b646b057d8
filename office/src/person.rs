//! Which names people may have in the office.

use domain::id::Actor;
use domain::limits::NAME_CHARS_MAX;
use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

/// Code points without a glyph, which could make two names look the same: Unicode's `Default_Ignorable_Code_Point`.
const INVISIBLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// A name that no person may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name is empty or blank.
    #[error("the name is empty")]
    Empty,
    /// The name is too long.
    #[error("the name is longer than {NAME_CHARS_MAX} characters")]
    TooLong,
    /// The name contains control characters, or characters without a glyph.
    #[error("the name contains invisible characters")]
    Invisible,
    /// The name looks like one of the office itself or of a policy rule.
    #[error("the name looks like `office` or `rule …`, which the audit log uses for the office and for policy rules")]
    Reserved,
}

/// Returns the name of a person as the office shows it, without blanks at its ends.
///
/// Names that look like a reserved one are reserved as well: in any case, with any blanks, in letters of any script.
///
/// ```
/// use office::person::{NameError, named};
///
/// assert_eq!(named(" Anna ")?.as_str(), "Anna");
/// assert_eq!(named("Office"), Err(NameError::Reserved));
/// # Ok::<(), NameError>(())
/// ```
pub fn named(text: &str) -> Result<Actor, NameError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(NameError::Empty);
    }
    if text.chars().count() > NAME_CHARS_MAX {
        return Err(NameError::TooLong);
    }
    if text.chars().any(is_invisible) {
        return Err(NameError::Invisible);
    }
    // `I` looks like `l`, and its lower case like `i`: a name counts as it is, and in lower case.
    let lower: String = text.nfkc().flat_map(char::to_lowercase).collect();
    let is_reserved = [text.nfkc().collect(), lower].iter().any(|name: &String| looks_reserved(name));
    if is_reserved { Err(NameError::Reserved) } else { Ok(Actor::from(text)) }
}

fn looks_reserved(name: &str) -> bool {
    let seen = shape(name);
    let is_rule = seen.strip_prefix(&shape(Actor::RULE)).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    is_rule || seen == shape(Actor::OFFICE)
}

fn is_invisible(c: char) -> bool {
    c.is_control() || INVISIBLE.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Returns what a name looks like: names that people take for the same have the same shape (Unicode Technical Standard
/// 39, skeletons), in lower case and with single blanks.
fn shape(name: &str) -> String {
    let shape: String = skeleton(name).flat_map(char::to_lowercase).collect();
    shape.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_are_kept_as_they_are() {
        for name in ["anna", "Anna Müller", "ana@example.com", "officer", "back office", "ruler", "Юлия", "山田太郎"]
        {
            assert_eq!(named(name), Ok(Actor::from(name)), "{name}");
        }
        assert_eq!(named("\u{2003} anna\t"), Ok(Actor::from("anna")));
    }

    #[test]
    fn names_that_look_like_the_offices_own_or_a_rules_are_reserved() {
        for name in [
            "office",
            "OFFICE",
            " Office ",
            "оffice",
            "оffіcе",
            "ofﬁce",
            "ｏｆｆｉｃｅ",
            "𝐨𝐟𝐟𝐢𝐜𝐞",
            "0ffice",
            "rule",
            "rule x",
            "Rule  small ones",
            "RULE\u{a0}x",
            "rule\u{2003}x",
            "ruIe x",
            "ru1e x",
            "rulе x",
        ] {
            assert_eq!(named(name), Err(NameError::Reserved), "{name}");
        }
    }

    #[test]
    fn names_must_be_visible_and_short() {
        for (name, error) in [
            ("", NameError::Empty),
            (" \t ", NameError::Empty),
            ("of\u{200b}fice", NameError::Invisible),
            ("anna\u{202e}x", NameError::Invisible),
            ("anna\u{0}", NameError::Invisible),
            ("an\nna", NameError::Invisible),
            ("\u{e0061}nna", NameError::Invisible),
        ] {
            assert_eq!(named(name), Err(error), "{name:?}");
        }
        assert_eq!(named(&"x".repeat(NAME_CHARS_MAX + 1)), Err(NameError::TooLong));
        assert!(named(&"x".repeat(NAME_CHARS_MAX)).is_ok());
    }
}
