//! One file per command, each with `run(global, arguments)`.

pub mod advise;
mod automatic;
pub mod backup;
pub mod budget;
pub mod check;
pub mod completions;
pub mod config;
pub mod datasette;
pub mod doctor;
mod edit;
pub mod export;
pub mod hook;
pub mod man;
pub mod mcp;
pub mod merge;
pub mod overview;
pub mod path;
pub mod prices;
pub mod query;
pub mod rebuild;
pub mod report;
pub mod restore;
pub mod schema;
pub mod search;
pub mod service;
pub mod show;
pub mod sql;
pub mod status;
pub mod statusline;
pub mod sync;

use crate::cli::Global;
use crate::error::{Error, Result};
use crate::format::{Format, QueryRows};
use crate::pager;
use crate::terminal::{self, sanitize};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The path of the database: `--db`, else `CC_ETL_DB`, else `cc-etl/cc-etl.db` in the user's data folder; the demo's is
/// `cc-etl/demo.db`.
pub fn database_path(global: &Global) -> Result<PathBuf> {
    let name = if global.demo { "demo.db" } else { "cc-etl.db" };
    match (&global.db, data_folder()) {
        (Some(path), _) => refuse_sqlite_name(path).map(|()| path.clone()),
        (None, Some(folder)) => Ok(folder.join(name)),
        (None, None) => Err(Error::Usage(
            "cannot find your home directory; give the database with --db FILE".to_string(),
        )),
    }
}

/// The folder of the database and of a user's own questions; none if there is no home directory.
fn data_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let folders = etcetera::choose_base_strategy().ok()?;
    Some(folders.data_dir().join("cc-etl"))
}

/// Rejects names that SQLite does not interpret as paths: the lock file and copies need a path.
fn refuse_sqlite_name(path: &Path) -> Result<()> {
    let name = path.to_string_lossy();
    if name.is_empty() {
        return Err(Error::Usage("--db requires the path of a file".to_string()));
    }
    if name == ":memory:" || name.starts_with("file:") {
        return Err(Error::Usage(format!(
            "{name} is not a path; for a file of this name give ./{name}"
        )));
    }
    Ok(())
}

/// Prints a line to stdout. A broken pipe is an error, which `main` treats as success.
pub fn print(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}").map_err(Error::io("standard output"))
}

/// Prints text that may be long: on a terminal in a pager, unless it fits on the screen.
pub fn page(global: &Global, text: &str) -> Result<()> {
    page_lines(global, text, false)
}

/// Prints a table. One that is wider than the terminal is scrolled sideways.
pub fn page_table(global: &Global, table: &str) -> Result<()> {
    page_lines(global, table, true)
}

fn page_lines(global: &Global, text: &str, is_table: bool) -> Result<()> {
    if let Some((width, height)) = terminal::size().filter(|_| !global.no_pager) {
        let widths = || text.lines().map(terminal::shown_width);
        let is_wide = is_table && widths().any(|line| line > width);
        let line_count: usize = widths().map(|line| line.div_ceil(width).max(1)).sum();
        if (is_wide || line_count >= height) && pager::show(text, is_wide)? {
            return Ok(());
        }
    }
    print(text)
}

/// Prints rows for programs. No rows of JSON Lines are no lines.
pub fn page_rows(global: &Global, rows: &QueryRows, format: Format, csv_raw: bool) -> Result<()> {
    match format == Format::Jsonl && rows.rows.is_empty() {
        true => Ok(()),
        false => page(global, &rows.format(format, csv_raw)),
    }
}

/// Prints a warning or an error to stderr, and ignores failures.
pub fn warn(text: &str) {
    let text = format!("cc-etl: {}", sanitize(text));
    let text = match terminal::error_width() {
        Some(width) => wrap_lines(&text, width, ""),
        None => text,
    };
    let _ = writeln!(io::stderr(), "{text}");
}

/// Breaks lines that are longer than those of the terminal; see [`wrap_lines`].
pub fn fit_terminal(text: &str, indent: &str) -> String {
    match terminal::size() {
        Some((width, _)) => wrap_lines(text, width, indent),
        None => text.to_string(),
    }
}

/// Breaks lines at spaces; the lines after a break are indented. An indented line is shown as it is, such as the mark below a
/// wrong statement.
fn wrap_lines(text: &str, width: usize, indent: &str) -> String {
    let wrapped = |line: &str| -> Vec<String> {
        let is_short = terminal::shown_width(line) <= width;
        if is_short || line.starts_with(' ') {
            return vec![line.to_string()];
        }
        let options = textwrap::Options::new(width)
            .subsequent_indent(indent)
            .break_words(false)
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let lines = textwrap::wrap(line, options).into_iter();
        lines.map(|line| line.into_owned()).collect()
    };
    text.lines()
        .flat_map(wrapped)
        .collect::<Vec<_>>()
        .join("\n")
}
