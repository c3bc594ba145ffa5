//! Tables that are written page by page are those that SQLite would have written; what cannot be written so is refused.

use cc_etl::sqlite_bulk::{BulkFile, Error, PAGE_BYTES, unsupported_indexes};
use proptest::prelude::*;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

/// A new database with a schema.
fn create(path: &Path, schema: &str) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection
        .pragma_update(None, "page_size", PAGE_BYTES as i64)
        .unwrap();
    connection.execute_batch(schema).unwrap();
    connection
}

/// What SQLite's own check finds in a database.
fn integrity(connection: &Connection) -> String {
    connection
        .query_row("pragma integrity_check", [], |row| row.get(0))
        .unwrap()
}

fn rows(connection: &Connection, query: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(query).unwrap();
    let count = statement.column_count();
    let rows = statement
        .query_map([], |row| (0..count).map(|column| row.get(column)).collect())
        .unwrap();
    rows.map(Result::unwrap).collect()
}

/// The same rows, written page by page and by statements.
fn fill(
    schema: &str,
    table: &str,
    columns: &[&str],
    rows: &[Vec<Value>],
) -> (tempfile::TempDir, [Connection; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.db");
    let mut file = BulkFile::open(create(&path, schema), &path, &[(table, columns)]).unwrap();
    let statements = create(&folder.path().join("statements.db"), schema);
    let places = vec!["?"; columns.len()].join(", ");
    let insert = format!(
        "insert into {table} ({}) values ({places})",
        columns.join(", ")
    );
    statements.execute_batch("begin").unwrap();
    for row in rows {
        let values: Vec<ValueRef> = row.iter().map(ValueRef::from).collect();
        file.insert(0, &values).unwrap();
        statements.execute(&insert, params_from_iter(row)).unwrap();
    }
    statements.execute_batch("commit").unwrap();
    file.finish(2).unwrap();
    let pages = Connection::open(&path).unwrap();
    (folder, [pages, statements])
}

fn text(length: usize, seed: i64) -> Value {
    let letter = |place: usize| char::from(b'a' + ((place as i64 * 7 + seed) % 26) as u8);
    Value::Text((0..length).map(letter).collect())
}

#[test]
fn sqlite_finds_rows_and_keys_of_every_length() {
    let schema = "create table notes (
            note_id integer primary key, uuid text not null unique, parent text, is_new integer check (is_new in (0, 1)),
            amount integer, cost real, content text, raw blob
        ) strict;
        create index notes_by_parent on notes (parent, amount);
        create index new_notes on notes (content) where is_new = 1 and parent is not null;";
    let columns = [
        "note_id", "content", "uuid", "parent", "is_new", "amount", "cost", "raw",
    ];
    for count in [0, 1, 2, 40, 900] {
        let row = |id: i64| {
            vec![
                Value::Integer(id * 3),
                // What fits into a cell, what just does not, and what takes many overflow pages.
                text((id * id % 9000 + id % 7 / 6 * 40_000) as usize, id),
                Value::Text(format!("{:08}", id * 7_919 % 1_000_003)),
                match id % 5 {
                    0 => Value::Null,
                    _ => text((id % 17 * 150) as usize, id % 17),
                },
                Value::Integer(id % 2),
                Value::Integer((id - 50) << (id % 50)),
                Value::Real(id as f64 / 4.0),
                Value::Blob(vec![id as u8; (id % 100) as usize]),
            ]
        };
        let all: Vec<Vec<Value>> = (1..=count).map(row).collect();
        let (_folder, [pages, statements]) = fill(schema, "notes", &columns, &all);
        assert_eq!(integrity(&pages), "ok");
        for query in [
            "select * from notes order by note_id",
            "select uuid from notes indexed by sqlite_autoindex_notes_1 order by uuid",
            "select parent, amount from notes indexed by notes_by_parent order by 1, 2",
            "select content from notes indexed by new_notes where is_new = 1 and parent is not null order by 1",
        ] {
            assert!(rows(&pages, query) == rows(&statements, query), "{query}");
        }
    }
}

