//! A Claude home -> its source files, classified by path and not yet opened.

mod homes;
mod place;
mod walk;

use crate::error::{Error, Problem, Result};
use crate::pipeline::start_workers;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

pub use homes::{default_homes, global_settings, product};
pub use place::{Kind, Layout, Place, Reading, classify, is_uuid};

/// A file of a home that a sync reads.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its absolute path.
    pub absolute: PathBuf,
    /// Relative to the home, with `/`; backslashes and bytes that are not UTF-8 are written as `\xNN`.
    pub path: String,
    /// The raw relative path, if it differs.
    pub path_bytes: Option<Vec<u8>>,
    pub stat: Stat,
}

/// The metadata that shows whether a file may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Length in bytes.
    pub size: u64,
    /// mtime, nanoseconds since 1970.
    pub modified_ns: i64,
    /// ctime, nanoseconds since 1970.
    pub changed_ns: i64,
    /// Device.
    pub device: i64,
    /// Inode.
    pub inode: i64,
}

/// The files of a home.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Files to read.
    pub files: Vec<SourceFile>,
    /// Folders that could not be listed, and files without metadata.
    pub problems: Vec<Problem>,
    /// The relative paths of the problems. Files below them are not missing.
    pub unknown: Vec<String>,
}

fn no_home_message(what: &str) -> String {
    format!(
        "{what}\nname a Claude home with --source DIR or CLAUDE_CONFIG_DIR\nor try the demo: cc-etl --demo"
    )
}

/// Returns an error if a home does not exist, or is a folder inside of one: nothing would be found there.
pub fn expect(home: &Path) -> Result<()> {
    if !home.is_dir() {
        let what = format!("{} is not a folder", home.display());
        return Err(Error::NoSource(no_home_message(&what)));
    }
    match enclosing_home(home) {
        Some(outer) if !is_home(home) => Err(Error::NoSource(format!(
            "{} is a folder inside of a Claude home\nname the home: --source {}",
            home.display(),
            outer.display()
        ))),
        _ => Ok(()),
    }
}

/// Whether a folder has a file or folder that is read in a home.
fn is_home(folder: &Path) -> bool {
    READ.iter().any(|name| folder.join(name).exists())
}

/// The home that a folder is in: it has `projects`, and the folder is one of those that are read in it, or below one.
fn enclosing_home(folder: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(folder).ok()?;
    let mut outer = folder.ancestors().skip(1);
    let home = outer.find(|outer| {
        let inside = folder.strip_prefix(outer);
        inside.is_ok_and(is_read) && outer.join("projects").is_dir()
    });
    home.map(Path::to_path_buf)
}

/// Finds the files of a home.
pub fn discover(home: &Path) -> Result<Discovery> {
    expect(home)?;
    start_workers().map_err(Error::io(home))?;
    let mut found = walk::walk(home);
    found.problems.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// The home of a transcript: the folder above `projects/`.
pub fn home_of(transcript: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(transcript).map_err(Error::io(transcript))?;
    let home = absolute
        .ancestors()
        .find(|folder| folder.file_name().is_some_and(|name| name == "projects"))
        .and_then(Path::parent);
    match home {
        Some(_) if !absolute.exists() => Err(Error::NoSource(format!(
            "{} is not a file",
            transcript.display()
        ))),
        Some(home) => Ok(home.to_path_buf()),
        None => Err(Error::Usage(format!(
            "{} is not below a folder named projects, so it is no transcript of a Claude home",
            transcript.display()
        ))),
    }
}

/// Finds one transcript of a home.
pub fn discover_file(home: &Path, transcript: &Path) -> Result<Discovery> {
    let absolute = std::path::absolute(transcript).map_err(Error::io(transcript))?;
    let relative = absolute
        .strip_prefix(home)
        .expect("a transcript is in its home")
        .to_path_buf();
    let mut found = Discovery::default();
    // A link given by the user is followed to its target.
    let real = fs::canonicalize(&absolute).unwrap_or(absolute);
    found.file(real.clone(), &relative, fs::metadata(&real));
    if found.files.is_empty() && found.problems.is_empty() {
        let what = format!("{} is not a file", transcript.display());
        return Err(Error::NoSource(what));
    }
    Ok(found)
}

impl Discovery {
    fn file(&mut self, absolute: PathBuf, relative: &Path, metadata: io::Result<Metadata>) {
        match metadata {
            Ok(metadata) if metadata.is_file() => {
                let (path, path_bytes) = portable(relative);
                self.files.push(SourceFile {
                    absolute,
                    path,
                    path_bytes,
                    stat: Stat::of(&metadata),
                });
            }
            Ok(_) => {}
            Err(error) => self.problem(&absolute, relative, &error),
        }
    }

    fn problem(&mut self, absolute: &Path, relative: &Path, error: &io::Error) {
        if error.kind() != io::ErrorKind::NotFound {
            self.problems.push(Problem::new(absolute, error));
            self.unknown.push(portable(relative).0);
        }
    }
}

impl Stat {
    /// The stat of a file, open or not.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Stat {
        use std::os::unix::fs::MetadataExt;
        Stat {
            size: metadata.len(),
            modified_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            device: metadata.dev().cast_signed(),
            inode: metadata.ino().cast_signed(),
        }
    }

    /// The stat of a file, open or not. On systems without inodes only size and time are compared.
    #[cfg(not(unix))]
    pub fn of(metadata: &Metadata) -> Stat {
        let modified_ns = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .and_then(|age| i64::try_from(age.as_nanos()).ok())
            .unwrap_or(0);
        Stat {
            size: metadata.len(),
            modified_ns,
            changed_ns: modified_ns,
            device: 0,
            inode: 0,
        }
    }
}

