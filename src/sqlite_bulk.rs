//! Fills the tables of a new SQLite database by writing the pages of its file, several times faster than one statement per row.
//!
//! SQLite creates the file with its empty tables and indexes. [`BulkFile::open`] reads the schema from SQLite and takes over the
//! file, [`BulkFile::insert`] adds rows, [`BulkFile::finish`] builds the indexes. Then SQLite opens the database as if it had
//! written it. The format is documented and stable: <https://sqlite.org/fileformat2.html>.
//!
//! **This module is independent:** it uses no other module of the program, neither its tables nor its errors.
//!
//! **It refuses what it cannot write exactly**, with [`Error::Refused`]. The caller then uses statements, which are slower.
//! [`BulkFile::open`] refuses before anything is written:
//!
//! - a file with another page size than [`PAGE_BYTES`], another encoding than UTF-8, `auto_vacuum`, reserved bytes, a write-ahead
//!   log, or an old schema format;
//! - a table that is not empty, is virtual or `without rowid`, is not `strict`, or has triggers, generated columns, a collation, a
//!   conflict clause or `autoincrement`;
//! - a column without a value that has a default or must not be NULL;
//! - an index with an expression, a descending or collated column, or a column that is neither text nor integer;
//! - a check constraint that is not one of `column is null`, `column is not null`, `column = literal` and `column in (literals)`,
//!   with literals of the column's type, text or integer; a condition of a partial index that is not made of these, joined by `and`.
//!
//! [`BulkFile::insert`] refuses a value that violates a constraint or that SQLite would convert in a way not implemented here, a
//! row larger than SQLite allows, and a rowid that is not greater than the one before. [`BulkFile::finish`] refuses two rows with
//! the same key in a unique index. After either, the file is incomplete and must be deleted.
//!
//! **The caller must guarantee** that no other connection is open, and that references are valid: foreign keys are not checked.

mod btree;
mod constraint;
mod record;
mod schema;
mod sorter;

use btree::{IndexTree, PageFile, TableTree};
use record::{KeyReader, Record};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use schema::{Index, Kind, Source, Table};
use sorter::Spill;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Mutex;

pub use btree::PAGE_BYTES;

/// Why a file cannot be filled.
#[derive(Debug)]
pub enum Error {
    /// This module cannot write it, unlike SQLite; the reason.
    Refused(String),
    /// The file could not be read or written.
    Io(io::Error),
    /// SQLite failed.
    Sqlite(rusqlite::Error),
}

/// A `Result` of this module.
pub type Result<T> = std::result::Result<T, Error>;

/// A new database whose tables are being filled.
pub struct BulkFile {
    file: PageFile,
    spill: Spill,
    tables: Vec<Filling>,
    /// Bytes of index keys in memory.
    held: usize,
    record: Record,
}

/// At most this many bytes of index keys are in memory; the rest is in sorted runs in a temporary file.
const HELD_BYTES: usize = 8 << 20;

/// SQLite's limit for the length of a row.
const ROW_BYTES: usize = 1_000_000_000;

/// A table, and the state of writing it.
struct Filling {
    table: Table,
    tree: TableTree,
    last_rowid: Option<i64>,
}

/// The indexes that [`BulkFile::open`] refuses and SQLite can create after the rows are inserted.
pub fn unsupported_indexes(connection: &Connection, tables: &[&str]) -> Result<Vec<String>> {
    let indexes = tables
        .iter()
        .map(|table| schema::unsupported_indexes(connection, table));
    Ok(indexes.collect::<Result<Vec<_>>>()?.concat())
}

impl BulkFile {
    /// Takes over a new database to fill some of its tables, each with the columns for which [`insert`](BulkFile::insert) gets
    /// values. Closes the connection. On failure the database is unchanged.
    pub fn open(
        connection: Connection,
        path: &Path,
        tables: &[(&str, &[&str])],
    ) -> Result<BulkFile> {
        if !connection.is_autocommit() {
            return Err(Error::Refused("a transaction is open".to_string()));
        }
        let tables = tables
            .iter()
            .map(|(name, columns)| schema::read_table(&connection, name, columns))
            .collect::<Result<Vec<Table>>>()?;
        connection.close().map_err(|(_, error)| error)?;
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let page_count = schema::check_file(&file, &tables)?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let spill = tempfile::tempfile_in(folder.unwrap_or(Path::new(".")))?;
        let filling = |table| Filling {
            table,
            tree: TableTree::new(),
            last_rowid: None,
        };
        Ok(BulkFile {
            file: PageFile::new(file, page_count),
            spill: Spill::new(spill),
            tables: tables.into_iter().map(filling).collect(),
            held: 0,
            record: Record::default(),
        })
    }

