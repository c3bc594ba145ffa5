//! `cc-etl check`: proves that the database is whole. It only reads, and never repairs.

use super::sync::host_name;
use super::{database_path, print, rebuild};
use crate::archive::{self, CHUNK_BYTES, Hash};
use crate::changes;
use crate::cli::{CheckArguments, Global};
use crate::database::{self, CHECKS, hash, statements as sql};
use crate::discover::{self, Reading};
use crate::error::{Error, Result};
use crate::format::{hex, text};
use crate::load::FileVersion;
use crate::normalize::normalize;
use crate::pipeline::start_workers;
use crate::read::{ArchivedFile, Bytes, read_section};
use crate::terminal::{grouped, sanitize};
use rayon::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Runs every check, or prints the hashes.
pub fn run(global: &Global, arguments: &CheckArguments) -> Result<()> {
    let path = database_path(global)?;
    check(global, arguments, &path).map_err(|error| match &error {
        // So damaged that it cannot be looked at any further.
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
    let mut failed = 0;
    let mut say = |name: &str, findings: Result<Vec<String>>| -> Result<()> {
        // What cannot even be read is a finding too.
        let findings = match findings {
            Err(Error::Database(error)) => vec![error.to_string()],
            findings => findings?,
        };
        if !findings.is_empty() {
            failed += 1;
        }
        if !global.quiet || !findings.is_empty() {
            let verdict = if findings.is_empty() { "ok" } else { "FAILED" };
            print(&format!("{verdict:<7} {}", name.replace('_', " ")))?;
        }
        for finding in findings.iter().take(SHOWN) {
            print(&format!("        {}", sanitize(finding)))?;
        }
        match findings.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => print(&format!("        and {} more", grouped(more as i64))),
        }
    };
    // All that is looked at is of one moment, whoever writes meanwhile.
    connection.execute_batch("begin")?;
    say("SQLite finds the file intact", integrity(&connection))?;
    say("foreign keys are true", foreign_keys(&connection))?;
    say(
        "the archive can be read and is what was read",
        damaged_chunks(&connection),
    )?;
    say(
        "archived bytes were only ever added to",
        rewritten_versions(&connection),
    )?;
    for (file, statement) in CHECKS {
        say(file.trim_end_matches(".sql"), rows(&connection, statement))?;
    }
    if arguments.sources {
        say(
            "every byte on disk is in the database",
            unsynced(&connection),
        )?;
    }
    let (connection, unaccounted) = unaccounted(connection);
    say("every byte is a row or a rejected line", unaccounted)?;
    connection.execute_batch("commit")?;
    if arguments.deep {
        let (index, tables) = derived_again(&connection, path);
        say("the search index is that of the texts", index)?;
        say("the tables are what the archive gives", tables)?;
    }
    match failed {
        0 => Ok(()),
        count => Err(Error::CheckFailed(format!(
            "{count} checks failed on {}",
            path.display()
        ))),
    }
}

/// So many findings of one check are shown.
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
                "other bytes".to_string()
            }
            Ok(_) => continue,
        };
        findings.push(format!(
            "{path} version {generation}, chunk {position}: {problem}"
        ));
    }
    Ok(findings)
}

/// The versions of files whose chunks do not give their running hash: a sync extends that only by chunks that begin with
/// the bytes of those they replace, so a chunk was lost or written over in some other way.
fn rewritten_versions(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(sql::ALL_RUNNING_HASHES)?;
    let mut versions = statement.query([])?;
    let mut findings = Vec::new();
    while let Some(row) = versions.next()? {
        let chunks: Vec<Hash> = changes::chunk_hashes(connection, row.get(0)?)?
            .into_iter()
            .map(|(_, hash)| hash)
            .collect();
        if archive::running_hash(&chunks) != row.get(3)? {
            let (path, generation): (String, i64) = (row.get(1)?, row.get(2)?);
            findings.push(format!(
                "{path} version {generation}: its chunks are not those that were archived"
            ));
        }
    }
    Ok(findings)
}

/// Takes every archived line apart again, and compares where its records and fragments stand with the rows.
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
        unreachable!("no thread has it any more, and none panicked");
    };
    let findings: Result<Vec<Option<String>>> = findings.into_iter().collect();
    let findings = findings.map(|found| found.into_iter().flatten().collect());
    (connection, findings)
}

/// A record or a rejected fragment: where it stands, and a hash of the bytes of the latter.
type Piece = (i64, Option<[u8; 32]>);

