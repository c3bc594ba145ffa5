//! Isolates internal errors: a bug that one chunk triggers must affect neither other files nor later syncs.
//!
//! A failure rolls back the attempt. The next attempt archives the failed chunk and rejects its lines instead of loading them;
//! `cc-etl rebuild` of a later version tries them again.

use crate::error::{Error, Problem, Result};
use crate::load::FileVersion;
use rusqlite::ErrorCode;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A chunk that could not be loaded.
#[derive(Debug, Clone)]
pub struct Failure {
    pub chunk: ChunkName,
    pub problem: Problem,
}

/// Identifies a chunk across attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkName {
    pub source_id: i64,
    pub path: String,
    pub generation: i64,
    pub position: u64,
}

/// The failures of the attempts so far.
#[derive(Debug, Default)]
pub struct Failures {
    failures: Vec<Failure>,
    /// Whether the last attempt may archive all chunks without loading any.
    may_only_archive: bool,
    /// A failure that is not due to a single chunk. After it no chunk is loaded.
    last: Option<String>,
}

/// At most this many chunks may fail. After that no chunk is loaded.
const MOST_FAILURES: usize = 16;

impl Failures {
    /// For a sync, whose last attempt may archive the new bytes without loading them.
    pub fn of_sync() -> Failures {
        Failures {
            may_only_archive: true,
            ..Failures::default()
        }
    }

    /// Whether no attempt has failed.
    pub fn is_empty(&self) -> bool {
        self.failures.is_empty() && self.last.is_none()
    }

    /// Runs one attempt. Returns `None` if it failed and another attempt may succeed.
    pub fn attempt<T>(&mut self, run: impl FnOnce(&Failures) -> Result<T>) -> Result<Option<T>> {
        // A failed attempt is rolled back, and its state is not used again.
        match catch_unwind(AssertUnwindSafe(|| run(self))) {
            Ok(Ok(done)) => Ok(Some(done)),
            Ok(Err(error)) => self.add(error).map(|()| None),
            Err(panic) if !self.may_go_on() => resume_unwind(panic),
            Err(panic) => {
                self.last = Some(panic_message(&*panic));
                Ok(None)
            }
        }
    }

    /// Records an error. Returns it if another attempt would not help.
    fn add(&mut self, error: Error) -> Result<()> {
        match error {
            // If its lines were rejected before, another chunk of the file is the cause.
            Error::Failed(failure)
                if self.failures.len() < MOST_FAILURES
                    && self.of_file(&failure.chunk).count() < 2 =>
            {
                self.failures.push(*failure);
                Ok(())
            }
            error if is_ours(&error) && self.may_go_on() => {
                self.last = Some(error.to_string());
                Ok(())
            }
            error => Err(error),
        }
    }

    /// Whether an attempt that only archives is left.
    fn may_go_on(&self) -> bool {
        self.may_only_archive && self.last.is_none()
    }

    /// Whether to reject the lines of a chunk: it failed, or several chunks of its file did.
    pub fn include(&self, version: &FileVersion, position: u64) -> bool {
        if self.failures.is_empty() || self.last.is_some() {
            return self.last.is_some();
        }
        let chunk = ChunkName::new(version, position);
        self.of_file(&chunk).count() > 1 || self.of_file(&chunk).any(|failed| failed == &chunk)
    }

    /// The failed chunks of the same file version.
    fn of_file(&self, chunk: &ChunkName) -> impl Iterator<Item = &ChunkName> {
        let file = |chunk: &ChunkName| (chunk.source_id, chunk.path.clone(), chunk.generation);
        let wanted = file(chunk);
        let chunks = self.failures.iter().map(|failure| &failure.chunk);
        chunks.filter(move |chunk| file(chunk) == wanted)
    }

    /// The failures as problems to print.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let chunks = self.failures.iter().map(|failure| failure.problem.clone());
        let last = self.last.iter();
        let last = last.map(|message| Problem::new("new lines", message));
        chunks.chain(last).map(|problem| {
            let message = format!(
                "{}; archived but not loaded. Please report this",
                problem.message
            );
            Problem { message, ..problem }
        })
    }
}

impl ChunkName {
    pub fn new(version: &FileVersion, position: u64) -> ChunkName {
        ChunkName {
            source_id: version.source_id,
            path: version.path.clone(),
            generation: version.generation,
            position,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

/// The message of a panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("internal error: {text}")
}

/// Whether an error is due to the rows, and not to the disk, the database file or another program.
pub fn is_ours(error: &Error) -> bool {
    use ErrorCode::{ApiMisuse, ConstraintViolation, TooBig, TypeMismatch, Unknown};
    match error {
        Error::Failed(_) | Error::CheckFailed(_) => true,
        Error::Database(error) => matches!(
            error.sqlite_error_code(),
            None | Some(ApiMisuse | ConstraintViolation | TooBig | TypeMismatch | Unknown)
        ),
        // A damaged chunk of the archive.
        Error::Io(_, error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}
