//! The files of a database: its lock, what lies beside it, and that only their owner can read them.

use crate::error::{Error, Result};
use crate::stop::Stop;
use std::ffi::OsStr;
use std::fs::{DirEntry, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// The lock that one sync at a time holds; it is let go when this is dropped.
pub struct Lock {
    _file: File,
}

/// How long to wait for the lock when another sync holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// So long.
    UpTo(Duration),
    /// Until it is free.
    Forever,
}

/// How often somebody who waits for the lock looks for signals and the time.
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// Takes the lock beside a database. Everything that writes has to hold it.
pub fn lock(database: &Path, wait: Wait, stop: &Stop) -> Result<Lock> {
    // A link could lead to a file that is not ours to write.
    if database
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.is_symlink())
    {
        return Err(Error::Unusable(format!(
            "{} is a link; name the database itself with --db FILE",
            database.display()
        )));
    }
    let path = beside(database, ".lock");
    create_private_folder(folder_of(&path))?;
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    let file = open_private(&path, &mut options).map_err(Error::io(&path))?;
    match (file.try_lock(), wait) {
        (Ok(()), _) => Ok(Lock { _file: file }),
        (Err(TryLockError::Error(error)), _) => Err(Error::Io(path, error)),
        (Err(TryLockError::WouldBlock), Wait::No) => Err(Error::Locked(path)),
        (Err(TryLockError::WouldBlock), Wait::UpTo(time)) => queue(file, path, Some(time), stop),
        (Err(TryLockError::WouldBlock), Wait::Forever) => queue(file, path, None, stop),
    }
}

/// Waits for the lock. The system gives it to those who wait before those who only try; that this can be stopped, a
/// thread does the waiting. If it is in vain, the thread ends with the program.
fn queue(file: File, path: PathBuf, time: Option<Duration>, stop: &Stop) -> Result<Lock> {
    let begun = Instant::now();
    let (sender, receiver) = sync_channel(1);
    let waiting = std::thread::Builder::new().spawn(move || {
        let locked = file.lock();
        // Nobody waits any more after a timeout or a signal.
        let _ = sender.send(locked.map(|()| file));
    });
    waiting.map_err(Error::io(&path))?;
    loop {
        match receiver.recv_timeout(LOCK_PAUSE) {
            Ok(Ok(file)) => return Ok(Lock { _file: file }),
            Ok(Err(error)) => return Err(Error::Io(path, error)),
            Err(_) => stop.check()?,
        }
        if time.is_some_and(|time| begun.elapsed() >= time) {
            return Err(Error::Locked(path));
        }
    }
}

/// A path beside the database: its name with something behind.
pub fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Creates a folder that only its owner can enter, with the folders above it.
pub(super) fn create_private_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(Error::io(folder))
}

/// Opens a file to write it, which only its owner can read whatever the umask, and which is no link.
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

/// Marks a file that is being written, for [`remove_leftovers`]. Elsewhere an open file cannot be removed anyway, and a lock
/// would keep SQLite out.
pub fn mark_as_used(file: &File) -> std::io::Result<()> {
    match cfg!(unix) {
        true => file.lock(),
        false => Ok(()),
    }
}

/// The file that marks a folder as used.
pub const USED: &str = "used";

/// Removes the files and folders whose names begin with a prefix and that no program uses any more: it was killed. What
/// cannot be removed is left to the next run.
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
            true if is_unused(&path.join(USED)) => std::fs::remove_dir_all(path),
            false if kind.is_file() && is_unused(&path) => std::fs::remove_file(path),
            _ => Ok(()),
        };
    }
}

fn is_unused(file: &Path) -> bool {
    File::open(file).is_ok_and(|file| file.try_lock().is_ok())
}

/// Waits until all of a file is on the disk.
pub fn sync_file(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(Error::io(path))
}

/// The folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Makes a rename permanent.
pub fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(Error::io(folder))?;
    }
    Ok(())
}
