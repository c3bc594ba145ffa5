//! The files of a database: its lock, its temporary files, and their permissions.

use crate::error::{Error, Result};
use crate::stop::Stop;
use crate::timestamp;
use std::ffi::OsStr;
use std::fs::{DirEntry, File, OpenOptions, TryLockError};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// The exclusive lock of a writer. Dropping it releases the lock.
pub struct Lock {
    file: File,
}

impl Lock {
    /// Records the end of a sync in the lock file: a sync with nothing new does not write to the database.
    pub fn record_sync(&mut self, finished_at: &str) -> std::io::Result<()> {
        self.file.rewind()?;
        self.file.write_all(finished_at.as_bytes())
    }
}

/// The end of the last sync, by the lock file of a database.
pub fn recorded_sync(database: &Path) -> Option<String> {
    let recorded = std::fs::read_to_string(with_suffix(database, ".lock")).ok()?;
    timestamp::to_milliseconds(&recorded).map(|_| recorded)
}

/// How long to wait if another sync holds the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    No,
    UpTo(Duration),
    Forever,
}

/// How often a waiting sync checks for signals and its timeout.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Acquires the lock of a database. Every writer must hold it.
pub fn lock(database: &Path, wait: Wait, stop: &Stop) -> Result<Lock> {
    // Through a link a sync could overwrite a file that is not a database of this user.
    if database
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_symlink())
    {
        return Err(Error::Unusable(format!(
            "{} is a symbolic link; give the path of the database itself with --db FILE",
            database.display()
        )));
    }
    let path = with_suffix(database, ".lock");
    let folder = folder_of(&path);
    create_private_folder(folder).map_err(Error::io(folder))?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = open_private(&path, &mut options).map_err(Error::io(&path))?;
    match (file.try_lock(), wait) {
        (Ok(()), _) => Ok(Lock { file }),
        (Err(TryLockError::Error(error)), _) => Err(Error::Io(path, error)),
        (Err(TryLockError::WouldBlock), Wait::No) => Err(Error::Locked(path)),
        (Err(TryLockError::WouldBlock), Wait::UpTo(time)) => wait_for(file, path, Some(time), stop),
        (Err(TryLockError::WouldBlock), Wait::Forever) => wait_for(file, path, None, stop),
    }
}

/// Waits for the lock. A blocking wait is fair, unlike polling with `try_lock`, but a signal cannot interrupt it: so a thread
/// does it. After a timeout the thread blocks until the program exits.
fn wait_for(file: File, path: PathBuf, time: Option<Duration>, stop: &Stop) -> Result<Lock> {
    let begun = Instant::now();
    let (sender, receiver) = sync_channel(1);
    let waiting = std::thread::Builder::new().spawn(move || {
        let locked = file.lock();
        // After a timeout or a signal the receiver is gone.
        let _ = sender.send(locked.map(|()| file));
    });
    waiting.map_err(Error::io(&path))?;
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(Ok(file)) => return Ok(Lock { file }),
            Ok(Err(error)) => return Err(Error::Io(path, error)),
            Err(_) => stop.check()?,
        }
        if time.is_some_and(|time| begun.elapsed() >= time) {
            return Err(Error::Locked(path));
        }
    }
}

/// The path of a companion file, such as `<database>-wal`.
pub fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates a folder and its parents with mode 0700.
pub fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file for writing with mode 0600, whatever the umask. Fails on a symbolic link.
pub fn open_private(path: &Path, options: &mut OpenOptions) -> std::io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let file = options.mode(0o600).custom_flags(no_link).open(path)?;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o777 != 0o600 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
        }
        Ok(file)
    }
    #[cfg(not(unix))]
    options.open(path)
}

/// Locks a temporary file that SQLite writes, so that [`remove_leftovers`] of another process keeps it. On Windows a file that
/// SQLite has open cannot be removed anyway, and the lock would block SQLite.
pub fn mark_as_used(file: &File) -> std::io::Result<()> {
    match cfg!(unix) {
        true => file.lock(),
        false => Ok(()),
    }
}

/// The file to lock in a temporary folder.
pub const USED: &str = "used";

/// Removes temporary files and folders with this prefix that no process has locked: their process was killed. What cannot be
/// removed now is left for the next run.
pub fn remove_leftovers(folder: &Path, prefix: &OsStr) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let prefix = prefix.as_encoded_bytes();
    let is_left = |entry: &DirEntry| entry.file_name().as_encoded_bytes().starts_with(prefix);
    for entry in entries.filter(is_left) {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let _ = match kind.is_dir() {
            true if is_unused(&path.join(USED)) || is_half_removed(&path) => {
                std::fs::remove_dir_all(path)
            }
            false if kind.is_file() && is_unused(&path) => std::fs::remove_file(path),
            _ => Ok(()),
        };
    }
}

/// The file to lock is the first one in its folder, but not always the last one to be removed.
fn is_half_removed(folder: &Path) -> bool {
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_none());
    !folder.join(USED).exists() && !is_empty()
}

fn is_unused(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| file.try_lock().is_ok())
}

/// Flushes a file to disk.
pub fn sync_file(path: &Path) -> Result<()> {
    // Windows flushes only what is open for writing.
    let file = OpenOptions::new().write(true).open(path);
    file.and_then(|file| file.sync_all())
        .map_err(Error::io(path))
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Flushes the folder of a file to disk, so that a rename in it is durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(folder))?;
    }
    Ok(())
}
