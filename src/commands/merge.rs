//! `cc-etl merge`: imports the archives of other databases.

use super::{database_path, sync};
use crate::cli::{Global, MergeArguments, SyncArguments};
use crate::error::{Error, Result};
use crate::merge::OtherDatabase;
use std::fs;
use std::path::Path;

pub fn run(global: &Global, arguments: &MergeArguments) -> Result<()> {
    if global.demo {
        let message = "--demo imports the demo home; leave it out";
        return Err(Error::Usage(message.to_string()));
    }
    let database = database_path(global)?;
    let open = |path| open(path, &database);
    let others = arguments.databases.iter().map(|path| open(path));
    let others = others.collect::<Result<_>>()?;
    let arguments = SyncArguments {
        threads: arguments.threads,
        wait: arguments.wait,
        json: arguments.json,
        ..SyncArguments::default()
    };
    sync::merge(global, &arguments, others)
}

fn open(path: &Path, database: &Path) -> Result<OtherDatabase> {
    let real = |path| fs::canonicalize(path).ok();
    if real(path).is_some_and(|path| Some(path) == real(database)) {
        return Err(Error::Usage(format!(
            "{} is the database to merge into; name another one, or another --db",
            path.display()
        )));
    }
    let other = OtherDatabase::open(path)?;
    if other.holds_demo() {
        return Err(Error::Usage(format!(
            "{} holds the demo, which is not merged with real history",
            path.display()
        )));
    }
    Ok(other)
}
