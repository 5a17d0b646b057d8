//! The shapes of tokens, judged by their characters alone.

use crate::text::{split_first, split_last};

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
    // `<0102@mail.example>` is the id of a mail.
    let is_enclosed = |after: &str| after.split(char::is_whitespace).next().is_some_and(|token| token.contains('>'));
    after.is_some_and(|after| after.starts_with(|c: char| c.is_ascii_digit()) && !is_enclosed(after))
}

/// Whether a text is a relative path without data.
pub fn is_relative_path(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 128
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'.' | b'-' | b'/'))
}

/// Splits `key=value`; `None` for comparisons.
pub fn assignment(core: &str) -> Option<(&str, &str)> {
    let (key, value) = split_first(core, b'=')?;
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

const AT: u8 = 1;
const SLASH: u8 = 2;
const COLON: u8 = 4;
const BACKSLASH: u8 = 8;
const DIGIT: u8 = 16;

/// What a byte says of the shape of its token.
const fn sign(byte: u8) -> u8 {
    match byte {
        b'@' => AT,
        b'/' => SLASH,
        b':' => COLON,
        b'\\' => BACKSLASH,
        b'0'..=b'9' => DIGIT,
        _ => 0,
    }
}

/// Returns the shape of a token of letters, digits and the characters inside words.
pub fn shape(core: &str) -> Shape {
    let signs = core.bytes().fold(0, |signs, byte| signs | sign(byte));
    // Most words have none of the signs.
    if signs == 0 && core.len() < RANDOM_BYTES_MIN {
        return Shape::Word;
    }
    let is_number = || is_digest(core) || is_network(core) || super::numbers::is_of_document(core);
    if (signs & AT != 0 && is_mail(core))
        || is_random(core)
        || is_long_hex(core)
        || (signs & (SLASH | COLON) != 0 && is_number())
    {
        return Shape::Mask;
    }
    if signs & DIGIT == 0 {
        return if signs & (SLASH | BACKSLASH) != 0 { Shape::Parts } else { Shape::Word };
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

/// Whether a text after `#` is a colour of the web.
pub fn is_colour(text: &str) -> bool {
    matches!(text.len(), 3 | 6) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Whether a token is a network of IPv6: `fd00:12::/48`.
fn is_network(core: &str) -> bool {
    const BITS_DIGITS_MAX: usize = 3;
    let Some((address, bits)) = core.split_once('/') else { return false };
    address.matches(':').count() >= 2
        && address.bytes().all(|b| b.is_ascii_hexdigit() || b == b':')
        && (1..=BITS_DIGITS_MAX).contains(&bits.len())
        && bits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a token is a digest with the name of its function: `SHA256:p2QAMXNI/R1BUF`.
fn is_digest(core: &str) -> bool {
    const DIGEST_BYTES_MIN: usize = 16;
    let Some((name, digest)) = core.split_once(':') else { return false };
    ["sha256", "sha1", "sha384", "sha512", "md5"].iter().any(|known| name.eq_ignore_ascii_case(known))
        && digest.len() >= DIGEST_BYTES_MIN
        && digest.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b':'))
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

/// The shortest token whose letters may be random, bytes.
const RANDOM_BYTES_MIN: usize = 16;

/// Whether letters of both cases and digits mix in an order that no name has: a token, a key, base64.
fn is_random(core: &str) -> bool {
    // `C-0x55d0c8a1f3b8`: a kind of objects, and the address of one.
    if core.len() < RANDOM_BYTES_MIN || core.contains("-0x") {
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

/// Returns the length of an ending such as `'s` after an apostrophe between letters, or of the rest of a name such as
/// `O'Brien` if one letter is before it.
pub fn apostrophe(rest: &str, is_initial: bool) -> Option<usize> {
    let after = rest.strip_prefix(['\'', '’'])?;
    let quote = rest.len() - after.len();
    let letters = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    let is_name = is_initial && letters > 1 && after.starts_with(char::is_uppercase);
    (is_name || letters > 0 && letters <= 3).then_some(quote + letters)
}

/// The most words of such a phrase.
const PHRASE_WORDS_MAX: usize = 7;

/// Whether a text is a few words without marks and digits: `reading authorization packet`.
pub fn is_phrase(text: &str) -> bool {
    (2..=PHRASE_WORDS_MAX).contains(&text.split(' ').count())
        && text.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b' ' | b'-' | b'&'))
}
