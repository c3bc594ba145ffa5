//! The database: create it or refuse it, write rows, keep references and views true.
//!
//! **Locking.** One sync at a time holds an OS lock on `<database>.lock`; readers need none, the journal is WAL.
//! **Compatibility.** `application_id` says that a file is ours, `user_version` which schema it has.
//! **Transactions.** A chunk of a file, the rows of its lines and the file's new offset are one transaction, and
//! whatever depends on them is resolved before it commits: readers never see a half of anything.

mod copies;
mod first_load;
mod functions;
pub mod hash;
mod insert;
mod known;
mod load;
mod responses;
mod search;
mod sqlite_file;
mod tool_uses;
pub mod upgrade;

use crate::error::{Error, Problem, Result};
use crate::format::Answer;
use crate::pipeline::Pipeline;
use crate::stop::Stop;
use rusqlite::config::DbConfig;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::collections::HashSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

pub use first_load::FirstLoad;
pub use functions::priced_model;
pub use insert::Inserter;
pub use load::{Batch, Counts, FileVersion, Load, Loaded, Loader};
use search::SearchIndex;

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

/// The size of SQLite's cache, in KiB by its sign. A small one stays in the processor's: measured faster than a large one.
const CACHE_KIB: i32 = -16384;

/// The version of the schema that this program reads and writes.
pub const SCHEMA_VERSION: i32 = 3;

/// The lock that one sync at a time holds; it is let go when this is dropped.
pub struct Lock {
    _file: File,
}

/// How long to wait for the lock when another sync holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// So long.
    UpTo(Duration),
    /// Until it is free.
    Forever,
}

/// How often somebody who waits for the lock looks for signals and the time.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Takes the lock beside a database. Everything that writes has to hold it.
pub fn lock(database: &Path, wait: Wait, stop: &Stop) -> Result<Lock> {
    // A link could lead to a file that is not ours to write.
    if database
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_symlink())
    {
        return Err(Error::Unusable(format!(
            "{} is a link; name the database itself with --db FILE",
            database.display()
        )));
    }
    let path = beside(database, ".lock");
    create_private_folder(folder_of(&path))?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = open_private(&path, &mut options).map_err(Error::io(&path))?;
    match (file.try_lock(), wait) {
        (Ok(()), _) => Ok(Lock { _file: file }),
        (Err(TryLockError::Error(error)), _) => Err(Error::Io(path, error)),
        (Err(TryLockError::WouldBlock), Wait::No) => Err(Error::Locked(path)),
        (Err(TryLockError::WouldBlock), Wait::UpTo(time)) => queue(file, path, Some(time), stop),
        (Err(TryLockError::WouldBlock), Wait::Forever) => queue(file, path, None, stop),
    }
}

/// Waits for the lock. The system gives it to those who wait before those who only try; that this can be stopped, a
/// thread does the waiting. If it is in vain, the thread ends with the program.
fn queue(file: File, path: PathBuf, time: Option<Duration>, stop: &Stop) -> Result<Lock> {
    let begun = Instant::now();
    let (sender, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let locked = file.lock();
        // Nobody waits any more after a timeout or a signal.
        let _ = sender.send(locked.map(|()| file));
    });
    loop {
        match receiver.recv_timeout(LOCK_PAUSE) {
            Ok(Ok(file)) => return Ok(Lock { _file: file }),
            Ok(Err(error)) => return Err(Error::Io(path, error)),
            Err(_) => stop.check()?,
        }
        if time.is_some_and(|time| begun.elapsed() >= time) {
            return Err(Error::Locked(path));
        }
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

/// Opens a file to write it, which only its owner can read whatever the umask, and which is no link.
pub fn open_private(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let file = options.mode(0o600).custom_flags(no_link).open(path)?;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o777 != 0o600 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
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
    "tool_results_interrupted",
    "tool_results_rejected",
    "tool_results_with_reason",
    "tool_results_without_call",
    "tool_uses_with_changes",
];

/// Tables whose indexed columns sql/resolve fills: their indexes are built behind it.
const FILLED_BY_RESOLVE: &[&str] = &["agents", "file_changes", "sessions"];

/// When a statement of the schema is run for a new database: indexes are quicker to build when their rows are in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Before any rows.
    Empty,
    /// With the rows of all lines, before what depends on several lines is resolved.
    Loaded,
    /// At the end.
    Resolved,
}