/// A time since 1970. File systems keep times that 64 bits of nanoseconds cannot.
#[cfg(unix)]
fn nanoseconds(seconds: i64, nanoseconds: i64) -> i64 {
    seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds)
}

/// The folders and files of a home that are read.
pub const READ: &[&str] = &[
    "projects",
    "history.jsonl",
    "todos",
    "tasks",
    "plans",
    "paste-cache",
    "image-cache",
    "file-history",
    "teams",
    "stats-cache.json",
    "usage-data",
];

pub fn is_read(relative: &Path) -> bool {
    let first = relative.components().next();
    first.is_some_and(|first| READ.iter().any(|name| first.as_os_str() == *name))
}

/// A relative path as text with `/`, and its bytes where the text is another.
fn portable(relative: &Path) -> (String, Option<Vec<u8>>) {
    let mut bytes = relative.as_os_str().as_encoded_bytes().to_vec();
    if std::path::MAIN_SEPARATOR != '/' {
        let separator = std::path::MAIN_SEPARATOR as u8;
        bytes
            .iter_mut()
            .filter(|byte| **byte == separator)
            .for_each(|byte| *byte = b'/');
    }
    let text = escape_path(&bytes);
    match text.as_bytes() == bytes {
        true => (text, None),
        false => (text, Some(bytes)),
    }
}

