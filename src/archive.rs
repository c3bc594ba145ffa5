//! Bytes <-> zstd chunks. Chunk `n` of a file holds its bytes from `n` MiB on, whatever was synced when: the chunks are
//! a function of the bytes alone.

use crate::database::statements;
use rusqlite::Connection;
use std::cell::RefCell;
use std::io;
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// Bytes in a chunk, but for the last one of a file.
pub const CHUNK_BYTES: u64 = 1 << 20;

/// Level 1 is 7.5 times smaller on real transcripts and faster than parsing; level 3 gains a tenth for 1.7 times the time.
const LEVEL: i32 = 1;

/// All of a chunk can be referred to, not only the last half as the level has it, and twice as many places are remembered:
/// 4 to 12 % smaller, and no slower.
const WINDOW_LOG: u32 = CHUNK_BYTES.ilog2();
const HASH_LOG: u32 = 15;

thread_local! {
    /// Made once for a thread: what it works with is large, and so is the place for what could come out.
    static COMPRESSOR: RefCell<Option<(Compressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
}

/// Compresses. Fails only for want of memory.
fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|made| {
        let (compressor, packed) = match made {
            Some(made) => made,
            None => {
                let room = Vec::with_capacity(compress_bound(CHUNK_BYTES as usize));
                made.insert((compressor()?, room))
            }
        };
        packed.clear();
        compressor.compress_to_buffer(bytes, packed)?;
        Ok(packed.to_vec())
    })
}

fn compressor() -> io::Result<Compressor<'static>> {
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    compressor.set_parameter(CParameter::HashLog(HASH_LOG))?;
    Ok(compressor)
}

/// A BLAKE3 hash.
pub type Hash = [u8; 32];

/// A piece of a file as the archive keeps it.
#[derive(Debug)]
pub struct Chunk {
    /// Its number in the file, from 0.
    pub position: u64,
    /// Bytes before compression.
    pub byte_length: u64,
    /// Of these, bytes that were not in the archive before.
    pub new_bytes: u64,
    /// The compressed bytes.
    pub content: Vec<u8>,
    /// Hash of the bytes before compression.
    pub hash: Hash,
    /// Hash of the bytes that were in the archive before, if there were any. The chunk may only replace one with this hash.
    pub known_hash: Option<Hash>,
    /// The running hash of the file up to the end of the chunk.
    pub running_hash: Hash,
}

/// The chunk for the bytes at a position, of which the first `known` were there before. The running hash depends on the
/// chunks before it: whoever has those sets it.
pub fn pack(position: u64, bytes: &[u8], known: usize) -> io::Result<Chunk> {
    Ok(Chunk {
        position,
        byte_length: bytes.len() as u64,
        new_bytes: (bytes.len() - known) as u64,
        known_hash: (known > 0).then(|| hash(&bytes[..known])),
        running_hash: [0; 32],
        content: compress(bytes)?,
        hash: hash(bytes),
    })
}

/// The bytes of a chunk. Fails on damaged content.
pub fn unpack(content: &[u8], byte_length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(byte_length.min(CHUNK_BYTES)).expect("a chunk fits into memory");
    let bytes = zstd::bulk::decompress(content, length)?;
    if bytes.len() as u64 == byte_length {
        Ok(bytes)
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the chunk holds {} bytes, not {byte_length}", bytes.len()),
        ))
    }
}

/// A chunk as the archive has it: the compressed bytes, and how many they are without compression.
pub fn find(connection: &Connection, file_id: i64, position: u64) -> io::Result<(Vec<u8>, u64)> {
    let mut statement = connection
        .prepare_cached(statements::FIND_CHUNK)
        .map_err(io::Error::other)?;
    statement
        .query_row((file_id, position.cast_signed()), |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })
        .map_err(io::Error::other)
}

/// Reads ranges of archived files, keeping the last chunk at hand: ranges that are asked for mostly follow each other.
#[derive(Default)]
pub struct Reader {
    last: Option<(i64, u64, Vec<u8>)>,
}

impl Reader {
    /// The bytes of a range.
    pub fn read(
        &mut self,
        connection: &Connection,
        file_id: i64,
        offset: u64,
        length: u64,
    ) -> io::Result<Vec<u8>> {
        let end = offset + length;
        let mut range = Vec::new();
        for position in offset / CHUNK_BYTES..end.div_ceil(CHUNK_BYTES) {
            let bytes = self.chunk(connection, file_id, position)?;
            range.extend_from_slice(slice(bytes, position, offset, end));
        }
        Ok(range)
    }

    fn chunk(&mut self, connection: &Connection, file_id: i64, position: u64) -> io::Result<&[u8]> {
        let is_last =
            |(file, chunk, _): &(i64, u64, Vec<u8>)| (*file, *chunk) == (file_id, position);
        if !self.last.as_ref().is_some_and(is_last) {
            let (content, byte_length) = find(connection, file_id, position)?;
            self.last = Some((file_id, position, unpack(&content, byte_length)?));
        }
        Ok(self.last.as_ref().map_or(&[], |(_, _, bytes)| bytes))
    }
}

/// The part of a chunk that lies in a range of its file.
pub fn slice(chunk: &[u8], position: u64, offset: u64, end: u64) -> &[u8] {
    let length = chunk.len() as u64;
    let chunk_offset = position * CHUNK_BYTES;
    let from = offset.saturating_sub(chunk_offset).min(length);
    let to = end.saturating_sub(chunk_offset).min(length);
    &chunk[from as usize..to as usize]
}

/// The hash that tells whether bytes are what they were.
pub fn hash(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

/// The running hash before the first chunk.
pub const NO_CHUNK: Hash = [0; 32];

/// The running hash of a file after one more chunk: BLAKE3 of the running hash before it and the chunk's hash.
pub fn extend(running: &Hash, chunk: &Hash) -> Hash {
    hash(&[*running, *chunk].concat())
}

/// The running hash of a file with these chunks; nothing if there are none.
pub fn running_hash<'a>(chunks: impl IntoIterator<Item = &'a Hash>) -> Option<Hash> {
    let extended = |running: Option<Hash>, chunk| Some(extend(&running.unwrap_or(NO_CHUNK), chunk));
    chunks.into_iter().fold(None, extended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_unpacks_to_the_same_bytes() {
        for bytes in [&b""[..], b"{}\n", &vec![7; CHUNK_BYTES as usize]] {
            let chunk = pack(0, bytes, 0).unwrap();
            assert_eq!(unpack(&chunk.content, chunk.byte_length).unwrap(), bytes);
        }
    }

    #[test]
    fn a_damaged_chunk_is_an_error() {
        let chunk = pack(0, b"some bytes", 0).unwrap();
        assert!(unpack(&chunk.content, 3).is_err());
        assert!(unpack(b"not zstd", 8).is_err());
    }
}