/// Creates a database that does not exist yet, with its tables and those indexes that [`FirstLoad`] can fill. Nothing is safe
/// until [`finish_new`].
pub fn create(path: &Path) -> Result<Connection> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    open_private(path, &mut options).map_err(Error::io(path))?;
    let connection = open_new(path)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    create_stage(&connection, Stage::Empty)?;
    create_stage(&connection, Stage::Loaded)?;
    connection.execute_batch(statements::ENLARGE_SEARCH_BUFFER)?;
    Ok(connection)
}

/// Opens a database that is being made.
pub fn open_new(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Long texts fill their last page by half: smaller pages waste less, and the smallest are slower.
    connection.pragma_update(None, "page_size", sqlite_file::PAGE_BYTES as i64)?;
    // The size of the cache was taken in pages of another size.
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    connection.pragma_update(None, "journal_mode", "off")?;
    connection.pragma_update(None, "synchronous", "off")?;
    connection.pragma_update(None, "locking_mode", "exclusive")?;
    connection.pragma_update(None, "foreign_keys", false)?;
    // For each list of allowed values SQLite would fill a table, row by row; the rows are ours, and `check` looks at them.
    connection.pragma_update(None, "ignore_check_constraints", true)?;
    // What is sorted for an index grows with the database, and memory shall not.
    connection.pragma_update(None, "temp_store", "file")?;
    Ok(connection)
}

/// Makes a new database whole: references checked, journal in place, everything on disk.
pub fn finish_new(connection: Connection, path: &Path, pipeline: &Pipeline) -> Result<()> {
    connection.pragma_update(None, "locking_mode", "normal")?;
    // The next statement lets go of the lock, and several can read.
    let references = references(&connection)?;
    // What is on the disk already is not waited for later.
    std::thread::scope(|scope| {
        let written = scope.spawn(|| sync_file(path));
        pipeline.for_each(references.into(), |references: Vec<String>| {
            let reader = read_beside(path)?;
            for reference in references {
                let count: i64 = reader.query_row(&reference, [], |row| row.get(0))?;
                refuse_violations(count as usize)?;
            }
            Ok(())
        })?;
        written.join().expect("it only syncs")
    })?;
    connection.pragma_update(None, "synchronous", "full")?;
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let is_in_use = mode == "wal";
    // It tells the mode that it leads to, and only then fails: all of its rows have to be asked for.
    let modes = answer(&connection, "pragma journal_mode = wal")?;
    if modes.rows != [[Value::Text("wal".to_string())]] {
        let message = "no write-ahead log is possible here; is the disk well, and a local one?";
        return Err(Error::Io(
            path.to_path_buf(),
            std::io::Error::other(message),
        ));
    }
    // The file alone is put in its place: nothing may be left in the journal, and to close it would not tell.
    let is_busy = is_in_use
        && connection.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    connection.close().map_err(|(_, error)| error)?;
    let journal = beside(path, "-wal");
    if is_busy || std::fs::metadata(&journal).is_ok_and(|journal| journal.len() > 0) {
        let error = std::io::Error::other("what is in the journal could not be put into the file");
        return Err(Error::Io(journal, error));
    }
    sync_file(path)
}

