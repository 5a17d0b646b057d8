//! The shapes of tokens, judged by their characters alone.

use super::MASK;
use crate::text::split_last;
use alloc::string::String;

/// The shape of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A word: it stays.
    Word,
    /// A known name with digits: it stays.
    Code,
    /// All of it varies.
    Mask,
    /// Parts of it vary.
    Parts,
}

pub fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '«' | '»' | '„' | '「' | '」')
}

pub fn opens_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '“' | '‘' | '«' | '»' | '„' | '「')
}

pub fn is_delimiter(c: char) -> bool {
    matches!(c, ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|') || is_quote(c)
}

/// Returns the length of the text before the closing quote; a quote inside a word does not close.
pub fn quote_length(inside: &str, open: char) -> Option<usize> {
    let closes = |c: char| match open {
        '“' => c == '”',
        '‘' => c == '’',
        '«' => c == '»',
        // German books and PostgreSQL's German catalogue.
        '»' => c == '«',
        '„' => matches!(c, '“' | '”'),
        '「' => c == '」',
        '`' => matches!(c, '`' | '\''),
        _ => c == open,
    };
    let mut escaped = false;
    for (at, c) in inside.char_indices() {
        if closes(c)
            && !escaped
            && !inside[at + c.len_utf8()..].starts_with(|next: char| next.is_alphanumeric() && !is_unspaced(next))
        {
            return Some(at);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// Returns the position of the brace that closes the one before the text.
pub fn brace_length(inside: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return Some(at),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a character belongs to a script without blanks between words: Chinese, Japanese, Korean particles.
pub fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Returns the position of the round bracket that closes the one before the text.
pub fn bracket_length(inside: &str) -> Option<usize> {
    closing(inside, b'(', b')')
}

/// Returns the position of the square bracket that closes the one before the text.
pub fn square_length(inside: &str) -> Option<usize> {
    closing(inside, b'[', b']')
}

/// Returns the position of the angle that closes the one before the text.
pub fn angle_length(inside: &str) -> Option<usize> {
    closing(inside, b'<', b'>')
}

fn closing(inside: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in inside.bytes().enumerate() {
        if byte == open {
            depth += 1;
        } else if byte == close {
            if depth == 0 {
                return Some(at);
            }
            depth -= 1;
        }
    }
    None
}

/// The longest sequence that sets a terminal's colours and place, bytes.
const TERMINAL_BYTES_MAX: usize = 24;

/// Returns the length of a terminal's control sequence (ECMA-48) at the beginning of a text.
pub fn terminal_code(text: &str) -> Option<usize> {
    let inside = super::head(text.strip_prefix("\u{1b}[")?, TERMINAL_BYTES_MAX);
    let end = inside.find(|c: char| ('@'..='~').contains(&c))?;
    Some(end + 3)
}

/// Whether a text begins with a sign that compares with a number: `<1 s`, `~30 s`.
pub fn compares_number(text: &str) -> bool {
    let after = text.strip_prefix(['<', '>', '≤', '≥', '≈']);
    after.is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()))
}

/// Whether a text is a relative path without data.
pub fn is_relative_path(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'-' | b'/'))
}

/// Splits `key=value`; `None` for comparisons.
pub fn assignment(core: &str) -> Option<(&str, &str)> {
    let (key, value) = core.split_once('=')?;
    let named = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'));
    (named && !value.is_empty() && !value.starts_with('=')).then_some((key, value))
}

/// Whether a text is one word of letters and the characters of code names, without digits.
pub fn is_name(text: &str) -> bool {
    text.len() <= 80
        && text.bytes().any(|b| b.is_ascii_alphabetic())
        && text.bytes().all(|b| {
            b.is_ascii_alphabetic()
                || matches!(b, b'_' | b'.' | b'-' | b':' | b'(' | b')' | b'$' | b'\\' | b'[' | b']' | b'@' | b'>')
        })
        && !is_mail(text)
}

/// Whether a name has a form that occurs only in code: `snake_case`, `camelCase`, `a.b`, `A::b`, `call()`,
/// `kebab-case`.
pub fn is_code_name(name: &str) -> bool {
    if name.contains("::") || name.ends_with("()") || name.trim_matches('_').contains('_') {
        return true;
    }
    // `.limit`, a path through a document.
    if name.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase())) {
        return !name.ends_with('.');
    }
    if name.contains("..") || name.ends_with('.') || name.ends_with('-') {
        return false;
    }
    if let Some((stem, end)) = name.rsplit_once('.') {
        return !stem.is_empty() && !super::words::FILE_ENDINGS.contains(&end);
    }
    let kebab = name.contains('-') && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let hump = name.as_bytes().windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    kebab || hump
}

