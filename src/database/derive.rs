//! Runs the scripts of `sql/derive`, in the order of their names.

use super::embedded;
use super::parallel::Filling;
use crate::error::Result;
use crate::load;
use rusqlite::Connection;

/// The first script after those that derive references.
const AGENTS: &str = "30_agents.sql";

/// The first script of the rollups: tables for BI tools.
const ROLLUPS: &str = "70_touched_rollups.sql";

/// The scripts that fill the rollups.
pub fn rollups() -> impl Iterator<Item = (&'static str, &'static str)> {
    embedded::DERIVE
        .iter()
        .copied()
        .filter(|(name, _)| *name >= ROLLUPS)
}

/// Derives sessions, references and inline agents. The scripts after these leave calls and results alone.
pub fn derive_references(connection: &Connection) -> Result<()> {
    run(connection, |name| name < AGENTS)
}

/// Derives what else depends on more than one line, but for the rollups.
pub fn derive_rest(connection: &Connection) -> Result<()> {
    run(connection, |name| (AGENTS..ROLLUPS).contains(&name))
}

fn run(connection: &Connection, is_wanted: impl Fn(&str) -> bool) -> Result<()> {
    for (name, script) in embedded::DERIVE.iter().filter(|(name, _)| is_wanted(name)) {
        // The one rule that is not SQL: by then it is clear which responses it is about.
        if *name == "40_responses.sql" {
            load::judge_touched(connection)?;
        }
        connection.execute_batch(script).map_err(|error| {
            debug_assert!(false, "{name}: {error}");
            error
        })?;
    }
    Ok(())
}

/// Updates the rollups, but for those that another thread fills.
pub fn derive_rollups(connection: &Connection, mut beside: Vec<Filling>) -> Result<()> {
    for (name, script) in rollups() {
        for filling in beside.extract_if(.., |filling| filling.is_needed_by(name)) {
            filling.finish(connection)?;
        }
        if !beside.iter().any(|filling| filling.is_of(name)) {
            connection.execute_batch(script)?;
        }
    }
    Ok(())
}
