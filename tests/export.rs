//! `cc-etl export`, read back.

#![cfg(unix)] // it compares inodes

mod sandbox;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, RowAccessor};
use sandbox::{Sandbox, corpus, query, records};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/home");

fn with_demo() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--source", DEMO, "--machine", "laptop"]);
    sandbox
}

/// Exports to a folder of the sandbox, and returns it.
fn export(sandbox: &Sandbox, name: &str, arguments: &[&str]) -> PathBuf {
    let out = sandbox.path(name);
    let folder = out.to_str().unwrap();
    let mut all = vec!["export", "--format", "parquet", "--out", folder];
    all.extend(arguments);
    sandbox.ok(&all);
    out
}

/// The files of a folder by path, with their content and inode.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, u64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(place) = folders.pop() {
        for entry in fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_string();
                let inode = path.metadata().unwrap().ino();
                found.insert(name, (fs::read(path).unwrap(), inode));
            }
        }
    }
    found
}

/// The same, without the inodes.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let without_inode = |(name, (bytes, _))| (name, bytes);
    files(folder).into_iter().map(without_inode).collect()
}

/// The rows of a data set.
fn rows(out: &Path, set: &str) -> Vec<parquet::record::Row> {
    let folder = out.join("v1").join(set);
    let mut rows = Vec::new();
    for name in files(&folder).keys() {
        let file = fs::File::open(folder.join(name)).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        rows.extend(reader.get_row_iter(None).unwrap().map(Result::unwrap));
    }
    rows
}

fn sum(rows: &[parquet::record::Row], column: &str) -> f64 {
    let number = |row: &parquet::record::Row| match row
        .get_column_iter()
        .find(|(name, _)| *name == column)
    {
        Some((_, Field::Double(number))) => *number,
        Some((_, Field::Long(number))) => *number as f64,
        Some((_, Field::Null)) => 0.0,
        other => panic!("{column}: {other:?}"),
    };
    rows.iter().map(number).sum()
}

#[test]
fn the_figures_are_those_of_the_views() {
    let sandbox = with_demo();
    let out = export(&sandbox, "out", &["--profile", "full"]);
    let connection = sandbox.connection();
    for (set, column, view) in [
        ("fact_response", "cost_usd", "response_costs"),
        ("fact_response", "total_tokens", "response_costs"),
        ("fact_tool_call", "duration_ms", "tool_calls"),
        ("fact_turn", "cost_usd", "turns"),
        ("fact_turn", "tool_call_count", "turns"),
        ("fact_file_change", "lines_added", "file_changes"),
        ("dim_session", "message_count", "session_overview"),
        ("fact_feedback", "text_length", "bi_feedback"),
    ] {
        let exported = rows(&out, set);
        let sql = format!("select sum({column}) from {view}");
        let expected: f64 = query(&connection, &sql)[0].parse().unwrap();
        let found = sum(&exported, column);
        assert!(
            (expected - found).abs() < 1e-9 * expected,
            "{set}.{column}: {found}, not {expected}"
        );
    }
    for (set, view) in [
        ("fact_response", "response_costs"),
        ("fact_tool_call", "tool_calls"),
        ("fact_feedback", "feedback"),
        ("fact_prompt", "prompts"),
        ("fact_turn", "turns"),
        ("fact_message", "messages"),
        ("fact_file_change", "file_changes"),
        ("dim_session", "sessions"),
        ("dim_agent", "agents"),
        ("dim_price", "model_prices"),
    ] {
        let sql = format!("select count(*) from {view}");
        assert_eq!(
            rows(&out, set).len().to_string(),
            query(&connection, &sql)[0],
            "{set}"
        );
    }
}

#[test]
fn equal_rows_give_equal_bytes_and_nothing_new_writes_nothing() {
    let (one, other) = (with_demo(), Sandbox::with_statements());
    other.ok(&[
        "sync",
        "--source",
        DEMO,
        "--machine",
        "laptop",
        "--threads",
        "1",
    ]);
    for profile in ["metrics", "full"] {
        let key = one.path("key");
        let arguments = ["--profile", profile, "--key", key.to_str().unwrap()];
        let first = export(&one, profile, &arguments);
        let second = export(&other, profile, &arguments);
        assert!(contents(&first) == contents(&second), "{profile}");
        let before = files(&first);
        assert!(before.len() > 20);
        export(&one, profile, &arguments);
        // The same files, not equal ones.
        assert!(files(&first) == before, "{profile}");
    }
}

