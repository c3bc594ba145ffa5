//! Upgrades a database of an older schema.
//!
//! Most tables are rebuilt from the archive. The few others, [`KEPT`], keep their rows, with the columns that both schemas
//! have. A new column of such a table must be nullable, have a default, or be listed in [`GAINED`]. The meaning of
//! `archive_chunks` never changes.

use super::refresh::refresh_views;
use super::schema::{self, Kind, Statement, is_same};
use super::statements as sql;
use super::{SCHEMA_VERSION, VIEWS, schema_version};
use crate::archive::{self, Hash};
use crate::discover::escape_path;
use crate::error::Result;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Tables that cannot be rebuilt from the archive.
pub const KEPT: &[&str] = &[
    "sources",
    "files",
    "archive_chunks",
    "sync_runs",
    "projects",
    "model_prices",
    "model_aliases",
    "outcomes",
    "prompt_kinds",
    "trivial_texts",
    "correction_phrases",
    "command_patterns",
    "budgets",
    "limit_samples",
    "settings",
    "time_zone_offsets",
];

/// Tables of older schemas to drop.
const RETIRED: &[&str] = &[];

/// New columns of kept tables, each with an expression over the old columns for existing rows.
const GAINED: &[(&str, &str, &str)] = &[
    ("sources", "machine_id", "machine_id(machine)"),
    ("sources", "product", "'claude-code'"),
    ("model_prices", "checked_on", "valid_from"),
];

/// Kept tables whose rows mean nothing without a column that older schemas did not have. The backup has those of the user.
const RENEWED: &[(&str, &str)] = &[("correction_phrases", "role")];

/// Whether [`replace_tables`] would lose nothing of the user's but statements that are run again: no column that was added to
/// a table, and no trigger that expects to see every new row.
pub fn can_replace_tables(connection: &Connection) -> Result<bool> {
    let stored = tables(connection)?;
    let mut ours = schema::statements().filter(|statement| statement.kind != Kind::Index);
    let is_stored = |ours: Statement| {
        let mut stored = stored.iter();
        stored.any(|(name, sql)| name == ours.name && is_same(ours.sql, sql))
    };
    let mut triggers = connection.prepare("select 1 from sqlite_schema where type = 'trigger'")?;
    Ok(ours.all(is_stored) && !triggers.exists([])?)
}

/// Replaces the tables by those of this schema, in the open transaction and with foreign keys off. Afterwards all tables but
/// the kept ones are empty, and there are no indexes. Returns the statements of the user's indexes and triggers.
pub(crate) fn replace_tables(connection: &Connection) -> Result<Vec<String>> {
    refresh_views(connection, &[])?;
    let user_statements = drop_indexes_and_triggers(connection)?;
    let old = tables(connection)?;
    let is_old = |name: &str| old.iter().any(|(other, _)| other == name);
    for name in RETIRED.iter().filter(|name| is_old(name)) {
        connection.execute_batch(&format!("drop table \"{name}\""))?;
    }
    let tables = schema::statements().filter(|statement| statement.kind != Kind::Index);
    for Statement { name, sql, .. } in tables {
        if !KEPT.contains(&name) {
            connection.execute_batch(&format!("drop table if exists \"{name}\""))?;
            connection.execute_batch(sql)?;
            continue;
        }
        match old.iter().find(|(other, _)| other == name) {
            None => connection.execute_batch(sql)?,
            Some((_, stored)) if is_same(sql, stored) => {}
            Some(_) => replace_kept(connection, name, sql)?,
        }
    }
    // The statements of the loader read the view _search_texts.
    refresh_views(connection, VIEWS)?;
    fill_archived_hashes(connection)?;
    escape_paths(connection)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(user_statements)
}

/// Computes the running hash of every file version.
fn fill_archived_hashes(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare(sql::ALL_CHUNK_HASHES)?;
    let mut chunks = statement.query([])?;
    let mut running: BTreeMap<i64, Hash> = BTreeMap::new();
    while let Some(row) = chunks.next()? {
        let running = running.entry(row.get(0)?).or_insert(archive::NO_CHUNK);
        *running = archive::extend(running, &row.get(1)?);
    }
    let mut update = connection.prepare(sql::SET_ARCHIVED_HASH)?;
    for (file_id, hash) in running {
        update.execute((file_id, hash))?;
    }
    Ok(())
}

