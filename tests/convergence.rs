//! The content of the database is a function of the set of lines: any order of files, any number of threads, any split
//! into several syncs gives what one clean sync gives.

mod sandbox;

use proptest::prelude::*;
use rusqlite::Connection;
use sandbox::Sandbox;
use sandbox::records::*;
use serde_json::{Value, json};
use std::fs::{self, File, FileTimes};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The files of a home: sessions, agents in every layout, a stranger, the history; two projects share uuids.
const FILES: &[&str] = &[
    "projects/-w/5e550001-0000-4000-8000-000000000001.jsonl",
    "projects/-w/5e550002-0000-4000-8000-000000000002.jsonl",
    "projects/-other/5e550003-0000-4000-8000-000000000003.jsonl",
    "projects/-w/agent-a0000001.jsonl",
    "projects/-w/5e550001-0000-4000-8000-000000000001/subagents/agent-a0000002.jsonl",
    "projects/-w/5e550001-0000-4000-8000-000000000001/subagents/workflows/wf_1/agent-a0000003.jsonl",
    "projects/-w/notes.jsonl",
    "history.jsonl",
    "projects/-w/5e550001-0000-4000-8000-000000000001/subagents/agent-a0000002.meta.json",
    "todos/5e550001-0000-4000-8000-000000000001.json",
    "projects/-w/sessions-index.json",
    "projects/-w/memory/MEMORY.md",
    "paste-cache/0123456789abcdef.txt",
    "usage-data/facets/5e550001-0000-4000-8000-000000000001.json",
    "settings.json",
];