#[test]
fn only_the_files_of_touched_months_are_written_again() {
    let lines = |month: u8, count: usize| -> String {
        let line = |number: usize| {
            let uuid = format!("{month:08}-0000-4000-8000-{number:012}");
            let time = format!("2026-{month:02}-03T10:{:02}:00.000Z", number % 60);
            let given = serde_json::json!({ "timestamp": time, "sessionId": format!("5e550013-0000-4000-8000-0000000000{month:02}") });
            format!("{}\n", records::user(&uuid, "hello", given))
        };
        (0..count).map(line).collect()
    };
    let sandbox = Sandbox::new();
    let path = |month: u8| records::file(&format!("5e550013-0000-4000-8000-0000000000{month:02}"));
    for month in 1..=6 {
        sandbox.write(&path(month), lines(month, 3));
    }
    let undated = records::user(
        "00000099-0000-4000-8000-000000000000",
        "hello",
        serde_json::json!({ "timestamp": null }),
    );
    sandbox.write(
        &records::file("5e550013-0000-4000-8000-000000000099"),
        format!("{undated}\n"),
    );
    let sync = || sandbox.sync_with(&["--machine", "laptop"]);
    sync();
    let key = sandbox.path("key");
    let arguments = ["--key", key.to_str().unwrap()];
    let before = files(&export(&sandbox, "out", &arguments));
    assert!(before.keys().any(|name| name.contains("month=0000-00")));
    sandbox.write(&path(5), lines(5, 103));
    sync();
    let after = files(&export(&sandbox, "out", &arguments));
    let changed: BTreeSet<&str> = after
        .iter()
        .filter(|(name, file)| before.get(*name) != Some(file))
        .map(|(name, _)| name.rsplit_once('/').unwrap().0)
        .collect();
    let expected = [
        "v1", // the manifest
        "v1/dim_session",
        "v1/fact_feedback/month=2026-05",
        "v1/fact_message/month=2026-05",
        "v1/fact_prompt/month=2026-05",
        "v1/fact_turn/month=2026-05",
    ];
    assert_eq!(changed, BTreeSet::from(expected));
    // As an export from scratch.
    let scratch = contents(&export(&sandbox, "scratch", &arguments));
    assert!(scratch == contents(&sandbox.path("out")));
}

#[test]
fn files_that_no_longer_belong_are_removed_and_those_of_others_stay() {
    let sandbox = with_demo();
    let out = export(&sandbox, "out", &["--profile", "full"]);
    let before = contents(&out);
    let stale = "v1/fact_turn/month=1999-12/laptop.parquet";
    let other = "v1/fact_turn/month=1999-12/other.parquet";
    fs::create_dir(out.join("v1/fact_turn/month=1999-12")).unwrap();
    for path in [stale, other] {
        fs::write(out.join(path), "stale").unwrap();
    }
    fs::create_dir(out.join("v1/.staging-killed")).unwrap();
    fs::write(out.join("v1/.staging-killed/used"), "").unwrap();
    fs::create_dir(out.join("v1/.staging-half-removed")).unwrap();
    fs::write(out.join("v1/.staging-half-removed/0"), "staged").unwrap();
    let mut after = contents(&export(&sandbox, "out", &["--profile", "full"]));
    assert!(after.remove(other).is_some());
    assert!(after == before);
}

