//! The program as people use it.

mod sandbox;

use cc_etl::discover::{Discovery, SourceFile, Stat};
use cc_etl::file_diff;
use sandbox::{Sandbox, text};
use std::fs;
use std::io::Write;

const SESSION: &str = "5e550001-0000-4000-8000-000000000001";
const OTHER: &str = "5e550002-0000-4000-8000-000000000002";

fn message(uuid: &str, session: &str, content: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"isSidechain":false,"type":"user","message":{{"role":"user","content":"{content}"}},"uuid":"{uuid}","timestamp":"2026-01-10T10:00:00.000Z","sessionId":"{session}","version":"2.1.0","cwd":"/w"}}
"#
    )
}

fn main_file() -> String {
    format!("projects/-w/{SESSION}.jsonl")
}

/// A home with two sessions, one of them with an agent.
fn two_sessions() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(&main_file(), message("u1", SESSION, "hello"));
    sandbox.write(
        &format!("projects/-w/{SESSION}/subagents/agent-a1.jsonl"),
        message("u2", SESSION, "do it").replace(
            "\"isSidechain\":false",
            "\"isSidechain\":true,\"agentId\":\"a1\"",
        ),
    );
    sandbox.write(
        &format!("projects/-w/{OTHER}.jsonl"),
        message("u3", OTHER, "good morning"),
    );
    sandbox
}

#[test]
fn without_a_home_it_says_how_to_name_one() {
    let sandbox = Sandbox::new();
    let output = sandbox.run(&["sync"]);
    assert_eq!(output.status.code(), Some(66));
    let message = text(&output.stderr);
    assert!(
        message.contains("--source") && message.contains("--demo"),
        "{message}"
    );
    let output = sandbox.run(&["sync", "--source", "/nowhere"]);
    assert_eq!(output.status.code(), Some(66));
}

#[test]
fn without_a_command_it_imports_and_shows_the_last_days() {
    let sandbox = two_sessions();
    let run = || {
        let mut command = sandbox.command(&[]);
        let output = command
            .env("CLAUDE_CONFIG_DIR", sandbox.home())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    };
    let (first, note) = run();
    assert!(note.contains("imported your history into"), "{note}");
    for part in ["today", "last 7 days", "this month", "last sync"] {
        assert!(first.contains(part), "{first}");
    }
    sandbox.write("projects/-w/new.jsonl", message("u9", OTHER, "one more"));
    let (_, note) = run();
    assert!(
        note.contains("importing") && note.contains("1 file"),
        "{note}"
    );
    assert_eq!(
        sandbox.count("select count(*) from messages where uuid = 'u9'"),
        1
    );
    let (_, note) = run();
    assert!(!note.contains("import"), "{note}");
    // The demo ends in the past: its last day counts as today.
    let demo = sandbox.path("demo.db");
    let json = sandbox.ok(&["--demo", "--db", demo.to_str().unwrap(), "--json"]);
    let overview: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(overview["last_day"], "2026-10-28");
    assert_eq!(overview["periods"][0]["session_count"], 1);
    assert_eq!(overview["sessions"].as_array().unwrap().len(), 5);
    assert!(
        overview["attention"][0]["finding"]
            .as_str()
            .unwrap()
            .contains("no price")
    );
    assert_eq!(sandbox.run(&["--json", "query"]).status.code(), Some(2));
}

#[test]
fn the_demo_has_a_database_of_its_own() {
    let sandbox = two_sessions();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        let output = command.env_remove("CC_ETL_DB").output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let first = run(&["sync", "--demo"]);
    assert!(first.contains("cc-etl --demo query"), "{first}");
    let home = sandbox.home();
    let real = run(&["sync", "--source", home.to_str().unwrap()]);
    assert!(
        real.contains("\n  cc-etl query") && real.contains("cc-etl.db"),
        "{real}"
    );
    let again = run(&["sync", "--source", home.to_str().unwrap()]);
    assert!(!again.contains("Next:"), "{again}");
    let demo = run(&["path", "--demo"]);
    let path = run(&["path"]);
    assert!(demo.trim_end().ends_with("cc-etl/demo.db"), "{demo}");
    assert!(path.trim_end().ends_with("cc-etl/cc-etl.db"), "{path}");
    // Any command creates the demo.
    std::fs::remove_file(demo.trim_end()).unwrap();
    assert!(run(&["--demo", "show", "--last"]).contains("The sale is live"));
    assert!(!run(&["show", "--last"]).contains("The sale is live"));
}

#[cfg(unix)]
#[test]
fn sql_opens_sqlite3_for_reading() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = two_sessions();
    sandbox.sync();
    let run = |folder: &std::path::Path| {
        let mut command = sandbox.command(&["sql", "--", "-box", "select 1"]);
        command.env("PATH", folder).output().unwrap()
    };
    let missing = run(&sandbox.path("empty"));
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("query --sql"));
    let folder = sandbox.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let shell = folder.join("sqlite3");
    std::fs::write(&shell, "#!/bin/sh\necho \"$@\"\n").unwrap();
    std::fs::set_permissions(&shell, std::fs::Permissions::from_mode(0o755)).unwrap();
    let database = sandbox.database();
    let expected = format!("-readonly {} -box select 1\n", database.display());
    assert_eq!(text(&run(&folder).stdout), expected);
}

#[test]
fn homes_are_found_by_the_environment() {
    let sandbox = two_sessions();
    let second = Sandbox::new();
    second.write(
        "projects/-v/5e550003-0000-4000-8000-000000000003.jsonl",
        message("v1", "s", "second home"),
    );
    let homes = format!("{},{}", sandbox.home().display(), second.home().display());
    let output = sandbox
        .command(&["sync"])
        .env("CLAUDE_CONFIG_DIR", homes)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(sandbox.count("select count(*) from sources"), 2);
    assert_eq!(sandbox.count("select count(*) from messages"), 4);
}

