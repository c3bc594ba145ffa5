//! `check`, `status` and `doctor`, on sound and on damaged databases.

mod sandbox;

use rusqlite::Connection;
use sandbox::{Sandbox, text};
use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime};

const FILE: &str = "projects/-w/5e550001-0000-4000-8000-000000000001.jsonl";

fn line(uuid: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"{uuid}","type":"user","sessionId":"5e550001-0000-4000-8000-000000000001","message":{{"role":"user","content":"hello {uuid}"}}}}
"#
    )
}

fn synced() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, line("u1"));
    sandbox.sync();
    sandbox
}

fn tamper(sandbox: &Sandbox, sql: &str) {
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection.execute_batch(sql).unwrap();
}

fn failed(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let output = sandbox.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_deep_check_finds_rows_that_differ_from_the_archive() {
    let sandbox = synced();
    sandbox.ok(&["check", "--deep"]);
    tamper(&sandbox, "update messages set cwd = '/elsewhere'");
    sandbox.check();
    let found = failed(&sandbox, &["check", "--deep"]);
    assert!(
        found.contains("FAILED  the tables match a rebuild from the archive")
            && found.contains("messages: 1 rows"),
        "{found}"
    );
    // It repairs nothing.
    assert_eq!(sandbox.query("select cwd from messages"), ["/elsewhere"]);
    let left = fs::read_dir(sandbox.path(".")).unwrap();
    assert!(
        left.map(|entry| entry.unwrap().file_name())
            .all(|name| !name.to_string_lossy().contains("check"))
    );
}

#[test]
fn a_deep_check_finds_an_index_that_differs_from_the_texts() {
    let sandbox = synced();
    tamper(
        &sandbox,
        "insert into search (search, rowid, text) values ('delete', 1, 'hello u1');
        insert into search (rowid, text) values (1, 'something else');",
    );
    let found = failed(&sandbox, &["check", "--deep"]);
    assert!(
        found.contains("FAILED  the search index matches the texts"),
        "{found}"
    );
}

#[test]
fn the_files_on_disk_are_compared_byte_for_byte() {
    let sandbox = synced();
    sandbox.write("projects/-w/second.jsonl", line("u2"));
    sandbox.sync();
    sandbox.ok(&["check", "--sources"]);
    // Other bytes with the same size and modification time.
    let file = sandbox.home().join(FILE);
    let modified = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, line("u9")).unwrap();
    File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_times(FileTimes::new().set_modified(modified))
        .unwrap();
    sandbox.write("projects/-w/second.jsonl", line("u2") + &line("u3"));
    sandbox.write("projects/-w/third.jsonl", line("u4"));
    sandbox.check();
    let found = failed(&sandbox, &["check", "--sources"]);
    for finding in [
        "000001.jsonl: differs from the archived bytes",
        &format!("second.jsonl: {} bytes are new", line("u3").len()),
        "third.jsonl: never imported",
        "cc-etl sync",
    ] {
        assert!(found.contains(finding), "{finding}\n{found}");
    }
    sandbox.sync();
    sandbox.ok(&["check", "--sources"]);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.ok(&["check", "--sources", "--json"])).unwrap();
    assert_eq!(json["failed_count"], 0);
    assert!(json["checks"].as_array().unwrap().len() > 10, "{json}");
    // A deleted file is not a finding.
    fs::remove_file(&file).unwrap();
    sandbox.ok(&["check", "--sources"]);
}

#[test]
fn status_shows_what_is_new() {
    let sandbox = synced();
    let status = sandbox.ok(&["status"]);
    assert!(
        status.contains("1 session, 1 message") && status.contains("new       nothing"),
        "{status}"
    );
    sandbox.write(FILE, line("u1") + &line("u2"));
    let status = sandbox.ok(&["status"]);
    let new = format!("new       {} bytes in 1 file", line("u2").len());
    assert!(status.contains(&new), "{status}");
    let json: serde_json::Value = serde_json::from_str(&sandbox.ok(&["status", "--json"])).unwrap();
    assert_eq!(
        (&json["session_count"], &json["new_file_count"]),
        (&1.into(), &1.into())
    );
    assert_eq!(Sandbox::new().run(&["status"]).status.code(), Some(66));
}

