//! One file per command, all with the same shape: `run(global, arguments)`.

pub mod backup;
pub mod check;
pub mod datasette;
pub mod doctor;
pub mod prices;
pub mod query;
pub mod rebuild;
pub mod restore;
pub mod schema;
pub mod search;
pub mod show;
pub mod status;
pub mod sync;

use crate::cli::Global;
use crate::error::{Error, Result};
use crate::terminal::sanitize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The database of a run: `--db`, `CC_ETL_DB`, else `cc-etl.db` in the folder for the user's data.
pub fn database_path(global: &Global) -> Result<PathBuf> {
    use etcetera::BaseStrategy;
    match &global.db {
        Some(path) => refuse_sqlite_name(path).map(|()| path.clone()),
        None => etcetera::choose_base_strategy()
            .map(|folders| folders.data_dir().join("cc-etl").join("cc-etl.db"))
            .map_err(|_| {
                Error::Usage(
                    "no home directory is known; name a database with --db FILE".to_string(),
                )
            }),
    }
}

/// Refuses what SQLite takes for something other than a path: the lock and the copies of a database need a file.
fn refuse_sqlite_name(path: &Path) -> Result<()> {
    let name = path.to_string_lossy();
    if name.is_empty() {
        return Err(Error::Usage("--db needs the path of a file".to_string()));
    }
    if name == ":memory:" || name.starts_with("file:") {
        return Err(Error::Usage(format!(
            "the database must be a file, named by its path: {name} is not one, ./{name} is"
        )));
    }
    Ok(())
}

/// Prints a line to stdout. A reader that has gone away is an error, and a quiet end.
pub fn print(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}").map_err(Error::io("standard output"))
}

/// Prints a line to stderr: what a person should know, and what is not the result. Whoever closed it does not want it.
pub fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "cc-etl: {}", sanitize(text));
}
