//! Imports files: chunks are read and parsed in parallel, and loaded in order.

use crate::archive::{self, CHUNK_BYTES, Hash};
use crate::database::statements as sql;
use crate::discover::{Reading, Stat};
use crate::error::{Error, Problem, Result};
use crate::failures::{ChunkName, Failure, Failures, is_ours, panic_message};
use crate::file_diff::{self, ChangedFile};
use crate::load::{Batch, FileVersion, Load, Loaded};
use crate::normalize::{normalize, normalize_document, reject, reject_document};
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::read::{self, Bytes, Section, read_section};
use crate::rows::Rows;
use crate::stop::Stop;
use bumpalo::Bump;
use rusqlite::{Connection, OptionalExtension};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An open file version.
pub struct Input {
    /// Its path, for messages.
    pub name: PathBuf,
    pub version: Arc<FileVersion>,
    pub bytes: Bytes,
    /// Where to stop reading.
    pub size: u64,
    /// The archived chunks. The file began with them when it was compared.
    pub chunks: Vec<(u64, Hash)>,
    /// Its stat at that moment, if the stat is settled: every later change will alter it.
    pub settled: Option<Stat>,
}

impl Input {
    /// Opens a changed file, unless it is open already. Returns `None` if the file is gone; the next sync marks it as missing.
    pub fn open(file: ChangedFile) -> std::result::Result<Option<Input>, Problem> {
        let ChangedFile {
            absolute,
            mut version,
            chunks,
            opened,
            settled,
        } = file;
        let opened = match opened {
            Some(opened) => opened
                .metadata()
                .map(|metadata| (opened, Stat::of(&metadata))),
            None => read::open(&absolute),
        };
        let (opened, stat) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::new(&absolute, error)),
        };
        version.is_racy = file_diff::is_racy(&stat);
        version.stat = Some(stat);
        let settled = match version.size {
            0 => Some(stat).filter(file_diff::is_settled),
            _ => settled,
        };
        Ok(Some(Input {
            name: absolute,
            version: Arc::new(version),
            bytes: Bytes::File(opened),
            size: stat.size,
            chunks,
            settled,
        }))
    }
}

/// The files that were not imported as expected.
#[derive(Default)]
pub struct Imported {
    /// Files that could not be read.
    pub problems: Vec<Problem>,
    /// Files that were replaced or truncated while they were read. The part read before is loaded; the new content belongs
    /// to another version.
    pub replaced: Vec<Arc<Input>>,
}

/// When transactions are committed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// After each batch of chunks, so that a kill loses little and readers see new rows early. The caller commits the last one.
    Often,
    /// Once, by the caller.
    ByCaller,
}

/// A transaction ends after this many bytes or this much time: Claude Code kills its hooks after 1.5 seconds.
const COMMIT_BYTES: u64 = 8 << 20;
const COMMIT_TIME: Duration = Duration::from_millis(250);

/// Imports files. A file that cannot be read is reported and does not affect the others. A stop request ends the import after
/// the chunks in progress.
pub fn import(
    inputs: impl Iterator<Item = Input>,
    loader: &mut impl Load,
    pipeline: &Pipeline,
    commits: Commits,
    progress: &Progress,
    stop: &Stop,
    failures: &Failures,
) -> Result<Imported> {
    let units = units(inputs).take_while(|_| !stop.is_requested());
    let parse = |input: &Input, position| parse_chunk(input, position, failures);
    load(units, parse, loader, pipeline, commits, progress)
}

/// The same for a new database, with one commit by the caller. Each worker loads the rows that it parsed, in turn, so rows
/// can borrow from the bytes they were parsed from.
pub fn import_new(
    inputs: impl Iterator<Item = Input> + Send,
    loader: &mut (impl Load + Send),
    pipeline: &Pipeline,
    progress: &Progress,
    stop: &Stop,
    failures: &Failures,
) -> Result<Imported> {
    let units = units(inputs).take_while(|_| !stop.is_requested());
    let mut imported = Imported::default();
    let consume = consumer(loader, &mut imported, Commits::ByCaller, progress);
    let work = |units: Vec<Unit>| Parsed::new(Read::new(units), |read| read.parse(failures));
    pipeline.run_ordered(groups(units), consume, work, |consume, parsed| {
        parsed.with_dependent_mut(|read, batches| {
            let mut parsed = read.chunks.iter().zip(batches);
            parsed.try_for_each(|((unit, _), piece)| consume(&unit.input, piece))
        })
    })?;
    Ok(imported)
}

