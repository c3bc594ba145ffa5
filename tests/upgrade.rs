//! Databases of other schemas: newer and foreign ones are refused, older ones upgraded.

mod sandbox;

use rusqlite::Connection;
use sandbox::{Sandbox, text};
use std::fs;
use std::path::Path;

fn demo() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    sandbox
}

/// Changes the database behind the program's back.
fn tamper(sandbox: &Sandbox, sql: &str) {
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// The content of a database, but for the files that were only counted: those cannot be restored.
fn content(sandbox: &Sandbox) -> Vec<String> {
    let hash = sandbox.hash();
    let tables = hash
        .lines()
        .filter(|line| !line.ends_with(" files") && !line.ends_with(" all"));
    tables.map(str::to_string).collect()
}

#[test]
fn a_newer_database_is_refused() {
    let sandbox = demo();
    let before = fs::read(sandbox.database()).unwrap();
    tamper(&sandbox, "pragma user_version = 99");
    for command in [
        &["sync", "--demo"][..],
        &["check"],
        &["rebuild"],
        &["query", "--sql", "select 1"],
    ] {
        let output = sandbox.run(command);
        assert_eq!(output.status.code(), Some(78), "{command:?}");
        assert!(text(&output.stderr).contains("newer cc-etl"));
    }
    tamper(
        &sandbox,
        &format!(
            "pragma user_version = {}; pragma wal_checkpoint(truncate)",
            cc_etl::database::SCHEMA_VERSION
        ),
    );
    assert_eq!(fs::read(sandbox.database()).unwrap().len(), before.len());
    sandbox.check();
}

#[test]
fn a_foreign_file_is_refused_and_left_alone() {
    let sandbox = Sandbox::new();
    rusqlite::Connection::open(sandbox.database())
        .unwrap()
        .execute_batch("create table mine (a)")
        .unwrap();
    let text_file = sandbox.path("notes.txt");
    fs::write(
        &text_file,
        "these are notes, no database, and long enough to be one".repeat(50),
    )
    .unwrap();
    let empty = sandbox.path("empty");
    fs::write(&empty, "").unwrap();
    let home = sandbox.home();
    for file in [sandbox.database(), text_file, empty] {
        let before = fs::read(&file).unwrap();
        let name = file.to_str().unwrap();
        for command in [
            &["sync", "--source", home.to_str().unwrap(), "--db", name][..],
            &["rebuild", "--db", name],
            &["check", "--db", name],
        ] {
            let output = sandbox.run(command);
            assert_eq!(
                output.status.code(),
                Some(78),
                "{command:?}: {}",
                text(&output.stderr)
            );
        }
        assert!(fs::read(&file).unwrap() == before, "{name}");
    }
}

#[test]
fn an_older_database_is_upgraded_by_a_rebuild_and_a_copy_is_kept() {
    let fresh = demo().hash();
    for command in [&["sync", "--demo"][..], &["rebuild"]] {
        let sandbox = demo();
        // An older schema: a table less, a column less in a derived and in a kept table, an index less, another view.
        tamper(
            &sandbox,
            "pragma foreign_keys = off;
            drop table git_operations;
            drop index files_by_session;
            drop view orphans;
            create view obsolete as select 1 as one;
            create table mine (a);
            insert into mine values ('kept');
            insert into settings values ('of', 'mine');
            update messages set model = 'wrong';
            drop table sync_runs;
            create table sync_runs (sync_run_id integer primary key, started_at text not null);
            pragma user_version = 0;",
        );
        let output = sandbox.run(&["query", "--sql", "select 1"]);
        assert_eq!(output.status.code(), Some(78));
        assert!(
            text(&output.stderr).contains("upgrade it with cc-etl rebuild"),
            "{}",
            text(&output.stderr)
        );
        let output = sandbox.run(command);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("is upgraded to"));
        sandbox.check();
        assert_eq!(sandbox.query("select a from mine"), ["kept"]);
        tamper(
            &sandbox,
            "delete from settings where setting = 'of'; drop table mine",
        );
        assert_eq!(sandbox.hash(), fresh);
        let copy = sandbox.path("test.db.schema-0.backup");
        assert_eq!(
            sandbox::query(&sandbox::open(&copy), "select distinct model from messages"),
            ["wrong"]
        );
    }
}

