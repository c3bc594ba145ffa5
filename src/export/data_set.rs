//! The data sets of `sql/export`. One is a file: comments that declare it, and a statement that returns the columns declared, sorted
//! by machine, time and key.
//!
//! ```text
//! -- One row per tool call, with its result.
//! -- Key: tool_use_id                         unique per machine
//! -- Time: called_at                          its month is the partition; dimensions have none
//! -- Columns:
//! --   machine name                           the first one
//! --   tool_use_id id
//! --   ...
//! select ...
//! ```

use super::profile::Profile;
use crate::database;

/// A fact or dimension.
#[derive(Debug)]
pub struct DataSet {
    pub name: &'static str,
    /// "One row per ..."
    pub grain: &'static str,
    pub key: Vec<&'static str>,
    pub time: Option<&'static str>,
    pub columns: Vec<Column>,
    sql: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    /// Part of the key: never NULL.
    pub is_key: bool,
}

/// The type of a column and, for strings, what a profile does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An id that a program made up.
    Id,
    /// A word of Claude Code's or our vocabulary, a model, a tool.
    Word,
    /// A name that people gave: a project, branch, machine, agent type.
    Name,
    /// A path that identifies something.
    Path,
    /// Anything else that people or models wrote.
    Content,
    Integer,
    Double,
    Boolean,
    Timestamp,
    Date,
}

/// The data set that all others refer to.
pub const MACHINES: &str = "dim_machine";

impl DataSet {
    /// The columns of the primary key.
    pub fn unique_columns(&self) -> Vec<&'static str> {
        let others = self.key.iter().filter(|name| **name != "machine");
        std::iter::once("machine").chain(others.copied()).collect()
    }

    /// No other reference is true for every set of machines: a fact may have no session, and its machine may not be that of its session.
    pub fn refers_to_machine(&self, column: &Column) -> bool {
        column.name == "machine" && self.name != MACHINES
    }

    /// The columns of a profile.
    pub fn columns(&self, profile: &Profile) -> Vec<Column> {
        let shown = |column: &&Column| profile.shows(column.kind);
        self.columns.iter().filter(shown).copied().collect()
    }

    pub fn column_names(&self, profile: &Profile) -> Vec<String> {
        let columns = self.columns(profile).into_iter();
        columns.map(|column| column.name.to_string()).collect()
    }

    /// A statement with the columns of a profile. SQLite does not compute the others.
    pub fn statement(&self, profile: &Profile) -> String {
        let columns = self.columns(profile);
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        let sql = self.sql.trim_end().trim_end_matches(';');
        format!("select {} from (\n{sql}\n)", names.join(", "))
    }
}

/// All data sets, by name.
pub fn all() -> Vec<DataSet> {
    database::EXPORT
        .iter()
        .map(|(name, sql)| parse(name, sql))
        .collect()
}

fn parse(name: &'static str, sql: &'static str) -> DataSet {
    let mut set = DataSet {
        name,
        grain: "",
        key: Vec::new(),
        time: None,
        columns: Vec::new(),
        sql,
    };
    for comment in sql.lines().map_while(|line| line.strip_prefix("-- ")) {
        if let Some(key) = comment.strip_prefix("Key: ") {
            set.key = key.split(", ").collect();
        } else if let Some(time) = comment.strip_prefix("Time: ") {
            set.time = Some(time);
        } else if let Some(column) = comment.strip_prefix("  ") {
            let (column, kind) = column.split_once(' ').expect("a kind follows the name");
            set.columns.push(Column {
                name: column,
                kind: kind_of(kind),
                is_key: column == "machine" || set.key.contains(&column),
            });
        } else if set.grain.is_empty() {
            set.grain = comment;
        }
    }
    set
}

fn kind_of(word: &str) -> Kind {
    match word {
        "id" => Kind::Id,
        "word" => Kind::Word,
        "name" => Kind::Name,
        "path" => Kind::Path,
        "content" => Kind::Content,
        "integer" => Kind::Integer,
        "double" => Kind::Double,
        "boolean" => Kind::Boolean,
        "timestamp" => Kind::Timestamp,
        "date" => Kind::Date,
        other => panic!("{other} is not a kind of column"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_data_set_returns_the_columns_that_it_declares() {
        let folder = tempfile::tempdir().unwrap();
        let connection = database::create(&folder.path().join("test.db")).unwrap();
        for set in all() {
            assert!(set.grain.starts_with("One row per "), "{}", set.name);
            assert_eq!(set.columns[0].name, "machine", "{}", set.name);
            let names: Vec<&str> = set.columns.iter().map(|column| column.name).collect();
            let statement = connection.prepare(set.sql).unwrap();
            assert_eq!(
                statement.column_names().collect::<Vec<_>>(),
                names,
                "{}",
                set.name
            );
            let time = set
                .columns
                .iter()
                .find(|column| Some(column.name) == set.time);
            assert_eq!(
                time.is_some(),
                set.name.starts_with("fact_"),
                "{}",
                set.name
            );
            assert!(
                time.is_none_or(|time| time.kind == Kind::Timestamp),
                "{}",
                set.name
            );
            for column in &set.columns {
                let kind = match column.name.rsplit('_').next() {
                    Some("at") => Kind::Timestamp,
                    Some("day") => Kind::Date,
                    Some("usd") => Kind::Double,
                    Some("tokens" | "count" | "ms" | "bytes" | "number") => Kind::Integer,
                    _ if column.name.starts_with("is_") => Kind::Boolean,
                    _ => continue,
                };
                assert_eq!(column.kind, kind, "{}.{}", set.name, column.name);
            }
            for key in &set.key {
                let column = set.columns.iter().find(|column| column.name == *key);
                // A key is in every profile.
                assert_ne!(column.unwrap().kind, Kind::Content, "{}.{key}", set.name);
            }
        }
    }
}
