//! What the program brings into every database: prices, words, views; and whether what is derived was derived with them.

use super::create::{created, names, schema_statements};
use super::embedded::DERIVE;
use super::{SCHEMA, VIEWS, statements};
use crate::error::Result;
use rusqlite::{Connection, OptionalExtension};

/// The prices that ship with the program.
const PRICES: &str = include_str!("../../sql/model_prices.sql");

/// Texts that say nothing, and beginnings that correct.
const WORDS: &str = include_str!("../../sql/words.sql");

/// Whether a database has all that this program brings: tables, indexes, prices, words and views. Then a sync with nothing
/// new has nothing to do.
pub fn is_up_to_date(connection: &Connection) -> Result<bool> {
    if setting(connection, REFRESHED_WITH)? != Some(refreshed_with())
        || setting(connection, DERIVED_WITH)? != Some(basis(connection)?)
    {
        return Ok(false);
    }
    let present = names(connection)?;
    let mut created = schema_statements().filter_map(created);
    Ok(created.all(|(_, name)| present.contains(name)) && are_views_current(connection, VIEWS)?)
}

/// A hash of the prices and words that this program brings. Whoever takes one out of a database has it put back by a sync
/// that finds another basis for what is derived.
fn refreshed_with() -> String {
    let mut hasher = blake3::Hasher::new();
    for text in [PRICES, WORDS] {
        hasher.update(text.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Puts what this program brings in place of what the database has: prices, words, views. What is the same is left
/// alone, so that a sync with nothing new writes nothing. Returns whether everything must be derived again.
pub(crate) fn refresh(connection: &Connection) -> Result<bool> {
    refresh_prices(connection)?;
    refresh_words(connection)?;
    let searched = search_texts(connection)?;
    refresh_views(connection, VIEWS)?;
    if searched.is_some() && searched != search_texts(connection)? {
        connection.execute_batch(statements::INDEX_ANEW)?;
    }
    let refreshed_with = refreshed_with();
    if setting(connection, REFRESHED_WITH)?.as_ref() != Some(&refreshed_with) {
        connection.execute(statements::PUT_SETTING, [REFRESHED_WITH, &refreshed_with])?;
    }
    Ok(setting(connection, DERIVED_WITH)? != Some(basis(connection)?))
}

/// Records that everything is derived from the lines, prices and words of now; or that it is not, and the next sync must
/// derive it again.
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

/// A hash of what derived tables depend on besides the transcripts: scripts, views, prices and words.
fn basis(connection: &Connection) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for (_, sql) in DERIVE.iter().chain(VIEWS) {
        hasher.update(sql.as_bytes());
    }
    let mut statement = connection.prepare(statements::BASIS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        hasher.update(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?);
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// The setting that holds a hash of the prices and words that the program brought.
const REFRESHED_WITH: &str = "refreshed_with";

/// The setting that holds the basis of what is derived.
const DERIVED_WITH: &str = "derived_with";

fn setting(connection: &Connection, name: &str) -> Result<Option<String>> {
    let mut find = connection.prepare_cached(statements::FIND_SETTING)?;
    Ok(find.query_row([name], |row| row.get(0)).optional()?)
}

/// The definition of the view that the search index is filled from. The index only makes sense with the view it was filled from:
/// FTS5 takes a text out of it by being told that text again.
fn search_texts(connection: &Connection) -> Result<Option<String>> {
    let views = our_views(connection)?.into_iter();
    let mut definitions = views.filter_map(|(name, sql)| (name == "search_texts").then_some(sql));
    Ok(definitions.next())
}

/// Views of older versions that this one has no more.
const RETIRED_VIEWS: &[&str] = &[];

/// Puts views in place of those of ours that the database has. Those that are the same are left alone, so that a sync with
/// nothing new writes nothing; and so are those that the user made.
pub(crate) fn refresh_views(connection: &Connection, views: &[(&str, &str)]) -> Result<()> {
    let present = our_views(connection)?;
    for (name, sql) in &present {
        if !wanted_views(views).any(|view| is_same_view(view, name, sql)) {
            connection.execute_batch(&format!("drop view \"{}\"", name.replace('"', "\"\"")))?;
        }
    }
    for view in wanted_views(views) {
        if !present
            .iter()
            .any(|(name, sql)| is_same_view(view, name, sql))
        {
            connection.execute_batch(view.1)?;
        }
    }
    Ok(())
}

/// Whether the views of ours that the database has are these.
fn are_views_current(connection: &Connection, views: &[(&str, &str)]) -> Result<bool> {
    let present = our_views(connection)?;
    let is_present = |view| {
        let mut present = present.iter();
        present.any(|(name, sql)| is_same_view(view, name, sql))
    };
    Ok(present.len() == views.len() && wanted_views(views).all(is_present))
}

/// The views that the database has and this program or an older one made, with their statements.
fn our_views(connection: &Connection) -> Result<Vec<(String, String)>> {
    let is_ours = |name: &str| {
        wanted_views(VIEWS).any(|(other, _)| other == name) || RETIRED_VIEWS.contains(&name)
    };
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

/// Names and statements of views, by their files.
fn wanted_views<'v>(
    views: &'v [(&'v str, &'v str)],
) -> impl Iterator<Item = (&'v str, &'v str)> + 'v {
    views.iter().map(|(file, sql)| {
        (
            file.trim_end_matches(".sql"),
            sql.trim_end().trim_end_matches(';'),
        )
    })
}

fn is_same_view(view: (&str, &str), name: &str, sql: &str) -> bool {
    view.0 == name && view.1.eq_ignore_ascii_case(sql)
}

fn refresh_prices(connection: &Connection) -> Result<()> {
    connection.execute_batch(statements::CREATE_BUILTIN_PRICES)?;
    connection.execute_batch(PRICES)?;
    connection.execute_batch(statements::REFRESH_BUILTIN_PRICES)?;
    Ok(())
}

/// Adds words; those that the user took out stay out.
fn refresh_words(connection: &Connection) -> Result<()> {
    connection.execute_batch(WORDS)?;
    Ok(())
}

/// A database in memory with nothing but the prices of this program.
pub fn open_with_prices_only() -> Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(SCHEMA)?;
    refresh_prices(&connection)?;
    Ok(connection)
}
