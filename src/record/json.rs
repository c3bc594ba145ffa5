//! Lenient JSON objects: typed where the type is as expected, kept as JSON where it is not.

use memchr::memchr;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON value kept as text: borrowed from the line, or written anew when it met a field of another type.
#[derive(Debug, Clone)]
pub enum Json<'a> {
    /// As it stands in the line.
    Raw(&'a RawValue),
    /// Written again.
    Owned(String),
}

impl Json<'_> {
    /// The JSON text.
    pub fn get(&self) -> &str {
        match self {
            Json::Raw(raw) => raw.get(),
            Json::Owned(text) => text,
        }
    }
}

/// The keys of an object that have no field, or whose value is not of its field's type.
pub type Rest<'a> = Vec<(Cow<'a, str>, Json<'a>)>;

/// A value that is what was expected, or something else.
#[derive(Debug)]
pub enum Lenient<'a, T> {
    /// As expected.
    Is(T),
    /// Anything else, as JSON.
    Other(Json<'a>),
}

/// Parses a text that is one JSON object and nothing else.
pub fn parse_object<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    // The parser would say what it found instead: a string of whatever length.
    if !json.trim_ascii_start().starts_with('{') {
        return Err(de::Error::custom("not an object"));
    }
    serde_json::from_str(json)
}

/// Declares a struct for a JSON object. Field kinds:
/// `text`, `flag`, `number` (short scalars), `nullable` (text or an explicit null), `long_text` (anything else is written again),
/// `raw` (any value, as JSON), and the name of another struct.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $key:literal => $field:ident : $kind:ident ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        #[allow(missing_docs)]
        pub struct $name<'a> {
            $( $(#[$field_meta])* pub $field: Option<$crate::record::json::field_type!($kind)>, )*
            /// Everything else.
            pub rest: $crate::record::json::Rest<'a>,
        }

        impl<'a> $name<'a> {
            /// The keys that have a field.
            pub const KEYS: &'static [&'static str] = &[$($key),*];

            fn from_map<'de: 'a, A: serde::de::MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
                let mut object = $name::default();
                while let Some($crate::record::json::Key(key)) = map.next_key::<$crate::record::json::Key>()? {
                    match key.as_ref() {
                        $( $key => {
                            match $crate::record::json::read_field!($kind, map) {
                                $crate::record::json::Lenient::Is(value) => object.$field = Some(value),
                                $crate::record::json::Lenient::Other(json) => object.rest.push((key, json)),
                            }
                        } )*
                        _ => object.rest.push((key, $crate::record::json::Json::Raw(map.next_value()?))),
                    }
                }
                Ok(object)
            }
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object<'a>(std::marker::PhantomData<&'a ()>);
                impl<'de: 'a, 'a> serde::de::Visitor<'de> for Object<'a> {
                    type Value = $name<'a>;
                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        f.write_str("a JSON object")
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                        $name::from_map(map)
                    }
                }
                deserializer.deserialize_map(Object(std::marker::PhantomData))
            }
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $crate::record::json::Lenient<'a, $name<'a>> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Object<'a>(std::marker::PhantomData<&'a ()>);
                impl<'de: 'a, 'a> serde::de::Visitor<'de> for Object<'a> {
                    type Value = $crate::record::json::Lenient<'a, $name<'a>>;
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                        $name::from_map(map).map($crate::record::json::Lenient::Is)
                    }
                    $crate::record::json::other_visits!(string, list);
                }
                deserializer.deserialize_any(Object(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use object;

/// The Rust type of a field kind.
macro_rules! field_type {
    (text) => { std::borrow::Cow<'a, str> };
    (long_text) => { std::borrow::Cow<'a, str> };
    (nullable) => { Option<std::borrow::Cow<'a, str>> };
    (flag) => { bool };
    (number) => { i64 };
    (raw) => { &'a serde_json::value::RawValue };
    ($object:ident) => { $object<'a> };
}
pub(crate) use field_type;

/// Reads the value of a field from a map.
macro_rules! read_field {
    (text, $map:ident) => {
        $crate::record::json::read_scalar($map.next_value()?, $crate::record::json::text)
    };
    (nullable, $map:ident) => {
        $crate::record::json::read_scalar($map.next_value()?, $crate::record::json::nullable_text)
    };
    (flag, $map:ident) => {
        $crate::record::json::read_scalar($map.next_value()?, $crate::record::json::flag)
    };
    (number, $map:ident) => {
        $crate::record::json::read_scalar($map.next_value()?, $crate::record::json::number)
    };
    (raw, $map:ident) => {
        $crate::record::json::Lenient::Is($map.next_value()?)
    };
    ($other:ident, $map:ident) => {
        $map.next_value::<$crate::record::json::Lenient<$crate::record::json::field_type!($other)>>(
        )?
    };
}
pub(crate) use read_field;

/// The visitor methods for values of an unexpected type: they are written as JSON again.
macro_rules! other_visits {
    ($($also:ident),*) => {
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("any JSON value")
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($crate::record::json::other("null".to_string()))
        }
        fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
            Ok($crate::record::json::other(value.to_string()))
        }
        fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
            Ok($crate::record::json::other(value.to_string()))
        }
        fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
            Ok($crate::record::json::other(value.to_string()))
        }
        fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
            Ok($crate::record::json::other(serde_json::Value::from(value).to_string()))
        }
        $( $crate::record::json::other_visit!($also); )*
    };
}
pub(crate) use other_visits;

/// A visitor method for one more unexpected type.
macro_rules! other_visit {
    (string) => {
        fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
            Ok($crate::record::json::other(
                serde_json::Value::from(value).to_string(),
            ))
        }
    };
    (list) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            $crate::record::json::other_list(list)
        }
    };
    (map) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            $crate::record::json::other_map(map)
        }
    };
}
pub(crate) use other_visit;