pub fn is_mail(text: &str) -> bool {
    let Some((local, domain)) = split_last(text, b'@') else { return false };
    let dotted = domain
        .rsplit_once('.')
        .is_some_and(|(host, top)| !host.is_empty() && top.len() >= 2 && top.bytes().all(|b| b.is_ascii_alphabetic()));
    // A mail address without a top-level domain counts too.
    let address = domain.matches('.').count() == 3 && domain.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    !local.is_empty() && (dotted || address) && !local.contains('/')
}

/// Returns the shape of a token of letters, digits and the characters inside words.
pub fn shape(core: &str) -> Shape {
    if is_mail(core) || is_random(core) || is_long_hex(core) {
        return Shape::Mask;
    }
    if !core.bytes().any(|b| b.is_ascii_digit()) {
        return if core.contains(['/', '\\']) { Shape::Parts } else { Shape::Word };
    }
    if super::codes::is_known_name(core) {
        return Shape::Code;
    }
    let letters = || core.chars().filter(|c| c.is_alphabetic());
    if letters().next().is_none() || is_hex(core) || core.starts_with("0x") || core.starts_with("0X") {
        return if core.contains('/') && core.starts_with('/') { Shape::Parts } else { Shape::Mask };
    }
    let numbered = |part: &str| part.bytes().any(|b| b.is_ascii_digit());
    if core.starts_with(|c: char| c.is_ascii_digit()) && super::words::holds_month(core) {
        return Shape::Mask;
    }
    if core.contains(['/', '\\']) || is_dotted(core) {
        return Shape::Parts;
    }
    // `TSH-00421-M`, `WH-07`, `1Z999AA1`: numbers of things; `1.2MiB`, `1m30s`: sizes and durations.
    if core.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '$' | '€' | '£' | '¥' | '+' | '-'))
        || letters().all(|c| c.is_uppercase())
    {
        return Shape::Mask;
    }
    // `a8b2-11ff-zz90`: with a digit in each part, the whole is an id.
    if core.contains('-') && core.split('-').all(numbered) { Shape::Mask } else { Shape::Parts }
}

/// The longest IPv6 address including its zone, bytes.
const V6_BYTES_MAX: usize = 64;

/// Returns the length of a bracketed IPv6 address at the beginning of a text.
pub fn bracketed_v6(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let end = super::head(inside, V6_BYTES_MAX + 1).find(']')?;
    let address = inside[..end].split('%').next()?;
    let fits = address.matches(':').count() >= 2;
    (fits && address.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.'))).then_some(end + 2)
}

/// Whether names and numbers are joined by dots or colons: a host, a path through a document, a resource name.
fn is_dotted(core: &str) -> bool {
    core.split(['.', ':'])
        .filter(|part| part.len() > 1 && part.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'-' | b'_')))
        .count()
        >= 2
}

/// Whether a token is a digest that happens to contain no decimal digit.
fn is_long_hex(core: &str) -> bool {
    core.len() >= 32 && core.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a token is hex of at least six digits, a UUID, or an IPv6 or MAC address.
fn is_hex(core: &str) -> bool {
    let core = core.split('%').next().unwrap_or(core);
    core.len() >= 6 && core.bytes().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'-' | b'.'))
}

/// Whether letters of both cases and digits mix in an order that no name has: a token, a key, base64.
fn is_random(core: &str) -> bool {
    if core.len() < 16 {
        return false;
    }
    let (mut changes, mut counted, mut seen, mut last) = (0_usize, 0_usize, [false; 3], None);
    for byte in core.bytes() {
        let kind = match byte {
            b'a'..=b'z' => 0,
            b'A'..=b'Z' => 1,
            b'0'..=b'9' => 2,
            b'/' | b'+' | b'-' | b'_' | b'=' | b'.' => continue,
            _ => return false,
        };
        seen[kind] = true;
        counted += 1;
        changes += usize::from(last.is_some_and(|last| last != kind));
        last = Some(kind);
    }
    seen[2] && (seen[0] || seen[1]) && seen != [true, false, true] && changes * 100 > counted * 30
        || (seen == [true, true, true] && changes * 100 > counted * 25)
}

/// Masks the parts of a token that contain digits; adjacent masks collapse into one.
pub fn mask_parts(core: &str) -> String {
    let mut out = String::with_capacity(core.len());
    let mut rest = core;
    let mut home = false;
    while !rest.is_empty() {
        if starts_uuid(rest) {
            push_mask(&mut out);
            rest = &rest[UUID_BYTES..];
            continue;
        }
        let end = rest.find(is_joint).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        if home && !part.is_empty() {
            // The user name in a home directory varies.
            push_mask(&mut out);
        } else {
            push_part(&mut out, part, rest.len() == core.len() && !after.starts_with('.'));
        }
        home = matches!(part, "home" | "Users" | "tmp" | "Temp" | "temp") && after.starts_with(['/', '\\']);
        let joint = after.chars().next();
        if let Some(c) = joint {
            out.push(c);
        }
        rest = &after[joint.map_or(0, char::len_utf8)..];
    }
    out
}

