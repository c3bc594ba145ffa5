//! Builds the `extra_json` column: the keys of a record that have no column.

use crate::json::{self, Json, Raw, Rest, push_string};
use crate::rows::Text;
use crate::timestamp;

/// A JSON object under construction.
#[derive(Default)]
pub struct Extra(String);

/// The initial capacity: more keys often follow the first one.
const INITIAL_BYTES: usize = 128;

impl Extra {
    pub fn push(&mut self, key: &str, json: &str) {
        // Including quotes, colon, comma and brace.
        let length = key.len() + json.len() + 5;
        self.0.reserve(match self.0.is_empty() {
            true => length.max(INITIAL_BYTES),
            false => length,
        });
        self.push_key(key);
        self.0.push_str(json);
    }

    fn push_key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        push_string(&mut self.0, key);
        self.0.push(':');
    }

    pub fn push_text(&mut self, key: &str, text: &str) {
        self.push_key(key);
        push_string(&mut self.0, text);
    }

    pub fn push_optional(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.push_text(key, text);
        }
    }

    /// Adds the keys that have no field.
    pub fn push_rest(&mut self, rest: &Rest) {
        for (key, json) in rest {
            self.push(key, json.get());
        }
    }

    /// Adds an object, unless it is empty.
    pub fn push_object(&mut self, key: &str, object: Extra) {
        let Some(mut json) = object.finish() else {
            return;
        };
        self.push_key(key);
        // Copy the shorter string: the other may be very long.
        if json.len() > self.0.len() {
            json.insert_str(0, &self.0);
            self.0 = json;
        } else {
            self.0.push_str(&json);
        }
    }

    /// The JSON, or `None` for an empty object.
    pub fn finish(mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push('}');
        Some(self.0)
    }
}

impl From<&Rest<'_>> for Extra {
    fn from(rest: &Rest<'_>) -> Self {
        let mut extra = Extra::default();
        extra.push_rest(rest);
        extra
    }
}

impl From<&Json<'_>> for Extra {
    fn from(json: &Json<'_>) -> Self {
        let mut extra = Extra::default();
        extra.push("value", json.get());
        extra
    }
}

/// Parses a timestamp. If it is not in our format, the original value is added to `extra`.
pub fn parse_time<'a>(raw: Raw<'a>, key: &str, extra: &mut Extra) -> Option<Text<'a>> {
    let json = raw.get();
    let text = json::text(json);
    let time = match &text {
        Some(text) => timestamp::normalize(text.clone()),
        None => json::number(json)
            .and_then(timestamp::from_milliseconds)
            .map(Into::into),
    };
    if text.as_deref() != time.as_deref() || text.is_none() {
        extra.push(key, json);
    }
    time
}
