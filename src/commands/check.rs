//! `cc-etl check`: proves that the database is whole. It only reads, and never repairs.

use super::sync::host_name;
use super::{database_path, print, rebuild};
use crate::cli::{CheckArguments, Global};
use crate::database::{self, CHECKS, Loader, hash, statements as sql};
use crate::error::{Error, Result};
use crate::format::{hex, text};
use crate::terminal::{grouped, sanitize};
use crate::{archive, changes, discover};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs::OpenOptions;
use std::path::Path;

/// Runs every check, or prints the hashes.
pub fn run(global: &Global, arguments: &CheckArguments) -> Result<()> {
    let path = database_path(global)?;
    let connection = database::open_read_only(&path)?;
    if arguments.hash {
        return print_hashes(&connection);
    }
    let mut failed = 0;
    let mut say = |name: &str, findings: Vec<String>| -> Result<()> {
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
    say("SQLite finds the file intact", integrity(&connection)?)?;
    say("foreign keys are true", foreign_keys(&connection)?)?;
    say(
        "the archive can be read and is what was read",
        damaged_chunks(&connection)?,
    )?;
    for (file, statement) in CHECKS {
        say(file.trim_end_matches(".sql"), rows(&connection, statement)?)?;
    }
    if arguments.sources {
        say(
            "every byte on disk is in the database",
            unsynced(&connection)?,
        )?;
    }
    if arguments.deep {
        for (name, findings) in derived_again(&connection, &path)? {
            say(name, findings)?;
        }
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

/// Derives everything again in a copy, and tells what is not as it was.
fn derived_again(connection: &Connection, path: &Path) -> Result<Vec<(&'static str, Vec<String>)>> {
    // Beside the database there is the same disk, and the same people can read it: only the owner.
    let folder = tempfile::Builder::new()
        .prefix(".cc-etl-check-")
        .tempdir_in(database::folder_of(path))
        .map_err(Error::io(path))?;
    let copy = folder.path().join("copy.db");
    let mut options = OpenOptions::new();
    database::open_private(&copy, options.write(true).create_new(true))
        .map_err(Error::io(&copy))?;
    database::copy(connection, &copy)?;
    let copied = database::open(&copy)?;
    let index = other_words(&copied)?;
    let before = hash::tables(&copied)?;
    let rebuilt = rebuild::derive(&copied, &copy, Loader::empty, true);
    let differences = match rebuilt {
        Err(error) => vec![error.to_string()],
        Ok(_) => {
            let after = hash::tables(&copied)?;
            let pairs = before.iter().zip(&after);
            pairs
                .filter(|(before, after)| before.hash != after.hash)
                .map(|(before, after)| {
                    format!(
                        "{}: {} rows, derived again {} rows, and they are not the same",
                        before.name,
                        grouped(before.rows),
                        grouped(after.rows)
                    )
                })
                .collect()
        }
    };
    Ok(vec![
        ("the search index is that of the texts", index),
        ("the tables are what the archive gives", differences),
    ])
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