#[test]
fn an_index_that_cannot_be_written_is_named_so_that_sqlite_creates_it_later() {
    let schema = "create table notes (note_id integer primary key, uuid text not null unique, content text, size real) strict;
        create index plain on notes (content, uuid);
        create index descending on notes (content desc);
        create index expression on notes (lower(content));
        create index collated on notes (content collate nocase);
        create index of_reals on notes (size);
        create index conditional on notes (uuid) where length(content) > 3;";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let connection = create(&path, schema);
    let mut unsupported = unsupported_indexes(&connection, &["notes"]).unwrap();
    unsupported.sort();
    assert_eq!(
        unsupported,
        [
            "collated",
            "conditional",
            "descending",
            "expression",
            "of_reals"
        ]
    );
    for index in unsupported {
        connection
            .execute(&format!("drop index {index}"), [])
            .unwrap();
    }
    BulkFile::open(connection, &path, &[("notes", &["uuid"])]).unwrap();
}

#[test]
fn two_rows_with_one_key_are_refused() {
    let schema = "create table notes (uuid text, unique (uuid)) strict";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.db");
    let mut file = BulkFile::open(create(&path, schema), &path, &[("notes", &["uuid"])]).unwrap();
    for value in [
        ValueRef::Null,
        ValueRef::Text(b"one"),
        ValueRef::Null,
        ValueRef::Text(b"one"),
    ] {
        file.insert(0, &[value]).unwrap();
    }
    let Err(Error::Refused(reason)) = file.finish(1) else {
        panic!("it should be refused");
    };
    assert!(reason.contains("sqlite_autoindex_notes_1"), "{reason}");
}

/// A schema of one table, `t`, with columns `c0`, `c1`, ..., and rows for it, both made from a seed.
struct Case {
    random: Random,
    columns: Vec<Column>,
    key: Key,
    /// The columns of unique constraints.
    unique: Vec<Vec<usize>>,
    indexes: Vec<Index>,
    row_count: usize,
}

struct Column {
    kind: &'static str,
    is_required: bool,
    /// Allowed values, if there is a check.
    check: Option<Vec<Value>>,
    /// Whether rows have a value for it.
    is_given: bool,
}

enum Key {
    None,
    /// `integer primary key`: another name for the rowid.
    Rowid,
    Columns(Vec<usize>),
}

struct Index {
    columns: Vec<usize>,
    is_unique: bool,
    condition: Option<String>,
}

/// Numbers that look random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn is_one_of(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Some of the numbers below a limit, each once.
    fn some(&mut self, most: usize, from: &[usize]) -> Vec<usize> {
        let mut left = from.to_vec();
        let count = 1 + self.below(most);
        (0..count.min(left.len()))
            .map(|_| left.remove(self.below(left.len())))
            .collect()
    }
}