pub fn other<T>(json: String) -> Lenient<'static, T> {
    Lenient::Other(Json::Owned(json))
}

pub fn other_list<'de, 'a, T, A: SeqAccess<'de>>(mut list: A) -> Result<Lenient<'a, T>, A::Error> {
    let mut json = String::from("[");
    while let Some(raw) = list.next_element::<&RawValue>()? {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(raw.get());
    }
    json.push(']');
    Ok(Lenient::Other(Json::Owned(json)))
}

pub fn other_map<'de, 'a, T, A: MapAccess<'de>>(mut map: A) -> Result<Lenient<'a, T>, A::Error> {
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
    Ok(Lenient::Other(Json::Owned(json)))
}

/// Appends a text as a JSON string.
pub fn push_string(json: &mut String, text: &str) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

/// A key of an object, borrowed where it has no escapes.
pub struct Key<'a>(pub Cow<'a, str>);

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

impl<'de: 'a, 'a> Deserialize<'de> for Lenient<'a, Cow<'a, str>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Other<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Other<'a> {
            type Value = Lenient<'a, Cow<'a, str>>;
            other_visits!(list, map);
        }
        let raw = <&RawValue>::deserialize(deserializer)?;
        match text(raw.get()) {
            Some(text) => Ok(Lenient::Is(text)),
            None => serde_json::Deserializer::from_str(raw.get())
                .deserialize_any(Other(std::marker::PhantomData))
                .map_err(de::Error::custom),
        }
    }
}

pub fn read_scalar<'a, T>(raw: &'a RawValue, read: fn(&'a str) -> Option<T>) -> Lenient<'a, T> {
    match read(raw.get()) {
        Some(value) => Lenient::Is(value),
        None => Lenient::Other(Json::Raw(raw)),
    }
}

/// A JSON string. The parser would hold a text with escapes twice, and it may be very long.
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    match memchr(b'\\', inner.as_bytes()) {
        Some(_) => unescape(inner).map(Cow::Owned),
        None => Some(Cow::Borrowed(inner)),
    }
}

/// A text without its escapes; nothing if one of them is no character.
fn unescape(escaped: &str) -> Option<String> {
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let (character, length) = escape(&rest.as_bytes()[at..])?;
        text.push(character);
        rest = &rest[at + length..];
    }
    text.push_str(rest);
    Some(text)
}

/// The character that an escape stands for, and the length of the escape.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let character = match bytes.get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return unicode_escape(bytes),
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        _ => return None,
    };
    Some((character, 2))
}

/// `\uXXXX`, or two of them for a character that UTF-16 writes as a pair.
fn unicode_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let first = utf16_unit(bytes)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let second = utf16_unit(&bytes[6..])?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 12))
}

fn utf16_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | value as u16)
    })
}

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

/// A whole number, also one written as 12.0 or, as some gateways do, as a string.
pub fn number(json: &str) -> Option<i64> {
    let digits = json.trim_matches('"');
    digits.parse().ok().or_else(|| {
        let float: f64 = digits.parse().ok()?;
        // Beyond 2^53 a float no longer tells which whole number was meant.
        (float.fract() == 0.0 && float.abs() < 9_007_199_254_740_992.0).then_some(float as i64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    object! {
        /// For the tests.
        pub struct Sample {
            "name" => name: text,
            "is" => is: flag,
            "n" => n: number,
            "up" => up: nullable,
            "long" => long: long_text,
        }
    }

    #[test]
    fn a_wrong_type_stays_as_json_and_costs_nothing_else() {
        let sample: Sample =
            parse_object(r#"{"name":7,"is":"yes","n":1.5,"up":[1],"long":{"a":null},"new":true}"#)
                .unwrap();
        assert!(sample.name.is_none() && sample.is.is_none() && sample.n.is_none());
        let rest: Vec<(&str, &str)> = sample
            .rest
            .iter()
            .map(|(key, json)| (key.as_ref(), json.get()))
            .collect();
        assert_eq!(
            rest,
            [
                ("name", "7"),
                ("is", "\"yes\""),
                ("n", "1.5"),
                ("up", "[1]"),
                ("long", r#"{"a":null}"#),
                ("new", "true")
            ]
        );
    }

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

    #[test]
    fn the_last_of_two_equal_keys_wins() {
        let sample: Sample = parse_object(r#"{"name":"a","name":"b"}"#).unwrap();
        assert_eq!(sample.name.as_deref(), Some("b"));
    }

    proptest! {
        #[test]
        fn escapes_are_read_as_the_parser_reads_them(
            parts in proptest::collection::vec(
                "[a-zé😀]{0,3}|\\\\[\"\\\\/bfnrtux]|\\\\u[0-9a-fD8-9]{4}|\\\\ud83d\\\\ude00", 0..6
            )
        ) {
            let json = format!("\"{}\"", parts.concat());
            // A quotation mark may end it early.
            if serde_json::from_str::<IgnoredAny>(&json).is_ok() {
                let parsed = serde_json::from_str::<String>(&json).ok();
                assert_eq!(text(&json).as_deref(), parsed.as_deref(), "{json}");
            }
        }
    }

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        let sample: Sample = parse_object(r#"{"name":"a","up":null,"long":"x\ny"}"#).unwrap();
        assert!(matches!(sample.name, Some(Cow::Borrowed("a"))));
        assert_eq!(sample.up, Some(None));
        assert_eq!(sample.long.as_deref(), Some("x\ny"));
    }
}