/// Parses the incomplete last line of a file version whose file is gone or replaced. While the file could grow, the end of
/// the line was unknown.
pub fn finish_version(
    connection: &Connection,
    file_id: i64,
    loader: &mut impl Load,
) -> Result<Option<Problem>> {
    let mut statement = connection.prepare_cached(sql::FIND_UNFINISHED)?;
    let unfinished = statement.query_row([file_id], |row| {
        let version = FileVersion {
            file_id: Some(file_id),
            size: row.get::<_, i64>(2)?.cast_unsigned(),
            parsed: row.get::<_, i64>(3)?.cast_unsigned(),
            newline_count: row.get(4)?,
            blank_line_count: row.get(5)?,
            ..FileVersion::new(row.get(0)?, row.get(1)?, 1)
        };
        Ok(version)
    });
    let Some(version) = unfinished.optional()? else {
        return Ok(None);
    };
    if version.place.reading != Reading::Lines {
        return Ok(None);
    }
    let before = version.parsed.saturating_sub(1);
    let bytes = archive::Reader::default().read(connection, file_id, before, version.size - before);
    let mut bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Some(Problem::new(&version.path, error))),
    };
    let before = (version.parsed > 0).then(|| bytes.remove(0));
    let section = Section::of_last_line(bytes, version.parsed, before);
    let version = Arc::new(version);
    let (rows, parsed) = normalize(&section, &version.place, None);
    let mut batch = Batch {
        file: version.clone(),
        chunk: None,
        rows,
        parsed,
        end: version.size,
        is_last: true,
    };
    match loader.load(&mut batch)? {
        Loaded::Written => Ok(None),
        Loaded::Overtaken => unreachable!("what is archived is not compared with a file"),
    }
}

/// Chunks that were read, and an arena for their unescaped strings.
struct Read {
    chunks: Vec<(Unit, std::io::Result<Section>)>,
    arena: Bump,
}

/// A batch, and the stat of its file after the batch was read.
struct Piece<'a> {
    batch: Batch<'a>,
    seen: Option<Stat>,
}

/// The batch of a chunk; `None` if the chunk is shorter than its archived part.
type Parse<'a> = std::io::Result<Option<Piece<'a>>>;

type Batches<'a> = Vec<Parse<'a>>;