#[test]
fn a_wrong_argument_is_a_usage_error() {
    let sandbox = Sandbox::new();
    assert_eq!(
        sandbox.run(&["sync", "--threads", "0"]).status.code(),
        Some(2)
    );
    assert_eq!(sandbox.run(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    assert!(sandbox.ok(&["man"]).contains("cc\\-etl\\-sync(1)"));
    let page = sandbox.ok(&["man", "hook", "install"]);
    assert!(page.contains(".TH cc-etl-hook-install 1"), "{page}");
    assert!(page.contains("dry\\-run") && page.contains("\\-\\-db"));
    let folder = sandbox.path("man1");
    sandbox.ok(&["man", "--out", folder.to_str().unwrap()]);
    assert!(folder.join("cc-etl.1").exists());
    assert_eq!(
        fs::read_to_string(folder.join("cc-etl-hook-install.1")).unwrap(),
        page
    );
    let output = sandbox.run(&["man", "hook", "instal"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cc-etl hook has no command instal"));
}

#[test]
fn completions_know_the_commands() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.ok(&["completions", shell]);
        assert!(
            script.contains("daily") && script.contains("no-pager"),
            "{shell}"
        );
    }
}

#[test]
fn a_second_sync_reads_nothing() {
    let sandbox = two_sessions();
    sandbox.sync();
    // Files that were only just written are looked at again.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    sandbox.sync();
    let runs = sandbox.count("select count(*) from sync_runs");
    let summary: serde_json::Value = serde_json::from_str(&sandbox.sync_with(&["--json"])).unwrap();
    assert_eq!(summary["changed_files"], 0);
    assert_eq!(summary["bytes"], 0);
    assert_eq!(sandbox.count("select count(*) from sync_runs"), runs);
    assert!(sandbox.sync().contains("nothing"));
}

#[test]
fn an_unchanged_file_is_not_opened() {
    let sandbox = two_sessions();
    let file = sandbox.home().join(main_file());
    std::thread::sleep(std::time::Duration::from_millis(2100));
    sandbox.sync();
    // In place of the file stands a folder: whoever opens it finds that it cannot be read.
    let source = SourceFile {
        absolute: sandbox.home(),
        path: main_file(),
        path_bytes: None,
        stat: Stat::of(&fs::metadata(&file).unwrap()),
    };
    let found = |stat| Discovery {
        files: vec![SourceFile {
            stat,
            ..source.clone()
        }],
        ..Discovery::default()
    };
    let opened = |discovery: Discovery| {
        let changes = file_diff::compare(&sandbox.connection(), 1, &discovery, false).unwrap();
        assert!(changes.files.is_empty());
        changes.problems.len()
    };
    assert_eq!(opened(found(source.stat)), 0);
    let modified = Stat {
        modified_ns: source.stat.modified_ns + 1,
        ..source.stat
    };
    assert_eq!(opened(found(modified)), 1);
}

#[cfg(unix)]
#[test]
fn the_database_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = two_sessions();
    sandbox.sync();
    for file in ["test.db", "test.db.lock"] {
        let mode = fs::metadata(sandbox.path(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[test]
fn what_is_appended_is_read_from_where_it_begins() {
    let sandbox = two_sessions();
    sandbox.sync();
    let first = message("u1", SESSION, "hello");
    sandbox.write(&main_file(), first + &message("u4", SESSION, "and more"));
    let summary: serde_json::Value = serde_json::from_str(&sandbox.sync_with(&["--json"])).unwrap();
    assert_eq!(summary["changed_files"], 1);
    assert_eq!(summary["messages"], 1);
    assert_eq!(summary["bytes"], message("u4", SESSION, "and more").len());
    assert_eq!(
        sandbox.query("select line_number from messages where uuid = 'u4'"),
        ["2"]
    );
    assert_eq!(sandbox.count("select count(*) from archive_chunks"), 3);
}

#[test]
fn a_rewritten_file_is_a_new_version_and_the_old_rows_stay() {
    let sandbox = two_sessions();
    sandbox.sync();
    sandbox.write(&main_file(), message("u9", SESSION, "all is different now"));
    let summary = sandbox.sync();
    assert!(
        summary.contains("1 rewritten (old versions are kept)"),
        "{summary}"
    );
    sandbox.check();
    assert_eq!(
        sandbox.query("select uuid, generation, is_current from messages join files using (file_id) where kind = 'session' order by uuid"),
        ["u1|1|0", "u3|1|1", "u9|2|1"]
    );
    sandbox.ok(&[
        "restore",
        "--all-versions",
        "--out",
        sandbox.path("out").to_str().unwrap(),
    ]);
    let restored = sandbox.path("out").join(main_file());
    assert_eq!(
        fs::read_to_string(&restored).unwrap(),
        message("u9", SESSION, "all is different now")
    );
    let old = restored.with_extension("jsonl.version-1");
    assert_eq!(
        fs::read_to_string(old).unwrap(),
        message("u1", SESSION, "hello")
    );
}

#[test]
fn a_file_that_shrank_is_a_new_version_too() {
    let sandbox = Sandbox::new();
    let long = message("u1", SESSION, "hello") + &message("u2", SESSION, "more");
    sandbox.write(&main_file(), &long);
    sandbox.sync();
    sandbox.write(&main_file(), message("u1", SESSION, "hello"));
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select uuid from messages order by uuid"),
        ["u1", "u2"]
    );
    assert_eq!(
        sandbox.query("select reason, is_different from message_copies"),
        ["rewritten_file|0"]
    );
}

#[test]
fn a_file_that_is_gone_keeps_its_rows() {
    let sandbox = two_sessions();
    sandbox.sync();
    let hash = sandbox.hash();
    fs::remove_file(sandbox.home().join(main_file())).unwrap();
    let summary = sandbox.sync();
    assert!(
        summary.contains("1 gone (their rows are kept)"),
        "{summary}"
    );
    assert_eq!(
        sandbox.count("select count(*) from files where missing_since is not null"),
        1
    );
    assert_eq!(sandbox.hash(), hash);
    sandbox.write(&main_file(), message("u1", SESSION, "hello"));
    sandbox.sync();
    assert_eq!(
        sandbox.count("select count(*) from files where missing_since is not null"),
        0
    );
    assert_eq!(sandbox.hash(), hash);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_named_and_costs_nothing_else() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    let sandbox = two_sessions();
    let folder = sandbox.home().join("projects/-w/locked");
    let file = sandbox.home().join("projects/-w/secret.jsonl");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a.jsonl"), "{}\n").unwrap();
    fs::write(&file, "{}\n").unwrap();
    let mut command = sandbox.command(&["sync", "--source", sandbox.home().to_str().unwrap()]);
    if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        // Root can read everything; somebody else runs the program.
        chown(sandbox.path(""), Some(65534), None).unwrap();
        command.uid(65534);
    }
    for path in [&folder, &file] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let output = command.output().unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(
        message.contains("locked") && message.contains("secret.jsonl"),
        "{message}"
    );
    assert_eq!(sandbox.count("select count(*) from messages"), 3);
}

#[test]
fn a_single_transcript_can_be_synced() {
    let sandbox = two_sessions();
    let file = sandbox.home().join(main_file());
    sandbox.ok(&["sync", "--file", file.to_str().unwrap()]);
    assert_eq!(sandbox.query("select uuid from messages"), ["u1"]);
    sandbox.sync();
    assert_eq!(sandbox.count("select count(*) from messages"), 3);
    assert_eq!(sandbox.count("select count(*) from sources"), 1);
    sandbox.ok(&["sync", "--file", file.to_str().unwrap()]);
    assert_eq!(
        sandbox.count("select count(*) from files where missing_since is not null"),
        0
    );
    let output = sandbox.run(&["sync", "--file", "/etc/hostname"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_session_is_restored_by_the_start_of_its_id_with_its_agents() {
    let sandbox = two_sessions();
    sandbox.sync();
    let out = sandbox.path("out");
    sandbox.ok(&["restore", &SESSION[..8], "--out", out.to_str().unwrap()]);
    assert!(out.join(main_file()).exists());
    assert!(
        out.join(format!("projects/-w/{SESSION}/subagents/agent-a1.jsonl"))
            .exists()
    );
    assert!(!out.join(format!("projects/-w/{OTHER}.jsonl")).exists());
    let original = fs::metadata(sandbox.home().join(main_file()))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(
        fs::metadata(out.join(main_file()))
            .unwrap()
            .modified()
            .unwrap(),
        original
    );

    // What is there with the same content is done; other content is never overwritten.
    let restore = ["restore", &SESSION[..8], "--out", out.to_str().unwrap()];
    let again = sandbox.ok(&restore);
    assert!(
        again.starts_with("0 files, 0 bytes, written to "),
        "{again}"
    );
    assert!(again.contains("2 files with the same content"), "{again}");
    let length = fs::metadata(out.join(main_file())).unwrap().len();
    fs::write(out.join(main_file()), "x".repeat(length as usize)).unwrap();
    let other = sandbox.run(&restore);
    assert_eq!(other.status.code(), Some(1), "nothing is overwritten");
    assert!(text(&other.stderr).contains("other content"));
    let unknown = sandbox.run(&["restore", "ffff", "--out", out.to_str().unwrap()]);
    assert_eq!(unknown.status.code(), Some(2));
    let ambiguous = sandbox.run(&["restore", "5e55", "--out", out.to_str().unwrap()]);
    assert_eq!(ambiguous.status.code(), Some(2));
}

#[test]
fn two_syncs_at_once_are_one_too_many() {
    let sandbox = two_sessions();
    sandbox.sync();
    let lock = fs::OpenOptions::new()
        .write(true)
        .open(sandbox.path("test.db.lock"))
        .unwrap();
    lock.lock().unwrap();
    let home = sandbox.home();
    let output = sandbox.run(&["sync", "--source", home.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(75));
    assert!(
        text(&output.stderr).contains("another sync"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_foreign_or_newer_database_is_refused() {
    let sandbox = two_sessions();
    let home = sandbox.home();
    fs::write(
        sandbox.database(),
        "not a database at all, but long enough to look like a file with a header",
    )
    .unwrap();
    assert_eq!(
        sandbox
            .run(&["sync", "--source", home.to_str().unwrap()])
            .status
            .code(),
        Some(78)
    );
    fs::remove_file(sandbox.database()).unwrap();

    let foreign = rusqlite::Connection::open(sandbox.database()).unwrap();
    foreign
        .execute_batch("create table precious (a); insert into precious values (1)")
        .unwrap();
    drop(foreign);
    assert_eq!(
        sandbox
            .run(&["sync", "--source", home.to_str().unwrap()])
            .status
            .code(),
        Some(78)
    );
    assert_eq!(sandbox.count("select count(*) from precious"), 1);
    fs::remove_file(sandbox.database()).unwrap();

    sandbox.sync();
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection.pragma_update(None, "user_version", 999).unwrap();
    drop(connection);
    let output = sandbox.run(&["sync", "--source", home.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(78));
    assert!(
        text(&output.stderr).contains("schema 999"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn invented_and_real_history_are_not_mixed() {
    let sandbox = two_sessions();
    sandbox.sync();
    let output = sandbox.run(&["sync", "--demo"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--db"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn commands_that_read_say_when_there_is_no_database() {
    let sandbox = Sandbox::new();
    for arguments in [&["check"][..], &["rebuild"], &["restore", "--out", "x"]] {
        let output = sandbox.run(arguments);
        assert_eq!(output.status.code(), Some(66), "{arguments:?}");
        assert!(
            text(&output.stderr).contains("cc-etl sync"),
            "{}",
            text(&output.stderr)
        );
    }
    assert!(!sandbox.database().exists());
}

#[test]
fn check_finds_what_is_wrong() {
    for (damage, check) in [
        (
            "delete from messages where uuid = 'u1'",
            "every line is accounted for",
        ),
        (
            "update archive_chunks set content = x'00' where archive_chunk_id = 1",
            "archived chunks match their hashes",
        ),
        (
            "delete from archive_chunks where archive_chunk_id = 1",
            "the archive has every byte",
        ),
        (
            "update messages set session_id = 'nobody'",
            "foreign keys are valid",
        ),
        (
            "update files set line_count = line_count + 1",
            "every line is accounted for",
        ),
    ] {
        let sandbox = two_sessions();
        sandbox.sync();
        sandbox.check();
        let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
        connection
            .pragma_update(None, "foreign_keys", false)
            .unwrap();
        connection.execute_batch(damage).unwrap();
        drop(connection);
        let output = sandbox.run(&["check"]);
        assert_eq!(output.status.code(), Some(1), "{damage}");
        let failed = text(&output.stdout);
        assert!(
            failed.contains(&format!("FAILED  {check}")),
            "{damage}\n{failed}"
        );
    }
}

#[test]
fn a_rebuild_that_cannot_read_the_archive_changes_nothing() {
    let sandbox = two_sessions();
    sandbox.sync();
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch("update archive_chunks set content = x'00' where archive_chunk_id = 1")
        .unwrap();
    drop(connection);
    assert_eq!(sandbox.run(&["rebuild"]).status.code(), Some(1));
    assert_eq!(sandbox.count("select count(*) from messages"), 3);
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .command(&["schema"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_view_that_the_user_made_stays_and_one_of_ours_is_mended() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch("create view my_view as select 7 as seven; drop view turns; drop view prompts; create view prompts as select 1")
        .unwrap();
    drop(connection);
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    assert_eq!(sandbox.query("select seven from my_view"), ["7"]);
    assert!(sandbox.count("select count(*) from turns") > 0);
    assert!(sandbox.count("select count(*) from prompts") > 1);
}

#[test]
fn a_journal_whose_database_is_gone_is_not_taken_for_that_of_a_new_one() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    let journal = sandbox.path("test.db-wal");
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch("delete from correction_phrases")
        .unwrap();
    let left = std::fs::read(&journal).unwrap();
    drop(connection);
    std::fs::remove_file(sandbox.database()).unwrap();
    std::fs::write(&journal, left).unwrap();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    assert!(sandbox.count("select count(*) from correction_phrases") > 0);
    sandbox.check();
}

#[test]
fn a_first_sync_uses_statements_only_when_it_must_and_says_so() {
    for (sandbox, is_told) in [(Sandbox::new(), false), (Sandbox::with_statements(), true)] {
        sandbox.write(
            "projects/-w/a.jsonl",
            "{\"uuid\":\"a\",\"parentUuid\":null}\n",
        );
        let home = sandbox.home();
        let sync = ["sync", "--source", home.to_str().unwrap()];
        let told = text(&sandbox.run(&sync).stderr);
        assert_eq!(told.contains("statements are used"), is_told, "{told}");
        assert_eq!(sandbox.count("select count(*) from messages"), 1);
        // A database that exists is written by statements anyway.
        assert_eq!(text(&sandbox.run(&sync).stderr), "");
    }
}

#[test]
fn a_database_is_a_path_and_never_a_uri() {
    let sandbox = two_sessions();
    let folder = sandbox.path("folder");
    fs::create_dir(&folder).unwrap();
    let home = sandbox.home();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.current_dir(&folder).output().unwrap()
    };
    let names = || {
        let names = fs::read_dir(&folder).unwrap();
        let mut names: Vec<_> = names
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let source = home.to_str().unwrap();
    for name in ["", ":memory:", "file:foo.db", "file:foo.db?mode=memory"] {
        for command in [
            &["sync", "--source", source, "--db", name][..],
            &["check", "--db", name],
        ] {
            let output = run(command);
            assert_eq!(
                output.status.code(),
                Some(2),
                "{name}: {}",
                text(&output.stderr)
            );
        }
    }
    assert_eq!(names(), [""; 0]);
    for name in ["./:memory:", "./file:foo.db?mode=ro"] {
        for command in [
            &["sync", "--source", source, "--db", name][..],
            &["check", "--db", name],
        ] {
            let output = run(command);
            assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        }
        let copy = format!("{}.copy", &name[2..]);
        let output = run(&["backup", &copy, "--db", name]);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    }
    let bases = [":memory:", "file:foo.db?mode=ro"];
    let expected = bases.map(|base| ["", ".copy", ".lock"].map(|suffix| format!("{base}{suffix}")));
    let mut found = names();
    found.retain(|name| !name.ends_with("-shm") && !name.ends_with("-wal"));
    assert_eq!(found, expected.concat());
}

#[test]
fn the_summary_counts_every_message_and_copy() {
    let sandbox = Sandbox::new();
    let summary = sandbox.ok(&["sync", "--demo", "--json"]);
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    for (name, table) in [("messages", "messages"), ("copies", "message_copies")] {
        let count = sandbox.count(&format!("select count(*) from {table}"));
        assert!(count > 0);
        assert_eq!(summary[name], count, "{name}");
    }
    let run = "select message_count || ' ' || copy_count from sync_runs";
    assert_eq!(
        sandbox.query(run),
        [format!("{} {}", summary["messages"], summary["copies"])]
    );
}

#[test]
fn a_folder_inside_of_a_home_is_refused_and_the_home_is_named() {
    let sandbox = Sandbox::new();
    sandbox.write("projects/-w/a.jsonl", "{}\n");
    let home = fs::canonicalize(sandbox.home()).unwrap();
    for inside in ["projects", "projects/-w"] {
        let folder = home.join(inside).display().to_string();
        let output = sandbox.run(&["sync", "--source", &folder]);
        assert_eq!(output.status.code(), Some(66));
        let message = text(&output.stderr);
        let advice = format!("name the home: --source {}\n", home.display());
        assert!(message.ends_with(&advice), "{message}");
    }
    // Another program's folder may be named projects, too.
    let other = home.join("projects/copy");
    fs::create_dir_all(other.join("projects")).unwrap();
    let copy = other.display().to_string();
    let summary = sandbox.ok(&["sync", "--source", &copy]);
    assert!(
        summary.contains(&format!("  home      {copy}\n")),
        "{summary}"
    );
}

/// The processes whose command line names this database, and the state of each.
#[cfg(target_os = "linux")]
fn processes_of(sandbox: &Sandbox) -> Vec<(std::path::PathBuf, char)> {
    let database = sandbox.database().display().to_string();
    let folders = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap());
    let processes = folders.filter_map(|folder| {
        let folder = folder.path();
        let arguments = text(&fs::read(folder.join("cmdline")).ok()?);
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        arguments.contains(&database).then_some((folder, state))
    });
    processes.collect()
}

#[cfg(target_os = "linux")]
fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_true() {
        assert!(
            begun.elapsed().as_secs() < 60,
            "waited in vain until {what}"
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn detached_syncs_hold_nothing_and_one_waits_for_all() {
    let sandbox = two_sessions();
    sandbox.sync();
    let home = sandbox.home();
    let log = || fs::read_to_string(sandbox.path("test.db.log")).unwrap_or_default();
    let lock = fs::File::open(sandbox.path("test.db.lock")).unwrap();
    lock.lock().unwrap();
    let file = sandbox.path("inherited");
    let detach = |number: usize| {
        let uuid = format!("new{number}");
        let path = format!("projects/-w/{uuid}.jsonl");
        sandbox.write(&path, message(&uuid, OTHER, "one more"));
        // The shell leaves a file open for the programs it starts.
        let mut shell = std::process::Command::new("sh");
        let script = r#"exec 7>"$1"; "$2" --db "$3" sync --detach --quiet --source "$4""#;
        shell.args(["-c", script, "sh"]).arg(&file);
        shell.arg(env!("CARGO_BIN_EXE_cc-etl"));
        let output = shell.arg(sandbox.database()).arg(&home).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(output.stdout.len() + output.stderr.len(), 0);
    };
    detach(0);
    wait_until("a sync waits", || {
        let mut places = files_beside(&sandbox, "test.db.next-").into_iter();
        places.any(|place| fs::File::open(place).unwrap().try_lock_shared().is_err())
    });
    (1..20).for_each(detach);
    let is_alone = || processes_of(&sandbox).len() == 1;
    wait_until("the others have ended", || {
        // A process that is about to begin has no name for a moment.
        let was_alone = is_alone();
        std::thread::sleep(std::time::Duration::from_millis(200));
        was_alone && is_alone()
    });
    let (process, _) = &processes_of(&sandbox)[0];
    for entry in fs::read_dir(process.join("fd")).unwrap() {
        let entry = entry.unwrap();
        let open = fs::read_link(entry.path()).unwrap();
        let number: u32 = entry.file_name().to_str().unwrap().parse().unwrap();
        match number {
            0..=2 => assert_eq!(open, std::path::Path::new("/dev/null")),
            _ => assert_ne!(open, file),
        }
    }
    let stat = fs::read_to_string(process.join("stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let process_id = process.file_name().unwrap().to_str().unwrap();
    assert_eq!(fields[2], process_id, "it leads its process group");
    assert_eq!(fields[4], "0", "it has no terminal");
    assert_eq!(log(), "");
    drop(lock);
    wait_until("no process is left", || processes_of(&sandbox).is_empty());
    let count = "select count(*) from messages where uuid like 'new%'";
    assert_eq!(sandbox.count(count), 20);
    let log = log();
    let lines: Vec<&str> = log
        .lines()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(lines, ["started", "done"]);
}

/// The files of the sandbox whose name begins like this.
#[cfg(target_os = "linux")]
fn files_beside(sandbox: &Sandbox, prefix: &str) -> Vec<std::path::PathBuf> {
    let folder = sandbox.database().parent().unwrap().to_path_buf();
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap());
    let files = files.filter(|file| file.file_name().to_str().unwrap().starts_with(prefix));
    files.map(|file| file.path()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_waiting_sync_of_another_home_does_not_wait_for_all() {
    let sandbox = two_sessions();
    sandbox.sync();
    let other = sandbox.path("other");
    fs::create_dir_all(other.join("projects/-o")).unwrap();
    fs::write(
        other.join("projects/-o/o.jsonl"),
        message("of_other", OTHER, "hello"),
    )
    .unwrap();
    sandbox.write(&main_file(), message("of_first", SESSION, "hello"));
    let lock = fs::File::open(sandbox.path("test.db.lock")).unwrap();
    lock.lock().unwrap();
    for home in [&sandbox.home(), &other, &sandbox.home(), &other] {
        sandbox.ok(&["sync", "--detach", "--source", home.to_str().unwrap()]);
    }
    wait_until("two wait", || {
        processes_of(&sandbox).len() == 2 && files_beside(&sandbox, "test.db.next-").len() == 2
    });
    drop(lock);
    wait_until("no process is left", || processes_of(&sandbox).is_empty());
    let count = "select count(*) from messages where uuid in ('of_first', 'of_other')";
    assert_eq!(sandbox.count(count), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn doctor_reports_a_background_sync_that_failed() {
    let sandbox = two_sessions();
    let home = sandbox.home();
    let detach = || sandbox.ok(&["sync", "--detach", "--source", home.to_str().unwrap()]);
    let log = sandbox.path("test.db.log");
    let last = |what: &str| {
        wait_until(what, || {
            let log = fs::read_to_string(&log).unwrap_or_default();
            log.lines().last().is_some_and(|line| line.contains(what))
        });
    };
    let doctor = || text(&sandbox.run(&["doctor"]).stdout);
    let is_risk = || doctor().contains("RISK    the background sync");
    detach();
    last("done");
    assert!(!is_risk(), "{}", doctor());
    for command in ["doctor", "status"] {
        let said = text(&sandbox.run(&[command]).stdout);
        assert!(said.contains("; the last background sync ended "), "{said}");
    }
    let content = fs::read(sandbox.database()).unwrap();
    fs::write(sandbox.database(), "not a database").unwrap();
    detach();
    last("failed: ");
    let findings = doctor();
    assert!(is_risk(), "{findings}");
    assert_eq!(findings.matches("background sync").count(), 1, "{findings}");
    assert!(findings.contains("is not a cc-etl database"), "{findings}");
    fs::write(sandbox.database(), content).unwrap();
    sandbox.sync();
    assert!(!is_risk(), "{}", doctor());
    // It was killed.
    fs::write(&log, "9999-11-03T10:00:00.000Z started\n").unwrap();
    assert!(doctor().contains("did not finish"), "{}", doctor());
    detach();
    last("done");
    assert!(!is_risk(), "{}", doctor());
    // The log is bounded, and keeps its end.
    fs::write(&log, "2026-11-03T10:00:00.000Z started\n".repeat(2000)).unwrap();
    detach();
    last("done");
    let length = fs::metadata(&log).unwrap().len();
    assert!((10_000..32_768).contains(&length), "{length}");
}

#[test]
fn hooks_are_installed_in_several_homes_and_removed_again() {
    let sandbox = Sandbox::new();
    let homes = ["new", "written", "broken"].map(|name| sandbox.path(name));
    for home in &homes {
        fs::create_dir(home).unwrap();
    }
    let [new, written, broken] = homes.each_ref().map(|home| home.join("settings.json"));
    let own = "{\r\n\t\"model\": \"opus\"}";
    let comment = "{ // mine\n}";
    fs::write(&written, own).unwrap();
    fs::write(&broken, comment).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(&["hook"]);
        command.args(arguments);
        for home in &homes {
            command.arg("--config-dir").arg(home);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "one file is broken");
        assert!(text(&output.stderr).contains("comment"));
        assert_eq!(fs::read_to_string(&broken).unwrap(), comment);
        text(&output.stdout)
    };
    let difference = run(&["install", "--dry-run"]);
    assert!(difference.contains("+\t\"hooks\": {"), "{difference}");
    assert!(!new.exists() && fs::read_to_string(&written).unwrap() == own);
    assert!(run(&["status"]).contains("not installed"));
    let first = run(&["install"]);
    assert!(
        first.contains("created") && first.contains("backup"),
        "{first}"
    );
    let backup = written.with_file_name("settings.json.cc-etl-backup");
    assert_eq!(fs::read_to_string(&backup).unwrap(), own);
    assert!(run(&["install"]).contains("nothing to change"));
    let status = run(&["status"]);
    assert!(
        status.contains("installed\n") && status.contains("sync --detach"),
        "{status}"
    );
    let settings: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&new).unwrap()).unwrap();
    // The shell of a hook runs what is written.
    #[cfg(unix)]
    for (number, event) in ["Stop", "SessionEnd"].into_iter().enumerate() {
        let hook = &settings["hooks"][event][0]["hooks"][0];
        assert_eq!(hook["type"], "command");
        sandbox.write(&main_file(), message(event, SESSION, "hello"));
        let mut shell = std::process::Command::new("sh");
        shell.arg("-c").arg(hook["command"].as_str().unwrap());
        let shell = shell.env("CLAUDE_CONFIG_DIR", sandbox.home());
        assert_eq!(shell.output().unwrap().status.code(), Some(0));
        // The list of processes would not do: a process that is just being started has no command line yet.
        #[cfg(target_os = "linux")]
        wait_until("the sync is done", || {
            let log = fs::read_to_string(sandbox.path("test.db.log")).unwrap_or_default();
            log.matches(" done\n").count() == number + 1
        });
    }
    #[cfg(target_os = "linux")]
    assert_eq!(sandbox.count("select count(*) from messages"), 2);
    run(&["remove"]);
    assert!(!new.exists());
    assert_eq!(fs::read_to_string(&written).unwrap(), own);
    assert!(run(&["remove"]).contains("nothing to change"));
}

#[cfg(unix)]
#[test]
fn a_settings_file_that_is_a_link_is_written_through() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let sandbox = Sandbox::new();
    let home = sandbox.path("claude");
    let dotfiles = sandbox.path("dotfiles");
    fs::create_dir(&home).unwrap();
    fs::create_dir(&dotfiles).unwrap();
    let link = home.join("settings.json");
    symlink("../dotfiles/claude.json", &link).unwrap();
    let target = dotfiles.join("claude.json");
    let run =
        |command: &str| sandbox.run(&["hook", command, "--config-dir", home.to_str().unwrap()]);
    // It leads nowhere: its target is created, and removed again.
    assert!(run("install").status.success());
    assert!(fs::read_to_string(&target).unwrap().contains("SessionEnd"));
    assert!(run("remove").status.success());
    assert!(!target.exists() && link.is_symlink());
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(run("install").status.success());
    assert!(link.is_symlink() && fs::read_to_string(&target).unwrap().contains("Stop"));
    let mode = fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert!(run("remove").status.success());
    assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
    assert_eq!(fs::read_dir(&dotfiles).unwrap().count(), 1);
    fs::set_permissions(&target, fs::Permissions::from_mode(0o440)).unwrap();
    let backup = home.join("settings.json.cc-etl-backup");
    fs::remove_file(&backup).unwrap();
    let refused = run("install");
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("read-only"));
    assert!(!backup.exists());
    // A pipe without a writer, and text in another encoding.
    fs::remove_file(&link).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&link).status();
    assert!(made.unwrap().success());
    assert!(text(&run("install").stderr).contains("it is not a file"));
    fs::remove_file(&link).unwrap();
    fs::write(&link, b"{\"a\": \"\xe9\"}").unwrap();
    assert!(text(&run("status").stderr).contains("it is not UTF-8"));
}

/// The server for Claude Code, without a program `claude` on PATH.
#[test]
fn the_server_is_installed_in_each_scope_and_removed_again() {
    let sandbox = Sandbox::new();
    let (nobody, project) = (sandbox.path("nobody"), sandbox.path("project"));
    fs::create_dir_all(&nobody).unwrap();
    fs::create_dir_all(&project).unwrap();
    let project = fs::canonicalize(&project).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(&["mcp"]);
        let output = command
            .args(arguments)
            .current_dir(&project)
            .env("PATH", &project)
            .output()
            .unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let global = nobody.join(".claude.json");
    let own = format!(
        "{{\n  \"userID\": \"x\",\n  \"projects\": {{\"{}\": {{}}}}\n}}\n",
        project.display()
    );
    fs::write(&global, &own).unwrap();
    for (scope, file, pointer) in [
        ("user", &global, "/mcpServers/history".to_string()),
        (
            "project",
            &project.join(".mcp.json"),
            "/mcpServers/history".to_string(),
        ),
        (
            "local",
            &global,
            format!(
                "/projects/{}/mcpServers/history",
                project.display().to_string().replace('/', "~1")
            ),
        ),
    ] {
        let before = fs::read_to_string(file).ok();
        let (_, difference, _) = run(&["install", "--scope", scope, "--dry-run"]);
        assert!(difference.contains("\"history\""), "{difference}");
        assert_eq!(
            fs::read_to_string(file).ok(),
            before,
            "a dry run writes nothing"
        );
        assert_eq!(run(&["install", "--scope", scope]).0, Some(0));
        let with = fs::read_to_string(file).unwrap();
        let json: serde_json::Value = serde_json::from_str(&with).unwrap();
        let server = json.pointer(&pointer).unwrap();
        assert_eq!(server["type"], "stdio");
        let database = sandbox.database().display().to_string();
        assert_eq!(server["args"], serde_json::json!(["mcp", "--db", database]));
        // What is written is what serves. The file of a project goes to other machines.
        let program = match scope {
            "project" => env!("CARGO_BIN_EXE_cc-etl"),
            _ => server["command"].as_str().unwrap(),
        };
        assert_eq!(server["command"] == "cc-etl", scope == "project");
        let mut serve = std::process::Command::new(program);
        serve
            .args(["mcp", "--db", &database])
            .stdin(std::process::Stdio::null());
        assert!(serve.output().unwrap().status.success());
        let (_, again, _) = run(&["install", "--scope", scope]);
        assert!(again.contains("nothing to change"), "{again}");
        let (_, status, _) = run(&["status"]);
        assert_eq!(status.matches(": installed").count(), 1, "{status}");
        assert_eq!(run(&["remove", "--scope", scope]).0, Some(0));
        assert_eq!(fs::read_to_string(file).ok(), before, "{scope}");
        assert!(
            run(&["remove", "--scope", scope])
                .1
                .contains("nothing to change")
        );
    }
    let theirs = "{\"mcpServers\": {\"history\": {\"command\": \"other\"}}}";
    fs::write(&global, theirs).unwrap();
    let (code, _, why) = run(&["install"]);
    assert_eq!(code, Some(1));
    assert!(why.contains("another server of the name history"), "{why}");
    assert!(run(&["remove"]).1.contains("nothing to change"));
    assert_eq!(fs::read_to_string(&global).unwrap(), theirs);
}

/// A program `claude` that notes its arguments, and adds and removes as the real one does.
#[cfg(unix)]
#[test]
fn claude_itself_is_asked_to_add_the_server() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new();
    let folder = sandbox.path("bin");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir_all(sandbox.path("nobody")).unwrap();
    let claude = folder.join("claude");
    let script = r#"#!/bin/sh
        echo "$*" >> "$CALLS"
        case $2 in
        add) printf '{"mcpServers": {"history": {"command": "%s", "args": ["%s", "%s", "%s"]}}}' "$7" "$8" "$9" "${10}" > "$HOME/.claude.json";;
        remove) echo '{}' > "$HOME/.claude.json";;
        esac
        [ -z "$FAILS" ] || { echo "no such scope" >&2; exit 1; }
    "#;
    fs::write(&claude, script).unwrap();
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    let calls = sandbox.path("calls");
    let run = |arguments: &[&str], fails: &str| {
        let mut command = sandbox.command(&["mcp"]);
        let path = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(folder.clone()).chain(std::env::split_paths(&path));
        command
            .args(arguments)
            .env("PATH", std::env::join_paths(folders).unwrap());
        let output = command
            .env("CALLS", &calls)
            .env("FAILS", fails)
            .output()
            .unwrap();
        (
            output.status.code(),
            text(&output.stdout) + &text(&output.stderr),
        )
    };
    let noted = || fs::read_to_string(&calls).unwrap_or_default();
    let program = env!("CARGO_BIN_EXE_cc-etl");
    let database = sandbox.database().display().to_string();
    let add = format!("mcp add --scope user history -- {program} mcp --db {database}");
    let (_, shown) = run(&["install", "--dry-run"], "");
    assert!(
        shown.contains("claude mcp add --scope user history --"),
        "{shown}"
    );
    assert_eq!(noted(), "");
    assert_eq!(run(&["install"], "").0, Some(0));
    assert_eq!(noted(), format!("{add}\n"));
    let (_, again) = run(&["install"], "");
    assert!(again.contains("nothing to change"), "{again}");
    assert_eq!(noted(), format!("{add}\n"));
    // Another database takes the place of the first.
    assert_eq!(run(&["install", "--db", "/other.db"], "").0, Some(0));
    assert!(
        noted().contains("mcp remove --scope user history\nmcp add"),
        "{}",
        noted()
    );
    assert_eq!(run(&["remove"], "").0, Some(0));
    assert!(noted().ends_with("mcp remove --scope user history\n"));
    let (code, why) = run(&["install"], "yes");
    assert_eq!(code, Some(2));
    assert!(why.contains("no such scope"), "{why}");
}

/// The program with programs of the system that only note what they are asked. The crontab is a file.
#[cfg(target_os = "linux")]
fn with_schedulers(sandbox: &Sandbox, arguments: &[&str]) -> std::process::Command {
    use std::os::unix::fs::PermissionsExt;
    let folder = sandbox.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let note = "#!/bin/sh\necho \"${0##*/} $*\" >> \"$CALLS\"\n";
    let crontab = r#"case $1 in
        -l) cat "$CRONTAB" 2> /dev/null || { echo "no crontab for me" >&2; exit 1; };;
        -r) rm "$CRONTAB";;
        -) cat > "$CRONTAB";;
        esac"#;
    let systemctl = "case $* in *ActiveState) echo active;; *Result) echo success;; esac";
    let schtasks = r#"case $1 in
        /Create) cp "$5" "$TASK";;
        /Query) iconv -f UTF-16 -t UTF-8 "$TASK" 2> /dev/null || exit 1;;
        /Delete) rm "$TASK";;
        esac"#;
    for (name, script) in [
        ("crontab", crontab),
        ("systemctl", systemctl),
        ("launchctl", ""),
        ("schtasks", schtasks),
    ] {
        let file = folder.join(name);
        fs::write(&file, format!("{note}{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var_os("PATH").unwrap();
    let folders = [folder].into_iter().chain(std::env::split_paths(&path));
    let mut command = sandbox.command(arguments);
    command
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("CALLS", sandbox.path("calls"))
        .env("CRONTAB", sandbox.path("crontab"))
        .env("TASK", sandbox.path("task.xml"))
        .env_remove("XDG_CONFIG_HOME")
        .env("XDG_DATA_HOME", sandbox.path("data $HOME% <&>"));
    command
}

#[cfg(target_os = "linux")]
#[test]
fn every_scheduler_runs_the_sync_and_gives_back_what_was_there() {
    let sandbox = two_sessions();
    let database = sandbox.path("50% of $HOME 'x' & <y>.db");
    let home = sandbox.home();
    let run = |arguments: &[&str]| {
        let mut all = vec!["service"];
        all.extend(arguments);
        let mut command = with_schedulers(&sandbox, &all);
        let output = command.env("CC_ETL_DB", &database).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let files = |folder: &str| {
        let entries = fs::read_dir(sandbox.path("nobody").join(folder));
        entries.map_or(0, Iterator::count)
    };
    let before = "# mine\n*/5 * * * * true";
    fs::write(sandbox.path("crontab"), before).unwrap();
    let source = home.to_str().unwrap();
    for (name, folder) in [
        ("systemd", ".config/systemd/user"),
        ("cron", ""),
        ("launchd", "Library/LaunchAgents"),
        ("windows", ""),
    ] {
        let install = ["install", "--using", name, "--source", source];
        let dry_run = run(&[&install[..], &["--dry-run"]].concat());
        assert!(dry_run.contains("--in-background"), "{dry_run}");
        assert!(
            run(&install).starts_with(&dry_run),
            "what is written is shown"
        );
        let again = run(&install);
        assert!(name == "windows" || again.lines().count() == 1, "{again}");
        let status = run(&["status"]);
        assert_eq!(
            status.matches("cc-etl-sync").count().min(1),
            usize::from(name != "cron")
        );
        assert!(name != "systemd" || status.contains("active; its last result is success"));
        let doctor = with_schedulers(&sandbox, &["doctor"])
            .env("CC_ETL_DB", &database)
            .output();
        let doctor = text(&doctor.unwrap().stdout);
        assert_eq!(
            doctor.matches("a sync is started by a ").count(),
            1,
            "{doctor}"
        );
        // It took the place of the one before.
        assert_eq!(
            files(".config/systemd/user"),
            if name == "systemd" { 2 } else { 0 }
        );
        assert_eq!(
            files("Library/LaunchAgents"),
            usize::from(name == "launchd")
        );
        assert!(folder.is_empty() || files(folder) > 0);
        let crontab = fs::read_to_string(sandbox.path("crontab")).unwrap();
        assert_eq!(crontab == before, name != "cron", "{crontab}");
        if name == "cron" {
            // Cron takes the backslash before a percent sign away, and passes the rest to a shell.
            let line = crontab.lines().last().unwrap();
            let command = line.splitn(6, ' ').last().unwrap().replace("\\%", "%");
            let mut shell = std::process::Command::new("sh");
            let output = shell.args(["-c", &command]).env_clear().output().unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            assert!(database.is_file() && sandbox.path("data $HOME% <&>").is_dir());
        }
    }
    run(&["remove"]);
    assert_eq!(fs::read_to_string(sandbox.path("crontab")).unwrap(), before);
    assert!(!sandbox.path("task.xml").exists());
    assert!(run(&["status"]).starts_with("not installed\nthe last background sync ended "));
    assert_eq!(run(&["remove"]), "not installed\n");
    let calls = fs::read_to_string(sandbox.path("calls")).unwrap();
    for call in [
        "systemctl --user restart cc-etl-sync.timer\n",
        "systemctl --user disable --now cc-etl-sync.timer\n",
        "launchctl bootstrap gui/",
        "launchctl bootout gui/",
        "schtasks /Delete /TN cc-etl-sync /F\n",
    ] {
        assert!(calls.contains(call), "{call} is not in\n{calls}");
    }
    // Without the program of the scheduler, nothing is left behind.
    let failed = sandbox
        .command(&["service", "install", "--using", "launchd"])
        .env("PATH", sandbox.path("nowhere"))
        .output();
    assert_eq!(failed.unwrap().status.code(), Some(74));
    assert_eq!(files("Library/LaunchAgents"), 0);
    // The name of somebody else's file.
    let plist = sandbox.path("nobody/Library/LaunchAgents/cc-etl-sync.plist");
    fs::write(&plist, "<plist/>").unwrap();
    let refused = with_schedulers(&sandbox, &["service", "remove"])
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(plist.is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn parsers_of_other_systems_read_the_texts_of_a_service() {
    let sandbox = two_sessions();
    let path = |name: &str| sandbox.path(name).display().to_string();
    let database = path("50% \"of\" $HOME 'x' & <y>.db");
    let run = |using: &str| {
        let arguments = ["service", "install", "--using", using, "--quiet"];
        let mut command = with_schedulers(&sandbox, &arguments);
        let output = command.env("CC_ETL_DB", &database).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let python = |script: &str, file: &str| {
        let mut python = std::process::Command::new("python3");
        let output = python.args(["-c", script, &path(file)]).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    run("launchd");
    let words = python(
        "import plistlib, sys; job = plistlib.load(open(sys.argv[1], 'rb')); \
         print(*job['ProgramArguments'], job['StartInterval'], *job['EnvironmentVariables'].values(), sep='\\n')",
        "nobody/Library/LaunchAgents/cc-etl-sync.plist",
    );
    let data = path("data $HOME% <&>");
    let program = env!("CARGO_BIN_EXE_cc-etl");
    let expected = [
        program,
        "sync",
        "--in-background",
        "--quiet",
        "--db",
        &database,
        "900",
        &data,
    ];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected);
    run("windows");
    let words = python(
        "import sys, xml.etree.ElementTree as xml; task = xml.parse(sys.argv[1]).getroot(); \
         print(*(task.find('.//{*}' + name).text for name in ('Interval', 'Command', 'Arguments')), sep='\\n')",
        "task.xml",
    );
    let quoted = database.replace('"', "\\\"");
    let arguments = format!("--headless {program} sync --in-background --quiet --db \"{quoted}\"");
    let expected = ["PT15M", r"%SystemRoot%\System32\conhost.exe", &arguments];
    assert_eq!(words.lines().collect::<Vec<_>>(), expected);
    run("systemd");
    let mut verify = std::process::Command::new("systemd-analyze");
    let units = path("nobody/.config/systemd/user/cc-etl-sync.timer");
    verify
        .args(["verify", "--user", &units])
        .env("XDG_RUNTIME_DIR", sandbox.path("bin"));
    if let Ok(output) = verify.output() {
        assert_eq!(text(&output.stderr), "");
        assert!(output.status.success());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_watching_sync_sees_new_lines_files_and_folders_and_holds_nothing() {
    use std::process::Stdio;
    let sandbox = two_sessions();
    // The database is in the home: what a sync writes starts no sync.
    let database = sandbox.home().join("history.jsonl.db");
    let source = sandbox.home().display().to_string();
    let start = || {
        let mut command = sandbox.command(&["sync", "--watch", "--source", &source]);
        command.env("CC_ETL_DB", &database);
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let process = start();
    let count = |condition: &str| -> i64 {
        let sql = format!("select count(*) from messages where {condition}");
        let connection = rusqlite::Connection::open_with_flags(
            &database,
            rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY,
        );
        let count =
            connection.and_then(|connection| connection.query_row(&sql, [], |row| row.get(0)));
        count.unwrap_or_default()
    };
    let arrives = |uuid: &str| {
        let condition = format!("uuid = '{uuid}'");
        wait_until(uuid, || count(&condition) == 1);
    };
    wait_until("the first sync is done", || count("true") > 0);
    // Another one is one too many.
    let second = start().wait_with_output().unwrap();
    assert_eq!(second.status.code(), Some(75), "{}", text(&second.stderr));
    let append = |path: &str, uuid: &str| {
        let file = sandbox.home().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut file = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(file)
            .unwrap();
        file.write_all(message(uuid, OTHER, "more").as_bytes())
            .unwrap();
    };
    append(&main_file(), "appended");
    arrives("appended");
    append("projects/-new/deep/agent-a1.jsonl", "created");
    arrives("created");
    append("projects/-new/deep/agent-a1.jsonl", "beside");
    arrives("beside");
    // The folder is deleted, and comes back.
    fs::remove_dir_all(sandbox.home().join("projects")).unwrap();
    wait_until("the files are missing", || {
        sandbox_missing(&database) == Some(true)
    });
    append("projects/-w/again.jsonl", "again");
    arrives("again");
    // While it is idle, any program may write.
    let lock = fs::File::open(database.with_extension("db.lock")).unwrap();
    wait_until("it is idle", || lock.try_lock().is_ok());
    let sees_it = || {
        let mut doctor = sandbox.command(&["doctor"]);
        let doctor = doctor.env("CC_ETL_DB", &database).output().unwrap();
        text(&doctor.stdout).contains("a sync is started by cc-etl sync --watch")
    };
    assert!(sees_it());
    lock.unlock().unwrap();
    // Several seconds of nothing are several seconds of nothing, and a signal ends it.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let runs = || {
        let connection = rusqlite::Connection::open(&database).unwrap();
        connection
            .query_row("select count(*) from sync_runs", [], |row| {
                row.get::<_, i64>(0)
            })
            .unwrap()
    };
    let before = runs();
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(runs(), before);
    let kill = std::process::Command::new("kill")
        .args(["-TERM", &process.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
    let lines = text(&output.stdout);
    assert_eq!(
        lines.lines().count() as i64,
        before,
        "one line per sync: {lines}"
    );
    assert!(!sees_it());
}

/// Whether a file of the home is missing; none if the database cannot be read.
#[cfg(target_os = "linux")]
fn sandbox_missing(database: &std::path::Path) -> Option<bool> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = rusqlite::Connection::open_with_flags(database, flags).ok()?;
    let sql = "select count(*) > 0 from files where missing_since is not null";
    connection.query_row(sql, [], |row| row.get(0)).ok()
}

#[cfg(target_os = "linux")]
#[test]
fn a_watching_sync_waits_for_a_home_that_is_gone_and_says_so() {
    use std::process::Stdio;
    let sandbox = two_sessions();
    let source = sandbox.home().display().to_string();
    let mut command = sandbox.command(&["sync", "--watch", "--source", &source]);
    let process = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the first sync is done", || sandbox.database().exists());
    fs::rename(sandbox.home(), sandbox.path("gone")).unwrap();
    std::thread::sleep(std::time::Duration::from_secs(2));
    fs::rename(sandbox.path("gone"), sandbox.home()).unwrap();
    sandbox.write("projects/-w/again.jsonl", message("again", OTHER, "more"));
    let count = "select count(*) from messages where uuid = 'again'";
    wait_until("it is read", || sandbox.count(count) == 1);
    let kill = std::process::Command::new("kill")
        .args(["-INT", &process.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = text(&output.stderr);
    assert!(
        said.contains("does not exist; looking for changes every 15 seconds instead"),
        "{said}"
    );
}

#[test]
fn merge_says_which_databases_it_cannot_read() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "projects/-w/5e550001-0000-4000-8000-000000000001.jsonl",
        "{}\n",
    );
    sandbox.sync();
    let database = sandbox.database();
    let demo = sandbox.path("demo.db");
    sandbox.ok(&["--demo", "--db", demo.to_str().unwrap(), "path"]);
    fs::write(sandbox.path("text.db"), "not a database").unwrap();
    let fails = |arguments: &[&str], code: i32, message: &str| {
        let output = sandbox.run(&[&["merge"], arguments].concat());
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{printed}");
        assert!(printed.contains(message), "{printed}");
    };
    let of = |name: &str| sandbox.path(name).to_str().unwrap().to_string();
    fails(&[], 2, "OTHER.db");
    fails(
        &[database.to_str().unwrap()],
        2,
        "name another one, or another --db",
    );
    fails(&[&of("demo.db")], 2, "holds the demo");
    fails(&[&of("text.db")], 78, "is not a cc-etl database");
    fails(&[&of("nothing.db")], 66, "there is no database");
}
