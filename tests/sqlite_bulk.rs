//! Tables that are written page by page are those that SQLite would have written; what cannot be written so is refused.

use cc_etl::sqlite_bulk::{BulkFile, Error, PAGE_BYTES};
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

#[test]
fn the_module_uses_nothing_of_the_program_around_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sqlite_bulk");
    let files = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for file in files.chain([folder.with_extension("rs")]) {
        let code = std::fs::read_to_string(&file).unwrap();
        assert!(!code.contains("crate::"), "{}", file.display());
    }
}
