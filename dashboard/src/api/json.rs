//! Reads the office's JSON. A reader of our own, because each library that was measured adds 26 kB gzip or more to what
//! a browser must load before it shows anything: they compile a syntax, or serde's messages, into each type that is
//! read. Here a text is known to be JSON before it is read, and nobody reads the messages.

use domain::read::json::{Raw, is_valid};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use std::fmt::{self, Display};

/// The text is no JSON, or not of the shape that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch(&'static str);

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not as expected: {}", self.0)
    }
}

impl std::error::Error for Mismatch {}

// The words of serde's own messages are a third of what it compiles to, and nobody would read them here.
impl de::Error for Mismatch {
    fn custom<T: Display>(_: T) -> Self {
        Self("a value")
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self("a type")
    }

    fn invalid_value(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self("a value")
    }

    fn invalid_length(_: usize, _: &dyn de::Expected) -> Self {
        Self("a length")
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self("an unknown word")
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self("an unknown name")
    }

    fn missing_field(field: &'static str) -> Self {
        Self(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self(field)
    }
}

/// Reads a value.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Mismatch> {
    if !is_valid(text) {
        return Err(Mismatch("no JSON"));
    }
    let mut json = Json { rest: text, left_over: false };
    let value = T::deserialize(&mut json)?;
    if json.left_over { Err(Mismatch("a length")) } else { Ok(value) }
}

/// What is left of a text that is JSON.
struct Json<'a> {
    rest: &'a str,
    left_over: bool,
}

impl<'a> Json<'a> {
    /// The first byte of what comes next; blanks are skipped.
    fn peek(&mut self) -> u8 {
        self.rest = self.rest.trim_ascii_start();
        self.rest.as_bytes().first().copied().unwrap_or_default()
    }

    /// Goes on behind this byte, if it comes next.
    fn takes(&mut self, byte: u8) -> bool {
        let takes = self.peek() == byte;
        if takes {
            self.rest = &self.rest[1..];
        }
        takes
    }

    /// Goes into an object or an array.
    fn enters(&mut self, open: u8) -> Result<(), Mismatch> {
        if self.takes(open) { Ok(()) } else { Err(Mismatch("a type")) }
    }

    /// Goes out of it. What a value left over is told at the end: here it would be compiled for each type.
    fn leaves(&mut self, close: u8) {
        self.left_over |= !self.takes(close);
    }

    fn string(&mut self) -> Result<String, Mismatch> {
        self.peek();
        let text = self.rest;
        let read = Raw::of(text).as_string();
        self.skip();
        read.ok_or(Mismatch("a type"))
    }

    /// The name of a member; goes on behind its colon.
    fn name(&mut self) -> Result<String, Mismatch> {
        let name = self.string()?;
        self.takes(b':');
        Ok(name)
    }

    /// Digits, or a word.
    fn bare(&mut self) -> &'a str {
        self.peek();
        let end = self.rest.find([',', '}', ']', ' ', '\n', '\r', '\t']).unwrap_or(self.rest.len());
        let (bare, rest) = self.rest.split_at(end);
        self.rest = rest;
        bare
    }

    fn natural(&mut self) -> Result<u64, Mismatch> {
        self.bare().parse().map_err(|_| Mismatch("a number"))
    }

    fn integer(&mut self) -> Result<i64, Mismatch> {
        self.bare().parse().map_err(|_| Mismatch("a number"))
    }

    /// Goes on behind whatever comes next.
    fn skip(&mut self) {
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        self.peek();
        let end = self.rest.bytes().position(|byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    quoted = !quoted;
                    return depth == 0 && !quoted;
                }
                _ if quoted => {}
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth > 1 => depth -= 1,
                b'}' | b']' if depth == 1 => return true,
                _ => {}
            }
            false
        });
        match self.rest.as_bytes().first() {
            Some(b'"' | b'{' | b'[') => self.rest = end.map_or("", |end| &self.rest[end + 1..]),
            _ => drop(self.bare()),
        }
    }
}

macro_rules! reads {
    ($(fn $method:ident => $visit:ident($read:ident))*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            visitor.$visit(self.$read()?)
        })*
    };
}

impl<'de> Deserializer<'de> for &mut Json<'de> {
    type Error = Mismatch;

    reads! {
        fn deserialize_u8 => visit_u64(natural)
        fn deserialize_u16 => visit_u64(natural)
        fn deserialize_u32 => visit_u64(natural)
        fn deserialize_u64 => visit_u64(natural)
        fn deserialize_i8 => visit_i64(integer)
        fn deserialize_i16 => visit_i64(integer)
        fn deserialize_i32 => visit_i64(integer)
        fn deserialize_i64 => visit_i64(integer)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.peek() {
            b'{' => self.deserialize_map(visitor),
            b'[' => self.deserialize_seq(visitor),
            b'"' => self.deserialize_str(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            b'n' => self.deserialize_unit(visitor),
            b'-' => self.deserialize_i64(visitor),
            _ => self.deserialize_u64(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.bare() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Mismatch("a type")),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.bare();
        visitor.visit_unit()
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_str(&self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.peek() == b'n' {
            self.bare();
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.enters(b'[')?;
        let value = visitor.visit_seq(Inside { json: self, close: b']' });
        self.leaves(b']');
        value
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.enters(b'{')?;
        let value = visitor.visit_map(Inside { json: self, close: b'}' });
        self.leaves(b'}');
        value
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        if self.takes(b'{') {
            let value = visitor.visit_enum(&mut *self);
            self.leaves(b'}');
            return value;
        }
        visitor.visit_enum(IntoDeserializer::<Mismatch>::into_deserializer(self.string()?.as_str()))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        self.skip();
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char bytes byte_buf unit_struct tuple tuple_struct
    }
}

/// The elements of an array or the members of an object, without the byte that closes it.
struct Inside<'j, 'a> {
    json: &'j mut Json<'a>,
    close: u8,
}

impl Inside<'_, '_> {
    fn goes_on(&mut self) -> bool {
        self.json.takes(b',');
        self.json.peek() != self.close
    }

    fn key(&mut self) -> Result<Option<String>, Mismatch> {
        if self.goes_on() { self.json.name().map(Some) } else { Ok(None) }
    }
}

impl<'de> de::SeqAccess<'de> for Inside<'_, 'de> {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        if self.goes_on() { seed.deserialize(&mut *self.json).map(Some) } else { Ok(None) }
    }
}

impl<'de> de::MapAccess<'de> for Inside<'_, 'de> {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        match self.key()? {
            Some(key) => seed.deserialize(StrDeserializer::new(&key)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mismatch> {
        seed.deserialize(&mut *self.json)
    }
}

/// A variant with what belongs to it: `{"text": "…"}`.
impl<'de> de::EnumAccess<'de> for &mut Json<'de> {
    type Error = Mismatch;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Mismatch> {
        let name = self.name()?;
        Ok((seed.deserialize(StrDeserializer::new(&name))?, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Json<'de> {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
        self.skip();
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mismatch> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Mismatch> {
        self.deserialize_map(visitor)
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