/// A line of a transcript. The ids come from small sets, so that lines collide in every way they can.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let chain = (
        (0..8u8, proptest::option::of(0..9u8), 1..4u8, 0..4u8),
        (0..5u8, any::<bool>(), any::<bool>(), 0..4u8),
        (0..3u8, 0..60u16, 0..3u8),
    )
        .prop_map(|((uuid, parent, session, time), (kind, is_sidechain, is_fork, id), (tool, tokens, text))| {
            let parent = parent.map_or("null".to_string(), |parent| format!("\"u{parent}\""));
            let time = match time {
                0 => String::new(),
                1 => r#""timestamp":"no time","#.to_string(),
                other => format!(r#""timestamp":"2026-01-0{other}T10:00:00.000Z","#),
            };
            let fork = match is_fork {
                true => format!(r#""forkedFrom":{{"sessionId":"{}","messageUuid":"u1"}},"#, session_id(1 + session % 3)),
                false => String::new(),
            };
            let usage = format!(
                r#""usage":{{"input_tokens":{},"output_tokens":{},"cache_read_input_tokens":{}}}"#,
                tokens % 3,
                tokens % 7,
                tokens % 2
            );
            // Ids of the API, and such as gateways repeat.
            let echo = ["e0", "e1", "u2", "u3"][usize::from(id)];
            let id = ["msg_0", "m1", "m2", "m2"][usize::from(id)];
            let body = match kind {
                0 => format!(r#""type":"user","message":{{"role":"user","content":"text {text}"}}"#),
                1 => format!(
                    r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{tool}","content":"done {text}"}}]}},"toolUseResult":{{"stdout":"done {text}","n":{tokens},"agentId":"a000000{text}","filePath":"/w/{text}","structuredPatch":[{{"lines":["+a"]}}]}}"#
                ),
                2 => format!(
                    r#""type":"assistant","requestId":"r{text}","message":{{"id":"{id}","model":"model-{text}","role":"assistant",{usage},"content":[{{"type":"text","text":"answer {text}"}}]}}"#
                ),
                3 => format!(
                    r#""type":"assistant","message":{{"id":"{id}","model":"model-{text}","role":"assistant",{usage},"content":[{{"type":"tool_use","id":"t{tool}","name":"{}","input":{{"command":"ls {text}","prompt":"text {text}","file_path":"/w/{text}"}},"caller":{{"type":"direct"}}}}]}}"#,
                    ["Task", "Edit", "Bash"][usize::from(tool) % 3]
                ),
                _ => format!(
                    r#""type":"progress","toolUseID":"t{tool}","data":{{"type":"agent_progress","agentId":"a000000{text}","message":{{"uuid":"{echo}","message":{{"id":"{id}","model":"model-{text}",{usage}}}}}}}"#
                ),
            };
            format!(
                r#"{{"parentUuid":{parent},"uuid":"u{uuid}",{time}{fork}"isSidechain":{is_sidechain},"sessionId":"{}","version":"2.1.{text}","cwd":"/w/{text}","gitBranch":"b{tokens}",{body}}}"#,
                session_id(session)
            )
            .into_bytes()
        });
    let state = (0..9u8, 1..4u8, 0..8u8, 0..9u8).prop_map(|(kind, session, uuid, text)| {
        let session = session_id(session);
        let line = match kind {
            0 => format!(r#"{{"type":"summary","summary":"summary {text}","leafUuid":"u{uuid}"}}"#),
            1 => format!(r#"{{"type":"custom-title","customTitle":"title {text}","sessionId":"{session}"}}"#),
            2 => format!(r#"{{"type":"ai-title","aiTitle":"model title {text}","sessionId":"{session}"}}"#),
            3 => format!(
                r#"{{"type":"continued-in","sessionId":"{session}","continuedInSessionId":"{}"}}"#,
                session_id(1 + text % 3)
            ),
            4 => format!(
                r#"{{"type":"file-history-snapshot","messageId":"u{uuid}","snapshot":{{"trackedFileBackups":{{"a.txt":{{"backupFileName":"x@v{text}","version":{text}}}}}}}}}"#
            ),
            5 => format!(r#"{{"type":"from-the-future-{text}","sessionId":"{session}","version":"2.{text}.1"}}"#),
            6 => format!(
                r#"{{"type":"queue-operation","operation":"enqueue","sessionId":"{session}","content":"<task-notification><task-id>a000000{text}</task-id><tool-use-id>t{}</tool-use-id><status>completed</status></task-notification>"}}"#,
                uuid % 3
            ),
            7 => format!(
                r#"{{"type":"assistant","sessionId":"{session}","message":{{"id":"{}","model":"model-1","usage":{{"input_tokens":{},"output_tokens":{text}}}}}}}"#,
                ["", "m2", "msg_0"][usize::from(text % 3)],
                text % 2
            ),
            _ => format!(r#"{{"display":"text {text}","timestamp":176734800000{text},"project":"/w","sessionId":"{session}"}}"#),
        };
        line.into_bytes()
    });
    let damage = prop_oneof![
        Just(b"".to_vec()),
        Just(b"  ".to_vec()),
        Just(b"\0\0\0".to_vec()),
        Just(b"// note".to_vec()),
        Just(br#"{"type":"pr-link","prNu"#.to_vec()),
        Just(br#"{"a":"\ud800"}"#.to_vec()),
        Just(b"{\"a\":\"\xff\"}".to_vec()),
    ];
    prop_oneof![8 => chain, 3 => state, 1 => damage]
}

fn session_id(number: u8) -> String {
    format!("5e55000{number}-0000-4000-8000-00000000000{number}")
}

/// A file of lines, or a document.
fn any_file(path: &'static str) -> BoxedStrategy<Vec<u8>> {
    match path.ends_with(".jsonl") {
        true => file_of_lines().boxed(),
        false => document().boxed(),
    }
}

fn document() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        Just(b"[{\"content\":\"a\",\"status\":\"pending\"},{\"content\":\"b\"}]".to_vec()),
        Just(br#"{"agentType":"Explore","toolUseId":"t1","parentAgentId":"a0000003","spawnDepth":2}"#.to_vec()),
        Just(
            br#"{"entries":[{"sessionId":"5e550002-0000-4000-8000-000000000002","summary":"hint","customTitle":"mine","projectPath":"/w"}]}"#
                .to_vec()
        ),
        Just(b"some\ntext\n".to_vec()),
        Just(b"\xff\xfe".to_vec()),
    ]
}

/// A file of lines, of which some newlines are missing.
fn file_of_lines() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec((any_line(), 0..12u8), 0..9).prop_map(|lines| {
        let mut content = Vec::new();
        for (line, newline) in lines {
            content.extend(line);
            if newline > 0 {
                content.push(b'\n');
            }
        }
        content
    })
}

#[derive(Clone)]
struct Plan {
    files: Vec<Vec<u8>>,
    /// For each sync before the last: how much of each file there is, in thousandths, and how many threads.
    steps: Vec<(Vec<u16>, u8)>,
    /// When each file was changed, which sets the order of reading.
    ages: Vec<u8>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (path, content) in FILES.iter().zip(&self.files) {
            writeln!(f, "{path}\n{}", sandbox::text(content))?;
        }
        writeln!(f, "steps {:?}, ages {:?}", self.steps, self.ages)
    }
}

fn plan() -> impl Strategy<Value = Plan> {
    let steps = proptest::collection::vec(
        (proptest::collection::vec(0..=1000u16, FILES.len()), 1..9u8),
        0..4,
    );
    (
        FILES.iter().map(|path| any_file(path)).collect::<Vec<_>>(),
        steps,
        proptest::collection::vec(any::<u8>(), FILES.len()),
    )
        .prop_map(|(files, mut steps, ages)| {
            // Files only grow.
            for index in 0..FILES.len() {
                let mut cuts: Vec<u16> = steps.iter().map(|(cuts, _)| cuts[index]).collect();
                cuts.sort_unstable();
                for (step, cut) in steps.iter_mut().zip(cuts) {
                    step.0[index] = cut;
                }
            }
            Plan { files, steps, ages }
        })
}

fn write_home(sandbox: &Sandbox, plan: &Plan, cuts: Option<&[u16]>) {
    for (index, path) in FILES.iter().enumerate() {
        let content = &plan.files[index];
        let length = cuts.map_or(content.len(), |cuts| {
            content.len() * usize::from(cuts[index]) / 1000
        });
        if cuts.is_some() && length == 0 {
            continue;
        }
        let file = sandbox.write(path, &content[..length]);
        set_age(&file, plan.ages[index], cuts.map_or(0, |cuts| cuts[index]));
    }
}

fn set_age(path: &Path, age: u8, step: u16) {
    let time =
        UNIX_EPOCH + Duration::from_secs(1_700_000_000 + u64::from(age) * 1000 + u64::from(step));
    let file = File::options().write(true).open(path).unwrap();
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
}

/// What one clean sync makes of a plan's home, page by page or by statements.
fn clean_hash(plan: &Plan, sandbox: &Sandbox) -> String {
    let fixed_order = Plan {
        ages: vec![0; FILES.len()],
        ..plan.clone()
    };
    write_home(sandbox, &fixed_order, None);
    sandbox.sync_with(&["--threads", "1"]);
    sandbox.check();
    sandbox.hash()
}

/// 40 cases with every change; PROPTEST_CASES for more. Cases that once failed are kept beside this file.
/// This many cases, or as many as `PROPTEST_CASES` says.
fn config(cases: u32) -> ProptestConfig {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => ProptestConfig::default(),
        None => ProptestConfig::with_cases(cases),
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn any_split_order_and_thread_count_gives_the_same_content(plan in plan()) {
        let sandbox = Sandbox::new();
        for (cuts, threads) in &plan.steps {
            write_home(&sandbox, &plan, Some(cuts));
            sandbox.sync_with(&["--threads", &threads.to_string()]);
            sandbox.check();
        }
        write_home(&sandbox, &plan, None);
        sandbox.sync();
        sandbox.check();
        let hash = sandbox.hash();
        for clean in [Sandbox::new(), Sandbox::with_statements()] {
            prop_assert_eq!(&hash, &clean_hash(&plan, &clean));
        }

        sandbox.sync();
        prop_assert_eq!(&sandbox.hash(), &hash, "a second sync changed something");
        sandbox.ok(&["rebuild"]);
        prop_assert_eq!(&sandbox.hash(), &hash, "a rebuild changed something");
        fs::remove_dir_all(sandbox.home()).unwrap();
        fs::create_dir(sandbox.home()).unwrap();
        sandbox.sync();
        prop_assert_eq!(&sandbox.hash(), &hash, "deleting the sources changed something");
    }
}

/// Databases of three machines: one has the whole home, one a part of it, and one what there was earlier, too.
fn three_machines(plan: &Plan) -> [Sandbox; 3] {
    [None, plan.steps.first(), plan.steps.last()].map(|step| {
        let sandbox = Sandbox::new();
        write_home(&sandbox, plan, step.map(|(cuts, _)| cuts.as_slice()));
        sandbox
    })
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn merged_databases_hold_what_one_sync_of_all_homes_holds(
        plan in plan(),
        order in Just([0, 1, 2]).prop_shuffle(),
        is_at_once in any::<bool>(),
        is_synced in any::<bool>(),
    ) {
        let machines = three_machines(&plan);
        let clean = Sandbox::new();
        for (number, sandbox) in machines.iter().enumerate() {
            let name = format!("machine {number}");
            let home = sandbox.home();
            let sync = ["sync", "--machine", &name, "--source", home.to_str().unwrap()];
            sandbox.ok(&sync);
            clean.ok(&sync);
        }
        clean.check();
        let hash = clean.hash();

        let databases = order.map(|number| machines[number].database());
        let names: Vec<&str> = databases.iter().map(|path| path.to_str().unwrap()).collect();
        let merged = Sandbox::new();
        if is_synced {
            let (name, home) = (format!("machine {}", order[1]), machines[order[1]].home());
            merged.ok(&["sync", "--machine", &name, "--source", home.to_str().unwrap()]);
        }
        for names in names.chunks(if is_at_once { 3 } else { 1 }) {
            merged.ok(&[&["merge"], names].concat());
            merged.check();
        }
        prop_assert_eq!(&merged.hash(), &hash);
        merged.ok(&[&["merge"], names.as_slice()].concat());
        prop_assert_eq!(&merged.hash(), &hash, "a second merge changed something");
        merged.ok(&["rebuild"]);
        prop_assert_eq!(&merged.hash(), &hash, "a rebuild changed something");
    }
}

/// Merges databases of one home, as it was at several moments, into a new one.
fn merged(databases: &[&Path]) -> Sandbox {
    let names = databases.iter().map(|path| path.to_str().unwrap());
    let sandbox = Sandbox::new();
    let arguments: Vec<&str> = ["merge"].into_iter().chain(names).collect();
    sandbox.ok(&arguments);
    sandbox.check();
    sandbox
}

#[test]
fn databases_of_one_home_at_several_moments_merge_into_its_whole_history() {
    let sandbox = Sandbox::new();
    let copies = ["short.db", "long.db", "rewritten.db"].map(|name| sandbox.path(name));
    let line = |number: usize| format!("{}\n", user(&format!("u{number}"), "a", json!({})));
    let contents = [
        line(1),
        line(1) + &line(2),
        line(3) + &line(2), // another version
    ];
    for (step, (content, copy)) in (0..).zip(contents.iter().zip(&copies)) {
        set_age(&sandbox.write(FILES[0], content), 0, step);
        sandbox.sync();
        sandbox.ok(&["backup", copy.to_str().unwrap()]);
    }
    let hash = sandbox.hash();
    let [short, long, rewritten] = copies.each_ref().map(|copy| copy.as_path());
    for order in [
        vec![rewritten],
        vec![short, rewritten],
        vec![rewritten, short],
        vec![long, short, rewritten],
        vec![short, long, rewritten, short],
    ] {
        let merged = merged(&order);
        assert_eq!(merged.hash(), hash, "{order:?}");
        let files = "select generation, is_current, archived_bytes from files order by 1";
        assert_eq!(merged.query(files), sandbox.query(files), "{order:?}");
    }
}

#[test]
fn a_merged_file_keeps_what_is_known_of_it_and_is_restored_byte_for_byte() {
    let sandbox = Sandbox::new();
    let content = format!("{}\n", user("u1", "a", json!({})));
    set_age(&sandbox.write(FILES[0], &content), 3, 0);
    sandbox.sync();
    fs::remove_file(sandbox.home().join(FILES[0])).unwrap();
    sandbox.sync();
    let merged = merged(&[&sandbox.database()]);
    let known = "select path, modified_ns, first_seen_at, missing_since is not null from files";
    assert_eq!(merged.query(known), sandbox.query(known));
    let homes = "select machine_id, machine, root_path, product from sources";
    assert_eq!(merged.query(homes), sandbox.query(homes));
    let folder = merged.path("restored");
    merged.ok(&["restore", "--out", folder.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(folder.join(FILES[0])).unwrap(), content);
}

#[test]
fn what_only_the_status_line_told_is_merged_too() {
    let [one, two] = [1, 2].map(|hour| {
        let sandbox = Sandbox::new();
        sandbox.sync();
        let writer = Connection::open(sandbox.database()).unwrap();
        let sample =
            "insert into limit_samples (limit_name, used_percentage, resets_at, sampled_at)
            values ('five_hour', ?1, '2026-01-01T05:00:00.000Z', ?2)";
        let at = format!("2026-01-01T0{hour}:00:00.000Z");
        writer.execute(sample, (7.0, &at)).unwrap();
        writer.execute(sample, (f64::from(hour), &at)).unwrap();
        sandbox
    });
    let samples = "select used_percentage, substr(sampled_at, 12, 5) from limit_samples order by 1";
    for [first, second] in [[&one, &two], [&two, &one]] {
        let merged = merged(&[&first.database(), &second.database()]);
        assert_eq!(merged.query(samples), ["1|01:00", "2|02:00", "7|01:00"]);
    }
}

#[test]
fn damaged_bytes_of_another_archive_are_reported_and_not_merged() {
    let sandbox = Sandbox::new();
    for (path, text) in [(FILES[0], "good"), (FILES[1], "damaged")] {
        sandbox.write(path, format!("{}\n", user(text, text, json!({}))));
    }
    sandbox.sync();
    let writer = Connection::open(sandbox.database()).unwrap();
    let swap = "update archive_chunks set content = (
            select content from archive_chunks join files using (file_id) where path = ?1
        ), byte_length = (
            select byte_length from archive_chunks join files using (file_id) where path = ?1
        )
        where file_id = (select file_id from files where path = ?2)";
    assert_eq!(writer.execute(swap, [FILES[0], FILES[1]]).unwrap(), 1);
    drop(writer);
    let target = Sandbox::new();
    let output = target.run(&["merge", sandbox.database().to_str().unwrap()]);
    let message = sandbox::text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(FILES[1]), "{message}");
    assert!(message.contains("damaged"), "{message}");
    assert_eq!(target.query("select uuid from messages"), ["good"]);
}

/// A first load lets responses wait for further lines, and those that a parent tells of for the lines of their agent. Here
/// more of both come than it lets wait, in several chunks.
#[test]
fn responses_of_very_many_lines_are_those_that_a_rebuild_finds() {
    let usage = |tokens: usize| format!(r#""usage":{{"input_tokens":3,"output_tokens":{tokens}}}"#);
    let line = |uuid: String, is_sidechain: bool, body: String| {
        let session = session_id(1);
        format!(
            r#"{{"parentUuid":null,"uuid":"{uuid}","timestamp":"2026-01-02T10:00:00.000Z","isSidechain":{is_sidechain},"sessionId":"{session}","version":"2.1.9",{body}}}"#
        ) + "\n"
    };
    let answer = |id: &str, tokens: usize, text: &str| {
        format!(
            r#""type":"assistant","message":{{"id":"{id}","model":"model-1","role":"assistant",{},"content":[{{"type":"text","text":"{text}"}}]}}"#,
            usage(tokens)
        )
    };
    let echo = |id: &str, tokens: usize| {
        format!(
            r#""type":"progress","toolUseID":"t1","data":{{"type":"agent_progress","agentId":"a0000002","message":{{"uuid":"e-{id}","message":{{"id":"{id}","model":"model-1",{}}}}}}}"#,
            usage(tokens)
        )
    };
    let long_text = "word ".repeat(800);
    let mut session = String::new();
    for number in 0..600 {
        let tokens = number % 599;
        session += &line(
            format!("long{number}"),
            false,
            answer("msg_long", tokens, &long_text),
        );
        if number % 20 == 0 {
            let id = format!("msg_short{number}");
            session += &line(id.clone(), false, answer(&id, 7, "short"));
        }
    }
    let echoes = 9_000;
    let id = |number: usize| format!("msg_echo{number}");
    for number in 0..echoes {
        session += &line(format!("parent{number}"), false, echo(&id(number), 1));
    }
    let own = |number: usize| line(format!("own{number}"), true, answer(&id(number), 2, "own"));
    let agent: String = (0..echoes).step_by(3).map(own).collect();

    let by_statements = Sandbox::with_statements();
    let sandbox = Sandbox::new();
    for sandbox in [&by_statements, &sandbox] {
        sandbox.write(FILES[0], &session);
        sandbox.write(FILES[4], &agent);
        sandbox.sync();
        sandbox.check();
    }
    let counted = |tokens: &str| {
        sandbox.ok(&[
            "query",
            "--format",
            "csv",
            "--sql",
            &format!(
                "select count(*) as responses from api_responses where output_tokens {tokens}"
            ),
        ])
    };
    assert_eq!(counted("is not null"), "responses\n9031\n");
    assert_eq!(counted("= 2"), "responses\n3000\n");
    assert_eq!(counted("= 598"), "responses\n1\n");
    let hash = sandbox.hash();
    assert_eq!(by_statements.hash(), hash);
    sandbox.ok(&["rebuild"]);
    assert_eq!(sandbox.hash(), hash);
}

/// A transcript whose name is no session id: its lines have the session that they name.
const NOTES: &str = "projects/-w/notes.jsonl";

/// Files of a home and their content.
type Files<'a> = &'a [(&'a str, &'a str)];

/// Homes that are synced and checked after each step; a rebuild must change nothing. Of the one the database has no message
/// when the first step is over, of the other it has: a sync notes what changes only then.
fn synced_in_steps(steps: &[Files<'_>]) -> [Sandbox; 2] {
    let message = r#"{"parentUuid":null,"uuid":"other"}"#;
    [None, Some(("projects/-x/other.jsonl", message))].map(|other| {
        let sandbox = Sandbox::new();
        for (number, files) in (0..).zip(steps) {
            for (path, content) in files.iter().chain(&other) {
                let file = sandbox.write(path, content);
                set_age(&file, 0, number);
            }
            sandbox.sync();
            sandbox.check();
        }
        let hash = sandbox.hash();
        sandbox.ok(&["rebuild"]);
        assert_eq!(sandbox.hash(), hash, "a rebuild changed something");
        sandbox
    })
}

const PASTE: &str = "paste-cache/0123456789abcdef.txt";
const PROMPT_WITH_PASTE: &str = r#"{"display":"[Pasted text #1]","pastedContents":{"1":{"id":1,"type":"text","contentHash":"0123456789abcdef"}},"timestamp":1767348000000,"project":"/w"}"#;
const PASTED_TEXT: &str = "select pastes.content from pasted_contents join pastes using (paste_id)";

#[test]
fn a_paste_that_a_prompt_refers_to_may_grow() {
    let home: Files<'_> = &[
        ("history.jsonl", PROMPT_WITH_PASTE),
        (PASTE, "one"),
        ("paste-cache/fedcba9876543210.txt", "two"),
    ];
    for sandbox in synced_in_steps(&[home, &[(PASTE, "one and more")]]) {
        assert_eq!(sandbox.query(PASTED_TEXT), ["one and more"]);
    }
}

#[test]
fn a_paste_that_is_rewritten_is_found_in_its_newest_version() {
    let home: Files<'_> = &[
        ("history.jsonl", PROMPT_WITH_PASTE),
        (PASTE, "first version"),
    ];
    for sandbox in synced_in_steps(&[home, &[(PASTE, "second")]]) {
        assert_eq!(sandbox.query(PASTED_TEXT), ["second"]);
    }
}

#[test]
fn a_copy_of_a_file_that_is_rewritten_is_found_in_its_newest_version() {
    let session = session_id(1);
    let snapshot = format!(
        r#"{{"type":"file-history-snapshot","messageId":"u1","sessionId":"{session}","snapshot":{{"trackedFileBackups":{{"a.txt":{{"backupFileName":"x@v1","version":1}}}}}}}}"#
    );
    let backup = format!("file-history/{session}/x@v1");
    let home: Files<'_> = &[(FILES[0], &snapshot), (&backup, "first version")];
    let version = "select generation from file_backups join files using (file_id)";
    for sandbox in synced_in_steps(&[home, &[(&backup, "second")]]) {
        assert_eq!(sandbox.query(version), ["2"]);
    }
}

#[test]
fn a_response_of_a_database_without_messages_counts_on_the_day_that_a_later_line_names() {
    let journal = format!("{}/subagents/workflows/wf_1/journal.jsonl", folder(1));
    let agent = format!("{}/subagents/agent-a0000002.jsonl", folder(1));
    let line = r#"{"message":{"id":"msg_1","usage":{}}}"#;
    let dated = r#"{"message":{"id":"msg_1","usage":{}},"timestamp":"2026-01-02T10:00:00.000Z"}"#;
    for sandbox in synced_in_steps(&[&[(&journal, line)], &[(&agent, dated)]]) {
        let days = "select activity_date, response_count from bi_days";
        assert_eq!(sandbox.query(days), ["2026-01-02|1"]);
    }
}

#[test]
fn an_agent_of_a_database_without_messages_finds_the_call_that_arrives_later() {
    let meta = format!("{}/subagents/agent-a0000002.meta.json", folder(1));
    let call =
        r#"{"parentUuid":null,"uuid":"u1","message":{"content":[{"type":"tool_use","id":"t1"}]}}"#;
    for sandbox in synced_in_steps(&[&[(&meta, r#"{"toolUseId":"t1"}"#)], &[(FILES[1], call)]]) {
        let agents = "select spawned_by_tool_use_id, link_method from agents";
        assert_eq!(sandbox.query(agents), ["t1|meta"]);
    }
}

/// The folder of a session.
fn folder(number: u8) -> String {
    format!("projects/-w/{}", session_id(number))
}

/// Imports a home in one sync, with the files of each age order, file by file and line by line: the content and what views
/// return must be the same.
fn content_depends_on_lines_only(files: &[(&str, &[Value])]) -> Sandbox {
    let whole: Vec<(&str, String)> = files
        .iter()
        .map(|(path, lines)| {
            (
                *path,
                lines.iter().map(|line| format!("{line}\n")).collect(),
            )
        })
        .collect();
    let clean = Sandbox::new();
    for (path, content) in &whole {
        set_age(&clean.write(path, content), 0, 0);
    }
    clean.sync_with(&["--threads", "1"]);
    clean.check();
    let is_same = |sandbox: &Sandbox, how: &str| {
        sandbox.check();
        assert_eq!(sandbox.hash(), clean.hash(), "{how}");
        for (view, _) in cc_etl::database::VIEWS {
            let rows = |sandbox: &Sandbox| without_keys(sandbox, view);
            assert_eq!(rows(sandbox), rows(&clean), "{view}, {how}");
        }
    };
    let mut orders: Vec<Vec<usize>> =
        vec![(0..whole.len()).collect(), (0..whole.len()).rev().collect()];
    if whole.len() > 2 {
        orders[0].rotate_left(1);
    }
    for order in orders {
        let at_once = Sandbox::new();
        for (age, index) in (0..).zip(&order) {
            let (path, content) = &whole[*index];
            set_age(&at_once.write(path, content), age, 0);
        }
        at_once.sync();
        is_same(&at_once, &format!("at once, oldest first: {order:?}"));
        let one_by_one = Sandbox::new();
        for index in &order {
            let (path, content) = &whole[*index];
            one_by_one.write(path, content);
            one_by_one.sync();
            one_by_one.check();
        }
        is_same(&one_by_one, &format!("file by file: {order:?}"));
    }
    let line_by_line = Sandbox::new();
    let most = files.iter().map(|(_, lines)| lines.len()).max().unwrap();
    for step in 1..=most {
        for (path, lines) in files {
            let lines = &lines[..step.min(lines.len())];
            let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
            set_age(&line_by_line.write(path, content), 0, step as u16);
            line_by_line.sync();
            line_by_line.check();
        }
    }
    is_same(&line_by_line, "line by line");
    line_by_line.ok(&["rebuild"]);
    is_same(&line_by_line, "rebuilt");
    clean
}

/// The rows of a view, sorted and without the columns that are keys of one database.
fn without_keys(sandbox: &Sandbox, view: &str) -> Vec<String> {
    let columns = sandbox.query(&format!(
        "select name from pragma_table_info('{view}')
        where name not glob '*_key' and name not in ('place', 'file_id')
            and not (name glob '*_id' and name not in ('session_id', 'tool_use_id', 'agent_id', 'api_message_id'))"
    ));
    sandbox.query(&format!(
        "select {} from {view} order by {}",
        columns.join(", "),
        (1..=columns.len())
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
            .join(", ")
    ))
}

#[test]
fn an_agent_of_a_sidechain_whose_parent_is_in_another_session_is_its_own() {
    let sidechain = |uuid, parent, session| {
        let body = json!({"type": "user", "isSidechain": true, "sessionId": session, "message": {"role": "user", "content": uuid}});
        record(uuid, parent, body)
    };
    let used = |uuid: &str, parent: &str, session: &str| {
        let given = json!({"parentUuid": parent, "isSidechain": true, "sessionId": session});
        response(uuid, &format!("m{uuid}"), 5, given)
    };
    let sandbox = content_depends_on_lines_only(&[
        (
            &file(S1),
            &[sidechain("u1", Some("u3"), S1), used("u2", "u1", S1)],
        ),
        (
            &file(S2),
            &[sidechain("u3", None, S2), used("u4", "u2", S2)],
        ),
    ]);
    let agents = "select session_id, agent_id from agents order by 2";
    let expected = [("u1", S1), ("u3", S2), ("u4", S2)]
        .map(|(uuid, session)| format!("{session}|inline-{uuid}"));
    assert_eq!(sandbox.query(agents), expected);
}

#[test]
fn a_call_that_turns_out_to_belong_to_another_session_leaves_its_own() {
    let of = |mut line: Value, session: &str, day: &str| {
        merge(
            &mut line,
            json!({"sessionId": session, "timestamp": format!("2026-01-{day}T10:00:00.000Z")}),
        );
        line
    };
    let sandbox = content_depends_on_lines_only(&[
        (
            &file(S2),
            &[
                of(
                    call("u5", "t1", "Edit", json!({"file_path": "/w/a"})),
                    S2,
                    "12",
                ),
                of(answer("u6", "t1", json!("ok"), json!({})), S2, "12"),
            ],
        ),
        (
            &file(S1),
            &[of(
                call("u1", "t1", "Edit", json!({"file_path": "/w/a"})),
                S1,
                "11",
            )],
        ),
    ]);
    assert_eq!(sandbox.query("select session_id from bi_tools"), [S1]);
}

#[test]
fn a_prompt_is_about_the_same_one_of_two_responses_at_one_moment() {
    let model = |name: &str| {
        json!({"message": {"model": name, "id": name, "role": "assistant", "content": [{"type": "text", "text": "a"}],
        "usage": {"input_tokens": 1, "output_tokens": 1}}})
    };
    let late = json!({"timestamp": "2026-01-10T11:00:00.000Z"});
    content_depends_on_lines_only(&[
        (&file(S1), &[response("u1", "model-1", 1, model("model-1"))]),
        (NOTES, &[response("u2", "model-2", 1, model("model-2"))]),
        (
            "projects/-w/more.jsonl",
            &[user("u3", "no, the other one", late)],
        ),
    ]);
}

#[test]
fn lines_without_a_session_count_for_none_however_they_come() {
    let none = || json!({"sessionId": null});
    let echo = |uuid: &str, given: Value| {
        let mut line = record(
            uuid,
            None,
            json!({"type": "progress", "toolUseID": "t1", "data": {
            "type": "agent_progress", "agentId": "a0000001", "message": {"uuid": format!("e{uuid}"), "message": {
                "id": "m1", "model": "model-1", "usage": {"input_tokens": 1, "output_tokens": 9}}}}}),
        );
        merge(&mut line, given);
        line
    };
    content_depends_on_lines_only(&[
        (
            NOTES,
            &[
                response("u1", "m1", 7, none()),
                echo("u2", none()),
                echo("u3", json!({"sessionId": ""})),
            ],
        ),
        (
            &file(S1),
            &[
                response("u4", "m1", 8, json!({})),
                echo("u5", json!({})),
                call("u6", "t1", "Task", json!({})),
            ],
        ),
        (
            "projects/-w/more.jsonl",
            &[
                response("u7", "m2", 7, none()),
                response("u8", "m2", 8, json!({"sessionId": ""})),
            ],
        ),
    ]);
}

#[test]
fn what_a_view_puts_together_does_not_depend_on_the_order_of_arrival() {
    let calls = |uuid: &str, names: [&str; 2]| {
        let blocks = names.map(|name| json!({"type": "tool_use", "id": format!("{uuid}{name}"), "name": name, "input": {}}));
        record(
            uuid,
            None,
            json!({"type": "assistant", "message": {"role": "assistant", "content": blocks}}),
        )
    };
    let results = |uuid: &str, call: &str| {
        let blocks = ["A", "B"].map(|name| json!({"type": "tool_result", "tool_use_id": format!("{call}{name}"), "content": name}));
        record(
            uuid,
            None,
            json!({"type": "user", "message": {"role": "user", "content": blocks}}),
        )
    };
    let link = |number: i64| {
        json!({"type": "pr-link", "sessionId": S1, "prUrl": "https://example.com/1", "prNumber": number,
        "prRepository": format!("r{number}")})
    };
    let model =
        |id: &str| json!({"message": {"id": id, "model": id, "usage": {"output_tokens": 1}}});
    let sandbox = content_depends_on_lines_only(&[
        (
            &file(S1),
            &[
                calls("u1", ["B", "A"]),
                results("u2", "u1"),
                link(1),
                response("u3", "m2", 1, model("m2")),
            ],
        ),
        (
            NOTES,
            &[
                response("u4", "m1", 1, model("m1")),
                link(2),
                calls("u0", ["A", "B"]),
            ],
        ),
    ]);
    let models = "select models from session_overview";
    assert_eq!(sandbox.query(models), ["m1,m2"]);
    let costs =
        "select pr_repository, pr_number, session_count, response_count from pull_request_costs";
    assert_eq!(sandbox.query(costs), ["r2|2|1|2"]);
}

#[test]
fn of_two_homes_with_the_same_file_always_the_same_is_the_example() {
    let hashes = [["a", "b"], ["b", "a"]].map(|order| {
        let sandbox = Sandbox::new();
        let together = order.map(|home| {
            let path = sandbox.path(home).join(NOTES);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, r#"{"type":"from-the-future"}"#).unwrap();
            sandbox.path(home).display().to_string()
        });
        sandbox.ok(&["sync", "--source", &together[0], "--source", &together[1]]);
        let hash = sandbox.hash();
        fs::remove_file(sandbox.database()).unwrap();
        for home in &together {
            sandbox.ok(&["sync", "--source", home]);
            sandbox.check();
        }
        assert_eq!(sandbox.hash(), hash);
        hash
    });
    assert_eq!(hashes[0], hashes[1]);
}

#[test]
fn a_response_without_a_session_is_of_the_machine_whose_line_is_its_message() {
    let of = |session: Option<&str>, time: Option<&str>| json!({"sessionId": session, "timestamp": time});
    let homes = [
        (
            "one",
            NOTES,
            vec![
                response("u1", "msg_1", 1, of(None, Some("2026-01-03T10:00:00.000Z"))),
                user("u2", "a", of(Some(S1), None)),
            ],
        ),
        (
            "two",
            "projects/-w/agent-a0000001.jsonl",
            vec![user(
                "u1",
                "a",
                of(Some(S1), Some("2026-01-02T10:00:00.000Z")),
            )],
        ),
    ];
    let machines = |order: &[usize]| {
        let sandbox = Sandbox::new();
        for number in order {
            let (machine, file, lines) = &homes[*number];
            let path = sandbox.path(machine).join(file);
            let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
            let home = sandbox.path(machine).display().to_string();
            sandbox.ok(&["sync", "--machine", machine, "--source", &home]);
            sandbox.check();
        }
        sandbox.query("select machine, response_count from bi_days")
    };
    assert_eq!(machines(&[0]), ["one|1"]);
    assert_eq!(machines(&[0, 1]), ["two|1"]);
    assert_eq!(machines(&[1, 0]), ["two|1"]);
}

#[test]
fn a_call_of_another_session_that_arrives_later_is_that_of_its_result_and_of_its_agent() {
    let interrupted = answer(
        "u1",
        "t1",
        json!("stopped"),
        json!({"sessionId": S1, "toolDenialKind": "interrupted"}),
    );
    let progress = record(
        "u2",
        None,
        json!({"sessionId": S1, "type": "progress", "parentToolUseID": "t2", "data": {
            "type": "agent_progress", "agentId": "a0000001", "message": {"uuid": "e1", "message": {
                "id": "m1", "model": "model-1", "usage": {"output_tokens": 1}}}}}),
    );
    let mut calls = [
        call("u3", "t1", "Bash", json!({})),
        call("u4", "t2", "Task", json!({})),
    ];
    for line in &mut calls {
        merge(line, json!({"sessionId": S2}));
    }
    let sandbox = content_depends_on_lines_only(&[
        (&file(S1), &[interrupted, progress]),
        (&file(S2), &calls),
    ]);
    assert_eq!(
        sandbox.query("select tool_use_id from bi_feedback where kind = 'interruption'"),
        ["t1"]
    );
    assert_eq!(
        sandbox.query("select spawned_by_tool_use_id from agents"),
        ["t2"]
    );
}

#[test]
fn the_searches_of_a_call_count_where_the_call_is_when_all_lines_are_there() {
    let response = |uuid: &str, id: &str, sent_at: &str| {
        let content = json!([{"type": "tool_use", "id": "t1", "name": "WebSearch", "input": {}}]);
        let message = json!({"id": id, "model": "model-1", "content": content, "usage": {"output_tokens": 1}});
        let given = json!({"type": "assistant", "timestamp": sent_at, "message": message});
        record(uuid, None, given)
    };
    let found = answer(
        "u3",
        "t1",
        json!("found"),
        json!({"toolUseResult": {"searchCount": 3}}),
    );
    let sandbox = content_depends_on_lines_only(&[
        (
            &file(S1),
            &[response("u1", "msg_1", "2026-11-03T10:00:00.000Z")],
        ),
        (
            &file(S2),
            &[response("u2", "msg_2", "2026-11-03T11:00:00.000Z"), found],
        ),
    ]);
    assert_eq!(
        sandbox.query("select api_message_id from api_responses where web_search_count > 0"),
        ["msg_1"]
    );
}

#[test]
fn a_session_forgets_what_an_index_said_before_it_grew_or_was_rewritten() {
    let index = json!({"entries": [{"sessionId": S1, "summary": "Tea"}]}).to_string();
    for newer in [format!("{index}\n{{"), "{}".to_string()] {
        let sandbox = session(&[user("u1", "hello", json!({}))]);
        sandbox.write("projects/-w/sessions-index.json", &index);
        sandbox.sync();
        assert_eq!(sandbox.query("select title from sessions"), ["Tea"]);
        sandbox.write("projects/-w/sessions-index.json", newer);
        sandbox.sync();
        assert_eq!(sandbox.query("select title from sessions"), ["hello"]);
        sandbox.ok(&["check", "--deep"]);
    }
}

#[test]
fn a_session_that_only_an_earlier_index_named_has_no_row() {
    let index = json!({"entries": [{"sessionId": S1}, {"sessionId": S2}]}).to_string();
    let sandbox = Sandbox::new();
    sandbox.write(
        &file(S2),
        user("u1", "hello", json!({"sessionId": S2})).to_string(),
    );
    sandbox.write("projects/-w/sessions-index.json", &index);
    sandbox.sync();
    assert_eq!(sandbox.count("select count(*) from sessions"), 2);
    sandbox.write("projects/-w/sessions-index.json", format!("{index}\n{{"));
    sandbox.sync();
    assert_eq!(sandbox.query("select session_id from sessions"), [S2]);
    sandbox.ok(&["check", "--deep"]);
}

#[test]
fn a_session_that_only_an_earlier_index_named_has_no_row_when_all_tables_are_filled_again() {
    let index = json!({"entries": [{"sessionId": S2}]}).to_string();
    let sandbox = Sandbox::new();
    let sessions_of = |content: &str| {
        sandbox.write("projects/-w/sessions-index.json", content);
        let home = sandbox.home();
        let mut sync = sandbox.command(&["sync", "--source", home.to_str().unwrap()]);
        let synced = sync.env("CC_ETL_REFILL", "1").output().unwrap();
        assert!(synced.status.success());
        sandbox.query("select session_id from sessions")
    };
    assert_eq!(sessions_of(&index), [S2]);
    assert!(sessions_of(&format!("{index}\n{{")).is_empty());
}

#[test]
fn the_title_of_a_session_that_only_an_earlier_index_named_is_not_found() {
    let index = json!({"entries": [{"sessionId": S2, "summary": "cobalt"}]}).to_string();
    let sandbox = Sandbox::new();
    let found = |path: &str, content: &str| {
        sandbox.write(path, content);
        sandbox.sync();
        sandbox.ok(&["check", "--deep"]);
        sandbox.count("select count(*) from search where search match 'cobalt'")
    };
    let path = "projects/-w/sessions-index.json";
    assert_eq!(found(path, &index), 1);
    assert_eq!(found(path, &format!("{index}\n{{")), 0);
}

/// Usage of a response that asked an advisor.
fn advised(tokens: i64) -> Value {
    json!({"output_tokens": tokens, "iterations": [{"type": "advisor_message", "model": "advisor", "output_tokens": 5}]})
}

#[test]
fn an_advisor_stays_one_when_its_response_leaves_an_agent() {
    let sidechain = |given: Value| {
        let mut line = record(
            "u1",
            None,
            json!({"isSidechain": true, "type": "assistant"}),
        );
        merge(&mut line, given);
        line
    };
    let usage = json!({"message": {"id": "m1", "model": "model-1", "usage": advised(9)}});
    let sandbox = content_depends_on_lines_only(&[
        (NOTES, &[sidechain(usage)]),
        // The line that is the message has another parent: the agent of the sidechain is gone.
        (
            "projects/-w/agent-a0000001.jsonl",
            &[sidechain(
                json!({"parentUuid": "u1", "timestamp": "2026-01-09T10:00:00.000Z"}),
            )],
        ),
    ]);
    assert_eq!(
        sandbox.query("select kind, model, output_tokens from api_responses order by kind"),
        ["advisor|advisor|5", "message|model-1|9"]
    );
}

#[test]
fn a_response_may_have_the_name_of_an_advisor() {
    let mut adviser = response("u1", "m1", 9, json!({}));
    adviser["message"]["usage"] = advised(9);
    let sandbox = content_depends_on_lines_only(&[
        (&file(S1), &[adviser]),
        (NOTES, &[response("u2", "m1#0", 7, json!({}))]),
    ]);
    let responses = "select api_message_id, kind, output_tokens from api_responses order by 1, 2";
    assert_eq!(
        sandbox.query(responses),
        ["m1|message|9", "m1#0|advisor|5", "m1#0|message|7"]
    );
}

#[test]
fn how_far_a_response_can_be_trusted_depends_on_the_version_of_its_message() {
    let of = |version: &str, day: &str| json!({"version": version, "timestamp": format!("2026-01-{day}T10:00:00.000Z")});
    let sandbox = content_depends_on_lines_only(&[
        (&file(S1), &[response("u1", "m1", 900, of("2.1.9", "11"))]),
        (NOTES, &[user("u1", "before", of("2.1.200", "10"))]),
    ]);
    let quality = "select usage_quality from api_responses";
    assert_eq!(sandbox.query(quality), ["final"]);
}

#[test]
fn a_project_that_lost_its_session_has_no_repository() {
    let line = |rest: &str| {
        format!(
            "{{\"sessionId\":\"5e550002-0000-4000-8000-000000000002\",\"parentUuid\":null,{rest}}}\n"
        )
    };
    let first =
        line(r#""uuid":"u1","cwd":"/w/.claude/worktrees/x","timestamp":"2026-01-02T00:00:00Z""#);
    let second = line(r#""uuid":"u2""#);
    let import = |refill: Option<&str>| {
        let sandbox = Sandbox::new();
        sandbox.write("projects/-w/a b.jsonl", &first);
        if refill.is_some() {
            sandbox.sync();
            let repository = "select repository_path from projects";
            assert_eq!(sandbox.query(repository), ["/w"]);
        }
        // The session belongs to the folder of its file.
        sandbox.write(
            "projects/-other/5e550002-0000-4000-8000-000000000002.jsonl",
            &second,
        );
        let home = sandbox.home();
        let mut command = sandbox.command(&["sync", "--source", home.to_str().unwrap()]);
        let output = command
            .env("CC_ETL_REFILL", refill.unwrap_or("0"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", sandbox::text(&output.stderr));
        sandbox.query("select directory_name || ' ' || coalesce(repository_path, '?') from projects order by 1")
    };
    let at_once = import(None);
    assert_eq!(at_once, ["-other ?", "-w ?"]);
    assert_eq!(import(Some("0")), at_once);
    assert_eq!(import(Some("1")), at_once);
}

#[test]
fn a_sync_that_fills_all_tables_again_gives_and_counts_the_same() {
    let message = |uuid: &str, text: &str| {
        let session = session_id(1);
        format!(
            r#"{{"parentUuid":null,"uuid":"{uuid}","sessionId":"{session}","type":"user","message":{{"role":"user","content":"{text}"}}}}"#
        ) + "\n"
    };
    let old = message("u1", "one") + &message("u2", "two") + &message("u2", "two") + "{\"uuid\":";
    let new = message("u3", "three") + &message("u1", "one") + &message("u3", "three");
    let sync = |refill: &str, prepare: &str| {
        let sandbox = Sandbox::new();
        sandbox.write(FILES[0], &old);
        sandbox.sync();
        let connection = Connection::open(sandbox.database()).unwrap();
        connection.execute_batch(prepare).unwrap();
        let version = "select schema_version from pragma_schema_version";
        let before = sandbox.count(version);
        sandbox.write(FILES[0], old.clone() + "\"u4\",\"parentUuid\":null}\n");
        sandbox.write(FILES[1], &new);
        let home = sandbox.home();
        let mut command = sandbox.command(&["sync", "--json", "--source", home.to_str().unwrap()]);
        let output = command.env("CC_ETL_REFILL", refill).output().unwrap();
        assert!(output.status.success(), "{}", sandbox::text(&output.stderr));
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for different in ["seconds", "database", "homes"] {
            report.as_object_mut().unwrap().remove(different);
        }
        sandbox.check();
        let is_refilled = sandbox.count(version) != before;
        (is_refilled, report, sandbox)
    };
    let (is_refilled, report, added) = sync("0", "");
    assert!(!is_refilled);
    assert_eq!(report["messages"], 2);
    assert_eq!(report["copies"], 2);
    let of_the_user =
        "create table notes (session_id text references sessions (session_id), note text);
        insert into notes select session_id, 'mine' from sessions;
        create index messages_of_the_user on messages (cwd);";
    for prepare in ["", of_the_user] {
        let (is_refilled, refilled_report, refilled) = sync("1", prepare);
        assert!(is_refilled);
        assert_eq!(refilled_report, report);
        assert_eq!(refilled.hash(), added.hash());
        if !prepare.is_empty() {
            assert_eq!(refilled.count("select count(*) from notes"), 1);
            let index = "select count(*) from sqlite_schema where name = 'messages_of_the_user'";
            assert_eq!(refilled.count(index), 1);
        }
    }
    // A trigger that would miss rows, and a column that would be lost.
    for prepare in [
        "create table log (uuid text);
        create trigger messages_log after insert on messages
        begin insert into log values (new.uuid); end;",
        "alter table sessions add column rating integer",
    ] {
        let (is_refilled, _, sandbox) = sync("1", prepare);
        assert!(!is_refilled, "{prepare}");
        assert_eq!(sandbox.count("select count(*) from messages"), 4);
    }
}

#[test]
fn a_sync_that_cannot_fill_the_tables_again_adds_to_them_and_says_so() {
    let sandbox = Sandbox::new();
    let line = |uuid: &str| format!("{{\"parentUuid\":null,\"uuid\":\"{uuid}\"}}\n");
    sandbox.write(FILES[0], line("u1"));
    sandbox.sync();
    let connection = Connection::open(sandbox.database()).unwrap();
    let damage = "update archive_chunks set content = x'00'";
    connection.execute_batch(damage).unwrap();
    sandbox.write(FILES[1], line("u2"));
    let home = sandbox.home();
    let mut command = sandbox.command(&["sync", "--source", home.to_str().unwrap()]);
    let output = command.env("CC_ETL_REFILL", "1").output().unwrap();
    let told = sandbox::text(&output.stderr);
    assert!(
        output.status.success() && told.contains("which is slower"),
        "{told}"
    );
    assert_eq!(sandbox.count("select count(*) from messages"), 2);
}
