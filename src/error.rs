//! The two kinds of error: [`Error`] ends the run, a [`Problem`] costs one file or folder and the run goes on.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why the run cannot go on. Each kind has its exit code.
#[derive(Debug)]
pub enum Error {
    /// The arguments do not make sense together.
    Usage(String),
    /// There is no Claude home to read.
    NoSource(String),
    /// Another sync holds the lock.
    Locked(PathBuf),
    /// The database cannot be used by this program: newer, or not ours.
    Unusable(String),
    /// A check found something wrong.
    CheckFailed(String),
    /// Lines were rejected and `--strict` was given.
    Rejected(u64),
    /// Some input could not be read; everything else was imported.
    Unreadable(u64),
    /// Some files could not be written; everything else was.
    Unwritten(u64),
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

    /// The exit code, after sysexits.h.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::CheckFailed(_) | Error::Unreadable(_) | Error::Unwritten(_) => 1,
            Error::Usage(_) => 2,
            Error::Rejected(_) => 65,
            Error::NoSource(_) => 66,
            Error::Database(_) | Error::Io(..) => 74,
            Error::Locked(_) => 75,
            Error::Unusable(_) => 78,
        }
    }

    /// Whether the reader of our output went away, which is no failure.
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
            | Error::CheckFailed(message) => f.write_str(message),
            Error::Locked(path) => write!(
                f,
                "another sync is writing this database (lock {}); try again when it has finished",
                path.display()
            ),
            Error::Rejected(count) => write!(
                f,
                "{count} fragments of lines are not records; see the table rejected_lines"
            ),
            Error::Unreadable(count) => write!(
                f,
                "{count} files or folders could not be read; everything else was imported"
            ),
            Error::Unwritten(count) => {
                write!(f, "{count} files could not be written; everything else was")
            }
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

/// Something that could not be used, while the rest could.
#[derive(Debug, Clone)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// What is the matter.
    pub message: String,
}

impl Problem {
    /// A problem with a path.
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
