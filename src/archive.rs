//! Bytes <-> zstd chunks.
//!
//! Chunk `n` of a file holds the bytes from `n` MiB to `n + 1` MiB. So the chunks depend only on the bytes, and not on how
//! many syncs imported them.

use crate::database::statements;
use rusqlite::Connection;
use std::cell::RefCell;
use std::io;
use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, compress_bound};

/// The size of a chunk. Only the last chunk of a file may be shorter.
pub const CHUNK_BYTES: u64 = 1 << 20;

/// Level 1 makes real transcripts 7.5 times smaller and is faster than parsing. Level 3 saves another 10 % but takes 1.7 times
/// as long.
const LEVEL: i32 = 1;

/// The window covers the whole chunk, where level 1 covers half of it, and the hash table is twice the default. This saves
/// 4 to 12 % and is no slower.
const WINDOW_LOG: u32 = CHUNK_BYTES.ilog2();
const HASH_LOG: u32 = 15;

thread_local! {
    /// The compressor and its output buffer. Both are large, so each thread allocates them once.
    static COMPRESSOR: RefCell<Option<(Compressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
}

/// Fails only when out of memory.
fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|cached| {
        let (compressor, buffer) = match cached {
            Some(cached) => cached,
            None => {
                let buffer = Vec::with_capacity(compress_bound(CHUNK_BYTES as usize));
                cached.insert((compressor()?, buffer))
            }
        };
        buffer.clear();
        compressor.compress_to_buffer(bytes, buffer)?;
        Ok(buffer.to_vec())
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

/// A compressed part of a file, as the archive stores it.
#[derive(Debug)]
pub struct Chunk {
    /// The index of the chunk in its file.
    pub position: u64,
    /// The length before compression.
    pub byte_length: u64,
    /// How many of these bytes were not archived before.
    pub new_bytes: u64,
    pub content: Vec<u8>,
    /// The hash of the uncompressed bytes.
    pub hash: Hash,
    /// The hash of the bytes that were archived before. The chunk may only replace a chunk with this hash: otherwise the file
    /// was rewritten meanwhile.
    pub known_hash: Option<Hash>,
    /// The running hash of the file, this chunk included.
    pub running_hash: Hash,
}

/// Compresses a chunk, of which the first `known` bytes were archived before. The caller sets the running hash, because it
/// depends on the chunks before this one.
pub fn pack(position: u64, bytes: &[u8], known: usize) -> io::Result<Chunk> {
    Ok(Chunk {
        position,
        byte_length: bytes.len() as u64,
        new_bytes: (bytes.len() - known) as u64,
        known_hash: (known > 0).then(|| hash(&bytes[..known])),
        running_hash: NO_CHUNK,
        content: compress(bytes)?,
        hash: hash(bytes),
    })
}

/// Decompresses a chunk. Returns an error if its content is damaged.
pub(crate) fn unpack(content: &[u8], byte_length: u64) -> io::Result<Vec<u8>> {
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

/// Looks up a chunk: its compressed bytes, and their length before compression.
pub(crate) fn find(
    connection: &Connection,
    file_id: i64,
    position: u64,
) -> io::Result<(Vec<u8>, u64)> {
    let mut statement = connection
        .prepare_cached(statements::FIND_CHUNK)
        .map_err(io::Error::other)?;
    statement
        .query_row((file_id, position.cast_signed()), |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()))
        })
        .map_err(io::Error::other)
}

/// Reads ranges of archived files. It caches the last chunk, because most reads are sequential.
#[derive(Default)]
pub struct Reader {
    last: Option<(i64, u64, Vec<u8>)>,
}

impl Reader {
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
        let is_cached =
            |(file, chunk, _): &(i64, u64, Vec<u8>)| (*file, *chunk) == (file_id, position);
        if !self.last.as_ref().is_some_and(is_cached) {
            let (content, byte_length) = find(connection, file_id, position)?;
            self.last = Some((file_id, position, unpack(&content, byte_length)?));
        }
        Ok(self.last.as_ref().map_or(&[], |(_, _, bytes)| bytes))
    }
}

/// The part of a chunk that lies between two offsets of its file.
pub(crate) fn slice(chunk: &[u8], position: u64, offset: u64, end: u64) -> &[u8] {
    let length = chunk.len() as u64;
    let chunk_offset = position * CHUNK_BYTES;
    let from = offset.saturating_sub(chunk_offset).min(length);
    let to = end.saturating_sub(chunk_offset).min(length);
    &chunk[from as usize..to as usize]
}

/// The BLAKE3 hash.
pub(crate) fn hash(bytes: &[u8]) -> Hash {
    *blake3::hash(bytes).as_bytes()
}

/// The running hash before the first chunk.
pub(crate) const NO_CHUNK: Hash = [0; 32];

/// The running hash of a file after one more chunk: BLAKE3 of the running hash before it and the chunk's hash.
pub(crate) fn extend(running: &Hash, chunk: &Hash) -> Hash {
    hash(&[*running, *chunk].concat())
}

/// The running hash of a file with these chunk hashes, or `None` if there are none.
pub(crate) fn running_hash<'a>(chunks: impl IntoIterator<Item = &'a Hash>) -> Option<Hash> {
    let extended = |running: Option<Hash>, chunk| Some(extend(&running.unwrap_or(NO_CHUNK), chunk));
    chunks.into_iter().fold(None, extended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_bytes_unpack_to_the_same_bytes() {
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
