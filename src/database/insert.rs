//! Rows -> insert statements, made from the columns of the row structs.

use crate::error::Result;
use crate::rows::{Insert, Row};
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

/// Tables whose rows may be there already: then nothing is inserted.
const MAY_EXIST: &[&str] = &["agent_links"];

impl<'c> Inserter<'c> {
    /// An inserter for a connection.
    pub fn new(connection: &'c Connection) -> Self {
        Inserter {
            connection,
            statements: RefCell::default(),
        }
    }

    /// Inserts a row. Returns how many rows were written: 0 if it is there already.
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

    /// Puts a row in the place of the one with the same key, which is its first column.
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
