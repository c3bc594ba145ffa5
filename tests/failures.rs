//! What the program itself fails on costs a chunk of a file at most: its bytes are archived, the rest is imported, the sync
//! says so, and the next one goes on.

mod sandbox;

use rusqlite::Connection;
use sandbox::{Sandbox, text};

const A: &str = "projects/-w/5e550001-0000-4000-8000-000000000001.jsonl";
const B: &str = "projects/-w/5e550002-0000-4000-8000-000000000002.jsonl";

fn line(uuid: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"uuid":"{uuid}","type":"assistant","sessionId":"s","timestamp":"2026-01-10T10:00:00.000Z","message":{{"id":"msg_{uuid}","usage":{{"output_tokens":1}},"content":[{{"type":"text","text":"reply {uuid}"}}]}}}}
"#
    )
}

/// Makes a statement of the loader fail.
fn fail(sandbox: &Sandbox, trigger: &str) {
    let connection = Connection::open(sandbox.database()).unwrap();
    let trigger =
        format!("create trigger broken {trigger} begin select raise(abort, 'a fault'); end");
    connection.execute_batch(&trigger).unwrap();
}

fn repair(sandbox: &Sandbox) {
    let connection = Connection::open(sandbox.database()).unwrap();
    connection.execute_batch("drop trigger broken").unwrap();
}

/// Syncs while something fails, and returns what is said of it.
fn failing_sync(sandbox: &Sandbox) -> String {
    let home = sandbox.home();
    let output = sandbox.run(&["sync", "--source", home.to_str().unwrap()]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("archived but not loaded. Please report this"),
        "{told}"
    );
    told
}

fn uuids(sandbox: &Sandbox) -> Vec<String> {
    sandbox.query("select uuid from messages order by uuid")
}

fn rejected(sandbox: &Sandbox) -> Vec<String> {
    sandbox.query("select line_number || ' ' || reason from rejected_lines order by line_number")
}

/// Everything is there that one clean sync of the same files gives, when the program has learned it.
fn assert_healed(sandbox: &Sandbox) {
    repair(sandbox);
    sandbox.ok(&["rebuild"]);
    sandbox.check();
    let clean = Sandbox::new();
    std::fs::remove_dir_all(clean.home()).unwrap();
    std::fs::rename(sandbox.home(), clean.home()).unwrap();
    clean.sync();
    assert_eq!(sandbox.hash(), clean.hash());
}

#[test]
fn a_message_that_cannot_be_written_costs_neither_other_files_nor_the_next_sync() {
    let sandbox = Sandbox::new();
    let mut content = line("a1");
    sandbox.write(A, &content);
    sandbox.sync();
    fail(&sandbox, "before insert on messages when new.uuid = 'bad'");
    content += &(line("a2") + &line("bad"));
    sandbox.write(A, &content);
    sandbox.write(B, line("b1"));
    let told = failing_sync(&sandbox);
    assert!(told.contains(A) && told.contains("a fault"), "{told}");
    assert_eq!(uuids(&sandbox), ["a1", "b1"]);
    assert_eq!(rejected(&sandbox), ["2 internal_error", "3 internal_error"]);
    sandbox.check();
    // It is not tried again, and what is added is imported.
    content += &line("a3");
    sandbox.write(A, &content);
    sandbox.sync();
    assert_eq!(uuids(&sandbox), ["a1", "a3", "b1"]);
    sandbox.check();
    assert_healed(&sandbox);
}

#[test]
fn a_line_whose_end_is_still_to_come_is_tried_again_when_it_comes() {
    let sandbox = Sandbox::new();
    sandbox.write(A, line("a1"));
    sandbox.sync();
    fail(&sandbox, "before insert on messages when new.uuid = 'bad'");
    let content = line("a1") + &line("bad") + &line("a2");
    sandbox.write(A, &content[..content.len() - 20]);
    failing_sync(&sandbox);
    assert_eq!(
        rejected(&sandbox),
        ["2 internal_error", "3 incomplete_tail"]
    );
    sandbox.write(A, &content);
    sandbox.sync();
    assert_eq!(uuids(&sandbox), ["a1", "a2"]);
    sandbox.check();
    assert_healed(&sandbox);
}

#[test]
fn a_copy_that_cannot_be_written_costs_its_chunk() {
    let sandbox = Sandbox::new();
    sandbox.write(A, line("a1"));
    sandbox.sync();
    fail(&sandbox, "before insert on message_copies");
    sandbox.write(B, line("a1") + &line("b1"));
    sandbox.write("projects/-v/c.jsonl", line("c1"));
    let told = failing_sync(&sandbox);
    assert!(told.contains(B), "{told}");
    assert_eq!(uuids(&sandbox), ["a1", "c1"]);
    sandbox.check();
    sandbox.sync();
    assert_healed(&sandbox);
}

#[test]
fn what_fails_with_the_commit_is_archived_and_the_next_sync_goes_on() {
    let sandbox = Sandbox::new();
    sandbox.write(A, line("a1"));
    sandbox.sync();
    // Foreign keys are checked when the transaction ends.
    let connection = Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch(
            "create trigger broken after insert on content_blocks begin
                update messages set parent_message_id = 4711 where message_id = new.message_id;
            end",
        )
        .unwrap();
    drop(connection);
    sandbox.write(B, line("b1"));
    failing_sync(&sandbox);
    assert_eq!(uuids(&sandbox), ["a1"]);
    assert_eq!(rejected(&sandbox), ["1 internal_error"]);
    sandbox.check();
    repair(&sandbox);
    sandbox.write(B, line("b1") + &line("b2"));
    sandbox.sync();
    assert_eq!(uuids(&sandbox), ["a1", "b2"]);
    fail(&sandbox, "before insert on messages");
    assert_healed(&sandbox);
}

#[test]
fn a_document_that_cannot_be_written_costs_nothing_else() {
    let sandbox = Sandbox::new();
    sandbox.write(A, line("a1"));
    sandbox.sync();
    fail(&sandbox, "before insert on plans");
    sandbox.write("plans/a-plan.md", "# A plan");
    sandbox.write(B, line("b1"));
    failing_sync(&sandbox);
    assert_eq!(uuids(&sandbox), ["a1", "b1"]);
    assert_eq!(rejected(&sandbox), ["1 internal_error"]);
    sandbox.check();
    sandbox.sync();
    assert_healed(&sandbox);
}

#[test]
fn when_everything_fails_everything_is_archived() {
    let sandbox = Sandbox::new();
    sandbox.write(A, line("a1"));
    sandbox.sync();
    fail(&sandbox, "before insert on content_blocks");
    for number in 0..40 {
        sandbox.write(
            &format!("projects/-w/{number}.jsonl"),
            line(&format!("n{number:02}")),
        );
    }
    failing_sync(&sandbox);
    assert_eq!(uuids(&sandbox), ["a1"]);
    assert_eq!(sandbox.count("select count(*) from archive_chunks"), 41);
    assert_eq!(sandbox.count("select count(*) from rejected_lines"), 40);
    sandbox.check();
    sandbox.sync();
    assert_healed(&sandbox);
}
