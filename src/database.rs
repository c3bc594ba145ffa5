//! The database: create it or refuse it, write rows, keep references and views true.
//!
//! **Locking.** One sync at a time holds an OS lock on `<database>.lock`; readers need none, the journal is WAL.
//! **Compatibility.** `application_id` says that a file is ours, `user_version` which schema it has.
//! **Transactions.** A chunk of a file, the rows of its lines and the file's new offset are one transaction, and
//! whatever depends on them is resolved before it commits: readers never see a half of anything.

mod copies;
mod functions;
pub mod hash;
mod insert;
mod load;
mod tool_uses;

use crate::error::{Error, Result};
use crate::format::Answer;
use rusqlite::{Connection, OpenFlags};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use functions::priced_model;
pub use insert::Inserter;
pub use load::{Batch, Counts, FileVersion, Loader};

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// The statements of the loader and of the commands, by the names of their files.
pub(crate) use embedded::statements;

/// The tables and indexes: the document of the schema.
pub const SCHEMA: &str = include_str!("../sql/schema.sql");

/// The prices that ship with the program.
const PRICES: &str = include_str!("../sql/model_prices.sql");

/// Texts that say nothing, and beginnings that correct.
const WORDS: &str = include_str!("../sql/words.sql");

/// The views, by file name.
pub const VIEWS: &[(&str, &str)] = embedded::VIEWS;

/// The questions that ship with the program, by file name.
pub const QUERIES: &[(&str, &str)] = embedded::QUERIES;

/// Statements that return no rows if all is well, by file name.
pub const CHECKS: &[(&str, &str)] = embedded::CHECKS;

/// The invented home, by path.
pub const DEMO_HOME: &[(&str, &[u8])] = embedded::DEMO_HOME;

/// Says that a SQLite file is a cc-etl database: "ccET".
const APPLICATION_ID: i32 = 0x6363_4554;

/// The version of the schema that this program reads and writes.
pub const SCHEMA_VERSION: i32 = 1;

/// The lock that one sync at a time holds; it is let go when this is dropped.
pub struct Lock {
    _file: File,
}

/// Takes the lock beside a database.
pub fn lock(database: &Path) -> Result<Lock> {
    let path = beside(database, ".lock");
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        create_private_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    private(&mut options);
    let file = options.open(&path).map_err(Error::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(path)),
        Err(TryLockError::Error(error)) => Err(Error::Io(path, error)),
    }
}

/// A path beside the database: its name with something behind.
pub fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates a folder that only its owner can enter, with the folders above it.
fn create_private_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(Error::io(folder))
}

/// Makes the file that is opened readable by its owner only, whatever the umask.
pub fn private(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Indexes that the loader needs when another line takes the place of a message. Their keys arrive in order, so they
/// cost little while rows are written; without them every such line would read whole tables.
const NEEDED_BY_LOADER: &[&str] = &[
    "message_copies_by_message",
    "task_notifications_by_message",
    "tool_results_by_message",
    "tool_use_copies_by_tool_use",
    "tool_uses_by_block",
    "tool_uses_by_message",
    "usage_lines_by_message",
];

/// Indexes that few rows are in: cheaper kept up than built, which reads all of the table.
const SPARSE: &[&str] = &[
    "messages_by_fork",
    "messages_by_logical_parent",
    "messages_by_plan",
    "messages_of_inline_agents",
    "messages_with_errors",
    "messages_with_logical_parent",
    "messages_with_session_kind",
    "messages_with_team",
];

/// Tables whose indexed columns sql/resolve fills: their indexes are built behind it.
const FILLED_BY_RESOLVE: &[&str] = &["agents", "api_responses", "file_changes", "sessions"];

/// When a statement of the schema is run for a new database: indexes are quicker to build when their rows are in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Before any rows.
    Empty,
    /// With the rows of all lines, before what depends on several lines is resolved.
    Loaded,
    /// At the end.
    Resolved,
}

/// Creates a database that does not exist yet, with its tables; the later [`Stage`]s are to follow. Nothing is safe until
/// [`finish_new`].
pub fn create(path: &Path) -> Result<Connection> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    options.open(path).map_err(Error::io(path))?;
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Long texts fill their last page by half: smaller pages waste less, and the smallest are slower.
    connection.pragma_update(None, "page_size", 8192)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    // What is sorted for an index grows with the database, and memory shall not.
    connection.pragma_update(None, "temp_store", "file")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    create_stage(&connection, Stage::Empty)?;
    Ok(connection)
}

/// Makes a new database whole: references checked, journal in place, everything on disk.
pub fn finish_new(connection: Connection, path: &Path) -> Result<()> {
    let violations = foreign_key_violations(&connection)?;
    if violations > 0 {
        let message = format!("{violations} references lead nowhere in the new database");
        return Err(Error::CheckFailed(message));
    }
    connection.pragma_update(None, "locking_mode", "normal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.close().map_err(|(_, error)| error)?;
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(Error::io(path))
}

/// Closes a database that was written: what is in the journal goes into the file, so that a plain copy of it is whole.
pub fn close(connection: Connection) -> Result<()> {
    // A reader that holds an old state keeps the journal in use; then it stays, and nothing is lost.
    connection.busy_timeout(Duration::from_secs(2))?;
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error.into())
}

/// Creates what belongs to a stage of a new database.
pub fn create_stage(connection: &Connection, wanted: Stage) -> Result<()> {
    for statement in schema_statements().filter(|statement| stage(statement) == wanted) {
        connection.execute_batch(statement)?;
    }
    Ok(())
}

