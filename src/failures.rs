//! What the program itself failed to write: a fault of ours must cost neither the files beside it nor the next sync.
//!
//! A failure ends the attempt, which is rolled back. The next attempt archives the chunk that it was about and rejects its
//! lines, instead of loading them: `cc-etl rebuild` of a later version tries them again.

use crate::error::{Error, Problem, Result};
use crate::load::FileVersion;
use rusqlite::ErrorCode;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A chunk whose rows could not be written, and why.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The chunk.
    pub chunk: ChunkName,
    /// What went wrong.
    pub problem: Problem,
}

/// A chunk of a file, the same in every attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
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
    /// Whether it may come to this that nothing is loaded: what was loaded before stays.
    may_only_archive: bool,
    /// A failure that was about no chunk. From then on nothing is loaded.
    last: Option<String>,
}

/// So many chunks may fail. With more, nothing is loaded.
const MOST_FAILURES: usize = 16;

impl Failures {
    /// Of a sync, which may end by archiving what is new and no more.
    pub fn of_sync() -> Failures {
        Failures {
            may_only_archive: true,
            ..Failures::default()
        }
    }

    /// Attempts something once. Returns nothing if it failed in a way that another attempt may not.
    pub fn attempt<T>(&mut self, run: impl FnOnce(&Failures) -> Result<T>) -> Result<Option<T>> {
        // What is half-done is rolled back, and nothing of it is used again.
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

    /// Takes note of an error. Returns it if another attempt would not help.
    fn add(&mut self, error: Error) -> Result<()> {
        match error {
            // If its lines were rejected already, it was another chunk of the file.
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

    /// Whether there is another way: to archive, and no more.
    fn may_go_on(&self) -> bool {
        self.may_only_archive && self.last.is_none()
    }

    /// Whether the lines of a chunk are to be rejected: it failed, or more than one of its file did.
    pub fn include(&self, version: &FileVersion, position: u64) -> bool {
        if self.failures.is_empty() || self.last.is_some() {
            return self.last.is_some();
        }
        let chunk = ChunkName::new(version, position);
        self.of_file(&chunk).count() > 1 || self.of_file(&chunk).any(|failed| failed == &chunk)
    }

    /// The chunks of the same file version that failed.
    fn of_file(&self, chunk: &ChunkName) -> impl Iterator<Item = &ChunkName> {
        let file = |chunk: &ChunkName| (chunk.source_id, chunk.path.clone(), chunk.generation);
        let wanted = file(chunk);
        let chunks = self.failures.iter().map(|failure| &failure.chunk);
        chunks.filter(move |chunk| file(chunk) == wanted)
    }

    /// What to tell of them.
    pub fn problems(&self) -> impl Iterator<Item = Problem> {
        let told = |problem: &Problem| {
            let message = format!(
                "{}; it was only archived, please report this",
                problem.message
            );
            Problem::new(&problem.path, message)
        };
        let last = self.last.iter();
        let last = last.map(move |message| told(&Problem::new("what is new", message)));
        self.failures
            .iter()
            .map(move |failure| told(&failure.problem))
            .chain(last)
    }
}

impl ChunkName {
    /// The name of a chunk of a file.
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

/// What a panic says.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message");
    format!("cc-etl failed: {text}")
}

/// Whether an error is about what was to be written, and not about the disk, the database file or another program.
pub fn is_ours(error: &Error) -> bool {
    use ErrorCode::{ApiMisuse, ConstraintViolation, TooBig, TypeMismatch, Unknown};
    match error {
        Error::Failed(_) | Error::CheckFailed(_) => true,
        Error::Database(error) => matches!(
            error.sqlite_error_code(),
            None | Some(ApiMisuse | ConstraintViolation | TooBig | TypeMismatch | Unknown)
        ),
        // A chunk of the archive that is damaged.
        Error::Io(_, error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}