const INTEGERS: &[i64] = &[
    -1,
    0,
    1,
    2,
    127,
    128,
    -128,
    -129,
    32_767,
    32_768,
    -32_769,
    8_388_607,
    8_388_608,
    2_147_483_647,
    -2_147_483_649,
    140_737_488_355_327,
    140_737_488_355_328,
    -140_737_488_355_329,
    i64::MAX,
    i64::MIN,
];

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random(seed);
        for _ in 0..4 {
            random.below(2);
        }
        let mut columns: Vec<Column> = (0..1 + random.below(7))
            .map(|_| Column::new(&mut random))
            .collect();
        let key = match random.below(4) {
            0 => Key::None,
            1 => Key::Columns(keyable(&columns)),
            _ => {
                columns[0] = Column {
                    kind: "integer",
                    is_required: false,
                    check: None,
                    is_given: !random.is_one_of(4),
                };
                Key::Rowid
            }
        };
        let key = match key {
            Key::Columns(keyable) if keyable.is_empty() => Key::None,
            Key::Columns(keyable) => {
                let chosen = random.some(2, &keyable);
                for column in &chosen {
                    // `integer` alone would be another name for the rowid.
                    if columns[*column].kind == "integer" {
                        columns[*column].kind = "int";
                    }
                    // SQLite makes it required.
                    columns[*column].is_required = true;
                    columns[*column].is_given = true;
                }
                Key::Columns(chosen)
            }
            other => other,
        };
        let candidates = keyable(&columns);
        let mut unique = Vec::new();
        let mut indexes = Vec::new();
        if !candidates.is_empty() {
            if random.is_one_of(4) {
                unique.push(random.some(3, &candidates));
            }
            for _ in 0..random.below(4) {
                indexes.push(Index {
                    columns: random.some(3, &candidates),
                    is_unique: random.is_one_of(5),
                    condition: random
                        .is_one_of(2)
                        .then(|| condition(&mut random, &columns)),
                });
            }
        }
        let row_count = match random.below(6) {
            0 => 0,
            1 => 1,
            2 => 1200,
            _ => random.below(60),
        };
        Case {
            random,
            columns,
            key,
            unique,
            indexes,
            row_count,
        }
    }

    fn schema(&self) -> String {
        let list = |columns: &[usize]| {
            columns
                .iter()
                .map(|column| format!("c{column}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut parts: Vec<String> = Vec::new();
        for (number, column) in self.columns.iter().enumerate() {
            let mut part = format!("c{number} {}", column.kind);
            match &self.key {
                Key::Rowid if number == 0 => part.push_str(" primary key"),
                _ if column.is_required => part.push_str(" not null"),
                _ => {}
            }
            if let Some(values) = &column.check {
                let values: Vec<String> = values.iter().map(literal).collect();
                part.push_str(&format!(" check (c{number} in ({}))", values.join(", ")));
            }
            parts.push(part);
        }
        if let Key::Columns(columns) = &self.key {
            parts.push(format!("primary key ({})", list(columns)));
        }
        parts.extend(
            self.unique
                .iter()
                .map(|columns| format!("unique ({})", list(columns))),
        );
        let mut schema = format!("create table t ({}) strict;", parts.join(", "));
        for (number, index) in self.indexes.iter().enumerate() {
            let unique = if index.is_unique { "unique " } else { "" };
            let condition = index
                .condition
                .as_ref()
                .map(|text| format!("\nwhere {text}"));
            schema.push_str(&format!(
                "\ncreate {unique}index i{number} on t ({}){};",
                list(&index.columns),
                condition.unwrap_or_default()
            ));
        }
        schema
    }

    fn rows(&mut self) -> Vec<Vec<Value>> {
        let mut rowid = self
            .random
            .pick(&[0, 5, -1000, i64::MIN, i64::MAX - 5_000_000]);
        let spread = [4, 40, 100_000][self.random.below(3)];
        let mut rows = Vec::new();
        for _ in 0..self.row_count {
            let mut row = Vec::new();
            for (number, column) in self.columns.iter().enumerate() {
                if !column.is_given {
                    continue;
                }
                row.push(match self.key {
                    Key::Rowid if number == 0 && self.random.is_one_of(3) => Value::Null,
                    Key::Rowid if number == 0 => {
                        rowid += 1 + self.random.below(2000) as i64;
                        Value::Integer(rowid)
                    }
                    _ => column.value(&mut self.random, spread),
                });
                if let (Key::Rowid, 0, Some(Value::Null)) = (&self.key, number, row.last()) {
                    rowid += 1;
                    if rows.is_empty() {
                        rowid = 1;
                    }
                }
            }
            rows.push(row);
        }
        rows
    }

    fn given(&self) -> Vec<String> {
        let given = (0..)
            .zip(&self.columns)
            .filter(|(_, column)| column.is_given);
        given.map(|(number, _)| format!("c{number}")).collect()
    }
}

impl Column {
    fn new(random: &mut Random) -> Column {
        let kind = random.pick(&[
            "integer", "integer", "int", "text", "text", "real", "blob", "any",
        ]);
        let check = match kind {
            "integer" if random.is_one_of(4) => Some(vec![
                Value::Integer(0),
                Value::Integer(1),
                Value::Integer(-7),
            ]),
            "text" if random.is_one_of(4) => Some(
                ["", "it's", "t1", "t2"]
                    .map(|text| Value::Text(text.into()))
                    .to_vec(),
            ),
            _ => None,
        };
        let is_given = !random.is_one_of(6);
        Column {
            kind,
            is_required: is_given && random.is_one_of(3),
            check,
            is_given,
        }
    }

    fn value(&self, random: &mut Random, spread: usize) -> Value {
        if !self.is_required && random.is_one_of(5) {
            return Value::Null;
        }
        if let Some(allowed) = &self.check {
            return allowed[random.below(allowed.len())].clone();
        }
        match self.kind {
            "integer" | "int" => Value::Integer(integer(random, spread)),
            "real" if random.is_one_of(3) => Value::Integer(integer(random, spread)),
            "real" => Value::Real(random.pick(&[0.0, -0.0, 1.0, 0.1, -1e300, 1e15, f64::INFINITY])),
            "text" => Value::Text(long_text(random, spread)),
            "blob" => Value::Blob(long_text(random, spread).into_bytes()),
            _ => match random.below(4) {
                0 => Value::Integer(integer(random, spread)),
                1 => Value::Real(2.0),
                2 => Value::Text(long_text(random, spread)),
                _ => Value::Blob(vec![0; random.below(20)]),
            },
        }
    }
}

fn integer(random: &mut Random, spread: usize) -> i64 {
    match random.is_one_of(4) {
        true => random.pick(INTEGERS),
        false => random.below(spread) as i64 - 2,
    }
}

/// Mostly a short text; some go on for many pages.
fn long_text(random: &mut Random, spread: usize) -> String {
    let length = match random.below(12) {
        0 => 1900 + random.below(300),
        1 => 8050 + random.below(150),
        2 if random.is_one_of(8) => 30_000 + random.below(200_000),
        3 => random.below(400),
        4 => return random.pick(&["", "\0", "a\0b", "é東", "T1"]).to_string(),
        _ => 0,
    };
    format!("t{}{}", random.below(spread), "x".repeat(length))
}

/// The columns that a key may have.
fn keyable(columns: &[Column]) -> Vec<usize> {
    let is_keyable = |number: &usize| ["integer", "int", "text"].contains(&columns[*number].kind);
    (0..columns.len()).filter(is_keyable).collect()
}

/// The condition of a partial index.
fn condition(random: &mut Random, columns: &[Column]) -> String {
    let mut terms = Vec::new();
    for _ in 0..1 + random.below(2) {
        let number = random.below(columns.len());
        let kind = columns[number].kind;
        terms.push(match random.below(4) {
            0 => format!("c{number} is null"),
            1 if kind.starts_with("int") => format!("c{number} = 1"),
            2 if kind.starts_with("int") => format!("C{number} in (-1, 0,1)"),
            1 if kind == "text" => format!("c{number} = 't1' -- a comment\n"),
            2 if kind == "text" => format!("\"c{number}\" in ('t1', 'it''s')"),
            _ => format!("c{number} IS NOT NULL"),
        });
    }
    terms.join("\nand ")
}

fn literal(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Integer(integer) => integer.to_string(),
        _ => unreachable!("checks have texts and integers"),
    }
}

/// Writes the rows of a case both ways, and compares what SQLite reads. Says how many indexes it was read by, if it was written.
fn compare(seed: u64) -> Option<usize> {
    let mut case = Case::new(seed);
    let (schema, rows_of_case) = (case.schema(), case.rows());
    let given = case.given();
    let columns: Vec<&str> = given.iter().map(String::as_str).collect();
    if columns.is_empty() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.db");
    let mut file = BulkFile::open(create(&path, &schema), &path, &[("t", &columns)])
        .unwrap_or_else(|error| panic!("{error}\n{schema}"));
    let statements = create(&folder.path().join("statements.db"), &schema);
    let places = vec!["?"; columns.len()].join(", ");
    let insert = format!("insert into t ({}) values ({places})", columns.join(", "));
    statements.execute_batch("begin").unwrap();
    let mut is_valid = true;
    for row in &rows_of_case {
        let values: Vec<ValueRef> = row.iter().map(ValueRef::from).collect();
        is_valid &= statements.execute(&insert, params_from_iter(row)).is_ok();
        if let Err(error) = file.insert(0, &values) {
            assert!(matches!(error, Error::Refused(_)), "{error}\n{schema}");
            assert!(!is_valid, "{error}\n{schema}\n{row:?}");
            return None;
        }
    }
    statements.execute_batch("commit").unwrap();
    match file.finish(1 + (seed % 3) as usize) {
        Err(Error::Refused(reason)) => {
            assert!(!is_valid, "{reason}\n{schema}");
            return None;
        }
        other => other.unwrap(),
    }
    assert!(is_valid, "SQLite refused a row\n{schema}");

    let pages = Connection::open(&path).unwrap();
    assert_eq!(integrity(&pages), "ok", "{schema}");
    let types: Vec<String> = (0..case.columns.len())
        .map(|number| format!("typeof(c{number})"))
        .collect();
    let all = format!("select rowid, *, {} from t", types.join(", "));
    assert!(rows(&pages, &all) == rows(&statements, &all), "{schema}");
    let mut compared = 0;
    for index in rows(
        &statements,
        "select name, sql from sqlite_schema where type = 'index'",
    ) {
        let Value::Text(name) = &index[0] else {
            panic!("an index has a name");
        };
        let condition = match &index[1] {
            Value::Text(sql) => sql
                .split_once("where")
                .map_or("true", |(_, condition)| condition),
            _ => "true",
        };
        let keys = rows(
            &statements,
            &format!("select name from pragma_index_info('{name}')"),
        );
        let keys: Vec<String> = keys
            .iter()
            .map(|row| {
                format!("{:?}", row[0])
                    .replace("Text(\"", "")
                    .replace("\")", "")
            })
            .collect();
        let keys = keys.join(", ");
        let query = format!(
            "select {keys}, rowid from t indexed by {name} where {condition}\n order by {keys}, rowid"
        );
        // Of some indexes SQLite does not see that they have all rows that are asked for.
        if statements.prepare(&query).is_ok() {
            assert!(
                rows(&pages, &query) == rows(&statements, &query),
                "{query}\n{schema}"
            );
            compared += 1;
        }
    }
    // What comes later finds its place among what is there.
    let later = "insert into t select * from t where false; delete from t where rowid % 3 = 1; reindex; vacuum;";
    for connection in [&pages, &statements] {
        connection.execute_batch(later).unwrap();
    }
    assert!(rows(&pages, &all) == rows(&statements, &all), "{schema}");
    Some(compared)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_rows_of_any_schema_are_as_sqlite_writes_them(seed: u64) {
        compare(seed);
    }
}

/// The same for as many seeds as `CC_ETL_BULK_SEEDS` says.
#[test]
fn most_cases_are_written() {
    let count = std::env::var("CC_ETL_BULK_SEEDS").map_or(40, |count| count.parse().unwrap());
    let written: Vec<usize> = (0..count).filter_map(compare).collect();
    let indexes: usize = written.iter().sum();
    assert!(
        written.len() * 2 > count as usize,
        "{} of {count}",
        written.len()
    );
    assert!(indexes > written.len(), "{indexes} indexes");
}

/// What is refused when the file is opened: a word of the reason, a schema with a table `t (a, b)`, of which `b` gets values, and
/// what is done to the database before.
const REFUSED: &[(&str, &str, &str)] = &[
    (
        "needs a value for a",
        "create table t (a integer default 7, b text) strict",
        "",
    ),
    (
        "needs a value for a",
        "create table t (a integer not null, b text) strict",
        "",
    ),
    (
        "needs a value for a",
        "create table t (a text primary key, b text) strict",
        "",
    ),
    (
        "generated",
        "create table t (a integer generated always as (1) stored, b text) strict",
        "",
    ),
    (
        "generated",
        "create table t (a integer as (length(b)) virtual, b text) strict",
        "",
    ),
    (
        "collate",
        "create table t (a text, b text collate nocase) strict",
        "",
    ),
    (
        "autoincrement",
        "create table t (a integer primary key autoincrement, b text) strict",
        "",
    ),
    (
        "conflict",
        "create table t (a integer, b text unique on conflict replace) strict",
        "",
    ),
    ("strict", "create table t (a integer, b text)", ""),
    (
        "rowids",
        "create table t (a integer, b text primary key) strict, without rowid",
        "",
    ),
    (
        "strict table",
        "create virtual table t using fts5 (a, b)",
        "",
    ),
    ("strict table", "create view t as select 1 as a, 2 as b", ""),
    (
        "not in the database",
        "create table u (a integer, b text) strict",
        "",
    ),
    (
        "no column b",
        "create table t (a integer, c text) strict",
        "",
    ),
    (
        "triggers",
        "create table t (a integer, b text) strict",
        "create trigger r after insert on T begin select 1; end",
    ),
    (
        "check",
        "create table t (a integer, b text check (length(b) > 1)) strict",
        "",
    ),
    (
        "check",
        "create table t (a integer, b text check (b in ('x', 1))) strict",
        "",
    ),
    (
        "check",
        "create table t (a integer, b text check (b in (1, 2))) strict",
        "",
    ),
    (
        "check",
        "create table t (a integer, b any check (b in (1, 2))) strict",
        "",
    ),
    (
        "check",
        "create table t (a integer, b text, check (a is null or b is null)) strict",
        "",
    ),
    (
        "rowid",
        "create table t (a integer primary key check (a in (1, 2)), b text) strict",
        "",
    ),
    (
        "i has a key",
        "create table t (a integer, b text) strict",
        "create index i on t (b desc)",
    ),
    (
        "i has a key",
        "create table t (a integer, b text) strict",
        "create index i on t (b collate nocase)",
    ),
    (
        "i has a key",
        "create table t (a integer, b text) strict",
        "create index i on t (a, lower(b))",
    ),
    (
        "i has a key",
        "create table t (a real, b text) strict",
        "create index i on t (b, a)",
    ),
    (
        "has a key",
        "create table t (a blob, b text, unique (a)) strict",
        "",
    ),
    (
        "has a key",
        "create table t (a any, b text, unique (a)) strict",
        "",
    ),
    (
        "has a key",
        "create table t (a integer primary key desc, b real unique) strict",
        "",
    ),
    (
        "i has a condition",
        "create table t (a integer, b text) strict",
        "create index i on t (b) where a > 1",
    ),
    (
        "i has a condition",
        "create table t (a integer, b text) strict",
        "create index i on t (b)\nwhere\nb like 'a%'",
    ),
    (
        "i has a condition",
        "create table t (a integer, b text) strict",
        "create index i on t (b) where a = '1'",
    ),
    (
        "i has a condition",
        "create table t (a real, b text) strict",
        "create index i on t (b) where a = 1",
    ),
    (
        "i has a condition",
        "create table t (a integer, b text) strict",
        "create index i on t (b) where a = 1 or b is null",
    ),
    (
        "not empty",
        "create table t (a integer, b text) strict",
        "insert into t values (1, 'x')",
    ),
    (
        "page size",
        "pragma page_size = 4096; create table t (a integer, b text) strict",
        "",
    ),
    (
        "UTF-8",
        "pragma encoding = 'utf-16'; create table t (a integer, b text) strict",
        "",
    ),
    (
        "auto_vacuum",
        "pragma auto_vacuum = full; create table t (a integer, b text) strict",
        "",
    ),
    (
        "auto_vacuum",
        "pragma auto_vacuum = incremental; create table t (a integer, b text) strict",
        "",
    ),
    (
        "write-ahead",
        "pragma journal_mode = wal; create table t (a integer, b text) strict",
        "",
    ),
    (
        "transaction",
        "create table t (a integer, b text) strict",
        "begin; create table u (a)",
    ),
];

#[test]
fn what_cannot_be_written_is_refused_before_anything_is() {
    for (word, schema, then) in REFUSED {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let connection = create(&path, schema);
        connection.execute_batch(then).unwrap();
        let before = std::fs::read(&path).unwrap();
        let error = BulkFile::open(connection, &path, &[("t", &["b"])]).err();
        match error {
            Some(Error::Refused(reason)) => assert!(reason.contains(word), "{reason}\n{schema}"),
            other => panic!("{other:?}\n{schema} {then}"),
        }
        if *word != "write-ahead" {
            assert!(std::fs::read(&path).unwrap() == before, "{schema}");
        }
    }
}

#[test]
fn a_value_that_sqlite_would_refuse_or_convert_is_refused() {
    let schema = "create table t (
        id integer primary key, number integer not null, real real, text text check (text in ('a', 'b')), blob blob
    ) strict";
    let columns = ["id", "number", "real", "text", "blob"];
    let (one, null) = (ValueRef::Integer(1), ValueRef::Null);
    for (row, is_written) in [
        (
            [one, one, one, ValueRef::Text(b"a"), ValueRef::Blob(b"")],
            true,
        ),
        ([null, one, ValueRef::Real(f64::NAN), null, null], true),
        ([one, null, null, null, null], false),
        ([ValueRef::Text(b"1"), one, null, null, null], false),
        ([one, ValueRef::Text(b"1"), null, null, null], false),
        ([one, ValueRef::Real(1.0), null, null, null], false),
        ([one, one, ValueRef::Text(b"1.5"), null, null], false),
        ([one, one, null, one, null], false),
        ([one, one, null, ValueRef::Text(b"c"), null], false),
        ([one, one, null, ValueRef::Blob(b"a"), null], false),
        ([one, one, null, null, ValueRef::Text(b"a")], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut file = BulkFile::open(create(&path, schema), &path, &[("t", &columns)]).unwrap();
        match file.insert(0, &row) {
            Ok(()) => assert!(is_written, "{row:?}"),
            Err(Error::Refused(reason)) => assert!(!is_written, "{row:?}: {reason}"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_rowid_that_does_not_grow_is_refused() {
    let schema = "create table t (id integer primary key) strict";
    for (first, second, is_written) in [
        (1, Some(2), true),
        (-7, Some(-6), true),
        (2, Some(2), false),
        (2, Some(1), false),
        (i64::MAX, None, false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("test.db");
        let mut file = BulkFile::open(create(&path, schema), &path, &[("t", &["id"])]).unwrap();
        file.insert(0, &[ValueRef::Integer(first)]).unwrap();
        let second = second.map_or(ValueRef::Null, ValueRef::Integer);
        assert_eq!(
            file.insert(0, &[second]).is_ok(),
            is_written,
            "{first} {second:?}"
        );
    }
}

#[test]
fn keys_that_do_not_fit_into_memory_are_sorted_all_the_same() {
    let schema = "create table t (id integer primary key, a text, b integer unique) strict; create index i on t (a, b)";
    let row = |id: i64| {
        let scattered = id * 7_919 % 20_000;
        vec![
            Value::Integer(id),
            text(600 + (scattered % 100) as usize, scattered % 26),
            Value::Integer(scattered),
        ]
    };
    let all: Vec<Vec<Value>> = (0..20_000).map(row).collect();
    let (_folder, [pages, statements]) = fill(schema, "t", &["id", "a", "b"], &all);
    assert_eq!(integrity(&pages), "ok");
    let query = "select a, b, id from t indexed by i order by a, b";
    assert!(rows(&pages, query) == rows(&statements, query));
}