    /// Adds a row to a table, which is identified by its position in the list given to [`open`](BulkFile::open), with a value for
    /// each of its columns. A row without a rowid gets the next one.
    pub fn insert(&mut self, table: usize, values: &[ValueRef<'_>]) -> Result<()> {
        let Filling {
            table,
            tree,
            last_rowid,
        } = &mut self.tables[table];
        table.check(values)?;
        let rowid = table.rowid(values, *last_rowid)?;
        let stored = |number: usize| match table.sources[number] {
            Source::Value(position, kind) => converted(values[position], kind),
            // The rowid is not stored in the record too.
            Source::Null | Source::Rowid => ValueRef::Null,
        };
        let length = self.record.fill((0..table.sources.len()).map(stored));
        if length > ROW_BYTES {
            return Err(Error::Refused(format!(
                "a row of {} is too large",
                table.name
            )));
        }
        tree.add(&mut self.file, rowid, length, |payload| {
            self.record.write(stored, |bytes| payload.write(bytes));
        })?;
        *last_rowid = Some(rowid);
        let value = |column: usize| match table.sources[column] {
            Source::Rowid => ValueRef::Integer(rowid),
            _ => stored(column),
        };
        for index in &mut table.indexes {
            if index
                .conditions
                .iter()
                .all(|condition| condition.holds(value(condition.column)))
            {
                let key = index.columns.iter().map(|column| value(*column));
                let key = key.chain([ValueRef::Integer(rowid)]);
                self.held += index.keys.add(key);
            }
        }
        match self.held > HELD_BYTES {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// Writes the keys of the index with the most memory to the temporary file.
    fn spill(&mut self) -> Result<()> {
        let indexes = self
            .tables
            .iter_mut()
            .flat_map(|filling| &mut filling.table.indexes);
        if let Some(index) = indexes.max_by_key(|index| index.keys.held()) {
            self.held -= index.keys.held();
            index.keys.spill(&mut self.spill)?;
        }
        Ok(())
    }

    /// Writes the rest of the tables and the indexes, with this many threads. This completes the database file.
    pub fn finish(mut self, threads: usize) -> Result<()> {
        let mut indexes = Vec::new();
        for Filling {
            table,
            tree,
            last_rowid,
        } in self.tables
        {
            if last_rowid.is_some() {
                tree.finish(&mut self.file, table.root)?;
                indexes.extend(table.indexes);
            }
        }
        // Take the largest index first, so that no thread starts it last.
        indexes.sort_by_key(|index| index.keys.size());
        let indexes = Mutex::new(indexes);
        let (file, spill) = (Mutex::new(self.file), self.spill);
        let work = || -> Result<()> {
            loop {
                let Some(index) = indexes.lock().expect(NO_PANIC).pop() else {
                    return Ok(());
                };
                if let Err(error) = write_index(index, &file, &spill) {
                    indexes.lock().expect(NO_PANIC).clear();
                    return Err(error);
                }
            }
        };
        std::thread::scope(|scope| {
            // This thread is one of them. If the system refuses more threads, fewer are used.
            let others: Vec<_> = (1..threads)
                .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok())
                .collect();
            let mut results = vec![work()];
            results.extend(others.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            results.into_iter().collect::<Result<()>>()
        })?;
        file.into_inner().expect(NO_PANIC).finish()?;
        Ok(())
    }
}

/// Why a lock is not poisoned.
const NO_PANIC: &str = "no thread panics while it holds it";

/// The value that SQLite stores in a column for a value of a compatible type.
fn converted(value: ValueRef<'_>, kind: Kind) -> ValueRef<'_> {
    match value {
        ValueRef::Integer(integer) if kind == Kind::Real => ValueRef::Real(integer as f64),
        ValueRef::Real(real) if real.is_nan() => ValueRef::Null,
        _ => value,
    }
}

fn write_index(index: Index, file: &Mutex<PageFile>, spill: &Spill) -> Result<()> {
    let mut tree = IndexTree::new();
    let mut reader = KeyReader::default();
    let mut previous = Vec::new();
    let (count, is_unique) = (index.columns.len(), index.is_unique);
    let mut has_duplicate = false;
    index.keys.merge(spill, |key| {
        let (record, values) = reader.record(key, count);
        if is_unique {
            has_duplicate |= values.is_some_and(|values| previous == values);
            previous.clear();
            previous.extend_from_slice(values.unwrap_or_default());
        }
        tree.add(file, record)
    })?;
    tree.finish(file, index.root)?;
    match has_duplicate {
        true => Err(Error::Refused(format!(
            "two rows have the same key in {}",
            index.name
        ))),
        false => Ok(()),
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(reason) => f.write_str(reason),
            Error::Io(error) => write!(f, "{error}"),
            Error::Sqlite(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Io(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Sqlite(error)
    }
}

/// Fills a buffer from an offset.
#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Fills a buffer from an offset.
#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                bytes = &mut bytes[count..];
                offset += count as u64;
            }
        }
    }
    Ok(())
}

/// Writes bytes at an offset.
#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes bytes at an offset.
#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        bytes = &bytes[count..];
        offset += count as u64;
    }
    Ok(())
}
