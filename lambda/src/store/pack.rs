//! Packs records: JSON, compressed with a dictionary that contains the field names.
//!
//! A letter's JSON is small, and most of it is the same in every letter. Without the dictionary, it compresses to about
//! a half. With the dictionary, it compresses to about a fifth, which is below the 1 KB that DynamoDB charges as one
//! write unit.

use super::fault::Fault;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::sync::LazyLock;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

/// First byte of a packed record: the dictionary's number. A dictionary never changes; a better one gets the next
/// number.
const FORMAT: u8 = 1;
/// Length of the header: the dictionary's number (1 byte), and the length of the JSON (4 bytes).
const HEADER_BYTES: usize = 5;
/// Compression level. At this level, zstd compresses a letter within some tens of microseconds.
const LEVEL: i32 = 9;
/// Longest accepted JSON, in bytes. It exceeds any record, and keeps a damaged length from exhausting the memory.
const LENGTH_MAX: usize = 64 * 1024 * 1024;

static TEXT: &[u8] = include_bytes!("dictionary-1.txt");
static ENCODER: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| EncoderDictionary::copy(TEXT, LEVEL));
static DECODER: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(TEXT));

/// Packs a record.
pub(super) fn pack(kind: &'static str, record: &impl Serialize) -> Result<Vec<u8>, Fault> {
    let json = serde_json::to_vec(record).map_err(|source| Fault::Encode { kind, source })?;
    compress(&json).map_err(|source| Fault::Unpack { kind, source })
}

/// Unpacks a record.
pub(super) fn unpack<T: DeserializeOwned>(kind: &'static str, bytes: &[u8]) -> Result<T, Fault> {
    let json = decompress(bytes).map_err(|source| Fault::Unpack { kind, source })?;
    serde_json::from_slice(&json).map_err(|source| Fault::Record { kind, source })
}

fn compress(json: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(json.len()).map_err(io::Error::other)?;
    let frame = Compressor::with_prepared_dictionary(&ENCODER)?.compress(json)?;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + frame.len());
    bytes.push(FORMAT);
    bytes.extend(length.to_le_bytes());
    bytes.extend(frame);
    Ok(bytes)
}

fn decompress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let invalid = |problem: &str| io::Error::new(io::ErrorKind::InvalidData, problem.to_owned());
    let (header, frame) =
        bytes.split_at_checked(HEADER_BYTES).ok_or_else(|| invalid("the packed bytes are too short"))?;
    let [FORMAT, length @ ..] = header else { return Err(invalid("the dictionary is unknown")) };
    let length = <[u8; 4]>::try_from(length).map_or(0, u32::from_le_bytes) as usize;
    if length > LENGTH_MAX {
        return Err(invalid("the stated length is too long"));
    }
    Decompressor::with_prepared_dictionary(&DECODER)?.decompress(frame, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpack_returns_the_packed_record() {
        for text in ["", "a", "\0\u{1F4EE}", &"{\"type\":\"order.placed\"}".repeat(10_000)] {
            let packed = pack("text", &text).expect("valid JSON");
            assert_eq!(unpack::<String>("text", &packed).expect("intact bytes"), text);
        }
    }

    #[test]
    fn damaged_bytes_are_rejected() {
        let packed = pack("text", &"hello").expect("valid JSON");
        for damaged in [&[][..], &packed[..3], &packed[..packed.len() - 1], &[9, 0, 0, 0, 0], &[1, 255, 255, 255, 255]]
        {
            assert!(unpack::<String>("text", damaged).is_err(), "{damaged:?}");
        }
    }
}
