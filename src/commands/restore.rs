//! `cc-etl restore`: writes files back from the archive, byte for byte.

use super::{database_path, print, warn};
use crate::archive::{self, CHUNK_BYTES};
use crate::cli::{Global, RestoreArguments};
use crate::database::{self, statements as sql};
use crate::error::{Error, Problem, Result};
use crate::progress::Progress;
use crate::terminal::{byte_size, counted, sanitize};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Writes the files of all sessions or of the given ones. A file that cannot be written is reported and does not affect the
/// others.
pub fn run(global: &Global, arguments: &RestoreArguments) -> Result<()> {
    let connection = database::open_read_only(&database_path(global)?)?;
    let sessions = sessions(&connection, &arguments.sessions)?;
    let mut files = files(&connection, sessions.as_deref())?;
    if !arguments.all_versions {
        files.retain(|file| file.is_current);
    }
    let homes: BTreeSet<i64> = files.iter().map(|file| file.source_id).collect();
    let total = files.iter().map(|file| file.size).sum();
    let progress = Progress::bytes("writing", total, global.quiet);
    let mut problems = Vec::new();
    let (mut written, mut written_bytes, mut same) = (0, 0, 0);
    for file in &files {
        let target = match homes.len() {
            0 | 1 => file.path(),
            _ => PathBuf::from(&file.home).join(file.path()),
        };
        match write(&connection, file, &arguments.out, &target, &progress) {
            Ok(true) => {
                written += 1;
                written_bytes += file.size;
            }
            Ok(false) => same += 1,
            Err(error) => problems.push(Problem::new(arguments.out.join(&target), error)),
        }
    }
    progress.finish();
    for problem in problems.iter().take(SHOWN) {
        warn(&problem.to_string());
    }
    if problems.len() > SHOWN {
        let more = problems.len() - SHOWN;
        warn(&format!("and {} more", counted(more as i64, "file")));
    }
    if !global.quiet {
        let out = arguments.out.display().to_string();
        let files = counted(written, "file");
        let size = byte_size(written_bytes);
        let mut summary = format!("{files}, {size}, written to {}", sanitize(&out));
        if same > 0 {
            summary += &format!(
                "; {} with the same content were there",
                counted(same, "file")
            );
        }
        print(&summary)?;
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(Error::Unwritten(count as u64)),
    }
}

/// Limit of the problems that are printed.
const SHOWN: usize = 10;

/// The ids of the sessions, as a JSON list; `None` for all sessions.
fn sessions(connection: &Connection, names: &[String]) -> Result<Option<String>> {
    if names.is_empty() {
        return Ok(None);
    }
    let found: Vec<String> = names
        .iter()
        .map(|name| database::find_session(connection, name))
        .collect::<Result<_>>()?;
    Ok(Some(serde_json::json!(found).to_string()))
}

/// A file to write.
struct Archived {
    file_id: i64,
    source_id: i64,
    /// The folder for its home, if there are several homes.
    home: String,
    path: String,
    path_bytes: Option<Vec<u8>>,
    generation: i64,
    size: u64,
    modified_ns: i64,
    is_current: bool,
}

fn files(connection: &Connection, sessions: Option<&str>) -> Result<Vec<Archived>> {
    let mut statement = connection.prepare(sql::FILES_TO_RESTORE)?;
    let files = statement.query_map([sessions], |row| {
        let source_id: i64 = row.get(7)?;
        let machine: String = row.get(8)?;
        let safe: String = machine
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        Ok(Archived {
            file_id: row.get(0)?,
            source_id,
            home: format!("{source_id}-{safe}"),
            path: row.get(1)?,
            path_bytes: row.get(2)?,
            generation: row.get(3)?,
            size: row.get::<_, i64>(4)?.cast_unsigned(),
            modified_ns: row.get(5)?,
            is_current: row.get(6)?,
        })
    })?;
    Ok(files.collect::<rusqlite::Result<_>>()?)
}

impl Archived {
    /// Where to write it, relative to its home. Older versions have a number at the end.
    fn path(&self) -> PathBuf {
        let mut path =
            native_path(self.path_bytes.as_deref()).unwrap_or_else(|| PathBuf::from(&self.path));
        if !self.is_current {
            let mut name = path.into_os_string();
            name.push(format!(".version-{}", self.generation));
            path = PathBuf::from(name);
        }
        path
    }
}

#[cfg(unix)]
fn native_path(bytes: Option<&[u8]>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    bytes.map(|bytes| PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// On other systems names are not bytes, so the readable form is used.
#[cfg(not(unix))]
fn native_path(_bytes: Option<&[u8]>) -> Option<PathBuf> {
    None
}

/// Returns false if the file is there with the same content.
fn write(
    connection: &Connection,
    file: &Archived,
    out: &Path,
    relative: &Path,
    progress: &Progress,
) -> io::Result<bool> {
    let target = prepare(out, relative)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    let mut output = match database::open_private(&target, &mut options) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            progress.advance(file.size);
            return match is_same(connection, file, &target)? {
                true => Ok(false),
                false => Err(io::Error::other(
                    "it exists with other content, and is left as it is",
                )),
            };
        }
        output => output?,
    };
    for position in 0..file.size.div_ceil(CHUNK_BYTES) {
        let (content, byte_length) = archive::find(connection, file.file_id, position)?;
        output.write_all(&archive::unpack(&content, byte_length)?)?;
        progress.advance(byte_length);
    }
    output.set_times(FileTimes::new().set_modified(moment(file.modified_ns)))?;
    output.sync_all()?;
    Ok(true)
}

/// Whether a file on disk has the bytes of the archive.
fn is_same(connection: &Connection, file: &Archived, target: &Path) -> io::Result<bool> {
    let metadata = fs::symlink_metadata(target)?;
    if !metadata.is_file() || metadata.len() != file.size {
        return Ok(false);
    }
    let mut existing = File::open(target)?;
    let mut found = Vec::new();
    for position in 0..file.size.div_ceil(CHUNK_BYTES) {
        let (content, byte_length) = archive::find(connection, file.file_id, position)?;
        found.clear();
        (&mut existing).take(byte_length).read_to_end(&mut found)?;
        if found != archive::unpack(&content, byte_length)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Creates the folders for a file. The path comes from the data, so it must not leave `out`, neither by its parts nor through
/// an existing link.
fn prepare(out: &Path, relative: &Path) -> io::Result<PathBuf> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if relative.as_os_str().is_empty() || !relative.components().all(is_plain) {
        return Err(io::Error::other(
            "not written, because the path leaves the output folder",
        ));
    }
    fs::create_dir_all(out)?;
    let mut folder = out.to_path_buf();
    let parent = relative.parent().unwrap_or(Path::new(""));
    for part in parent.components() {
        folder.push(part);
        match fs::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(io::Error::other(format!(
                    "{} is not a folder",
                    folder.display()
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&folder)?,
            Err(error) => return Err(error),
        }
    }
    Ok(out.join(relative))
}

fn moment(nanoseconds: i64) -> SystemTime {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    match nanoseconds >= 0 {
        true => UNIX_EPOCH + distance,
        false => UNIX_EPOCH - distance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_leaves_the_folder() {
        let out = tempfile::tempdir().unwrap();
        for path in ["../a", "/etc/passwd", "a/../../b", "", "./.."] {
            assert!(prepare(out.path(), Path::new(path)).is_err(), "{path}");
        }
        assert!(prepare(out.path(), Path::new("projects/-w/a.jsonl")).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leaves_the_folder() {
        let out = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), out.path().join("projects")).unwrap();
        assert!(prepare(out.path(), Path::new("projects/a.jsonl")).is_err());
    }
}
