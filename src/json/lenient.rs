//! Values that may have an unexpected type, and are kept as JSON then.

use super::escapes::{is_plain, unescape};
use super::reader::{NotJson, Raw, Reader};
use memchr::memchr;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The text of a JSON value.
#[derive(Debug, Clone)]
pub enum Json<'a> {
    /// As written.
    Raw(Raw<'a>),
    /// Serialized again.
    Owned(String),
}

impl<'a> Json<'a> {
    /// The JSON text.
    pub fn get(&self) -> &str {
        match self {
            Json::Raw(raw) => raw.get(),
            Json::Owned(text) => text,
        }
    }

    /// The value as written, unless it was serialized again.
    pub fn raw(&self) -> Option<Raw<'a>> {
        match self {
            Json::Raw(raw) => Some(*raw),
            Json::Owned(_) => None,
        }
    }
}

/// The keys of an object without a field, or with a value that does not have the type of its field.
pub type Rest<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

/// A value of the expected type, or any other.
#[derive(Debug)]
pub enum Lenient<'a, T> {
    Is(T),
    /// Any other value, as JSON.
    Other(Json<'a>),
}

/// A struct whose fields are keys of a JSON object.
pub trait Object<'a>: Default {
    /// The keys with a field.
    const KEYS: &'static [&'static str];

    /// Reads the next object, in place: moving large structs would take longer than reading them.
    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), NotJson>;
}

/// A type of a field.
pub trait Value<'a>: Sized {
    /// Reads the next value, of any type.
    fn read(reader: &mut Reader<'a>) -> Result<Lenient<'a, Self>, NotJson>;
}

/// Parses exactly one JSON object.
pub fn parse_object<'a, T: Object<'a>>(json: &'a str) -> Result<T, NotJson> {
    let mut object = T::default();
    let mut reader = Reader::new(json);
    object.fill(&mut reader)?;
    reader.end()?;
    Ok(object)
}

/// Reads a short string.
pub fn read_text<'a>(reader: &mut Reader<'a>) -> Result<Lenient<'a, Cow<'a, str>>, NotJson> {
    if reader.peek() != Some(b'"') {
        return Ok(Lenient::Other(Json::Raw(reader.raw()?)));
    }
    let (raw, text) = reader.string()?;
    Ok(match text {
        Some(text) => Lenient::Is(text),
        None => Lenient::Other(Json::Raw(raw)),
    })
}

/// Reads a short value of another type.
pub fn read_scalar<'a, T>(
    reader: &mut Reader<'a>,
    read: fn(&'a str) -> Option<T>,
) -> Result<Lenient<'a, T>, NotJson> {
    let raw = reader.raw()?;
    Ok(match read(raw.get()) {
        Some(value) => Lenient::Is(value),
        None => Lenient::Other(Json::Raw(raw)),
    })
}

impl<'a> Value<'a> for Cow<'a, str> {
    fn read(reader: &mut Reader<'a>) -> Result<Lenient<'a, Self>, NotJson> {
        if reader.peek() != Some(b'"') {
            return other(reader);
        }
        let (_, text) = reader.string()?;
        text.map(Lenient::Is).ok_or(NotJson)
    }
}

/// A value, with its entries if it is an object.
#[derive(Debug)]
pub struct Opened<'a> {
    /// The whole value.
    pub json: Raw<'a>,
    /// Its keys and values.
    pub entries: Vec<(Cow<'a, str>, Raw<'a>)>,
}

impl<'a> Value<'a> for Opened<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Lenient<'a, Self>, NotJson> {
        let mut entries = Vec::new();
        let json = match reader.peek() {
            Some(b'{') => reader.raw_object(|reader, key| {
                entries.push((key, reader.raw()?));
                Ok(())
            })?,
            _ => reader.raw()?,
        };
        Ok(Lenient::Is(Opened { json, entries }))
    }
}