#[test]
fn an_upgrade_that_fails_changes_nothing() {
    let sandbox = demo();
    tamper(
        &sandbox,
        "update archive_chunks set content = x'00' where archive_chunk_id = 3; pragma user_version = 0;",
    );
    let before = sandbox.query("select name, sql from sqlite_schema order by name");
    let output = sandbox.run(&["rebuild"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(
        sandbox.query("select name, sql from sqlite_schema order by name"),
        before
    );
    assert_eq!(sandbox.query("pragma user_version"), ["0"]);
    assert_eq!(sandbox.count("select count(*) from messages"), 725);
}

/// Every schema that was released, as tests/schemas/make left it: upgraded, it is what this program makes of the same files.
#[test]
fn every_released_schema_can_be_upgraded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "zst") {
            continue;
        }
        count += 1;
        let old = Sandbox::new();
        let packed = fs::read(&path).unwrap();
        fs::write(old.database(), zstd::decode_all(&packed[..]).unwrap()).unwrap();
        old.ok(&["rebuild"]);
        old.check();
        let new = Sandbox::new();
        fs::remove_dir_all(new.home()).unwrap();
        old.ok(&["restore", "--quiet", "--out", new.home().to_str().unwrap()]);
        new.sync_with(&["--machine", "demo"]);
        assert_eq!(content(&old), content(&new), "{}", path.display());
    }
    assert!(count > 0);
}

