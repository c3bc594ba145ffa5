//! Lenient JSON objects: typed where the type is as expected, kept as JSON where it is not.

use super::reader::{NotJson, Raw, Reader, is_plain, unescape};
use memchr::memchr;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// A JSON value kept as text: borrowed from the line, or written anew when it met a field of another type.
#[derive(Debug, Clone)]
pub enum Json<'a> {
    /// As it stands in the line.
    Raw(Raw<'a>),
    /// Written again.
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

    /// The value as it stands in the line.
    pub fn raw(&self) -> Option<Raw<'a>> {
        match self {
            Json::Raw(raw) => Some(*raw),
            Json::Owned(_) => None,
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

/// A struct whose fields are keys of a JSON object.
pub trait Object<'a>: Default {
    /// The keys that have a field.
    const KEYS: &'static [&'static str];

    /// Reads the object that comes next. In place: the larger ones would be moved about more than they are read.
    fn fill(&mut self, reader: &mut Reader<'a>) -> Result<(), NotJson>;
}

/// A value that a field may have.
pub trait Value<'a>: Sized {
    /// Reads the value that comes next, whatever it is.
    fn read(reader: &mut Reader<'a>) -> Result<Lenient<'a, Self>, NotJson>;
}

/// Parses a text that is one JSON object and nothing else.
pub fn parse_object<'a, T: Object<'a>>(json: &'a str) -> Result<T, NotJson> {
    let mut object = T::default();
    let mut reader = Reader::new(json);
    object.fill(&mut reader)?;
    reader.end()?;
    Ok(object)
}

/// Declares a struct for a JSON object. Field kinds:
/// `text`, `id` (a text that is not empty), `flag` (short scalars), `count` (a whole number that can be summed), `cost`, `milliseconds` (a moment),
/// `nullable` (text or an explicit null), `long_text` (anything else is written again), `raw` (any value, as JSON), and the
/// name of another struct.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* $key:literal => $field:ident : $kind:ident ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        pub struct $name<'a> {
            $( $(#[$field_meta])* pub $field: Option<$crate::record::json::field_type!($kind)>, )*
            /// Everything else.
            pub rest: $crate::record::json::Rest<'a>,
        }

        impl<'a> $crate::record::json::Object<'a> for $name<'a> {
            const KEYS: &'static [&'static str] = &[$($key),*];

            fn fill(
                &mut self,
                reader: &mut $crate::record::reader::Reader<'a>,
            ) -> Result<(), $crate::record::reader::NotJson> {
                reader.object(|reader, key| {
                    match key.as_ref() {
                        $( $key => {
                            match $crate::record::json::read_field!($kind, reader) {
                                $crate::record::json::Lenient::Is(value) => self.$field = Some(value),
                                $crate::record::json::Lenient::Other(json) => self.rest.push((key, json)),
                            }
                        } )*
                        _ => self.rest.push((key, $crate::record::json::Json::Raw(reader.raw()?))),
                    }
                    Ok(())
                })
            }
        }

        impl<'a> $crate::record::json::Value<'a> for $name<'a> {
            fn read(
                reader: &mut $crate::record::reader::Reader<'a>,
            ) -> Result<$crate::record::json::Lenient<'a, Self>, $crate::record::reader::NotJson> {
                if reader.peek() != Some(b'{') {
                    return $crate::record::json::other(reader);
                }
                let mut object = Self::default();
                $crate::record::json::Object::fill(&mut object, reader)?;
                Ok($crate::record::json::Lenient::Is(object))
            }
        }
    };
}
pub(crate) use object;

