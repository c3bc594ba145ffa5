//! Imports files: chunks are read and parsed in parallel, and loaded in order.

mod archived;
mod chunk;

use crate::archive::{self, CHUNK_BYTES, Hash};
use crate::database::statements as sql;
use crate::discover::{Reading, Stat};
use crate::error::{Error, Problem, Result};
use crate::failures::{ChunkName, Failure, Failures, is_ours, panic_message};
use crate::file_diff::{self, ChangedFile};
use crate::load::{Batch, FileVersion, Load, Loaded};
use crate::normalize::normalize;
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::read::{self, Bytes, Section};
use crate::stop::Stop;
use archived::Archived;
use chunk::{Parse, Parsed, Piece, Read, Unit, caught, groups, parse_chunk, units};
use rusqlite::{Connection, OptionalExtension};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
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
            bytes,
            settled,
        } = file;
        let opened = match bytes {
            Some(bytes) => bytes.stat().map(|stat| (bytes, stat)),
            None => read::open(&absolute).map(|(file, stat)| (Bytes::File(file), Some(stat))),
        };
        let (bytes, stat) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::new(&absolute, error)),
        };
        if let Some(stat) = stat {
            version.is_racy = file_diff::is_racy(&stat);
            version.stat = Some(stat);
        }
        let settled = match version.size {
            0 => stat.filter(file_diff::is_settled),
            _ => settled,
        };
        Ok(Some(Input {
            name: absolute,
            size: version.stat.map_or(0, |stat| stat.size),
            version: Arc::new(version),
            bytes,
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

impl Imported {
    fn add(&mut self, unopened: Mutex<Vec<Problem>>) {
        let unopened = unopened.into_inner().expect("a push does not panic");
        self.problems.extend(unopened);
    }
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

/// What an import needs besides files and a loader.
#[derive(Clone, Copy)]
pub struct Importer<'a> {
    pub pipeline: &'a Pipeline,
    pub commits: Commits,
    pub progress: &'a Progress,
    /// A request ends the import after the chunks in progress.
    pub stop: &'a Stop,
    pub failures: &'a Failures,
}

impl Importer<'_> {
    /// Imports changed files. A file that cannot be opened or read is reported and does not affect the others.
    pub fn import_files(
        &self,
        files: Vec<ChangedFile>,
        loader: &mut impl Load,
    ) -> Result<Imported> {
        let unopened = Mutex::default();
        let mut imported = self.import(open_each(files, &unopened), loader)?;
        imported.add(unopened);
        Ok(imported)
    }

    /// Imports open files.
    pub fn import(
        &self,
        inputs: impl Iterator<Item = Input>,
        loader: &mut impl Load,
    ) -> Result<Imported> {
        self.load(inputs, loader, |input, position| {
            parse_chunk(input, position, self.failures)
        })
    }

    fn load(
        &self,
        inputs: impl Iterator<Item = Input>,
        loader: &mut impl Load,
        parse_chunk: impl Fn(&Input, u64) -> Parse<'static> + Sync,
    ) -> Result<Imported> {
        let mut imported = Imported::default();
        let mut consumer = Consumer::new(loader, &mut imported, self);
        let units = units(inputs).take_while(|_| !self.stop.is_requested());
        let parse = |Unit { input, position }| {
            let piece = caught(|| parse_chunk(&input, position));
            (input, piece)
        };
        self.pipeline.run(units, parse, |(input, mut piece)| {
            consumer.consume(&input, &mut piece)
        })?;
        Ok(imported)
    }

    /// Imports the files of a new database. Each worker loads the rows that it parsed, in turn, so rows can borrow from the
    /// bytes they were parsed from.
    pub fn import_first(
        &self,
        files: Vec<ChangedFile>,
        loader: &mut (impl Load + Send),
    ) -> Result<Imported> {
        let unopened = Mutex::default();
        let mut imported = Imported::default();
        let consumer = Consumer::new(loader, &mut imported, self);
        let units = units(open_each(files, &unopened)).take_while(|_| !self.stop.is_requested());
        let work =
            |units: Vec<Unit>| Parsed::new(Read::new(units), |read| read.parse(self.failures));
        let consume = |consumer: &mut Consumer<'_, _>, parsed: &mut Parsed| {
            parsed.with_dependent_mut(|read, pieces| {
                let mut parsed = read.chunks.iter().zip(pieces);
                parsed.try_for_each(|((unit, _), piece)| consumer.consume(&unit.input, piece))
            })
        };
        self.pipeline
            .run_ordered(groups(units), consumer, work, consume)?;
        imported.add(unopened);
        Ok(imported)
    }
}

/// Opens files when their turn comes. Adds a problem for each that cannot be opened.
fn open_each(
    files: Vec<ChangedFile>,
    problems: &Mutex<Vec<Problem>>,
) -> impl Iterator<Item = Input> + Send {
    files
        .into_iter()
        .filter_map(|file| match Input::open(file) {
            Ok(input) => input,
            Err(problem) => {
                let problems = problems.lock();
                problems.expect("a push does not panic").push(problem);
                None
            }
        })
}

/// Loads the chunks of files in order.
struct Consumer<'a, L> {
    loader: &'a mut L,
    imported: &'a mut Imported,
    commits: Commits,
    progress: &'a Progress,
    /// The file of which no further chunk is loaded: after its last or a failed one, and after its new end if it shrank.
    finished: Option<Arc<Input>>,
    archived: Option<Archived>,
    /// What was loaded since the last commit, and its time.
    bytes: u64,
    begun: Instant,
}

