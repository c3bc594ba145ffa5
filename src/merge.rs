//! The archive of another database -> what of it is new, as if its files were at hand.
//!
//! A version of a file here and one in the other database are the same version if one begins with the bytes of the other: the
//! longer one continues the shorter one. Any other version becomes a further generation of the file.

use crate::archive::{self, Hash};
use crate::database::{self, DEMO_ROOT, statements as sql};
use crate::discover::{Reading, Stat, classify};
use crate::error::{Error, Problem, Result};
use crate::file_diff::{ChangedFile, Changes, chunk_hashes, sort_by_age};
use crate::load::FileVersion;
use crate::machine::Machine;
use crate::read::{ArchivedFile, Bytes};
use rusqlite::Connection;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Another database, as it was when it was opened.
pub struct OtherDatabase {
    path: PathBuf,
    reader: Arc<Mutex<Connection>>,
    homes: Vec<OtherHome>,
}

/// A home in another database.
struct OtherHome {
    machine: Machine,
    root_path: String,
    product: String,
    files: Files,
}

/// The versions of each file by its path, oldest first.
type Files = BTreeMap<String, Vec<Version>>;

/// An archived version of a file.
struct Version {
    file: FileVersion,
    /// The lengths and hashes of its chunks.
    chunks: Vec<(u64, Hash)>,
}

/// What is new in a home.
pub struct HomeChanges {
    pub root_path: String,
    pub file_count: usize,
    pub changes: Changes,
}

impl OtherDatabase {
    pub fn open(path: &Path) -> Result<OtherDatabase> {
        let connection = database::open_read_only(path)?;
        // A sync may change it while it is read.
        connection.execute_batch("begin")?;
        let mut homes = read_homes(&connection)?;
        for (source_id, home) in &mut homes {
            home.files = read_files(&connection, *source_id)?;
        }
        Ok(OtherDatabase {
            path: path.to_path_buf(),
            reader: Arc::new(Mutex::new(connection)),
            homes: homes.into_values().collect(),
        })
    }

    pub fn connection(&self) -> MutexGuard<'_, Connection> {
        self.reader
            .lock()
            .expect("reading an archive does not panic")
    }

    fn bytes(&self, version: &Version) -> Bytes {
        Bytes::Other(ArchivedFile {
            connection: self.reader.clone(),
            file_id: version.file_id(),
            hashes: version.chunks.iter().map(|(_, hash)| *hash).collect(),
        })
    }

    pub fn holds_demo(&self) -> bool {
        self.homes.iter().any(|home| home.root_path == DEMO_ROOT)
    }
}

/// Compares other databases with one. Adds homes that it does not have.
pub fn compare(connection: &Connection, others: &[OtherDatabase]) -> Result<Vec<HomeChanges>> {
    let mut comparisons: BTreeMap<i64, Comparison<'_>> = BTreeMap::new();
    for other in others {
        for home in &other.homes {
            let (machine, root_path) = (&home.machine, &home.root_path);
            let (source_id, _) = machine.find_or_add_home(connection, root_path, &home.product)?;
            let comparison = match comparisons.entry(source_id) {
                Entry::Occupied(begun) => begun.into_mut(),
                Entry::Vacant(new) => {
                    new.insert(Comparison::begin(connection, source_id, root_path)?)
                }
            };
            comparison.add(other, &home.files);
        }
    }
    Ok(comparisons.into_values().map(Comparison::finish).collect())
}

/// Compares a home with the same home in other databases.
struct Comparison<'a> {
    connection: &'a Connection,
    source_id: i64,
    root_path: String,
    files: BTreeMap<String, Vec<Candidate<'a>>>,
    /// The paths of its files in the other databases.
    found: BTreeSet<&'a str>,
    problems: Vec<Problem>,
}

/// A version of a file, as far as this database and others have it.
#[derive(Default)]
struct Candidate<'a> {
    known: Option<Version>,
    /// A longer one in another database.
    longer: Option<(&'a OtherDatabase, &'a Version)>,
}

impl<'a> Comparison<'a> {
    fn begin(connection: &'a Connection, source_id: i64, root_path: &str) -> Result<Self> {
        let mut files: BTreeMap<String, Vec<Candidate<'_>>> = BTreeMap::new();
        for (path, versions) in read_files(connection, source_id)? {
            let candidates = versions.into_iter().map(|version| Candidate {
                known: Some(version),
                longer: None,
            });
            files.insert(path, candidates.collect());
        }
        Ok(Comparison {
            connection,
            source_id,
            root_path: root_path.to_string(),
            files,
            found: BTreeSet::new(),
            problems: Vec::new(),
        })
    }

    fn add(&mut self, other: &'a OtherDatabase, files: &'a Files) {
        for (path, versions) in files {
            self.found.insert(path);
            let candidates = self.files.entry(path.clone()).or_default();
            // Two versions of the other database are two versions here, too.
            let mut is_taken = vec![false; candidates.len()];
            for version in versions {
                let mut same = Ok(None);
                for (index, candidate) in candidates.iter().enumerate() {
                    if is_taken[index] {
                        continue;
                    }
                    match candidate.is_same(self.connection, other, version) {
                        Ok(false) => continue,
                        Ok(true) => same = Ok(Some(index)),
                        Err(error) => same = Err(error),
                    }
                    break;
                }
                match same {
                    Ok(Some(index)) => {
                        is_taken[index] = true;
                        if version.file.size > candidates[index].longest().file.size {
                            candidates[index].longer = Some((other, version));
                        }
                    }
                    Ok(None) => {
                        is_taken.push(true);
                        candidates.push(Candidate {
                            known: None,
                            longer: Some((other, version)),
                        });
                    }
                    Err(error) => {
                        let name = other.path.join(path);
                        self.problems.push(Problem::new(&name, error));
                    }
                }
            }
        }
    }

