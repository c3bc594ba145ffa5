//! Rows -> a new SQLite file, without SQLite.
//!
//! A new database is filled by writing the pages of its tables and indexes one behind the other: several times quicker than
//! one statement per row, and indexes can be built side by side. SQLite makes the file with its empty tables, is closed,
//! and opens it again when all rows are in; then everything is as if it had written them itself (`pragma integrity_check`,
//! and the same content hash, in the tests). Which columns and indexes a table has is read from the schema.

mod pages;
mod records;
mod sorter;

use crate::database::folder_of;
use crate::error::{Error, Result};
use crate::pipeline::Pipeline;
use crate::rows::{Insert, ROW_TABLES, Row};
use foldhash::HashMap;
use pages::{IndexTree, PageFile, TableTree};
use records::{KeyReader, Record};
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sorter::{Sorter, Spill};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use pages::PAGE_BYTES;

/// A new database whose tables are being filled.
pub struct SqliteFile {
    path: PathBuf,
    file: PageFile,
    spill: Spill,
    tables: Vec<Table>,
    /// Places among these of the tables that rows are of, once they were looked for.
    places: [Option<usize>; ROW_TABLES],
    /// Bytes of keys in memory.
    held: usize,
    record: Record,
}

/// So many bytes of keys are in memory at most.
const HELD_BYTES: usize = 8 << 20;

/// A table, and what has been written of it.
struct Table {
    name: String,
    root: u32,
    columns: Vec<Column>,
    indexes: Vec<Index>,
    /// How its rows are written; found with the first of them.
    layout: Option<Layout>,
    tree: TableTree,
    last_rowid: i64,
}

/// A column of a table.
struct Column {
    name: String,
    /// Whether it is another name for the rowid.
    is_rowid: bool,
}

/// Where the columns of a table stand among those of the rows that are written.
struct Layout {
    sources: Vec<Source>,
    /// Where the rowid stands, if the rows have it.
    key: Option<usize>,
}

/// Where the value of a column comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Value(usize),
    Null,
    Rowid,
}

/// An index, and the keys it has so far.
struct Index {
    name: String,
    root: u32,
    /// By their numbers in the table.
    columns: Vec<usize>,
    conditions: Vec<Condition>,
    is_unique: bool,
    keys: Sorter,
}

/// What a row must be to stand in an index.
struct Condition {
    column: usize,
    test: Test,
}

enum Test {
    Null,
    NotNull,
    Integer(i64),
    Text(String),
}

impl SqliteFile {
    /// Takes a new database from SQLite, to fill those of its tables that are empty.
    pub fn new(connection: Connection, path: &Path) -> Result<SqliteFile> {
        let tables = read_schema(&connection)?;
        connection.close().map_err(|(_, error)| error)?;
        let file = OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(Error::io(path))?;
        let bytes = file.metadata().map_err(Error::io(path))?.len();
        let pages = u32::try_from(bytes / PAGE_BYTES as u64).expect("a new file is small");
        let folder = folder_of(path);
        let spill = tempfile::tempfile_in(folder).map_err(Error::io(folder))?;
        Ok(SqliteFile {
            path: path.to_path_buf(),
            file: PageFile::new(file, pages),
            spill: Spill::new(spill),
            places: [None; ROW_TABLES],
            tables,
            held: 0,
            record: Record::default(),
        })
    }

