//! The two kinds of error: an [`Error`] ends the run; a [`Problem`] affects one file or folder, and the run continues.

use crate::failures::Failure;
use crate::sqlite_bulk;
use crate::terminal::{byte_size, counted};
use rusqlite::ErrorCode;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why the run ends. Each kind has an exit code.
#[derive(Debug)]
pub enum Error {
    /// The arguments are invalid together.
    Usage(String),
    /// There is no Claude home to read.
    NoSource(String),
    /// Another sync holds the lock.
    Locked(PathBuf),
    /// A signal ended the run.
    Stopped(u8),
    /// An internal error while a chunk was loaded. Another attempt without its rows may succeed.
    Failed(Box<Failure>),
    /// The disk is full or fails.
    Storage {
        /// The database.
        path: PathBuf,
        /// The message of the system.
        cause: String,
        free_bytes: Option<u64>,
        /// Bytes that the rest of the run may need.
        needed_bytes: u64,
    },
    /// The database is newer than this program, or was not created by it.
    Unusable(String),
    /// The page writer refuses to fill this new database. SQL statements can.
    NotInBulk(String),
    /// A check found something wrong.
    CheckFailed(String),
    /// What was spent exceeds a budget.
    OverBudget(String),
    /// Lines were rejected and `--strict` was given.
    Rejected(u64),
    /// Some input could not be read; everything else was imported.
    Unreadable(u64),
    /// Some files could not be written; everything else was.
    Unwritten(u64),
    /// Some derive scripts failed, so their tables are out of date.
    Underived(u64),
    /// The database failed.
    Database(rusqlite::Error),
    /// A file could not be read or written.
    Io(PathBuf, std::io::Error),
}

/// A `Result` whose error ends the run.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An I/O error and the path it happened at.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.as_ref().to_path_buf();
        move |error| Error::Io(path, error)
    }

    /// An error of the page writer and the path of its database.
    pub fn bulk(path: &Path) -> impl FnOnce(sqlite_bulk::Error) -> Error {
        move |error| match error {
            sqlite_bulk::Error::Refused(reason) => Error::NotInBulk(reason),
            sqlite_bulk::Error::Io(error) => Error::Io(path.to_path_buf(), error),
            sqlite_bulk::Error::Sqlite(error) => Error::Database(error),
        }
    }

    /// The exit code, after sysexits.h.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::CheckFailed(_)
            | Error::Unreadable(_)
            | Error::Unwritten(_)
            | Error::Underived(_)
            | Error::Failed(_) => 1,
            Error::Usage(_) => 2,
            Error::OverBudget(_) => 3,
            Error::Rejected(_) => 65,
            Error::NoSource(_) => 66,
            Error::Database(_) | Error::Io(..) | Error::Storage { .. } | Error::NotInBulk(_) => 74,
            Error::Locked(_) => 75,
            Error::Unusable(_) => 78,
            Error::Stopped(signal) => 128 + signal,
        }
    }

    /// Whether the disk is full or fails.
    fn is_of_storage(&self) -> bool {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self {
            Error::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure)
            ),
            Error::Io(_, error) => {
                matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
            }
            _ => false,
        }
    }

    /// Adds the free and the needed bytes to an error of a full disk.
    pub fn with_room(self, database: &Path, needed_bytes: u64) -> Error {
        match self.is_of_storage() {
            true => Error::Storage {
                path: database.to_path_buf(),
                cause: self.to_string(),
                free_bytes: free_bytes(database),
                needed_bytes,
            },
            false => self,
        }
    }

    /// Whether the reader of our output has closed it, which is not a failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io(_, error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(message)
            | Error::NoSource(message)
            | Error::Unusable(message)
            | Error::CheckFailed(message)
            | Error::OverBudget(message) => f.write_str(message),
            Error::Locked(path) => write!(
                f,
                "another sync is writing this database (lock {}); try again later, or wait for it with --wait",
                path.display()
            ),
            Error::Stopped(signal) => write!(
                f,
                "stopped by signal {signal}; imported files are kept, and the next sync continues from there"
            ),
            Error::Storage {
                path,
                cause,
                free_bytes,
                needed_bytes,
            } => {
                write!(
                    f,
                    "{cause}\n{} cannot be written: it may need {} more",
                    path.display(),
                    byte_size(*needed_bytes)
                )?;
                if let Some(free) = free_bytes {
                    write!(f, ", {} are free", byte_size(*free))?;
                }
                f.write_str(
                    "\nimported files are safe; free some space, and the next sync continues from there",
                )
            }
            Error::Rejected(count) => write!(
                f,
                "{count} fragments of lines were rejected; see the table rejected_lines"
            ),
            Error::Unreadable(count) => write!(
                f,
                "{} could not be read; everything else was imported",
                if *count == 1 {
                    "1 file or folder".to_string()
                } else {
                    format!("{count} files or folders")
                }
            ),
            Error::Unwritten(count) => {
                let files = counted(count.cast_signed(), "file");
                write!(f, "{files} could not be written; everything else was")
            }
            Error::Underived(count) => write!(
                f,
                "{count} derive scripts failed; their tables are out of date, everything else is imported, and the next sync tries again. Please report this"
            ),
            Error::NotInBulk(reason) => {
                write!(f, "cannot write the database page by page: {reason}")
            }
            Error::Failed(failure) => write!(f, "{failure}"),
            Error::Database(error) => write!(f, "database: {error}"),
            Error::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Error {}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Error::Database(error)
    }
}

/// Free bytes on the file system of a file.
fn free_bytes(path: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let system = rustix::fs::statvfs(crate::database::folder_of(path)).ok()?;
        Some(system.f_bavail.saturating_mul(system.f_frsize))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// A file or folder that could not be processed, while the run continues.
#[derive(Debug, Clone)]
pub struct Problem {
    pub path: PathBuf,
    pub message: String,
}

impl Problem {
    pub fn new(path: impl AsRef<Path>, message: impl fmt::Display) -> Self {
        Problem {
            path: path.as_ref().to_path_buf(),
            message: message.to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}
