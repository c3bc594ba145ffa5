//! Counts unknown names, with the first example by file and line.

use super::copies::FileKey;
use crate::database::{lower_version, statements as sql};
use crate::error::Result;
use crate::rows::UnknownKind;
use crate::store::Statements;
use rusqlite::{OptionalExtension, params};
use std::collections::BTreeMap;

#[derive(Default)]
pub struct UnknownKinds {
    kinds: BTreeMap<(&'static str, String), FoundKind>,
}

struct FoundKind {
    count: i64,
    version: Option<String>,
    file: FileKey,
    file_id: i64,
    line_number: i64,
}

impl UnknownKinds {
    /// Adds the unknown names of a batch.
    pub fn add(&mut self, found: &[UnknownKind], file_id: i64, file: &FileKey, first_line: i64) {
        for kind in found {
            let line_number = kind.line_number + first_line;
            let known = self
                .kinds
                .entry((kind.level, kind.name.clone()))
                .or_insert_with(|| FoundKind {
                    count: 0,
                    version: None,
                    file: file.clone(),
                    file_id,
                    line_number,
                });
            known.count += 1;
            let version = lower_version(known.version.as_deref(), kind.version.as_deref());
            known.version = version.map(str::to_string);
            if (file, line_number) < (&known.file, known.line_number) {
                known.file = file.clone();
                known.file_id = file_id;
                known.line_number = line_number;
            }
        }
    }

    /// Merges them into the table.
    pub fn flush(&self, store: &Statements<'_>) -> Result<()> {
        for ((level, name), kind) in &self.kinds {
            let known: Option<(Option<String>, i64, i64)> = store
                .connection
                .prepare_cached(sql::FIND_UNKNOWN_KIND)?
                .query_row([*level, name.as_str()], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            let known_version = known
                .as_ref()
                .and_then(|(version, _, _)| version.as_deref());
            let version = lower_version(known_version, kind.version.as_deref());
            let (file_id, line_number) = (kind.file_id, kind.line_number);
            let row = params![level, name, version, kind.count, file_id, line_number];
            store.execute(sql::UPSERT_UNKNOWN_KIND, row)?;
            let Some((_, known_file, known_line)) = known else {
                continue;
            };
            let known_file = FileKey::find(store.connection, known_file)?;
            if (&kind.file, line_number) < (&known_file, known_line) {
                let example = params![level, name, file_id, line_number];
                store.execute(sql::MOVE_UNKNOWN_KIND_EXAMPLE, example)?;
            }
        }
        Ok(())
    }
}
