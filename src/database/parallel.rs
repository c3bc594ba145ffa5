//! Work on a new database beside the writer.
//!
//! A thread reads the database as it was when a statement began. What it fills are tables of its own, of the same names as
//! those that the writer would fill; when it is done their rows are taken over as they are. Whoever writes meanwhile must
//! leave alone what is read.

use super::create::check_references;
use super::statements as sql;
use super::{derive, read_beside};
use crate::error::Result;
use crate::pipeline::{Begun, Pipeline};
use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;
use std::path::Path;

/// A script of sql/derive that can be run beside the rest, what it fills, and the first script that needs it.
pub struct Part {
    pub script: &'static str,
    pub needed_by: &'static str,
    tables: &'static [&'static str],
}

/// What tools did. It can begin as soon as calls and their answers are settled.
pub const TOOLS: Part = Part {
    script: "71_tool_parts.sql",
    needed_by: "75_bi_tools.sql",
    tables: &["tool_parts", "file_change_parts"],
};

/// What responses cost. It needs all that is resolved.
pub const RESPONSES: Part = Part {
    script: "72_response_parts.sql",
    needed_by: "76_bi_days.sql",
    tables: &["response_parts"],
};

/// Tables that are being filled.
pub struct Filling {
    part: Part,
    filled: Begun<Result<Connection>>,
}

impl Filling {
    /// Begins to run a script.
    pub fn begin(part: Part, path: &Path, pipeline: &Pipeline) -> Filling {
        let (script, tables) = (part.script, part.tables);
        let path = path.to_path_buf();
        Filling {
            part,
            filled: pipeline.begin(move || fill(&path, script, tables)),
        }
    }

    /// Whether it runs a script, in place of the writer.
    pub fn is_of(&self, script: &str) -> bool {
        self.part.script == script
    }

    /// Whether a script needs what it fills.
    pub fn is_needed_by(&self, script: &str) -> bool {
        self.part.needed_by == script
    }

    /// Puts the rows in the place of those that are there.
    pub fn finish(self, connection: &Connection) -> Result<()> {
        let filled = self.filled.finish()?;
        for table in self.part.tables {
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

fn fill(path: &Path, wanted: &str, tables: &[&str]) -> Result<Connection> {
    let reader = read_beside(path)?;
    reader.execute_batch(sql::CREATE_TOUCHED)?;
    reader.execute_batch(sql::RESET_WATERMARKS)?;
    // The script fills tables by their names, and these come first.
    for table in tables {
        reader.execute_batch(&format!(
            "create temp table {table} as select * from {table} where false"
        ))?;
    }
    for (name, script) in derive::ROLLUPS.scripts() {
        if ["70_touched.sql", wanted].contains(&name) {
            reader.execute_batch(script)?;
        }
    }
    Ok(reader)
}

/// Begins to check whether all references of a database lead to something.
pub fn begin_to_check(path: &Path, pipeline: &Pipeline) -> Begun<Result<()>> {
    let path = path.to_path_buf();
    pipeline.begin(move || check_references(&read_beside(&path)?))
}
