//! Hashes the content of each table. Databases with the same content have the same hashes.
//!
//! Integer keys depend on the order of import, so natural keys replace them: a table's own key is omitted, and a reference
//! becomes the unique columns of its row. The hash of a table is the sum of its rows' hashes, so that their order does not
//! matter. Columns that describe the run and not the content (times of syncs, inodes, paths of homes) are omitted.

use super::{VIEWS, schema};
use crate::error::Result;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::collections::BTreeMap;

pub struct TableHash {
    pub name: String,
    pub rows: i64,
    pub hash: [u8; 16],
}

/// Columns that depend on the run or on the version of the program, by table; `*` for the whole table.
const NOT_CONTENT: &[(&str, &[&str])] = &[
    ("sync_runs", &["*"]),
    ("settings", &["*"]),
    ("time_zone_offsets", &["*"]),
    ("_response_parts", &["*"]),
    ("_tool_parts", &["*"]),
    ("_file_change_parts", &["*"]),
    ("_correction_reasons", &["*"]),
    // Compressed bytes depend on the version of zstd; the hash of the uncompressed bytes is content.
    ("archive_chunks", &["content"]),
    ("sources", &["machine_id", "machine", "root_path"]),
    ("bi_session_days", &["machine"]),
    ("bi_days", &["machine"]),
    ("bi_tools", &["machine"]),
    ("bi_feedback", &["machine"]),
    ("bi_sessions", &["machine"]),
    (
        "files",
        &[
            "modified_ns",
            "changed_ns",
            "device",
            "inode",
            "is_racy",
            "first_seen_at",
            "last_synced_at",
            "missing_since",
        ],
    ),
];

/// The hashes of all tables, by name.
pub fn tables(connection: &Connection) -> Result<Vec<TableHash>> {
    let schema = Schema::read(connection)?;
    let mut hashes = Vec::new();
    for (name, statement) in schema.table_statements() {
        let (rows, hash) = self::rows(connection, &statement)?;
        hashes.push(TableHash { name, rows, hash });
    }
    Ok(hashes)
}

/// A statement for each table and view that returns its content. Databases with the same content return the same rows, in any
/// order.
pub fn statements(connection: &Connection) -> Result<Vec<(String, String)>> {
    let schema = Schema::read(connection)?;
    let mut statements = schema.table_statements();
    for (name, _) in VIEWS {
        let columns = column(connection, "select name from pragma_table_info(?1)", name)?;
        let values: Vec<String> = columns
            .iter()
            .map(|column| format!("{} as \"{column}\"", schema.view_value(column)))
            .collect();
        let statement = format!("select {} from \"{name}\" as t0", values.join(", "));
        statements.push((name.to_string(), statement));
    }
    Ok(statements)
}

fn omitted(table: &str) -> &'static [&'static str] {
    let entry = NOT_CONTENT.iter().find(|(name, _)| *name == table);
    entry.map_or(&[], |(_, columns)| columns)
}

/// The tables with their columns, keys and references.
struct Schema {
    tables: BTreeMap<String, Table>,
}

#[derive(Default)]
struct Table {
    columns: Vec<String>,
    /// The integer key, if it has one.
    key: Option<String>,
    /// The columns that identify a row in every database.
    natural_key: Vec<String>,
    /// Column -> the table it refers to.
    references: BTreeMap<String, String>,
}