fn unaccounted_in(
    version: &FileVersion,
    size: u64,
    shared: &Arc<Mutex<Connection>>,
) -> Result<Option<String>> {
    let file_id = version.file_id.unwrap_or_default();
    let bytes = Bytes::Archive(ArchivedFile {
        connection: shared.clone(),
        file_id,
    });
    let say = |what: String| {
        Ok(Some(format!(
            "{} version {}: {what}",
            version.path, version.generation
        )))
    };
    let mut expected: Vec<Piece> = Vec::new();
    for position in 0..size.div_ceil(CHUNK_BYTES) {
        let section = match read_section(&bytes, position, size, 0) {
            Ok(section) => section,
            Err(error) => return say(error.to_string()),
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
    let (parsed, mut found) = pieces(shared, file_id)?;
    expected.sort_unstable();
    found.sort_unstable();
    // What stands behind the rows is the last line, still without its end: it has a row when the file was read up to there,
    // and none when a sync was stopped in between.
    if found.last().is_none_or(|(offset, _)| *offset < parsed) {
        expected.retain(|(offset, _)| *offset < parsed);
    }
    let first = expected.iter().zip(&found).find(|(a, b)| a != b);
    match (first, expected.len() == found.len()) {
        (None, true) => Ok(None),
        (first, _) => say(format!(
            "{} records and fragments are in the archive, {} in the tables{}",
            grouped(expected.len() as i64),
            grouped(found.len() as i64),
            first.map_or(String::new(), |(a, b)| format!(
                ", not the same from byte {} on",
                grouped(a.0.min(b.0))
            ))
        )),
    }
}

/// Up to where a file has become rows, and the pieces that it became.
fn pieces(shared: &Mutex<Connection>, file_id: i64) -> Result<(i64, Vec<Piece>)> {
    let connection = shared.lock().expect("no thread panics while it reads");
    let parsed = connection
        .prepare_cached(sql::FIND_PARSED_BYTES)?
        .query_row([file_id], |row| row.get(0))?;
    let mut statement = connection.prepare_cached(sql::LIST_PIECES)?;
    let pieces = statement.query_map([file_id], |row| {
        let raw = row.get_ref(1)?.as_blob_or_null()?;
        Ok((row.get(0)?, raw.map(archive::hash)))
    })?;
    Ok((parsed, pieces.collect::<rusqlite::Result<_>>()?))
}

/// What the files that are still there hold and the database does not.
fn unsynced(connection: &Connection) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for (source_id, root) in changes::homes_at_hand(connection, &host_name())? {
        let found = discover::discover(&root)?;
        let changes = changes::compare_bytes(connection, source_id, &found)?;
        for file in &changes.files {
            let size = file.version.stat.map_or(0, |stat| stat.size);
            let state = match file.version.file_id {
                Some(_) => format!("{} bytes are new", grouped_bytes(size - file.version.size)),
                None if file.version.generation > 1 => {
                    "other bytes than those that were read".into()
                }
                None => "never read".to_string(),
            };
            findings.push(format!("{}: {state}", file.absolute.display()));
        }
        let problems = found.problems.iter().chain(&changes.problems);
        findings.extend(problems.map(ToString::to_string));
    }
    if !findings.is_empty() {
        findings.push("cc-etl sync imports what is new".to_string());
    }
    Ok(findings)
}

fn grouped_bytes(bytes: u64) -> String {
    grouped(bytes.cast_signed())
}

/// Derives everything again in a copy, and tells what is not as it was: of the search index, and of the tables.
fn derived_again(
    connection: &Connection,
    path: &Path,
) -> (Result<Vec<String>>, Result<Vec<String>>) {
    let folder = match working_folder(path) {
        Ok(folder) => folder,
        Err(error) => return (Err(error), Ok(Vec::new())),
    };
    let copy = folder.0.path().join("copy.db");
    let copied = copy_to(connection, &copy);
    match copied {
        Ok(copied) => (other_words(&copied), other_tables(&copied, &copy)),
        Err(error) => (Err(error), Ok(Vec::new())),
    }
}

/// A folder for the copy, and what marks it as used. Next to the database there is the same disk, and only its owner can
/// read it there.
fn working_folder(path: &Path) -> Result<(TempDir, File)> {
    const PREFIX: &str = ".cc-etl-check-";
    let parent = database::folder_of(path);
    database::remove_leftovers(parent, PREFIX.as_ref());
    let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent);
    let folder = folder.map_err(Error::io(path))?;
    let used = File::create(folder.path().join(database::USED))
        .and_then(|used| database::mark_as_used(&used).map(|()| used))
        .map_err(Error::io(folder.path()))?;
    Ok((folder, used))
}

fn copy_to(connection: &Connection, copy: &Path) -> Result<Connection> {
    let mut options = OpenOptions::new();
    database::open_private(copy, options.write(true).create_new(true)).map_err(Error::io(copy))?;
    database::copy(connection, copy)?;
    database::open(copy)
}

/// The tables that are not the same when they are derived again.
fn other_tables(copied: &Connection, copy: &Path) -> Result<Vec<String>> {
    let before = hash::tables(copied)?;
    rebuild::derive(copied, copy, true)?;
    let after = hash::tables(copied)?;
    let pairs = before.iter().zip(&after);
    let differences = pairs.filter(|(before, after)| before.hash != after.hash);
    let told = differences.map(|(before, after)| {
        format!(
            "{}: {} rows, derived again {} rows, and they are not the same",
            before.name,
            grouped(before.rows),
            grouped(after.rows)
        )
    });
    Ok(told.collect())
}

/// Whether the full-text index holds other words than the texts. SQLite's own check does not know of rows without text.
fn other_words(copied: &Connection) -> Result<Vec<String>> {
    copied.execute_batch(
        "create virtual table temp.indexed_words using fts5vocab('main', 'search', 'instance')",
    )?;
    let words = || hash::rows(copied, sql::LIST_INDEXED_WORDS);
    let before = match words() {
        Ok(before) => before,
        Err(error) => return Ok(vec![error.to_string()]),
    };
    copied.execute_batch(sql::CREATE_TOUCHED)?;
    copied.execute_batch(sql::INDEX_ANEW)?;
    let after = words()?;
    copied.execute_batch("drop table temp.indexed_words")?;
    Ok(match before == after {
        true => Vec::new(),
        false => vec![format!(
            "{} words are in the index, {} in the texts, and they are not the same",
            grouped(before.0),
            grouped(after.0)
        )],
    })
}

/// The rows of a statement, one line each.
fn rows(connection: &Connection, statement: &str) -> Result<Vec<String>> {
    let answer = database::answer(connection, statement)?;
    let line = |row: &Vec<Value>| row.iter().map(text).collect::<Vec<_>>().join("  ");
    Ok(answer.rows.iter().map(line).collect())
}
