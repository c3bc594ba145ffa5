//! `cc-etl export`: writes facts and dimensions for other engines.

use super::{data_folder, database_path, print, warn};
use crate::cli::{ExportArguments, Global};
use crate::database;
use crate::error::{Error, Result};
use crate::export::folder;
use crate::export::profile::{Detail, Key, Profile};
use crate::terminal::{byte_size, counted, sanitize};

pub fn run(global: &Global, arguments: &ExportArguments) -> Result<()> {
    let connection = database::open_read_only(&database_path(global)?)?;
    // SQLite sorts large data sets in a temporary file.
    connection.pragma_update(None, "temp_store", "file")?;
    let profile = profile(global, arguments)?;
    let summary = folder::write(&connection, &arguments.out, &profile)?;
    if global.quiet {
        return Ok(());
    }
    let count = |number: u64, what| counted(number as i64, what);
    print(&sanitize(&format!(
        "{}: {} in {}, {}; {} written, {} removed",
        arguments.out.display(),
        count(summary.row_count, "row"),
        count(summary.file_count, "file"),
        byte_size(summary.byte_count),
        summary.written_count,
        summary.removed_count,
    )))
}

fn profile(global: &Global, arguments: &ExportArguments) -> Result<Profile> {
    match arguments.profile {
        Detail::Full => Ok(Profile::full()),
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
