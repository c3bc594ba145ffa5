//! What of a file is new since it was last read: nothing, a tail, or all of it.
//!
//! A file is known by its path and by the hashes of what was read before, never by its inode. It is taken as unchanged
//! without opening it only if its size, times and identity are all as recorded and it had been quiet when they were.

use crate::archive::{self, Hash};
use crate::database::statements as sql;
use crate::discover::{Discovery, Reading, SourceFile, Stat, classify};
use crate::error::{Problem, Result};
use crate::load::FileVersion;
use crate::machine::Machine;
use crate::read::{self, Bytes};
use rayon::prelude::*;
use rusqlite::Connection;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file of which something is to be read.
#[derive(Debug)]
pub struct ChangedFile {
    /// Where it lies.
    pub absolute: PathBuf,
    /// The version that its new bytes belong to.
    pub version: FileVersion,
    /// The chunks that are archived: it was seen to begin with them.
    pub chunks: Vec<(u64, Hash)>,
    /// The file, if it was opened for that.
    pub opened: Option<File>,
    /// What the file system said when it was seen to begin with them, if every later change shows in it.
    pub settled: Option<Stat>,
}

/// What a home has that the database has not.
#[derive(Debug, Default)]
pub struct Changes {
    /// Files with bytes to read.
    pub files: Vec<ChangedFile>,
    /// Files that are not opened, new or with another size: only counted.
    pub counted: Vec<FileVersion>,
    /// Files that are the same and look different: only their stat is noted.
    pub touched: Vec<(i64, Stat, bool)>,
    /// Files that are gone.
    pub missing: Vec<i64>,
    /// Versions of which nothing more will be read: their files are gone, or hold other bytes.
    pub ended: Vec<i64>,
    /// Files that could not be looked at.
    pub problems: Vec<Problem>,
}

/// A file as the database knows it.
struct Known {
    file_id: i64,
    generation: i64,
    archived: u64,
    archived_hash: Option<Hash>,
    parsed: u64,
    newline_count: i64,
    blank_line_count: i64,
    stat: Stat,
    is_racy: bool,
    is_missing: bool,
}

/// The files that the database knows, by their homes and paths. They can be read while a home is looked through.
#[derive(Default)]
pub struct KnownFiles(HashMap<i64, HashMap<String, Known>>);

impl KnownFiles {
    /// Reads them.
    pub fn read(connection: &Connection) -> Result<KnownFiles> {
        let mut known = KnownFiles::default();
        let mut statement = connection.prepare_cached(sql::KNOWN_FILES)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let file = Known {
                file_id: row.get(2)?,
                generation: row.get(3)?,
                archived: row.get::<_, i64>(5)?.cast_unsigned(),
                parsed: row.get::<_, i64>(6)?.cast_unsigned(),
                newline_count: row.get(7)?,
                blank_line_count: row.get(8)?,
                stat: Stat {
                    size: row.get::<_, i64>(4)?.cast_unsigned(),
                    modified_ns: row.get(9)?,
                    changed_ns: row.get(10)?,
                    device: row.get(11)?,
                    inode: row.get(12)?,
                },
                is_racy: row.get(13)?,
                is_missing: row.get(14)?,
                archived_hash: row.get(15)?,
            };
            let home = known.0.entry(row.get(0)?).or_default();
            // Within a transaction, versions before the newest are still marked as current.
            let path: String = row.get(1)?;
            let newer = home.get(&path).map_or(0, |other| other.generation);
            if file.generation > newer {
                home.insert(path, file);
            }
        }
        Ok(known)
    }

    /// Compares a home with them, once. Only a `complete` discovery tells that files are gone.
    pub fn compare(
        &mut self,
        connection: &Connection,
        source_id: i64,
        found: &Discovery,
        is_complete: bool,
    ) -> Result<Changes> {
        let known = self.0.remove(&source_id).unwrap_or_default();
        compare_with(
            connection,
            known,
            source_id,
            found,
            is_complete,
            Trust::Stat,
        )
    }
}

/// Compares a home with the database. Only a `complete` discovery tells that files are gone.
pub fn compare(
    connection: &Connection,
    source_id: i64,
    found: &Discovery,
    is_complete: bool,
) -> Result<Changes> {
    KnownFiles::read(connection)?.compare(connection, source_id, found, is_complete)
}

/// Compares every byte of a home that is in the database, whatever the file system says of the files.
pub fn compare_bytes(
    connection: &Connection,
    source_id: i64,
    found: &Discovery,
) -> Result<Changes> {
    let mut known = KnownFiles::read(connection)?;
    let known = known.0.remove(&source_id).unwrap_or_default();
    compare_with(connection, known, source_id, found, false, Trust::Bytes)
}