/// Reads a value of an unexpected type and serializes it again.
pub fn other<'a, T>(reader: &mut Reader<'a>) -> Result<Lenient<'a, T>, NotJson> {
    let raw = reader.raw()?;
    let again = serde_json::Deserializer::from_str(raw.get()).deserialize_any(Again);
    again
        .map(|json| Lenient::Other(Json::Owned(json)))
        .map_err(|_| NotJson)
}

/// Serializes the visited values as JSON.
struct Again;

impl<'de> Visitor<'de> for Again {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("any JSON value")
    }
    fn visit_unit<E>(self) -> Result<String, E> {
        Ok("null".to_string())
    }
    fn visit_bool<E>(self, value: bool) -> Result<String, E> {
        Ok(value.to_string())
    }
    fn visit_i64<E>(self, value: i64) -> Result<String, E> {
        Ok(value.to_string())
    }
    fn visit_u64<E>(self, value: u64) -> Result<String, E> {
        Ok(value.to_string())
    }
    fn visit_f64<E>(self, value: f64) -> Result<String, E> {
        Ok(serde_json::Value::from(value).to_string())
    }
    fn visit_str<E>(self, value: &str) -> Result<String, E> {
        Ok(serde_json::Value::from(value).to_string())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<String, A::Error> {
        let mut json = String::from("[");
        while let Some(raw) = list.next_element::<&RawValue>()? {
            if json.len() > 1 {
                json.push(',');
            }
            json.push_str(raw.get());
        }
        json.push(']');
        Ok(json)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let mut json = String::from("{");
        while let Some((Key(key), raw)) = map.next_entry::<Key, &RawValue>()? {
            if json.len() > 1 {
                json.push(',');
            }
            push_string(&mut json, &key);
            json.push(':');
            json.push_str(raw.get());
        }
        json.push('}');
        Ok(json)
    }
}

/// Appends a JSON string.
pub fn push_string(json: &mut String, text: &str) {
    if is_plain(text) {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// A key of an object, borrowed unless it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Text<'a> {
            type Value = Key<'a>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_string())))
            }
        }
        deserializer.deserialize_str(Text(std::marker::PhantomData))
    }
}

/// A JSON string. A parser would hold a string with escapes twice, and it may be very long.
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    match memchr(b'\\', inner.as_bytes()) {
        Some(_) => unescape(inner).map(Cow::Owned),
        None => Some(Cow::Borrowed(inner)),
    }
}

/// A JSON string, or an explicit null.
pub fn nullable_text(json: &str) -> Option<Option<Cow<'_, str>>> {
    if json == "null" {
        Some(None)
    } else {
        text(json).map(Some)
    }
}

/// A JSON boolean.
pub fn flag(json: &str) -> Option<bool> {
    match json {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// An integer, also written as 12.0 or, by some gateways, as a string.
pub fn number(json: &str) -> Option<i64> {
    let digits = json.trim_matches('"');
    digits.parse().ok().or_else(|| {
        let float: f64 = digits.parse().ok()?;
        // Beyond 2^53 a float is not a unique integer.
        (float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0).then_some(float as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    #[test]
    fn numbers_may_be_strings_or_whole_floats() {
        for (json, value) in [
            ("12", Some(12)),
            ("12.0", Some(12)),
            ("\"12\"", Some(12)),
            ("-3", Some(-3)),
            ("1e999", None),
            ("18446744073709551615", None),
            ("null", None),
        ] {
            assert_eq!(number(json), value, "{json}");
        }
    }

    proptest! {
        #[test]
        fn escapes_are_read_as_the_parser_reads_them(
            parts in proptest::collection::vec(
                "[a-zé😀]{0,3}|\\\\[\"\\\\/bfnrtux]|\\\\u[0-9a-fD8-9]{4}|\\\\ud83d\\\\ude00", 0..6
            )
        ) {
            let json = format!("\"{}\"", parts.concat());
            // A quotation mark may end the string early.
            if serde_json::from_str::<IgnoredAny>(&json).is_ok() {
                let parsed = serde_json::from_str::<String>(&json).ok();
                assert_eq!(text(&json).as_deref(), parsed.as_deref(), "{json}");
            }
        }
    }
}
