//! The naming rules of the schema as assertions, and its page.

mod sandbox;

use cc_etl::database::{ADVICE, DEMO_HOME, QUERIES, SCHEMA, VIEWS, schema};
use cc_etl::schema_page;
use rusqlite::Connection;
use sandbox::content::{content, differences, reverse_keys};
use sandbox::{Sandbox, query};
use serde_json::Value;

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
    let scripts = [VIEWS, QUERIES, ADVICE].into_iter().flatten();
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
fn the_view_of_references_to_sessions_has_all() {
    let connection = empty_database();
    let view = VIEWS
        .iter()
        .find(|(name, _)| *name == "_session_references");
    let (_, view) = view.unwrap();
    let tables = query(
        &connection,
        "select m.name from sqlite_schema as m, pragma_foreign_key_list(m.name) as f
        where f.\"table\" = 'sessions' and m.name <> 'sessions'",
    );
    assert!(tables.len() > 10);
    for table in tables {
        assert!(view.contains(&format!(" from {table} where")), "{table}");
    }
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

/// A row with the same values gets the same place, wherever it came from. Integer keys follow the order of arrival.
#[test]
fn no_view_and_no_question_orders_by_an_integer_key() {
    let keys = query(
        &empty_database(),
        "select c.name from sqlite_schema as m, pragma_table_info(m.name) as c where m.type = 'table' and m.name not like 'search%' and c.pk > 0 and c.type = 'INTEGER'",
    );
    let is_key = |word: &str| {
        keys.iter().any(|key| {
            let role = word.strip_suffix(key.as_str());
            role.is_some_and(|role| role.is_empty() || role.ends_with('_'))
        })
    };
    let mut found = Vec::new();
    for (name, sql) in VIEWS.iter().chain(QUERIES).chain(ADVICE) {
        for order in orders(sql) {
            let words =
                order.split(|character: char| !character.is_alphanumeric() && character != '_');
            // An id of the source, a text, ends like an integer key.
            if words.filter(|word| *word != "api_message_id").any(is_key) {
                found.push(format!("{name}: order by {order}"));
            }
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// What follows each `order by`, up to the end of its clause.
fn orders(sql: &str) -> Vec<String> {
    let lines = sql
        .lines()
        .map(|line| line.split("--").next().unwrap_or_default());
    let sql = lines.collect::<Vec<_>>().join(" ");
    let clause = |after: &str| {
        let mut depth = 0;
        let end = after.char_indices().find(|(at, character)| {
            depth += i32::from(*character == '(') - i32::from(*character == ')');
            let rest = &after[*at..];
            let ends = [";", " limit ", " rows ", " range ", " groups "];
            depth < 0 || depth == 0 && ends.iter().any(|word| rest.starts_with(word))
        });
        after[..end.map_or(after.len(), |(at, _)| at)]
            .trim()
            .to_string()
    };
    sql.split("order by").skip(1).map(clause).collect()
}

/// The demo, and beside each of its sessions one that says and costs the same: only ids differ.
fn every_session_twice(path: &str, content: &[u8]) -> Vec<(String, Vec<u8>)> {
    let renamed = |text: &str| {
        [
            ("-4000-8000-", "-4000-9000-"),
            ("msg_", "msg_2"),
            ("req_", "req_2"),
            ("toolu_", "toolu_2"),
        ]
        .iter()
        .fold(text.to_string(), |text, (id, other)| {
            text.replace(id, other)
        })
    };
    let first = (path.to_string(), content.to_vec());
    let Ok(text) = std::str::from_utf8(content) else {
        return vec![first];
    };
    let other = renamed(path);
    match other == path {
        true if path.ends_with(".jsonl") => vec![(other, [text, &renamed(text)].concat().into())],
        true => vec![first],
        false => vec![first, (other, renamed(text).into())],
    }
}

/// Which values of the lines of a home are the same everywhere.
#[derive(Debug, Default, Clone, Copy)]
struct Level {
    times: bool,
    numbers: bool,
    /// Of responses, as some gateways do, and their models.
    ids: bool,
}

impl Level {
    /// The lines of a file, or the document, with what is levelled.
    fn of(self, content: &[u8]) -> Vec<u8> {
        let levelled = |line: &[u8]| match serde_json::from_slice(line) {
            Ok(mut value) => {
                self.level("", &mut value);
                serde_json::to_vec(&value).unwrap()
            }
            Err(_) => line.to_vec(),
        };
        match serde_json::from_slice::<Value>(content) {
            Ok(_) => levelled(content),
            Err(_) => content
                .split(|byte| *byte == b'\n')
                .map(levelled)
                .collect::<Vec<_>>()
                .join(&b'\n'),
        }
    }

    fn level(self, key: &str, value: &mut Value) {
        let is_time =
            |text: &str| text.len() >= 20 && text.starts_with("20") && text.as_bytes()[10] == b'T';
        match value {
            Value::Object(object) => object
                .iter_mut()
                .for_each(|(key, value)| self.level(key, value)),
            Value::Array(values) => values.iter_mut().for_each(|value| self.level(key, value)),
            Value::String(text) if self.times && is_time(text) => {
                *text = "2026-10-20T12:00:00.000Z".to_string()
            }
            Value::String(text)
                if self.ids && (text.starts_with("msg_") || text.starts_with("req_")) =>
            {
                text.truncate(4);
            }
            Value::String(text) if self.ids && key == "model" && text.starts_with("claude-") => {
                *text = "claude-opus-4-8".to_string();
            }
            Value::Number(number) => match number.as_i64() {
                Some(1_000_000_000_000..) if self.times => *number = 1_792_497_600_000_i64.into(),
                Some(2..1_000_000_000_000) if self.numbers => *number = 7.into(),
                _ => {}
            },
            _ => {}
        }
    }
}

/// The order of a question, a window or an aggregate, and what a `limit` or a minimum takes, follows from what the rows say:
/// the same rows in the opposite order of arrival, or read from the other end, give the same, even where their times, numbers and
/// ids are equal.
#[test]
fn no_order_is_left_to_the_order_of_arrival() {
    let none = Level::default();
    let times = Level {
        times: true,
        ..none
    };
    let all = Level {
        times: true,
        numbers: true,
        ids: true,
    };
    let mut found = String::new();
    for level in [none, times, all] {
        let sandbox = Sandbox::in_memory();
        for (path, content) in DEMO_HOME {
            for (path, content) in every_session_twice(path, content) {
                sandbox.write(&path, level.of(&content));
            }
        }
        sandbox.sync_with(&["--machine", "test", "--index-tool-output"]);
        let connect = || Connection::open(sandbox.database()).unwrap();
        let search = || sandbox.ok(&["search", "the OR tea OR ok", "--limit", "1000"]);
        let expected = content(&mut connect()).unwrap();
        let hits = search();
        let mut compare = |change: &str, mut connection: Connection| {
            let content = content(&mut connection).unwrap();
            if let Some((_, details)) = differences(&expected, &content) {
                found += &format!("{level:?}, {change}\n{details}\n");
            }
        };

        let connection = connect();
        let scans = connection.pragma_update(None, "reverse_unordered_selects", true);
        scans.unwrap();
        compare("scans in reverse", connection);

        let connection = connect();
        reverse_keys(&connection).unwrap();
        compare("keys in reverse", connection);
        assert_eq!(hits, search(), "{level:?}");
        sandbox.ok(&["check", "--deep"]);
    }
    assert!(found.is_empty(), "{found}");
}