/// What tells that a file is unchanged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Its size, times and identity.
    Stat,
    /// Only its bytes.
    Bytes,
}

fn compare_with(
    connection: &Connection,
    mut known: HashMap<String, Known>,
    source_id: i64,
    found: &Discovery,
    is_complete: bool,
    trust: Trust,
) -> Result<Changes> {
    let mut changes = Changes::default();
    let mut suspects = Vec::new();
    for file in &found.files {
        let known = known.remove(&file.path);
        let is_same = known
            .as_ref()
            .is_some_and(|known| !known.is_racy && !known.is_missing && known.stat == file.stat);
        if is_same && trust == Trust::Stat {
            continue;
        }
        let is_counted = classify(&file.path).reading == Reading::Count;
        match known {
            _ if is_same && is_counted => {}
            known if is_counted => {
                let mut version = new_file(file, source_id, 1).version;
                version.file_id = known.map(|known| known.file_id);
                changes.counted.push(version);
            }
            Some(known) => {
                let chunks = chunk_hashes(connection, known.file_id)?;
                suspects.push((file, known, chunks));
            }
            None => changes.files.push(new_file(file, source_id, 1)),
        }
    }
    // Mostly there are none, and threads need not be started.
    let held = AtomicUsize::new(0);
    let verdicts: Vec<Verdict> = match suspects.is_empty() {
        true => Vec::new(),
        false => suspects
            .into_par_iter()
            .map(|(file, known, chunks)| examine(file, source_id, &known, chunks, &held))
            .collect(),
    };
    for verdict in verdicts {
        match verdict {
            Verdict::Changed(file) => changes.files.push(*file),
            Verdict::Rewritten(file, before) => {
                changes.files.push(*file);
                changes.ended.push(before);
            }
            Verdict::Touched(file_id, stat, is_racy) => {
                changes.touched.push((file_id, stat, is_racy))
            }
            Verdict::Gone => {}
            Verdict::Unreadable(problem) => changes.problems.push(problem),
        }
    }
    if is_complete {
        let is_unknown = |path: &str| found.unknown.iter().any(|above| is_below(path, above));
        let gone = known
            .iter()
            .filter(|(path, file)| !file.is_missing && !is_unknown(path));
        changes.missing = gone.map(|(_, file)| file.file_id).collect();
        changes.ended.extend(&changes.missing);
    }
    sort_by_age(&mut changes.files);
    changes.counted.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(changes)
}

/// Those that Claude Code will delete first come first. The files of a session stay together, as old as the oldest of them,
/// its transcript before those of its agents: what several of them tell of is told at once.
fn sort_by_age(files: &mut [ChangedFile]) {
    let age = |file: &ChangedFile| file.version.stat.map(|stat| stat.modified_ns);
    let mut oldest = HashMap::new();
    for file in files.iter() {
        if let Some(session_id) = &file.version.place.session_id {
            let oldest = oldest.entry(session_id.clone()).or_insert(age(file));
            *oldest = age(file).min(*oldest);
        }
    }
    files.sort_by_cached_key(|file| {
        let session_id = file.version.place.session_id.as_ref();
        let oldest = session_id.map_or_else(|| age(file), |session_id| oldest[session_id]);
        (oldest, file.version.path.clone())
    });
}

impl Changes {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.counted.is_empty()
            && self.touched.is_empty()
            && self.missing.is_empty()
    }

    /// Files that no longer begin with what was read before.
    pub fn rewritten(&self) -> impl Iterator<Item = &ChangedFile> {
        self.files.iter().filter(|file| file.version.is_rewrite())
    }

    /// Bytes that are on disk and not in the database.
    pub fn new_bytes(&self) -> u64 {
        let new = |file: &ChangedFile| {
            let size = file.version.stat.map_or(0, |stat| stat.size);
            size.saturating_sub(file.version.size)
        };
        self.files.iter().map(new).sum()
    }
}