self_cell::self_cell!(
    /// Chunks and the rows that borrow from them.
    struct Parsed {
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
    fn new(units: Vec<Unit>) -> Read {
        let read = |unit: Unit| {
            let section = caught(|| read_chunk(&unit.input, unit.position));
            (unit, section)
        };
        Read {
            chunks: units.into_iter().map(read).collect(),
            arena: SPARE_ARENA.take().unwrap_or_default(),
        }
    }

    fn parse(&self, failures: &Failures) -> Batches<'_> {
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

fn load(
    units: impl Iterator<Item = Unit>,
    parse_chunk: impl Fn(&Input, u64) -> Parse<'static> + Sync,
    loader: &mut impl Load,
    pipeline: &Pipeline,
    commits: Commits,
    progress: &Progress,
) -> Result<Imported> {
    let mut imported = Imported::default();
    let mut consume = consumer(loader, &mut imported, commits, progress);
    let parse = |Unit { input, position }| {
        let piece = caught(|| parse_chunk(&input, position));
        (input, piece)
    };
    pipeline.run(units, parse, move |(input, mut piece)| {
        consume(&input, &mut piece)
    })?;
    Ok(imported)
}

/// Returns a function that loads the chunks of files in order.
fn consumer(
    loader: &mut impl Load,
    imported: &mut Imported,
    commits: Commits,
    progress: &Progress,
) -> impl FnMut(&Arc<Input>, &mut Parse<'_>) -> Result<()> {
    let mut finished: Option<Arc<Input>> = None;
    let mut archived: Option<Archived> = None;
    let mut bytes = 0;
    let mut begun = Instant::now();
    move |input, piece| {
        // Skip the chunks after a failed one, and after the new end of a file that shrank.
        if finished
            .as_ref()
            .is_some_and(|other| Arc::ptr_eq(other, input))
        {
            return Ok(());
        }
        let batch = match piece {
            Ok(None) => Ok(None),
            Ok(Some(piece)) => {
                let archived = match &mut archived {
                    Some(archived) if Arc::ptr_eq(&archived.input, input) => archived,
                    other => other.insert(Archived::new(input)),
                };
                let continues = archived.continues(piece);
                continues.map(|continues| continues.then_some(&mut piece.batch))
            }
            Err(error) => Err(std::io::Error::new(error.kind(), error.to_string())),
        };
        match batch {
            Ok(None) => {
                imported.replaced.push(input.clone());
                finished = Some(input.clone());
            }
            Ok(Some(batch)) => {
                let length = batch.end % CHUNK_BYTES;
                let length = if length == 0 { CHUNK_BYTES } else { length };
                let is_last = batch.is_last;
                let position = batch.end.saturating_sub(1) / CHUNK_BYTES;
                let failed = |cause: String| {
                    Error::Failed(Box::new(Failure {
                        chunk: ChunkName::new(&input.version, position),
                        problem: Problem::new(&input.name, cause),
                    }))
                };
                // After a panic or an error the loader rolls back and is not used again.
                let loaded = catch_unwind(AssertUnwindSafe(|| loader.load(batch)));
                let loaded = loaded.map_err(|panic| failed(panic_message(&*panic)))?;
                let loaded = loaded.map_err(|error| match is_ours(&error) {
                    true => failed(error.to_string()),
                    false => error,
                })?;
                match loaded {
                    Loaded::Written => {}
                    Loaded::Overtaken => {
                        let message =
                            "another program imported it at the same time; run sync again";
                        imported.problems.push(Problem::new(&input.name, message));
                        finished = Some(input.clone());
                    }
                }
                if is_last {
                    finished = Some(input.clone());
                }
                progress.advance(length);
                bytes += length;
            }
            Err(error) => {
                imported.problems.push(Problem::new(&input.name, error));
                finished = Some(input.clone());
            }
        }
        if commits == Commits::Often && (bytes >= COMMIT_BYTES || begun.elapsed() >= COMMIT_TIME) {
            loader.commit()?;
            bytes = 0;
            begun = Instant::now();
        }
        Ok(())
    }
}

/// The chunks of the current file that are archived or about to be.
struct Archived {
    input: Arc<Input>,
    chunks: Vec<(u64, Hash)>,
    running_hash: Hash,
    /// The stat of the file when it began with these chunks, if it was settled.
    settled: Option<Stat>,
}

impl Archived {
    /// Starts with the chunks that are not read again.
    fn new(input: &Arc<Input>) -> Archived {
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
    fn continues(&mut self, piece: &mut Piece<'_>) -> std::io::Result<bool> {
        let Some(chunk) = &mut piece.batch.chunk else {
            return match piece.seen {
                Some(_) => self.is_unchanged(piece.seen),
                None => Ok(true),
            };
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
        if self.settled.is_some() && self.settled == seen {
            return Ok(true);
        }
        self.settled = self.input.bytes.stat()?.filter(file_diff::is_settled);
        self.input.bytes.begin_with(&self.chunks)
    }
}

/// A chunk of a file: the unit of work.
struct Unit {
    input: Arc<Input>,
    position: u64,
}

impl Unit {
    fn bytes(&self) -> u64 {
        let rest = self.input.size.saturating_sub(self.position * CHUNK_BYTES);
        rest.min(CHUNK_BYTES)
    }
}

/// The chunks with new bytes. An empty file has one empty chunk, which adds its row to `files`.
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

/// A group has at most this many chunks, because their files are open.
const GROUP_CHUNKS: usize = 16;

/// Groups consecutive short chunks up to the size of a long one. A worker with a single short chunk would mostly wait for its
/// turn.
fn groups(units: impl Iterator<Item = Unit>) -> impl Iterator<Item = Vec<Unit>> {
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

/// Turns a panic into an error: a bug that one file triggers must not affect other files.
fn caught<T>(work: impl FnOnce() -> std::io::Result<T>) -> std::io::Result<T> {
    // The work only reads shared data, so a panic leaves nothing inconsistent.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(std::io::Error::other(panic_message(&*panic))))
}

/// Reads and parses a chunk into owned rows, which another thread can load.
fn parse_chunk(input: &Input, position: u64, failures: &Failures) -> Parse<'static> {
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
        Bytes::File(_) if !section.chunk().is_empty() => {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::load::Loader;
    use std::fs::File;
    use std::path::Path;
    use tempfile::TempDir;

    fn database_with_a_home() -> (TempDir, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let connection = database::create(&folder.path().join("test.db")).unwrap();
        connection
            .execute(sql::INSERT_SOURCE, ["id", "machine", "home", "claude-code"])
            .unwrap();
        Loader::new(&connection).unwrap().finish().unwrap();
        (folder, connection)
    }

    fn input(folder: &Path, name: &str) -> Input {
        let path = format!("projects/-w/{name}.jsonl");
        let absolute = folder.join(name);
        let line = format!("{{\"parentUuid\":null,\"uuid\":\"{name}\",\"type\":\"user\"}}\n");
        std::fs::write(&absolute, line).unwrap();
        let stat = Stat::of(&std::fs::metadata(&absolute).unwrap());
        Input {
            bytes: Bytes::File(File::open(&absolute).unwrap()),
            name: absolute,
            version: Arc::new(FileVersion {
                stat: Some(stat),
                ..FileVersion::new(1, path, 1)
            }),
            size: stat.size,
            chunks: Vec::new(),
            settled: None,
        }
    }

    #[test]
    fn a_panic_in_one_file_does_not_affect_the_others() {
        let (folder, connection) = database_with_a_home();
        for threads in [1, 4] {
            let names = ["a", "b", "c"].map(|name| format!("{name}{threads}"));
            let inputs: Vec<Input> = names
                .iter()
                .map(|name| input(folder.path(), name))
                .collect();
            let mut loader = Loader::new(&connection).unwrap();
            let parse = |input: &Input, position| match input.name.ends_with(&names[1]) {
                true => panic!("a fault in {}", names[1]),
                false => parse_chunk(input, position, &Failures::default()),
            };
            let imported = load(
                units(inputs.into_iter()),
                parse,
                &mut loader,
                &Pipeline::new(Some(threads)),
                Commits::Often,
                &Progress::bytes("reading", 0, true),
            )
            .unwrap();
            loader.finish().unwrap();
            let problems = imported.problems;
            assert_eq!(problems.len(), 1);
            assert!(problems[0].path.ends_with(&names[1]));
            assert!(problems[0].message.contains("a fault in b"));
        }
        assert_eq!(uuids(&connection), ["a1", "a4", "c1", "c4"]);
    }

    // Only debug builds panic on overflow.
    #[cfg(debug_assertions)]
    #[test]
    fn a_panic_of_the_loader_names_the_file_and_rolls_back() {
        let (folder, connection) = database_with_a_home();
        let inputs = ["a", "b"].map(|name| input(folder.path(), name));
        let mut loader = Loader::new(&connection).unwrap();
        let parse = |input: &Input, position| {
            let mut piece = parse_chunk(input, position, &Failures::default())?;
            if input.name.ends_with("b") {
                let piece = piece.as_mut().expect("nothing of it is archived");
                piece.batch.rows.newline_count = i64::MAX;
            }
            Ok(piece)
        };
        let result = load(
            units(inputs.into_iter()),
            parse,
            &mut loader,
            &Pipeline::new(Some(1)),
            Commits::ByCaller,
            &Progress::bytes("reading", 0, true),
        );
        drop(loader);
        let Err(Error::Failed(failure)) = result else {
            panic!("it should have failed");
        };
        assert!(failure.problem.path.ends_with("b"));
        assert_eq!(failure.chunk.path, "projects/-w/b.jsonl");
        assert_eq!(uuids(&connection), [""; 0]);
    }

    fn uuids(connection: &rusqlite::Connection) -> Vec<String> {
        let mut statement = connection
            .prepare("select uuid from messages order by uuid")
            .unwrap();
        let uuids = statement.query_map([], |row| row.get(0)).unwrap();
        uuids.map(std::result::Result::unwrap).collect()
    }
}
