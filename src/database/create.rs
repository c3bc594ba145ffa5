//! Creates a new database: each index when that is cheapest, and the checks before the file is renamed to its target.

use super::files::{open_private, sync_file, with_suffix};
use super::refresh::refresh_views;
use super::schema::{self, Kind, Statement};
use super::{
    APPLICATION_ID, CACHE_KIB, SCHEMA_VERSION, VIEWS, connect, open_older, query_rows, statements,
};
use crate::error::{Error, Result};
use crate::rows::ROW_TABLES;
use crate::sqlite_bulk::{self, PAGE_BYTES};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use std::collections::HashSet;
use std::fs::OpenOptions;
use std::path::Path;

/// Indexes that the loader uses when another line replaces a message; without them each replacement would scan tables. Keys
/// arrive in order, so that they are cheap to maintain.
const NEEDED_BY_LOADER: &[&str] = &[
    "message_copies_by_message",
    "task_notifications_by_message",
    "tool_results_by_message",
    "tool_use_copies_by_tool_use",
    "tool_uses_by_block",
    "tool_uses_by_message",
    "usage_lines_by_message",
];

/// Partial indexes of few rows. To maintain them is cheaper than to build them, which scans the table.
const SPARSE: &[&str] = &[
    "content_blocks_beside_results",
    "messages_by_fork",
    "messages_by_logical_parent",
    "messages_by_plan",
    "messages_of_inline_agents",
    "messages_of_teams",
    "messages_with_errors",
    "messages_with_logical_parent",
    "messages_with_mode",
    "messages_with_session_kind",
    "messages_with_team",
    "tool_results_stopped",
    "tool_results_with_mark",
    "tool_results_with_reason",
    "tool_results_with_reply",
    "tool_results_without_call",
    "tool_uses_with_changes",
];

/// Tables whose indexed columns `sql/derive` fills, so that their indexes are built after it.
const FILLED_BY_RESOLVE: &[&str] = &["agents", "queue_entries", "sessions"];

/// When a statement of the schema runs in a new database. An index is cheaper to build after its rows are inserted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before any rows are inserted.
    Empty,
    /// After the rows of all lines are inserted, before `sql/derive`.
    Loaded,
    /// At the end.
    Resolved,
}

/// Creates a database file with its tables and the indexes that [`sqlite_bulk`] can fill. Nothing is
/// durable until [`finish_new`].
pub fn create(path: &Path) -> Result<Connection> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    open_private(path, &mut options).map_err(Error::io(path))?;
    let connection = open_new(path)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    create_stage(&connection, Stage::Empty)?;
    create_stage(&connection, Stage::Loaded)?;
    // An index that cannot be filled page by page is created when the rows are in.
    let tables: Vec<&str> = ROW_TABLES.iter().map(|(table, _)| *table).collect();
    let unsupported = sqlite_bulk::unsupported_indexes(&connection, &tables);
    for index in unsupported.map_err(Error::bulk(path))? {
        connection.execute_batch(&format!("drop index {index}"))?;
    }
    connection.execute_batch(statements::ENLARGE_SEARCH_BUFFER)?;
    // The statements of the loader read the view _search_texts.
    refresh_views(&connection, VIEWS)?;
    Ok(connection)
}

/// Opens a database that is being created, without a journal.
pub fn open_new(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // The last overflow page of a string is half empty on average: smaller pages waste less space, very small ones are slower.
    connection.pragma_update(None, "page_size", PAGE_BYTES as i64)?;
    // Background readers have caches too. A smaller cache is not slower, and bounds the memory of all.
    connection.pragma_update(None, "cache_size", CACHE_KIB / 2)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    // For `in (...)` constraints SQLite builds a table of the values for every row. `cc-etl check` verifies the rows.
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    // The sorter of an index grows with the database; keep it out of memory.
    connection.pragma_update(None, "temp_store", "file")?;
    Ok(connection)
}

/// Reopens a new database to fill it with statements, in transactions. Nothing is durable until [`finish_new`].
pub fn open_for_statements(created: Connection, path: &Path) -> Result<Connection> {
    created.close().map_err(|(_, error)| error)?;
    let connection = open_older(path)?;
    connection.pragma_update(None, "synchronous", "off")?;
    Ok(connection)
}

