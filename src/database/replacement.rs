//! A file that is written beside its target and renamed when it is whole: a reader finds the old file or the new one.

use super::files::{folder_of, mark_as_used, open_private, remove_leftovers, sync_folder};
use crate::error::{Error, Result};
use rusqlite::Connection;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

pub struct Replacement {
    file: File,
    partial: TempPath,
    target: PathBuf,
    may_overwrite: bool,
}

impl Replacement {
    /// Creates the private file. What a killed run left is removed.
    pub fn new(target: &Path, may_overwrite: bool, database: &Connection) -> Result<Replacement> {
        match fs::symlink_metadata(target) {
            Ok(metadata) if !metadata.is_file() => {
                return Err(Error::Usage(format!(
                    "{} is not a regular file; name another file",
                    target.display()
                )));
            }
            Ok(_) if !may_overwrite => return Err(exists(target)),
            Ok(_) if is_same_file(database, target) => {
                return Err(Error::Usage(format!(
                    "{} is the database itself; name another file",
                    target.display()
                )));
            }
            _ => {}
        }
        let folder = folder_of(target);
        let name = target.file_name().unwrap_or_default();
        let mut prefix = name.to_os_string();
        prefix.push(".partial-");
        remove_leftovers(folder, &prefix);
        let partial = tempfile::Builder::new()
            .prefix(&prefix)
            .make_in(folder, |path| {
                let mut options = OpenOptions::new();
                open_private(path, options.write(true).create_new(true))
            })
            .map_err(Error::io(folder))?;
        let (file, partial) = partial.into_parts();
        mark_as_used(&file).map_err(Error::io(&partial))?;
        Ok(Replacement {
            file,
            partial,
            target: target.to_path_buf(),
            may_overwrite,
        })
    }

    /// The file until it is whole.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Renames the file to its target, and returns its size.
    pub fn finish(self) -> Result<u64> {
        let size = self.file.sync_all().and_then(|()| self.file.metadata());
        let size = size.map_err(Error::io(&self.partial))?.len();
        drop(self.file);
        let persisted = match self.may_overwrite {
            true => self.partial.persist(&self.target),
            false => self.partial.persist_noclobber(&self.target),
        };
        persisted.map_err(|failed| match failed.error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.target),
            _ => Error::Io(self.target.clone(), failed.error),
        })?;
        sync_folder(&self.target)?;
        Ok(size)
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn exists(target: &Path) -> Error {
    Error::Usage(format!(
        "{} exists; name another file, or give --overwrite",
        target.display()
    ))
}

fn is_same_file(connection: &Connection, target: &Path) -> bool {
    let database = connection.path().map(fs::canonicalize);
    matches!((database, fs::canonicalize(target)), (Some(Ok(a)), Ok(b)) if a == b)
}
