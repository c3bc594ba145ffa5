//! The JSON column of a row: what has no column of its own.

use crate::record::{Json, Rest, push_string};

/// An object in the making.
#[derive(Default)]
pub struct Extra(String);

const FIRST_BYTES: usize = 128;

impl Extra {
    /// Adds a key with its JSON value.
    pub fn push(&mut self, key: &str, json: &str) {
        // With what stands around them. Others often follow the first.
        let length = key.len() + json.len() + 5;
        self.0.reserve(match self.0.is_empty() {
            true => length.max(FIRST_BYTES),
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

    /// Adds a key with a text.
    pub fn push_text(&mut self, key: &str, text: &str) {
        self.push_key(key);
        push_string(&mut self.0, text);
    }

    /// Adds all keys that had no field.
    pub fn push_rest(&mut self, rest: &Rest) {
        for (key, json) in rest {
            self.push(key, json.get());
        }
    }

    /// Adds a key with an object, if there is anything in it.
    pub fn push_object(&mut self, key: &str, object: Extra) {
        let Some(mut json) = object.finish() else {
            return;
        };
        self.push_key(key);
        // The shorter one is copied: the other may be very long.
        if json.len() > self.0.len() {
            json.insert_str(0, &self.0);
            self.0 = json;
        } else {
            self.0.push_str(&json);
        }
    }

    /// The object, if there is anything in it.
    pub fn finish(mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push('}');
        Some(self.0)
    }
}

impl From<&Json<'_>> for Extra {
    fn from(json: &Json<'_>) -> Self {
        let mut extra = Extra::default();
        extra.push("value", json.get());
        extra
    }
}
