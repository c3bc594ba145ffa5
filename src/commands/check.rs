//! `cc-etl check`: verifies the database. It only reads, and never repairs.

use super::{database_path, print, rebuild};
use crate::archive::{self, CHUNK_BYTES, Hash};
use crate::cli::{CheckArguments, Global};
use crate::database::{self, CHECKS, hash, statements as sql};
use crate::discover::{self, Reading};
use crate::error::{Error, Result};
use crate::file_diff;
use crate::format::{hex, text};
use crate::load::FileVersion;
use crate::machine::Machine;
use crate::normalize::normalize;
use crate::pipeline::start_workers;
use crate::read::{ArchivedFile, Bytes, read_section};
use crate::terminal::{Emphasis, counted, grouped, sanitize, sanitize_json};
use rayon::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub fn run(global: &Global, arguments: &CheckArguments) -> Result<()> {
    let path = database_path(global)?;
    check(global, arguments, &path).map_err(|error| match &error {
        // Too damaged to open or to begin a transaction.
        Error::Database(cause)
            if cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) =>
        {
            Error::CheckFailed(format!("{} is damaged: {cause}", path.display()))
        }
        _ => error,
    })
}

fn check(global: &Global, arguments: &CheckArguments, path: &Path) -> Result<()> {
    let connection = database::open_read_only(path)?;
    start_workers().map_err(Error::io(path))?;
    if arguments.hash {
        return print_hashes(&connection);
    }
    let emphasis = Emphasis::new(global.color);
    let mut failed = 0;
    let mut all = Vec::new();
    let mut report = |name: &str, findings: Result<Vec<String>>| -> Result<()> {
        // Damage that makes a statement fail is a finding too.
        let findings = match findings {
            Err(Error::Database(error)) => vec![error.to_string()],
            findings => findings?,
        };
        if !findings.is_empty() {
            failed += 1;
        }
        if arguments.json {
            let status = if findings.is_empty() { "ok" } else { "failed" };
            all.push(json!({ "check": name, "status": status, "findings": findings }));
            return Ok(());
        }
        if !global.quiet || !findings.is_empty() {
            let verdict = match findings.is_empty() {
                true => format!("{}     ", emphasis.good("ok")),
                false => format!("{} ", emphasis.bad("FAILED")),
            };
            print(&format!("{verdict} {}", name.replace('_', " ")))?;
        }
        for finding in findings.iter().take(SHOWN) {
            print(&format!("        {}", sanitize(finding)))?;
        }
        match findings.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => print(&format!("        and {} more", grouped(more as i64))),
        }
    };
    // All checks read one snapshot, also during a sync.
    connection.execute_batch("begin")?;
    report("SQLite finds the file intact", integrity(&connection))?;
    report("foreign keys are valid", foreign_keys(&connection))?;
    report(
        "archived chunks match their hashes",
        damaged_chunks(&connection),
    )?;
    report(
        "archived versions match their running hashes",
        rewritten_versions(&connection),
    )?;
    for (name, statement) in CHECKS {
        report(name, rows(&connection, statement))?;
    }
    if arguments.sources {
        report(
            "every byte on disk is in the database",
            unsynced(&connection),
        )?;
    }
    let (connection, unaccounted) = unaccounted(connection);
    report("every byte is a row or a rejected line", unaccounted)?;
    connection.execute_batch("commit")?;
    if arguments.deep {
        let (index, tables) = compare_with_rebuild(&connection, path);
        report("the search index matches the texts", index)?;
        report("the tables match a rebuild from the archive", tables)?;
    }
    if arguments.json {
        let json = json!({ "failed_count": failed, "checks": all });
        print(&sanitize_json(&json.to_string()))?;
    }
    match failed {
        0 => Ok(()),
        count => Err(Error::CheckFailed(format!(
            "{} failed on {}",
            counted(count, "check"),
            path.display()
        ))),
    }
}

