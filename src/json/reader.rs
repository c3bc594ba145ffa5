//! Reads JSON values once, from left to right.

use super::escapes::{plain_end, unescape, unescape_in, utf16_unit};
use bumpalo::Bump;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// The input is not JSON, or a string that is read has an escape that is not a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

/// A JSON value as written.
#[derive(Debug, Clone, Copy)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The JSON text.
    pub fn get(self) -> &'a str {
        self.0
    }
}

/// The values of a list.
pub fn list(json: &str) -> Result<Vec<Raw<'_>>, NotJson> {
    let mut reader = Reader::new(json);
    let mut values = Vec::new();
    reader.list(|reader| {
        values.push(reader.raw()?);
        Ok(())
    })?;
    reader.end()?;
    Ok(values)
}

/// The length of the JSON object at the start; if it is incomplete, the length of the valid part. Its strings may contain bytes
/// that are not UTF-8.
pub fn object_length(bytes: &[u8]) -> Result<usize, usize> {
    if bytes.first() != Some(&b'{') {
        return Err(0);
    }
    let mut values = serde_json::Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => Ok(values.byte_offset()),
        // The bytes contain no newline, so the column is the offset.
        Some(Err(error)) => Err(error.column()),
        None => Err(0),
    }
}

/// A position in a JSON text.
pub struct Reader<'a> {
    json: &'a str,
    /// Where unescaped strings are allocated. Without an arena each of them is a `String`.
    arena: Option<&'a Bump>,
    at: usize,
    /// The number of open objects and lists that the caller reads.
    depth: usize,
    /// The open objects and lists inside of these, in a skipped value.
    open: Open,
    /// The largest depth so far.
    pub deepest: usize,
    /// Whether there was an escape for NUL or an unpaired surrogate.
    pub has_odd_escape: bool,
}

impl<'a> Reader<'a> {
    pub fn new(json: &'a str) -> Self {
        Reader::with_arena(json, None)
    }

    /// The same, with an arena for unescaped strings.
    pub fn with_arena(json: &'a str, arena: Option<&'a Bump>) -> Self {
        Reader {
            json,
            arena,
            at: 0,
            depth: 0,
            open: Open::default(),
            deepest: 0,
            has_odd_escape: false,
        }
    }

