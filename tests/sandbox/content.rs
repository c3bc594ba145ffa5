//! The content of a database: what its tables, views, questions and search index say, without the order in which it came in.

use cc_etl::database::{self, hash, schema};
use cc_etl::error::Result;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The rows of every table and every view and the words of the search index, sorted, with keys replaced by what they stand
/// for; and what the questions that ship with the program answer, in its order.
pub type Content = BTreeMap<String, Vec<String>>;

/// No statement on a database of a test takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

/// More rows than any question has. An order is compared as a whole, not its first rows.
const ALL_ROWS: i64 = 1_000_000;

/// Columns that depend on the minute in which they are read, if a response is in the future.
const CLOCK_COLUMNS: [&str; 3] = [
    "remaining_minutes",
    "projected_total_tokens",
    "projected_cost_usd",
];

pub fn content(connection: &mut Connection) -> Result<Content> {
    connection.progress_handler(1_000_000, {
        let begun = Instant::now();
        Some(move || begun.elapsed() > PATIENCE)
    })?;
    // They depend on the schema alone.
    static STATEMENTS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let statements = match STATEMENTS.get() {
        Some(statements) => statements,
        None => {
            let statements = hash::statements(connection)?;
            STATEMENTS.get_or_init(|| statements)
        }
    };
    let mut content = Content::new();
    for (name, statement) in statements {
        content.insert(name.clone(), sorted_rows(connection, statement)?);
    }
    for (name, statement) in database::QUERIES {
        content.insert(format!("the query {name}"), rows(connection, statement)?);
    }
    connection.execute_batch(
        "create virtual table temp.words using fts5vocab('main', 'search', 'instance')",
    )?;
    let words = "select term, uuid, position, part_number, _other_texts.kind, _other_texts.text, words.offset
        from temp.words
        left join content_blocks on block_id = words.doc
        left join messages using (message_id)
        left join _other_texts on text_id = words.doc";
    content.insert("search".to_string(), sorted_rows(connection, words)?);
    Ok(content)
}

/// What differs, with up to five rows of each side, and the name of the first that does.
pub fn differences(expected: &Content, found: &Content) -> Option<(String, String)> {
    let mut details = String::new();
    let mut first = None;
    for (name, rows) in expected {
        let others = found.get(name).map_or(&[][..], Vec::as_slice);
        if rows == others {
            continue;
        }
        first.get_or_insert(name);
        writeln!(details, "{name}").expect("a text takes all");
        let lists = [('-', &rows[..], others), ('+', others, &rows[..])];
        let is_order = lists
            .iter()
            .all(|(_, rows, others)| missing(rows, others).is_empty());
        for (mark, rows, others) in lists {
            // The same rows in another order: show where they part.
            let parting = || rows.iter().zip(others).filter(|(row, other)| row != other);
            let shown = match is_order {
                true => parting().map(|(row, _)| row).collect(),
                false => missing(rows, others),
            };
            for row in shown.iter().take(5) {
                writeln!(details, "  {mark} {row}").expect("a text takes all");
            }
        }
    }
    Some((first?.clone(), details))
}

/// The rows of one list that the other one has not.
fn missing<'a>(rows: &'a [String], others: &[String]) -> Vec<&'a String> {
    let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
    for other in others {
        *counts.entry(other).or_default() += 1;
    }
    let mut missing = Vec::new();
    for row in rows {
        match counts.get_mut(row) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing.push(row),
        }
    }
    missing
}

fn sorted_rows(connection: &Connection, statement: &str) -> Result<Vec<String>> {
    let mut rows = rows(connection, statement)?;
    rows.sort_unstable();
    Ok(rows)
}

