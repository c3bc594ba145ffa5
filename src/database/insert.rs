//! Generates insert and update statements from the columns of the row structs, and runs them.

use crate::error::Result;
use crate::rows::{Insert, Row};
use rusqlite::{Connection, Statement};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Writes rows of every table.
pub struct Inserter<'c> {
    connection: &'c Connection,
    /// Prepared insert statements by table: a lookup in SQLite's statement cache would hash the long SQL text.
    statements: RefCell<HashMap<&'static str, Statement<'c>>>,
}

/// Tables into which the same row may be inserted several times; all but the first are ignored.
const MAY_EXIST: &[&str] = &["agent_links"];

impl<'c> Inserter<'c> {
    pub fn new(connection: &'c Connection) -> Self {
        Inserter {
            connection,
            statements: RefCell::default(),
        }
    }

    /// Inserts a row. Returns 0 if it exists already, else 1.
    pub fn insert<R: Row>(&self, row: &R) -> Result<usize> {
        self.with_statement::<R>(|statement| row.write(statement))
    }

    /// Inserts a row that is not needed afterwards. One with long strings is left empty.
    pub fn insert_last<R: Row + Default>(&self, row: &mut R) -> Result<()> {
        self.with_statement::<R>(|statement| row.write_and_clear(statement))
            .map(drop)
    }

    /// Inserts a row, or updates these columns of the row with the same key.
    pub fn upsert<R: Row>(&self, row: &R, changed: &[&str]) -> Result<()> {
        let set: Vec<String> = changed
            .iter()
            .map(|column| format!("{column} = excluded.{column}"))
            .collect();
        let statement = format!(
            "{} on conflict ({}) do update set {}",
            insert(R::TABLE, R::COLUMNS),
            R::COLUMNS[0],
            set.join(", ")
        );
        row.write(&mut *self.connection.prepare_cached(&statement)?)?;
        Ok(())
    }

    /// Replaces the row with the same key, which is the first column.
    pub fn replace<R: Row>(&self, row: &R) -> Result<()> {
        let statement = update(R::TABLE, R::COLUMNS);
        row.write(&mut *self.connection.prepare_cached(&statement)?)?;
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

impl Insert for &Inserter<'_> {
    fn insert<R: Row>(&mut self, row: &R) -> Result<()> {
        Inserter::insert(self, row).map(drop)
    }
}

/// `insert into <table> (<columns>) values (?1, ?2, ...)`
fn insert(table: &'static str, columns: &[&'static str]) -> String {
    let values: Vec<String> = (1..=columns.len())
        .map(|number| format!("?{number}"))
        .collect();
    let conflict = match MAY_EXIST.contains(&table) {
        true => " on conflict do nothing",
        false => "",
    };
    format!(
        "insert into {table} ({}) values ({}){conflict}",
        columns.join(", "),
        values.join(", ")
    )
}

/// `update <table> set <column> = ?1, ... where <first column> = ?1`
fn update(table: &'static str, columns: &[&'static str]) -> String {
    let set: Vec<String> = (1..)
        .zip(columns)
        .map(|(number, column)| format!("{column} = ?{number}"))
        .collect();
    format!(
        "update {table} set {} where {} = ?1",
        set.join(", "),
        columns[0]
    )
}
