//! Derives rollups of a new database, and checks its references, in parallel with the writer.
//!
//! A background thread runs a script of `sql/derive` on a connection of its own. The tables that it fills are temporary ones
//! with the names of the real tables; when it is done, the writer copies their rows. Meanwhile the writer must not change
//! the tables that the script reads.

use super::create::check_references;
use super::statements as sql;
use super::{derive, open_background_reader};
use crate::error::Result;
use crate::pipeline::{Pipeline, Task};
use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;
use std::path::Path;

/// A script of `sql/derive` that can run in the background, the tables it fills, and the first script that reads them.
pub struct Part {
    pub script: &'static str,
    pub needed_by: &'static str,
    tables: &'static [&'static str],
}

/// Tool calls per day. Can start when all calls and their results are settled.
pub const TOOLS: Part = Part {
    script: "71_tool_parts",
    needed_by: "74_bi_tools",
    tables: &["_tool_parts", "_file_change_parts"],
};

/// Why prompts are corrections. Can start when everything that the views read is derived.
pub const CORRECTIONS: Part = Part {
    script: "72_correction_reasons",
    needed_by: "73_bi_feedback",
    tables: &["_correction_reasons"],
};

/// Costs per day. Can start at the same time.
pub const RESPONSES: Part = Part {
    script: "72_response_parts",
    needed_by: "75_bi_days",
    tables: &["_response_parts"],
};

/// A part that runs in the background.
pub struct Filling {
    part: Part,
    filled: Task<Result<Connection>>,
}

impl Filling {
    pub fn begin(part: Part, path: &Path, pipeline: &Pipeline) -> Filling {
        let (script, tables) = (part.script, part.tables);
        let path = path.to_path_buf();
        Filling {
            part,
            filled: pipeline.spawn(move || fill(&path, script, tables)),
        }
    }

    /// Whether the part runs this script, so that the writer need not.
    pub fn is_of(&self, script: &str) -> bool {
        self.part.script == script
    }

    pub fn is_needed_by(&self, script: &str) -> bool {
        self.part.needed_by == script
    }

    /// Waits for the part, and copies its rows.
    pub fn finish(self, connection: &Connection) -> Result<()> {
        let filled = self.filled.join()?;
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
    let reader = open_background_reader(path)?;
    reader.execute_batch(sql::CREATE_TOUCHED)?;
    reader.execute_batch(sql::RESET_WATERMARKS)?;
    reader.execute_batch(sql::TOUCH_NEW_SESSIONS)?;
    // SQLite resolves a name to a temporary table first.
    for table in tables {
        reader.execute_batch(&format!(
            "create temp table {table} as select * from {table} where false"
        ))?;
    }
    for (name, script) in derive::ROLLUPS.scripts() {
        if ["70_touched", wanted].contains(&name) {
            reader.execute_batch(script)?;
        }
    }
    Ok(reader)
}

/// Checks all references of a database in the background.
pub fn begin_to_check(path: &Path, pipeline: &Pipeline) -> Task<Result<()>> {
    let path = path.to_path_buf();
    pipeline.spawn(move || check_references(&open_background_reader(&path)?))
}
