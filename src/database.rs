//! Opens, creates, upgrades and refreshes the database, and runs the scripts of `sql/derive`.
//!
//! **Locking.** Writers hold an OS lock on `<database>.lock`. Readers need no lock: the journal mode is WAL.
//! **Compatibility.** `application_id` identifies a cc-etl database, `user_version` is its schema version.
//! **Transactions.** A chunk of a file, the rows of its lines and the file's new offset are one transaction, and
//! everything that depends on them is derived before the commit: readers never see a partial state.
//!
//! | file                | what it does                                                                             |
//! |---------------------|------------------------------------------------------------------------------------------|
//! | `files`             | the lock, temporary files, permissions                                                   |
//! | `replacement`       | a file that is renamed when it is whole                                                  |
//! | `schema`            | the statements of `sql/schema.sql`                                                       |
//! | `create`            | creates a new database; checks its references                                            |
//! | `upgrade`           | replaces the tables of an older schema                                                   |
//! | `refresh`           | updates built-in prices, words and views                                                 |
//! | `insert`            | generates and runs insert statements                                                     |
//! | `derive`            | runs the scripts of `sql/derive`                                                         |
//! | `parallel`          | derives rollups of a new database in parallel with the writer                            |
//! | `functions`, `hash` | SQL functions; a hash of the content                                                     |

mod create;
pub(crate) mod derive;
mod files;
mod functions;
pub mod hash;
mod insert;
pub(crate) mod parallel;
pub(crate) mod refresh;
mod replacement;
pub mod schema;
pub mod upgrade;

use crate::error::{Error, Problem, Result};
use crate::format::QueryRows;
use crate::sqlite_bulk::PAGE_BYTES;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

pub(crate) use create::{Stage, check_references, create_index, create_stage};
pub use create::{create, finish_new, open_for_statements, open_new};
pub use files::{
    Lock, USED, Wait, create_private_folder, folder_of, lock, mark_as_used, open_private,
    recorded_sync, remove_leftovers, sync_file, sync_folder, with_suffix,
};
pub(crate) use functions::{lower_version, version_number};
pub use functions::{priced_model, regional_model};
pub use insert::Inserter;
pub use refresh::{derive_again, is_up_to_date, open_with_prices_only};
pub use replacement::Replacement;
pub use schema::SCHEMA;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/embedded.rs"));
}

/// The statements of `sql/statements`.
pub(crate) use embedded::statements;

/// The views, by name.
pub const VIEWS: &[(&str, &str)] = embedded::VIEWS;

/// The questions under `queries/`, by name.
pub const QUERIES: &[(&str, &str)] = embedded::QUERIES;

/// The findings of `cc-etl advise`: every `sql/advice/*.sql`, which returns the columns that the statement `rank_advice` names.
pub const ADVICE: &[(&str, &str)] = embedded::ADVICE;

/// Statements that return a row for each problem, by name.
pub const CHECKS: &[(&str, &str)] = embedded::CHECKS;

/// The data sets of `cc-etl export`, by name.
pub(crate) const EXPORT: &[(&str, &str)] = embedded::EXPORT;

/// The path of the demo home in a database.
pub const DEMO_ROOT: &str = "demo";

/// The files of the demo home, by path, compressed with zstd.
pub const DEMO_HOME: &[(&str, &[u8])] = embedded::DEMO_HOME;

/// Identifies a cc-etl database: "ccET".
const APPLICATION_ID: i32 = 0x6363_4554;

/// `cache_size`: negative values are KiB. A small cache fits into the CPU's, and was measured to be faster.
const CACHE_KIB: i32 = -16384;

pub const SCHEMA_VERSION: i32 = 7;

/// Checkpoints the write-ahead log and closes the database, so that a copy of the file alone is complete. All commits are
/// durable already: a failure is only a warning, and the next sync tries again.
pub fn close(connection: Connection, path: &Path) -> Option<Problem> {
    // A reader with an old snapshot prevents the truncation; then the log stays.
    let checkpointed = connection
        .busy_timeout(Duration::from_secs(2))
        .and_then(|()| connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())))
        // To delete the empty log, SQLite would briefly lock out new readers.
        .and_then(|()| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true))
        .and_then(|_| connection.close().map_err(|(_, error)| error));
    checkpointed.err().map(|error| {
        let message =
            format!("all data is saved, but the write-ahead log could not be truncated: {error}");
        Problem::new(path, message)
    })
}