impl<'a, L: Load> Consumer<'a, L> {
    fn new(loader: &'a mut L, imported: &'a mut Imported, importer: &Importer<'a>) -> Self {
        Consumer {
            loader,
            imported,
            commits: importer.commits,
            progress: importer.progress,
            finished: None,
            archived: None,
            bytes: 0,
            begun: Instant::now(),
        }
    }

    fn consume(&mut self, input: &Arc<Input>, piece: &mut Parse<'_>) -> Result<()> {
        let finished = self.finished.as_ref();
        if finished.is_some_and(|finished| Arc::ptr_eq(finished, input)) {
            return Ok(());
        }
        match self.continued(input, piece) {
            Ok(Some(batch)) => self.load(input, batch)?,
            Ok(None) => {
                self.imported.replaced.push(input.clone());
                self.finished = Some(input.clone());
            }
            Err(error) => self.give_up(input, error),
        }
        self.commit_if_due()
    }

    /// The batch of a chunk; `None` if the file no longer begins with what was read of it before.
    fn continued<'p, 'b>(
        &mut self,
        input: &Arc<Input>,
        piece: &'p mut Parse<'b>,
    ) -> std::io::Result<Option<&'p mut Batch<'b>>> {
        let piece = match piece {
            Ok(Some(piece)) => piece,
            Ok(None) => return Ok(None),
            Err(error) => return Err(std::io::Error::new(error.kind(), error.to_string())),
        };
        let archived = match &mut self.archived {
            Some(archived) if Arc::ptr_eq(&archived.input, input) => archived,
            other => other.insert(Archived::new(input)),
        };
        let continues = archived.continues(piece)?;
        Ok(continues.then_some(&mut piece.batch))
    }

    fn load(&mut self, input: &Arc<Input>, batch: &mut Batch<'_>) -> Result<()> {
        let position = batch.end.saturating_sub(1) / CHUNK_BYTES;
        let failed = |cause: String| {
            Error::Failed(Box::new(Failure {
                chunk: ChunkName::new(&input.version, position),
                problem: Problem::new(&input.name, cause),
            }))
        };
        let (end, is_last) = (batch.end, batch.is_last);
        // After a panic or an error the loader rolls back and is not used again.
        let loaded = catch_unwind(AssertUnwindSafe(|| self.loader.load(batch)));
        let loaded = loaded.map_err(|panic| failed(panic_message(&*panic)))?;
        let loaded = loaded.map_err(|error| match is_ours(&error) {
            true => failed(error.to_string()),
            false => error,
        })?;
        match loaded {
            Loaded::Written if is_last => self.finished = Some(input.clone()),
            Loaded::Written => {}
            Loaded::Overtaken => {
                let message = "another program imported it at the same time; run sync again";
                self.give_up(input, message);
            }
        }
        let length = end - position * CHUNK_BYTES;
        self.progress.advance(length);
        self.bytes += length;
        Ok(())
    }

    fn give_up(&mut self, input: &Arc<Input>, message: impl std::fmt::Display) {
        let problem = Problem::new(&input.name, message);
        self.imported.problems.push(problem);
        self.finished = Some(input.clone());
    }

    fn commit_if_due(&mut self) -> Result<()> {
        let is_due = self.bytes >= COMMIT_BYTES || self.begun.elapsed() >= COMMIT_TIME;
        if self.commits == Commits::Often && is_due {
            self.loader.commit()?;
            self.bytes = 0;
            self.begun = Instant::now();
        }
        Ok(())
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::load::Loader;
    use std::fs::File;
    use std::path::Path;
    use tempfile::TempDir;

    struct Work {
        pipeline: Pipeline,
        progress: Progress,
        stop: Stop,
        failures: Failures,
    }

    impl Work {
        fn new(threads: usize) -> Work {
            Work {
                pipeline: Pipeline::new(Some(threads)),
                progress: Progress::bytes("reading", 0, true),
                stop: Stop::default(),
                failures: Failures::default(),
            }
        }

        fn importer(&self, commits: Commits) -> Importer<'_> {
            Importer {
                pipeline: &self.pipeline,
                commits,
                progress: &self.progress,
                stop: &self.stop,
                failures: &self.failures,
            }
        }
    }

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
            let work = Work::new(threads);
            let importer = work.importer(Commits::Often);
            let imported = importer.load(inputs.into_iter(), &mut loader, parse);
            let imported = imported.unwrap();
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
        let work = Work::new(1);
        let importer = work.importer(Commits::ByCaller);
        let result = importer.load(inputs.into_iter(), &mut loader, parse);
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