/// The homes in the database that are on this machine: their keys and folders.
pub fn homes_at_hand(connection: &Connection, machine: &Machine) -> Result<Vec<(i64, PathBuf)>> {
    let mut statement = connection.prepare_cached(sql::LIST_SOURCES)?;
    let sources: Vec<(i64, String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    // A home imported with `--machine` may be on any machine. It is taken as present if its folder is, and no other home in
    // the database has the same path.
    let is_here = |(_, id, root): &&(i64, String, String)| {
        let is_unique = || sources.iter().filter(|(_, _, other)| other == root).count() == 1;
        let is_own = *id == machine.id || id.starts_with("name:") && is_unique();
        is_own && Path::new(root).is_dir()
    };
    let here = sources.iter().filter(is_here);
    Ok(here
        .map(|(source_id, _, root)| (*source_id, PathBuf::from(root)))
        .collect())
}

/// Whether a path is another one or lies below it.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The lengths and hashes of the chunks of a file version.
pub fn chunk_hashes(connection: &Connection, file_id: i64) -> Result<Vec<(u64, Hash)>> {
    let mut statement = connection.prepare_cached(sql::FIND_CHUNK_HASHES)?;
    let rows = statement.query_map([file_id], |row| {
        Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

enum Verdict {
    Changed(Box<ChangedFile>),
    /// Another version than the one with this key.
    Rewritten(Box<ChangedFile>, i64),
    Touched(i64, Stat, bool),
    Gone,
    Unreadable(Problem),
}

/// So many files that were examined stay open until they are read. The others are opened again, and what is read of them is
/// compared with what was seen here.
const HELD_FILES: usize = 128;

/// Opens a file whose stat is not as recorded, and reads again what was read before.
fn examine(
    file: &SourceFile,
    source_id: i64,
    known: &Known,
    chunks: Vec<(u64, Hash)>,
    held: &AtomicUsize,
) -> Verdict {
    let (opened, stat) = match read::open(&file.absolute) {
        Ok(opened) => opened,
        // It vanished between the listing and now: the next sync will find it gone.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Verdict::Gone,
        Err(error) => return Verdict::Unreadable(Problem::new(&file.absolute, error)),
    };
    let settled = Some(stat).filter(is_settled);
    let bytes = Bytes::File(opened);
    // A version whose chunks do not give its running hash is damaged, and stays as it is.
    let length: u64 = chunks.iter().map(|(length, _)| length).sum();
    let running_hash = archive::running_hash(chunks.iter().map(|(_, hash)| hash));
    let is_whole = (length, running_hash) == (known.archived, known.archived_hash);
    let same = match is_whole && stat.size >= known.archived {
        true => bytes.begin_with(&chunks),
        false => Ok(false),
    };
    let same = match same {
        Ok(same) => same,
        Err(error) => return Verdict::Unreadable(Problem::new(&file.absolute, error)),
    };
    let mut changed = new_file(file, source_id, known.generation + 1);
    changed.version.stat = Some(stat);
    changed.version.is_racy = is_racy(&stat);
    if same && stat.size == known.archived {
        return Verdict::Touched(known.file_id, stat, changed.version.is_racy);
    }
    changed.settled = settled;
    changed.opened = match bytes {
        Bytes::File(opened) if held.fetch_add(1, Ordering::Relaxed) < HELD_FILES => Some(opened),
        _ => None,
    };
    if !same {
        return Verdict::Rewritten(Box::new(changed), known.file_id);
    }
    changed.chunks = chunks;
    changed.version = FileVersion {
        file_id: Some(known.file_id),
        generation: known.generation,
        size: known.archived,
        archived_hash: known.archived_hash,
        parsed: known.parsed,
        newline_count: known.newline_count,
        blank_line_count: known.blank_line_count,
        ..changed.version
    };
    Verdict::Changed(Box::new(changed))
}

fn new_file(file: &SourceFile, source_id: i64, generation: i64) -> ChangedFile {
    ChangedFile {
        absolute: file.absolute.clone(),
        version: FileVersion {
            source_id,
            file_id: None,
            path: file.path.clone(),
            path_bytes: file.path_bytes.clone(),
            place: classify(&file.path),
            generation,
            stat: Some(file.stat),
            is_racy: is_racy(&file.stat),
            size: 0,
            archived_hash: None,
            parsed: 0,
            newline_count: 0,
            blank_line_count: 0,
        },
        chunks: Vec::new(),
        opened: None,
        settled: None,
    }
}

/// Whether every change after this moment shows in the stat of a file: whether the file system's clock has gone on since
/// the last one. One that keeps parts of seconds ticks at least every ten milliseconds, others every two seconds.
pub fn is_settled(stat: &Stat) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let changed_ns = stat.modified_ns.max(stat.changed_ns);
    let tick = match changed_ns % SECOND {
        0 => Duration::from_secs(2),
        _ => Duration::from_millis(20),
    };
    !changed_since(changed_ns, tick)
}

/// Whether a time is less than so long ago, or still to come.
fn changed_since(changed_ns: i64, time: Duration) -> bool {
    let since = SystemTime::now() - time;
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::from(changed_ns) >= since.as_nanos().cast_signed()
}

/// Whether a file changed so recently that it may change once more within the same tick of the file system's clock.
/// The coarsest clocks in use tick every two seconds.
pub fn is_racy(stat: &Stat) -> bool {
    changed_since(
        stat.modified_ns.max(stat.changed_ns),
        Duration::from_secs(2),
    )
}
