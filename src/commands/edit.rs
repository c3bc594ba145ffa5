//! Edits a text file of another program: shows the changes first if asked, keeps a copy of what was there, writes through a
//! symbolic link, and replaces the file in one step.

use crate::database::{folder_of, with_suffix};
use crate::error::Problem;
use crate::line_diff::LineDiff;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Maps the text of a file to its new text, or says why it is left alone; none means that there is no file.
pub type Edit<'a> = dyn Fn(Option<&str>) -> Result<Option<String>, String> + 'a;

/// Edits a file, and returns what was done.
pub fn edit_file(file: &Path, is_dry_run: bool, edit: &Edit) -> Result<String, Problem> {
    let failed = |error: io::Error| Problem::new(file, error);
    let before = read(file).map_err(failed)?;
    let after = edit(before.as_deref()).map_err(|why| {
        let message = format!("{why}; it is left as it is");
        Problem::new(file, message)
    })?;
    let name = file.display();
    if before == after {
        return Ok(format!("{name}: nothing to change"));
    }
    if is_dry_run {
        return Ok(difference(file, before.as_deref(), after.as_deref()));
    }
    expect_writable(file).map_err(failed)?;
    let backup = match &before {
        None => None,
        Some(_) => Some(back_up(file).map_err(failed)?),
    };
    // Its program may have changed it meanwhile.
    if read(file).map_err(failed)? != before {
        return Err(Problem::new(file, "another program writes it; try again"));
    }
    let written = match &after {
        Some(after) => write(file, after),
        None => target_of(file).and_then(fs::remove_file),
    };
    written.map_err(failed)?;
    let what = match (&before, &after) {
        (None, _) => "created",
        (_, None) => "removed: it had nothing else",
        _ => "changed",
    };
    Ok(match backup {
        None => format!("{name}: {what}"),
        Some(backup) => format!("{name}: {what}; {} has it as it was", backup.display()),
    })
}

fn difference(file: &Path, before: Option<&str>, after: Option<&str>) -> String {
    let name = file.display().to_string();
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let diff = LineDiff::new(before, after).unified();
    format!("--- {name}\n+++ {name}\n{}", diff.trim_end())
}

/// The text of a file; none if there is no file.
pub fn read(file: &Path) -> io::Result<Option<String>> {
    match fs::metadata(file) {
        // A pipe may have no writer.
        Ok(data) if !data.is_file() => return Err(io::Error::other("it is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    let text = String::from_utf8(fs::read(file)?);
    text.map(Some)
        .map_err(|_| io::Error::other("it is not UTF-8"))
}

fn back_up(file: &Path) -> io::Result<PathBuf> {
    let backup = with_suffix(file, ".cc-etl-backup");
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::copy(file, &backup)?;
    Ok(backup)
}

/// The file that a symbolic link leads to, which may be missing.
fn target_of(file: &Path) -> io::Result<PathBuf> {
    const LINKS: usize = 40;
    let mut target = file.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// A file that can be replaced may still be one that its owner wants to keep as it is.
fn expect_writable(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(data) if data.permissions().readonly() => Err(io::Error::other("it is read-only")),
        _ => Ok(()),
    }
}

/// Replaces a file in one step: a reader finds the old text or the new one.
pub fn write(file: &Path, text: &str) -> io::Result<()> {
    let target = target_of(file)?;
    let permissions = fs::metadata(&target).map(|data| data.permissions());
    expect_writable(&target)?;
    let mut new = tempfile::NamedTempFile::new_in(folder_of(&target))?;
    new.write_all(text.as_bytes())?;
    if let Ok(permissions) = permissions {
        new.as_file().set_permissions(permissions)?;
    }
    new.as_file().sync_all()?;
    let _: File = new.persist(&target).map_err(|error| error.error)?;
    Ok(())
}
