//! Record types, keys and block types that this version does not know, for `unknown_kinds`.

use super::Position;
use crate::json::Rest;
use crate::record::kinds;
use crate::rows::UnknownKind;
use std::borrow::Cow;

/// Collects the unknown names of one record.
pub struct Unknown<'u, 'a> {
    pub found: &'u mut Vec<UnknownKind>,
    pub version: Option<Cow<'a, str>>,
    pub position: Position,
}

impl Unknown<'_, '_> {
    /// Reports an unknown record type, or the unknown keys of a known one.
    pub fn record(&mut self, kind: Option<&str>, rest: &Rest) {
        match kind {
            Some(kind) if kinds::is_known(kind) => {
                for (key, _) in rest {
                    if !kinds::is_known_key(kind, key) {
                        self.note("key", format!("{kind}.{key}"));
                    }
                }
            }
            Some(kind) => self.note("record", kind.to_string()),
            None => self.note("record", String::new()),
        }
    }

    pub fn block(&mut self, kind: Option<&str>) {
        let kind = kind.unwrap_or_default();
        if !kinds::is_known_block(kind) {
            self.note("block", kind.to_string());
        }
    }

    pub fn note(&mut self, level: &'static str, name: String) {
        self.found.push(UnknownKind {
            level,
            name,
            version: self.version.as_deref().map(str::to_string),
            line_number: self.position.line_number,
        });
    }
}
