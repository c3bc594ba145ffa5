//! Runs the scripts of `sql/derive`, in the order of their names.
//!
//! The first digit of a name is the group of the script. A group runs in a savepoint: if one of its scripts fails, the
//! tables of the group stay as they were, everything else is committed, and the next sync derives everything again. A value in a
//! line that a script cannot handle must not stop the import.

use super::embedded;
use super::parallel::Filling;
use crate::error::{Error, Problem, Result};
use crate::load;
use rusqlite::{Connection, ErrorCode};

/// A group of scripts, by the first character of their names.
#[derive(Clone, Copy)]
pub struct Group(&'static str);

/// Sessions, references, inline agents. The groups after it leave calls and results alone.
pub const REFERENCES: Group = Group("1");

/// What else depends on more than one line, but for the rollups.
pub const REST: [Group; 5] = [Group("2"), Group("3"), Group("4"), Group("5"), Group("6")];

/// The tables for BI tools.
pub const ROLLUPS: Group = Group("7");

impl Group {
    /// Its scripts, with their names.
    pub fn scripts(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let scripts = embedded::DERIVE.iter().copied();
        scripts.filter(move |(name, _)| name.starts_with(self.0))
    }
}

/// Derives a group; for some of the rollups, other threads fill the tables. Returns the problem if it failed.
pub fn derive(
    connection: &Connection,
    group: Group,
    mut filled: Vec<Filling>,
) -> Result<Option<Problem>> {
    connection.execute_batch("savepoint derive")?;
    for (name, script) in group.scripts() {
        if let Err(error) = run(connection, name, script, &mut filled) {
            if !is_contained(connection, &error) {
                return Err(error);
            }
            connection.execute_batch("rollback to derive; release derive")?;
            let script = format!("sql/derive/{name}");
            return Ok(Some(Problem::new(script, error)));
        }
    }
    connection.execute_batch("release derive")?;
    Ok(None)
}

fn run(connection: &Connection, name: &str, script: &str, filled: &mut Vec<Filling>) -> Result<()> {
    for filling in filled.extract_if(.., |filling| filling.is_needed_by(name)) {
        filling.finish(connection)?;
    }
    if filled.iter().any(|filling| filling.is_of(name)) {
        return Ok(());
    }
    connection.execute_batch(script)?;
    if name == "30_touched_responses.sql" {
        load::judge_touched(connection)?;
    }
    Ok(())
}

/// Whether an error is about values in rows. Others, such as a full disk, end the run.
fn is_contained(connection: &Connection, error: &Error) -> bool {
    let Error::Database(error) = error else {
        return false;
    };
    let is_of_values = match error.sqlite_error_code() {
        Some(code) => matches!(
            code,
            ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::TooBig
                | ErrorCode::Unknown // overflows, malformed JSON
        ),
        // A value of another type than the program expects.
        None => true,
    };
    is_of_values && !connection.is_autocommit()
}
