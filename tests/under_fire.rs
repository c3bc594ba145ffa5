//! A sync that is not alone, is stopped, or finds something strange where it wants to write.

mod sandbox;

use cc_etl::database;
use cc_etl::discover;
use cc_etl::failures::Failures;
use cc_etl::file_diff;
use cc_etl::import::{Commits, Importer, Input};
use cc_etl::load::Loader;
use cc_etl::pipeline::Pipeline;
use cc_etl::progress::Progress;
use cc_etl::stop::Stop;
use sandbox::{Sandbox, text};
use std::fs::{self, File};
use std::time::{Duration, Instant};

const FILE: &str = "projects/-w/5e550001-0000-4000-8000-000000000001.jsonl";

fn line(uuid: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"{uuid}","type":"assistant","sessionId":"s","message":{{"id":"m-{uuid}","content":[{{"type":"text","text":"answer {uuid}"}}]}}}}
"#
    )
}

fn home() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(FILE, line("u1"));
    sandbox
}

/// Takes the lock as another sync would.
fn lock(sandbox: &Sandbox) -> File {
    let file = File::create(sandbox.path("test.db.lock")).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_sync_can_wait_for_another() {
    let sandbox = home();
    let held = lock(&sandbox);
    let home = sandbox.home();
    let source = home.to_str().unwrap();
    let begun = Instant::now();
    let output = sandbox.run(&["sync", "--source", source, "--wait", "1"]);
    assert_eq!(output.status.code(), Some(75));
    assert!(
        text(&output.stderr).contains("another sync is writing"),
        "{}",
        text(&output.stderr)
    );
    assert!(begun.elapsed() >= Duration::from_secs(1));
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    });
    sandbox.sync_with(&["--wait"]);
    release.join().unwrap();
    sandbox.check();
}

#[cfg(unix)]
#[test]
fn a_sync_that_waits_can_be_stopped() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let sandbox = home();
        let _held = lock(&sandbox);
        let home = sandbox.home();
        let mut child = sandbox
            .command(&["sync", "--source", home.to_str().unwrap(), "--wait"])
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let kill = std::process::Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        assert!(kill.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(!sandbox.database().exists());
    }
}

/// What a sync would read now.
fn inputs(sandbox: &Sandbox, connection: &rusqlite::Connection) -> Vec<Input> {
    let found = discover::discover(&sandbox.home()).unwrap();
    let changes = file_diff::compare(connection, 1, &found, true).unwrap();
    let files = changes.files.into_iter();
    files
        .map(|file| Input::open(file).unwrap().unwrap())
        .collect()
}

/// Where locks do not work, two syncs find the same new bytes: the second to write sees it and leaves them alone.
#[test]
fn bytes_that_another_sync_has_written_are_not_written_again() {
    let sandbox = home();
    sandbox.sync();
    sandbox.write(FILE, line("u1") + &line("u2"));
    sandbox.write("projects/-w/new.jsonl", line("u3"));
    sandbox.write("projects/-v/other.jsonl", line("u4"));
    let connection = database::open(&sandbox.database()).unwrap();
    let found = inputs(&sandbox, &connection);
    assert_eq!(found.len(), 3);
    let mut loader = Loader::new(&connection).unwrap();
    // The other sync imports two of the three.
    fs::rename(
        sandbox.home().join("projects/-v"),
        sandbox.path("kept-away"),
    )
    .unwrap();
    sandbox.sync();
    fs::rename(
        sandbox.path("kept-away"),
        sandbox.home().join("projects/-v"),
    )
    .unwrap();
    let importer = Importer {
        pipeline: &Pipeline::new(Some(1)),
        commits: Commits::Often,
        progress: &Progress::bytes("reading", 0, true),
        stop: &Stop::default(),
        failures: &Failures::default(),
    };
    let imported = importer.import(found.into_iter(), &mut loader).unwrap();
    assert_eq!(imported.problems.len(), 2, "{:?}", imported.problems);
    loader.finish().unwrap();
    drop(loader);
    drop(connection);
    sandbox.check();
    assert_eq!(
        sandbox.query("select uuid from messages order by uuid"),
        ["u1", "u2", "u3", "u4"]
    );
    assert_eq!(
        sandbox.count("select count(*) from files where is_current"),
        3
    );
    sandbox.sync();
    let hash = sandbox.hash();
    let clean = Sandbox::new();
    fs::remove_dir_all(clean.home()).unwrap();
    fs::rename(sandbox.home(), clean.home()).unwrap();
    clean.sync();
    assert_eq!(hash, clean.hash());
}

