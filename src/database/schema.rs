//! The statements of `sql/schema.sql`, split once for everything that reads them: a new database, an upgrade, the schema
//! page, the content hash.

/// The tables and indexes.
pub const SCHEMA: &str = include_str!("../../sql/schema.sql");

/// A statement that creates a table or an index.
#[derive(Clone, Copy, Debug)]
pub struct Statement {
    pub kind: Kind,
    pub name: &'static str,
    /// The table of an index; of a table its own name.
    pub table: &'static str,
    /// The banner above it.
    pub section: &'static str,
    /// From `create` to the semicolon.
    pub sql: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Table,
    VirtualTable,
    Index,
}

/// The statements, in the order of the file.
pub fn statements() -> impl Iterator<Item = Statement> {
    let mut section = "";
    SCHEMA.split_inclusive(";\n").filter_map(move |text| {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("----") {
                section = lines.next()?.trim_start_matches("-- ");
                lines.next();
            } else if line.starts_with("create ") {
                return Statement::parse(&text[text.find("create ")?..], section);
            }
        }
        None
    })
}

/// The tables, without the full-text index.
pub fn tables() -> impl Iterator<Item = Statement> {
    statements().filter(|statement| statement.kind == Kind::Table)
}

impl Statement {
    fn parse(sql: &'static str, section: &'static str) -> Option<Statement> {
        let mut words = sql.split([' ', '(']).filter(|word| *word != "unique");
        let kind = match words.nth(1)? {
            "table" => Kind::Table,
            "virtual" => {
                words.next();
                Kind::VirtualTable
            }
            "index" => Kind::Index,
            _ => return None,
        };
        let name = words.next()?;
        let table = match kind {
            Kind::Index => words.nth(1)?,
            Kind::Table | Kind::VirtualTable => name,
        };
        Some(Statement {
            kind,
            name,
            table,
            section,
            sql: sql.trim_end(),
        })
    }
}

/// Whether a statement is the one that SQLite stored.
pub fn is_same(sql: &str, stored: &str) -> bool {
    sql.trim_end()
        .trim_end_matches(';')
        .eq_ignore_ascii_case(stored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn the_statements_are_those_that_sqlite_runs() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let mut statement = connection
            .prepare(
                "select type, name, tbl_name, sql from sqlite_schema
                where sql is not null and name not glob 'search_*' order by rowid",
            )
            .unwrap();
        let created = statement
            .query_map([], |row| {
                let [kind, name, table, sql]: [String; 4] =
                    [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
                Ok((kind, name, table, sql))
            })
            .unwrap();
        let created: Vec<_> = created.map(Result::unwrap).collect();
        assert_eq!(created.len(), statements().count());
        for ((kind, name, table, sql), statement) in created.iter().zip(statements()) {
            assert_eq!((statement.name, statement.table), (&**name, &**table));
            assert_eq!(statement.kind == Kind::Index, kind == "index");
            assert!(is_same(statement.sql, sql), "{sql}");
            assert!(!statement.section.is_empty(), "{name}");
        }
    }
}