/// Rows whose declared reference has no target.
pub fn foreign_key_violations(connection: &Connection) -> Result<usize> {
    let mut statement = connection.prepare("pragma foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Opens a database for writing.
pub fn open(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    identify(&connection, path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    Ok(connection)
}

/// Opens a database for reading.
pub fn open_read_only(path: &Path) -> Result<Connection> {
    if !path.exists() {
        let message = format!(
            "there is no database {}; cc-etl sync makes one",
            path.display()
        );
        return Err(Error::NoSource(message));
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    identify(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    configure(&connection).map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => not_ours(path),
        _ => error.into(),
    })?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(30))?;
    // A small cache stays in the processor's: measured faster than a large one.
    connection.pragma_update(None, "cache_size", -16384)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.set_prepared_statement_cache_capacity(128);
    functions::register(connection)
}

/// Refuses a file that is not ours, and one that a newer program wrote.
fn identify(connection: &Connection, path: &Path) -> Result<()> {
    let application_id: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application_id != APPLICATION_ID {
        return Err(not_ours(path));
    }
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version > SCHEMA_VERSION {
        return Err(Error::Unusable(format!(
            "{} has schema {version}, this cc-etl knows schemas up to {SCHEMA_VERSION}; install a newer cc-etl",
            path.display()
        )));
    }
    Ok(())
}

fn not_ours(path: &Path) -> Error {
    let path = path.display();
    Error::Unusable(format!(
        "{path} is not a cc-etl database; name another with --db FILE"
    ))
}

/// The statements of the schema.
fn schema_statements() -> impl Iterator<Item = &'static str> {
    SCHEMA
        .split_inclusive(";\n")
        .filter(|statement| statement.contains("create "))
}

/// When a statement is run.
fn stage(statement: &str) -> Stage {
    let index = statement
        .lines()
        .find_map(|line| line.strip_prefix("create index "));
    let Some((name, table)) = index.and_then(|rest| rest.split_once(" on ")) else {
        return Stage::Empty;
    };
    let table = table.split(' ').next().unwrap_or_default();
    if NEEDED_BY_LOADER.contains(&name) || SPARSE.contains(&name) {
        Stage::Empty
    } else if FILLED_BY_RESOLVE.contains(&table) || name == "tool_uses_by_result" {
        Stage::Resolved
    } else {
        Stage::Loaded
    }
}

/// Puts the views of this program in place of those that the database has. Those that are the same are left alone, so
/// that a sync with nothing new writes nothing.
pub fn refresh_views(connection: &Connection) -> Result<()> {
    let mut statement =
        connection.prepare("select name, sql from sqlite_schema where type = 'view'")?;
    let present = statement
        .query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let wanted: Vec<(&str, &str)> = VIEWS
        .iter()
        .map(|(file, sql)| {
            (
                file.trim_end_matches(".sql"),
                sql.trim_end().trim_end_matches(';'),
            )
        })
        .collect();
    for (name, sql) in &present {
        if !wanted
            .iter()
            .any(|(other, text)| other == name && text.eq_ignore_ascii_case(sql))
        {
            connection.execute_batch(&format!("drop view \"{}\"", name.replace('"', "\"\"")))?;
        }
    }
    for (name, sql) in wanted {
        if !present
            .iter()
            .any(|(other, text)| other == name && sql.eq_ignore_ascii_case(text))
        {
            connection.execute_batch(sql)?;
        }
    }
    Ok(())
}

/// Puts the prices of this program in place of those that the database has.
pub fn refresh_prices(connection: &Connection) -> Result<()> {
    connection.execute_batch(statements::CREATE_BUILTIN_PRICES)?;
    connection.execute_batch(PRICES)?;
    connection.execute_batch(statements::REFRESH_BUILTIN_PRICES)?;
    Ok(())
}

/// Adds the words of this program to those that the database has.
pub fn refresh_words(connection: &Connection) -> Result<()> {
    connection.execute_batch(WORDS)?;
    Ok(())
}

/// A database in memory with nothing but the prices of this program.
pub fn open_with_prices_only() -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    refresh_prices(&connection)?;
    Ok(connection)
}

/// The session whose id begins so; an error if there is none, or more than one.
pub fn session_by_beginning(connection: &Connection, beginning: &str) -> Result<String> {
    let mut statement = connection.prepare(statements::FIND_SESSIONS)?;
    let matching = statement
        .query_map([beginning], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    match matching.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(Error::Usage(format!("no session begins with {beginning}"))),
        [first, second, ..] => Err(Error::Usage(format!(
            "{beginning} names more than one session, among them {first} and {second}"
        ))),
    }
}

/// What a statement without parameters returns.
pub fn answer(connection: &Connection, statement: &str) -> Result<Answer> {
    let mut statement = connection.prepare(statement)?;
    let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
    let count = columns.len();
    let rows = statement.query_map([], |row| (0..count).map(|column| row.get(column)).collect())?;
    let rows = rows.collect::<rusqlite::Result<_>>()?;
    Ok(Answer { columns, rows })
}

/// Resolves what depends on more than one line, for everything that was touched since the last time.
fn resolve(connection: &Connection) -> Result<()> {
    for (name, script) in embedded::RESOLVE {
        connection.execute_batch(script).map_err(|error| {
            debug_assert!(false, "{name}: {error}");
            error
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_message_of_a_new_database_reads_no_whole_table() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        create_stage(&connection, Stage::Empty).unwrap();
        connection
            .execute_batch(statements::CREATE_TOUCHED)
            .unwrap();
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
                    && !step.contains("indexed_blocks")
            };
            assert_eq!(steps.iter().find(is_scan), None, "{statement}");
        }
    }
}
