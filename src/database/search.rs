//! The search index of a new database, built beside it.
//!
//! When all rows are in, a thread reads the texts of the database and fills an index of its own, while the writer resolves
//! what depends on several lines. The tables that FTS5 keeps an index in are then taken over as they are.

use super::create::schema_statements;
use super::read_beside;
use super::statements as sql;
use crate::error::Result;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, params_from_iter};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

/// An index that is being built.
pub struct SearchIndex {
    building: JoinHandle<Result<Connection>>,
}

/// The tables of an index. What it is configured with stays.
const TABLES: &[(&str, usize)] = &[("search_data", 2), ("search_idx", 3), ("search_docsize", 2)];

impl SearchIndex {
    /// Begins to build the index of a database as it is now. Whoever writes meanwhile must leave its blocks alone.
    pub fn begin(path: &Path) -> SearchIndex {
        let path: PathBuf = path.to_path_buf();
        SearchIndex {
            building: std::thread::spawn(move || build(&path)),
        }
    }

    /// Puts the index in the place of the empty one.
    pub fn finish(self, connection: &Connection) -> Result<()> {
        let built = self
            .building
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        for (table, columns) in TABLES {
            connection.execute_batch(&format!("delete from {table}"))?;
            let values = vec!["?"; *columns].join(", ");
            let mut insert =
                connection.prepare(&format!("insert into {table} values ({values})"))?;
            let mut select = built.prepare(&format!("select * from {table}"))?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                let values = (0..*columns).map(|column| row.get::<_, Value>(column));
                let values = values.collect::<rusqlite::Result<Vec<_>>>()?;
                insert.execute(params_from_iter(values))?;
            }
        }
        Ok(())
    }
}

fn build(path: &Path) -> Result<Connection> {
    let texts = read_beside(path)?;
    // A database without a name is a file that nobody else sees, and is gone when it is closed.
    let index = Connection::open("")?;
    index.pragma_update(None, "journal_mode", "off")?;
    index.pragma_update(None, "synchronous", "off")?;
    let statement = schema_statements().find(|statement| statement.contains("using fts5"));
    let statement = statement.expect("the schema has a search");
    // It only takes the words, and has no texts to look at.
    let statement = statement.replace(
        "content=\"search_texts\", content_rowid=\"block_id\"",
        "content=\"\"",
    );
    index.execute_batch(&statement)?;
    index.execute_batch(sql::ENLARGE_SEARCH_BUFFER)?;
    index.execute_batch("begin")?;
    {
        let mut insert = index.prepare(sql::INSERT_WORDS)?;
        let mut select = texts.prepare(sql::INDEX_TEXTS)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let words = ToSqlOutput::Borrowed(row.get_ref(1)?);
            insert.execute((row.get::<_, i64>(0)?, words))?;
        }
    }
    index.execute_batch("commit")?;
    Ok(index)
}