#[test]
fn a_folder_has_one_profile_and_one_key() {
    let sandbox = with_demo();
    let out = export(&sandbox, "out", &[]);
    let before = files(&out);
    let folder = out.to_str().unwrap();
    let key = sandbox.path("other-key");
    for other in [
        &["--profile", "full"][..],
        &["--names"],
        &["--key", key.to_str().unwrap()],
    ] {
        let mut arguments = vec!["export", "--format", "parquet", "--out", folder];
        arguments.extend(other);
        let output = sandbox.run(&arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(sandbox::text(&output.stderr).contains("export to another folder"));
    }
    assert!(files(&out) == before);
}

#[test]
fn a_script_goes_to_a_private_file_and_never_over_a_database() {
    use std::os::unix::fs::PermissionsExt;
    let (sandbox, other) = (with_demo(), with_demo());
    let export = |out: &Path| {
        let out = out.to_str().unwrap();
        sandbox.run(&[
            "export",
            "--format",
            "postgres",
            "--profile",
            "full",
            "--out",
            out,
        ])
    };
    let printed = sandbox.run(&["export", "--format", "postgres", "--profile", "full"]);
    assert!(printed.stdout.ends_with(b"\ncommit;\n") && printed.stderr.is_empty());
    let file = sandbox.path("team.sql");
    for _ in 0..2 {
        assert!(export(&file).status.success());
        assert_eq!(fs::read(&file).unwrap(), printed.stdout);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    for database in [sandbox.database(), other.database()] {
        let before = fs::read(&database).unwrap();
        assert_eq!(export(&database).status.code(), Some(2));
        assert!(fs::read(&database).unwrap() == before);
    }
    let parquet = sandbox.run(&["export", "--format", "parquet"]);
    assert_eq!(parquet.status.code(), Some(2));
    assert!(sandbox::text(&parquet.stderr).contains("--out DIR"));
}

#[test]
fn rows_of_anything_go_to_csv_and_json_lines() {
    let sandbox = with_demo();
    let export = |arguments: &[&str]| sandbox.ok(&[&["export"], arguments].concat());
    // The same text as that of a query.
    for (what, sql) in [
        ("daily_costs", "select * from daily_costs"),
        ("projects", "select * from projects"),
        ("messages", "select * from messages"),
    ] {
        for format in ["csv", "jsonl"] {
            let exported = export(&[what, "--format", format, "--profile", "full"]);
            let queried = sandbox.ok(&["query", "--format", format, "--sql", sql]);
            assert!(
                exported == queried && exported.lines().count() > 1,
                "{what}"
            );
        }
    }
    let question = ["expensive_prompts", "limit=3", "words=tea"];
    let format = ["--format", "csv"];
    let exported = export(&[&question[..], &format, &["--profile", "full"]].concat());
    assert_eq!(
        exported,
        sandbox.ok(&[&["query"], &question[..], &format].concat())
    );
    assert_eq!(exported.lines().count(), 4);
    // A data set has the columns and cells of the profile.
    let metrics = export(&["fact_prompt", "--format", "csv"]);
    let full = export(&["fact_prompt", "--format", "csv", "--profile", "full"]);
    let header = |text: &str| text.lines().next().unwrap().to_string();
    assert!(header(&full).ends_with(",said_at,text,question"));
    assert!(header(&metrics).ends_with(",said_at"));
    assert!(full.contains("tea-shop") && !metrics.contains("tea-shop"));
    let out = sandbox.path("prompts.jsonl");
    let printed = export(&[
        "fact_prompt",
        "--format",
        "jsonl",
        "--out",
        out.to_str().unwrap(),
    ]);
    let lines = fs::read_to_string(&out).unwrap();
    assert_eq!(lines.lines().count() + 1, metrics.lines().count());
    assert!(
        printed.contains(&format!(": {} rows, ", lines.lines().count())),
        "{printed}"
    );
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert!(first["text_length"].is_i64() && first["said_at"].as_str().unwrap().ends_with('Z'));
}

#[test]
fn a_formula_is_guarded_in_csv() {
    let sandbox = Sandbox::new();
    let given = serde_json::json!({ "gitBranch": "=cmd|' /C calc'!A0" });
    let line = records::user("00000001-0000-4000-8000-000000000001", "@sum(1)", given);
    sandbox.write(&records::file(records::S1), format!("{line}\n"));
    sandbox.sync();
    let export = |raw: &[&str]| {
        let arguments = [
            "export",
            "fact_prompt",
            "--format",
            "csv",
            "--profile",
            "full",
        ];
        sandbox.ok(&[&arguments, raw].concat())
    };
    let guarded = export(&[]);
    assert!(
        guarded.contains(",'=cmd|") && guarded.contains(",'@sum(1)"),
        "{guarded}"
    );
    let raw = export(&["--csv-raw"]);
    assert!(raw.contains(",=cmd|") && raw.contains(",@sum(1)"), "{raw}");
}

#[test]
fn what_cannot_be_exported_is_explained() {
    let sandbox = with_demo();
    for (arguments, explanation) in [
        (&["--format", "csv"][..], "fact_response"),
        (&["daily_costs", "--format", "csv"], "--profile full"),
        (
            &["daily_cost", "--format", "csv", "--profile", "full"],
            "no data set, question, view or table daily_cost",
        ),
        (
            &[
                "daily_costs",
                "since=7d",
                "--format",
                "csv",
                "--profile",
                "full",
            ],
            "no parameter since",
        ),
        (
            &["fact_turn", "since=7d", "--format", "csv"],
            "no parameter since",
        ),
        (
            &["fact_turn", "--format", "parquet"],
            "--format csv or jsonl",
        ),
        (&["--format", "sqlite"], "--out FILE"),
    ] {
        let output = sandbox.run(&[&["export"], arguments].concat());
        let message = sandbox::text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(
            message.contains(explanation) && output.stdout.is_empty(),
            "{message}"
        );
    }
}

#[test]
fn a_database_of_the_data_sets_has_nothing_that_the_profile_hides() {
    let sandbox = with_demo();
    let connection = sandbox.connection();
    for profile in ["metrics", "redacted", "full"] {
        let out = sandbox.path(&format!("{profile}.db"));
        let arguments = [
            "export",
            "--format",
            "sqlite",
            "--profile",
            profile,
            "--out",
        ];
        // The second one replaces the first one.
        for _ in 0..2 {
            sandbox.ok(&[&arguments, &[out.to_str().unwrap()][..]].concat());
        }
        let copy = sandbox::open(&out);
        let one = |sql: &str| query(&copy, sql).concat();
        assert_eq!(one("pragma integrity_check"), "ok");
        assert_eq!(one("pragma foreign_key_check"), "");
        assert_eq!(one("pragma freelist_count"), "0");
        assert_eq!(one("select profile from cc_etl_exports"), profile);
        for (exported, expected) in [
            (
                "round(sum(cost_usd), 6) from fact_response",
                "round(sum(cost_usd), 6) from response_costs",
            ),
            (
                "sum(duration_ms) from fact_tool_call",
                "sum(duration_ms) from tool_calls",
            ),
            ("count(*) from fact_message", "count(*) from messages"),
            (
                "count(*) from fact_prompt where said_at is not null",
                "count(*) from prompts where said_at is not null",
            ),
            (
                "max(date(sent_at)) from fact_message",
                "max(date(sent_at)) from messages",
            ),
        ] {
            let expected = query(&connection, &format!("select {expected}")).concat();
            assert_eq!(one(&format!("select {exported}")), expected, "{exported}");
        }
        let types = "select group_concat(type) from pragma_table_info('fact_turn') where name in ('day', 'cost_usd', 'is_interrupted', 'ended_at', 'turn_number')";
        assert_eq!(one(types), "BIGINT,DOUBLE,BOOLEAN,DATE,TIMESTAMP");
        let keys = "select count(*) from sqlite_schema where type = 'table' and sql not like '%primary key%'";
        assert_eq!(one(keys), "0");
        let bytes = fs::read(&out).unwrap();
        let has = |text: &str| memchr::memmem::find(&bytes, text.as_bytes()).is_some();
        let prompts = query(
            &connection,
            "select substr(text, 1, 40) from prompts where length(text) > 40 and text not like '%' || char(10) || '%'",
        );
        assert!(prompts.len() > 10);
        assert_eq!(
            prompts.iter().any(|prompt| has(prompt)),
            profile != "metrics"
        );
        assert_eq!(has("tea-shop"), profile != "metrics");
        assert_eq!(has("/home/"), profile == "full");
        let others = "select count(*) from sqlite_schema where sql not like 'create table %'";
        assert_eq!(one(others), "0");
    }
}

#[test]
fn a_backup_of_tables_has_all_rows_and_nothing_but_tables() {
    let sandbox = with_demo();
    let file = sandbox.path("tables.db");
    let name = file.to_str().unwrap();
    sandbox.ok(&["backup", name, "--tables-only"]);
    let (copy, whole) = (sandbox::open(&file), sandbox.connection());
    let others = "select name from sqlite_schema where type in ('view', 'trigger') or sql like 'create virtual%' or name like 'search%'";
    assert_eq!(query(&copy, others), Vec::<String>::new());
    let tables = query(&copy, "select name from sqlite_schema where type = 'table'");
    assert!(tables.len() > 50);
    for table in tables {
        let sql = format!("select * from {table} order by 1, 2");
        assert!(query(&copy, &sql) == query(&whole, &sql), "{table}");
    }
    let state = "select * from pragma_freelist_count, pragma_integrity_check, pragma_journal_mode";
    assert_eq!(query(&copy, state), ["0|ok|delete"]);
    // A sync would miss the search index.
    let refused = sandbox.run(&["status", "--db", name]);
    assert_eq!(refused.status.code(), Some(78));
    sandbox.ok(&["backup", name, "--tables-only", "--overwrite"]);
}

/// Engines remove copies by these ids.
#[test]
fn ids_of_signals_and_inputs_do_not_depend_on_what_else_a_machine_has() {
    let whole = with_demo();
    let history = fs::read(Path::new(DEMO).join("history.jsonl")).unwrap();
    let part = Sandbox::new();
    part.write("history.jsonl", history);
    for session in [
        "5e550004-0000-4000-8000-000000000004",
        "5e550006-0000-4000-8000-000000000006",
    ] {
        let path = format!("projects/-home-dev-tea-shop/{session}.jsonl");
        part.write(&path, fs::read(Path::new(DEMO).join(&path)).unwrap());
    }
    part.sync_with(&["--machine", "desktop"]);
    for (set, column) in [("fact_feedback", "signal_id"), ("fact_prompt", "input_id")] {
        let ids = |sandbox: &Sandbox| -> Vec<String> {
            let out = export(sandbox, "out", &["--profile", "full"]);
            let text = |row: &parquet::record::Row, name: &str| match row
                .get_column_iter()
                .find(|(column, _)| *column == name)
            {
                Some((_, Field::Str(text))) => text.clone(),
                other => panic!("{name}: {other:?}"),
            };
            let sessions = [
                "",
                "5e550004-0000-4000-8000-000000000004",
                "5e550006-0000-4000-8000-000000000006",
            ];
            let is_of_both =
                |row: &&parquet::record::Row| sessions.contains(&text(row, "session_id").as_str());
            rows(&out, set)
                .iter()
                .filter(is_of_both)
                .map(|row| text(row, column))
                .collect()
        };
        let unique = |ids: Vec<String>| -> BTreeSet<String> {
            let count = ids.len();
            let unique = BTreeSet::from_iter(ids);
            assert_eq!(unique.len(), count, "{set}");
            unique
        };
        let ids = (unique(ids(&part)), unique(ids(&whole)));
        assert!(ids.0.len() > 10 && ids.0 == ids.1, "{set}: {ids:?}");
    }
}

/// Every machine has its own files, and the facts of a session are in those of one machine.
#[test]
fn a_database_of_several_machines_has_files_for_each() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--source", DEMO, "--machine", "laptop"]);
    sandbox.write(
        &records::file("5e550013-0000-4000-8000-000000000042"),
        format!(
            "{}\n",
            records::user(
                "00000042-0000-4000-8000-000000000000",
                "hello",
                serde_json::json!({ "sessionId": "5e550013-0000-4000-8000-000000000042" })
            )
        ),
    );
    sandbox.sync_with(&["--machine", "Desk top"]);
    let out = export(&sandbox, "out", &["--profile", "full"]);
    let manifests: Vec<String> = files(&out)
        .into_keys()
        .filter(|name| name.contains("manifest"))
        .collect();
    assert_eq!(manifests.len(), 2);
    assert!(
        manifests
            .iter()
            .any(|name| name.starts_with("v1/manifest-Desk-top-")),
        "{manifests:?}"
    );
    let machines = |set: &str, session: &str| -> BTreeSet<String> {
        let place = |row: &parquet::record::Row, name: &str| {
            row.get_column_iter()
                .position(|(column, _)| column == name)
                .unwrap()
        };
        rows(&out, set)
            .iter()
            .filter(|row| {
                row.get_string(place(row, "session_id"))
                    .is_ok_and(|id| id == session)
            })
            .map(|row| row.get_string(place(row, "machine")).unwrap().clone())
            .collect()
    };
    for set in ["fact_message", "fact_prompt", "dim_session"] {
        let found = machines(set, "5e550013-0000-4000-8000-000000000042");
        assert_eq!(found, BTreeSet::from(["Desk top".to_string()]), "{set}");
    }
}

/// The kinds of the columns, as `sql/export` declares them.
fn kinds(set: &str) -> BTreeMap<String, String> {
    let path = format!("{}/sql/export/{set}.sql", env!("CARGO_MANIFEST_DIR"));
    let sql = fs::read_to_string(path).unwrap();
    let columns = sql
        .lines()
        .filter_map(|line| line.strip_prefix("--   ")?.split_once(' '));
    columns
        .map(|(name, kind)| (name.to_string(), kind.to_string()))
        .collect()
}

/// Words of at least six letters.
fn long_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|word| word.chars().count() >= 6)
        .map(str::to_lowercase)
}

