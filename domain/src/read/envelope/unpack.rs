//! Unpacks base64, with gzip or zlib inside. Output is bounded, whatever the input claims.

use crate::limits::MESSAGE_BYTES_MAX;
use alloc::string::String;
use alloc::vec::Vec;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use miniz_oxide::inflate;

/// The maximum total bytes that the packed parts of one letter may unpack to. Of a larger payload only the beginning
/// is read, which contains type and impact. An unpacked payload could not be larger either.
pub const UNPACKED_BYTES_MAX: usize = MESSAGE_BYTES_MAX;

/// The shortest text that is tried as base64; shorter texts are words.
const BASE64_BYTES_MIN: usize = 16;
/// Bytes that are decoded first, to see whether decoding all of them is worthwhile.
const PEEK_BYTES: usize = 16;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, CONFIG);
const URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, CONFIG);

/// The result of unpacking.
pub struct Unpacked {
    /// The text.
    pub text: String,
    /// Whether the output was cut at its limit.
    pub cut: bool,
}

/// Decodes base64 in either alphabet, padded or not.
pub fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let engine = if text.contains(['-', '_']) { &URL } else { &PLAIN };
    engine.decode(text).ok()
}

/// Unpacks base64, compressed or not, if it contains JSON or compressed bytes.
pub fn text(text: &str, left_bytes: &mut usize) -> Option<Unpacked> {
    let text = text.trim();
    let head = text.get(..PEEK_BYTES).filter(|_| text.len() >= BASE64_BYTES_MIN)?;
    // A head of whole quads decodes by itself.
    match *base64(head)?.first()? {
        b'{' | b'[' | b'"' => as_text(base64(text)?, false),
        0x1f | 0x78 => inflated(&base64(text)?, left_bytes),
        _ => None,
    }
}

/// Decompresses gzip (RFC 1952) or zlib (RFC 1950) to text.
pub fn inflated(bytes: &[u8], left_bytes: &mut usize) -> Option<Unpacked> {
    let deflated = deflated(bytes)?;
    let (out, cut) = match inflate::decompress_to_vec_with_limit(deflated, *left_bytes) {
        Ok(out) => (out, false),
        Err(error) if error.status == inflate::TINFLStatus::HasMoreOutput => (error.output, true),
        Err(_) => return None,
    };
    *left_bytes = left_bytes.saturating_sub(out.len());
    as_text(out, cut)
}

/// Returns the raw deflate stream inside gzip or zlib. Checksums are ignored: a damaged letter is read as far as
/// possible.
fn deflated(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] => {
            let mut rest = rest;
            if flags & 4 != 0 {
                let [low, high, more @ ..] = rest else { return None };
                rest = more.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
            }
            for _ in 0..u8::from(flags & 8 != 0) + u8::from(flags & 16 != 0) {
                let end = rest.iter().position(|byte| *byte == 0)?;
                rest = &rest[end + 1..];
            }
            if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
        }
        // Method 8, no dictionary, and a header that is a multiple of 31.
        [method, flags, rest @ ..]
            if method & 15 == 8 && flags & 32 == 0 && u16::from_be_bytes([*method, *flags]) % 31 == 0 =>
        {
            Some(rest)
        }
        _ => None,
    }
}

/// Returns the bytes as UTF-8, or their longest valid beginning if the end was cut off.
fn as_text(bytes: Vec<u8>, cut: bool) -> Option<Unpacked> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if cut && error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).ok()?
        }
        Err(_) => return None,
    };
    Some(Unpacked { text, cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use miniz_oxide::deflate::{compress_to_vec, compress_to_vec_zlib};

    fn gzip(bytes: &[u8], flags: u8, extra: &[u8]) -> String {
        let mut out = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 255];
        out.extend(extra);
        out.extend(compress_to_vec(bytes, 6));
        out.extend([0; 8]);
        PLAIN.encode(out)
    }

    #[test]
    fn packed_texts_are_distinguished_from_plain_ones() {
        let json = br#"{"type":"order.placed","n":1}"#;
        let whole = core::str::from_utf8(json).ok();
        for (packed, expected) in [
            (PLAIN.encode(json), whole),
            (PLAIN.encode(json).replace('=', ""), whole),
            (URL.encode(br#"{"a":"???>>>~~~"}"#), Some(r#"{"a":"???>>>~~~"}"#)),
            (gzip(json, 0, b""), whole),
            (gzip(json, 4 + 8 + 16 + 2, b"\x02\x00xxname\0comment\0cc"), whole),
            (gzip(json, 4, b"\xff\xff"), None),
            (PLAIN.encode(compress_to_vec_zlib(json, 6)), whole),
            ("eyJhIjoxfQ".into(), None),
            ("thisisjustalongword".into(), None),
            ("{\"a\":\"eyJ0eXBlIjoib3JkZXIucGxhY2VkIn0=\"}".into(), None),
            (PLAIN.encode([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 7, 7]), None),
            (PLAIN.encode(b"{\"a\":\xff\xff\xff\xff\xff}"), None),
            ("é".repeat(40), None),
        ] {
            let mut left = UNPACKED_BYTES_MAX;
            assert_eq!(text(&packed, &mut left).map(|u| u.text).as_deref(), expected, "{packed}");
        }
    }

    #[test]
    fn a_bomb_yields_its_beginning_and_uses_up_the_letters_allowance() {
        let bomb = gzip(&vec![b'x'; 64 * UNPACKED_BYTES_MAX], 0, b"");
        let mut left = UNPACKED_BYTES_MAX;
        let unpacked = text(&bomb, &mut left);
        assert!(unpacked.is_some_and(|u| u.cut && u.text.len() == UNPACKED_BYTES_MAX));
        assert_eq!(left, 0);
        assert!(text(&bomb, &mut left).is_none_or(|u| u.text.is_empty()));
    }
}
