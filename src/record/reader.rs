//! JSON, read once from left to right. The grammar is that of `serde_json`, and a test holds it to that. What differs is
//! what it costs to look into some values and to keep others as the text that they are: that parser would read a value
//! to find its end, and again for each level of what is in it.

use bumpalo::Bump;
use std::borrow::Cow;
use wide::u8x16;

/// A text is not JSON, or has an escape that is no character where one is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

/// A JSON value as it stands in a text.
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

/// A place in a JSON text.
pub struct Reader<'a> {
    json: &'a str,
    /// Where texts go that are not as they stand in the JSON; each has memory of its own without it.
    texts: Option<&'a Bump>,
    at: usize,
    /// Objects and lists that are open at the place, and have functions of their own.
    depth: usize,
    /// Those that are open besides, in a value that is passed over.
    open: Open,
    /// How deep the objects and lists are that were met.
    pub deepest: usize,
    /// Whether an escape was met that is a NUL, or one half of a pair.
    pub has_odd_escape: bool,
}

impl<'a> Reader<'a> {
    /// At the start of a text.
    pub fn new(json: &'a str) -> Self {
        Reader::with_texts(json, None)
    }

    /// The same, with a place for texts without their escapes.
    pub fn with_texts(json: &'a str, texts: Option<&'a Bump>) -> Self {
        Reader {
            json,
            texts,
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

    /// The first byte of what comes next.
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.json.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Reads an object: what is called with each key must read its value.
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

    /// The same, with what all of it was.
    pub fn raw_object(
        &mut self,
        each: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), NotJson>,
    ) -> Result<Raw<'a>, NotJson> {
        self.peek();
        let start = self.at;
        self.object(each)?;
        Ok(Raw(&self.json[start..self.at]))
    }

    /// Reads a list: what is called must read the next value.
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

    /// Passes over a value.
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
            // With a value that is the last one, what it stands in ends, too.
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

    /// A key that nobody asks for must be one all the same.
    fn pass_key(&mut self) -> Result<(), NotJson> {
        self.expect(b'"')?;
        self.behind_quote()?;
        self.expect(b':')
    }

    /// Passes over a string: all of it, and its text if its escapes are characters.
    pub fn string(&mut self) -> Result<(Raw<'a>, Option<Cow<'a, str>>), NotJson> {
        self.expect(b'"')?;
        let start = self.at - 1;
        let (escaped, has_escapes) = self.behind_quote()?;
        let text = match (has_escapes, self.texts) {
            (true, Some(texts)) => unescape_in(texts, escaped).map(Cow::Borrowed),
            (true, None) => unescape(escaped).map(Cow::Owned),
            (false, _) => Some(Cow::Borrowed(escaped)),
        };
        Ok((Raw(&self.json[start..self.at]), text))
    }

    /// What stands between a quotation mark, which was read, and the next, and whether there are escapes in it.
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

    /// Whether one of these bytes stands at the place.
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

/// Objects and lists that are open, a bit for each: hardly any value has so many levels that they need memory.
#[derive(Default)]
struct Open {
    count: usize,
    /// Of the innermost ones, up to 64; the last bit is that of the innermost.
    are_objects: u64,
    /// Of those around them, 64 in each.
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

    /// Whether the innermost is an object, if there is one.
    fn is_object(&self) -> Option<bool> {
        (self.count > 0).then_some(self.are_objects & 1 == 1)
    }
}

/// Whether a text is the same in JSON, between quotation marks.
pub fn is_plain(text: &str) -> bool {
    plain_end(text.as_bytes(), 0) == text.len()
}

/// The first byte from a place on that is a quotation mark, a backslash or a control character: several are asked at
/// once whether one of them is.
fn plain_end(bytes: &[u8], from: usize) -> usize {
    let [quote, backslash, control] = [b'"', b'\\', 0x1f].map(u8x16::splat);
    let mut at = from;
    while let Some(vector) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let vector = u8x16::new(*vector);
        let is_control = vector.min(control).simd_eq(vector);
        let found = vector.simd_eq(quote) | vector.simd_eq(backslash) | is_control;
        let found = found.to_bitmask();
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += VECTOR_BYTES;
    }
    let is_plain = |byte: &&u8| !matches!(byte, 0..0x20 | b'"' | b'\\');
    at + bytes[at..].iter().take_while(is_plain).count()
}

