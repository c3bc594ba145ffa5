//! Runs the scripts of `sql/derive`, in the order of their names.
//!
//! The first digit of a name is the group of the script. A group runs in a savepoint: if one of its scripts fails, the
//! tables of the group stay as they were, everything else is committed, and the next sync derives everything again. A value in a
//! line that a script cannot handle must not stop the import.

use super::embedded;
use super::parallel::Filling;
use crate::error::{Problem, Result};
use crate::failures::is_ours;
use crate::load;
use rusqlite::Connection;

/// A group of scripts, by the first character of their names.
#[derive(Clone, Copy)]
pub struct Group(&'static str);

/// Sessions, references, inline agents. The groups after it leave calls and results alone.
pub const REFERENCES: Group = Group("1");

/// What else depends on more than one line, but for the search index and the rollups.
pub const REST: [Group; 4] = [Group("2"), Group("3"), Group("4"), Group("5")];

/// The search index. Only searches read it.
pub const SEARCH: Group = Group("6");

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
            // What ends the transaction cannot be contained.
            if !is_ours(&error) || connection.is_autocommit() {
                return Err(error);
            }
            connection.execute_batch("rollback to derive; release derive")?;
            let script = format!("sql/derive/{name}.sql");
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
    match name {
        "30_touched_responses" => load::judge_touched(connection),
        "48_queue" => load::settle_queues(connection),
        _ => Ok(()),
    }
}