/// The Rust type of a field kind.
macro_rules! field_type {
    (text) => { std::borrow::Cow<'a, str> };
    (id) => { std::borrow::Cow<'a, str> };
    (long_text) => { std::borrow::Cow<'a, str> };
    (nullable) => { Option<std::borrow::Cow<'a, str>> };
    (flag) => { bool };
    (count) => { i64 };
    (cost) => { f64 };
    (milliseconds) => { i64 };
    (raw) => { $crate::record::reader::Raw<'a> };
    ($object:ident) => { $object<'a> };
}
pub(crate) use field_type;

/// Reads the value of a field.
macro_rules! read_field {
    (text, $reader:ident) => {
        $crate::record::json::read_text($reader)?
    };
    (id, $reader:ident) => {
        $crate::record::json::read_id($reader)?
    };
    (nullable, $reader:ident) => {
        $crate::record::json::read_scalar($reader, $crate::record::json::nullable_text)?
    };
    (flag, $reader:ident) => {
        $crate::record::json::read_scalar($reader, $crate::record::json::flag)?
    };
    (count, $reader:ident) => {
        $crate::record::json::read_scalar($reader, $crate::record::json::count)?
    };
    (cost, $reader:ident) => {
        $crate::record::json::read_scalar($reader, $crate::record::json::cost)?
    };
    (milliseconds, $reader:ident) => {
        $crate::record::json::read_scalar($reader, $crate::record::json::number)?
    };
    (raw, $reader:ident) => {
        $crate::record::json::Lenient::Is($reader.raw()?)
    };
    ($value:ident, $reader:ident) => {
        $crate::record::json::Value::read($reader)?
    };
}
pub(crate) use read_field;

/// A short text.
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

/// The id of a session or an agent. An empty one names nothing: it would be mixed up with what has none.
pub fn read_id<'a>(reader: &mut Reader<'a>) -> Result<Lenient<'a, Cow<'a, str>>, NotJson> {
    Ok(match read_text(reader)? {
        Lenient::Is(text) if text.is_empty() => Lenient::Other(Json::Owned("\"\"".to_string())),
        other => other,
    })
}

/// Another short value.
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

/// A value of which any key may be asked for, if it is an object.
#[derive(Debug)]
pub struct Opened<'a> {
    /// All of it.
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

/// A value of an unexpected type, written as JSON again.
pub fn other<'a, T>(reader: &mut Reader<'a>) -> Result<Lenient<'a, T>, NotJson> {
    let raw = reader.raw()?;
    let again = serde_json::Deserializer::from_str(raw.get()).deserialize_any(Again);
    again
        .map(|json| Lenient::Other(Json::Owned(json)))
        .map_err(|_| NotJson)
}

/// Writes what it visits as JSON.
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

/// Appends a text as a JSON string.
pub fn push_string(json: &mut String, text: &str) {
    if is_plain(text) {
        json.push('"');
        json.push_str(text);
        json.push('"');
    } else {
        json.push_str(&serde_json::Value::from(text).to_string());
    }
}

/// A key of an object, borrowed where it has no escapes.
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

/// A JSON string. A parser would hold a text with escapes twice, and it may be very long.
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    match memchr(b'\\', inner.as_bytes()) {
        Some(_) => unescape(inner).map(Cow::Owned),
        None => Some(Cow::Borrowed(inner)),
    }
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

/// The greatest count that has a column: eight million rows of it still sum to less than 2^63, where SQLite's `sum()` of
/// integers fails. No response has a trillion tokens, and a trillion milliseconds are 34 years.
pub const GREATEST_COUNT: i64 = 1 << 40;

/// A number of tokens, milliseconds, bytes and the like. One that is negative or too large to be summed stays JSON.
pub fn count(json: &str) -> Option<i64> {
    number(json).filter(|number| (0..=GREATEST_COUNT).contains(number))
}

/// The greatest cost that has a column. Sums of costs beyond it would depend on the order of their rows.
const GREATEST_COST_USD: f64 = 1e6;

/// A cost in USD. One that is negative or too large to be summed stays JSON.
pub fn cost(json: &str) -> Option<f64> {
    let cost = json.parse().ok()?;
    (0.0..=GREATEST_COST_USD).contains(&cost).then_some(cost)
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
            "n" => n: count,
            "id" => id: id,
            "up" => up: nullable,
            "long" => long: long_text,
        }
    }

    #[test]
    fn a_wrong_type_stays_as_json_and_costs_nothing_else() {
        let sample: Sample = parse_object(
            r#"{"name":7,"is":"yes","n":1.5,"id":"","up":[1],"long":{"a":null},"new":true}"#,
        )
        .unwrap();
        assert!(sample.name.is_none() && sample.is.is_none() && sample.n.is_none());
        assert!(sample.id.is_none());
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
                ("id", "\"\""),
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
    fn counts_and_costs_that_cannot_be_summed_stay_json() {
        assert_eq!(count("1099511627776"), Some(GREATEST_COUNT));
        for json in ["1099511627777", "9223372036854775807", "-1", "0.5", "1e15"] {
            assert_eq!(count(json), None, "{json}");
        }
        assert_eq!(cost("0.25"), Some(0.25));
        for json in ["-0.25", "1e7", "1e999", "NaN", "\"1\""] {
            assert_eq!(cost(json), None, "{json}");
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
