//! Parses JSON with the browser's own parser, and deserializes serde types from the result.
//!
//! Libraries compile detailed error messages into each deserialized type, which nobody reads here. This bridge saves
//! 26 kB gzip compared with the library made for the purpose.

use js_sys::{Array, JSON, Object, Reflect};
use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};
use std::fmt::{self, Display};
use wasm_bindgen::{JsCast, JsValue};

/// The largest integer that JavaScript represents exactly. The API sends counts and times as numbers, and amounts of
/// money as strings.
const INTEGER_MAX: f64 = 9_007_199_254_740_991.0;

/// The text is not JSON, or not of the requested type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch(&'static str);

impl Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unexpected JSON: ")?;
        f.write_str(self.0)
    }
}

impl std::error::Error for Mismatch {}

// serde's own messages make up a third of its compiled size.
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
        Self("an unknown variant")
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self("an unknown field")
    }

    fn missing_field(field: &'static str) -> Self {
        Self(field)
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self(field)
    }
}

/// Deserializes a value, or returns the first mismatch.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Mismatch> {
    T::deserialize(Js(parse(text)?))
}

/// Returns one string member of a JSON object. Cheaper than deserializing a type, which costs code size.
pub fn text(json: &str, name: &str) -> Option<String> {
    Reflect::get(&parse(json).ok()?, &name.into()).ok()?.as_string()
}

fn parse(text: &str) -> Result<JsValue, Mismatch> {
    JSON::parse(text).map_err(|_| Mismatch("not JSON"))
}

/// A parsed JavaScript value.
struct Js(JsValue);

const TYPE: Mismatch = Mismatch("a type");

// Code that does not depend on the deserialized type is in separate functions, so that it is compiled once.
impl Js {
    fn string(&self) -> Result<String, Mismatch> {
        self.0.as_string().ok_or(TYPE)
    }

    fn integer(&self) -> Result<i64, Mismatch> {
        let number = self.0.as_f64().ok_or(TYPE)?;
        if number.trunc() == number && number.abs() <= INTEGER_MAX {
            Ok(number as i64)
        } else {
            Err(Mismatch("a number"))
        }
    }

    fn natural(&self) -> Result<u64, Mismatch> {
        self.integer()?.try_into().map_err(|_| Mismatch("a number"))
    }

    fn elements(self) -> Result<Inside, Mismatch> {
        let items = self.0.dyn_into().map_err(|_| TYPE)?;
        Ok(Inside { items, at: 0, value: JsValue::NULL })
    }

    fn members(&self) -> Result<Inside, Mismatch> {
        if !self.0.is_object() || Array::is_array(&self.0) {
            return Err(TYPE);
        }
        Ok(Inside { items: Object::entries(self.0.unchecked_ref()), at: 0, value: JsValue::NULL })
    }

    /// Returns the only member.
    fn variant(&self) -> Result<Inside, Mismatch> {
        self.members().and_then(|inside| if inside.items.length() == 1 { Ok(inside) } else { Err(TYPE) })
    }
}

macro_rules! reads {
    ($(fn $method:ident => $visit:ident($read:ident))*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
            visitor.$visit(self.$read()?)
        })*
    };
}

impl<'de> Deserializer<'de> for Js {
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
        fn deserialize_str => visit_string(string)
        fn deserialize_string => visit_string(string)
        fn deserialize_identifier => visit_string(string)
        fn deserialize_seq => visit_seq(elements)
        fn deserialize_map => visit_map(members)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        match self.0.js_typeof().as_string().as_deref() {
            Some("string") => self.deserialize_string(visitor),
            Some("number") if self.0.as_f64().is_some_and(|number| number < 0.0) => self.deserialize_i64(visitor),
            Some("number") => self.deserialize_u64(visitor),
            Some("boolean") => self.deserialize_bool(visitor),
            _ if self.0.is_null() => visitor.visit_unit(),
            _ if Array::is_array(&self.0) => self.deserialize_seq(visitor),
            _ => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_bool(self.0.as_bool().ok_or(TYPE)?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        visitor.visit_map(self.members()?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mismatch> {
        match self.0.as_string() {
            Some(word) => visitor.visit_enum(IntoDeserializer::<Mismatch>::into_deserializer(word.as_str())),
            None => visitor.visit_enum(self.variant()?),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Mismatch> {
        let inside = self.elements()?;
        if inside.items.length() as usize == length { visitor.visit_seq(inside) } else { Err(Mismatch("a length")) }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mismatch> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char bytes byte_buf unit unit_struct tuple_struct
    }
}

/// The elements of an array, or the members of an object as pairs.
struct Inside {
    items: Array,
    at: u32,
    value: JsValue,
}

impl Inside {
    fn element(&mut self) -> Option<JsValue> {
        let item = (self.at < self.items.length()).then(|| self.items.get(self.at));
        self.at += 1;
        item
    }

    /// Returns the next member's name and stores its value for [`Inside::value`].
    fn name(&mut self) -> Option<String> {
        let pair: Array = self.element()?.unchecked_into();
        self.value = pair.get(1);
        pair.get(0).as_string()
    }

    fn value(&mut self) -> Js {
        Js(std::mem::replace(&mut self.value, JsValue::NULL))
    }
}

impl<'de> de::SeqAccess<'de> for Inside {
    type Error = Mismatch;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Mismatch> {
        match self.element() {
            Some(item) => seed.deserialize(Js(item)).map(Some),
            None => Ok(None),
        }
    }
}

impl<'de> de::MapAccess<'de> for Inside {
    type Error = Mismatch;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mismatch> {
        match self.name() {
            Some(name) => seed.deserialize(StrDeserializer::new(&name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mismatch> {
        seed.deserialize(self.value())
    }
}

/// A variant with its content: `{"text": "…"}`.
impl<'de> de::EnumAccess<'de> for Inside {
    type Error = Mismatch;
    type Variant = Js;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Js), Mismatch> {
        let name = self.name().ok_or(TYPE)?;
        let variant = seed.deserialize(StrDeserializer::new(&name))?;
        Ok((variant, self.value()))
    }
}

impl<'de> de::VariantAccess<'de> for Js {
    type Error = Mismatch;

    fn unit_variant(self) -> Result<(), Mismatch> {
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
