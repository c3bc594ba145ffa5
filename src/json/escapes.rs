//! The escapes of JSON strings.

use bumpalo::Bump;
use memchr::memmem;
use std::borrow::Cow;
use std::sync::LazyLock;
use wide::u8x16;

/// Whether a string needs no escapes in JSON.
pub fn is_plain(text: &str) -> bool {
    plain_end(text.as_bytes(), 0) == text.len()
}

/// The position of the first quotation mark, backslash or control character, compared in vectors.
pub fn plain_end(bytes: &[u8], from: usize) -> usize {
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

/// Unescapes a string; `None` if an escape is not a character.
pub fn unescape(escaped: &str) -> Option<String> {
    let mut text = Vec::with_capacity(escaped.len() + VECTOR_BYTES);
    unescape_to(&mut text, escaped)?;
    String::from_utf8(text).ok()
}

/// The same, allocated in an arena.
pub fn unescape_in<'a>(arena: &'a Bump, escaped: &str) -> Option<&'a str> {
    let mut text = bumpalo::collections::Vec::with_capacity_in(escaped.len() + VECTOR_BYTES, arena);
    unescape_to(&mut text, escaped)?;
    simdutf8::basic::from_utf8(text.into_bump_slice()).ok()
}

/// The number of bytes that are compared and copied at once.
const VECTOR_BYTES: usize = 16;

/// A buffer for an unescaped string.
trait Text {
    fn add(&mut self, bytes: &[u8]);
    /// Removes the last bytes.
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

/// Appends an unescaped string. The parts between escapes are usually short, so whole vectors are copied, and the surplus of the
/// last one is removed.
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

/// The character of an escape, and the length of the escape.
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

/// `\uXXXX`, or two of them for a surrogate pair.
fn unicode_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let first = utf16_unit(bytes)?;
    if let Some(character) = char::from_u32(first.into()) {
        return Some((character, 6));
    }
    let second = utf16_unit(&bytes[6..])?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 12))
}

/// The UTF-16 unit of the escape `\uXXXX` at the start.
pub fn utf16_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.get(..6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | value as u16)
    })
}

/// Replaces escapes that not every string type supports, `\u0000` and unpaired surrogates, by `\ufffd`.
pub fn repair_escapes(json: &str) -> Cow<'_, str> {
    static ESCAPE: LazyLock<memmem::Finder> = LazyLock::new(|| memmem::Finder::new("\\u"));
    let bytes = json.as_bytes();
    let mut broken = Vec::new();
    let mut from = 0;
    while let Some(found) = ESCAPE.find(&bytes[from..]) {
        let at = from + found;
        from = at + 2;
        // After an odd number of backslashes, this one is escaped.
        let before = bytes[..at]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        if before % 2 == 1 {
            continue;
        }
        match utf16_unit(&bytes[at..]) {
            Some(0xD800..=0xDBFF)
                if matches!(utf16_unit(&bytes[at + 6..]), Some(0xDC00..=0xDFFF)) =>
            {
                from = at + 12
            }
            Some(0 | 0xD800..=0xDFFF) => broken.push(at),
            _ => {}
        }
    }
    if broken.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut repaired = String::with_capacity(json.len());
    let mut from = 0;
    for at in broken {
        repaired.push_str(&json[from..at]);
        repaired.push_str("\\ufffd");
        from = at + 6;
    }
    repaired.push_str(&json[from..]);
    Cow::Owned(repaired)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_is_what_the_parser_makes_of_it(parts in proptest::collection::vec("[a-zé東]{0,20}|\\\\[nrtbf/\\\\\"]|\\\\u[0-9a-f]{4}|\\\\ud83d\\\\ude0[0-9]|\\\\", 0..9)) {
            let escaped = parts.concat();
            let parsed: Option<String> = serde_json::from_str(&format!("\"{escaped}\"")).ok();
            // The result is valid only if the string has ended.
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
}
