//! Reads the schema of a table from SQLite: how to write its rows, or why this module cannot.

use super::constraint::{self, Condition};
use super::sorter::Sorter;
use super::{Error, PAGE_BYTES, Result, btree, read_at};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension};
use std::fs::File;

/// A table whose rows can be written.
pub struct Table {
    pub name: String,
    pub root: u32,
    /// The sources of the values of its columns.
    pub sources: Vec<Source>,
    pub indexes: Vec<Index>,
    /// The position of the rowid in the values.
    key: Option<usize>,
    /// The conditions on the values.
    rules: Vec<Rule>,
}

/// The source of the value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The value at this position of a row.
    Value(usize, Kind),
    /// Always NULL.
    Null,
    /// The rowid, of which the column is an alias.
    Rowid,
}

/// The type of a column of a strict table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Real,
    Text,
    Blob,
    Any,
}

/// An index with its keys so far.
pub struct Index {
    pub name: String,
    pub root: u32,
    /// The numbers of its columns in the table.
    pub columns: Vec<usize>,
    /// The conditions of a partial index.
    pub conditions: Vec<Condition>,
    pub is_unique: bool,
    pub keys: Sorter,
}

/// The condition on a value.
struct Rule {
    column: String,
    kind: Kind,
    is_required: bool,
    checks: Vec<Condition>,
}

