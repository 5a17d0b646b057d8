//! Texts: what people may enter, cutting texts to a length without splitting a character, and how numbers are written.

use alloc::string::String;

/// Whether a text may have several lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// One line: versions, references, names.
    One,
    /// Several lines, with tabs: notes and reasons.
    Many,
}

/// Why a text that a person or a program entered is refused. Follows the name of the field: "the reason is missing …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nothing but white space.
    #[error("is missing; enter a few words")]
    Missing,
    /// Too long.
    #[error("is longer than {chars_max} characters")]
    TooLong {
        /// The maximum.
        chars_max: usize,
    },
    /// A line break in a text of one line.
    #[error("has a line break; write it on one line")]
    LineBreak,
    /// A character that is not shown, or that changes how other characters are shown.
    #[error("contains U+{code:04X}, which is not shown, as character {at}; remove it")]
    Control {
        /// Its code point.
        code: u32,
        /// Its position, from 1.
        at: usize,
    },
}

/// What a class of a regular expression excludes from one line, or from several lines.
macro_rules! hidden_in {
    (line) => {
        concat!(
            r"\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f",
            r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
        )
    };
    (lines) => {
        r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    };
}

/// A regular expression of a line without control characters, which may be blank, in the syntax of JSON Schema.
pub const BLANK_LINE_PATTERN: &str = concat!("^[^", hidden_in!(line), "]*$");
/// The same for several lines.
pub const BLANK_LINES_PATTERN: &str = concat!("^[^", hidden_in!(lines), "]*$");
/// A regular expression of the texts that [`entered`] accepts with [`Lines::One`], in the syntax of JSON Schema.
pub const LINE_PATTERN: &str =
    concat!("^[^", hidden_in!(line), r"]*[^\s", hidden_in!(line), "][^", hidden_in!(line), "]*$");
/// A regular expression of the texts that [`entered`] accepts with [`Lines::Many`], in the syntax of JSON Schema.
pub const LINES_PATTERN: &str =
    concat!("^[^", hidden_in!(lines), r"]*[^\s", hidden_in!(lines), "][^", hidden_in!(lines), "]*$");

/// Returns a text as entered, trimmed, with `\n` for every line break.
///
/// Control characters are refused, so that no text changes how a terminal, a log or a page shows what surrounds it. So
/// are the characters that change the direction of text (Unicode's `Bidi_Control`), because an approver must see a text
/// in the order in which a program reads it; and in a single line those that show nothing, because two names must not
/// look alike.
///
/// ```
/// use domain::text::{Lines, TextError, entered};
///
/// assert_eq!(entered(" two\r\nlines ", Lines::Many, 20).as_deref(), Ok("two\nlines"));
/// assert_eq!(entered("v1\nv2", Lines::One, 20), Err(TextError::LineBreak));
/// assert_eq!(entered("v\u{202e}3", Lines::One, 20), Err(TextError::Control { code: 0x202e, at: 2 }));
/// ```
pub fn entered(text: &str, lines: Lines, chars_max: usize) -> Result<String, TextError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TextError::Missing);
    }
    if text.chars().count() > chars_max {
        return Err(TextError::TooLong { chars_max });
    }
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    match hidden(&text, lines) {
        Some(error) => Err(error),
        None => Ok(text),
    }
}

/// Returns the first control character of a text as an error. Line breaks and tabs are allowed in texts of several
/// lines.
pub fn hidden(text: &str, lines: Lines) -> Option<TextError> {
    let (at, found) = text.chars().enumerate().find(|(_, c)| match (c, lines) {
        ('\n' | '\r' | '\t', Lines::Many) => false,
        (c, Lines::One) if is_invisible(*c) => true,
        _ => is_hidden(*c),
    })?;
    Some(match found {
        '\n' | '\r' => TextError::LineBreak,
        _ => TextError::Control { code: u32::from(found), at: at + 1 },
    })
}

/// Whether a character shows nothing: Unicode's `Default_Ignorable_Code_Point` and annotations, except those that emoji
/// are made of. In a name it makes two texts look alike. In a text of several lines some scripts need it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}')
        || matches!(c, '\u{200b}' | '\u{200c}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}')
        || matches!(c, '\u{fff0}'..='\u{fffb}')
}

