//! Parses a body into a tree; each value keeps its original text.

use crate::limits::DEPTH_MAX;
use crate::number;
use jaq_json::{Map, Val};
use std::borrow::Cow;

/// A value with its text.
#[derive(Debug)]
pub struct Node<'a> {
    /// The value's slice of the body.
    pub text: &'a str,
    /// The value itself.
    pub kind: Kind<'a>,
}

/// A value by its type.
#[derive(Debug)]
pub enum Kind<'a> {
    Null,
    Bool(bool),
    /// A number; its digits are the node's text.
    Number,
    /// A string with escapes resolved. A lone surrogate becomes U+FFFD, as in jq.
    Text(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(Vec<Member<'a>>),
}

/// A member of an object.
#[derive(Debug)]
pub struct Member<'a> {
    /// The key's text, quotes included.
    pub key_text: &'a str,
    pub key: Cow<'a, str>,
    pub value: Node<'a>,
}

/// Why a text cannot be parsed.
#[derive(Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not JSON from this byte on.
    NotJson(usize),
    /// Nested too deep.
    TooDeep,
}

/// Parses a body.
pub fn parse(text: &str) -> Result<Node<'_>, Fault> {
    let mut reader = Reader { text, at: 0 };
    let node = reader.value(0)?;
    reader.skip_blanks();
    if reader.at == text.len() { Ok(node) } else { Err(Fault::NotJson(reader.at)) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn not_json<T>(&self) -> Result<T, Fault> {
        Err(Fault::NotJson(self.at))
    }

    fn require(&mut self, byte: u8) -> Result<(), Fault> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return self.not_json();
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, Fault> {
        if depth > DEPTH_MAX {
            return Err(Fault::TooDeep);
        }
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => Kind::Object(self.members(depth)?),
            Some(b'[') => Kind::Array(self.elements(depth)?),
            Some(b'"') => Kind::Text(self.string()?),
            Some(b't') => self.literal("true", Kind::Bool(true))?,
            Some(b'f') => self.literal("false", Kind::Bool(false))?,
            Some(b'n') => self.literal("null", Kind::Null)?,
            _ => self.number()?,
        };
        Ok(Node { text: &self.text[start..self.at], kind })
    }

    fn literal(&mut self, literal: &str, kind: Kind<'a>) -> Result<Kind<'a>, Fault> {
        if !self.text[self.at..].starts_with(literal) {
            return self.not_json();
        }
        self.at += literal.len();
        Ok(kind)
    }

    fn number(&mut self) -> Result<Kind<'a>, Fault> {
        let remaining = &self.text[self.at..];
        let is_part = |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = remaining.bytes().position(|b| !is_part(b)).unwrap_or(remaining.len());
        if !number::is_json(&remaining[..length]) {
            return self.not_json();
        }
        self.at += length;
        Ok(Kind::Number)
    }

    fn elements(&mut self, depth: usize) -> Result<Vec<Node<'a>>, Fault> {
        self.at += 1;
        let mut elements = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(elements);
        }
        loop {
            elements.push(self.value(depth + 1)?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return self.not_json(),
            }
        }
        self.at += 1;
        Ok(elements)
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member<'a>>, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(members);
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return self.not_json();
            }
            let start = self.at;
            let key = self.string()?;
            let key_text = &self.text[start..self.at];
            self.require(b':')?;
            members.push(Member { key_text, key, value: self.value(depth + 1)? });
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => break,
                _ => return self.not_json(),
            }
        }
        self.at += 1;
        Ok(members)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.at += 1;
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut escaped = false;
        loop {
            match bytes.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(0..=0x1F) | None => return self.not_json(),
                Some(_) => self.at += 1,
            }
        }
        let inner = &self.text[start..self.at];
        self.at += 1;
        Ok(if escaped { Cow::Owned(unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    /// Skips one escape; fails if JSON does not define it.
    fn escape(&mut self) -> Result<(), Fault> {
        let remaining = &self.text.as_bytes()[self.at + 1..];
        match remaining {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
            [b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => self.at += 6,
            _ => return self.not_json(),
        }
        Ok(())
    }
}

/// Resolves the escapes of a string. The escapes must be valid.
fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut remaining = inner;
    while let Some(at) = remaining.find('\\') {
        out.push_str(&remaining[..at]);
        let kind = remaining.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        remaining = &remaining[(at + 2).min(remaining.len())..];
        match kind {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let first = unit(remaining);
                remaining = remaining.get(4..).unwrap_or("");
                let second = remaining.strip_prefix("\\u").map(unit).filter(|_| (0xD800..0xDC00).contains(&first));
                match second.filter(|second| (0xDC00..0xE000).contains(second)) {
                    Some(second) => {
                        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                        out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                        remaining = remaining.get(6..).unwrap_or("");
                    }
                    None => out.push(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
            other => out.push(char::from(other)),
        }
    }
    out.push_str(remaining);
    out
}

fn unit(text: &str) -> u32 {
    text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xFFFD)
}

impl Node<'_> {
    /// Returns the value that a program sees. If a key is repeated, the last member counts, as in jq.
    pub fn value(&self) -> Val {
        match &self.kind {
            Kind::Null => Val::Null,
            Kind::Bool(bool) => Val::Bool(*bool),
            Kind::Number => Val::Num(number::read(self.text)),
            Kind::Text(text) => Val::utf8_str(text.as_bytes().to_vec()),
            Kind::Array(elements) => elements.iter().map(Self::value).collect(),
            Kind::Object(members) => {
                let entry = |member: &Member<'_>| (Val::utf8_str(member.key.as_bytes().to_vec()), member.value.value());
                Val::obj(members.iter().map(entry).collect::<Map>())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_json_is_refused_at_its_first_wrong_byte() {
        let rows = [
            ("", 0),
            ("  ", 2),
            ("hello", 0),
            ("{\"a\":1", 6),
            ("{\"a\":1}}", 7),
            ("[1,]", 3),
            ("[01]", 1),
            ("[1.]", 1),
            ("{a:1}", 1),
            ("{\"a\" 1}", 5),
            ("\"a\nb\"", 2),
            ("\"\\x\"", 1),
            ("\"\\u12\"", 1),
            ("nul", 0),
            ("NaN", 0),
            ("'a'", 0),
        ];
        for (text, at) in rows {
            assert_eq!(parse(text).err(), Some(Fault::NotJson(at)), "{text:?}");
        }
        let deep = |n: usize| format!("{}1{}", "[".repeat(n), "]".repeat(n));
        assert_eq!(parse(&deep(DEPTH_MAX + 1)).err(), Some(Fault::TooDeep));
        assert_eq!(parse(&"[".repeat(1_000_000)).err(), Some(Fault::TooDeep));
        assert!(parse(&deep(DEPTH_MAX)).is_ok());
    }

    #[test]
    fn strings_are_parsed_with_every_escape() {
        let rows = [
            (r#""a\"b\\c\/d\b\f\n\r\t""#, "a\"b\\c/d\u{8}\u{c}\n\r\t"),
            (r#""\u00e9\ud83d\udce8""#, "é📨"),
            (r#""\ud83d end""#, "\u{FFFD} end"),
            (r#""\ud83d\u0041""#, "\u{FFFD}A"),
            (r#""\udce8""#, "\u{FFFD}"),
        ];
        for (text, value) in rows {
            let node = parse(text).unwrap();
            assert!(matches!(&node.kind, Kind::Text(found) if found == value), "{text}: {:?}", node.kind);
        }
    }
}
