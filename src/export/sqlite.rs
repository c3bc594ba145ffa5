//! Writes the data sets as a SQLite database of their own. What a profile hides is never written to it, so it is in no free page
//! either; the archive and the search index stay behind.

use super::data_set::{self, Column, DataSet, Kind};
use super::folder::VERSION;
use super::profile::Profile;
use super::rows::{self, Cell};
use crate::database::{self, Replacement};
use crate::error::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

/// Writes the file, and returns the number of rows and bytes.
pub fn write(connection: &Connection, path: &Path, profile: &Profile) -> Result<(u64, u64)> {
    database::refuse_own(path)?;
    let file = Replacement::new(path, true, connection)?;
    let row_count = fill(connection, file.path(), profile)?;
    Ok((row_count, file.finish()?))
}

fn fill(connection: &Connection, path: &Path, profile: &Profile) -> Result<u64> {
    // SQLite interprets some relative names as URIs.
    let path = std::path::absolute(path).map_err(Error::io(path))?;
    let copy = Connection::open(path)?;
    // A file that is not whole is removed.
    copy.pragma_update(None, "journal_mode", "off")?;
    copy.pragma_update(None, "synchronous", "off")?;
    copy.pragma_update(None, "foreign_keys", true)?;
    let source = connection.unchecked_transaction()?;
    let target = copy.unchecked_transaction()?;
    let mut sets = data_set::all();
    sets.sort_by_key(|set| (set.name != data_set::MACHINES, set.name));
    let mut machines = Vec::new();
    let mut row_count = 0;
    for set in &sets {
        target.execute_batch(&create(set, profile))?;
        let marks = vec!["?"; set.columns(profile).len()].join(", ");
        let mut insert = target.prepare(&format!("insert into {} values ({marks})", set.name))?;
        rows::each(&source, set, profile, |partition, cells| {
            if set.name == data_set::MACHINES {
                machines.push(partition.machine.clone());
            }
            row_count += 1;
            insert.execute(params_from_iter(cells.iter().map(value)))?;
            Ok(())
        })?;
    }
    write_exports(&target, &machines, profile)?;
    target.commit()?;
    copy.close().map_err(|(_, error)| error)?;
    Ok(row_count)
}

/// The types are those of the bi_ tables, which BI tools know.
fn create(set: &DataSet, profile: &Profile) -> String {
    let columns = set.columns(profile);
    let lines = columns.iter().map(|column| define(set, column));
    let lines: Vec<String> = lines.collect();
    format!(
        "create table {} (\n    -- {}\n{}\n    primary key ({})\n)",
        set.name,
        set.grain,
        lines.join("\n"),
        set.unique_columns().join(", ")
    )
}

fn define(set: &DataSet, column: &Column) -> String {
    let type_of = match column.kind {
        Kind::Integer => "BIGINT",
        Kind::Double => "DOUBLE",
        Kind::Boolean => "BOOLEAN",
        Kind::Timestamp => "TIMESTAMP",
        Kind::Date => "DATE",
        Kind::Id | Kind::Word | Kind::Name | Kind::Path | Kind::Content => "TEXT",
    };
    let not_null = if column.is_key { " not null" } else { "" };
    let refers = match set.refers_to_machine(column) {
        true => format!(" references {}", data_set::MACHINES),
        false => String::new(),
    };
    format!("    {} {type_of}{not_null}{refers},", column.name)
}

/// A timestamp is in UTC, as in the bi_ tables.
fn value(cell: &Cell<'_>) -> Value {
    match (cell, cell.value()) {
        (Cell::Timestamp(_), Value::Text(time)) => {
            Value::Text(time.trim_end_matches('Z').replace('T', " "))
        }
        (_, value) => value,
    }
}

fn write_exports(target: &Connection, machines: &[String], profile: &Profile) -> Result<()> {
    target.execute_batch(EXPORTS)?;
    let mut insert = target.prepare("insert into cc_etl_exports values (?, ?, ?, ?, ?, ?)")?;
    for machine in machines {
        insert.execute((
            machine,
            VERSION,
            profile.detail.name(),
            profile.key_id(),
            profile.has_names,
            profile.masked_json(machine),
        ))?;
    }
    Ok(())
}

const EXPORTS: &str = include_str!("../../sql/export_sqlite.sql");