#[cfg(unix)]
#[test]
fn paths_with_backslashes_of_older_databases_are_escaped_and_stay_known() {
    let sandbox = Sandbox::new();
    let line = |uuid| format!("{{\"parentUuid\":null,\"uuid\":\"{uuid}\",\"type\":\"user\"}}\n");
    sandbox.write(r"projects/-w/a\b.jsonl", line("u1"));
    sandbox.write(r"projects/-w/a\x5cb.jsonl", line("u2"));
    sandbox.sync();
    let hash = sandbox.hash();
    // As older schemas had them.
    tamper(
        &sandbox,
        r"update files set path_bytes = null, path = 'projects/-w/a\b.jsonl'
        where file_id = (select file_id from messages where uuid = 'u1');
        update files set path_bytes = null, path = 'projects/-w/a\x5cb.jsonl'
        where file_id = (select file_id from messages where uuid = 'u2');
        pragma user_version = 0",
    );
    sandbox.ok(&["rebuild"]);
    assert_eq!(sandbox.hash(), hash);
    let synced: serde_json::Value = serde_json::from_str(&sandbox.sync_with(&["--json"])).unwrap();
    assert_eq!(
        (&synced["bytes"], &synced["missing_files"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn a_rebuild_keeps_tables_views_indexes_and_triggers_of_the_user() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo"]);
    let connection = Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch(
            "create table my_notes (note text);
            insert into my_notes values ('kept');
            create view my_view as select count(*) as message_count from messages;
            create index my_index on messages (sent_at, uuid);
            create trigger my_trigger after delete on sync_runs begin insert into my_notes values ('deleted'); end;",
        )
        .unwrap();
    drop(connection);
    let kept = "select name from sqlite_schema where name like 'my%' order by 1";
    let before = sandbox.query(kept);
    assert_eq!(before.len(), 4);
    sandbox.ok(&["rebuild"]);
    assert_eq!(sandbox.query(kept), before);
    assert_eq!(sandbox.query("select note from my_notes"), ["kept"]);
    sandbox.check();
}

/// The host name, as the program finds it.
fn host_name() -> String {
    let sandbox = Sandbox::new();
    sandbox.write("history.jsonl", "{}\n");
    sandbox.sync();
    sandbox.query("select machine from sources").remove(0)
}

fn synced(sandbox: &Sandbox) -> (i64, i64, i64) {
    let summary: serde_json::Value = serde_json::from_str(&sandbox.sync_with(&["--json"])).unwrap();
    let number = |name: &str| summary[name].as_i64().unwrap();
    (
        number("bytes"),
        number("missing_files"),
        sandbox.count("select count(*) from sources"),
    )
}

#[test]
fn a_home_is_not_imported_again_when_the_host_name_changes() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("data")).unwrap();
    let line = "{\"parentUuid\":null,\"uuid\":\"u\",\"type\":\"user\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-10T10:00:00.000Z\"}\n";
    sandbox.write("projects/-w/a.jsonl", line);
    sandbox.write("history.jsonl", "{\"display\":\"a\",\"timestamp\":1}\n");
    sandbox.sync();
    let id = sandbox.query("select machine_id from sources").remove(0);
    assert_eq!(id.len(), 32, "{id}");
    let kept = fs::read_to_string(sandbox.path("data/cc-etl/machine-id")).unwrap();
    assert_eq!(kept.trim(), id);
    let host = sandbox.query("select machine from sources");
    // As it was under another name.
    tamper(
        &sandbox,
        "update sources set machine = 'older'; update bi_sessions set machine = 'older'",
    );
    assert_eq!(synced(&sandbox), (0, 0, 1));
    assert_eq!(sandbox.query("select machine from sources"), host);
    assert_eq!(sandbox.query("select machine from bi_sessions"), host);
    assert_eq!(sandbox.query("select machine_id from sources"), [id]);
    sandbox.ok(&["check", "--deep"]);
}

#[test]
fn machines_of_the_same_name_have_homes_of_their_own() {
    let sandbox = Sandbox::new();
    let id_file = sandbox.path("data/cc-etl/machine-id");
    let line = |uuid: &str| {
        format!(
            "{{\"parentUuid\":null,\"uuid\":\"{uuid}\",\"type\":\"user\",\"sessionId\":\"s\",\
            \"message\":{{\"role\":\"user\",\"content\":\"Hello\"}},\"timestamp\":\"2026-01-10T10:00:00.000Z\"}}\n"
        )
    };
    fs::create_dir(sandbox.path("data")).unwrap();
    sandbox.write("projects/-w/a.jsonl", line("a"));
    sandbox.sync();
    // The home of another machine with the same name and the same path.
    fs::write(&id_file, format!("{}\n", "1".repeat(32))).unwrap();
    fs::remove_file(sandbox.home().join("projects/-w/a.jsonl")).unwrap();
    sandbox.write("projects/-w/b.jsonl", line("b"));
    assert_eq!(synced(&sandbox).1, 0, "the first home is not here");
    let homes = sandbox
        .query("select count(distinct machine_id) || ' ' || count(distinct machine) from sources");
    assert_eq!(homes, ["2 1"]);
    let missing = sandbox.count("select count(*) from files where missing_since is not null");
    assert_eq!(missing, 0);
    assert_eq!(sandbox.count("select count(*) from messages"), 2);
    sandbox.ok(&["check", "--deep"]);
}

#[test]
fn homes_of_older_databases_stay_theirs_and_get_the_id_of_their_machine() {
    let host = host_name();
    for version in 1..5 {
        let sandbox = Sandbox::new();
        fs::create_dir(sandbox.path("data")).unwrap();
        let packed =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/schemas/{version}.db.zst"));
        fs::write(
            sandbox.database(),
            zstd::decode_all(&fs::read(packed).unwrap()[..]).unwrap(),
        )
        .unwrap();
        let home = fs::canonicalize(sandbox.home()).unwrap();
        tamper(
            &sandbox,
            &format!(
                "update sources set machine = '{host}', root_path = '{}'",
                home.display()
            ),
        );
        let copy = Sandbox::new();
        fs::copy(sandbox.database(), copy.database()).unwrap();
        copy.ok(&["rebuild", "--quiet"]);
        fs::remove_dir_all(&home).unwrap();
        copy.ok(&["restore", "--quiet", "--out", home.to_str().unwrap()]);
        assert_eq!(synced(&sandbox), (0, 0, 1), "schema {version}");
        let id = sandbox.query("select machine_id from sources").remove(0);
        assert_eq!(id.len(), 32, "schema {version}: {id}");
        sandbox.check();
    }
}