/// For each reference of the schema a statement that counts the values that lead nowhere: what `pragma foreign_key_check`
/// finds, but each value is looked up once, in the order of the index. In as many parts as are worth a connection.
fn references(connection: &Connection) -> Result<[Vec<String>; 2]> {
    let mut parts = [Vec::new(), Vec::new()];
    let mut statement = connection.prepare(statements::REFERENCES)?;
    let references = statement.query_map([], |row| {
        let [table, column, parent, key] =
            [row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
        Ok(format!(
            "select count(*) from (select distinct {column} as value from {table} where {column} is not null)
            where not exists (select 1 from {parent} where {parent}.{key} = value)"
        ))
    })?;
    for (number, reference) in references.enumerate() {
        parts[number % parts.len()].push(reference?);
    }
    Ok(parts)
}

/// Waits until all of a file is on the disk.
pub fn sync_file(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(Error::io(path))
}

/// Closes a database that was written: what is in the journal goes into the file, so that a plain copy of it is whole.
/// Everything is safe already; if this fails it is worth a word, and the next sync does it.
pub fn close(connection: Connection, path: &Path) -> Option<Problem> {
    // A reader that holds an old state keeps the journal in use; then it stays, and nothing is lost.
    let checkpointed = connection
        .busy_timeout(Duration::from_secs(2))
        .and_then(|()| connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())))
        // The empty journal stays: to delete it, SQLite would lock out those who begin to read at this moment.
        .and_then(|()| connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true))
        .and_then(|_| connection.close().map_err(|(_, error)| error));
    checkpointed.err().map(|error| {
        let message = format!("everything is saved, but its journal could not be emptied: {error}");
        Problem::new(path, message)
    })
}