/// Whether a character is a control character, one of Unicode's `Bidi_Control`, or a line or paragraph separator.
pub fn is_hidden(c: char) -> bool {
    let changes_direction = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}');
    c.is_control() || changes_direction || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2066}'..='\u{2069}')
}

/// Groups the digits of a whole number by thousands: `1,234,567`. The text has digits only.
pub fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns the longest beginning of at most `bytes` bytes that ends between two characters.
pub fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// Returns the longest end of at most `bytes` bytes that begins between two characters.
pub fn tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Splits a text at the last place of an ASCII character. In the short texts of an error, looking at one byte after
/// another costs less than `str::rsplit_once`, whose search is made for long texts.
pub(crate) fn split_last(text: &str, mark: u8) -> Option<(&str, &str)> {
    debug_assert!(mark.is_ascii(), "another byte may be a part of a character");
    let at = text.bytes().rposition(|byte| byte == mark)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Splits a text at the first place of an ASCII character, for the same reason.
pub(crate) fn split_first(text: &str, mark: u8) -> Option<(&str, &str)> {
    debug_assert!(mark.is_ascii(), "another byte may be a part of a character");
    let at = text.bytes().position(|byte| byte == mark)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Returns where a text has a pattern that it seldom has. `str::contains` is much quicker than `str::find` for short patterns, so
/// the text is searched twice only if the pattern is there.
pub(crate) fn find_rare(text: &str, pattern: &str) -> Option<usize> {
    if text.contains(pattern) { text.find(pattern) } else { None }
}

/// Splits a text around the first place of a pattern that it seldom has.
pub(crate) fn split_rare<'a>(text: &'a str, pattern: &str) -> Option<(&'a str, &'a str)> {
    find_rare(text, pattern).map(|at| (&text[..at], &text[at + pattern.len()..]))
}

/// Cuts a text to at most `bytes` bytes, between two characters.
pub fn truncate_on_char(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_enter_text_without_control_characters() {
        for fine in ["v3", "käse 🧀 👩‍💻", "שלום", "a\u{a0}b", "https://example.com/?a=b"] {
            assert_eq!(entered(fine, Lines::One, 50).as_deref(), Ok(fine));
        }
        for hidden in [
            '\0', '\u{7}', '\u{1b}', '\u{7f}', '\u{85}', '\u{9b}', '\u{61c}', '\u{200f}', '\u{2028}', '\u{202e}',
            '\u{2067}',
        ] {
            for lines in [Lines::One, Lines::Many] {
                let error = entered(&alloc::format!("ab{hidden}c"), lines, 50);
                assert_eq!(error, Err(TextError::Control { code: hidden.into(), at: 3 }), "{hidden:?}");
            }
        }
        for invisible in ['\u{ad}', '\u{200b}', '\u{2060}', '\u{3164}', '\u{feff}', '\u{fff9}'] {
            let text = alloc::format!("ab{invisible}c");
            let error = TextError::Control { code: invisible.into(), at: 3 };
            assert_eq!(entered(&text, Lines::One, 50), Err(error), "{invisible:?}");
            assert_eq!(entered(&text, Lines::Many, 50).as_deref(), Ok(text.as_str()));
        }
        assert_eq!(entered("a\tb\r\nc\rd\ne", Lines::Many, 50).as_deref(), Ok("a\tb\nc\nd\ne"));
        assert_eq!(entered("a\tb", Lines::One, 50), Err(TextError::Control { code: 9, at: 2 }));
        assert_eq!(entered("a\rb", Lines::One, 50), Err(TextError::LineBreak));
        assert_eq!(entered(" \n ", Lines::Many, 50), Err(TextError::Missing));
        assert_eq!(entered("ääää", Lines::One, 3), Err(TextError::TooLong { chars_max: 3 }));
        assert_eq!(entered("äää", Lines::One, 3).as_deref(), Ok("äää"));
    }
}
