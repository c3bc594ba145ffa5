//! Explains what is wrong with a statement: where, drawn as `sqlite3` does, and which name could be meant.

use rusqlite::Connection;
use std::collections::BTreeSet;
use unicode_width::UnicodeWidthStr;

/// The message of an error in a statement, with the place and suggestions.
pub fn explain(connection: &Connection, sql: &str, message: &str, offset: Option<usize>) -> String {
    let mut lines = vec![message.to_string()];
    lines.extend(offset.and_then(|offset| pointed(sql, offset)));
    // Without the names of the schema there is only no suggestion.
    let columns = columns(connection).unwrap_or_default();
    lines.extend(suggestion(sql, message, &columns));
    lines.join("\n")
}

/// The line of an offset, with a caret under it.
fn pointed(sql: &str, offset: usize) -> Option<String> {
    const BEFORE: usize = 40;
    const AFTER: usize = 30;
    let (before, after) = sql.split_at_checked(offset)?;
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let skipped = before.chars().count().saturating_sub(BEFORE);
    let before: String = before.chars().skip(skipped).collect();
    let before = before.replace('\t', " ");
    let after: String = after.chars().take(AFTER).collect();
    let place = " ".repeat(before.width());
    Some(format!("  {before}{after}\n  {place}^--- error here"))
}

/// A table or view, and a column of it.
type Name = (String, String);

/// The columns of all tables and views. Only their names are read, so that a view that is slow costs nothing.
fn columns(connection: &Connection) -> rusqlite::Result<Vec<Name>> {
    let mut statement = connection.prepare(
        "select name from sqlite_schema where type in ('table', 'view') and name not like 'search\\_%' escape '\\' order by name",
    )?;
    let tables: Vec<String> = statement
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut columns = Vec::new();
    for table in tables {
        let statement =
            connection.prepare(&format!("select * from \"{}\"", table.replace('"', "\"\"")))?;
        let names = statement.column_names();
        columns.extend(names.map(|column| (table.clone(), column.to_string())));
    }
    Ok(columns)
}

fn suggestion(sql: &str, message: &str, columns: &[Name]) -> Option<String> {
    let tables = || columns.iter().map(|(table, _)| table.as_str());
    if let Some(table) = message.strip_prefix("no such table: ") {
        return did_you_mean(&similar(table, tables()));
    }
    let column = message.strip_prefix("no such column: ")?;
    let column = column.rsplit('.').next().unwrap_or(column);
    let words: BTreeSet<&str> = sql
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let is_named = |(table, _): &&Name| words.contains(table.as_str());
    let of_named = columns
        .iter()
        .filter(is_named)
        .map(|(_, column)| column.as_str());
    let meant = similar(column, of_named);
    if !meant.is_empty() {
        return did_you_mean(&meant);
    }
    let owners: Vec<&str> = columns
        .iter()
        .filter(|(table, name)| name == column && !table.starts_with('_'))
        .map(|(table, _)| table.as_str())
        .collect();
    match owners.is_empty() {
        true => did_you_mean(&similar(
            column,
            columns.iter().map(|(_, column)| column.as_str()),
        )),
        false => Some(format!("{column} is a column of {}", some_of(&owners))),
    }
}

/// The names that are most like a word, the best first.
fn similar<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let word = word.to_lowercase();
    let names: BTreeSet<&str> = names.filter(|name| !name.starts_with('_')).collect();
    let allowed = (word.chars().count() / 3).max(1);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (strsim::osa_distance(&word, name), name))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

fn did_you_mean(names: &[&str]) -> Option<String> {
    match names {
        [] => None,
        [best, ..] => Some(format!("did you mean {best}?")),
    }
}

fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 6;
    match names.len() > SHOWN {
        true => format!("{} and others", names[..SHOWN].join(", ")),
        false => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_is_below_the_error() {
        assert_eq!(
            pointed("select 1,\n  x from t", 12).unwrap(),
            "    x from t\n    ^--- error here"
        );
        let long = format!("select {} x", "1, ".repeat(100));
        let shown = pointed(&long, long.len() - 1).unwrap();
        let caret = shown.lines().nth(1).unwrap().find('^');
        assert_eq!(caret, shown.lines().next().unwrap().find('x'));
        assert_eq!(pointed("é", 1), None);
    }

    #[test]
    fn a_name_that_is_nearly_right_is_suggested() {
        let name = |table: &str, column: &str| (table.to_string(), column.to_string());
        let columns = [
            name("daily_costs", "cost_usd"),
            name("daily_costs", "model"),
            name("sessions", "title"),
        ];
        for (sql, message, expected) in [
            (
                "from daily_costs",
                "no such column: cost_us",
                Some("did you mean cost_usd?"),
            ),
            (
                "from daily_costs",
                "no such column: d.Cost_USD",
                Some("did you mean cost_usd?"),
            ),
            (
                "from sessions",
                "no such column: cost_usd",
                Some("cost_usd is a column of daily_costs"),
            ),
            (
                "from sessions",
                "no such column: tilte",
                Some("did you mean title?"),
            ),
            ("from sessions", "no such column: weather", None),
            (
                "from dayly_costs",
                "no such table: dayly_costs",
                Some("did you mean daily_costs?"),
            ),
            ("from t", "near \"fro\": syntax error", None),
        ] {
            assert_eq!(
                suggestion(sql, message, &columns).as_deref(),
                expected,
                "{message}"
            );
        }
    }
}