/// Copies a database as it is at this moment into a file that is empty, whoever writes meanwhile. The copy needs no
/// journal beside it: it can be read where nothing can be written.
pub fn copy(connection: &Connection, target: &Path) -> Result<()> {
    let name = target.to_str().ok_or_else(|| {
        let message = format!("the name {} is not UTF-8", target.display());
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

/// The folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Makes a rename permanent.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(folder))?;
    }
    Ok(())
}

/// Creates what belongs to a stage and is not there yet.
fn create_stage(connection: &Connection, wanted: Stage) -> Result<()> {
    let present = names(connection)?;
    for statement in schema_statements().filter(|statement| stage(statement) == wanted) {
        if created(statement).is_some_and(|(_, name)| !present.contains(name)) {
            connection.execute_batch(statement)?;
        }
    }
    Ok(())
}

/// The names of all tables, indexes and views that a database has.
fn names(connection: &Connection) -> Result<HashSet<String>> {
    let mut statement = connection.prepare("select name from sqlite_schema")?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// Creates an index of the schema, if it is not there yet.
fn create_index(connection: &Connection, name: &str) -> Result<()> {
    let mut find = connection.prepare("select 1 from sqlite_schema where name = ?1")?;
    if !find.exists([name])? {
        let statement = schema_statements().find(|statement| is_index(statement, name));
        connection.execute_batch(statement.expect("an index of the schema"))?;
    }
    Ok(())
}

fn is_index(statement: &str, name: &str) -> bool {
    created(statement) == Some(("index", name))
}

/// Refuses to go on with references that lead nowhere.
fn check_references(connection: &Connection) -> Result<()> {
    refuse_violations(foreign_key_violations(connection)?)
}

fn refuse_violations(count: usize) -> Result<()> {
    match count {
        0 => Ok(()),
        count => Err(Error::CheckFailed(format!(
            "{count} references would lead nowhere, so nothing was changed; please report this"
        ))),
    }
}

/// Rows whose declared reference has no target.
fn foreign_key_violations(connection: &Connection) -> Result<usize> {
    let mut statement = connection.prepare("pragma foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Opens a database for writing. One of an older schema is refused: [`open_older`] is for those who can upgrade it.
pub fn open(path: &Path) -> Result<Connection> {
    let connection = open_older(path)?;
    refuse_older(&connection, path)?;
    Ok(connection)
}

/// Opens a database for writing, also one of an older schema.
pub fn open_older(path: &Path) -> Result<Connection> {
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
    let connection = open_older_read_only(path)?;
    refuse_older(&connection, path)?;
    Ok(connection)
}

/// Opens a database for reading, also one of an older schema.
pub fn open_older_read_only(path: &Path) -> Result<Connection> {
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

/// Opens a database for one more who reads it from end to end, which takes little memory.
fn read_beside(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.pragma_update(None, "cache_size", CACHE_KIB / 4)?;
    Ok(connection)
}

fn refuse_older(connection: &Connection, path: &Path) -> Result<()> {
    match schema_version(connection)? {
        SCHEMA_VERSION.. => Ok(()),
        version => Err(Error::Unusable(format!(
            "{} has schema {version}, this cc-etl reads schema {SCHEMA_VERSION}; cc-etl rebuild upgrades it, and so does cc-etl sync",
            path.display()
        ))),
    }
}

/// The schema that a database has.
pub fn schema_version(connection: &Connection) -> Result<i32> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
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
    connection.pragma_update(None, "cache_size", CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Without this a statement may be prepared again whenever the values that are bound to it change.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
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
        "{path} is not a cc-etl database; name another with --db FILE"
    ))
}

/// The statements of the schema.
fn schema_statements() -> impl Iterator<Item = &'static str> {
    SCHEMA
        .split_inclusive(";\n")
        .filter(|statement| statement.contains("create "))
}

/// What a statement of the schema creates, a table or an index, and its name.
fn created(statement: &str) -> Option<(&str, &str)> {
    let line = statement.lines().find(|line| line.starts_with("create "))?;
    let mut words = line
        .split([' ', '('])
        .skip(1)
        .filter(|word| !["virtual", "unique"].contains(word));
    Some((words.next()?, words.next()?))
}

/// When a statement is run.
fn stage(statement: &str) -> Stage {
    let Some(("index", name)) = created(statement) else {
        return Stage::Empty;
    };
    let table = statement
        .split_once(" on ")
        .and_then(|(_, rest)| rest.split(' ').next())
        .unwrap_or_default();
    if NEEDED_BY_LOADER.contains(&name) || SPARSE.contains(&name) {
        Stage::Empty
    } else if FILLED_BY_RESOLVE.contains(&table) {
        Stage::Resolved
    } else {
        Stage::Loaded
    }
}

/// Whether a database has all that this program brings: tables, indexes, prices, words and views. Then a sync with nothing
/// new has nothing to do.
pub fn is_up_to_date(connection: &Connection) -> Result<bool> {
    let setting = |name: &str| {
        let mut find = connection.prepare_cached(statements::FIND_SETTING)?;
        find.query_row([name], |row| row.get::<_, String>(0))
            .optional()
    };
    if setting("refreshed_with")? != Some(refreshed_with())
        || setting("bi_basis")? != Some(bi_basis(connection)?)
    {
        return Ok(false);
    }
    let present = names(connection)?;
    let mut created = schema_statements().filter_map(created);
    Ok(created.all(|(_, name)| present.contains(name)) && are_views_current(connection, VIEWS)?)
}

/// A hash of the prices and words that this program brings. Whoever takes one out of a database has it put back by a sync
/// that finds another basis for the tables for BI tools.
fn refreshed_with() -> String {
    let mut hasher = blake3::Hasher::new();
    for text in [PRICES, WORDS] {
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Puts what this program brings in place of what the database has: prices, words, views. What is the same is left
/// alone, so that a sync with nothing new writes nothing. The touched tables must be there, and empty.
fn refresh(connection: &Connection) -> Result<()> {
    refresh_prices(connection)?;
    refresh_words(connection)?;
    refresh_views(connection, VIEWS)?;
    refresh_bi(connection)?;
    let known: Option<String> = connection
        .query_row(statements::FIND_SETTING, ["refreshed_with"], |row| {
            row.get(0)
        })
        .optional()?;
    let refreshed_with = refreshed_with();
    if known.as_ref() != Some(&refreshed_with) {
        let setting = ["refreshed_with", refreshed_with.as_str()];
        connection.execute(statements::PUT_SETTING, setting)?;
    }
    Ok(())
}

/// Makes the tables for BI tools anew if what they depend on besides the transcripts has changed: prices, words, views.
fn refresh_bi(connection: &Connection) -> Result<()> {
    let basis = bi_basis(connection)?;
    let known: Option<String> = connection
        .query_row(statements::FIND_SETTING, ["bi_basis"], |row| row.get(0))
        .optional()?;
    if known.as_ref() == Some(&basis) {
        return Ok(());
    }
    // Of a database without sessions nothing is resolved yet: that comes, and counts everything.
    if connection.prepare(statements::ANY_SESSION)?.exists([])? {
        connection.execute_batch(statements::TOUCH_ALL_SESSIONS)?;
        connection.execute_batch(statements::REFRESH_BI)?;
        connection.execute_batch(statements::FORGET_TOUCHED)?;
    }
    connection.execute(statements::PUT_SETTING, ["bi_basis", basis.as_str()])?;
    Ok(())
}

/// A hash of what the tables for BI tools depend on besides the transcripts.
fn bi_basis(connection: &Connection) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(statements::REFRESH_BI.as_bytes());
    for (_, view) in VIEWS {
        hasher.update(view.as_bytes());
    }
    let mut statement = connection.prepare(statements::BI_BASIS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        hasher.update(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Views of older versions that this one has no more.
const RETIRED_VIEWS: &[&str] = &[];

/// Puts views in place of those of ours that the database has. Those that are the same are left alone, so that a sync with
/// nothing new writes nothing; and so are those that the user made.
fn refresh_views(connection: &Connection, views: &[(&str, &str)]) -> Result<()> {
    let present = our_views(connection)?;
    for (name, sql) in &present {
        if !wanted_views(views).any(|view| is_same_view(view, name, sql)) {
            connection.execute_batch(&format!("drop view \"{}\"", name.replace('"', "\"\"")))?;
        }
    }
    for view in wanted_views(views) {
        if !present
            .iter()
            .any(|(name, sql)| is_same_view(view, name, sql))
        {
            connection.execute_batch(view.1)?;
        }
    }
    Ok(())
}

/// Whether the views of ours that the database has are these.
fn are_views_current(connection: &Connection, views: &[(&str, &str)]) -> Result<bool> {
    let present = our_views(connection)?;
    let is_present = |view| {
        let mut present = present.iter();
        present.any(|(name, sql)| is_same_view(view, name, sql))
    };
    Ok(present.len() == views.len() && wanted_views(views).all(is_present))
}

/// The views that the database has and this program or an older one made, with their statements.
fn our_views(connection: &Connection) -> Result<Vec<(String, String)>> {
    let is_ours = |name: &str| {
        wanted_views(VIEWS).any(|(other, _)| other == name) || RETIRED_VIEWS.contains(&name)
    };
    let mut statement =
        connection.prepare("select name, sql from sqlite_schema where type = 'view'")?;
    let mut views = statement
        .query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    views.retain(|(name, _)| is_ours(name));
    Ok(views)
}

/// Names and statements of views, by their files.
fn wanted_views<'v>(
    views: &'v [(&'v str, &'v str)],
) -> impl Iterator<Item = (&'v str, &'v str)> + 'v {
    views.iter().map(|(file, sql)| {
        (
            file.trim_end_matches(".sql"),
            sql.trim_end().trim_end_matches(';'),
        )
    })
}

fn is_same_view(view: (&str, &str), name: &str, sql: &str) -> bool {
    view.0 == name && view.1.eq_ignore_ascii_case(sql)
}

fn refresh_prices(connection: &Connection) -> Result<()> {
    connection.execute_batch(statements::CREATE_BUILTIN_PRICES)?;
    connection.execute_batch(PRICES)?;
    connection.execute_batch(statements::REFRESH_BUILTIN_PRICES)?;
    Ok(())
}

/// Adds words; those that the user took out stay out.
fn refresh_words(connection: &Connection) -> Result<()> {
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
fn resolve(connection: &Connection, mut search: Option<SearchIndex>) -> Result<()> {
    for (name, script) in embedded::RESOLVE {
        // The one rule that is not SQL: by then it is clear which responses it is about.
        if *name == "30_responses.sql" {
            responses::judge_touched(connection)?;
        }
        // The one that can be done beside all others.
        if *name == "70_search.sql"
            && let Some(search) = search.take()
        {
            search.finish(connection)?;
            connection.execute_batch(statements::ALL_BLOCKS_ARE_INDEXED)?;
            continue;
        }
        connection.execute_batch(script).map_err(|error| {
            debug_assert!(false, "{name}: {error}");
            error
        })?;
    }
    connection.execute_batch(statements::REFRESH_BI)?;
    connection.execute_batch(statements::FORGET_TOUCHED)?;
    connection.execute_batch(statements::NOTE_CHANGES)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_is_new_enough_not_to_damage_a_journal_that_two_write() {
        // https://sqlite.org/wal.html#walresetbug
        assert!(rusqlite::version_number() >= 3_051_003);
    }

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
