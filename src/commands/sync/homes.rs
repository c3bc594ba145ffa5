//! The homes to sync, with their files.

use crate::cli::{Global, SyncArguments};
use crate::database::{DEMO_HOME, DEMO_ROOT};
use crate::discover::{self, Discovery};
use crate::error::{Error, Result};
use crate::machine::Machine;
use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

/// A home with its files.
pub struct Home {
    root: PathBuf,
    /// Its path in the database.
    pub name: String,
    pub found: Discovery,
    /// Whether all of its files were discovered.
    pub is_complete: bool,
    /// The temporary folder of the demo home.
    _folder: Option<TempDir>,
}

/// The folders of the homes. Returns an error before anything is locked or created, if a home does not exist.
pub fn roots(global: &Global, arguments: &SyncArguments) -> Result<Vec<PathBuf>> {
    if global.demo {
        return Ok(Vec::new());
    }
    if let Some(transcript) = &arguments.file {
        return Ok(vec![discover::home_of(transcript)?]);
    }
    let roots = match arguments.source.is_empty() {
        true => discover::default_homes()?,
        false => arguments.source.clone(),
    };
    roots.iter().try_for_each(|root| discover::expect(root))?;
    Ok(roots)
}

/// The machine whose homes are synced.
pub fn machine(global: &Global, arguments: &SyncArguments) -> Machine {
    match (&arguments.machine, global.demo) {
        (Some(name), _) => Machine::with_name(name),
        (None, true) => Machine::named("demo"),
        (None, false) => Machine::this_with_id(),
    }
}

/// Discovers the files of the homes.
pub fn homes(global: &Global, arguments: &SyncArguments, roots: &[PathBuf]) -> Result<Vec<Home>> {
    if global.demo {
        return Ok(vec![demo_home()?]);
    }
    let mut homes: Vec<Home> = Vec::new();
    for root in roots {
        let home = match &arguments.file {
            Some(transcript) => Home::new(root, discover::discover_file(root, transcript)?, false)?,
            None => Home::new(root, discover::discover(root)?, true)?,
        };
        // Two paths may lead to the same home.
        if !homes.iter().any(|other| other.root == home.root) {
            homes.push(home);
        }
    }
    Ok(homes)
}

impl Home {
    fn new(root: &Path, found: Discovery, is_complete: bool) -> Result<Home> {
        let root = fs::canonicalize(root).map_err(Error::io(root))?;
        Ok(Home {
            name: plain_path(&root.display().to_string()),
            root,
            found,
            is_complete,
            _folder: None,
        })
    }
}

/// Strips the prefix `\\?\` of canonical paths on Windows.
fn plain_path(path: &str) -> String {
    match path.strip_prefix(r"\\?\") {
        Some(rest) if rest.get(1..2) == Some(":") => rest.to_string(),
        Some(rest) => rest
            .strip_prefix(r"UNC\")
            .map_or(path.to_string(), |share| format!(r"\\{share}")),
        None => path.to_string(),
    }
}

/// The mtime of the demo files: 2026-10-28 12:00 UTC.
const DEMO_TIME: Duration = Duration::from_secs(1_793_188_800);

/// Writes the demo home to a temporary folder.
fn demo_home() -> Result<Home> {
    let temporary = std::env::temp_dir();
    let folder = tempfile::Builder::new()
        .prefix("cc-etl-demo-")
        .tempdir()
        .map_err(Error::io(&temporary))?;
    for (path, compressed) in DEMO_HOME {
        let file = folder.path().join(path);
        let content = zstd::decode_all(*compressed).map_err(Error::io(&file))?;
        let parent = file.parent().expect("a file is in a folder");
        fs::create_dir_all(parent).map_err(Error::io(parent))?;
        fs::write(&file, content).map_err(Error::io(&file))?;
        let modified = FileTimes::new().set_modified(UNIX_EPOCH + DEMO_TIME);
        File::options()
            .write(true)
            .open(&file)
            .and_then(|file| file.set_times(modified))
            .map_err(Error::io(&file))?;
    }
    Ok(Home {
        root: folder.path().to_path_buf(),
        name: DEMO_ROOT.to_string(),
        found: discover::discover(folder.path())?,
        is_complete: true,
        _folder: Some(folder),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_path_of_windows_is_stored_as_people_write_it() {
        for (real, plain) in [
            (r"\\?\C:\Users\a\.claude", r"C:\Users\a\.claude"),
            (r"\\?\UNC\server\share\.claude", r"\\server\share\.claude"),
            (r"\\?\Volume{1}\.claude", r"\\?\Volume{1}\.claude"),
            ("/home/a/.claude", "/home/a/.claude"),
        ] {
            assert_eq!(plain_path(real), plain);
        }
    }
}
