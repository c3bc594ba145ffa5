//! Compares files with the database: a file is unchanged, has grown, or is a new version.
//!
//! A file is identified by its path and the hashes of its archived chunks, never by its inode. It counts as unchanged without
//! being opened only if size, times and identity match the recorded ones and the recorded stat is not racy.

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
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A file with bytes to read.
#[derive(Debug)]
pub struct ChangedFile {
    pub absolute: PathBuf,
    /// The version that its new bytes belong to.
    pub version: FileVersion,
    /// Its archived chunks. The file began with them when it was compared.
    pub chunks: Vec<(u64, Hash)>,
    /// The file, if it was opened for the comparison and is still open, or where it is archived.
    pub bytes: Option<Bytes>,
    /// Its stat at the comparison, if the stat is settled: every later change will alter it.
    pub settled: Option<Stat>,
}

/// The differences between a home and the database.
#[derive(Debug, Default)]
pub struct Changes {
    /// Files with bytes to read.
    pub files: Vec<ChangedFile>,
    /// New or resized files whose content is not read: only their size is stored.
    pub counted: Vec<FileVersion>,
    /// Files with the same content and another stat.
    pub touched: Vec<(i64, Stat, bool)>,
    /// Files that are gone.
    pub missing: Vec<i64>,
    /// Versions whose files are gone or replaced, so no bytes will follow.
    pub ended: Vec<i64>,
    /// Files that could not be compared.
    pub problems: Vec<Problem>,
}

/// The newest version of a file in the database.
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

/// The files in the database, by home and path. They can be read while the homes are searched for files.
#[derive(Default)]
pub struct KnownFiles(HashMap<i64, HashMap<String, Known>>);

impl KnownFiles {
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
            // Within a transaction, older versions may still be marked as current.
            let path: String = row.get(1)?;
            let newer = home.get(&path).map_or(0, |other| other.generation);
            if file.generation > newer {
                home.insert(path, file);
            }
        }
        Ok(known)
    }

    /// Compares a home with its files in the database, and removes these from `self`. Only after a complete discovery can
    /// files be missing.
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

/// Compares a home with the database. Only after a complete discovery can files be missing.
pub fn compare(
    connection: &Connection,
    source_id: i64,
    found: &Discovery,
    is_complete: bool,
) -> Result<Changes> {
    KnownFiles::read(connection)?.compare(connection, source_id, found, is_complete)
}

/// Compares all archived bytes of a home with the files, even if their stat is unchanged.
pub fn compare_bytes(
    connection: &Connection,
    source_id: i64,
    found: &Discovery,
) -> Result<Changes> {
    let mut known = KnownFiles::read(connection)?;
    let known = known.0.remove(&source_id).unwrap_or_default();
    compare_with(connection, known, source_id, found, false, Trust::Bytes)
}

/// What proves that a file is unchanged.
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
    // Usually there are none; do not start threads then.
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

/// Sorts files by age, because Claude Code deletes the oldest first. The files of a session stay together at the age of the
/// oldest, the transcript before those of its agents, so that most references are resolved at once.
pub fn sort_by_age(files: &mut [ChangedFile]) {
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
    /// Whether the database needs no update.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.counted.is_empty()
            && self.touched.is_empty()
            && self.missing.is_empty()
    }

    /// Files that no longer begin with their archived bytes.
    pub fn rewritten(&self) -> impl Iterator<Item = &ChangedFile> {
        self.files.iter().filter(|file| file.version.is_rewrite())
    }

    /// Bytes to read.
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

/// Whether a path is another one or below it.
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
    /// A new version; the key is that of the version before.
    Rewritten(Box<ChangedFile>, i64),
    Touched(i64, Stat, bool),
    Gone,
    Unreadable(Problem),
}

/// At most this many examined files stay open until they are read. The others are opened again, and the import compares their
/// archived chunks again.
const HELD_FILES: usize = 128;

/// Opens a file whose stat has changed and compares its bytes with the archived chunks.
fn examine(
    file: &SourceFile,
    source_id: i64,
    known: &Known,
    chunks: Vec<(u64, Hash)>,
    held: &AtomicUsize,
) -> Verdict {
    let (opened, stat) = match read::open(&file.absolute) {
        Ok(opened) => opened,
        // Deleted since the discovery: the next sync marks it as missing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Verdict::Gone,
        Err(error) => return Verdict::Unreadable(Problem::new(&file.absolute, error)),
    };
    let settled = Some(stat).filter(is_settled);
    let bytes = Bytes::File(opened);
    // If the chunks do not match the running hash, the archived version is damaged: keep it and start a new one.
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
    let is_held = held.fetch_add(1, Ordering::Relaxed) < HELD_FILES;
    changed.bytes = is_held.then_some(bytes);
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
            path_bytes: file.path_bytes.clone(),
            stat: Some(file.stat),
            is_racy: is_racy(&file.stat),
            ..FileVersion::new(source_id, file.path.clone(), generation)
        },
        chunks: Vec::new(),
        bytes: None,
        settled: None,
    }
}

/// Whether a stat is settled: the file system's clock has ticked since the last change, so every later change will alter the
/// stat. A clock with fractions of seconds ticks at least every ten milliseconds, others every two seconds.
pub fn is_settled(stat: &Stat) -> bool {
    const SECOND: i64 = 1_000_000_000;
    let changed_ns = stat.modified_ns.max(stat.changed_ns);
    let tick = match changed_ns % SECOND {
        0 => Duration::from_secs(2),
        _ => Duration::from_millis(20),
    };
    !changed_since(changed_ns, tick)
}

/// Whether a time is within this duration before now, or in the future.
fn changed_since(changed_ns: i64, time: Duration) -> bool {
    let since = SystemTime::now() - time;
    let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::from(changed_ns) >= since.as_nanos().cast_signed()
}

/// Whether a file changed so recently that another change may have the same time. The coarsest file system clocks tick every
/// two seconds.
pub fn is_racy(stat: &Stat) -> bool {
    changed_since(
        stat.modified_ns.max(stat.changed_ns),
        Duration::from_secs(2),
    )
}