impl Table {
    /// Refuses values that SQLite would refuse or convert.
    pub fn check(&self, values: &[ValueRef<'_>]) -> Result<()> {
        assert_eq!(values.len(), self.rules.len(), "one value per column");
        let wrong = values
            .iter()
            .zip(&self.rules)
            .find(|(value, rule)| !rule.admits(**value));
        match wrong {
            None => Ok(()),
            Some((value, rule)) => Err(Error::Refused(format!(
                "a value of type {} is not allowed in {}.{}",
                value.data_type(),
                self.name,
                rule.column
            ))),
        }
    }

    /// The rowid of the next row.
    pub fn rowid(&self, values: &[ValueRef<'_>], last: Option<i64>) -> Result<i64> {
        let given = match self.key.map(|key| values[key]) {
            Some(ValueRef::Integer(rowid)) => Some(rowid),
            _ => None,
        };
        let next = match last {
            None => Some(given.unwrap_or(1)),
            Some(last) => given.or(last.checked_add(1)).filter(|rowid| *rowid > last),
        };
        next.ok_or_else(|| Error::Refused(format!("the rowids of {} do not grow", self.name)))
    }
}

impl Rule {
    fn admits(&self, value: ValueRef<'_>) -> bool {
        let is_of_kind = match (self.kind, value) {
            (_, ValueRef::Null) => !self.is_required,
            // SQLite stores NULL.
            (Kind::Real | Kind::Any, ValueRef::Real(real)) => !real.is_nan() || !self.is_required,
            (Kind::Integer | Kind::Real, ValueRef::Integer(_))
            | (Kind::Text, ValueRef::Text(_))
            | (Kind::Blob, ValueRef::Blob(_))
            | (Kind::Any, _) => true,
            _ => false,
        };
        is_of_kind && self.checks.iter().all(|check| check.admits(value))
    }
}

/// Reads a table whose rows will have values for some of its columns.
pub fn read_table(connection: &Connection, name: &str, given: &[&str]) -> Result<Table> {
    let refuse = |reason: String| Error::Refused(format!("{name} {reason}"));
    let found = connection
        .prepare_cached("select type, wr, strict from pragma_table_list(?1) where schema = 'main'")?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let (kind, is_without_rowid, is_strict): (String, bool, bool) =
        found.ok_or_else(|| refuse("is not in the database".to_string()))?;
    if kind != "table" || is_without_rowid || !is_strict {
        return Err(refuse("is not a strict table with rowids".to_string()));
    }
    let (root, sql) = connection
        .prepare_cached("select rootpage, sql from sqlite_schema where type = 'table' and name = ?1 collate nocase")?
        .query_row([name], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let odd_words = ["collate", "conflict", "autoincrement", "generated"];
    if constraint::has_word(&sql, &odd_words) != Some(false) {
        return Err(refuse(format!("may use one of: {}", odd_words.join(", "))));
    }
    let mut triggers = connection.prepare_cached(
        "select 1 from sqlite_schema where type = 'trigger' and tbl_name = ?1 collate nocase",
    )?;
    if triggers.exists([name])? {
        return Err(refuse("has triggers".to_string()));
    }

    let columns = read_columns(connection, name)?;
    let indexes = read_indexes(connection, name, &columns)?;
    let column_names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let checks = constraint::checks(&sql, &column_names)
        .filter(|checks| checks.iter().all(|check| is_of_kind(check, &columns)))
        .ok_or_else(|| refuse("has a check that is not evaluated here".to_string()))?;
    let rowid = rowid_column(&columns, &indexes);

    let position = |column: &Column| given.iter().position(|name| *name == column.name);
    let mut sources = Vec::with_capacity(columns.len());
    for (number, column) in columns.iter().enumerate() {
        let source = match position(column) {
            _ if column.is_hidden => {
                return Err(refuse(format!("has the generated column {}", column.name)));
            }
            _ if rowid == Some(number) => Source::Rowid,
            Some(position) => Source::Value(position, column.kind),
            None if column.has_default || column.is_required => {
                return Err(refuse(format!("needs a value for {}", column.name)));
            }
            None => Source::Null,
        };
        sources.push(source);
    }
    if rowid.is_some_and(|rowid| checks.iter().any(|check| check.column == rowid)) {
        return Err(refuse("has a check of its rowid".to_string()));
    }
    let mut checks = checks;
    let mut rules = Vec::with_capacity(given.len());
    for (place, name) in given.iter().enumerate() {
        let number = column_names.iter().position(|column| column == name);
        let number = number.filter(|_| !given[..place].contains(name));
        let number =
            number.ok_or_else(|| refuse(format!("has no column {name}, or it is named twice")))?;
        let column = &columns[number];
        rules.push(Rule {
            column: column.name.clone(),
            kind: column.kind,
            // Without a rowid a row gets the next one.
            is_required: column.is_required && rowid != Some(number),
            checks: checks
                .extract_if(.., |check| check.column == number)
                .collect(),
        });
    }
    Ok(Table {
        name: name.to_string(),
        root,
        key: rowid.and_then(|rowid| position(&columns[rowid])),
        sources,
        indexes: indexes.into_iter().map(|(index, _)| index).collect(),
        rules,
    })
}

/// A column of a table.
struct Column {
    name: String,
    kind: Kind,
    is_required: bool,
    has_default: bool,
    /// Its position in the primary key, from 1; 0 if it is not part of it.
    key_place: i64,
    is_hidden: bool,
}

/// Whether the literals of a condition have the type of their column, so that SQLite converts neither.
fn is_of_kind(condition: &Condition, columns: &[Column]) -> bool {
    use constraint::{Test, Values};
    match (&condition.test, columns[condition.column].kind) {
        (Test::Null | Test::NotNull, _)
        | (Test::In(Values::Integers(_)), Kind::Integer)
        | (Test::In(Values::Texts(_)), Kind::Text) => true,
        (Test::In(_), _) => false,
    }
}

/// The alias of the rowid: an `integer primary key` for which SQLite created no index.
fn rowid_column(columns: &[Column], indexes: &[(Index, Origin)]) -> Option<usize> {
    let has_index = indexes.iter().any(|(_, origin)| origin == "pk");
    columns
        .iter()
        .position(|column| column.key_place > 0 && !has_index)
}

fn read_columns(connection: &Connection, table: &str) -> Result<Vec<Column>> {
    let mut statement = connection.prepare_cached(
        "select name, type, \"notnull\", dflt_value is not null, pk, hidden from pragma_table_xinfo(?1, 'main') order by cid",
    )?;
    let columns = statement.query_map([table], |row| {
        let kind: String = row.get(1)?;
        Ok(Column {
            name: row.get(0)?,
            kind: match kind.to_ascii_lowercase().as_str() {
                "int" | "integer" => Kind::Integer,
                "real" => Kind::Real,
                "text" => Kind::Text,
                "blob" => Kind::Blob,
                _ => Kind::Any,
            },
            is_required: row.get(2)?,
            has_default: row.get(3)?,
            key_place: row.get(4)?,
            is_hidden: row.get::<_, i64>(5)? != 0,
        })
    })?;
    Ok(columns.collect::<rusqlite::Result<_>>()?)
}

/// The origin of an index: `c` is a statement, `u` a unique constraint, `pk` a primary key.
type Origin = String;

fn read_indexes(
    connection: &Connection,
    table: &str,
    columns: &[Column],
) -> Result<Vec<(Index, Origin)>> {
    index_names(connection, table)?
        .into_iter()
        .map(|(name, origin)| Ok((read_index(connection, name, columns)?, origin)))
        .collect()
}

fn index_names(connection: &Connection, table: &str) -> Result<Vec<(String, Origin)>> {
    let mut find =
        connection.prepare_cached("select name, origin from pragma_index_list(?1, 'main')")?;
    let names = find.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

/// The indexes of a table that are created by a statement and refused.
pub fn unsupported_indexes(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let columns = read_columns(connection, table)?;
    let mut unsupported = Vec::new();
    for (name, origin) in index_names(connection, table)? {
        match read_index(connection, name.clone(), &columns) {
            Err(Error::Refused(_)) if origin == "c" => unsupported.push(name),
            Err(error @ (Error::Io(_) | Error::Sqlite(_))) => return Err(error),
            _ => {}
        }
    }
    Ok(unsupported)
}

fn read_index(connection: &Connection, name: String, columns: &[Column]) -> Result<Index> {
    let (root, sql): (u32, Option<String>) = connection
        .prepare_cached(
            "select rootpage, sql from sqlite_schema where type = 'index' and name = ?1",
        )?
        .query_row([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (is_unique, is_partial) = connection
        .prepare_cached(
            "select list.\"unique\", list.partial
            from sqlite_schema, pragma_index_list(tbl_name, 'main') as list
            where sqlite_schema.name = ?1 and list.name = ?1",
        )?
        .query_row([&name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let column_names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let conditions = match is_partial {
        false => Some(Vec::new()),
        true => sql.and_then(|sql| constraint::index_conditions(&sql, &column_names)),
    };
    let is_evaluated = |conditions: &Vec<Condition>| {
        let mut conditions = conditions.iter();
        conditions.all(|condition| is_of_kind(condition, columns))
    };
    let conditions = conditions.filter(is_evaluated).ok_or_else(|| {
        Error::Refused(format!("{name} has a condition that is not evaluated here"))
    })?;
    Ok(Index {
        columns: read_key(connection, &name, columns)?,
        name,
        root,
        conditions,
        is_unique,
        keys: Sorter::default(),
    })
}

/// The columns of the key of an index.
fn read_key(connection: &Connection, index: &str, columns: &[Column]) -> Result<Vec<usize>> {
    let mut statement = connection.prepare_cached(
        "select cid, \"desc\", coll from pragma_index_xinfo(?1, 'main') where key order by seqno",
    )?;
    let mut rows = statement.query([index])?;
    let mut key = Vec::new();
    while let Some(row) = rows.next()? {
        let (number, is_descending): (i64, bool) = (row.get(0)?, row.get(1)?);
        let is_binary = row
            .get_ref(2)?
            .as_str()
            .is_ok_and(|name| name.eq_ignore_ascii_case("binary"));
        // The number of an expression and of the rowid is negative.
        let number = usize::try_from(number).ok();
        let number = number.filter(|number| {
            is_binary
                && !is_descending
                && matches!(columns[*number].kind, Kind::Integer | Kind::Text)
        });
        let number = number.ok_or_else(|| {
            let reason = "has a key other than text and integer columns in ascending binary order";
            Error::Refused(format!("{index} {reason}"))
        })?;
        key.push(number);
    }
    Ok(key)
}

/// Refuses a file with an unsupported format, and tables that are not empty. Returns the number of pages.
pub fn check_file(file: &File, tables: &[Table]) -> Result<u32> {
    let refuse = |reason: &str| Err(Error::Refused(format!("the file {reason}")));
    let mut header = [0; 100];
    read_at(file, &mut header, 0)?;
    let number = |offset: usize| {
        let bytes = header[offset..offset + 4]
            .first_chunk()
            .expect("four bytes");
        u32::from_be_bytes(*bytes)
    };
    let page_count = number(28);
    let reasons = [
        (
            header.starts_with(b"SQLite format 3\0"),
            "is no SQLite database",
        ),
        (
            usize::from(u16::from_be_bytes([header[16], header[17]])) == PAGE_BYTES,
            "has another page size",
        ),
        (header[18..20] == [1, 1], "has a write-ahead log"),
        (header[20] == 0, "has reserved bytes in its pages"),
        (number(44) == 4, "has an old schema format"),
        (number(52) == 0, "uses auto_vacuum"),
        (number(56) == 1, "is not in UTF-8"),
        (
            file.metadata()?.len() == u64::from(page_count) * PAGE_BYTES as u64,
            "is of another size than its header says",
        ),
    ];
    if let Some((_, reason)) = reasons.iter().find(|(is_fine, _)| !is_fine) {
        return refuse(reason);
    }
    for table in tables {
        let leaves = [(table.root, btree::TABLE_LEAF)].into_iter();
        let indexes = table
            .indexes
            .iter()
            .map(|index| (index.root, btree::INDEX_LEAF));
        for (root, kind) in leaves.chain(indexes) {
            let mut head = [0; 8];
            read_at(file, &mut head, u64::from(root - 1) * PAGE_BYTES as u64)?;
            if head[0] != kind || head[3..5] != [0, 0] {
                return Err(Error::Refused(format!("{} is not empty", table.name)));
            }
        }
    }
    Ok(page_count)
}