#[test]
fn a_database_that_appears_meanwhile_is_not_overwritten() {
    let sandbox = home();
    // The sync builds beside, and when it is done finds that the place is taken.
    let pipe = sandbox.home().join("projects/-w");
    let mut many = String::new();
    for number in 0..20_000 {
        many.push_str(&line(&format!("n{number}")));
    }
    fs::write(pipe.join("many.jsonl"), many).unwrap();
    let home = sandbox.home();
    let mut child = sandbox
        .command(&["sync", "--quiet", "--source", home.to_str().unwrap()])
        .spawn()
        .unwrap();
    let building = sandbox.path("test.db.building");
    while !building.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it was too quick");
        std::thread::sleep(Duration::from_millis(1));
    }
    fs::write(sandbox.database(), "precious").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(74));
    assert_eq!(fs::read_to_string(sandbox.database()).unwrap(), "precious");
    assert!(!building.exists());
}

#[cfg(unix)]
#[test]
fn links_are_not_written_through() {
    use std::os::unix::fs::symlink;
    let sandbox = home();
    let home = sandbox.home();
    let sync = ["sync", "--source", home.to_str().unwrap()];
    let precious = sandbox.path("precious");
    fs::write(&precious, "").unwrap();
    for name in ["test.db", "test.db.lock"] {
        symlink(&precious, sandbox.path(name)).unwrap();
        let output = sandbox.run(&sync);
        assert!(
            matches!(output.status.code(), Some(74 | 78)),
            "{name}: {}",
            text(&output.stderr)
        );
        assert_eq!(fs::metadata(&precious).unwrap().len(), 0);
        fs::remove_file(sandbox.path(name)).unwrap();
    }
    // What stands in the way of the new database is replaced, not followed.
    symlink(&precious, sandbox.path("test.db.building")).unwrap();
    sandbox.sync();
    assert_eq!(fs::metadata(&precious).unwrap().len(), 0);
}

#[cfg(unix)]
#[test]
fn whatever_the_umask_only_the_owner_can_read() {
    use std::os::unix::fs::PermissionsExt;
    for umask in ["000", "022", "077", "277"] {
        let sandbox = home();
        let script = format!(
            "umask {umask}; \"$0\" sync --quiet --source \"$1\" && \"$0\" restore --quiet --out \"$2\""
        );
        let status = std::process::Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_cc-etl")])
            .args([sandbox.home(), sandbox.path("out")])
            .env("CC_ETL_DB", sandbox.database())
            .status()
            .unwrap();
        assert!(status.success(), "umask {umask}");
        // The journal takes its mode from the database.
        let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
        connection
            .execute_batch("begin immediate; insert into settings values ('a', 'b');")
            .unwrap();
        let restored = sandbox.path("out").join(FILE);
        let files = ["test.db", "test.db-wal", "test.db-shm", "test.db.lock"]
            .map(|name| sandbox.path(name));
        for file in files.iter().chain([&restored]) {
            let mode = fs::metadata(file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "umask {umask}: {}", file.display());
        }
    }
}

