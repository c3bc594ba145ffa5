//! Rows by the ids that lines name them by, without asking the database: messages by their uuids, responses and calls by
//! the ids of the API. While a new database is filled, all of them are known here. Later these are the messages of the run,
//! among which most parents are found.

use foldhash::HashMap;
use foldhash::fast::RandomState;
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// So many are remembered where the database can be asked for more.
const LIMIT: usize = 900_000;

/// Keys of rows, by 128 bits of their ids.
#[derive(Default)]
pub struct KnownIds {
    keys: HashMap<[u32; 4], u32>,
}

impl KnownIds {
    /// The key of a row.
    pub fn get(&self, id: &str) -> Option<i64> {
        self.keys.get(&bits(id)).copied().map(i64::from)
    }

    /// Remembers a row.
    pub fn insert(&mut self, id: &str, key: i64) {
        let key = u32::try_from(key).expect("fewer rows than 2^32");
        self.keys.insert(bits(id), key);
    }

    /// Gives the next key to a row, the first being 1; nothing if the id is known.
    pub fn add(&mut self, id: &str) -> Option<i64> {
        let next = u32::try_from(self.keys.len() + 1).expect("fewer rows than 2^32");
        match self.keys.entry(bits(id)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(i64::from(*place.insert(next))),
        }
    }

    /// Whether no more should be remembered.
    pub fn is_full(&self) -> bool {
        self.keys.len() >= LIMIT
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        *self = KnownIds::default();
    }
}

/// What tells ids apart: of a uuid its bits, of any other id so many of its hash, of which no two are ever the same.
fn bits(id: &str) -> [u32; 4] {
    /// Another one each time the program runs, so that no ids can be made that collide.
    static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::default().hash_one(0));
    let bits = uuid_bits(id).unwrap_or_else(|| {
        let hash = xxh3_128_with_seed(id.as_bytes(), *SEED);
        [(hash >> 64) as u64, hash as u64]
    });
    [
        (bits[0] >> 32) as u32,
        bits[0] as u32,
        (bits[1] >> 32) as u32,
        bits[1] as u32,
    ]
}

/// The bits of a uuid that is written as all are.
fn uuid_bits(uuid: &str) -> Option<[u64; 2]> {
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
        let mut known = KnownIds::default();
        for (id, uuid) in (1..).zip(uuids) {
            assert_eq!(known.get(uuid), None);
            known.insert(uuid, id);
        }
        for (id, uuid) in (1..).zip(uuids) {
            assert_eq!(known.get(uuid), Some(id));
        }
    }
}