/// Returns the length of an ending such as `'s` after an apostrophe between letters, or of the rest of a name such as
/// `O'Brien` if one letter is before it.
pub fn apostrophe(rest: &str, is_initial: bool) -> Option<usize> {
    let after = rest.strip_prefix(['\'', '’'])?;
    let quote = rest.len() - after.len();
    let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    let is_name = is_initial && letters > 1 && after.starts_with(char::is_uppercase);
    (is_name || letters > 0 && letters <= 3).then_some(quote + letters)
}

/// Whether a masked token is the id of an element of XML: `_*`, `id-*`.
pub fn is_xml_id(masked: &str) -> bool {
    let id = masked.strip_prefix(['_', '#']).unwrap_or(masked).trim_start_matches('_');
    let id = ["id-", "ID-", "id_", "ID_"].iter().find_map(|start| id.strip_prefix(start)).unwrap_or(id);
    id.len() < masked.len() && id.chars().eq([MASK])
}

/// Whether two and more parts of a token vary and no word is between them: `HSL:*_Ma_*` is an id.
pub fn is_without_words(masked: &str) -> bool {
    masked.matches(MASK).count() >= 2
        && !masked.contains(['/', '\\', '.', '='])
        && masked.split(|c: char| !c.is_alphabetic()).all(|part| part.len() <= SHORT_BYTES_MAX)
}

/// The longest run of letters that is no word, bytes.
const SHORT_BYTES_MAX: usize = 3;

const UUID_BYTES: usize = 36;

/// Whether a text begins with a UUID; some of its groups may contain no digit and look like words.
fn starts_uuid(text: &str) -> bool {
    let Some(uuid) = text.as_bytes().get(..UUID_BYTES) else { return false };
    uuid.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

fn is_joint(c: char) -> bool {
    matches!(c, '-' | '_' | '.' | '/' | ':' | '@' | '#' | '+' | '%' | '&' | '~' | '\\' | '$' | '=' | '[' | ']' | '*')
}

fn push_part(out: &mut String, part: &str, first: bool) {
    let Some(digit) = part.find(|c: char| c.is_ascii_digit()) else { return out.push_str(part) };
    let version =
        part.starts_with('v') && digit == 1 && part.len() <= 3 && part[1..].bytes().all(|b| b.is_ascii_digit());
    // `System.Int32`, `psycopg2.errors`
    let known = !first
        && (digit >= 4 || part.starts_with(|c: char| c.is_ascii_uppercase()))
        && super::codes::is_known_name(part);
    if (version && !first) || known || is_of_region(out, part) || is_release(part, digit) {
        return out.push_str(part);
    }
    // `kafka2`, `User42`: a name and its number. One or two letters, and short hex, are part of an id.
    let stem = &part[..digit];
    let numbered = part[digit..].bytes().all(|b| b.is_ascii_digit());
    // Hex of eight digits is an id wherever its digits are: `ffeedd99`.
    let id = (digit <= 3 || part.len() >= 8) && stem.bytes().all(|b| b.is_ascii_hexdigit());
    if numbered && digit >= 3 && !id && !stem.bytes().all(|b| b.is_ascii_uppercase()) {
        out.push_str(stem);
    }
    push_mask(out);
}

/// Whether a part is the number of a cloud's region, of which the rest is written: `eu-central-1`.
fn is_of_region(out: &str, part: &str) -> bool {
    const AREAS: [&str; 14] =
        ["us", "eu", "ap", "sa", "ca", "me", "af", "il", "mx", "cn", "gov", "iso", "isob", "europe"];
    #[rustfmt::skip]
    const SIDES: [&str; 9] =
        ["north", "south", "east", "west", "central", "northeast", "northwest", "southeast", "southwest"];
    let written = || {
        let (before, side) = out.strip_suffix('-')?.rsplit_once('-')?;
        let area = before.rsplit(|c: char| !c.is_ascii_lowercase()).next()?;
        Some(SIDES.contains(&side) && AREAS.contains(&area))
    };
    part.len() == 1 && written() == Some(true)
}

/// Whether a part is the name of a class with the number of its release: `CustomerV2`.
fn is_release(part: &str, digit: usize) -> bool {
    let (name, number) = part.split_at(digit);
    let class = name.strip_suffix('V').is_some_and(|name| name.ends_with(|c: char| c.is_ascii_lowercase()));
    class && number.len() <= 2 && number.bytes().all(|b| b.is_ascii_digit())
}

/// Adds a mask unless only a joint separates it from the previous mask.
fn push_mask(out: &mut String) {
    // `blk_-1608`: the sign is part of the number.
    if out.ends_with("_-") || out.ends_with(":-") || out.ends_with("/-") {
        out.pop();
    }
    let before = out.trim_end_matches(|c: char| is_joint(c) && c != MASK);
    if before.ends_with(MASK) && out.len() - before.len() <= 1 {
        let end = before.len();
        out.truncate(end);
    } else {
        out.push(MASK);
    }
}