    /// Adds a row to the table at a place. Without a key of its own it gets the next one.
    fn add(&mut self, place: usize, columns: &[&str], values: &[ValueRef<'_>]) -> io::Result<()> {
        let table = &mut self.tables[place];
        let layout = table
            .layout
            .get_or_insert_with(|| Layout::new(&table.columns, columns));
        let Layout { sources, key } = layout;
        let rowid = match key.map(|key| values[key]) {
            Some(ValueRef::Integer(rowid)) => rowid,
            _ => table.last_rowid + 1,
        };
        table.last_rowid = rowid;
        let stored = |source: &Source| match source {
            Source::Value(index) => values[*index],
            // A column that is the rowid is not stored a second time.
            Source::Null | Source::Rowid => ValueRef::Null,
        };
        let length = self.record.fill(sources.iter().map(stored));
        table.tree.add(&mut self.file, rowid, length, |payload| {
            let value = |number: usize| stored(&sources[number]);
            self.record.write(value, |bytes| payload.write(bytes));
        })?;
        let value = |column: usize| match sources[column] {
            Source::Value(index) => values[index],
            Source::Null => ValueRef::Null,
            Source::Rowid => ValueRef::Integer(rowid),
        };
        for index in &mut table.indexes {
            if index
                .conditions
                .iter()
                .all(|condition| condition.holds(value))
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

    /// Lets go of the keys of the index that has most in memory.
    fn spill(&mut self) -> io::Result<()> {
        let indexes = self.tables.iter_mut().flat_map(|table| &mut table.indexes);
        if let Some(index) = indexes.max_by_key(|index| index.keys.held()) {
            self.held -= index.keys.held();
            index.keys.spill(&mut self.spill)?;
        }
        Ok(())
    }

    /// Writes what is left of the tables, and the indexes. Then the file is a database again.
    pub fn finish(mut self, pipeline: &Pipeline) -> Result<()> {
        let path = self.path;
        let mut indexes = Vec::new();
        for table in self.tables {
            if table.last_rowid == 0 {
                continue;
            }
            table
                .tree
                .finish(&mut self.file, table.root)
                .map_err(Error::io(&path))?;
            indexes.extend(table.indexes);
        }
        // The longest first, so that no thread is left with it at the end.
        indexes.sort_by_key(|index| std::cmp::Reverse(index.keys.size()));
        let (file, spill) = (Mutex::new(self.file), self.spill);
        pipeline.for_each(indexes, |index| index.write(&file, &spill, &path))?;
        let file = file.into_inner().expect("nobody panics with it");
        file.finish().map_err(Error::io(&path))
    }
}

/// Where a table of the schema stands.
fn place(tables: &[Table], name: &str) -> usize {
    let mut tables = tables.iter();
    let place = tables.position(|table| table.name == name);
    place.expect("a table of the schema")
}

impl Insert for SqliteFile {
    fn insert<R: Row>(&mut self, row: &R) -> Result<()> {
        let place = *self.places[R::NUMBER].get_or_insert_with(|| place(&self.tables, R::TABLE));
        let added = row.with_values(|values| self.add(place, R::COLUMNS, values));
        added.map_err(|error| Error::io(&self.path)(error))
    }
}

impl Index {
    fn write(self, file: &Mutex<PageFile>, spill: &Spill, path: &Path) -> Result<()> {
        let mut tree = IndexTree::new();
        let mut reader = KeyReader::default();
        let mut previous = Vec::new();
        let (count, is_unique) = (self.columns.len(), self.is_unique);
        let mut is_twice = false;
        let merged = self.keys.merge(spill, |key| {
            let (record, values) = reader.record(key, count);
            if is_unique {
                is_twice |= values.is_some_and(|values| previous == values);
                previous.clear();
                previous.extend_from_slice(values.unwrap_or_default());
            }
            tree.add(file, record)
        });
        merged
            .and_then(|()| tree.finish(file, self.root))
            .map_err(Error::io(path))?;
        match is_twice {
            true => Err(Error::CheckFailed(format!(
                "two rows have the same key in {}, so nothing was written; please report this",
                self.name
            ))),
            false => Ok(()),
        }
    }
}

impl Condition {
    fn holds<'a>(&self, value: impl Fn(usize) -> ValueRef<'a>) -> bool {
        let value = value(self.column);
        match &self.test {
            Test::Null => value == ValueRef::Null,
            Test::NotNull => value != ValueRef::Null,
            Test::Integer(number) => value == ValueRef::Integer(*number),
            Test::Text(text) => value == ValueRef::Text(text.as_bytes()),
        }
    }
}

impl Layout {
    fn new(columns: &[Column], of_row: &[&str]) -> Layout {
        let place = |column: &Column| of_row.iter().position(|name| *name == column.name);
        let source = |column: &Column| match place(column) {
            _ if column.is_rowid => Source::Rowid,
            Some(index) => Source::Value(index),
            None => Source::Null,
        };
        Layout {
            sources: columns.iter().map(source).collect(),
            key: columns
                .iter()
                .find(|column| column.is_rowid)
                .and_then(place),
        }
    }
}

/// What the schema says of a table or an index: its root, and how an index was made if not by its table.
type Made = (u32, Option<String>);

/// The tables of a database with their indexes.
fn read_schema(connection: &Connection) -> Result<Vec<Table>> {
    let made = |kind: &str| {
        let mut statement = connection.prepare_cached(
            "select name, rootpage, sql from sqlite_schema where type = ?1 and rootpage > 0",
        )?;
        statement
            .query_map([kind], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?
            .collect::<rusqlite::Result<HashMap<String, Made>>>()
    };
    let indexes = made("index")?;
    let mut tables = Vec::new();
    for (name, (root, _)) in made("table")? {
        let columns = read_columns(connection, &name)?;
        tables.push(Table {
            root,
            indexes: read_indexes(connection, &name, &columns, &indexes)?,
            columns,
            name,
            layout: None,
            tree: TableTree::new(),
            last_rowid: 0,
        });
    }
    Ok(tables)
}

fn read_columns(connection: &Connection, table: &str) -> Result<Vec<Column>> {
    let mut statement = connection
        .prepare_cached("select name, type, pk from pragma_table_info(?1) order by cid")?;
    let columns = statement.query_map([table], |row| {
        let (kind, key): (String, i64) = (row.get(1)?, row.get(2)?);
        Ok(Column {
            name: row.get(0)?,
            is_rowid: key == 1 && kind.eq_ignore_ascii_case("integer"),
        })
    })?;
    Ok(columns.collect::<rusqlite::Result<_>>()?)
}

fn read_indexes(
    connection: &Connection,
    table: &str,
    columns: &[Column],
    made: &HashMap<String, Made>,
) -> Result<Vec<Index>> {
    let mut statement =
        connection.prepare_cached("select name, \"unique\" from pragma_index_list(?1)")?;
    let mut find_columns =
        connection.prepare_cached("select cid from pragma_index_info(?1) order by seqno")?;
    let mut rows = statement.query([table])?;
    let mut indexes = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let Some((root, sql)) = made.get(&name) else {
            continue;
        };
        let condition = sql.as_deref().and_then(|sql| sql.split_once(" where "));
        indexes.push(Index {
            columns: find_columns
                .query_map([&name], |row| Ok(row.get::<_, u32>(0)? as usize))?
                .collect::<rusqlite::Result<_>>()?,
            name,
            root: *root,
            conditions: condition.map_or(Vec::new(), |(_, text)| conditions(text, columns)),
            is_unique: row.get(1)?,
            keys: Sorter::default(),
        });
    }
    Ok(indexes)
}

/// The conditions of a partial index, in the few forms that the schema has.
fn conditions(text: &str, columns: &[Column]) -> Vec<Condition> {
    let condition = |text: &str| {
        let (name, test) = text.split_once(' ')?;
        Some(Condition {
            column: columns.iter().position(|column| column.name == name)?,
            test: match test.strip_prefix("= ") {
                None if test == "is null" => Test::Null,
                None if test == "is not null" => Test::NotNull,
                None => return None,
                Some(value) => match value.parse() {
                    Ok(number) => Test::Integer(number),
                    Err(_) => Test::Text(value.strip_prefix('\'')?.strip_suffix('\'')?.into()),
                },
            },
        })
    };
    text.split(" and ")
        .map(|text| condition(text.trim()).expect("a condition of a form that is known"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::rows::{ContentBlock, Event, Message};

    fn text(length: usize, seed: i64) -> String {
        (0..length)
            .map(|place| char::from(b'a' + ((place as i64 * 7 + seed) % 26) as u8))
            .collect()
    }

    /// Rows of all lengths, in tables with indexes of every kind.
    fn fill(target: &mut impl Insert, count: i64) {
        for id in 1..=count {
            let message = Message {
                message_id: id * 3,
                uuid: format!("{:08}", id * 7_919 % 1_000_003).into(),
                session_id: (id % 5 > 0).then(|| format!("session {}", id % 17).into()),
                prompt_kind: (id % 3 == 0).then_some("human"),
                content_hash: [id as u8; 16],
                is_api_error: Some(id % 11 == 0),
                is_sidechain: Some(id % 2 == 0),
                duration_ms: Some((id - 50) << (id % 50)),
                extra_json: Some(text((id * id % 9000) as usize, id).into()),
                ..Message::default()
            };
            target.insert(&message).unwrap();
            let block = ContentBlock {
                block_id: id,
                message_id: message.message_id,
                // What fits into a cell, what just does not, and what goes on for many pages.
                text: Some(text((8000 + id % 300 + id % 7 * 10_000) as usize, id).into()),
                ..ContentBlock::default()
            };
            target.insert(&block).unwrap();
            let event = Event {
                event_id: id,
                byte_offset: id,
                // An index has no more than a quarter of a page of a key in its own pages.
                message_uuid: Some(text((id * 37 % 5000) as usize, id).into()),
                ..Event::default()
            };
            target.insert(&event).unwrap();
        }
    }

    fn dump(connection: &Connection) -> Vec<String> {
        let mut found = Vec::new();
        for query in [
            "select * from messages order by message_id",
            "select * from content_blocks order by block_id",
            "select * from events order by event_id",
            "select uuid from messages indexed by messages_by_uuid order by uuid",
            "select session_id, sent_at, message_id from messages indexed by messages_by_session order by 1, 2, 3",
            "select message_uuid from events indexed by events_by_message where message_uuid is not null order by 1",
            "select message_id from messages indexed by messages_with_errors where is_api_error = 1",
        ] {
            let answer = database::answer(connection, query).unwrap();
            found.push(format!("{query}: {:?}", answer.rows));
        }
        found
    }

    #[test]
    fn sqlite_finds_what_was_written_without_it() {
        for count in [1, 2, 40, 900] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("pages.db");
            let mut file = SqliteFile::new(database::create(&path).unwrap(), &path).unwrap();
            fill(&mut file, count);
            file.finish(&Pipeline::new(Some(2))).unwrap();
            let pages = database::open_new(&path).unwrap();
            let verdict: String = pages
                .query_row("pragma integrity_check", [], |row| row.get(0))
                .unwrap();
            assert_eq!(verdict, "ok");

            let path = folder.path().join("statements.db");
            let statements = database::create(&path).unwrap();
            fill(&mut &database::Inserter::new(&statements), count);
            assert!(dump(&pages) == dump(&statements));
        }
    }

    #[test]
    fn two_rows_with_one_key_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut file = SqliteFile::new(database::create(&path).unwrap(), &path).unwrap();
        for message_id in [1, 2] {
            let message = Message {
                message_id,
                uuid: "one".into(),
                ..Message::default()
            };
            file.insert(&message).unwrap();
        }
        let error = file.finish(&Pipeline::new(Some(1))).unwrap_err();
        assert!(error.to_string().contains("messages_by_uuid"), "{error}");
    }
}
