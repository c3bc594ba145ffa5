//! `cc-etl export`: writes facts and dimensions for other engines.

use super::{data_folder, database_path, print, warn};
use crate::cli::{ExportArguments, ExportFormat, Global};
use crate::database;
use crate::error::{Error, Result};
use crate::export::output::Output;
use crate::export::profile::{Detail, Key, Profile};
use crate::export::{folder, postgres};
use crate::terminal::{byte_size, counted, grouped, sanitize};
use rusqlite::Connection;
use std::cmp::Reverse;
use std::path::Path;

pub fn run(global: &Global, arguments: &ExportArguments) -> Result<()> {
    let connection = database::open_read_only(&database_path(global)?)?;
    // SQLite sorts large data sets in a temporary file.
    connection.pragma_update(None, "temp_store", "file")?;
    let profile = profile(global, arguments, &connection)?;
    match arguments.format {
        ExportFormat::Parquet => parquet(global, arguments, &connection, &profile)?,
        ExportFormat::Postgres => {
            let mut out = Output::open(arguments.out.as_deref(), &connection)?;
            let row_count = postgres::write(&connection, &profile, &mut out)?;
            finish(global, arguments, out, row_count)?;
        }
    }
    report_masked(global, &profile);
    Ok(())
}

fn parquet(
    global: &Global,
    arguments: &ExportArguments,
    connection: &Connection,
    profile: &Profile,
) -> Result<()> {
    let Some(out) = arguments
        .out
        .as_deref()
        .filter(|out| *out != Path::new("-"))
    else {
        let message = "--format parquet writes a folder; name it with --out DIR";
        return Err(Error::Usage(message.to_string()));
    };
    let summary = folder::write(connection, out, profile)?;
    if global.quiet {
        return Ok(());
    }
    let count = |number: u64, what| counted(number as i64, what);
    print(&sanitize(&format!(
        "{}: {} in {}, {}; {} written, {} removed",
        out.display(),
        count(summary.row_count, "row"),
        count(summary.file_count, "file"),
        byte_size(summary.byte_count),
        summary.written_count,
        summary.removed_count,
    )))
}

/// Prints what is in the file. On standard output there is nothing but the rows.
fn finish(global: &Global, arguments: &ExportArguments, out: Output, row_count: u64) -> Result<()> {
    match (out.finish()?, &arguments.out) {
        (Some(byte_count), Some(file)) if !global.quiet => print(&sanitize(&format!(
            "{}: {}, {}",
            file.display(),
            counted(row_count as i64, "row"),
            byte_size(byte_count),
        ))),
        _ => Ok(()),
    }
}

/// Prints how often each rule has masked something, never what.
fn report_masked(global: &Global, profile: &Profile) {
    if global.quiet || profile.detail != Detail::Redacted {
        return;
    }
    let masked = profile.masked(None);
    let mut rules: Vec<(&str, u64)> = masked.into_iter().collect();
    rules.sort_by_key(|(rule, count)| (Reverse(*count), *rule));
    let rules: Vec<String> = rules
        .iter()
        .map(|(rule, count)| format!("{} {rule}", grouped(*count as i64)))
        .collect();
    let masked = match rules.is_empty() {
        true => "nothing".to_string(),
        false => rules.join(", "),
    };
    warn(&format!(
        "masked: {masked}; no rule finds every secret, so look before you share"
    ));
}

fn profile(
    global: &Global,
    arguments: &ExportArguments,
    connection: &Connection,
) -> Result<Profile> {
    match arguments.profile {
        Detail::Full => Ok(Profile::full()),
        Detail::Redacted => Profile::redacted(connection),
        Detail::Metrics => {
            let file = match (&arguments.key, data_folder()) {
                (Some(file), _) => file.clone(),
                (None, Some(folder)) => folder.join("export-key"),
                (None, None) => {
                    let message = "cannot find your home directory; give the key of the hashes with --key FILE";
                    return Err(Error::Usage(message.to_string()));
                }
            };
            let (key, is_new) = Key::read_or_create(&file)?;
            if is_new && !global.quiet {
                warn(&format!(
                    "created the key of the hashes, {}; the others of your team need the same one, and nobody else",
                    file.display()
                ));
            }
            Ok(Profile::metrics(key, arguments.names))
        }
    }
}