/// Limit of the findings printed for each check.
const SHOWN: usize = 10;

fn print_hashes(connection: &Connection) -> Result<()> {
    let mut whole = blake3::Hasher::new();
    for table in hash::tables(connection)? {
        whole.update(table.name.as_bytes());
        whole.update(&table.hash);
        print(&format!(
            "{}  {:>10}  {}",
            hex(&table.hash),
            grouped(table.rows),
            table.name
        ))?;
    }
    print(&format!(
        "{}  {:>10}  all",
        hex(&whole.finalize().as_bytes()[..16]),
        ""
    ))
}

fn integrity(connection: &Connection) -> Result<Vec<String>> {
    let mut findings = rows(connection, "pragma integrity_check")?;
    findings.retain(|finding| finding != "ok");
    Ok(findings)
}

fn foreign_keys(connection: &Connection) -> Result<Vec<String>> {
    rows(connection, "pragma foreign_key_check")
}

fn damaged_chunks(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql::ALL_CHUNKS)?;
    let mut chunks = statement.query([])?;
    let mut findings = Vec::new();
    while let Some(row) = chunks.next()? {
        let (path, generation, position): (String, i64, i64) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        let byte_length = row.get::<_, i64>(3)?.cast_unsigned();
        let content = row.get_ref(4)?.as_blob().unwrap_or_default();
        let problem = match archive::unpack(content, byte_length) {
            Err(error) => error.to_string(),
            Ok(bytes) if Ok(&archive::hash(&bytes)[..]) != row.get_ref(5)?.as_blob() => {
                "its bytes do not match its hash".to_string()
            }
            Ok(_) => continue,
        };
        findings.push(format!(
            "{path} version {generation}, chunk {position}: {problem}"
        ));
    }
    Ok(findings)
}

/// The file versions whose chunks do not match their running hash. A sync extends that hash only by chunks that start with
/// the bytes of those they replace, so a mismatch means that something else removed or overwrote a chunk.
fn rewritten_versions(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql::ALL_RUNNING_HASHES)?;
    let mut versions = statement.query([])?;
    let mut findings = Vec::new();
    while let Some(row) = versions.next()? {
        let chunks: Vec<Hash> = file_diff::chunk_hashes(connection, row.get(0)?)?
            .into_iter()
            .map(|(_, hash)| hash)
            .collect();
        if archive::running_hash(&chunks) != row.get(3)? {
            let (path, generation): (String, i64) = (row.get(1)?, row.get(2)?);
            findings.push(format!(
                "{path} version {generation}: its chunks do not match its running hash"
            ));
        }
    }
    Ok(findings)
}

/// Parses every archived line again, and compares the offsets of its records and fragments with the rows.
fn unaccounted(connection: Connection) -> (Connection, Result<Vec<String>>) {
    let files = match rebuild::archived_files(&connection) {
        Ok(files) => files,
        Err(error) => return (connection, Err(error)),
    };
    let shared = Arc::new(Mutex::new(connection));
    let findings: Vec<Result<Option<String>>> = files
        .par_iter()
        .filter(|(version, _)| version.place.reading == Reading::Lines)
        .map(|(version, size)| unaccounted_in(version, *size, &shared))
        .collect();
    let connection = Arc::into_inner(shared).map(Mutex::into_inner);
    let Some(Ok(connection)) = connection else {
        unreachable!("the threads have ended, and none panicked");
    };
    let findings: Result<Vec<Option<String>>> = findings.into_iter().collect();
    let findings = findings.map(|found| found.into_iter().flatten().collect());
    (connection, findings)
}

/// The offset of a record or a rejected fragment, and the hash of a fragment's bytes.
type Piece = (i64, Option<[u8; 32]>);