    /// Expects the end of the text.
    pub fn end(&mut self) -> Result<(), NotJson> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(NotJson),
        }
    }

    /// The first byte of the next token.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.json.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Reads an object: calls `each` with every key, which must read its value.
    pub fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.expect(b'{')?;
        self.enter();
        if !self.skip(b'}') {
            loop {
                let key = self.key()?;
                each(self, key)?;
                if !self.skip(b',') {
                    break self.expect(b'}')?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// The same. Returns the object as written.
    pub fn raw_object(
        &mut self,
        each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), NotJson>,
    ) -> Result<Raw<'a>, NotJson> {
        self.peek();
        let start = self.at;
        self.object(each)?;
        Ok(Raw(&self.json[start..self.at]))
    }

    /// Reads a list: calls `each` for every value, which must read it.
    pub fn list(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.expect(b'[')?;
        self.enter();
        if !self.skip(b']') {
            loop {
                each(self)?;
                if !self.skip(b',') {
                    break self.expect(b']')?;
                }
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn enter(&mut self) {
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    fn key(&mut self) -> Result<Cow<'a, str>, NotJson> {
        self.expect(b'"')?;
        let (escaped, has_escapes) = self.behind_quote()?;
        self.expect(b':')?;
        match has_escapes {
            true => unescape(escaped).map(Cow::Owned).ok_or(NotJson),
            false => Ok(Cow::Borrowed(escaped)),
        }
    }

    /// Skips a value.
    pub fn raw(&mut self) -> Result<Raw<'a>, NotJson> {
        self.peek();
        let start = self.at;
        loop {
            match self.peek().ok_or(NotJson)? {
                b'"' => {
                    self.at += 1;
                    self.behind_quote()?;
                }
                b'{' => {
                    self.at += 1;
                    self.open(true);
                    if !self.skip(b'}') {
                        self.pass_key()?;
                        continue;
                    }
                    self.open.pop();
                }
                b'[' => {
                    self.at += 1;
                    self.open(false);
                    if !self.skip(b']') {
                        continue;
                    }
                    self.open.pop();
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => self.number()?,
            }
            // The last value also ends its object or list.
            loop {
                let Some(is_object) = self.open.is_object() else {
                    return Ok(Raw(&self.json[start..self.at]));
                };
                if self.skip(b',') {
                    if is_object {
                        self.pass_key()?;
                    }
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                self.open.pop();
            }
        }
    }

    fn open(&mut self, is_object: bool) {
        self.open.push(is_object);
        self.deepest = self.deepest.max(self.depth + self.open.count);
    }

    /// A skipped key must also be a string.
    fn pass_key(&mut self) -> Result<(), NotJson> {
        self.expect(b'"')?;
        self.behind_quote()?;
        self.expect(b':')
    }

    /// Reads a string: as written, and unescaped if all escapes are characters.
    pub fn string(&mut self) -> Result<(Raw<'a>, Option<Cow<'a, str>>), NotJson> {
        self.expect(b'"')?;
        let start = self.at - 1;
        let (escaped, has_escapes) = self.behind_quote()?;
        let text = match (has_escapes, self.arena) {
            (true, Some(arena)) => unescape_in(arena, escaped).map(Cow::Borrowed),
            (true, None) => unescape(escaped).map(Cow::Owned),
            (false, _) => Some(Cow::Borrowed(escaped)),
        };
        Ok((Raw(&self.json[start..self.at]), text))
    }

    /// The string after an opening quotation mark, and whether it has escapes.
    fn behind_quote(&mut self) -> Result<(&'a str, bool), NotJson> {
        let bytes = self.json.as_bytes();
        let start = self.at;
        let mut at = start;
        let mut has_escapes = false;
        loop {
            at = plain_end(bytes, at);
            match (bytes.get(at), bytes.get(at + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => {
                    at += 2
                }
                (Some(b'\\'), Some(b'u')) => {
                    let unit = utf16_unit(&bytes[at..]).ok_or(NotJson)?;
                    self.has_odd_escape |= matches!(unit, 0 | 0xD800..=0xDFFF);
                    at += 6;
                }
                _ => return Err(NotJson),
            }
            has_escapes = true;
        }
        self.at = at + 1;
        Ok((&self.json[start..at], has_escapes))
    }

    fn word(&mut self, word: &str) -> Result<(), NotJson> {
        match self.json.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            true => self.at += word.len(),
            false => return Err(NotJson),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), NotJson> {
        self.at += usize::from(self.is_at(b"-"));
        match self.is_at(b"0") {
            true => self.at += 1,
            false => self.digits()?,
        }
        if self.is_at(b".") {
            self.at += 1;
            self.digits()?;
        }
        if self.is_at(b"eE") {
            self.at += 1;
            self.at += usize::from(self.is_at(b"+-"));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), NotJson> {
        let start = self.at;
        let bytes = &self.json.as_bytes()[start..];
        self.at += bytes
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if self.at == start {
            return Err(NotJson);
        }
        Ok(())
    }

    /// Whether the next byte is one of these.
    fn is_at(&self, bytes: &[u8]) -> bool {
        let byte = self.json.as_bytes().get(self.at);
        byte.is_some_and(|byte| bytes.contains(byte))
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        match self.skip(byte) {
            true => Ok(()),
            false => Err(NotJson),
        }
    }
}

/// The open objects and lists, as bits. Up to 64 levels, which is nearly always, need no allocation.
#[derive(Default)]
struct Open {
    count: usize,
    /// The innermost levels, up to 64; the last bit is the innermost.
    are_objects: u64,
    /// The outer levels, 64 in each.
    outer: Vec<u64>,
}

impl Open {
    fn push(&mut self, is_object: bool) {
        if self.count > 0 && self.count.is_multiple_of(64) {
            self.outer.push(self.are_objects);
        }
        self.are_objects = self.are_objects << 1 | u64::from(is_object);
        self.count += 1;
    }

    fn pop(&mut self) {
        self.count -= 1;
        self.are_objects >>= 1;
        if self.count.is_multiple_of(64) {
            self.are_objects = self.outer.pop().unwrap_or(0);
        }
    }

    /// Whether the innermost level is an object; `None` if none is open.
    fn is_object(&self) -> Option<bool> {
        (self.count > 0).then_some(self.are_objects & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// Values, separators, and invalid variants.
    const PARTS: &str = "[\\[\\]{},:]{1,3}|\"[a\\\\\"é]{0,9}\"|\"a\":|-?[0-9.eE+-]{1,4}|true|nul|null|\"[a-p\n]{5,20}\"| |\"\\\\u[0-9d]{3,4}\"";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn it_takes_for_json_what_the_parser_does(parts in proptest::collection::vec(PARTS, 0..9)) {
            for json in [parts.concat(), format!("[{}]", parts.join(",")), format!("{{{}}}", parts.concat())] {
                let mut reader = Reader::new(&json);
                let raw = reader.raw().and_then(|raw| reader.end().map(|()| raw.get()));
                let parsed = serde_json::from_str::<&RawValue>(&json);
                assert_eq!(raw.ok(), parsed.ok().map(RawValue::get), "{json}");
                let values = list(&json).map(|values| values.iter().map(|raw| raw.get()).collect());
                let parsed: Option<Vec<&RawValue>> = serde_json::from_str(&json).ok();
                let parsed = parsed.map(|values| values.iter().map(|raw| raw.get()).collect());
                assert_eq!(values.ok() as Option<Vec<&str>>, parsed, "{json}");
            }
        }
    }

    #[test]
    fn values_of_many_levels_are_passed_over() {
        for depth in [1, 63, 64, 65, 128, 129, 500] {
            let is_list = |level: usize| level.is_multiple_of(3);
            let open = |level| if is_list(level) { "[" } else { "{\"a\":" };
            let close = |level| if is_list(level) { "]" } else { "}" };
            let levels: String = (0..depth).map(open).collect();
            let ends: String = (0..depth).rev().map(close).collect();
            let json = format!("{levels}[1,{{}},[]]{ends}");
            let mut reader = Reader::new(&json);
            assert_eq!(reader.raw().unwrap().get(), json);
            assert_eq!(reader.deepest, depth + 2);
            let wrong = ends.replace(']', "}");
            assert!(Reader::new(&format!("{levels}1{wrong}")).raw().is_err());
        }
    }

    #[test]
    fn depth_and_odd_escapes_are_noticed() {
        let met = |json: &str| {
            let mut reader = Reader::new(json);
            reader.raw().unwrap();
            (reader.deepest, reader.has_odd_escape)
        };
        assert_eq!(met(r#"[{"a":[]},"[[[[\u0041"]"#), (3, false));
        assert_eq!(met(r#"["\u0000"]"#), (1, true));
        assert_eq!(met(r#""\ud83d\ude00""#), (0, true));
    }
}
