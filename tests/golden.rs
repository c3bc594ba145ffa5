//! The invented home, imported: every table and view equals its file under golden/. `UPDATE_GOLDEN=1 cargo test` writes
//! the files anew; what changed is then read with `git diff`.

mod sandbox;

use cc_etl::database::VIEWS;
use cc_etl::question;
use cc_etl::schema_page;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sandbox::{Sandbox, open};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The last day of the demo.
const DEMO_DAY: &str = "2026-10-28";

/// What tells of the run and not of the home.
const NOT_CONTENT: &[(&str, &[&str])] = &[
    (
        "files",
        &[
            "changed_ns",
            "device",
            "inode",
            "is_racy",
            "first_seen_at",
            "last_synced_at",
        ],
    ),
    ("archive_chunks", &["content"]),
    ("settings", &["value"]),
];

#[test]
fn the_demo_gives_what_it_gave() {
    let sandbox = Sandbox::new();
    // Statements would commit several times, and some keys depend on when.
    let mut sync = sandbox.command(&["sync", "--demo"]);
    let synced = sync.env_remove("CC_ETL_BULK").output().unwrap();
    assert!(synced.status.success());
    sandbox.check();
    let connection = open(&sandbox.database());
    let mut dumps = BTreeMap::new();
    for table in schema_page::tables() {
        if table.name != "sync_runs" {
            let order = match table.name.as_str() {
                "time_zone_offsets" => "begins_at", // has no rowid
                _ => "rowid",
            };
            dumps.insert(table.name.clone(), dump(&connection, &table.name, order));
        }
    }
    for (view, _) in VIEWS {
        dumps.insert(
            view.to_string(),
            dump(&connection, view, &all_columns(&connection, view)),
        );
    }
    for question in question::builtin() {
        let name = format!("queries/{}", question.name);
        dumps.insert(name, dump_statement(&connection, &question.sql, &[]));
    }
    let mut changed = Vec::new();
    for (name, dump) in dumps {
        let path = golden(&name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &dump).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        if stored != dump {
            changed.push(first_difference(&name, &stored, &dump));
        }
    }
    assert!(
        changed.is_empty(),
        "{}\nUPDATE_GOLDEN=1 cargo test writes the files anew",
        changed.join("\n")
    );
}

fn golden(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"))
}

fn first_difference(name: &str, stored: &str, dump: &str) -> String {
    let lines = stored.lines().zip(dump.lines()).enumerate();
    let different = lines.into_iter().find(|(_, (old, new))| old != new);
    match different {
        Some((number, (old, new))) => format!("{name} line {}:\n- {old}\n+ {new}", number + 1),
        None => format!(
            "{name}: {} lines, now {}",
            stored.lines().count(),
            dump.lines().count()
        ),
    }
}

/// `1, 2, 3, ...`: views have no order of their own.
fn all_columns(connection: &Connection, view: &str) -> String {
    let statement = connection
        .prepare(&format!("select * from {view}"))
        .unwrap();
    let numbers: Vec<String> = (1..=statement.column_count())
        .map(|number| number.to_string())
        .collect();
    numbers.join(", ")
}

/// The rows of a table or view, a line each: `column: value`, without what is NULL.
fn dump(connection: &Connection, name: &str, order: &str) -> String {
    let left_out = NOT_CONTENT.iter().find(|(table, _)| *table == name);
    let left_out = left_out.map_or(&[][..], |(_, columns)| columns);
    dump_statement(
        connection,
        &format!("select * from {name} order by {order}"),
        left_out,
    )
}

fn dump_statement(connection: &Connection, sql: &str, left_out: &[&str]) -> String {
    let mut statement = connection.prepare(sql).unwrap();
    // What a question tells of today.
    for name in [":today", ":until"] {
        if let Some(place) = statement.parameter_index(name).unwrap() {
            statement.raw_bind_parameter(place, DEMO_DAY).unwrap();
        }
    }
    let columns: Vec<String> = statement.column_names().map(str::to_string).collect();
    let mut rows = statement.raw_query();
    let mut text = String::new();
    while let Some(row) = rows.next().unwrap() {
        let mut cells = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            match row.get_ref(index).unwrap() {
                ValueRef::Null => {}
                _ if left_out.contains(&column.as_str()) => {}
                value => cells.push(format!("{column}: {}", cell(value))),
            }
        }
        writeln!(text, "{}", cells.join(" | ")).unwrap();
    }
    text
}

fn cell(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => shorten(&String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A text on one line; of a long one the start, and a hash of all of it.
fn shorten(text: &str) -> String {
    let line = text
        .escape_debug()
        .to_string()
        .replace("\\\"", "\"")
        .replace("\\'", "'");
    match line.char_indices().nth(240) {
        None => line,
        Some((end, _)) => format!(
            "{}… ({} bytes, {})",
            &line[..end],
            text.len(),
            &blake3::hash(text.as_bytes()).to_hex()[..8]
        ),
    }
}