#[test]
fn a_backup_is_whole_private_and_never_overwrites_unasked() {
    let sandbox = home();
    sandbox.sync();
    let file = sandbox.path("backup.db");
    let name = file.to_str().unwrap();
    // Somebody writes meanwhile, and has committed to the journal.
    let writer = rusqlite::Connection::open(sandbox.database()).unwrap();
    writer
        .execute_batch(
            "pragma wal_autocheckpoint = 0; insert into settings values ('committed', 'yes');
            begin immediate; insert into settings values ('not', 'yet');",
        )
        .unwrap();
    sandbox.ok(&["backup", name]);
    let copy = sandbox::open(&file);
    assert_eq!(
        sandbox::query(
            &copy,
            "select setting from settings where value in ('yes', 'yet')"
        ),
        ["committed"]
    );
    assert_eq!(sandbox::query(&copy, "pragma journal_mode"), ["delete"]);
    writer.execute_batch("rollback").unwrap();
    assert_eq!(
        sandbox.hash(),
        sandbox.ok(&["check", "--hash", "--db", name])
    );

    let again = sandbox.run(&["backup", name]);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--overwrite"));
    sandbox.ok(&["backup", name, "--overwrite"]);
    let database = sandbox.database();
    for target in [database.to_str().unwrap(), "/", "/nowhere/at/all.db"] {
        let output = sandbox.run(&["backup", target, "--overwrite"]);
        assert!(!output.status.success(), "{target}");
    }
    sandbox.check();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let link = sandbox.path("link.db");
        symlink(&file, &link).unwrap();
        let output = sandbox.run(&["backup", link.to_str().unwrap(), "--overwrite"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
    let left: Vec<_> = fs::read_dir(sandbox.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("partial"))
        .collect();
    assert_eq!(left, [""; 0]);
}

#[test]
fn what_a_killed_backup_or_check_left_is_removed_by_the_next_and_what_is_in_use_stays() {
    let sandbox = home();
    sandbox.sync();
    let left = sandbox.path("backup.db.partial-abc");
    let in_use = sandbox.path("backup.db.partial-def");
    fs::write(&left, "half a database").unwrap();
    let held = File::create(&in_use).unwrap();
    held.lock().unwrap();
    let folder = sandbox.path(".cc-etl-check-abc");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("used"), "").unwrap();
    fs::write(folder.join("copy.db"), "half a database").unwrap();
    let other = sandbox.path(".cc-etl-check-def");
    fs::create_dir(&other).unwrap();
    let held_too = File::create(other.join("used")).unwrap();
    held_too.lock().unwrap();
    sandbox.ok(&["backup", sandbox.path("backup.db").to_str().unwrap()]);
    sandbox.ok(&["check", "--deep"]);
    assert_eq!((left.exists(), folder.exists()), (false, false));
    assert_eq!((in_use.exists(), other.exists()), (true, true));
    assert_eq!(
        fs::read_dir(sandbox.path("."))
            .unwrap()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
                name.contains("partial") || name.contains("check")
            })
            .count(),
        2
    );
}

#[cfg(unix)]
#[test]
fn prices_are_not_read_from_what_may_never_end() {
    let sandbox = home();
    sandbox.sync();
    let pipe = sandbox.path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    for source in [pipe.to_str().unwrap(), "/dev/zero", "/"] {
        let output = sandbox.run(&["prices", "import", source]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    }
}

#[test]
fn a_database_can_be_read_where_no_file_for_its_readers_can_be_made() {
    let sandbox = home();
    sandbox.sync();
    let hash = sandbox.hash();
    let shared = sandbox.path("test.db-shm");
    if shared.exists() {
        fs::remove_file(&shared).unwrap();
    }
    fs::create_dir(&shared).unwrap();
    sandbox.check();
    assert_eq!(sandbox.hash(), hash);
    sandbox.ok(&["query", "--sql", "select count(*) from messages"]);
    assert!(shared.is_dir());
}

#[cfg(unix)]
#[test]
fn a_first_sync_without_room_leaves_nothing_behind() {
    let sandbox = Sandbox::new();
    for blocks in ["100", "600", "2000"] {
        let output = std::process::Command::new("sh")
            .args(["-c", "ulimit -f \"$1\"; exec \"$0\" sync --demo --quiet"])
            .args([env!("CARGO_BIN_EXE_cc-etl"), blocks])
            .env("CC_ETL_DB", sandbox.database())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(74), "{}", text(&output.stderr));
        let entries = fs::read_dir(sandbox.path(".")).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        let left = names
            .iter()
            .filter(|name| name.to_str().unwrap().contains("test.db"));
        assert_eq!(left.collect::<Vec<_>>(), ["test.db.lock"]);
    }
}
