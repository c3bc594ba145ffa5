//! `cc-etl status`: summarizes the database and what is not imported yet.

use super::automatic::Automatic;
use super::{database_path, fit_terminal, print};
use crate::cli::{Global, ReportArguments};
use crate::database::{self, statements as sql};
use crate::error::Result;
use crate::machine::Machine;
use crate::terminal::{byte_size, counted, grouped, sanitize, sanitize_json};
use crate::time_zone::TimeZone;
use crate::{discover, file_diff, timestamp};
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use std::path::Path;

pub fn run(global: &Global, arguments: &ReportArguments) -> Result<()> {
    let path = database_path(global)?;
    let connection = database::open_read_only(&path)?;
    let status = Status::read(&connection, &path)?;
    if arguments.json {
        let new = unsynced(&connection)?;
        let json = status.json(&path, &new);
        return print(&sanitize_json(&json.to_string()));
    }
    let row = |name: &str, value: String| {
        let line = format!("{name:<9} {}", sanitize(&value));
        print(&fit_terminal(&line, "          "))
    };
    row(
        "database",
        format!("{}, {}", path.display(), byte_size(file_bytes(&path))),
    )?;
    let zone = TimeZone::read(&connection)?;
    row("last sync", ago(&status.synced_at, &zone))?;
    row(
        "content",
        format!(
            "{}, {}{}",
            counted(status.sessions, "session"),
            counted(status.messages, "message"),
            match (&status.first_at, &status.last_at) {
                (Some(first), Some(last)) => format!(", {} to {}", zone.day(first), zone.day(last)),
                _ => String::new(),
            }
        ),
    )?;
    row(
        "files",
        format!(
            "{} from {}{}",
            grouped(status.files),
            counted(status.sources, "home"),
            match status.missing {
                0 => String::new(),
                missing => format!(
                    "; {} of them deleted, kept in the database",
                    grouped(missing)
                ),
            }
        ),
    )?;
    let new = unsynced(&connection)?;
    row(
        "new",
        match (new.files, new.homes) {
            (_, 0) => "unknown: none of its homes is on this machine".to_string(),
            (0, _) => "nothing".to_string(),
            (files, _) => format!(
                "{} in {}; cc-etl sync imports them",
                byte_size(new.bytes),
                counted(files, "file")
            ),
        },
    )?;
    row("automatic", Automatic::of(&path).sentence())
}

pub struct Status {
    sessions: i64,
    messages: i64,
    first_at: Option<String>,
    last_at: Option<String>,
    files: i64,
    missing: i64,
    sources: i64,
    /// The end of the last sync, also of one with nothing new; empty if there was none.
    pub synced_at: String,
}

impl Status {
    pub fn read(connection: &Connection, path: &Path) -> Result<Status> {
        let recorded = database::recorded_sync(path).unwrap_or_default();
        Ok(connection.query_row(sql::STATUS, [], |row| {
            Ok(Status {
                sessions: row.get("session_count")?,
                messages: row.get("message_count")?,
                first_at: row.get("first_at")?,
                last_at: row.get("last_at")?,
                files: row.get("file_count")?,
                missing: row.get("missing_count")?,
                sources: row.get("source_count")?,
                synced_at: row.get::<_, String>("synced_at")?.max(recorded),
            })
        })?)
    }
}

impl Status {
    fn json(&self, path: &Path, new: &Unsynced) -> Json {
        json!({
            "database": path.display().to_string(),
            "database_bytes": file_bytes(path),
            "last_synced_at": (!self.synced_at.is_empty()).then_some(&self.synced_at),
            "session_count": self.sessions,
            "message_count": self.messages,
            "first_message_at": self.first_at,
            "last_message_at": self.last_at,
            "file_count": self.files,
            "missing_file_count": self.missing,
            "home_count": self.sources,
            "homes_on_this_machine_count": new.homes,
            "new_file_count": new.files,
            "new_bytes": new.bytes,
            "automatic": Automatic::of(path).json(),
        })
    }
}

/// What a sync of the homes on this machine would import.
#[derive(Default)]
pub struct Unsynced {
    pub homes: usize,
    pub files: i64,
    pub bytes: u64,
}

pub fn unsynced(connection: &Connection) -> Result<Unsynced> {
    let mut new = Unsynced::default();
    for (source_id, root) in file_diff::homes_at_hand(connection, &Machine::this())? {
        let changes =
            file_diff::compare(connection, source_id, &discover::discover(&root)?, false)?;
        new.homes += 1;
        new.files += changes.files.len() as i64;
        new.bytes += changes.new_bytes();
    }
    Ok(new)
}

/// A local time, and how long ago it was.
pub fn ago(moment: &str, zone: &TimeZone) -> String {
    match age(moment) {
        None => "never".to_string(),
        Some(age) => format!("{} {}, {age}", zone.minute(moment), zone.name),
    }
}

/// How long ago a time was; none if it is not one.
pub fn age(moment: &str) -> Option<String> {
    let seconds = timestamp::seconds_since(moment)?;
    let (number, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7200 => (seconds / 60, "minute"),
        7200..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    Some(format!("{} ago", counted(number, unit)))
}

/// The size of a file; 0 if it does not exist.
pub fn file_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}
