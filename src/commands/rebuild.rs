//! `cc-etl rebuild`: derives all tables again from the archive alone.

use super::{database_path, print, warn};
use crate::cli::Global;
use crate::database::{self, FileVersion, Loader, Wait, statements as sql};
use crate::discover::classify;
use crate::error::{Error, Result};
use crate::import::{Commits, Input, import};
use crate::pipeline::Pipeline;
use crate::progress::Progress;
use crate::read::{ArchivedFile, Bytes};
use crate::stop::Stop;
use crate::terminal::grouped;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// Empties what is derived and fills it again, in one transaction.
pub fn run(global: &Global) -> Result<()> {
    let path = database_path(global)?;
    // Without a database there is nothing to lock either.
    database::open_read_only(&path)?;
    let stop = Stop::default();
    let _lock = database::lock(&path, Wait::No, &stop)?;
    let connection = database::open(&path)?;
    let reader = Arc::new(Mutex::new(database::open_read_only(&path)?));
    let files = archived_files(&connection)?;
    let progress = Progress::bytes(files.iter().map(|(_, size)| size).sum(), global.quiet);
    let inputs = files.into_iter().map(|(version, size)| Input {
        name: PathBuf::from(&version.path),
        bytes: Bytes::Archive(ArchivedFile {
            connection: reader.clone(),
            file_id: version.file_id.unwrap_or_default(),
        }),
        version: Arc::new(version),
        size,
    });

    let mut loader = Loader::empty(&connection)?;
    let problems = import(
        inputs,
        &mut loader,
        &Pipeline::new(None),
        Commits::ByCaller,
        &progress,
        &stop,
    )?;
    if let Some(problem) = problems.first() {
        // Nothing is committed: the tables stay as they were.
        let message = format!("the archive cannot be read, so nothing was changed: {problem}");
        return Err(Error::CheckFailed(message));
    }
    progress.message("indexing");
    loader.commit()?;
    database::refresh(&connection)?;
    let counts = loader.counts.clone();
    drop(loader);
    drop(reader);
    let unfinished = database::close(connection, &path);
    progress.finish();
    if let Some(problem) = unfinished {
        warn(&problem.to_string());
    }
    if !global.quiet {
        let (messages, events) = (grouped(counts.messages), grouped(counts.events));
        print(&format!(
            "{} lines: {messages} messages, {events} events",
            grouped(counts.lines)
        ))?;
    }
    Ok(())
}

fn archived_files(connection: &Connection) -> Result<Vec<(FileVersion, u64)>> {
    let mut statement = connection.prepare(sql::ARCHIVED_FILES)?;
    let files = statement.query_map([], |row| {
        let path: String = row.get(2)?;
        let version = FileVersion {
            file_id: Some(row.get(0)?),
            source_id: row.get(1)?,
            place: classify(&path),
            path,
            path_bytes: row.get(3)?,
            generation: row.get(4)?,
            stat: None,
            is_racy: false,
            size: 0,
            parsed: 0,
            newline_count: 0,
            blank_line_count: 0,
        };
        Ok((version, row.get::<_, i64>(5)?.cast_unsigned()))
    })?;
    Ok(files.collect::<rusqlite::Result<_>>()?)
}
