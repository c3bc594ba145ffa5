//! Messages by their uuids, without asking the database.
//!
//! While a new database is filled, all of its messages are known here, and the index of their uuids is built when they
//! are all in: in the order of uuids that is several times quicker than in the order of arrival. Later these are the
//! messages of the run, among which most parents are found.

use std::collections::HashMap;

/// So many are remembered: with 25 bytes each in 2^20 places.
const LIMIT: usize = 900_000;

/// The keys of messages.
#[derive(Default)]
pub struct KnownMessages {
    /// Nearly all uuids are 128 bits.
    ids: HashMap<[u64; 2], i64>,
    others: HashMap<String, i64>,
}

impl KnownMessages {
    /// The key of a message.
    pub fn get(&self, uuid: &str) -> Option<i64> {
        match bits(uuid) {
            Some(bits) => self.ids.get(&bits).copied(),
            None => self.others.get(uuid).copied(),
        }
    }

    /// Remembers a message.
    pub fn insert(&mut self, uuid: &str, message_id: i64) {
        match bits(uuid) {
            Some(bits) => self.ids.insert(bits, message_id),
            None => self.others.insert(uuid.to_string(), message_id),
        };
    }

    /// Whether no more can be remembered.
    pub fn is_full(&self) -> bool {
        self.ids.len() + self.others.len() >= LIMIT
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = KnownMessages::default();
    }
}

/// The bits of a uuid that is written as all are: two of another form never have the same.
fn bits(uuid: &str) -> Option<[u64; 2]> {
    let bytes: &[u8; 36] = uuid.as_bytes().try_into().ok()?;
    let mut bits = [0; 2];
    let mut digits = 0;
    for (position, byte) in bytes.iter().enumerate() {
        let digit = match (position, byte) {
            (8 | 13 | 18 | 23, b'-') => continue,
            (8 | 13 | 18 | 23, _) => return None,
            (_, b'0'..=b'9') => byte - b'0',
            (_, b'a'..=b'f') => byte - b'a' + 10,
            _ => return None,
        };
        bits[digits / 16] = bits[digits / 16] << 4 | u64::from(digit);
        digits += 1;
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_told_apart_whatever_their_form() {
        let uuids = [
            "01234567-89ab-cdef-0123-456789abcdef",
            "01234567-89ab-cdef-0123-456789abcdee",
            "11234567-89ab-cdef-0123-456789abcdef",
            "01234567-89AB-cdef-0123-456789abcdef",
            "0123456789abcdef0123456789abcdef----",
            "",
            "other",
        ];
        let mut known = KnownMessages::default();
        for (id, uuid) in (1..).zip(uuids) {
            assert_eq!(known.get(uuid), None);
            known.insert(uuid, id);
        }
        for (id, uuid) in (1..).zip(uuids) {
            assert_eq!(known.get(uuid), Some(id));
        }
    }
}
