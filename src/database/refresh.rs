//! Updates the built-in prices, words and views and the offsets of the time zone, and records which of them the derived tables
//! were derived with.

use super::create::names;
use super::embedded::DERIVE;
use super::schema::{self, SCHEMA, is_same};
use super::{VIEWS, statements};
use crate::error::Result;
use crate::time_zone;
use rusqlite::{Connection, OptionalExtension};

/// The prices that ship with the program.
const PRICES: &str = include_str!("../../sql/model_prices.sql");

/// Trivial texts, and phrases that start a correction.
const WORDS: &str = include_str!("../../sql/words.sql");

/// Whether a database has all tables, indexes, prices, words, views and time zone offsets of this version. Then a sync with
/// nothing new writes nothing.
pub fn is_up_to_date(connection: &Connection) -> Result<bool> {
    if setting(connection, REFRESHED_WITH)? != Some(refreshed_with())
        || setting(connection, DERIVED_WITH)? != Some(basis(connection)?)
    {
        return Ok(false);
    }
    let present = names(connection)?;
    Ok(
        schema::statements().all(|statement| present.contains(statement.name))
            && are_views_current(connection, VIEWS)?
            && setting(connection, time_zone::SETTING)?.is_some()
            && new_offsets(connection)?.is_none(),
    )
}

