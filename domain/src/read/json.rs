//! A bounded JSON scanner: finds members in raw text without building a tree, in linear time and constant depth.
//!
//! `serde_json::Value` would turn decimals into `f64` (money must be exact) and its recursion is limited to a depth of
//! 128; a dead letter may be 100,000 deep. This scanner never recurses and returns slices of the text.

mod index;
mod text;
mod valid;

pub use index::{Index, Sketch};
pub use valid::is_valid;

use alloc::borrow::Cow;
use alloc::string::String;

use text::string_end;

/// The number of members of one object or array that are examined.
const MEMBERS_MAX: usize = 4_096;

/// One JSON value as a slice of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The value at the beginning of a text, after blanks. Not validated: see [`is_valid`].
    pub fn new(text: &'a str) -> Self {
        Self(text.trim_start_matches(BLANKS))
    }

    /// Returns the slice of text.
    pub fn text(self) -> &'a str {
        self.0
    }

    /// Returns the length of the value at the beginning of the text, bytes; `None` if its end is missing.
    pub fn whole_length(self) -> Option<usize> {
        value_end(self.0)
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    /// Returns the text of a string value with escapes resolved; a lone surrogate becomes U+FFFD.
    pub fn as_string(self) -> Option<String> {
        self.as_text().map(Cow::into_owned)
    }

    /// Like [`Raw::as_string`], without a copy if there are no escapes.
    pub fn as_text(self) -> Option<Cow<'a, str>> {
        text::unquoted(self.0)
    }

    /// Whether it is a string of more than blanks. For members and elements, whose strings are complete.
    pub fn says_something(self) -> bool {
        text::says_something(self.0)
    }

    /// Returns the digits of a number value, exactly as written.
    pub fn as_number(self) -> Option<&'a str> {
        let starts = self.0.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        starts.then(|| self.0.trim_end_matches(BLANKS))
    }

    /// Returns a string's text or a number's digits.
    pub fn as_scalar(self) -> Option<String> {
        self.as_string().or_else(|| self.as_number().map(String::from))
    }

    /// Returns the members of an object; empty for any other value. Keys come without quotes, with escapes unresolved.
    pub fn members(self) -> Members<'a> {
        Members { rest: self.0.strip_prefix('{').unwrap_or(""), left: MEMBERS_MAX }
    }

    /// Returns the elements of an array; empty for any other value.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        let mut rest = self.0.strip_prefix('[').unwrap_or("");
        core::iter::from_fn(move || {
            let start = rest.trim_start_matches(|c| BLANKS.contains(&c) || c == ',');
            let end = value_end(start)?;
            rest = &start[end..];
            Some(Raw(&start[..end]))
        })
        .take(MEMBERS_MAX)
    }

    /// Returns the member with this name. The first one wins if there are several.
    pub fn get(self, key: &str) -> Option<Self> {
        self.members().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Returns the member whose name comes first in the list, in one pass over the object.
    pub fn first(self, names: &[&str]) -> Option<Self> {
        let ranked =
            self.members().filter_map(|(key, value)| Some((names.iter().position(|name| *name == key)?, value)));
        // Of several members with one name the first wins, as in `get`.
        ranked.min_by_key(|(rank, _)| *rank).map(|(_, value)| value)
    }

    /// Resolves a JSON pointer (RFC 6901).
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let mut at = self;
        for part in pointer.strip_prefix('/')?.split('/').take(32) {
            let part = part.replace("~1", "/").replace("~0", "~");
            at = if at.is_array() { at.elements().nth(part.parse().ok()?)? } else { at.get(&part)? };
        }
        Some(at)
    }

    /// Returns the text of a member, if it is a string.
    pub fn string(self, key: &str) -> Option<String> {
        self.get(key)?.as_string()
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// The members of an object, in order.
pub struct Members<'a> {
    rest: &'a str,
    left: usize,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let start = self.rest.trim_start_matches(|c| BLANKS.contains(&c) || c == ',');
        let key_end = string_end(start, 0)?;
        let key = &start[1..key_end - 1];
        let value = start[key_end..].trim_start_matches(BLANKS).strip_prefix(':')?.trim_start_matches(BLANKS);
        let end = value_end(value)?;
        self.rest = &value[end..];
        Some((key, Raw(&value[..end])))
    }
}

/// Returns the length of the value at the beginning of a text. Counts brackets without matching their kinds.
fn value_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.first()? {
        b'"' => string_end(text, 0),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, 0);
            while at < bytes.len() {
                match bytes[at] {
                    b'"' => {
                        at = string_end(text, at)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            None
        }
        b'}' | b']' | b',' | b':' => None,
        _ => Some(text.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(text.len())),
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