/// Copies a snapshot of a database into an empty file, also during a sync. The copy has no write-ahead log: it can be read
/// from a read-only folder.
pub fn copy(connection: &Connection, target: &Path) -> Result<()> {
    let name = std::path::absolute(target).map_err(Error::io(target))?;
    let name = name.to_str().ok_or_else(|| {
        let message = format!("the path {} is not UTF-8", target.display());
        Error::Usage(message)
    })?;
    connection.execute("vacuum into ?1", [name])?;
    let copied = connect(target, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    identify(&copied, target)?;
    let verdict: String = copied.query_row("pragma quick_check", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(Error::CheckFailed(format!(
            "the copy is damaged: {verdict}"
        )));
    }
    copied.close().map_err(|(_, error)| error)?;
    sync_file(target)
}

/// Removes views, triggers and virtual tables from a copy. It is no longer a cc-etl database: a sync would miss them.
pub fn keep_tables_only(copy: &Path) -> Result<()> {
    let connection = connect(copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "temp_store", "file")?;
    let mut statement = connection.prepare(statements::LIST_ALL_BUT_TABLES)?;
    let drops = statement.query_map([], |row| row.get(0))?;
    let drops = drops.collect::<rusqlite::Result<Vec<String>>>()?;
    connection.execute_batch(&drops.join(";\n"))?;
    connection.pragma_update(None, "application_id", 0)?;
    connection.execute_batch("vacuum")?;
    drop(statement);
    connection.close().map_err(|(_, error)| error)?;
    sync_file(copy)
}

/// Opens a database for writing, unless its schema is older; see [`open_older`].
pub fn open(path: &Path) -> Result<Connection> {
    let connection = open_older(path)?;
    refuse_older(&connection, path)?;
    Ok(connection)
}

/// Opens a database of this or an older schema for writing.
pub fn open_older(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    identify(&connection, path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // In memory, SQLite walks through the whole journal of a savepoint after each statement that can fail.
    connection.pragma_update(None, "temp_store", "file")?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    // A checkpoint every 32 MB: B-tree pages of indexes change with every commit, and are written to the file once for several.
    connection.pragma_update(None, "wal_autocheckpoint", (32 << 20) / PAGE_BYTES as i64)?;
    Ok(connection)
}

pub fn open_read_only(path: &Path) -> Result<Connection> {
    let connection = open_older_read_only(path)?;
    refuse_older(&connection, path)?;
    Ok(connection)
}

/// Opens a database for reading, and fails at once if it is locked.
pub fn open_without_waiting(path: &Path) -> Result<Connection> {
    let configure = |connection: &Connection| configure(connection, Duration::ZERO);
    let connection = connect_with(path, OpenFlags::SQLITE_OPEN_READ_ONLY, configure)?;
    identify(&connection, path)?;
    refuse_older(&connection, path)?;
    Ok(connection)
}

/// Opens a database of this or an older schema for reading.
pub fn open_older_read_only(path: &Path) -> Result<Connection> {
    if !path.exists() {
        let message = format!(
            "there is no database {}; cc-etl sync creates it",
            path.display()
        );
        return Err(Error::NoSource(message));
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let connection = match connection {
        Err(Error::Database(error)) if may_lack_shared_memory(&error) => {
            open_exclusive(path).map_err(|_| Error::Database(error))
        }
        connection => connection,
    }?;
    identify(&connection, path)?;
    Ok(connection)
}

/// Whether SQLite may have failed to create or extend the shared-memory file of the write-ahead log.
fn may_lack_shared_memory(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, DiskFull, ReadOnly, SystemIoFailure};
    let code = error.sqlite_error_code();
    matches!(
        code,
        Some(CannotOpen | DiskFull | ReadOnly | SystemIoFailure)
    )
}

/// Opens a database for reading where the shared-memory file cannot be created, as on a full disk. In exclusive locking mode
/// the index of the write-ahead log is in heap memory, and no other connection can open the database.
fn open_exclusive(path: &Path) -> Result<Connection> {
    let configure_exclusive = |connection: &Connection| {
        connection.pragma_update(None, "locking_mode", "exclusive")?;
        connection.pragma_update(None, "query_only", true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        configure(connection, PATIENCE)
    };
    connect_with(path, OpenFlags::SQLITE_OPEN_READ_WRITE, configure_exclusive)
}

/// Opens a database for a background reader. It scans whole tables, so a small cache is enough.
fn open_background_reader(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB / 8)?;
    connection.pragma_update(None, "temp_store", "file")?;
    Ok(connection)
}

/// Begins read transactions of one snapshot, at most `count` of them. A sync may go on.
pub fn begin_readers(connection: Connection, path: &Path, count: usize) -> Result<Vec<Connection>> {
    const BEGIN: &str = "begin; select 1 from sqlite_schema";
    let mode: String = connection.pragma_query_value(None, "locking_mode", |row| row.get(0))?;
    if count <= 1 || mode == "exclusive" {
        connection.execute_batch(BEGIN)?;
        return Ok(vec![connection]);
    }
    let mut readers = Vec::new();
    for _ in 0..count {
        let reader = open_background_reader(path)?;
        // It looks up rows in the order of their times, which is not that of pages.
        reader.pragma_update(None, "cache_size", CACHE_KIB)?;
        readers.push(reader);
    }
    // The version differs if something was committed in between. That is rare, so a few repetitions are enough.
    let version = || connection.pragma_query_value(None, "data_version", |row| row.get(0));
    loop {
        let before: i64 = version()?;
        for reader in &readers {
            reader.execute_batch(BEGIN)?;
        }
        if version()? == before {
            return Ok(readers);
        }
        for reader in &readers {
            reader.execute_batch("rollback")?;
        }
    }
}

fn refuse_older(connection: &Connection, path: &Path) -> Result<()> {
    match schema_version(connection)? {
        SCHEMA_VERSION.. => Ok(()),
        version => Err(Error::Unusable(format!(
            "{} has schema {version}, this cc-etl reads schema {SCHEMA_VERSION}; upgrade it with cc-etl rebuild or cc-etl sync",
            path.display()
        ))),
    }
}

pub fn schema_version(connection: &Connection) -> Result<i32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection> {
    connect_with(path, flags, |connection| configure(connection, PATIENCE))
}

fn connect_with(
    path: &Path,
    flags: OpenFlags,
    configure: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<Connection> {
    // SQLite interprets some relative names as URIs.
    let path = std::path::absolute(path).map_err(Error::io(path))?;
    let path = path.as_path();
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    configure(&connection).map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => not_ours(path),
        _ => error.into(),
    })?;
    Ok(connection)
}

/// How long a statement waits if another connection has locked the database.
const PATIENCE: Duration = Duration::from_secs(30);

fn configure(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(patience)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // By default SQLite may prepare a statement again when its bound values change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(128);
    functions::register(connection)
}

/// Refuses files that are not cc-etl databases, and schemas of newer versions.
fn identify(connection: &Connection, path: &Path) -> Result<()> {
    let application_id: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application_id != APPLICATION_ID {
        return Err(not_ours(path));
    }
    let version = schema_version(connection)?;
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
        "{path} is not a cc-etl database; give another one with --db FILE"
    ))
}