fn rows(connection: &Connection, statement: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(statement)?;
    let names: Vec<String> = statement.column_names().map(ToString::to_string).collect();
    // Other parameters are not set, and NULL.
    if let Some(limit) = statement.parameter_index(":limit")? {
        statement.raw_bind_parameter(limit, ALL_ROWS)?;
    }
    let mut rows = statement.raw_query();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let mut line = String::new();
        for (column, name) in names.iter().enumerate() {
            if CLOCK_COLUMNS.contains(&name.as_str()) {
                continue;
            }
            let value = match row.get_ref(column)? {
                ValueRef::Null => continue,
                ValueRef::Integer(number) => number.to_string(),
                ValueRef::Real(number) => format!("{number:?}"),
                ValueRef::Text(text) => format!("'{}'", text.escape_ascii()),
                ValueRef::Blob(blob) => format!("x'{}'", blob.escape_ascii()),
            };
            write!(line, "{name}={value} ").expect("a text takes all");
        }
        found.push(line);
    }
    Ok(found)
}

/// Reverses the keys of every table, as if all rows had arrived in the opposite order. The content stays the same, unless a
/// statement breaks a tie by the order of arrival. No line can be added afterwards: parts of sums are numbered by keys.
pub fn reverse_keys(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "pragma foreign_keys = off;
        pragma ignore_check_constraints = on;
        insert into search (search) values ('delete-all');",
    )?;
    let mut find = connection
        .prepare("select name from pragma_table_info(?1) where pk > 0 and type = 'INTEGER'")?;
    let mut columns = connection.prepare("select name from pragma_table_info(?1)")?;
    let mut is_without_rowid = connection
        .prepare("select wr from pragma_table_list where schema = 'main' and name = ?1")?;
    // The sum of the first and the last key: a key becomes what is left of it.
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    let names: Vec<String> = schema::tables()
        .map(|table| table.name.to_string())
        .collect();
    let mut own_keys = Vec::new();
    for name in &names {
        let key: Option<String> = find
            .query_map([name], |row| row.get(0))?
            .next()
            .transpose()?;
        if let Some(key) = &key {
            let sum = format!("select coalesce(min({key}) + max({key}), 0) from {name}");
            // A key that is also a reference is reversed as what it refers to.
            let sum = connection.query_row(&sum, [], |row| row.get(0))?;
            sums.entry(key.clone()).or_insert(sum);
        }
        own_keys.push(key);
    }
    for (name, key) in names.iter().zip(&own_keys) {
        let columns = columns.query_map([name], |row| row.get::<_, String>(0))?;
        let mut reversed: Vec<(String, i64)> = Vec::new();
        for column in columns {
            let column = column?;
            let leads_to = |key: &str| {
                let role = column.strip_suffix(key);
                role.is_some_and(|role| role.is_empty() || role.ends_with('_'))
            };
            let keys = sums.iter().filter(|(key, _)| leads_to(key));
            if let Some((_, sum)) = keys.max_by_key(|(key, _)| key.len()) {
                reversed.push((column, *sum));
            }
        }
        let has_rowid = !is_without_rowid.query_row([name], |row| row.get::<_, bool>(0))?;
        if key.is_none() && has_rowid {
            let sum = format!("select coalesce(min(rowid) + max(rowid), 0) from {name}");
            reversed.push((
                "rowid".to_string(),
                connection.query_row(&sum, [], |row| row.get(0))?,
            ));
        }
        // First out of the way, so that no key is there twice.
        for expression in ["{} + (1 << 50)", "{sum} + (1 << 50) - {}"] {
            let changes: Vec<String> = reversed
                .iter()
                .map(|(column, sum)| {
                    let value = expression
                        .replace("{sum}", &sum.to_string())
                        .replace("{}", column);
                    format!("{column} = iif(typeof({column}) = 'integer', {value}, {column})")
                })
                .collect();
            if !changes.is_empty() {
                connection.execute(&format!("update {name} set {}", changes.join(", ")), [])?;
            }
        }
    }
    connection.execute_batch(
        "insert into search (rowid, text) select text_id, text from _search_texts order by text_id",
    )?;
    Ok(())
}
