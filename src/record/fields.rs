//! The kinds of fields that records have. A value that is not of the kind of its field stays JSON.

use crate::json::{self, Json, Lenient, NotJson, Reader};
use std::borrow::Cow;

/// Declares a struct for a JSON object. A field is one of these, or another struct:
///
/// | kind           | value                                             |
/// |----------------|---------------------------------------------------|
/// | `text`         | a short string                                    |
/// | `long_text`    | a string of any length                            |
/// | `nullable`     | a short string, or an explicit null               |
/// | `id`           | a short string that is not empty                  |
/// | `flag`         | true or false                                     |
/// | `count`        | a whole number that can be summed                 |
/// | `cost`         | an amount of money that can be summed             |
/// | `milliseconds` | a moment                                          |
/// | `raw`          | any value, as JSON                                |
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
            $( $(#[$field_meta])* pub $field: Option<$crate::record::fields::field_type!($kind)>, )*
            /// Everything else.
            pub rest: $crate::json::Rest<'a>,
        }

        impl<'a> $crate::json::Object<'a> for $name<'a> {
            const KEYS: &'static [&'static str] = &[$($key),*];

            fn fill(
                &mut self,
                reader: &mut $crate::json::Reader<'a>,
            ) -> Result<(), $crate::json::NotJson> {
                reader.object(|reader, key| {
                    match key.as_ref() {
                        $( $key => {
                            match $crate::record::fields::read_field!($kind, reader) {
                                $crate::json::Lenient::Is(value) => self.$field = Some(value),
                                $crate::json::Lenient::Other(json) => self.rest.push((key, json)),
                            }
                        } )*
                        _ => self.rest.push((key, $crate::json::Json::Raw(reader.raw()?))),
                    }
                    Ok(())
                })
            }
        }

        impl<'a> $crate::json::Value<'a> for $name<'a> {
            fn read(
                reader: &mut $crate::json::Reader<'a>,
            ) -> Result<$crate::json::Lenient<'a, Self>, $crate::json::NotJson> {
                if reader.peek() != Some(b'{') {
                    return $crate::json::other(reader);
                }
                let mut object = Self::default();
                $crate::json::Object::fill(&mut object, reader)?;
                Ok($crate::json::Lenient::Is(object))
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
    (raw) => { $crate::json::Raw<'a> };
    ($object:ident) => { $object<'a> };
}
pub(crate) use field_type;

/// Reads the value of a field.
macro_rules! read_field {
    (text, $reader:ident) => {
        $crate::json::read_text($reader)?
    };
    (id, $reader:ident) => {
        $crate::record::fields::read_id($reader)?
    };
    (nullable, $reader:ident) => {
        $crate::json::read_scalar($reader, $crate::json::nullable_text)?
    };
    (flag, $reader:ident) => {
        $crate::json::read_scalar($reader, $crate::json::flag)?
    };
    (count, $reader:ident) => {
        $crate::json::read_scalar($reader, $crate::record::fields::count)?
    };
    (cost, $reader:ident) => {
        $crate::json::read_scalar($reader, $crate::record::fields::cost)?
    };
    (milliseconds, $reader:ident) => {
        $crate::json::read_scalar($reader, $crate::json::number)?
    };
    (raw, $reader:ident) => {
        $crate::json::Lenient::Is($reader.raw()?)
    };
    ($value:ident, $reader:ident) => {
        $crate::json::Value::read($reader)?
    };
}
pub(crate) use read_field;

/// The id of a session or an agent. An empty one names nothing: it would be mixed up with what has none.
pub fn read_id<'a>(reader: &mut Reader<'a>) -> Result<Lenient<'a, Cow<'a, str>>, NotJson> {
    Ok(match json::read_text(reader)? {
        Lenient::Is(text) if text.is_empty() => Lenient::Other(Json::Owned("\"\"".to_string())),
        other => other,
    })
}

/// The greatest count that has a column: eight million rows of it still sum to less than 2^63, where SQLite's `sum()` of
/// integers fails. No response has a trillion tokens, and a trillion milliseconds are 34 years.
pub const GREATEST_COUNT: i64 = 1 << 40;

/// A number of tokens, milliseconds, bytes and the like. One that is negative or too large to be summed stays JSON.
pub fn count(json: &str) -> Option<i64> {
    json::number(json).filter(|number| (0..=GREATEST_COUNT).contains(number))
}

/// The greatest cost that has a column. Sums of costs beyond it would depend on the order of their rows.
const GREATEST_COST_USD: f64 = 1e6;

/// A cost in USD. One that is negative or too large to be summed stays JSON.
pub fn cost(json: &str) -> Option<f64> {
    let cost: f64 = json.parse().ok()?;
    let is_cost = (0.0..=GREATEST_COST_USD).contains(&cost);
    // SQLite stores -0.0 as 0, and a row that is not stored yet must not differ from one that is.
    is_cost.then_some(cost.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse_object;

    #[test]
    fn a_cost_is_a_sum_of_money_and_never_negative_zero() {
        assert_eq!(cost("0.25"), Some(0.25));
        assert!(cost("-0.0").is_some_and(f64::is_sign_positive));
        assert_eq!(cost("-0.01"), None);
        assert_eq!(cost("1e7"), None);
    }

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

    #[test]
    fn text_is_borrowed_unless_it_has_escapes() {
        let sample: Sample = parse_object(r#"{"name":"a","up":null,"long":"x\ny"}"#).unwrap();
        assert!(matches!(sample.name, Some(Cow::Borrowed("a"))));
        assert_eq!(sample.up, Some(None));
        assert_eq!(sample.long.as_deref(), Some("x\ny"));
    }
}
