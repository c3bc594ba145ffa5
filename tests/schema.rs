//! The naming rules of the schema as assertions, and its page.

mod sandbox;

use cc_etl::database::{QUERIES, SCHEMA, VIEWS, schema};
use cc_etl::schema_page;
use rusqlite::Connection;
use sandbox::query;

fn empty_database() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for (_, view) in VIEWS {
        connection.execute_batch(view).unwrap();
    }
    connection
}

/// Table and column of every column.
fn columns(connection: &Connection) -> Vec<(String, String, String)> {
    query(
        connection,
        "select m.name, c.name, c.type from sqlite_schema as m, pragma_table_info(m.name) as c where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'search%'",
    )
    .iter()
    .map(|row| {
        let mut parts = row.split('|').map(str::to_string);
        (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap())
    })
    .collect()
}

#[test]
fn every_table_says_what_a_row_is_and_is_strict_but_for_those_of_bi_tools() {
    for table in schema_page::tables() {
        assert!(
            table.grain.starts_with("One row per "),
            "{}: {}",
            table.name,
            table.grain
        );
    }
    for table in schema::tables() {
        let is_strict = table.sql.ends_with("strict;");
        assert_eq!(is_strict, !table.name.starts_with("bi_"), "{}", table.name);
    }
}

#[test]
fn every_view_is_named_as_its_file_and_says_what_a_row_is() {
    for (name, sql) in VIEWS {
        assert!(
            sql.starts_with(&format!("create view {name} as\n-- One row per ")),
            "{name}"
        );
        assert!(!sql.contains("main."), "{name}");
    }
}

/// A day or hour in SQL is local, by the expression that `sql/schema.sql` gives with `time_zone_offsets`.
#[test]
fn every_local_time_is_computed_by_the_same_expression() {
    let scripts = [VIEWS, QUERIES].into_iter().flatten();
    for (name, sql) in scripts {
        let code = sql.lines().map(|line| line.split("-- ").next().unwrap());
        let code: Vec<&str> = code.flat_map(str::split_whitespace).collect();
        let code = code.join(" ");
        let mut parts =
            code.split("( select utc_offset from time_zone_offsets where begins_at <= ");
        let mut before = parts.next().unwrap();
        assert!(!before.contains("time_zone_offsets"), "{name}");
        for part in parts {
            let (time, after) = part.split_once(' ').unwrap();
            let call = before.rsplit_once('(').unwrap();
            assert_eq!(call.1, format!("{time}, "), "{name}");
            assert!(
                call.0.ends_with("date") || call.0.ends_with("datetime"),
                "{name}"
            );
            assert!(
                after.starts_with("order by begins_at desc limit 1 ))"),
                "{name}: {after}"
            );
            assert!(!after.contains("time_zone_offsets"), "{name}");
            before = after;
        }
        // A day in UTC is only that of a price.
        let utc_days = code.matches("_at, 1, 10)").count();
        assert_eq!(
            utc_days,
            if *name == "response_costs" { 2 } else { 0 },
            "{name}"
        );
        for function in ["date", "datetime", "strftime"] {
            for call in code.split(&format!("{function}(")).skip(1) {
                let argument = call.split([',', ')']).next().unwrap();
                let is_local = call.starts_with(&format!("{argument}, ( select utc_offset"));
                assert!(
                    is_local || !argument.ends_with("_at") || argument == "local_at",
                    "{name}: {argument}"
                );
            }
        }
    }
}

#[test]
fn every_table_has_a_natural_key() {
    let connection = empty_database();
    let tables = query(
        &connection,
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not like 'search%' and name not in (
            select m.name
            from sqlite_schema as m, pragma_index_list(m.name) as i
            where m.type = 'table' and i.\"unique\"
        ) and name not in (
            -- Its key is a reference.
            select m.name from sqlite_schema as m, pragma_table_info(m.name) as c, pragma_foreign_key_list(m.name) as f
            where c.pk = 1 and f.\"from\" = c.name
        )",
    );
    assert_eq!(tables, [""; 0]);
}

#[test]
fn names_follow_the_rules() {
    let connection = empty_database();
    let booleans = query(
        &connection,
        "select m.name || '.' || c.name from sqlite_schema as m, pragma_table_info(m.name) as c where m.type = 'table' and m.sql like '%check (' || c.name || ' in (0, 1))%'",
    );
    for (table, column, kind) in columns(&connection) {
        let name = format!("{table}.{column}");
        assert!(
            column
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{name}"
        );
        assert!(
            !column.contains("msg") && !column.contains("num_") && !column.ends_with("_key"),
            "{name}"
        );
        let is_boolean = column.starts_with("is_") || column.starts_with("has_");
        assert_eq!(
            booleans.contains(&name),
            is_boolean,
            "{name}: a boolean is named is_ or has_ and has a check"
        );
        // BI tools read the declared types.
        let types = match table.starts_with("bi_") {
            true => ["TIMESTAMP", "", "BIGINT", "DOUBLE"],
            false => ["TEXT", "BLOB", "INTEGER", "REAL"],
        };
        let [time, hash, number, money] = types;
        for (suffix, expected) in [
            ("_at", time),
            ("_json", "TEXT"),
            ("_hash", hash),
            ("_unix", number),
            ("_ms", number),
            ("_ns", number),
            ("_tokens", number),
            ("_count", number),
            ("_bytes", number),
            ("_usd", money),
        ] {
            if column.ends_with(suffix) && name != "files.path_bytes" {
                assert_eq!(kind, expected, "{name}");
            }
        }
    }
}

#[test]
fn a_reference_is_named_as_the_key_it_leads_to() {
    let connection = empty_database();
    for row in query(
        &connection,
        "select m.name, f.\"from\", f.\"table\", (select c.name from pragma_table_info(f.\"table\") as c where c.pk = 1)
        from sqlite_schema as m, pragma_foreign_key_list(m.name) as f where m.type = 'table'",
    ) {
        let parts: Vec<&str> = row.split('|').collect();
        let [table, from, target, key] = parts[..] else { panic!("{row}") };
        assert!(from == key || from.ends_with(&format!("_{key}")), "{table}.{from} leads to {target}.{key}");
    }
}

#[test]
fn every_reference_has_an_index() {
    let connection = empty_database();
    let without = query(
        &connection,
        "select m.name || '.' || f.\"from\"
        from sqlite_schema as m, pragma_foreign_key_list(m.name) as f
        where m.type = 'table'
            and not exists (
                select 1 from pragma_index_list(m.name) as i, pragma_index_info(i.name) as c
                where c.seqno = 0 and c.name = f.\"from\"
            )
            and not exists (select 1 from pragma_table_info(m.name) as c where c.pk = 1 and c.name = f.\"from\")
        order by 1",
    );
    assert_eq!(without, [""; 0]);
}

#[test]
fn the_page_about_the_schema_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/sql/README.md");
    let page = schema_page::markdown();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let stored = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == page,
        "sql/README.md is out of date; UPDATE_GOLDEN=1 cargo test writes it"
    );
}

#[test]
fn every_column_is_on_the_page() {
    let connection = empty_database();
    let pages = schema_page::tables();
    for (table, column, _) in columns(&connection) {
        let page = pages.iter().find(|page| page.name == table).unwrap();
        assert!(
            page.columns.iter().any(|other| other.name == column),
            "{table}.{column}"
        );
    }
}