/// A text without its escapes; nothing if one of them is no character.
pub fn unescape(escaped: &str) -> Option<String> {
    let mut text = Vec::with_capacity(escaped.len() + VECTOR_BYTES);
    unescape_to(&mut text, escaped)?;
    String::from_utf8(text).ok()
}

/// The same, among other texts.
fn unescape_in<'a>(texts: &'a Bump, escaped: &str) -> Option<&'a str> {
    let mut text = bumpalo::collections::Vec::with_capacity_in(escaped.len() + VECTOR_BYTES, texts);
    unescape_to(&mut text, escaped)?;
    simdutf8::basic::from_utf8(text.into_bump_slice()).ok()
}

/// So many bytes are asked and copied at once.
const VECTOR_BYTES: usize = 16;

/// What takes the bytes of a text.
trait Text {
    fn add(&mut self, bytes: &[u8]);
    /// Takes back the last bytes.
    fn take_back(&mut self, count: usize);
}

impl Text for Vec<u8> {
    fn add(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn take_back(&mut self, count: usize) {
        self.truncate(self.len() - count);
    }
}

impl Text for bumpalo::collections::Vec<'_, u8> {
    fn add(&mut self, bytes: &[u8]) {
        self.extend_from_slice_copy(bytes);
    }

    fn take_back(&mut self, count: usize) {
        self.truncate(self.len() - count);
    }
}

/// Adds a text without its escapes. What stands between them is mostly short: it is copied by vectors, and what of the last
/// one was too much is taken back.
fn unescape_to(text: &mut impl Text, escaped: &str) -> Option<()> {
    let backslash = u8x16::splat(b'\\');
    let mut rest = escaped.as_bytes();
    loop {
        if let Some((vector, behind)) = rest.split_first_chunk::<VECTOR_BYTES>() {
            text.add(vector);
            let found = u8x16::new(*vector).simd_eq(backslash).to_bitmask();
            if found == 0 {
                rest = behind;
                continue;
            }
            let plain = found.trailing_zeros() as usize;
            text.take_back(VECTOR_BYTES - plain);
            rest = &rest[plain..];
        } else {
            let plain = rest.iter().position(|byte| *byte == b'\\');
            text.add(&rest[..plain.unwrap_or(rest.len())]);
            match plain {
                Some(plain) => rest = &rest[plain..],
                None => return Some(()),
            }
        }
        let (character, length) = escape(rest)?;
        text.add(character.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[length..];
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// Values, what separates them, and what is nearly one.
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

        #[test]
        fn a_text_is_what_the_parser_makes_of_it(parts in proptest::collection::vec("[a-zé東]{0,20}|\\\\[nrtbf/\\\\\"]|\\\\u[0-9a-f]{4}|\\\\ud83d\\\\ude0[0-9]|\\\\", 0..9)) {
            let escaped = parts.concat();
            let parsed: Option<String> = serde_json::from_str(&format!("\"{escaped}\"")).ok();
            // A text is only taken for one without its escapes where a string has ended.
            if parsed.is_some() {
                assert_eq!(unescape(&escaped), parsed, "{escaped}");
                assert_eq!(unescape_in(&Bump::new(), &escaped), parsed.as_deref(), "{escaped}");
            }
        }

        #[test]
        fn every_byte_that_ends_a_plain_text_is_found(
            bytes in proptest::collection::vec(prop_oneof![9 => 0x20u8..=0xff, 1 => 0u8..0x60], 0..40)
        ) {
            let end = bytes.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'));
            assert_eq!(plain_end(&bytes, 0), end.unwrap_or(bytes.len()));
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