#[test]
fn doctor_diagnoses_risks_and_suggests_fixes() {
    let sandbox = synced();
    // It exits with 1 where something is at risk.
    let doctor = |code| {
        let output = sandbox.run(&["doctor"]);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stdout));
        text(&output.stdout)
    };
    let sound = doctor(0);
    assert!(sound.contains("nothing is at risk"), "{sound}");
    assert!(
        sound.contains("after 30 days: none within the next 7") && sound.contains("SQLite 3."),
        "{sound}"
    );

    // A transcript that will be deleted in a day and is not in the database, and a setting that shortens the time.
    let old = sandbox.write("projects/-w/old.jsonl", line("u2"));
    let four_days = Duration::from_secs(4 * 86_400);
    File::options()
        .write(true)
        .open(old)
        .unwrap()
        .set_times(FileTimes::new().set_modified(SystemTime::now() - four_days))
        .unwrap();
    sandbox.write("settings.json", "{\"cleanupPeriodDays\": 5}");
    sandbox.write(
        "projects/-w/bad.jsonl",
        "{\"type\":\"from-the-future\"}\n{torn\n",
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(sandbox.database(), fs::Permissions::from_mode(0o644)).unwrap();
    }
    let report = doctor(1);
    let json: serde_json::Value =
        serde_json::from_slice(&sandbox.run(&["doctor", "--json"]).stdout).unwrap();
    assert!(json["risk_count"].as_u64() > Some(1), "{json}");
    assert_eq!(json["findings"][0]["status"], "risk");
    assert!(report.contains("after 5 days: 3 files"), "{report}");
    assert!(
        report.contains("2 of them") && report.contains("are not imported"),
        "{report}"
    );
    assert!(report.contains("cc-etl sync"), "{report}");
    #[cfg(unix)]
    assert!(report.contains("chmod 600 "), "{report}");

    sandbox.sync();
    let report = doctor(i32::from(cfg!(unix)));
    assert!(report.contains("all of them are imported"), "{report}");
    assert!(
        report.contains("1 torn_record") && report.contains("from-the-future"),
        "{report}"
    );

    sandbox.write("settings.json", "{\"cleanupPeriodDays\": 0}");
    assert!(doctor(1).contains("writes no transcripts"));
    fs::remove_file(sandbox.database()).unwrap();
    let report = doctor(1);
    assert!(report.contains("there is no database"), "{report}");
}

#[test]
fn a_script_that_fails_costs_only_its_tables_and_the_next_sync_tries_again() {
    let sandbox = Sandbox::new();
    for (script, table, column, group) in [
        ("73_bi_feedback.sql", "bi_feedback", "insert", "rollups"),
        ("20_agents.sql", "agents", "update", "agents"),
        ("40_session_columns.sql", "sessions", "update", "sessions"),
    ] {
        let agent = line("a1").replace(
            r#""type""#,
            r#""isSidechain":true,"agentId":"a0000001","type""#,
        );
        let mut content = line("u1") + &agent;
        sandbox.write(FILE, &content);
        sandbox.sync();
        let connection = Connection::open(sandbox.database()).unwrap();
        connection
            .execute_batch(&format!(
                "create trigger broken before {column} on {table} begin select raise(abort, 'a fault'); end"
            ))
            .unwrap();
        content += &line("u2");
        sandbox.write(FILE, &content);
        let output = sandbox.run(&["sync", "--source", sandbox.home().to_str().unwrap()]);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(
            errors.contains(&format!("sql/derive/{script}: database: a fault")),
            "{errors}"
        );
        assert!(errors.contains("1 derive scripts failed"), "{errors}");
        assert_eq!(sandbox.count("select count(*) from messages"), 3, "{group}");
        assert_eq!(
            sandbox.count("select count(*) from bi_feedback"),
            1 + i64::from(table != "bi_feedback"),
            "{group}"
        );
        let again = sandbox.run(&["sync", "--source", sandbox.home().to_str().unwrap()]);
        assert_eq!(
            again.status.code(),
            Some(1),
            "it tries again: {}",
            text(&again.stderr)
        );
        connection.execute_batch("drop trigger broken").unwrap();
        sandbox.sync();
        sandbox.check();
        assert_eq!(sandbox.count("select count(*) from bi_feedback"), 2);
        let hash = sandbox.hash();
        sandbox.ok(&["rebuild"]);
        assert_eq!(sandbox.hash(), hash, "{group}");
        drop(connection);
        std::fs::remove_file(sandbox.database()).unwrap();
    }
}

#[test]
fn deriving_everything_again_changes_nothing() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo"]);
    let hash = sandbox.hash();
    Connection::open(sandbox.database())
        .unwrap()
        .execute("delete from settings where setting = 'derived_with'", [])
        .unwrap();
    sandbox.ok(&["sync", "--demo"]);
    sandbox.check();
    assert_eq!(sandbox.hash(), hash);
    assert_eq!(
        sandbox.count("select count(*) from settings where setting = 'derived_with'"),
        1
    );
}
