//! Tables of a new database that a thread fills beside the writer.
//!
//! The thread reads the database as it was when it began, and fills tables of its own, of the same names. When it is done
//! their rows are taken over as they are.

use super::create::schema_statements;
use super::statements as sql;
use super::{embedded, read_beside};
use crate::error::Result;
use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;
use std::path::Path;
use std::thread::JoinHandle;

/// Tables that are being filled.
pub struct Beside {
    tables: &'static [&'static str],
    filling: JoinHandle<Result<Connection>>,
}

impl Beside {
    /// Begins to build the search index. Whoever writes meanwhile must leave the blocks alone.
    pub fn search(path: &Path) -> Beside {
        // What the index is configured with stays.
        let tables = &["search_data", "search_idx", "search_docsize"];
        Beside::begin(path, tables, build_search)
    }

    /// Begins to count what the tables for BI tools say of tools. Whoever writes meanwhile must leave alone what is counted.
    pub fn tool_parts(path: &Path) -> Beside {
        Beside::begin(path, TOOL_TABLES, count_tools)
    }

    fn begin(
        path: &Path,
        tables: &'static [&'static str],
        fill: fn(&Path) -> Result<Connection>,
    ) -> Beside {
        let path = path.to_path_buf();
        Beside {
            tables,
            filling: std::thread::spawn(move || fill(&path)),
        }
    }

    /// Puts the rows in the place of those that are there.
    pub fn finish(self, connection: &Connection) -> Result<()> {
        let filled = self
            .filling
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        for table in self.tables {
            connection.execute_batch(&format!("delete from {table}"))?;
            let mut select = filled.prepare(&format!("select * from {table}"))?;
            let columns = select.column_count();
            let values = vec!["?"; columns].join(", ");
            let mut insert =
                connection.prepare(&format!("insert into {table} values ({values})"))?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                for column in 0..columns {
                    let value = ToSqlOutput::Borrowed(row.get_ref(column)?);
                    insert.raw_bind_parameter(column + 1, value)?;
                }
                insert.raw_execute()?;
            }
        }
        Ok(())
    }
}

fn build_search(path: &Path) -> Result<Connection> {
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

/// What the script about tools fills.
const TOOL_TABLES: &[&str] = &["tool_parts", "file_change_parts"];

fn count_tools(path: &Path) -> Result<Connection> {
    let reader = read_beside(path)?;
    reader.execute_batch(sql::CREATE_TOUCHED)?;
    reader.execute_batch(sql::RESOLVE_ALL)?;
    // The script fills tables by their names, and these come first.
    for table in TOOL_TABLES {
        reader.execute_batch(&format!(
            "create temp table {table} as select * from {table} where false"
        ))?;
    }
    for (name, script) in embedded::BI {
        if ["10_touched.sql", super::TOOL_PARTS].contains(name) {
            reader.execute_batch(script)?;
        }
    }
    Ok(reader)
}
