//! `cc-etl export`: writes facts and dimensions for other engines.

use super::query::{find, refuse_unknown_parameters};
use super::{data_folder, database_path, print, warn};
use crate::cli::{ExportArguments, ExportFormat, Global};
use crate::database::{self, statements::HAS_RELATION};
use crate::error::{Error, Result};
use crate::export::output::Output;
use crate::export::profile::{Detail, Key, Profile};
use crate::export::rows::Cell;
use crate::export::{self, data_set, folder, postgres, sqlite};
use crate::format;
use crate::query;
use crate::terminal::{byte_size, counted, grouped, sanitize};
use crate::time_zone::TimeZone;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::Path;

pub fn run(global: &Global, arguments: &ExportArguments) -> Result<()> {
    let path = database_path(global)?;
    match (arguments.format, &arguments.what) {
        (ExportFormat::Csv | ExportFormat::Jsonl, Some(what)) => {
            rows(global, arguments, what, &path)
        }
        (ExportFormat::Csv | ExportFormat::Jsonl, None) => Err(Error::Usage(format!(
            "name what to export: {}; or a question, view or table",
            names_of_data_sets()
        ))),
        (_, Some(what)) => Err(Error::Usage(format!(
            "this format has all data sets; {what} alone can be exported with --format csv or jsonl"
        ))),
        (_, None) => data_sets(global, arguments, &path),
    }
}

fn data_sets(global: &Global, arguments: &ExportArguments, path: &Path) -> Result<()> {
    let connection = open(path)?;
    let profile = profile(global, arguments, &connection)?;
    match arguments.format {
        ExportFormat::Parquet => parquet(global, arguments, connection, path, &profile)?,
        ExportFormat::Sqlite => {
            let out = named(
                arguments,
                "--format sqlite writes a file; name it with --out FILE",
            )?;
            let (row_count, byte_count) = sqlite::write(&connection, out, &profile)?;
            print_summary(global, out, row_count, byte_count)?;
        }
        _ => {
            let mut out = Output::open(arguments.out.as_deref(), &connection)?;
            let row_count = postgres::write(&connection, &profile, &mut out)?;
            finish(global, arguments, out, row_count)?;
        }
    }
    report_masked(global, &profile);
    Ok(())
}

/// SQLite sorts large data sets in a temporary file.
fn open(path: &Path) -> Result<Connection> {
    let connection = database::open_read_only(path)?;
    connection.pragma_update(None, "temp_store", "file")?;
    Ok(connection)
}

/// The path of the output, if it cannot be standard output.
fn named<'a>(arguments: &'a ExportArguments, problem: &str) -> Result<&'a Path> {
    let out = arguments.out.as_deref();
    out.filter(|out| *out != Path::new("-"))
        .ok_or_else(|| Error::Usage(problem.to_string()))
}

/// Writes the rows of one data set, question, view or table.
fn rows(global: &Global, arguments: &ExportArguments, what: &str, path: &Path) -> Result<()> {
    let mut sets = data_set::all().into_iter();
    if let Some(set) = sets.find(|set| set.name == what) {
        if let Some((name, _)) = arguments.values.first() {
            return Err(Error::Usage(format!("{what} has no parameter {name}")));
        }
        let connection = open(path)?;
        let profile = profile(global, arguments, &connection)?;
        let mut lines = Lines::open(arguments, &connection, set.column_names(&profile))?;
        export::rows::each(&connection, &set, &profile, |_, cells| {
            let values: Vec<Value> = cells.iter().map(Cell::value).collect();
            lines.write(&values)
        })?;
        lines.finish(global, arguments)?;
        report_masked(global, &profile);
        return Ok(());
    }
    let connection = query::open_for_export(path)?;
    let (sql, parameters) = statement(&connection, arguments, what)?;
    if arguments.profile != Detail::Full {
        return Err(Error::Usage(format!(
            "{what} would be exported as it is, with all its text: only data sets have profiles. Give --profile full to do that, or export one of {}",
            names_of_data_sets()
        )));
    }
    let mut statement = query::prepare(&connection, &sql, &parameters)?;
    let mut lines = Lines::open(arguments, &connection, query::columns(&statement))?;
    let _ = query::each(&connection, &mut statement, &sql, |values| {
        lines.write(&values).map(ControlFlow::Continue)
    })?;
    lines.finish(global, arguments)
}

/// The statement of a question, view or table.
fn statement(
    connection: &Connection,
    arguments: &ExportArguments,
    what: &str,
) -> Result<(String, Vec<(String, String)>)> {
    if let Some(question) = find(what)? {
        refuse_unknown_parameters(&question, &arguments.values)?;
        let zone = TimeZone::read(connection)?;
        let parameters = question.interpret(&arguments.values, &zone)?;
        return Ok((question.sql, parameters));
    }
    let known: bool = connection.query_row(HAS_RELATION, [what], |row| row.get(0))?;
    match (known, arguments.values.first()) {
        (true, None) => {
            let sql = format!("select * from \"{}\"", what.replace('"', "\"\""));
            Ok((sql, Vec::new()))
        }
        (true, Some((name, _))) => Err(Error::Usage(format!("{what} has no parameter {name}"))),
        (false, _) => Err(Error::Usage(format!(
            "there is no data set, question, view or table {}; cc-etl query lists the questions, cc-etl schema the rest",
            sanitize(what)
        ))),
    }
}

fn names_of_data_sets() -> String {
    let names: Vec<&str> = data_set::all().iter().map(|set| set.name).collect();
    names.join(", ")
}

/// Rows as lines of CSV or JSON.
struct Lines {
    out: Output,
    columns: Vec<String>,
    is_csv: bool,
    csv_raw: bool,
    row_count: u64,
}

impl Lines {
    fn open(
        arguments: &ExportArguments,
        connection: &Connection,
        columns: Vec<String>,
    ) -> Result<Lines> {
        let mut lines = Lines {
            out: Output::open(arguments.out.as_deref(), connection)?,
            columns,
            is_csv: arguments.format == ExportFormat::Csv,
            csv_raw: arguments.csv_raw,
            row_count: 0,
        };
        if lines.is_csv {
            lines
                .out
                .write(&format::csv_header(&lines.columns, lines.csv_raw))?;
        }
        Ok(lines)
    }

    fn write(&mut self, row: &[Value]) -> Result<()> {
        self.row_count += 1;
        match self.is_csv {
            true => self.out.write(&format::csv_line(row, self.csv_raw)),
            false => {
                self.out.write(&format::json_object(&self.columns, row))?;
                self.out.write("\n")
            }
        }
    }

    fn finish(self, global: &Global, arguments: &ExportArguments) -> Result<()> {
        finish(global, arguments, self.out, self.row_count)
    }
}

/// Data sets that are read in parallel. More would need more memory, and would soon wait for the largest one.
const READERS: usize = 2;

fn parquet(
    global: &Global,
    arguments: &ExportArguments,
    connection: Connection,
    path: &Path,
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
    let readers = database::begin_readers(connection, path, READERS)?;
    let summary = folder::write(readers, out, profile)?;
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
        (Some(byte_count), Some(file)) => print_summary(global, file, row_count, byte_count),
        _ => Ok(()),
    }
}

fn print_summary(global: &Global, file: &Path, row_count: u64, byte_count: u64) -> Result<()> {
    if global.quiet {
        return Ok(());
    }
    print(&sanitize(&format!(
        "{}: {}, {}",
        file.display(),
        counted(row_count as i64, "row"),
        byte_size(byte_count),
    )))
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
