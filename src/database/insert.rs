//! Rows -> insert statements, made from the columns of the row structs.

use crate::error::Result;
use crate::rows::Row;
use rusqlite::{Connection, Statement};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Writes rows of every table.
pub struct Inserter<'c> {
    connection: &'c Connection,
    /// The statements that were needed so far, by table. They are not looked up by their text, which is long.
    statements: RefCell<HashMap<&'static str, Statement<'c>>>,
}

/// A reference that is looked up while a row is written: the column that gets the key, and where the key is found.
/// Targets that come later are resolved at the commit.
struct Lookup {
    table: &'static str,
    column: &'static str,
    target: &'static str,
    key: &'static str,
    by: &'static str,
    /// The column of the row whose value is looked up.
    from: &'static str,
}

const LOOKUPS: &[Lookup] = &[
    Lookup {
        table: "messages",
        column: "parent_message_id",
        target: "messages",
        key: "message_id",
        by: "uuid",
        from: "parent_uuid",
    },
    Lookup {
        table: "messages",
        column: "logical_parent_message_id",
        target: "messages",
        key: "message_id",
        by: "uuid",
        from: "logical_parent_uuid",
    },
    Lookup {
        table: "tool_results",
        column: "tool_use_id",
        target: "tool_uses",
        key: "tool_use_id",
        by: "tool_use_id",
        from: "source_tool_use_id",
    },
];

/// Tables whose rows may be there already. Who writes to them looks at the number of rows written.
const MAY_EXIST: &[&str] = &["messages", "tool_uses", "agent_links"];

impl<'c> Inserter<'c> {
    /// An inserter for a connection.
    pub fn new(connection: &'c Connection) -> Self {
        Inserter {
            connection,
            statements: RefCell::default(),
        }
    }

    /// Inserts a row. Returns how many were written: 0 if it is there already.
    pub fn insert<R: Row>(&self, row: &R) -> Result<usize> {
        self.with_statement::<R>(|statement| row.write(statement))
    }

    /// Inserts a row that is not needed any more.
    pub fn insert_last<R: Row>(&self, row: R) -> Result<usize> {
        self.with_statement::<R>(|statement| row.write_last(statement))
    }

    /// Puts a row in the place of the one with the same key, which is its first column.
    pub fn replace<R: Row>(&self, row: &R) -> Result<()> {
        let statement = update(R::TABLE, R::COLUMNS);
        row.write(&mut *self.connection.prepare_cached(&statement)?)?;
        Ok(())
    }

    /// Takes the rows of a file out of a table.
    pub fn delete_of_file(&self, table: &str, file_id: i64) -> Result<()> {
        let statement = format!("delete from {table} where file_id = ?1");
        self.connection
            .prepare_cached(&statement)?
            .execute([file_id])?;
        Ok(())
    }

    fn with_statement<R: Row>(
        &self,
        write: impl FnOnce(&mut Statement<'c>) -> rusqlite::Result<usize>,
    ) -> Result<usize> {
        let mut statements = self.statements.borrow_mut();
        let statement = match statements.entry(R::TABLE) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let text = insert(R::TABLE, R::COLUMNS);
                entry.insert(self.connection.prepare(&text)?)
            }
        };
        Ok(write(statement)?)
    }
}

/// `insert into <table> (<columns>) values (?1, ?2, ...)`
fn insert(table: &'static str, columns: &[&'static str]) -> String {
    let (names, values): (Vec<_>, Vec<_>) = assignments(table, columns).into_iter().unzip();
    let conflict = match MAY_EXIST.contains(&table) {
        true => " on conflict do nothing",
        false => "",
    };
    format!(
        "insert into {table} ({}) values ({}){conflict}",
        names.join(", "),
        values.join(", ")
    )
}

/// `update <table> set <columns> where <first column> = ?1`
fn update(table: &'static str, columns: &[&'static str]) -> String {
    let set: Vec<String> = assignments(table, columns)
        .into_iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    format!(
        "update {table} set {} where {} = ?1",
        set.join(", "),
        columns[0]
    )
}

fn assignments(table: &str, columns: &[&'static str]) -> Vec<(&'static str, String)> {
    let number = |column: &str| {
        let position = columns.iter().position(|other| *other == column);
        1 + position.expect("a column of the row")
    };
    let plain = columns
        .iter()
        .map(|column| (*column, format!("?{}", number(column))));
    let lookups = LOOKUPS.iter().filter(|lookup| lookup.table == table);
    let looked_up = lookups.map(|lookup| {
        let Lookup {
            target, key, by, ..
        } = lookup;
        let value = format!(
            "(select {key} from {target} where {by} = ?{})",
            number(lookup.from)
        );
        (lookup.column, value)
    });
    plain.chain(looked_up).collect()
}
