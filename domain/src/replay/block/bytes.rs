//! Bytes of a block: numbers of variable length, texts that are stored once, and ids.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The first byte of the form that this code writes.
pub(super) const FORMAT: u8 = 1;
/// The bytes of an id that is 32 hexadecimal digits.
const ID_BYTES: usize = 16;
/// Where the hyphens of a UUID are.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Why bytes are not those of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// A newer program wrote them.
    #[error("the block has format {0}, but this program reads format {FORMAT}: use the newer program")]
    Format(u8),
    /// They end too early.
    #[error("the block is cut short")]
    Short,
    /// They go on after the last entry.
    #[error("the block is too long")]
    Long,
    /// A number is out of its range.
    #[error("the block has a number out of range")]
    Number,
    /// A text is not UTF-8, or does not exist.
    #[error("the block has an unreadable text")]
    Text,
}

/// Returns the bytes of 32 lower-case hexadecimal digits; `None` for any other text.
pub(super) fn of_hex(text: &str) -> Option<[u8; ID_BYTES]> {
    let text = text.as_bytes();
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; ID_BYTES];
    if text.len() != 2 * ID_BYTES {
        return None;
    }
    for (byte, digits) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(digits[0])? << 4 | digit(digits[1])?;
    }
    Some(bytes)
}

/// Returns the bytes of a UUID in lower case, as SQS gives to messages; `None` for any other text.
pub(super) fn of_uuid(text: &str) -> Option<[u8; ID_BYTES]> {
    let is_hyphen = |at: usize| text.as_bytes().get(at) == Some(&b'-');
    let has_hyphens = text.len() == 2 * ID_BYTES + HYPHENS.len() && HYPHENS.into_iter().all(is_hyphen);
    has_hyphens.then(|| text.chars().filter(|char| *char != '-').collect::<String>()).and_then(|text| of_hex(&text))
}

/// Returns the digits of a UUID with its hyphens.
pub(super) fn with_hyphens(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + HYPHENS.len());
    for char in digits.chars() {
        if HYPHENS.contains(&text.len()) {
            text.push('-');
        }
        text.push(char);
    }
    text
}

/// Writes what comes before the entries and the entries, and stores each text once.
#[derive(Default)]
pub(super) struct Writer {
    pub bytes: Vec<u8>,
    texts: Vec<String>,
}

impl Writer {
    pub(super) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(super) fn id(&mut self, bytes: [u8; ID_BYTES]) {
        self.bytes.extend(bytes);
    }

    /// Seven bits to a byte, the lowest first; all but the last have the highest bit set.
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// A number that may be negative: short if it is near zero.
    pub(super) fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    /// A text by its number among the texts.
    pub(super) fn text(&mut self, text: &str) {
        let at = self.texts.iter().position(|stored| stored == text).unwrap_or_else(|| {
            self.texts.push(text.to_string());
            self.texts.len() - 1
        });
        self.number(at as u64);
    }

    /// Returns the texts, which must precede whatever names them.
    pub(super) fn texts(&self) -> Vec<u8> {
        let mut head = Self::default();
        head.number(self.texts.len() as u64);
        for text in &self.texts {
            head.number(text.len() as u64);
            head.bytes.extend(text.as_bytes());
        }
        head.bytes
    }
}

/// Reads what a [`Writer`] wrote.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    texts: Vec<&'a str>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, texts: Vec::new() }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], BlockError> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(BlockError::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, BlockError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn number(&mut self) -> Result<u64, BlockError> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(BlockError::Number)
    }

    /// A number of 32 bits.
    pub(super) fn small(&mut self) -> Result<u32, BlockError> {
        u32::try_from(self.number()?).map_err(|_| BlockError::Number)
    }

    pub(super) fn signed(&mut self) -> Result<i64, BlockError> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// 16 bytes as 32 hexadecimal digits.
    pub(super) fn hex(&mut self) -> Result<String, BlockError> {
        Ok(crate::id::to_hex(self.take(ID_BYTES)?))
    }

    /// Reads the texts, before whatever names them.
    pub(super) fn read_texts(&mut self) -> Result<(), BlockError> {
        for _ in 0..self.number()? {
            let length = usize::try_from(self.number()?).map_err(|_| BlockError::Number)?;
            let text = core::str::from_utf8(self.take(length)?).map_err(|_| BlockError::Text)?;
            self.texts.push(text);
        }
        Ok(())
    }

    pub(super) fn text(&mut self) -> Result<String, BlockError> {
        let at = usize::try_from(self.number()?).map_err(|_| BlockError::Number)?;
        self.texts.get(at).map(|text| (*text).to_string()).ok_or(BlockError::Text)
    }
}
