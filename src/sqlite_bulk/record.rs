//! Encodes values as records of SQLite's file format, and as keys whose bytes sort in the order of the values in SQLite.

use rusqlite::types::ValueRef;

/// Appends a varint: seven bits per byte, the highest first, and eight bits in a ninth byte.
pub fn put_varint(out: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        out.push(value as u8);
        return;
    }
    if value >= 1 << 56 {
        for shift in (1..9).rev() {
            out.push((value >> (7 * shift + 1)) as u8 | 0x80);
        }
        out.push(value as u8);
        return;
    }
    for byte in (1..varint_length(value)).rev() {
        out.push((value >> (7 * byte)) as u8 | 0x80);
    }
    out.push(value as u8 & 0x7f);
}

/// The length of a varint.
pub fn varint_length(value: u64) -> usize {
    match value {
        0 => 1,
        _ => (64 - value.leading_zeros() as usize).div_ceil(7).min(9),
    }
}

/// A record: a header with the types of the values, and their bytes. Long values are not copied into it. The buffers are reused
/// for the next row.
#[derive(Default)]
pub struct Record {
    head: Vec<u8>,
    /// The bytes of short values.
    short: Vec<u8>,
    /// The numbers of long values, and the number of bytes of short values before each.
    long: Vec<(usize, usize)>,
}

/// The size limit of short values.
const SHORT_BYTES: usize = 128;

impl Record {
    /// Replaces its values. Returns the length of the record.
    pub fn fill<'a>(&mut self, values: impl Iterator<Item = ValueRef<'a>>) -> usize {
        let Record { head, short, long } = self;
        head.clear();
        short.clear();
        long.clear();
        // The header starts with its own length, which nearly always takes one byte.
        head.push(0);
        let mut long_bytes = 0;
        for (number, value) in values.enumerate() {
            let (serial, length) = serial_type(value);
            match serial {
                0..0x80 => head.push(serial as u8),
                _ => put_varint(head, serial),
            }
            match value {
                ValueRef::Null => {}
                ValueRef::Integer(integer) if length > 0 => {
                    // Faster than appending `length` bytes, whose number is unknown at compile time.
                    let bytes = (integer << (64 - 8 * length)).to_be_bytes();
                    let end = short.len() + length;
                    short.extend_from_slice(&bytes);
                    short.truncate(end);
                }
                ValueRef::Integer(_) => {}
                ValueRef::Real(real) => short.extend_from_slice(&real.to_be_bytes()),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) if length <= SHORT_BYTES => {
                    short.extend_from_slice(bytes);
                }
                ValueRef::Text(_) | ValueRef::Blob(_) => {
                    long.push((number, short.len()));
                    long_bytes += length;
                }
            }
        }
        if head.len() < 0x80 {
            head[0] = head.len() as u8;
        } else {
            let length = head.len() - 1 + varint_length(head.len() as u64 + 1);
            let types = head.split_off(1);
            head.clear();
            put_varint(head, length as u64);
            head.extend_from_slice(&types);
        }
        head.len() + short.len() + long_bytes
    }

    /// Passes its bytes to `write`. Gets the long values again, by number.
    pub fn write<'a>(&self, value: impl Fn(usize) -> ValueRef<'a>, mut write: impl FnMut(&[u8])) {
        write(&self.head);
        let mut written = 0;
        for (number, end) in &self.long {
            write(&self.short[written..*end]);
            written = *end;
            if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value(*number) {
                write(bytes);
            }
        }
        write(&self.short[written..]);
    }
}

/// The serial type of a value, and its length in bytes.
fn serial_type(value: ValueRef<'_>) -> (u64, usize) {
    match value {
        ValueRef::Null => (0, 0),
        ValueRef::Integer(0) => (8, 0),
        ValueRef::Integer(1) => (9, 0),
        ValueRef::Integer(number) => {
            let magnitude = if number < 0 { !number } else { number };
            match 65 - magnitude.leading_zeros() {
                0..=8 => (1, 1),
                9..=16 => (2, 2),
                17..=24 => (3, 3),
                25..=32 => (4, 4),
                33..=48 => (5, 6),
                _ => (6, 8),
            }
        }
        ValueRef::Real(_) => (7, 8),
        ValueRef::Blob(bytes) => (bytes.len() as u64 * 2 + 12, bytes.len()),
        ValueRef::Text(bytes) => (bytes.len() as u64 * 2 + 13, bytes.len()),
    }
}

// The first byte of a value in a key.
const NULL: u8 = 0x00;
const NEGATIVE: u8 = 0x01;
const NUMBER: u8 = 0x10; // plus the number of bytes that follow
const TEXT: u8 = 0x20;

/// Appends a value to a key. Keys compare byte by byte as SQLite compares the values.
pub fn put_key(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push(NULL),
        ValueRef::Integer(number @ ..0) => {
            out.push(NEGATIVE);
            out.extend_from_slice(&number.to_be_bytes());
        }
        ValueRef::Integer(number) => {
            let length = (64 - number.leading_zeros() as usize).div_ceil(8);
            out.push(NUMBER + length as u8);
            out.extend_from_slice(&number.to_be_bytes()[8 - length..]);
        }
        ValueRef::Text(bytes) => {
            out.push(TEXT);
            put_escaped(out, bytes);
        }
        ValueRef::Real(_) | ValueRef::Blob(_) => {
            unreachable!("an index with such a column is refused")
        }
    }
}

/// Appends bytes and a terminator, `00 00`, which sorts before any other byte. A NUL in the bytes is written as `00 FF`.
fn put_escaped(out: &mut Vec<u8>, mut bytes: &[u8]) {
    while let Some(nul) = memchr::memchr(0, bytes) {
        out.extend_from_slice(&bytes[..nul]);
        out.extend_from_slice(&[0, 0xff]);
        bytes = &bytes[nul + 1..];
    }
    out.extend_from_slice(bytes);
    out.extend_from_slice(&[0, 0]);
}

