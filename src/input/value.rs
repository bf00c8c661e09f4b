//! Parsed TOML as serde sees it, with the place of each misfit.
//!
//! The parser's own decoder is compiled three times for every type that is read; this one once.

use std::fmt::{self, Display};

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess};
use serde::de::{Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeString, DeTable, DeValue};

/// What does not fit, and the offset of where.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub message: String,
    pub at: Option<usize>,
}

impl Misfit {
    /// At `at`, unless a place inside is known.
    fn within(mut self, at: usize) -> Self {
        self.at.get_or_insert(at);
        self
    }
}

impl Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Misfit {}

impl Error for Misfit {
    fn custom<T: Display>(message: T) -> Self {
        Self {
            message: message.to_string(),
            at: None,
        }
    }
}

type Result<T> = std::result::Result<T, Misfit>;

/// A value and where it stands.
pub(crate) struct Value<'de> {
    value: DeValue<'de>,
    at: usize,
}

impl<'de> Value<'de> {
    /// A whole text.
    pub(crate) fn root(table: Spanned<DeTable<'de>>) -> Self {
        Self {
            at: table.span().start,
            value: DeValue::Table(table.into_inner()),
        }
    }

    /// Misfits that are found when all of it has been read are its own, too.
    fn fill<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        let at = self.at;
        seed.deserialize(self).map_err(|e| e.within(at))
    }

    fn of(value: Spanned<DeValue<'de>>) -> Self {
        Self {
            at: value.span().start,
            value: value.into_inner(),
        }
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.value {
            DeValue::String(DeString::Owned(text)) => visitor.visit_string(text),
            DeValue::String(DeString::Borrowed(text)) => visitor.visit_borrowed_str(text),
            DeValue::Integer(number) => match integer(&number) {
                Some(Whole::Signed(n)) => visitor.visit_i64(n),
                Some(Whole::Large(n)) => visitor.visit_u64(n),
                None => Err(Misfit::custom("integer number overflowed")),
            },
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(x) if !x.is_infinite() || number.as_str().contains("inf") => {
                    visitor.visit_f64(x)
                }
                _ => Err(Misfit::custom("floating-point number overflowed")),
            },
            DeValue::Boolean(value) => visitor.visit_bool(value),
            DeValue::Datetime(date) => Err(Misfit::invalid_type(
                Unexpected::Other(&format!("date {date}")),
                &visitor,
            )),
            DeValue::Array(values) => visitor.visit_seq(Values(values.into_iter())),
            DeValue::Table(table) => visitor.visit_map(Entries {
                entries: table.into_iter(),
                value: None,
            }),
        }
        .map_err(|e| e.within(self.at))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    /// Only of names: what has parts is a section.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.value {
            DeValue::String(name) => visitor.visit_enum(key(name)),
            _ => Err(Misfit::custom("not a name, expected a string")),
        }
        .map_err(|e| e.within(self.at))
    }

    forward_to_deserialize_any! {
        bool u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 f32 f64 char str string seq bytes byte_buf map
        struct unit ignored_any unit_struct tuple_struct tuple identifier
    }
}

enum Whole {
    Signed(i64),
    Large(u64),
}

fn integer(number: &DeInteger) -> Option<Whole> {
    let (digits, radix) = (number.as_str(), number.radix());
    let signed = i64::from_str_radix(digits, radix).map(Whole::Signed);
    let large = |_| u64::from_str_radix(digits, radix).map(Whole::Large);
    signed.or_else(large).ok()
}

fn key(name: DeString<'_>) -> CowStrDeserializer<'_, Misfit> {
    name.into_deserializer()
}

struct Values<'de>(<DeArray<'de> as IntoIterator>::IntoIter);

impl<'de> SeqAccess<'de> for Values<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let value = self.0.next().map(Value::of);
        value.map(|v| v.fill(seed)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct Entries<'de> {
    entries: <DeTable<'de> as IntoIterator>::IntoIter,
    /// Of the key that was read last.
    value: Option<Value<'de>>,
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some((name, value)) = self.entries.next() else {
            return Ok(None);
        };
        self.value = Some(Value::of(value));
        let at = name.span().start;
        let name = seed.deserialize(key(name.into_inner()));
        name.map(Some).map_err(|e| e.within(at))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        match self.value.take() {
            Some(value) => value.fill(seed),
            None => Err(Misfit::custom("a key has no value")),
        }
    }
}