/// A path as text that no other path has: backslashes, and bytes that are not UTF-8, are written as `\xNN`.
pub fn escape_path(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\x5c"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_paths_are_the_same_text() {
        let paths: [&[u8]; 7] = [
            b"a\xff",
            b"a\\xff",
            b"a\\x5cxff",
            b"a\\",
            b"a\\x5c",
            b"a\\\xff",
            "a\u{fffd}".as_bytes(),
        ];
        let texts: std::collections::HashSet<String> = paths.map(escape_path).into();
        assert_eq!(texts.len(), paths.len());
        assert_eq!(escape_path(b"projects/-w/a.jsonl"), "projects/-w/a.jsonl");
    }

    #[cfg(unix)]
    #[test]
    fn loops_fifos_and_odd_names_are_met_with_sense() {
        use std::os::unix::ffi::OsStrExt;
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects/-w");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.jsonl"), "{}\n").unwrap();
        fs::write(
            folder.join(std::ffi::OsStr::from_bytes(b"b\xff.jsonl")),
            "{}\n",
        )
        .unwrap();
        std::os::unix::fs::symlink(&folder, folder.join("loop")).unwrap();
        // A project elsewhere, under two names, with a way back.
        let other = tempfile::tempdir().unwrap();
        fs::create_dir_all(other.path().join("deep")).unwrap();
        fs::write(other.path().join("deep/c.jsonl"), "{}\n").unwrap();
        let projects = home.path().join("projects");
        std::os::unix::fs::symlink(other.path(), projects.join("other")).unwrap();
        std::os::unix::fs::symlink(other.path(), projects.join("other-again")).unwrap();
        std::os::unix::fs::symlink(home.path(), other.path().join("deep/back")).unwrap();
        std::os::unix::fs::symlink("deep/c.jsonl", other.path().join("link.jsonl")).unwrap();
        std::os::unix::fs::symlink("nowhere.jsonl", folder.join("dangling.jsonl")).unwrap();
        std::process::Command::new("mkfifo")
            .arg(folder.join("pipe.jsonl"))
            .status()
            .unwrap();
        let found = discover(home.path()).unwrap();
        let mut paths: Vec<&str> = found.files.iter().map(|file| file.path.as_str()).collect();
        paths.sort_unstable();
        let expected = [
            "projects/-w/a.jsonl",
            "projects/-w/b\\xff.jsonl",
            "projects/other/deep/c.jsonl",
            "projects/other/link.jsonl",
        ];
        assert_eq!(paths, expected);
        let problems: Vec<_> = found.problems.iter().map(|problem| &problem.path).collect();
        assert_eq!(problems, [&projects.join("other/deep/back")]);
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_nothing_that_is_not_read_anyway() {
        use std::os::unix::fs::symlink;
        let parent = tempfile::tempdir().unwrap();
        let home = parent.path().join("home");
        for folder in ["projects/-w/deep", "file-history", "plans"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        let outside = parent.path().join("outside");
        fs::create_dir_all(outside.join("folder")).unwrap();
        fs::write(outside.join("secret.jsonl"), "{}\n").unwrap();
        fs::write(outside.join("folder/shadow"), "root:").unwrap();
        fs::write(home.join(".credentials.json"), "{}").unwrap();
        fs::write(home.join("projects/-w/a.jsonl"), "{}\n").unwrap();
        let refused = [
            ("file-history/etc", "../../outside/folder"),
            ("file-history/up", ".."),
            ("plans/secret.md", "../../outside/secret.jsonl"),
            ("projects/-w/deep/out", "../../../../outside/folder"),
            ("projects/-w/key.jsonl", "../../.credentials.json"),
            ("projects/-w/out.jsonl", "../../../outside/secret.jsonl"),
            ("stats-cache.json", ".credentials.json"),
            ("todos", "../outside"),
        ];
        for (link, target) in refused {
            symlink(target, home.join(link)).unwrap();
        }
        // It would not be read under any name.
        symlink("../../.credentials.json", home.join("projects/-w/key.txt")).unwrap();
        symlink("a.jsonl", home.join("projects/-w/same.jsonl")).unwrap();
        symlink("../projects/-w/a.jsonl", home.join("plans/a.md")).unwrap();
        let found = discover(&home).unwrap();
        let mut read: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        read.sort_unstable();
        let expected = [
            ".credentials.json",
            "plans/a.md",
            "projects/-w/a.jsonl",
            "projects/-w/same.jsonl",
        ];
        assert_eq!(read, expected);
        let problems = found.problems.iter();
        let problems: Vec<_> = problems.map(|problem| problem.path.clone()).collect();
        assert_eq!(
            problems,
            refused.map(|(link, _)| home.join(link).display().to_string())
        );
        assert_eq!(found.unknown.len(), refused.len());
    }

    #[cfg(unix)]
    #[test]
    fn the_home_its_projects_and_each_project_may_be_links() {
        use std::os::unix::fs::symlink;
        let parent = tempfile::tempdir().unwrap();
        let path = |name: &str| parent.path().join(name);
        fs::create_dir_all(path("home")).unwrap();
        fs::create_dir_all(path("all/-v")).unwrap();
        fs::create_dir_all(path("one")).unwrap();
        fs::write(path("all/-v/a.jsonl"), "{}\n").unwrap();
        fs::write(path("one/b.jsonl"), "{}\n").unwrap();
        symlink(path("all"), path("home/projects")).unwrap();
        symlink(path("one"), path("all/-w")).unwrap();
        symlink(path("home"), path("link")).unwrap();
        let found = discover(&path("link")).unwrap();
        let mut read: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
        read.sort_unstable();
        assert_eq!(read, ["projects/-v/a.jsonl", "projects/-w/b.jsonl"]);
        assert!(found.problems.is_empty(), "{:?}", found.problems);
    }
}
