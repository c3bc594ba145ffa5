//! Maps the ids in lines to integer keys: uuids of messages, API ids of responses, ids of calls.

use foldhash::HashMap;
use foldhash::fast::RandomState;
use std::hash::BuildHasher;
use std::sync::LazyLock;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Limit for stores that can look up ids in the database instead: about 32 MB.
const LIMIT: usize = 900_000;

/// A map from the 128 bits of an id to a key.
#[derive(Default)]
pub struct IdMap {
    keys: HashMap<[u32; 4], u32>,
}

impl IdMap {
    pub fn get(&self, id: &str) -> Option<i64> {
        self.keys.get(&bits(id)).copied().map(i64::from)
    }

    pub fn insert(&mut self, id: &str, key: i64) {
        let key = u32::try_from(key).expect("fewer rows than 2^32");
        self.keys.insert(bits(id), key);
    }

    /// Whether the limit is reached.
    pub fn is_full(&self) -> bool {
        self.keys.len() >= LIMIT
    }

    pub fn clear(&mut self) {
        *self = IdMap::default();
    }
}

/// The bits of a uuid; of any other id a hash of 128 bits, which does not collide in practice.
fn bits(id: &str) -> [u32; 4] {
    /// Random, so that nobody can prepare ids that collide.
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

/// The bits of a uuid in lower case with its four hyphens.
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
    fn ids_of_any_form_are_distinct() {
        let uuids = [
            "01234567-89ab-cdef-0123-456789abcdef",
            "01234567-89ab-cdef-0123-456789abcdee",
            "11234567-89ab-cdef-0123-456789abcdef",
            "01234567-89AB-cdef-0123-456789abcdef",
            "0123456789abcdef0123456789abcdef----",
            "",
            "other",
        ];
        let mut map = IdMap::default();
        for (id, uuid) in (1..).zip(uuids) {
            assert_eq!(map.get(uuid), None);
            map.insert(uuid, id);
        }
        for (id, uuid) in (1..).zip(uuids) {
            assert_eq!(map.get(uuid), Some(id));
        }
    }
}
