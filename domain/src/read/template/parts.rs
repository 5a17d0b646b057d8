//! Tokens of which parts vary: the parts with digits are masked, the words stay.

use super::{MASK, codes};
use alloc::string::String;

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

/// Masks the whole last part of a key such as `lock:order:de-*`, of which a part varies. A name of AWS ends in a resource.
pub fn mask_end_of_key(masked: &mut String) {
    const PARTS_MIN: usize = 3;
    let is_key = masked.matches(':').count() >= PARTS_MIN - 1
        && !masked.starts_with("arn:")
        && !masked.contains("::")
        && masked.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'-' | b'.' | b'*'));
    let Some(last) = masked.rfind(':').filter(|last| is_key && masked[*last..].contains(MASK)) else { return };
    // `orders:b2b-refund` names what is done.
    if masked[last..].split(|c: char| !c.is_alphabetic()).any(|word| word.len() > SHORT_BYTES_MAX) {
        return;
    }
    masked.truncate(last + 1);
    masked.push(MASK);
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
    let known =
        !first && (digit >= 4 || part.starts_with(|c: char| c.is_ascii_uppercase())) && codes::is_known_name(part);
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
