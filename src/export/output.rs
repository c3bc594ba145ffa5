//! Where an export of one file goes: standard output, or a private file that is renamed when it is whole.

use crate::database::{self, Replacement};
use crate::error::{Error, Result};
use crate::terminal::{self, sanitize};
use rusqlite::Connection;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

pub struct Output {
    target: Target,
    name: PathBuf,
    is_terminal: bool,
}

enum Target {
    Standard(BufWriter<Stdout>),
    File(BufWriter<Replacement>),
}

const BUFFER_BYTES: usize = 1 << 18;

impl Output {
    /// `None` and `-` are standard output.
    pub fn open(path: Option<&Path>, database: &Connection) -> Result<Output> {
        let (target, name) = match path.filter(|path| *path != Path::new("-")) {
            None => {
                let standard = BufWriter::with_capacity(BUFFER_BYTES, io::stdout());
                (Target::Standard(standard), "standard output".into())
            }
            Some(path) => {
                database::refuse_own(path)?;
                let file = Replacement::new(path, true, database)?;
                let file = BufWriter::with_capacity(BUFFER_BYTES, file);
                (Target::File(file), path.to_path_buf())
            }
        };
        Ok(Output {
            is_terminal: matches!(target, Target::Standard(_)) && terminal::is_used(),
            target,
            name,
        })
    }

    pub fn write(&mut self, text: &str) -> Result<()> {
        let text = match self.is_terminal {
            true => sanitize(text),
            false => text.into(),
        };
        let written = match &mut self.target {
            Target::Standard(out) => out.write_all(text.as_bytes()),
            Target::File(out) => out.write_all(text.as_bytes()),
        };
        written.map_err(Error::io(&self.name))
    }

    /// Returns the size of the file, if it is one.
    pub fn finish(self) -> Result<Option<u64>> {
        match self.target {
            Target::Standard(mut out) => {
                out.flush().map_err(Error::io(&self.name))?;
                Ok(None)
            }
            Target::File(out) => {
                let flushed = out.into_inner().map_err(io::IntoInnerError::into_error);
                let file = flushed.map_err(Error::io(&self.name))?;
                file.finish().map(Some)
            }
        }
    }
}
