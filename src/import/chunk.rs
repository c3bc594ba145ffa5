//! Reads and parses the chunks of a file.

use super::Input;
use crate::archive::{self, CHUNK_BYTES};
use crate::discover::{Reading, Stat};
use crate::failures::{Failures, panic_message};
use crate::load::Batch;
use crate::normalize::{normalize, normalize_document, reject, reject_document};
use crate::read::{Bytes, Section, read_section};
use crate::rows::Rows;
use bumpalo::Bump;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A chunk of a file: the unit of work.
pub struct Unit {
    pub input: Arc<Input>,
    pub position: u64,
}

impl Unit {
    fn bytes(&self) -> u64 {
        let rest = self.input.size.saturating_sub(self.position * CHUNK_BYTES);
        rest.min(CHUNK_BYTES)
    }
}

/// The chunks with new bytes. An empty file has one empty chunk, which adds its row to `files`.
pub fn units(inputs: impl Iterator<Item = Input>) -> impl Iterator<Item = Unit> {
    inputs.flat_map(|input| {
        let first = input.version.size / CHUNK_BYTES;
        let end = input.size.div_ceil(CHUNK_BYTES).max(first + 1);
        let input = Arc::new(input);
        (first..end).map(move |position| Unit {
            input: input.clone(),
            position,
        })
    })
}

/// A group has at most this many chunks, because their files are open.
const GROUP_CHUNKS: usize = 16;

/// Groups consecutive short chunks up to the size of a long one. A worker with a single short chunk would mostly wait for its
/// turn.
pub fn groups(units: impl Iterator<Item = Unit>) -> impl Iterator<Item = Vec<Unit>> {
    let mut units = units.peekable();
    std::iter::from_fn(move || {
        let first = units.next()?;
        let mut bytes = first.bytes();
        let mut group = vec![first];
        while group.len() < GROUP_CHUNKS
            && let Some(unit) = units.next_if(|unit| bytes + unit.bytes() <= CHUNK_BYTES)
        {
            bytes += unit.bytes();
            group.push(unit);
        }
        Some(group)
    })
}

/// Chunks that were read, and an arena for their unescaped strings.
pub struct Read {
    pub chunks: Vec<(Unit, std::io::Result<Section>)>,
    arena: Bump,
}

/// A batch, and the stat of its file after the batch was read.
pub struct Piece<'a> {
    pub batch: Batch<'a>,
    pub seen: Option<Stat>,
}

/// The batch of a chunk; `None` if the chunk is shorter than its archived part.
pub type Parse<'a> = std::io::Result<Option<Piece<'a>>>;

type Batches<'a> = Vec<Parse<'a>>;

self_cell::self_cell!(
    /// Chunks and the rows that borrow from them.
    pub struct Parsed {
        owner: Read,

        #[not_covariant]
        dependent: Batches,
    }
);

thread_local! {
    /// An empty arena to reuse, which saves an allocation for each chunk.
    static SPARE_ARENA: Cell<Option<Bump>> = const { Cell::new(None) };
}

/// A larger arena is freed: a long string made it grow.
const SPARE_ARENA_BYTES: usize = 4 << 20;

impl Read {
    pub fn new(units: Vec<Unit>) -> Read {
        let read = |unit: Unit| {
            let section = caught(|| read_chunk(&unit.input, unit.position));
            (unit, section)
        };
        Read {
            chunks: units.into_iter().map(read).collect(),
            arena: SPARE_ARENA.take().unwrap_or_default(),
        }
    }

    pub fn parse(&self, failures: &Failures) -> Batches<'_> {
        let arena = Some(&self.arena);
        let parsed = self.chunks.iter().map(|(unit, section)| match section {
            Ok(section) => caught(|| parse(&unit.input, unit.position, section, arena, failures)),
            Err(error) => Err(std::io::Error::new(error.kind(), error.to_string())),
        });
        parsed.collect()
    }
}

impl Drop for Read {
    fn drop(&mut self) {
        if self.arena.allocated_bytes() <= SPARE_ARENA_BYTES {
            self.arena.reset();
            SPARE_ARENA.set(Some(std::mem::take(&mut self.arena)));
        }
    }
}

/// Reads and parses a chunk into owned rows, which another thread can load.
pub fn parse_chunk(input: &Input, position: u64, failures: &Failures) -> Parse<'static> {
    let section = read_chunk(input, position)?;
    let piece = parse(input, position, &section, None, failures)?;
    Ok(piece.map(|piece| Piece {
        batch: piece.batch.into_owned(),
        seen: piece.seen,
    }))
}

fn read_chunk(input: &Input, position: u64) -> std::io::Result<Section> {
    let version = &input.version;
    // Only lines can cross the border of chunks.
    let parsed = match version.place.reading {
        Reading::Lines => version.parsed,
        _ => position * CHUNK_BYTES,
    };
    read_section(&input.bytes, position, input.size, parsed)
}

fn parse<'a>(
    input: &'a Input,
    position: u64,
    section: &'a Section,
    arena: Option<&'a Bump>,
    failures: &Failures,
) -> Parse<'a> {
    let version = &input.version;
    let known = version.size.saturating_sub(position * CHUNK_BYTES) as usize;
    if section.chunk().len() < known {
        return Ok(None);
    }
    let chunk = match &input.bytes {
        Bytes::File(_) | Bytes::Other(_) if !section.chunk().is_empty() => {
            Some(archive::pack(position, section.chunk(), known)?)
        }
        _ => None,
    };
    let end = section.end_offset();
    let is_failed = failures.include(version, position);
    let (rows, parsed) = match version.place.reading {
        Reading::Lines if is_failed => reject(section),
        Reading::Lines => normalize(section, &version.place, arena),
        Reading::Whole if section.is_last => (document(input, end, is_failed)?, Some(end)),
        _ => (Rows::default(), Some(end)),
    };
    let batch = Batch {
        file: version.clone(),
        chunk,
        rows,
        parsed,
        end,
        is_last: section.is_last,
    };
    let seen = input.bytes.stat()?;
    Ok(Some(Piece { batch, seen }))
}

/// Only the archive has the content of larger documents.
const DOCUMENT_BYTES: u64 = 64 << 20;

/// The rows of a file that is parsed as a whole.
fn document(input: &Input, size: u64, is_failed: bool) -> std::io::Result<Rows<'static>> {
    let Input { version, bytes, .. } = input;
    if size > DOCUMENT_BYTES {
        let mut rows = normalize_document(&[], &version.path, &version.place);
        for row in &mut rows.documents {
            row.drop_content(size);
        }
        rows.rejected_lines.clear();
        return Ok(rows);
    }
    let bytes = bytes.read_at(0, size)?;
    let work = || normalize_document(&bytes, &version.path, &version.place);
    let rows = match is_failed {
        true => None,
        // It only reads, so a panic leaves nothing inconsistent.
        false => catch_unwind(AssertUnwindSafe(work)).ok(),
    };
    Ok(rows.unwrap_or_else(|| reject_document(&bytes)))
}

/// Turns a panic into an error: a bug that one file triggers must not affect other files.
pub fn caught<T>(work: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    // The work only reads shared data, so a panic leaves nothing inconsistent.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(std::io::Error::other(panic_message(&*panic))))
}