impl Schema {
    fn read(connection: &Connection) -> Result<Schema> {
        let mut tables = BTreeMap::new();
        for name in schema::tables().map(|table| table.name.to_string()) {
            let mut table = Table {
                columns: column(connection, "select name from pragma_table_info(?1)", &name)?,
                ..Table::default()
            };
            let keys = column(
                connection,
                "select name from pragma_table_info(?1) where pk > 0",
                &name,
            )?;
            let integer_keys = column(
                connection,
                "select name from pragma_table_info(?1) where pk > 0 and type = 'INTEGER'",
                &name,
            )?;
            table.key = integer_keys.first().cloned();
            table.natural_key = column(
                connection,
                "select info.name from pragma_index_list(?1) as list, pragma_index_info(list.name) as info
                where list.seq = (
                    select max(seq) from pragma_index_list(?1) where \"unique\" and origin <> 'pk'
                )
                order by info.seqno",
                &name,
            )?;
            if table.natural_key.is_empty() {
                table.natural_key = keys;
            }
            let mut statement = connection
                .prepare("select \"from\", \"table\" from pragma_foreign_key_list(?1)")?;
            table.references = statement
                .query_map([&name], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            tables.insert(name, table);
        }
        Ok(Schema { tables })
    }

    /// The statements that return the content of the tables, by name.
    fn table_statements(&self) -> Vec<(String, String)> {
        let tables = self.tables.iter();
        tables
            .filter(|(name, _)| !omitted(name).contains(&"*"))
            .map(|(name, table)| {
                let columns = self.content(name, table).join(", ");
                let statement = format!("select {columns} from \"{name}\" as t0");
                (name.clone(), statement)
            })
            .collect()
    }

    /// The value of a view's column. An integer in a column named like a key, such as `parent_message_id`, becomes the natural key
    /// of its row.
    fn view_value(&self, column: &str) -> String {
        let own = format!("t0.\"{column}\"");
        let is_named_for = |key: &str| {
            let role = column.strip_suffix(key);
            role.is_some_and(|role| role.is_empty() || role.ends_with('_'))
        };
        let keys = self.tables.iter().filter_map(|(name, table)| {
            let key = table.key.as_deref().filter(|key| is_named_for(key))?;
            Some((key.len(), name, table))
        });
        let Some((_, name, table)) = keys.max_by_key(|(length, ..)| *length) else {
            return own;
        };
        let natural = self.natural_key(name, table, &own, 1);
        format!("case typeof({own}) when 'integer' then {natural} else {own} end")
    }

    /// The expressions whose values are the content of a row.
    fn content(&self, name: &str, table: &Table) -> Vec<String> {
        let kept = table.columns.iter().filter(|column| {
            let is_own_key =
                table.key.as_ref() == Some(column) && !table.references.contains_key(*column);
            !is_own_key && !omitted(name).contains(&column.as_str())
        });
        let mut expressions: Vec<String> = kept
            .map(|column| {
                let value = self.value(table, column, "t0", 1);
                format!("{value} as \"{column}\"")
            })
            .collect();
        // If all columns are omitted, the rows are still counted.
        expressions.push("1".to_string());
        expressions
    }

    /// The value of a column; a reference becomes the natural key of its row.
    fn value(&self, table: &Table, column: &str, alias: &str, depth: usize) -> String {
        let own = format!("{alias}.\"{column}\"");
        let Some((target_name, target)) = table
            .references
            .get(column)
            .and_then(|name| self.tables.get_key_value(name))
        else {
            return own;
        };
        if target.key.is_none() {
            return own;
        }
        self.natural_key(target_name, target, &own, depth)
    }

    /// The natural key of the row with an integer key.
    fn natural_key(&self, name: &str, table: &Table, key: &str, depth: usize) -> String {
        // A home is identified by its position among the homes, since paths differ between machines.
        if name == "sources" {
            return format!(
                "(select count(*) from sources as a, sources as b
                where b.source_id = {key} and (a.machine_id, a.root_path) < (b.machine_id, b.root_path))"
            );
        }
        let inner = format!("t{depth}");
        let parts: Vec<String> = table
            .natural_key
            .iter()
            .map(|column| format!("quote({})", self.value(table, column, &inner, depth + 1)))
            .collect();
        let natural = parts.join(" || ',' || ");
        let own_key = table.key.as_deref().unwrap_or("rowid");
        format!("(select {natural} from \"{name}\" as {inner} where {inner}.\"{own_key}\" = {key})")
    }
}

fn column(connection: &Connection, statement: &str, name: &str) -> Result<Vec<String>> {
    let mut statement = connection.prepare(statement)?;
    let parameters: &[&dyn rusqlite::ToSql] = match statement.parameter_count() {
        0 => &[],
        _ => &[&name],
    };
    let values = statement.query_map(parameters, |row| row.get(0))?;
    Ok(values.collect::<rusqlite::Result<_>>()?)
}

/// The number of rows that a statement returns, and the sum of their hashes.
pub fn rows(connection: &Connection, statement: &str) -> Result<(i64, [u8; 16])> {
    let mut statement = connection.prepare(statement)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut count = 0;
    let mut sum = 0u128;
    while let Some(row) = rows.next()? {
        let mut hasher = blake3::Hasher::new();
        for column in 0..columns {
            let (kind, bytes): (u8, &[u8]) = match row.get_ref(column)? {
                ValueRef::Null => (0, &[]),
                ValueRef::Integer(number) => (1, &number.to_le_bytes()),
                ValueRef::Real(number) => (2, &number.to_le_bytes()),
                ValueRef::Text(text) => (3, text),
                ValueRef::Blob(blob) => (4, blob),
            };
            hasher.update(&[kind]);
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
        let mut hash = [0; 16];
        hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        sum = sum.wrapping_add(u128::from_le_bytes(hash));
        count += 1;
    }
    Ok((count, sum.to_le_bytes()))
}