/// Refuses to replace a cc-etl database by another file.
pub fn refuse_own(target: &Path) -> Result<()> {
    const PLACE: usize = 68; // of the application id in the header
    let mut header = [0; PLACE + size_of_val(&APPLICATION_ID)];
    let read = File::open(target).and_then(|mut file| file.read_exact(&mut header));
    let is_own =
        header.starts_with(b"SQLite format 3\0") && header[PLACE..] == APPLICATION_ID.to_be_bytes();
    match read.is_ok() && is_own {
        true => Err(Error::Usage(format!(
            "{} is a database of cc-etl; name another file",
            target.display()
        ))),
        false => Ok(()),
    }
}

/// Finds a session by the beginning of its id, else by words of its title.
pub fn find_session(connection: &Connection, words: &str) -> Result<String> {
    let mut statement = connection.prepare(statements::FIND_SESSIONS)?;
    let matching = statement
        .query_map([words], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, Option<String>)>>>()?;
    match matching.as_slice() {
        [(one, _)] => Ok(one.clone()),
        [] => Err(Error::Usage(format!(
            "no session id begins with {words:?}, and no title contains it; cc-etl sessions lists them"
        ))),
        several => {
            const LISTED: usize = 5;
            let mut list = String::new();
            for (session_id, title) in several.iter().take(LISTED) {
                let title = title.as_deref().unwrap_or_default();
                list += &format!("\n  {session_id}  {title}");
            }
            let left_out = several.len().saturating_sub(LISTED);
            if left_out > 0 {
                list += &format!("\n  and {left_out} more");
            }
            Err(Error::Usage(format!(
                "{words:?} matches several sessions; give the id of one:{list}"
            )))
        }
    }
}

/// Runs a statement without parameters.
pub fn query_rows(connection: &Connection, statement: &str) -> Result<QueryRows> {
    let mut statement = connection.prepare(statement)?;
    let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
    let count = columns.len();
    let rows = statement.query_map([], |row| (0..count).map(|column| row.get(column)).collect())?;
    let rows = rows.collect::<rusqlite::Result<_>>()?;
    Ok(QueryRows { columns, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    #[test]
    fn readers_see_one_snapshot_while_another_connection_commits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        drop(create(&path).unwrap());
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let write = || {
                let writer = open(&path).unwrap();
                writer.pragma_update(None, "synchronous", "off").unwrap();
                let sql = "insert into settings (setting, value) values (?1, '')";
                for number in 0.. {
                    writer.execute(sql, [number.to_string()]).unwrap();
                    if is_over.load(Relaxed) {
                        break;
                    }
                }
            };
            scope.spawn(write);
            let count = |reader: &Connection| -> i64 {
                let sql = "select count(*) from settings";
                reader.query_row(sql, [], |row| row.get(0)).unwrap()
            };
            let are_equal = (0..50).all(|_| {
                let readers = begin_readers(open_read_only(&path).unwrap(), &path, 3).unwrap();
                let counts: Vec<i64> = readers.iter().map(count).collect();
                counts == [counts[0]; 3]
            });
            is_over.store(true, Relaxed);
            assert!(are_equal);
        });
    }

    #[test]
    fn sqlite_has_the_fix_of_the_wal_reset_bug() {
        // https://sqlite.org/wal.html#walresetbug
        assert!(rusqlite::version_number() >= 3_051_003);
    }
}