/// A value of a key.
enum KeyValue {
    Null,
    Integer(i64),
    /// The range of its bytes in [`KeyReader::texts`].
    Text(usize, usize),
}

/// Converts keys to records. Its buffers are reused for the next key.
#[derive(Default)]
pub struct KeyReader {
    values: Vec<KeyValue>,
    texts: Vec<u8>,
    record: Record,
    bytes: Vec<u8>,
}

impl KeyReader {
    /// The record of a key; and the part of the key with its first `count` values, if none of them is NULL: two rows with equal parts
    /// violate a unique index.
    pub fn record<'k>(&mut self, whole: &'k [u8], count: usize) -> (&[u8], Option<&'k [u8]>) {
        self.values.clear();
        self.texts.clear();
        let mut key = whole;
        let mut has_null = false;
        let mut told = whole.len();
        while let Some((mark, rest)) = key.split_first() {
            if self.values.len() == count {
                told = whole.len() - key.len();
            }
            has_null |= *mark == NULL;
            key = rest;
            match *mark {
                NULL => self.values.push(KeyValue::Null),
                NEGATIVE => {
                    let bytes = key[..8].try_into().expect("eight bytes");
                    self.values
                        .push(KeyValue::Integer(i64::from_be_bytes(bytes)));
                    key = &key[8..];
                }
                TEXT => {
                    let start = self.texts.len();
                    key = self.take_text(key);
                    self.values.push(KeyValue::Text(start, self.texts.len()));
                }
                mark => {
                    let length = usize::from(mark - NUMBER);
                    let number = key[..length]
                        .iter()
                        .fold(0, |number, byte| number << 8 | i64::from(*byte));
                    self.values.push(KeyValue::Integer(number));
                    key = &key[length..];
                }
            }
        }
        let (values, texts) = (&self.values, &self.texts);
        let value = |number: usize| match values[number] {
            KeyValue::Null => ValueRef::Null,
            KeyValue::Integer(number) => ValueRef::Integer(number),
            KeyValue::Text(start, end) => ValueRef::Text(&texts[start..end]),
        };
        self.record.fill((0..values.len()).map(value));
        self.bytes.clear();
        self.record
            .write(value, |bytes| self.bytes.extend_from_slice(bytes));
        (&self.bytes, (!has_null).then(|| &whole[..told]))
    }

    /// Reads the bytes of a string, and returns the rest.
    fn take_text<'k>(&mut self, mut key: &'k [u8]) -> &'k [u8] {
        loop {
            let nul = memchr::memchr(0, key).expect("a text has its end");
            self.texts.extend_from_slice(&key[..nul]);
            let mark = key[nul + 1];
            key = &key[nul + 2..];
            if mark == 0 {
                return key;
            }
            self.texts.push(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(values: &[ValueRef<'_>]) -> Vec<u8> {
        let mut key = Vec::new();
        for value in values {
            put_key(&mut key, *value);
        }
        key
    }

    fn record(values: &[ValueRef<'_>]) -> Vec<u8> {
        let mut record = Record::default();
        let length = record.fill(values.iter().copied());
        let mut bytes = Vec::new();
        record.write(
            |number| values[number],
            |part| bytes.extend_from_slice(part),
        );
        assert_eq!(bytes.len(), length);
        bytes
    }

    proptest! {
        #[test]
        fn keys_of_numbers_sort_as_numbers(a: i64, b: i64) {
            let (x, y) = (key(&[ValueRef::Integer(a)]), key(&[ValueRef::Integer(b)]));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        }

        #[test]
        fn keys_of_texts_sort_as_texts(a: (Vec<u8>, i64), b: (Vec<u8>, i64)) {
            let of = |(text, number): &(Vec<u8>, i64)| key(&[ValueRef::Text(text), ValueRef::Integer(*number)]);
            prop_assert_eq!(of(&a).cmp(&of(&b)), a.cmp(&b));
        }

        #[test]
        fn the_record_of_a_key_is_that_of_its_values(text: Vec<u8>, number: i64) {
            let values = [ValueRef::Text(&text), ValueRef::Null, ValueRef::Integer(number)];
            let (mut reader, key) = (KeyReader::default(), key(&values));
            prop_assert_eq!(reader.record(&key, 2).0, record(&values));
        }
    }

    /// Reads a varint.
    fn take_varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for number in 1.. {
            let (byte, rest) = bytes.split_first().expect("a number has its end");
            *bytes = rest;
            if number == 9 {
                return value << 8 | u64::from(*byte);
            }
            value = value << 7 | u64::from(byte & 0x7f);
            if *byte < 0x80 {
                break;
            }
        }
        value
    }

    #[test]
    fn numbers_are_as_long_as_they_must_be() {
        for (value, length) in [
            (0, 1),
            (127, 1),
            (128, 2),
            (16_383, 2),
            (16_384, 3),
            (u64::MAX, 9),
        ] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            assert_eq!(out.len(), length);
            assert_eq!(varint_length(value), length);
            let mut rest = out.as_slice();
            assert_eq!(take_varint(&mut rest), value);
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn a_null_sorts_before_numbers_and_these_before_texts() {
        let keys = [
            ValueRef::Null,
            ValueRef::Integer(i64::MIN),
            ValueRef::Integer(-1),
            ValueRef::Integer(0),
            ValueRef::Integer(i64::MAX),
            ValueRef::Text(b""),
            ValueRef::Text(b"\0"),
            ValueRef::Text(b"a"),
        ]
        .map(|value| key(&[value]));
        assert!(keys.is_sorted());
    }
}