/// A hash of the built-in prices and words. A row that the user deleted returns when the basis of the derived tables changes.
fn refreshed_with() -> String {
    let mut hasher = blake3::Hasher::new();
    for text in [PRICES, WORDS] {
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Updates prices, words, views and time zone offsets that differ from those of this version. Returns what must be derived
/// again.
pub(crate) fn refresh(connection: &Connection) -> Result<Stale> {
    let refreshed_with = refreshed_with();
    let is_refreshed = setting(connection, REFRESHED_WITH)?.as_ref() == Some(&refreshed_with);
    if !is_refreshed || setting(connection, DERIVED_WITH)? != Some(basis(connection)?) {
        refresh_prices(connection)?;
        refresh_words(connection)?;
    }
    let has_new_offsets = refresh_time_zone(connection)?;
    let searched = search_texts(connection)?;
    refresh_views(connection, VIEWS)?;
    if searched.is_some() && searched != search_texts(connection)? {
        connection.execute_batch(statements::REBUILD_SEARCH_INDEX)?;
    }
    if !is_refreshed {
        connection.execute(statements::PUT_SETTING, [REFRESHED_WITH, &refreshed_with])?;
    }
    Ok(match setting(connection, DERIVED_WITH)? {
        known if known != Some(basis(connection)?) => Stale::Everything,
        _ if has_new_offsets => Stale::Rollups,
        _ => Stale::Nothing,
    })
}

/// What must be derived again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Stale {
    #[default]
    Nothing,
    /// The tables for BI tools: they have the local days.
    Rollups,
    Everything,
}

/// Records whether everything is derived from the current lines, prices and words. If not, the next sync derives everything
/// again.
pub(crate) fn record_basis(connection: &Connection, is_derived: bool) -> Result<()> {
    let basis = basis(connection)?;
    match setting(connection, DERIVED_WITH)? {
        Some(_) if !is_derived => {
            connection.execute(statements::DELETE_SETTING, [DERIVED_WITH])?;
        }
        known if is_derived && known.as_ref() != Some(&basis) => {
            connection.execute(statements::PUT_SETTING, [DERIVED_WITH, &basis])?;
        }
        _ => {}
    }
    Ok(())
}

/// Has the next commit derive everything again.
pub fn derive_again(connection: &Connection) -> Result<()> {
    connection.execute(statements::DELETE_SETTING, [DERIVED_WITH])?;
    Ok(())
}

/// A hash of the inputs of derived tables other than transcripts: scripts, views, prices and words.
fn basis(connection: &Connection) -> Result<String> {
    let mut inputs = Vec::new();
    for (_, sql) in DERIVE.iter().chain(VIEWS) {
        inputs.extend_from_slice(sql.as_bytes());
    }
    let mut statement = connection.prepare(statements::BASIS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        inputs.extend_from_slice(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?);
    }
    Ok(blake3::hash(&inputs).to_hex().to_string())
}

/// The setting with the hash of the built-in prices and words of the last refresh.
const REFRESHED_WITH: &str = "refreshed_with";

/// The setting with the basis of the derived tables.
const DERIVED_WITH: &str = "derived_with";

fn setting(connection: &Connection, name: &str) -> Result<Option<String>> {
    let mut find = connection.prepare_cached(statements::FIND_SETTING)?;
    Ok(find.query_row([name], |row| row.get(0)).optional()?)
}

/// The definition of the view that the search index is filled from. If it changes, the index must be rebuilt: to delete a row,
/// FTS5 needs the text that was indexed.
fn search_texts(connection: &Connection) -> Result<Option<String>> {
    let views = our_views(connection)?.into_iter();
    let mut definitions = views.filter_map(|(name, sql)| (name == "_search_texts").then_some(sql));
    Ok(definitions.next())
}

/// Views of older versions to drop.
const RETIRED_VIEWS: &[&str] = &[];

/// Creates, replaces and drops our views to match `views`. Unchanged views are kept, so that a sync with nothing new writes
/// nothing, and so are views of the user.
pub(crate) fn refresh_views(connection: &Connection, views: &[(&str, &str)]) -> Result<()> {
    let present = our_views(connection)?;
    for (name, _) in present.iter().filter(|view| !is_one_of(view, views)) {
        connection.execute_batch(&format!("drop view \"{}\"", name.replace('"', "\"\"")))?;
    }
    for view in views {
        if !present.iter().any(|stored| is_one_of(stored, &[*view])) {
            connection.execute_batch(view.1)?;
        }
    }
    Ok(())
}

/// Whether our views in the database match `views`.
fn are_views_current(connection: &Connection, views: &[(&str, &str)]) -> Result<bool> {
    let present = our_views(connection)?;
    Ok(present.len() == views.len() && present.iter().all(|view| is_one_of(view, views)))
}

/// Whether a view of the database is one of `views`.
fn is_one_of((name, stored): &(String, String), views: &[(&str, &str)]) -> bool {
    let mut views = views.iter();
    views.any(|(other, sql)| other == name && is_same(sql, stored))
}

/// The views in the database that this or an older version created, with their statements.
fn our_views(connection: &Connection) -> Result<Vec<(String, String)>> {
    let is_ours =
        |name: &str| VIEWS.iter().any(|(other, _)| *other == name) || RETIRED_VIEWS.contains(&name);
    let mut statement =
        connection.prepare("select name, sql from sqlite_schema where type = 'view'")?;
    let mut views = statement
        .query_map([], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    views.retain(|(name, _)| is_ours(name));
    Ok(views)
}

fn refresh_prices(connection: &Connection) -> Result<()> {
    connection.execute_batch(statements::CREATE_BUILTIN_PRICES)?;
    connection.execute_batch(PRICES)?;
    connection.execute_batch(statements::REFRESH_BUILTIN_PRICES)?;
    Ok(())
}

/// Adds missing built-in words. A user disables a word with `is_used = 0`, not by deleting it.
fn refresh_words(connection: &Connection) -> Result<()> {
    connection.execute_batch(WORDS)?;
    Ok(())
}

/// A database that has no time zone yet gets that of the system. Returns whether the offsets differ.
fn refresh_time_zone(connection: &Connection) -> Result<bool> {
    if setting(connection, time_zone::SETTING)?.is_none() {
        let name = time_zone::of_system().unwrap_or_else(|| time_zone::UTC.to_string());
        connection.execute(statements::PUT_SETTING, [time_zone::SETTING, &name])?;
    }
    let Some(offsets) = new_offsets(connection)? else {
        return Ok(false);
    };
    connection.execute(statements::DELETE_TIME_ZONE_OFFSETS, [])?;
    let mut insert = connection.prepare(statements::INSERT_TIME_ZONE_OFFSET)?;
    for offset in offsets {
        insert.execute(offset)?;
    }
    Ok(true)
}

/// The offsets of the database's time zone, if its rows are others. A zone that this version does not know keeps its rows.
fn new_offsets(connection: &Connection) -> Result<Option<Vec<(String, String)>>> {
    let name = setting(connection, time_zone::SETTING)?;
    let offsets = name.and_then(|name| time_zone::offsets(&name));
    let stored = time_zone::stored_offsets(connection)?;
    Ok(offsets.filter(|offsets| *offsets != stored))
}

/// An in-memory database with only the built-in prices.
pub fn open_with_prices_only() -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    refresh_prices(&connection)?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database;
    use crate::load::Loader;

    /// Else every sync would write to the database, and wait for the disk.
    #[test]
    fn a_database_that_was_just_derived_is_up_to_date() {
        let folder = tempfile::tempdir().unwrap();
        let connection = database::create(&folder.path().join("test.db")).unwrap();
        let mut loader = Loader::new(&connection).unwrap();
        loader.begin().unwrap();
        loader.finish().unwrap();
        drop(loader);
        let present = our_views(&connection).unwrap();
        let stale = present.iter().find(|view| !is_one_of(view, VIEWS));
        assert_eq!(stale, None);
        assert!(is_up_to_date(&connection).unwrap());
    }
}
