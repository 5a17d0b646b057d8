//! String literals: their end and their text.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

const ONES: u64 = u64::from_le_bytes([0x01; 8]);
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

/// As many bytes without an escape are copied one by one. In JSON inside JSON there is an escape every few bytes, and
/// then a search and a copy of each piece cost more.
const SHORT_RUN: usize = 8;

/// Sets the high bit of each byte that equals `byte`. The lowest hit is always correct; higher ones may be wrong
/// (Mycroft's test for a zero byte).
fn hits(word: u64, byte: u8) -> u64 {
    let zero_where_equal = word ^ u64::from_le_bytes([byte; 8]);
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & HIGHS
}

/// Returns the position of the next quote or backslash from `at` on, eight bytes at a time.
fn special(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let word = u64::from_le_bytes(*eight);
        let found = hits(word, b'"') | hits(word, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let rest = bytes.get(at..)?;
    Some(at + rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?)
}

/// Returns the position after the string literal that begins at a position of a text.
pub(super) fn string_end(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at = special(bytes, at)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Returns the text of the string literal at the beginning of a text; copies only if there are escapes. Invalid
/// escapes stay as they are.
pub(super) fn unquoted(text: &str) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix('"')?;
    let bytes = inner.as_bytes();
    let mut at = special(bytes, 0)?;
    if bytes[at] == b'"' {
        return Some(Cow::Borrowed(&inner[..at]));
    }
    let mut out = Vec::with_capacity(inner.len());
    out.extend_from_slice(&bytes[..at]);
    let mut run = 0;
    loop {
        match *bytes.get(at)? {
            b'"' => return String::from_utf8(out).ok().map(Cow::Owned),
            b'\\' => {
                run = 0;
                if let same @ (b'"' | b'\\' | b'/') = *bytes.get(at + 1)? {
                    out.push(same);
                    at += 2;
                    continue;
                }
                let (c, taken) = unescaped(&inner[at + 1..])?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                at += 1 + taken;
            }
            byte => {
                out.push(byte);
                at += 1;
                run += 1;
                if run == SHORT_RUN {
                    let end = special(bytes, at)?;
                    out.extend_from_slice(&bytes[at..end]);
                    at = end;
                    run = 0;
                }
            }
        }
    }
}

/// Whether a string literal says something: more than blanks. Copies nothing, and reads no further than to the first
/// letter. Of a literal without its end it may say what [`unquoted`] does not.
pub(super) fn says_something(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"') else { return false };
    let mut bytes = inner.bytes();
    loop {
        match bytes.next() {
            Some(b' ' | b'\t' | b'\n' | b'\r') => {}
            Some(b'\\') if matches!(bytes.clone().next(), Some(b'n' | b't' | b'r')) => {
                bytes.next();
            }
            // Rare blanks are found the slow way.
            Some(byte) if byte == b'\\' || byte >= 0x80 || byte.is_ascii_control() => {
                return unquoted(text).is_some_and(|text| !text.trim().is_empty());
            }
            Some(b'"') | None => return false,
            Some(_) => return true,
        }
    }
}

/// Returns the character of an escape without its backslash, and the escape's length in bytes.
fn unescaped(escape: &str) -> Option<(char, usize)> {
    Some(match escape.as_bytes().first()? {
        b'n' => ('\n', 1),
        b't' => ('\t', 1),
        b'r' => ('\r', 1),
        b'b' => ('\u{8}', 1),
        b'f' => ('\u{c}', 1),
        b'u' => unicode(escape),
        &byte if byte.is_ascii() => (char::from(byte), 1),
        _ => escape.chars().next().map(|c| (c, c.len_utf8()))?,
    })
}

/// Returns the character of an escape that begins with `u`, and the escape's length in bytes; a lone surrogate is
/// U+FFFD.
fn unicode(escape: &str) -> (char, usize) {
    let unit = |text: &str| {
        let digits = text.get(1..5).filter(|d| text.starts_with('u') && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let Some(high) = unit(escape) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if (0xD800..0xDC00).contains(&high) {
        let low = escape.get(5..).and_then(|rest| rest.strip_prefix('\\')).and_then(unit);
        if let Some(low) = low.filter(|low| (0xDC00..0xE000).contains(low)) {
            let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11);
        }
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}