/// Switches a new database to WAL mode, closes it and syncs it to disk. Its references must have been checked.
pub fn finish_new(connection: Connection, path: &Path) -> Result<()> {
    connection.pragma_update(None, "locking_mode", "normal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let is_in_use = mode == "wal";
    // The pragma returns the new mode before it can fail, so read all of its rows.
    let modes = query_rows(&connection, "pragma journal_mode = wal")?;
    if modes.rows != [[Value::Text("wal".to_string())]] {
        let message = "cannot create a write-ahead log; the database must be on a local disk";
        return Err(Error::Io(
            path.to_path_buf(),
            std::io::Error::other(message),
        ));
    }
    // Only the database file is renamed, so the log must be empty. Closing a connection does not report a failed checkpoint.
    let is_busy = is_in_use
        && connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    let wal = with_suffix(path, "-wal");
    if is_busy || std::fs::metadata(&wal).is_ok_and(|wal| wal.len() > 0) {
        let error = std::io::Error::other("cannot checkpoint the write-ahead log");
        return Err(Error::Io(wal, error));
    }
    sync_file(path)
}

/// Fails if a foreign key has no row, like `pragma foreign_key_check`, but faster. Each distinct value is looked up once, in
/// the order of the index. For integer keys without gaps it compares the smallest and the largest value. If many rows refer
/// to a table, it reads all keys from the table's smallest index instead of a page per lookup.
pub(crate) fn check_references(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare(statements::REFERENCES)?;
    let references = statement.query_map([], |row| {
        let [table, column, parent, key]: [String; 4] =
            [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        let values = format!("{table} where {column} is not null");
        let least_key = format!("(select min({key}) from {parent})");
        let greatest_key = format!("(select max({key}) from {parent})");
        let key_count = format!("(select count(*) from {parent})");
        let missing = |keys: &str| {
            format!(
                "(select count(*) from (select distinct {column} from {values})
                where {column} not in (select {keys} from {parent}))"
            )
        };
        Ok(format!(
            "select case
                when not exists (select 1 from {values}) then 0
                when typeof({greatest_key}) = 'integer'
                    and {key_count} = {greatest_key} - {least_key} + 1
                    and (select min({column}) from {values}) >= {least_key}
                    and (select max({column}) from {values}) <= {greatest_key}
                    then 0
                when typeof({greatest_key}) = 'integer' and (select count(*) from {values}) > {key_count} / 2 then {}
                else {}
            end",
            missing(&format!("+{key}")),
            missing(&key),
        ))
    })?;
    for reference in references {
        let count: i64 = connection.query_row(&reference?, [], |row| row.get(0))?;
        if count > 0 {
            return Err(Error::CheckFailed(format!(
                "internal error: {count} foreign keys have no row, so nothing was changed; please report it"
            )));
        }
    }
    Ok(())
}

/// Creates the tables and indexes of a stage that do not exist yet.
pub(crate) fn create_stage(connection: &Connection, wanted: Stage) -> Result<()> {
    let present = names(connection)?;
    for statement in schema::statements().filter(|statement| stage(statement) == wanted) {
        if !present.contains(statement.name) {
            connection.execute_batch(statement.sql)?;
        }
    }
    Ok(())
}

/// The names of all tables, indexes and views of a database.
pub(crate) fn names(connection: &Connection) -> Result<HashSet<String>> {
    let mut statement = connection.prepare("select name from sqlite_schema")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Creates an index of the schema, if it does not exist yet.
pub(crate) fn create_index(connection: &Connection, name: &str) -> Result<()> {
    let mut find = connection.prepare("select 1 from sqlite_schema where name = ?1")?;
    if !find.exists([name])? {
        let mut statements = schema::statements();
        let statement = statements.find(|statement| statement.name == name);
        connection.execute_batch(statement.expect("an index of the schema").sql)?;
    }
    Ok(())
}

fn stage(statement: &Statement) -> Stage {
    if statement.kind != Kind::Index
        || NEEDED_BY_LOADER.contains(&statement.name)
        || SPARSE.contains(&statement.name)
    {
        Stage::Empty
    } else if FILLED_BY_RESOLVE.contains(&statement.table) {
        Stage::Resolved
    } else {
        Stage::Loaded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_and_tables_that_are_named_here_exist() {
        let is_index = |name: &&str| {
            schema::statements().any(|other| other.kind == Kind::Index && other.name == *name)
        };
        assert!(NEEDED_BY_LOADER.iter().chain(SPARSE).all(is_index));
        assert!(
            (FILLED_BY_RESOLVE.iter())
                .all(|name| schema::tables().any(|other| other.name == *name))
        );
    }

    #[test]
    fn invalid_references_are_those_that_sqlite_finds() {
        let without_gap = "insert into numbered values (3), (4), (5), (6), (7)";
        let with_gap = "insert into numbered values (3), (4), (6), (7)";
        let named = "insert into named values ('a'), ('c')";
        let children = |values: &str| format!("insert into children values {values}");
        for rows in [
            vec![],
            vec![children("(null, null)")],
            vec![children("(1, null)")],
            vec![children("(null, 'a')")],
            vec![
                without_gap.into(),
                children("(3, null), (7, null), (null, null)"),
            ],
            vec![without_gap.into(), children("(2, null), (7, null)")],
            vec![without_gap.into(), children("(3, null), (8, null)")],
            vec![with_gap.into(), children("(3, null), (6, null), (7, null)")],
            vec![with_gap.into(), children("(3, null), (5, null), (7, null)")],
            vec![with_gap.into(), children("(4, null)")],
            vec![with_gap.into(), children("(5, null)")],
            vec![
                named.into(),
                children("(null, 'c'), (null, 'a'), (null, 'a')"),
            ],
            vec![named.into(), children("(null, 'c'), (null, 'b')")],
        ] {
            let connection = Connection::open_in_memory().unwrap();
            let tables = "pragma foreign_keys = off;
                create table numbered (number integer primary key) strict;
                create table named (name text primary key) strict;
                create table children (
                    number integer references numbered (number), name text references named (name)
                ) strict";
            connection.execute_batch(tables).unwrap();
            rows.iter()
                .for_each(|rows| connection.execute_batch(rows).unwrap());
            let found = query_rows(&connection, "pragma foreign_key_check").unwrap();
            let checked = check_references(&connection);
            assert_eq!(checked.is_err(), !found.rows.is_empty(), "{rows:?}");
        }
    }

    #[test]
    fn replacing_a_message_of_a_new_database_scans_no_table() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        create_stage(&connection, Stage::Empty).unwrap();
        connection
            .execute_batch(statements::CREATE_TOUCHED)
            .unwrap();
        refresh_views(&connection, VIEWS).unwrap();
        for statement in [
            statements::DELETE_BLOCKS_OF_MESSAGE,
            statements::DELETE_COPIES,
            statements::DELETE_FILE_CHANGES_OF_MESSAGE,
            statements::DELETE_GIT_OPERATIONS_OF_MESSAGE,
            statements::DELETE_NOTIFICATIONS_OF_MESSAGE,
            statements::DELETE_TOOL_RESULTS_OF_MESSAGE,
            statements::DELETE_TOOL_USE_COPIES_OF_MESSAGE,
            statements::DELETE_TOOL_USES_OF_MESSAGE,
            statements::DELETE_WEB_REQUESTS_OF_MESSAGE,
            statements::FIND_COPIES,
            statements::FIND_MESSAGE,
            statements::FIND_RESULTS_OF_MESSAGE,
            statements::FIND_RIGHTFUL_BLOCK,
            statements::FIND_TOOL_USES_OF_MESSAGE,
            statements::INDEX_BLOCK,
            statements::TOUCH_RESPONSES_OF_MESSAGE,
            statements::UNINDEX_BLOCK,
            statements::UNINDEX_MESSAGE,
        ] {
            let mut plan = connection
                .prepare(&format!("explain query plan {statement}"))
                .unwrap();
            let steps = plan
                .query_map([0], |row| row.get::<_, String>(3))
                .unwrap()
                .collect::<rusqlite::Result<Vec<_>>>()
                .unwrap();
            let is_scan = |step: &&String| {
                step.starts_with("SCAN ")
                    && !step.contains("CONSTANT ROW")
                    // A view of one row.
                    && !step.contains("_limits")
                    // The JSON of one row.
                    && !step.contains("VIRTUAL TABLE")
                    && !step.contains("indexed_rows")
            };
            assert_eq!(steps.iter().find(is_scan), None, "{statement}");
        }
    }
}