fn unaccounted_in(
    version: &FileVersion,
    size: u64,
    shared: &Arc<Mutex<Connection>>,
) -> Result<Option<String>> {
    let file_id = version.file_id.unwrap_or_default();
    let bytes = Bytes::Archive(ArchivedFile {
        hashes: Vec::new(),
        connection: shared.clone(),
        file_id,
    });
    let finding = |what: String| {
        Ok(Some(format!(
            "{} version {}: {what}",
            version.path, version.generation
        )))
    };
    let mut expected: Vec<Piece> = Vec::new();
    for position in 0..size.div_ceil(CHUNK_BYTES) {
        let section = match read_section(&bytes, position, size, 0) {
            Ok(section) => section,
            Err(error) => return finding(error.to_string()),
        };
        let (rows, _) = normalize(&section, &version.place, None);
        let records = rows.messages.iter().map(|rows| rows.message.byte_offset);
        let events = rows.events.iter().map(|rows| rows.event.byte_offset);
        let prompts = rows
            .history_prompts
            .iter()
            .map(|rows| rows.prompt.byte_offset);
        let records = records.chain(events).chain(prompts);
        expected.extend(records.map(|offset| (offset, None)));
        let rejected = rows.rejected_lines.iter();
        expected.extend(rejected.map(|line| (line.byte_offset, Some(archive::hash(&line.raw)))));
    }
    let Pieces {
        parsed,
        mut found,
        failed,
    } = pieces(shared, file_id)?;
    // A line that failed with an internal error has one row, for the whole line.
    expected.retain(|(offset, _)| !failed.iter().any(|line| line.contains(offset)));
    expected.sort_unstable();
    found.sort_unstable();
    // After the parsed bytes only a last line without its newline can follow. It has no row if a sync was stopped before it
    // read to the end of the file.
    if found.last().is_none_or(|(offset, _)| *offset < parsed) {
        expected.retain(|(offset, _)| *offset < parsed);
    }
    let first = expected.iter().zip(&found).find(|(a, b)| a != b);
    match (first, expected.len() == found.len()) {
        (None, true) => Ok(None),
        (first, _) => finding(format!(
            "{} records and fragments are in the archive, {} in the tables{}",
            grouped(expected.len() as i64),
            grouped(found.len() as i64),
            first.map_or(String::new(), |(a, b)| format!(
                "; they differ from byte {}",
                grouped(a.0.min(b.0))
            ))
        )),
    }
}

/// The rows of a file.
struct Pieces {
    /// The end of the parsed bytes.
    parsed: i64,
    found: Vec<Piece>,
    /// The lines that failed with an internal error.
    failed: Vec<Range<i64>>,
}

fn pieces(shared: &Mutex<Connection>, file_id: i64) -> Result<Pieces> {
    let connection = shared
        .lock()
        .expect("no thread panics while it holds the lock");
    let parsed = connection
        .prepare_cached(sql::FIND_PARSED_BYTES)?
        .query_row([file_id], |row| row.get(0))?;
    let mut statement = connection.prepare_cached(sql::LIST_PIECES)?;
    let mut rows = statement.query([file_id])?;
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let offset: i64 = row.get(0)?;
        let raw = row
            .get_ref(1)?
            .as_blob_or_null()
            .map_err(rusqlite::Error::from)?;
        match row.get(2)? {
            true => failed.push(offset..offset + raw.unwrap_or_default().len() as i64),
            false => found.push((offset, raw.map(archive::hash))),
        }
    }
    Ok(Pieces {
        parsed,
        found,
        failed,
    })
}

/// Files on disk whose bytes are not all in the database.
fn unsynced(connection: &Connection) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for (source_id, root) in file_diff::homes_at_hand(connection, &Machine::this())? {
        let found = discover::discover(&root)?;
        let changes = file_diff::compare_bytes(connection, source_id, &found)?;
        for file in &changes.files {
            let size = file.version.stat.map_or(0, |stat| stat.size);
            let state = match file.version.file_id {
                Some(_) => format!("{} bytes are new", grouped_bytes(size - file.version.size)),
                None if file.version.generation > 1 => "differs from the archived bytes".into(),
                None => "never imported".to_string(),
            };
            findings.push(format!("{}: {state}", file.absolute.display()));
        }
        let problems = found.problems.iter().chain(&changes.problems);
        findings.extend(problems.map(ToString::to_string));
    }
    if !findings.is_empty() {
        findings.push("import them with cc-etl sync".to_string());
    }
    Ok(findings)
}

