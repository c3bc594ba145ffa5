//! Tables of a new database that a thread fills beside the writer.
//!
//! The thread reads the database as it was when it began, and fills tables of its own, of the same names. When it is done
//! their rows are taken over as they are.

use super::statements as sql;
use super::{embedded, read_beside};
use crate::error::Result;
use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;
use std::path::Path;
use std::thread::JoinHandle;

/// What the script about tools fills.
const TABLES: &[&str] = &["tool_parts", "file_change_parts"];

/// Tables that are being filled.
pub struct Beside {
    filling: JoinHandle<Result<Connection>>,
}

impl Beside {
    /// Begins to count what the tables for BI tools say of tools. Whoever writes meanwhile must leave alone what is counted.
    pub fn tool_parts(path: &Path) -> Beside {
        let path = path.to_path_buf();
        Beside {
            filling: std::thread::spawn(move || count_tools(&path)),
        }
    }

    /// Puts the rows in the place of those that are there.
    pub fn finish(self, connection: &Connection) -> Result<()> {
        let filled = self
            .filling
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        for table in TABLES {
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

fn count_tools(path: &Path) -> Result<Connection> {
    let reader = read_beside(path)?;
    reader.execute_batch(sql::CREATE_TOUCHED)?;
    reader.execute_batch(sql::RESOLVE_ALL)?;
    // The script fills tables by their names, and these come first.
    for table in TABLES {
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