#[test]
fn metrics_contain_no_word_of_a_text_path_or_command() {
    // The vocabulary that the program itself knows.
    let mut vocabulary = BTreeSet::new();
    let mut sources = vec![];
    for folder in ["src/normalize", "src/record", "sql"] {
        sources.extend(files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)));
    }
    for (_, (bytes, _)) in &sources {
        let text = String::from_utf8_lossy(bytes);
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
        vocabulary.extend(words.map(str::to_string));
    }
    let mut unknown = BTreeSet::new();
    let mut homes = corpus();
    homes.push(PathBuf::from(DEMO));
    for home in homes {
        let sandbox = Sandbox::new();
        sandbox.ok(&[
            "sync",
            "--source",
            home.to_str().unwrap(),
            "--machine",
            "laptopcomputer",
        ]);
        let out = export(&sandbox, "out", &[]);
        let connection = sandbox.connection();
        let texts = "
            select text from content_blocks union all select prompt_text from messages
            union all select command_arguments from messages union all select cwd from messages
            union all select git_branch from messages
            union all select input_json from tool_uses union all select command from tool_uses
            union all select file_path from tool_uses union all select description from tool_uses
            union all select content from tool_results union all select details_json from tool_results
            union all select file_path from file_changes
            union all select display from history_prompts union all select project_path from history_prompts
            union all select title from sessions union all select first_prompt from sessions
            union all select start_cwd from sessions
            union all select description from agents
            union all select path from projects union all select directory_name from projects
            union all select root_path from sources union all select machine from sources
            union all select path from files
            union all select text from queue_entries union all select content from plans
            union all select payload_json from events";
        let mut said: BTreeSet<String> = BTreeSet::new();
        for text in query(&connection, texts) {
            said.extend(long_words(&text));
        }
        assert!(said.contains("laptopcomputer") && said.len() > 100);
        let mut checked = 0;
        for set in fs::read_dir(out.join("v1")).unwrap() {
            let set = set.unwrap().file_name().into_string().unwrap();
            if set.ends_with(".json") {
                continue;
            }
            let kinds = kinds(&set);
            for row in rows(&out, &set) {
                for (column, field) in row.get_column_iter() {
                    let Field::Str(value) = field else { continue };
                    checked += 1;
                    let is_known = match (column.as_str(), kinds[column].as_str()) {
                        (
                            "tool_name" | "mcp_server" | "model" | "priced_model" | "main_model",
                            _,
                        ) => true,
                        // Identifiers of Claude Code's own vocabulary.
                        ("subtype" | "permission_mode" | "stop_reason" | "machine_kind", _) => {
                            value
                                .bytes()
                                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
                        }
                        (_, "word") => {
                            vocabulary.contains(value)
                                || !long_words(value).any(|word| said.contains(&word))
                        }
                        // An id is no word, though some of its letters may be.
                        (_, "id") => {
                            value.is_empty() || value.bytes().any(|byte| byte.is_ascii_digit())
                        }
                        _ => !long_words(value).any(|word| said.contains(&word)),
                    };
                    if !is_known {
                        unknown.insert(format!("{set}.{column}: {value}"));
                    }
                }
            }
        }
        assert!(checked > 1000);
        let manifest = files(&out)
            .into_iter()
            .find(|(name, _)| name.contains("manifest"))
            .unwrap();
        assert!(!manifest.0.contains("laptop") && !sandbox::text(&manifest.1.0).contains("laptop"));
    }
    assert_eq!(unknown, BTreeSet::new());
}