fn grouped_bytes(bytes: u64) -> String {
    grouped(bytes.cast_signed())
}

/// Rebuilds a copy, and returns the differences of the search index and of the tables.
fn compare_with_rebuild(
    connection: &Connection,
    path: &Path,
) -> (Result<Vec<String>>, Result<Vec<String>>) {
    let folder = match working_folder(path) {
        Ok(folder) => folder,
        Err(error) => return (Err(error), Ok(Vec::new())),
    };
    let copy = folder.1.path().join("copy.db");
    let copied = copy_to(connection, &copy);
    match copied {
        Ok(copied) => (
            index_differences(&copied),
            table_differences(&copied, &copy),
        ),
        Err(error) => (Err(error), Ok(Vec::new())),
    }
}

/// A private folder for the copy, and the lock that marks it as used. It is next to the database, to be on the same disk.
fn working_folder(path: &Path) -> Result<(File, TempDir)> {
    const PREFIX: &str = ".cc-etl-check-";
    let parent = database::folder_of(path);
    database::remove_leftovers(parent, PREFIX.as_ref());
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
    let folder = folder.map_err(Error::io(path))?;
    let used = File::create(folder.path().join(database::USED))
        .and_then(|used| used.lock().map(|()| used))
        .map_err(Error::io(folder.path()))?;
    Ok((used, folder))
}

fn copy_to(connection: &Connection, copy: &Path) -> Result<Connection> {
    let mut options = OpenOptions::new();
    database::open_private(copy, options.write(true).create_new(true)).map_err(Error::io(copy))?;
    database::copy(connection, copy)?;
    database::open(copy)
}

fn table_differences(copied: &Connection, copy: &Path) -> Result<Vec<String>> {
    let before = hash::tables(copied)?;
    rebuild::derive(copied, copy, true)?;
    let after = hash::tables(copied)?;
    let pairs = before.iter().zip(&after);
    let differences = pairs.filter(|(before, after)| before.hash != after.hash);
    let findings = differences.map(|(before, after)| {
        format!(
            "{}: {} rows differ from the {} rows of a rebuild",
            before.name,
            grouped(before.rows),
            grouped(after.rows)
        )
    });
    Ok(findings.collect())
}

/// Compares the words of the full-text index. FTS5's own integrity check does not support rows without text.
fn index_differences(copied: &Connection) -> Result<Vec<String>> {
    copied.execute_batch(
        "create virtual table temp.indexed_words using fts5vocab('main', 'search', 'instance')",
    )?;
    let words = || hash::rows(copied, sql::LIST_INDEXED_WORDS);
    let before = match words() {
        Ok(before) => before,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    copied.execute_batch(sql::CREATE_TOUCHED)?;
    copied.execute_batch(sql::REBUILD_SEARCH_INDEX)?;
    let after = words()?;
    copied.execute_batch("drop table temp.indexed_words")?;
    Ok(match before == after {
        true => Vec::new(),
        false => vec![format!(
            "the {} words of the index differ from the {} words of the texts",
            grouped(before.0),
            grouped(after.0)
        )],
    })
}

/// Formats each row of a statement as a line.
fn rows(connection: &Connection, statement: &str) -> Result<Vec<String>> {
    let result = database::query_rows(connection, statement)?;
    let line = |row: &Vec<Value>| row.iter().map(text).collect::<Vec<_>>().join("  ");
    Ok(result.rows.iter().map(line).collect())
}
