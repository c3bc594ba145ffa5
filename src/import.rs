//! Files -> batches -> the database: read and parsed in parallel, written in order.

use crate::archive::{self, CHUNK_BYTES};
use crate::database::{Batch, FileVersion, Loader};
use crate::discover::Reading;
use crate::error::{Problem, Result};
use crate::normalize::{normalize, normalize_document};
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::read::{Bytes, read_section};
use crate::rows::Rows;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A version of a file, open.
pub struct Input {
    /// Where it lies, for messages.
    pub name: PathBuf,
    /// What is known of it.
    pub version: Arc<FileVersion>,
    /// Its bytes.
    pub bytes: Bytes,
    /// Up to where to read it.
    pub size: u64,
}

/// When rows are made permanent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// So often that little is lost with a kill, and readers see what is new.
    Often,
    /// By the caller, when all is done.
    ByCaller,
}

/// After so many bytes or so much time a transaction is ended: hooks of Claude Code are killed after 1.5 seconds.
const COMMIT_BYTES: u64 = 8 << 20;
const COMMIT_TIME: Duration = Duration::from_millis(250);

/// Imports files. What cannot be read is a problem of its own and costs no other file.
pub fn import(
    inputs: impl Iterator<Item = Input>,
    loader: &mut Loader<'_>,
    pipeline: &Pipeline,
    commits: Commits,
    progress: &Progress,
) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut finished: Option<Arc<Input>> = None;
    let mut bytes = 0;
    let mut begun = Instant::now();
    pipeline.run(units(inputs), parse, |(input, result)| {
        // What follows the end of a file that shrank, or a chunk that could not be read, is not looked at.
        if finished
            .as_ref()
            .is_some_and(|other| Arc::ptr_eq(other, &input))
        {
            return Ok(());
        }
        match result {
            Ok(batch) => {
                let length = batch.end % CHUNK_BYTES;
                let length = if length == 0 { CHUNK_BYTES } else { length };
                if batch.is_last {
                    finished = Some(input);
                }
                loader.load(batch)?;
                progress.advance(length);
                bytes += length;
            }
            Err(error) => {
                problems.push(Problem::new(&input.name, error));
                finished = Some(input);
            }
        }
        if commits == Commits::Often && (bytes >= COMMIT_BYTES || begun.elapsed() >= COMMIT_TIME) {
            loader.commit()?;
            bytes = 0;
            begun = Instant::now();
        }
        Ok(())
    })?;
    if commits == Commits::Often {
        loader.commit()?;
    }
    Ok(problems)
}

/// A chunk of a file: the unit of work.
struct Unit {
    input: Arc<Input>,
    position: u64,
}

/// The chunks that hold something new. An empty file has one that is empty, so that it is known.
fn units(inputs: impl Iterator<Item = Input>) -> impl Iterator<Item = Unit> {
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

fn parse(unit: Unit) -> (Arc<Input>, std::io::Result<Batch>) {
    let Unit { input, position } = unit;
    let batch = parse_chunk(&input, position);
    (input, batch)
}

fn parse_chunk(input: &Input, position: u64) -> std::io::Result<Batch> {
    let version = &input.version;
    let reading = version.place.reading;
    // Only lines are looked for across chunks.
    let parsed = match reading {
        Reading::Lines => version.parsed,
        _ => position * CHUNK_BYTES,
    };
    let section = read_section(&input.bytes, position, input.size, parsed)?;
    let known = version.size.saturating_sub(position * CHUNK_BYTES);
    let chunk = match &input.bytes {
        Bytes::File(_) if !section.chunk().is_empty() => {
            Some(archive::pack(position, section.chunk(), known))
        }
        _ => None,
    };
    let end = section.end_offset();
    let (rows, parsed) = match reading {
        Reading::Lines => normalize(&section, &version.place),
        Reading::Whole if section.is_last => (document(input, end)?, Some(end)),
        _ => (Rows::default(), Some(end)),
    };
    Ok(Batch {
        file: version.clone(),
        chunk,
        rows,
        parsed,
        end,
        is_last: section.is_last,
    })
}

/// A document that is larger stays in the archive; its row says so.
const DOCUMENT_BYTES: u64 = 64 << 20;

/// The rows of a file that is read as a whole.
fn document(input: &Input, size: u64) -> std::io::Result<Rows> {
    let Input { version, bytes, .. } = input;
    if size > DOCUMENT_BYTES {
        let mut rows = normalize_document(&[], &version.path, &version.place);
        for row in &mut rows.documents {
            row.leave_to_archive(size);
        }
        rows.rejected_lines.clear();
        return Ok(rows);
    }
    let bytes = bytes.read_at(0, size)?;
    Ok(normalize_document(&bytes, &version.path, &version.place))
}
