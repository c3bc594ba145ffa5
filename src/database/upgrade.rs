//! A database of an older schema -> one of this schema.
//!
//! What is derived is derived again from the archive, so only the few tables that are not need care: they keep their
//! rows, with the columns that both schemas have. A column that such a table gains must be allowed to be NULL, have a
//! default, or be listed in [`GAINED`]. `archive_chunks` keeps its meaning for ever.

use super::create::{created, schema_statements};
use super::refresh::refresh_views;
use super::statements as sql;
use super::{SCHEMA_VERSION, VIEWS, schema_version};
use crate::archive::{self, Hash};
use crate::discover::escape_path;
use crate::error::Result;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The tables that are not derived from the archive.
pub const KEPT: &[&str] = &[
    "sources",
    "files",
    "archive_chunks",
    "sync_runs",
    "projects",
    "model_prices",
    "model_aliases",
    "trivial_texts",
    "correction_phrases",
    "settings",
];

/// The tables of older schemas that this one has no more.
const RETIRED: &[&str] = &[];

/// Columns that kept tables gained, with the value for rows of an older schema, an expression over their old columns.
const GAINED: &[(&str, &str, &str)] = &[
    ("sources", "machine_id", "'name:' || machine"),
    ("sources", "product", "'claude-code'"),
];

/// Puts the tables of this schema in place of the older ones, within the transaction that is open; foreign keys must be
/// off. Everything that is derived is empty afterwards, and without indexes. Returns the statements of the indexes and
/// triggers that the user made.
pub(crate) fn replace_tables(connection: &Connection) -> Result<Vec<String>> {
    refresh_views(connection, &[])?;
    let of_the_user = drop_indexes_and_triggers(connection)?;
    let old = tables(connection)?;
    let is_old = |name: &str| old.iter().any(|(other, _)| other == name);
    for name in RETIRED.iter().filter(|name| is_old(name)) {
        connection.execute_batch(&format!("drop table \"{name}\""))?;
    }
    for (name, statement) in new_tables() {
        if !KEPT.contains(&name) {
            connection.execute_batch(&format!("drop table if exists \"{name}\""))?;
            connection.execute_batch(statement)?;
            continue;
        }
        match old.iter().find(|(other, _)| other == name) {
            None => connection.execute_batch(statement)?,
            Some((_, text)) if is_same(text, statement) => {}
            Some(_) => replace_kept(connection, name, statement)?,
        }
    }
    // The statements of the loader read the view search_texts.
    refresh_views(connection, VIEWS)?;
    fill_archived_hashes(connection)?;
    escape_paths(connection)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(of_the_user)
}

/// Gives every file version the running hash of its chunks.
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

/// Writes paths as this schema has them. Older ones left backslashes as they are.
fn escape_paths(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare(sql::PATHS_WITH_BACKSLASHES)?;
    let paths: Vec<(i64, Vec<u8>)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut update = connection.prepare(sql::SET_PATH)?;
    // None may take the place of another that is not escaped yet.
    for (file_id, bytes) in &paths {
        update.execute((file_id, format!("\\{file_id}"), bytes))?;
    }
    for (file_id, bytes) in &paths {
        update.execute((file_id, escape_path(bytes), bytes))?;
    }
    Ok(())
}

/// The tables of this schema with their statements.
fn new_tables() -> impl Iterator<Item = (&'static str, &'static str)> {
    schema_statements().filter_map(|statement| match created(statement)? {
        ("table", name) => Some((name, statement)),
        _ => None,
    })
}

fn tables(connection: &Connection) -> Result<Vec<(String, String)>> {
    let mut statement =
        connection.prepare("select name, sql from sqlite_schema where type = 'table'")?;
    let tables = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(tables.collect::<rusqlite::Result<_>>()?)
}

/// Indexes are made again when the rows are in. Those of unique columns belong to their tables. Returns the statements of
/// those that are not ours; in an older schema that cannot be told, and the copy of the database has them.
fn drop_indexes_and_triggers(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(
        "select type, name, sql from sqlite_schema where type in ('index', 'trigger') and sql is not null",
    )?;
    let found = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<Vec<(String, String, String)>>>()?;
    let is_older = schema_version(connection)? < SCHEMA_VERSION;
    let mut of_the_user = Vec::new();
    for (kind, name, sql) in found {
        connection.execute_batch(&format!("drop {kind} \"{}\"", name.replace('"', "\"\"")))?;
        if !is_older
            && !schema_statements().any(|statement| created(statement) == Some((&*kind, &*name)))
        {
            of_the_user.push(sql);
        }
    }
    Ok(of_the_user)
}

/// Whether a table's statement, as SQLite keeps it, is this one.
fn is_same(kept: &str, statement: &str) -> bool {
    let start = statement.find("create table").unwrap_or(0);
    let statement = statement[start..].trim_end().trim_end_matches(';');
    kept.eq_ignore_ascii_case(statement)
}

/// Gives a table its new statement, and the rows that it had.
fn replace_kept(connection: &Connection, name: &str, statement: &str) -> Result<()> {
    // Without this the references of other tables would follow the old table.
    connection.pragma_update(None, "legacy_alter_table", true)?;
    connection.execute_batch(&format!("alter table \"{name}\" rename to \"{name}_old\""))?;
    connection.pragma_update(None, "legacy_alter_table", false)?;
    connection.execute_batch(statement)?;
    let mut columns = columns(connection, name)?;
    let old = self::columns(connection, &format!("{name}_old"))?;
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
    fn every_table_is_found_in_the_schema() {
        let names: Vec<&str> = new_tables().map(|(name, _)| name).collect();
        assert!(names.contains(&"messages") && names.contains(&"search"));
        assert!(KEPT.iter().all(|name| names.contains(name)));
        assert!(RETIRED.iter().all(|name| !names.contains(name)));
    }

    #[test]
    fn a_kept_table_takes_its_rows_along_and_references_to_it_stay() {
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