/// Escapes backslashes in paths, which older schemas did not.
fn escape_paths(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare(sql::PATHS_WITH_BACKSLASHES)?;
    let paths: Vec<(i64, Vec<u8>)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut update = connection.prepare(sql::SET_PATH)?;
    // Paths are unique, and an escaped path can be equal to one that is not escaped yet: make all of them unique first.
    for (file_id, bytes) in &paths {
        update.execute((file_id, format!("\\{file_id}"), bytes))?;
    }
    for (file_id, bytes) in &paths {
        update.execute((file_id, escape_path(bytes), bytes))?;
    }
    Ok(())
}

fn tables(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement =
        connection.prepare("select name, sql from sqlite_schema where type = 'table'")?;
    let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(tables.collect::<rusqlite::Result<_>>()?)
}

/// Drops indexes and triggers, except the automatic indexes of unique columns. Ours are created again after the rows are
/// inserted. Returns the statements of the user's; in an older schema these are unknown, and only the backup has them.
fn drop_indexes_and_triggers(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(
        "select type, name, sql from sqlite_schema where type in ('index', 'trigger') and sql is not null",
    )?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<Vec<(String, String, String)>>>()?;
    let is_older = schema_version(connection)? < SCHEMA_VERSION;
    let mut user_statements = Vec::new();
    for (kind, name, sql) in found {
        connection.execute_batch(&format!("drop {kind} \"{}\"", name.replace('"', "\"\"")))?;
        if !is_older && !schema::statements().any(|statement| statement.name == name) {
            user_statements.push(sql);
        }
    }
    Ok(user_statements)
}

/// Replaces a table by a new definition, and copies its rows.
fn replace_kept(connection: &Connection, name: &str, statement: &str) -> Result<()> {
    // Without this the references of other tables would be renamed too.
    connection.pragma_update(None, "legacy_alter_table", true)?;
    connection.execute_batch(&format!("alter table \"{name}\" rename to \"{name}_old\""))?;
    connection.pragma_update(None, "legacy_alter_table", false)?;
    connection.execute_batch(statement)?;
    let mut columns = columns(connection, name)?;
    let old = self::columns(connection, &format!("{name}_old"))?;
    let is_renewed =
        |(table, column): &(&str, &str)| *table == name && !old.iter().any(|other| other == column);
    if RENEWED.iter().any(is_renewed) {
        connection.execute_batch(&format!("drop table \"{name}_old\""))?;
        return Ok(());
    }
    let value = |column: &String| match GAINED
        .iter()
        .find(|gained| (gained.0, gained.1) == (name, column))
    {
        _ if old.contains(column) => Some(format!("\"{column}\"")),
        gained => gained.map(|(_, _, expression)| (*expression).to_string()),
    };
    columns.retain(|column| value(column).is_some());
    let values: Vec<String> = columns.iter().filter_map(value).collect();
    connection.execute_batch(&format!(
        "insert into \"{name}\" (\"{}\") select {} from \"{name}_old\";
        drop table \"{name}_old\";",
        columns.join("\", \""),
        values.join(", ")
    ))?;
    Ok(())
}

fn columns(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare("select name from pragma_table_info(?1)")?;
    let columns = statement.query_map([table], |row| row.get(0))?;
    Ok(columns.collect::<rusqlite::Result<_>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_all_kept_tables() {
        let names: Vec<&str> = schema::statements()
            .map(|statement| statement.name)
            .collect();
        assert!(KEPT.iter().all(|name| names.contains(name)));
        assert!(RETIRED.iter().all(|name| !names.contains(name)));
    }

    #[test]
    fn a_kept_table_keeps_its_rows_and_the_references_to_it() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "pragma foreign_keys = off;
                create table a (a_id integer primary key, text text, gone text) strict;
                create table b (b_id integer primary key, a_id integer references a) strict;
                insert into a values (7, 'seven', 'x');
                insert into b values (1, 7);",
            )
            .unwrap();
        replace_kept(
            &connection,
            "a",
            "create table a (a_id integer primary key, added text, text text not null) strict",
        )
        .unwrap();
        let row: (i64, Option<String>, String) = connection
            .query_row("select * from a", [], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        assert_eq!(row, (7, None, "seven".to_string()));
        let target: String = connection
            .query_row(
                "select \"table\" from pragma_foreign_key_list('b')",
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(target, "a");
    }
}
