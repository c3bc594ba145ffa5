//! Compares a file, while it is read, with what is archived of it.

use super::{Input, Piece};
use crate::archive::{self, CHUNK_BYTES, Hash};
use crate::discover::Stat;
use crate::file_diff;
use std::sync::Arc;

/// The chunks of the current file that are archived or about to be.
pub struct Archived {
    pub input: Arc<Input>,
    chunks: Vec<(u64, Hash)>,
    running_hash: Hash,
    /// The stat of the file when it began with these chunks, if it was settled.
    settled: Option<Stat>,
}

impl Archived {
    /// Starts with the chunks that are not read again.
    pub fn new(input: &Arc<Input>) -> Archived {
        let chunks = &input.chunks[..(input.version.size / CHUNK_BYTES) as usize];
        let running_hash = archive::running_hash(chunks.iter().map(|(_, hash)| hash));
        Archived {
            input: input.clone(),
            chunks: chunks.to_vec(),
            running_hash: running_hash.unwrap_or(archive::NO_CHUNK),
            settled: input.settled,
        }
    }

    /// Whether the file still began with the archived chunks when the batch was read. Another program may truncate or rewrite
    /// the file at any moment.
    pub fn continues(&mut self, piece: &mut Piece<'_>) -> std::io::Result<bool> {
        let Some(chunk) = &mut piece.batch.chunk else {
            return self.is_unchanged(piece.seen);
        };
        let known = self.input.chunks.get(chunk.position as usize);
        if chunk.known_hash.as_ref() != known.map(|(_, hash)| hash) {
            return Ok(false);
        }
        self.chunks.push((chunk.byte_length, chunk.hash));
        self.running_hash = archive::extend(&self.running_hash, &chunk.hash);
        chunk.running_hash = self.running_hash;
        self.is_unchanged(piece.seen)
    }

    /// Whether the file begins with these chunks. Reads the bytes again only if the stat does not prove it.
    fn is_unchanged(&mut self, seen: Option<Stat>) -> std::io::Result<bool> {
        // An archive has no stat, and does not change.
        if seen.is_none() || self.settled == seen {
            return Ok(true);
        }
        self.settled = self.input.bytes.stat()?.filter(file_diff::is_settled);
        self.input.bytes.begin_with(&self.chunks)
    }
}