    fn finish(self) -> HomeChanges {
        let mut changes = Changes {
            problems: self.problems,
            ..Changes::default()
        };
        for (path, candidates) in self.files {
            let known = candidates
                .iter()
                .filter_map(|candidate| candidate.known.as_ref());
            let newest = known.map(|version| version.file.generation).max();
            let mut generation = newest.unwrap_or(0);
            for candidate in candidates {
                let Some((other, version)) = candidate.longer else {
                    continue;
                };
                let (new, chunks) = match candidate.known {
                    Some(known) => (version.continuing(known.file), known.chunks),
                    None => {
                        generation += 1;
                        (version.as_new(self.source_id, generation), Vec::new())
                    }
                };
                match new.place.reading {
                    Reading::Count => changes.counted.push(new),
                    _ => changes.files.push(ChangedFile {
                        absolute: other.path.join(&path),
                        version: new,
                        chunks,
                        bytes: Some(other.bytes(version)),
                        settled: None,
                    }),
                }
            }
        }
        sort_by_age(&mut changes.files);
        HomeChanges {
            root_path: self.root_path,
            file_count: self.found.len(),
            changes,
        }
    }
}

impl Candidate<'_> {
    fn longest(&self) -> &Version {
        let known = || self.known.as_ref().expect("it is in a database");
        self.longer.map_or_else(known, |(_, version)| version)
    }

    /// Whether it and a version of another database are the same.
    fn is_same(
        &self,
        connection: &Connection,
        other: &OtherDatabase,
        version: &Version,
    ) -> Result<bool> {
        let longest = self.longest();
        match (version.file.size > longest.file.size, self.longer) {
            (true, _) => version.begins_with(longest, &other.connection()),
            (false, Some((holder, _))) => longest.begins_with(version, &holder.connection()),
            (false, None) => longest.begins_with(version, connection),
        }
    }
}

impl Version {
    fn file_id(&self) -> i64 {
        self.file.file_id.expect("it is in a database")
    }

    /// Whether this version, which is in the database of the connection, begins with the bytes of a shorter one.
    fn begins_with(&self, shorter: &Version, connection: &Connection) -> Result<bool> {
        let Some(((length, hash), whole)) = shorter.chunks.split_last() else {
            return Ok(true);
        };
        let position = whole.len();
        if !self.chunks.starts_with(whole) || self.chunks.len() == position {
            return Ok(false);
        }
        let (own_length, own_hash) = &self.chunks[position];
        if own_length <= length {
            return Ok((own_length, own_hash) == (length, hash));
        }
        let start = position as u64 * archive::CHUNK_BYTES;
        let bytes = archive::Reader::default().read(connection, self.file_id(), start, *length);
        let bytes = bytes.map_err(Error::io(Path::new(&self.file.path)))?;
        Ok(archive::hash(&bytes) == *hash)
    }

    /// As a version of which nothing is archived yet.
    fn as_new(&self, source_id: i64, generation: i64) -> FileVersion {
        FileVersion {
            path_bytes: self.file.path_bytes.clone(),
            stat: self.file.stat,
            is_racy: self.file.is_racy,
            first_seen_at: self.file.first_seen_at.clone(),
            missing_since: self.file.missing_since.clone(),
            ..FileVersion::new(source_id, self.file.path.clone(), generation)
        }
    }

    /// As the rest of a version that it begins with.
    fn continuing(&self, known: FileVersion) -> FileVersion {
        FileVersion {
            stat: self.file.stat,
            is_racy: self.file.is_racy,
            missing_since: self.file.missing_since.clone(),
            ..known
        }
    }
}

/// The homes of a database, by key.
fn read_homes(connection: &Connection) -> Result<BTreeMap<i64, OtherHome>> {
    let mut statement = connection.prepare(sql::DESCRIBE_SOURCES)?;
    let homes = statement.query_map([], |row| {
        let home = OtherHome {
            machine: Machine {
                id: row.get(1)?,
                name: row.get(2)?,
            },
            root_path: row.get(3)?,
            product: row.get(4)?,
            files: Files::new(),
        };
        Ok((row.get(0)?, home))
    })?;
    Ok(homes.collect::<rusqlite::Result<_>>()?)
}

/// All versions of the files of a home, by path, oldest first.
fn read_files(connection: &Connection, source_id: i64) -> Result<Files> {
    let mut statement = connection.prepare(sql::FILE_VERSIONS)?;
    let mut rows = statement.query([source_id])?;
    let mut files: Files = Files::new();
    while let Some(row) = rows.next()? {
        let archived = row.get::<_, i64>(4)?.cast_unsigned();
        let path: String = row.get(1)?;
        let file_id = row.get(0)?;
        let size = match classify(&path).reading {
            Reading::Count => row.get::<_, i64>(16)?.cast_unsigned(),
            _ => archived,
        };
        let file = FileVersion {
            file_id: Some(file_id),
            path_bytes: row.get(2)?,
            size: archived,
            archived_hash: row.get(5)?,
            parsed: row.get::<_, i64>(6)?.cast_unsigned(),
            newline_count: row.get(7)?,
            blank_line_count: row.get(8)?,
            stat: Some(Stat {
                size,
                modified_ns: row.get(9)?,
                changed_ns: row.get(10)?,
                device: row.get(11)?,
                inode: row.get(12)?,
            }),
            is_racy: row.get(13)?,
            first_seen_at: row.get(14)?,
            missing_since: row.get(15)?,
            ..FileVersion::new(source_id, path.clone(), row.get(3)?)
        };
        let chunks = chunk_hashes(connection, file_id)?;
        files
            .entry(path)
            .or_default()
            .push(Version { file, chunks });
    }
    Ok(files)
}
