//! The commands that read: query, search, show.

mod sandbox;

use sandbox::records::*;
use sandbox::{Sandbox, text};
use serde_json::{Value, json};
use std::fs;

fn demo() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    sandbox
}

#[test]
fn questions_are_listed_by_group_with_titles_and_defaults() {
    let sandbox = demo();
    let list = sandbox.ok(&["query"]);
    for text in [
        "expensive_sessions",
        "Most expensive sessions",
        "since until limit=20",
    ] {
        assert!(list.contains(text), "{list}");
    }
    let group = sandbox.ok(&["query", "cache"]);
    assert!(
        group.contains("cache_misses") && !group.contains("daily"),
        "{group}"
    );
    let json: serde_json::Value = serde_json::from_str(&sandbox.ok(&["query", "--json"])).unwrap();
    assert_eq!(
        json.as_array().unwrap().len(),
        cc_etl::question::builtin().len()
    );
}

#[test]
fn questions_that_are_commands_have_totals_and_filters() {
    let sandbox = demo();
    // What `show` needs is there, however narrow.
    let sessions = sandbox.ok(&["sessions", "--width", "80"]);
    assert!(sessions.contains(" 5e550043\n"), "{sessions}");
    for (name, question) in [
        ("daily", "daily"),
        ("weekly", "weekly"),
        ("monthly", "monthly"),
        ("sessions", "recent_sessions"),
        ("projects", "expensive_projects"),
        ("models", "models"),
    ] {
        let table = sandbox.ok(&[name, "--width", "80"]);
        assert!(table.contains("\ntotal "), "{table}");
        assert_eq!(
            table,
            sandbox.ok(&["query", question, "--width", "80"]),
            "one definition"
        );
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(&sandbox.ok(&[name, "--json"])).unwrap();
        assert!(
            rows.len() > 1 && rows[0].get("cache_read_tokens").is_some(),
            "{rows:?}"
        );
        let some = sandbox.ok(&[name, "--json", "--since", "2026-10", "--project", "star"]);
        let some: Vec<serde_json::Value> = serde_json::from_str(&some).unwrap();
        assert!(
            !some.is_empty() && some.len() < rows.len() || name == "weekly",
            "{name}"
        );
    }
    // The totals are those of the views.
    let total = |name: &str| {
        let table = sandbox.ok(&[name, "--wide"]);
        let line = table
            .lines()
            .find(|line| line.starts_with("total "))
            .unwrap();
        line.split_whitespace()
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    let sums = "select printf('%,d|%.2f', sum(output_tokens), sum(cost_usd)) from response_costs";
    let sums = sandbox.query(sums);
    let (tokens, cost) = sums[0].split_once('|').unwrap();
    for name in ["daily", "weekly", "monthly", "projects", "models"] {
        let total = total(name);
        for sum in [tokens, cost] {
            assert!(
                total.iter().any(|cell| cell == sum),
                "{name}: {sum} in {total:?}"
            );
        }
    }
}

#[test]
fn the_limit_is_one_option_and_what_it_leaves_out_is_said() {
    let sandbox = demo();
    let default = sandbox.ok(&["sessions"]);
    assert!(
        default.contains("the first 20 rows; --limit N shows more"),
        "{default}"
    );
    for command in [
        &["sessions", "--limit", "2", "--format", "jsonl"][..],
        &[
            "query",
            "recent_sessions",
            "--limit",
            "2",
            "--format",
            "jsonl",
        ],
        &["query", "recent_sessions", "limit=2", "--format", "jsonl"],
        &[
            "query",
            "recent_sessions",
            "--param",
            "limit=2",
            "--format",
            "jsonl",
        ],
        &["query", "tool_report", "--limit", "2", "--format", "jsonl"],
        &[
            "query",
            "--sql",
            "select uuid from messages",
            "--limit",
            "2",
            "--format",
            "jsonl",
        ],
    ] {
        assert_eq!(sandbox.ok(command).lines().count(), 2, "{command:?}");
    }
}

#[test]
fn sql_comes_from_standard_input_files_and_a_folder_of_own_questions() {
    use std::io::Write;
    let sandbox = demo();
    let mut command = sandbox.command(&["query", "--sql", "-", "--format", "csv"]);
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"select 1 as one")
        .unwrap();
    assert_eq!(text(&child.wait_with_output().unwrap().stdout), "one\n1\n");

    let sql = sandbox.ok(&["query", "expensive_days", "--show-sql"]);
    let file = sandbox.path("mine.sql");
    fs::write(&file, sql.replace("Most expensive days", "My dear days")).unwrap();
    let named = sandbox.ok(&["query", file.to_str().unwrap(), "limit=3"]);
    assert!(named.starts_with("My dear days\n"), "{named}");
    let folder = sandbox.path("data/cc-etl/queries");
    fs::create_dir_all(&folder).unwrap();
    fs::rename(file, folder.join("mine.sql")).unwrap();
    assert_eq!(sandbox.ok(&["query", "mine", "limit=3"]), named);
    assert!(sandbox.ok(&["query", "own"]).contains("My dear days"));
}

#[test]
fn nothing_that_runs_other_code_is_recommended() {
    let sandbox = Sandbox::new();
    let call = |number: usize, tool: &str, input: &str| {
        format!(
            r#"{{"parentUuid":null,"uuid":"u{number}","type":"assistant","sessionId":"s","message":{{"id":"msg_{number}","role":"assistant","content":[{{"type":"tool_use","id":"toolu_{number}","name":"{tool}","input":{input}}}]}}}}
"#
        )
    };
    let commands = [
        "python3 -c 'import os'",
        "bash -c ls",
        "/bin/sh x",
        "FOO=1 make",
        "npm test",
        "sudo ls",
        "cat x|sh",
        "$(ls) a",
        "git status",
        "find . -delete",
        "./run",
        "rm -rf x",
    ];
    let mut lines: String = (commands.iter().enumerate())
        .map(|(number, command)| call(number, "Bash", &format!(r#"{{"command":"{command}"}}"#)))
        .collect();
    lines += &call(100, "Bash", "{}");
    lines += &call(101, "Read", r#"{"file_path":"/a"}"#);
    sandbox.write("projects/-w/s.jsonl", lines);
    sandbox.sync();
    let csv = sandbox.ok(&["query", "never_denied", "--format", "csv"]);
    assert_eq!(
        csv,
        "tool_name,command_pattern,rule,call_count\nBash,git status,Bash(git status *),1\nBash,npm test,Bash(npm test *),1\nRead,,,1\n"
    );
}

#[test]
fn every_question_can_be_asked_in_every_form() {
    let sandbox = demo();
    for question in cc_etl::question::builtin() {
        let name = question.name.as_str();
        for format in ["table", "csv", "json", "jsonl", "markdown"] {
            let printed = sandbox.ok(&["query", name, "--format", format]);
            assert!(
                !printed.trim().is_empty() || format == "jsonl",
                "{name} as {format}"
            );
            if format == "json" {
                let _: serde_json::Value = serde_json::from_str(&printed).unwrap();
            }
        }
    }
}

/// How tables show timestamps, and money.
fn shown(name: &str, value: &serde_json::Value) -> Option<String> {
    match (value.as_str(), value.as_f64()) {
        (Some(time), _) if name.ends_with("_at") => Some(time[..16].replace('T', " ")),
        (Some(text), _) if name.ends_with("_date") => Some(text.to_string()),
        (_, Some(amount)) if name.ends_with("_usd") && (0.005..1000.0).contains(&amount) => {
            Some(format!("{amount:.2}"))
        }
        _ => None,
    }
}

#[test]
fn no_question_is_wider_than_the_terminal_or_cuts_a_date() {
    use unicode_width::UnicodeWidthStr;
    let mut sandboxes = vec![demo()];
    for home in sandbox::corpus() {
        let sandbox = Sandbox::new();
        sandbox.ok(&["sync", "--quiet", "--source", home.to_str().unwrap()]);
        sandboxes.push(sandbox);
    }
    for sandbox in sandboxes {
        for question in cc_etl::question::builtin() {
            let name = question.name.as_str();
            let rows = sandbox.ok(&["query", name, "--json"]);
            let rows: Vec<serde_json::Map<String, serde_json::Value>> =
                serde_json::from_str(&rows).unwrap();
            for width in ["80", "100", "120", "200"] {
                let table = sandbox.ok(&["query", name, "--width", width]);
                let limit: usize = width.parse().unwrap();
                for line in table.lines() {
                    let is_within = line.width() <= limit;
                    assert!(is_within, "{name} at {width}: {line}\n{table}");
                }
                let note = table.split("\nnot shown: ").nth(1).unwrap_or_default();
                let is_dropped = |column: &str| {
                    note.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .any(|word| word == column)
                };
                for (column, value) in rows.iter().take(1000).flatten() {
                    if let Some(text) = shown(column, value) {
                        assert!(
                            table.contains(&text) || is_dropped(column),
                            "{name} at {width}: {column} {text} is cut\n{table}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn columns_that_are_dropped_are_named_and_can_be_had() {
    let sandbox = demo();
    let narrow = sandbox.ok(&["query", "models", "--width", "80"]);
    let note = "not shown: response_count, input_tokens";
    assert!(
        narrow.contains(note) && narrow.contains("--wide"),
        "{narrow}"
    );
    for more in [["--wide", "--wide"], ["--width", "200"]] {
        let more = if more[0] == more[1] {
            &more[..1]
        } else {
            &more[..]
        };
        let wide = sandbox.ok(&[&["query", "models"], more].concat());
        assert!(
            wide.contains("cache_read_tokens") && !wide.contains("not shown"),
            "{wide}"
        );
    }
}

#[test]
fn colour_is_used_on_request_only() {
    let sandbox = demo();
    let plain = sandbox.ok(&["query", "expensive_days"]);
    assert!(!plain.contains('\x1b'), "{plain}");
    let colored = sandbox.ok(&["query", "expensive_days", "--color", "always"]);
    assert!(
        colored.contains("\x1b[1mMost expensive days\x1b[0m"),
        "{colored}"
    );
}

#[test]
fn words_are_found_by_a_question_too_and_only_those_that_are_given() {
    let sandbox = demo();
    let question = ["query", "find_words", "--format", "jsonl"];
    assert_eq!(sandbox.ok(&question), "");
    let table = sandbox.ok(&question[..2]);
    assert!(table.contains("no rows without words=..."), "{table}");
    let found = sandbox.ok(&[&question[..], &["words=existing helper"]].concat());
    assert!(found.contains("[existing] [helper]"), "{found}");
}

#[test]
fn search_and_show_print_json() {
    let sandbox = demo();
    for command in [
        &["search", "helper", "--json"][..],
        &["search", "xylophone", "--json"],
        &["show", "--last", "--json"],
        &["prices", "list", "--json"],
    ] {
        let printed = sandbox.ok(command);
        let _: serde_json::Value = serde_json::from_str(&printed).expect(&printed);
    }
    assert_eq!(
        sandbox.ok(&["search", "xylophone", "--format", "jsonl"]),
        ""
    );
}

#[test]
fn no_rows_are_no_lines() {
    let sandbox = demo();
    let none = ["query", "--sql", "select 1 where 0", "--format"];
    assert_eq!(sandbox.ok(&[&none[..], &["jsonl"]].concat()), "");
    assert_eq!(sandbox.ok(&[&none[..], &["json"]].concat()), "[]\n");
}

#[test]
fn parameters_are_bound_and_unknown_ones_refused() {
    let sandbox = demo();
    let all = sandbox.ok(&["query", "recent_sessions", "--format", "jsonl"]);
    let one = sandbox.ok(&[
        "query",
        "recent_sessions",
        "--format",
        "jsonl",
        "--param",
        "limit=1",
        "--param",
        "project=star-map",
    ]);
    assert!(all.lines().count() > 10);
    assert_eq!(one.lines().count(), 1);
    assert!(one.contains("star-map"), "{one}");
    let injected = sandbox.ok(&[
        "query",
        "recent_sessions",
        "--format",
        "jsonl",
        "--param",
        "project=' or 1=1 --",
    ]);
    assert_eq!(injected.trim(), "");
    assert_eq!(
        sandbox
            .run(&["query", "recent_sessions", "--param", "colour=red"])
            .status
            .code(),
        Some(2)
    );
    assert_eq!(
        sandbox
            .run(&["query", "recent_sessions", "--param", "limit"])
            .status
            .code(),
        Some(2)
    );
    let unknown = sandbox.run(&["query", "expensive_session"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        text(&unknown.stderr).contains("expensive_sessions"),
        "{}",
        text(&unknown.stderr)
    );
}

#[test]
fn every_code_block_of_a_text_is_shown() {
    let text = "First:\n```sh\nls -l \\n\n```\nA ```word``` in a line.\n  ````md\n```\ninner\n```\n  ````\nLast:\n```\nopen \"end\"";
    let mut line = response("a", "m", 5, serde_json::json!({}));
    line["message"]["content"][0]["text"] = text.into();
    let sandbox = session(&[line]);
    let found = sandbox.ok(&["query", "code_in_answers", "--format", "jsonl"]);
    let blocks: Vec<_> = found
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|row| {
            (
                row["block_number"].as_i64().unwrap(),
                row["language"].to_string(),
                row["code"].as_str().unwrap().to_string(),
            )
        })
        .collect();
    let expected = [
        (1, r#""sh""#, "ls -l \\n"),
        (2, r#""md""#, "```\ninner\n```"),
        (3, r#""""#, "open \"end\""),
    ];
    assert_eq!(
        blocks,
        expected.map(|(number, language, code)| (number, language.to_string(), code.to_string()))
    );
}

#[test]
fn a_table_says_when_rows_are_left_out() {
    let sandbox = demo();
    let output = sandbox.run(&[
        "query",
        "--sql",
        "select uuid from messages",
        "--limit",
        "3",
    ]);
    assert_eq!(text(&output.stdout).lines().count(), 5);
    assert!(
        text(&output.stderr).contains("first 3 rows"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(
        sandbox
            .ok(&[
                "query",
                "--sql",
                "select uuid from messages",
                "--format",
                "jsonl"
            ])
            .lines()
            .count(),
        725
    );
}

#[test]
fn words_are_found_where_they_were_said() {
    let sandbox = demo();
    let found = sandbox.ok(&["search", "existing", "helper", "--role", "you"]);
    assert!(found.contains("no, use the [existing] [helper]"), "{found}");
    assert!(
        sandbox
            .ok(&["search", "helper", "--project", "star-map"])
            .contains("no match")
    );
    assert!(
        sandbox
            .ok(&["search", "helper", "--until", "2020-01-01"])
            .contains("no match")
    );
    // An invalid FTS5 query is searched for literally.
    assert!(sandbox.ok(&["search", "money.ts"]).contains("[money.ts]"));
    let json = sandbox.ok(&["search", "helper", "--format", "json"]);
    assert!(
        serde_json::from_str::<serde_json::Value>(&json)
            .unwrap()
            .as_array()
            .unwrap()
            .len()
            > 1
    );
}

/// A home with a word in each place where something is said: the word, its kind and the tool of its call.
const PLANTED: &[(&str, &str, &str)] = &[
    ("promptword", "prompt", ""),
    ("responseword", "response", ""),
    ("thinkingword", "thinking", ""),
    ("commandword", "tool_input", "Bash"),
    ("pathword", "tool_input", "Read"),
    ("patternword", "tool_input", "Grep"),
    ("urlword", "tool_input", "WebFetch"),
    ("nestedword", "tool_input", "mcp__notes__add"),
    ("agentword", "tool_input", "Task"),
    ("questionword", "tool_input", "AskUserQuestion"),
    ("replyword", "reply", "AskUserQuestion"),
    ("secondword", "reply", "AskUserQuestion"),
    ("noteword", "reply", "AskUserQuestion"),
    ("freeword", "reply", "AskUserQuestion"),
    ("rejectionword", "rejection", "Bash"),
    ("queuedword", "queued_prompt", ""),
    ("historyword", "history", ""),
    ("pastedword", "history", ""),
    ("titleword", "title", ""),
    ("programword", "program", ""),
    ("subagentword", "agent_prompt", ""),
];

fn planted() -> Sandbox {
    let said = |uuid: &str, content: Value| {
        let message =
            json!({"id": format!("msg_{uuid}"), "role": "assistant", "content": [content]});
        record(uuid, None, json!({"type": "assistant", "message": message}))
    };
    let replied = json!({
        "questions": [], "answers": {"Which?": "replyword", "Also?": ["also", "secondword"]},
        "annotations": {"Which?": {"preview": "previewword", "notes": "noteword"}}, "response": "freeword",
    });
    let rejected = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nrejectionword";
    let mut error = answer("r2", "toolu_c", json!(rejected), json!({}));
    error["message"]["content"][0]["is_error"] = json!(true);
    let queue = |content: &str| {
        json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-01-10T10:05:00.000Z",
            "content": content, "sessionId": S1})
    };
    let lines = [
        user("u1", "promptword", json!({})),
        said("a1", json!({"type": "text", "text": "responseword"})),
        said(
            "a2",
            json!({"type": "thinking", "thinking": "thinkingword"}),
        ),
        call(
            "c1",
            "toolu_a",
            "Read",
            json!({"file_path": "/w/pathword/main.rs"}),
        ),
        call(
            "c2",
            "toolu_b",
            "Grep",
            json!({"pattern": "fn patternword", "path": "/w"}),
        ),
        call(
            "c3",
            "toolu_c",
            "Bash",
            json!({"command": "cat commandword"}),
        ),
        error,
        call(
            "c4",
            "toolu_d",
            "WebFetch",
            json!({"url": "https://urlword.example/"}),
        ),
        call(
            "c5",
            "toolu_e",
            "mcp__notes__add",
            json!({"notes": [{"content": "nestedword"}]}),
        ),
        call(
            "c6",
            "toolu_f",
            "Task",
            json!({"description": "d", "prompt": "agentword"}),
        ),
        call(
            "c7",
            "toolu_g",
            "AskUserQuestion",
            json!({"questions": [{"question": "questionword"}]}),
        ),
        answer(
            "r7",
            "toolu_g",
            json!("x"),
            json!({"toolUseResult": replied}),
        ),
        call(
            "c8",
            "toolu_h",
            "Write",
            json!({"file_path": "/w/a.rs", "content": "filecontentword"}),
        ),
        answer("r8", "toolu_h", json!("outputword"), json!({})),
        user(
            "u2",
            "<system-reminder>programword</system-reminder>",
            json!({"isMeta": true}),
        ),
        user(
            "u3",
            "subagentword",
            json!({"isSidechain": true, "agentId": "a1"}),
        ),
        queue("queuedword"),
        json!({"type": "custom-title", "customTitle": "titleword", "sessionId": S1}),
    ];
    let history = json!({"display": "historyword [Pasted text #1]", "project": "/w", "sessionId": S2,
        "timestamp": 1768000000000i64,
        "pastedContents": {"1": {"id": 1, "type": "text", "content": "pastedword"}}});
    imported(&[
        (&format!("projects/-w/{S1}.jsonl"), &lines),
        ("history.jsonl", &[history]),
    ])
}

/// The kind and the tool of all hits.
fn hits(sandbox: &Sandbox, arguments: &[&str]) -> Vec<(String, String)> {
    let found = sandbox.ok(&[&["search", "--format", "json"], arguments].concat());
    let found: Vec<Value> = serde_json::from_str(&found).unwrap();
    let text = |hit: &Value, key: &str| hit[key].as_str().unwrap_or_default().to_string();
    found
        .iter()
        .map(|hit| (text(hit, "kind"), text(hit, "tool")))
        .collect()
}

#[test]
fn every_place_where_something_is_said_is_found_with_its_kind() {
    let sandbox = planted();
    for (word, kind, tool) in PLANTED {
        let expected = [(kind.to_string(), tool.to_string())];
        assert_eq!(hits(&sandbox, &[word]), expected, "{word}");
    }
    // The contents of files, tool results, and what was shown to choose from are not searched.
    for word in ["filecontentword", "outputword", "previewword"] {
        assert!(hits(&sandbox, &[word]).is_empty(), "{word}");
    }
    sandbox.ok(&["check", "--deep"]);
}

#[test]
fn what_a_message_says_is_not_found_a_second_time() {
    let queue = json!({"type": "queue-operation", "operation": "enqueue", "timestamp": "2026-01-10T10:00:00.000Z",
        "content": " queuedword ", "sessionId": S1});
    let history = json!({"display": "typedword", "project": "/w", "sessionId": S1, "timestamp": 1768039200000i64});
    let path = format!("projects/-w/{S1}.jsonl");
    let sandbox = imported(&[
        (&path, std::slice::from_ref(&queue)),
        ("history.jsonl", &[history]),
    ]);
    let kinds = |word: &str| {
        hits(&sandbox, &[word])
            .into_iter()
            .map(|(kind, _)| kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (kinds("queuedword"), kinds("typedword")),
        (vec!["queued_prompt".into()], vec!["history".into()])
    );
    // Both are delivered.
    let lines = [
        queue,
        user("u1", "queuedword", json!({})),
        user("u2", "typedword", json!({})),
    ];
    sandbox.write(&path, lines.map(|line| format!("{line}\n")).concat());
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        (kinds("queuedword"), kinds("typedword")),
        (vec!["prompt".into()], vec!["prompt".into()])
    );
}

#[test]
fn a_session_is_found_by_its_present_title_only() {
    let titled = |title: &str| {
        let line = json!({"type": "custom-title", "customTitle": title, "sessionId": S1});
        format!("{}\n{line}\n", user("u1", "hello", json!({})))
    };
    let sandbox = Sandbox::new();
    let path = format!("projects/-w/{S1}.jsonl");
    sandbox.write(&path, titled("xylophone"));
    sandbox.sync();
    sandbox.write(&path, titled("xylophone") + &titled("zither"));
    sandbox.sync();
    sandbox.check();
    assert!(hits(&sandbox, &["xylophone"]).is_empty());
    assert_eq!(hits(&sandbox, &["zither"]).len(), 1);
    sandbox.ok(&["check", "--deep"]);
}

#[test]
fn hits_are_filtered_by_what_they_are() {
    let sandbox = planted();
    let all: Vec<&str> = PLANTED.iter().map(|(word, ..)| *word).collect();
    let all = all.join(" OR ");
    let found = |filter: &[&str]| {
        let arguments = [&[all.as_str(), "--limit", "99"], filter].concat();
        let mut kinds: Vec<String> = hits(&sandbox, &arguments)
            .into_iter()
            .map(|(kind, tool)| format!("{kind} {tool}").trim_end().to_string())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let you = [
        "history",
        "prompt",
        "queued_prompt",
        "rejection Bash",
        "reply AskUserQuestion",
    ];
    assert_eq!(found(&["--role", "you"]), you);
    assert_eq!(found(&["--role", "title"]), ["title"]);
    assert_eq!(
        found(&["--tool", "Bash"]),
        ["rejection Bash", "tool_input Bash"]
    );
    assert_eq!(found(&["--sidechain"]), ["agent_prompt"]);
    assert!(!found(&["--no-sidechain"]).contains(&"agent_prompt".to_string()));
    assert_eq!(found(&["--until", "2026-01-09"]), ["history"]);
    assert!(found(&["--since", "2026-01-11"]).is_empty());
    assert!(found(&["--project", "another"]).is_empty());
    assert!(found(&["--error"]).is_empty());
    let failed = |id: &str| {
        let mut line = answer("f2", id, json!("Exit code 1"), json!({}));
        line["message"]["content"][0]["is_error"] = json!(true);
        line
    };
    let sandbox = session(&[
        call(
            "f1",
            "toolu_x",
            "Bash",
            json!({"command": "make kettledrum"}),
        ),
        failed("toolu_x"),
        call("f3", "toolu_y", "Bash", json!({"command": "ls kettledrum"})),
    ]);
    assert_eq!(hits(&sandbox, &["kettledrum"]).len(), 2);
    assert_eq!(hits(&sandbox, &["kettledrum", "--error"]).len(), 1);
}

#[test]
fn a_hit_names_the_commands_that_open_and_resume_its_session() {
    let sandbox = planted();
    let show = format!("show --db {} {S1}", sandbox.database().display());
    let resume = format!("cd /w && claude --resume {S1}");
    let page = sandbox.ok(&["search", "promptword"]);
    assert!(
        page.contains(&format!("cc-etl {show}\n  {resume}\n")),
        "{page}"
    );
    let mut arguments: Vec<&str> = show.split(' ').collect();
    arguments.retain(|word| *word != "--db" && !word.ends_with(".db"));
    assert!(sandbox.ok(&arguments).contains("promptword"));
    // Claude Code can resume only what it still has.
    let page = sandbox.ok(&["search", "historyword"]);
    assert!(
        page.contains(S2) && !page.contains("claude --resume"),
        "{page}"
    );
    fs::remove_file(sandbox.home().join(format!("projects/-w/{S1}.jsonl"))).unwrap();
    sandbox.sync();
    let page = sandbox.ok(&["search", "promptword"]);
    assert!(
        page.contains(&show) && !page.contains("claude --resume"),
        "{page}"
    );
}

#[test]
fn the_output_of_tools_can_be_searched_on_request() {
    let sandbox = Sandbox::new();
    let line = r#"{"parentUuid":null,"uuid":"a","type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"a rare word: xylophone"}]}}"#;
    sandbox.write("projects/-w/a.jsonl", format!("{line}\n"));
    sandbox.sync();
    assert!(sandbox.ok(&["search", "xylophone"]).contains("no match"));
    sandbox.sync_with(&["--index-tool-output"]);
    sandbox.check();
    assert!(
        sandbox
            .ok(&["search", "xylophone", "--role", "result"])
            .contains("[xylophone]")
    );
    // Later syncs keep the setting.
    sandbox.write(
        "projects/-w/b.jsonl",
        format!(
            "{}\n",
            line.replace("\"a\"", "\"b\"")
                .replace("xylophone", "zither")
        ),
    );
    sandbox.sync();
    sandbox.check();
    assert!(sandbox.ok(&["search", "zither"]).contains("[zither]"));
    sandbox.ok(&["rebuild"]);
    sandbox.check();
    assert!(sandbox.ok(&["search", "zither"]).contains("[zither]"));
    // And from the first sync on.
    fs::remove_file(sandbox.database()).unwrap();
    sandbox.sync_with(&["--index-tool-output"]);
    sandbox.ok(&["check", "--deep"]);
    assert!(sandbox.ok(&["search", "zither"]).contains("[zither]"));
}

#[test]
fn the_index_is_filled_again_when_the_view_of_searchable_texts_changes() {
    let sandbox = Sandbox::new();
    let line = r#"{"parentUuid":null,"uuid":"a","type":"user","sessionId":"s","message":{"role":"user","content":"a rare word: xylophone"}}"#;
    sandbox.write("projects/-w/a.jsonl", format!("{line}\n"));
    sandbox.sync();
    // As a program with another definition left it.
    rusqlite::Connection::open(sandbox.database())
        .unwrap()
        .execute_batch(
            "drop view _search_texts;
            create view _search_texts as select block_id as text_id, 'zither' as text from content_blocks;
            insert into search (search) values ('delete-all');
            insert into search (rowid, text) select text_id, text from _search_texts;",
        )
        .unwrap();
    // Its last line makes the message another one, so the text that was indexed is taken out of the index.
    sandbox.write(
        "projects/-w/a.jsonl",
        format!("{line}\n{}\n", line.replace("xylophone", "dulcimer")),
    );
    sandbox.sync();
    sandbox.check();
    sandbox.ok(&["check", "--deep"]);
    assert!(sandbox.ok(&["search", "dulcimer"]).contains("[dulcimer]"));
    for word in ["zither", "xylophone"] {
        assert!(sandbox.ok(&["search", word]).contains("no match"));
    }
}

#[test]
fn a_report_is_one_page_with_charts() {
    let sandbox = demo();
    let page = sandbox.ok(&["report", "--out", "-"]);
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"));
    assert!(!page.contains("<script") && !page.contains("Nothing in this period."));
    // Every question that declares a chart has one: its columns exist.
    let declared = page.matches("\n-- Chart: ").count();
    assert_eq!(declared, page.matches("<div class=\"chart\">").count());
    assert!(declared >= 8, "{declared}");
    let report = |arguments: &[&str]| sandbox.run(&[&["report", "--out", "-"], arguments].concat());
    let empty = report(&["--since", "2020-01", "--until", "2020-02"]);
    assert!(text(&empty.stdout).contains("Nothing in this period."));
    assert_eq!(report(&["--since", "garbage"]).status.code(), Some(2));
}

#[test]
fn a_session_is_shown_with_its_agents_in_place() {
    let sandbox = demo();
    let page = sandbox.ok(&["show", "5e550013"]);
    assert!(page.starts_with("# Reviews for teas\n"), "{page}");
    let call = page.find("Agent: Propose review table").unwrap();
    let agent = page
        .find("agent database-designer a13de51600000001a")
        .unwrap();
    let later = page.find("To the agent").unwrap();
    assert!(call < agent && agent < later);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.ok(&["show", "5e550013", "--format", "json"])).unwrap();
    assert_eq!(json["title"], "Reviews for teas");
    assert!(json["messages"].as_array().unwrap().len() > 5);
    assert!(sandbox.ok(&["show", "--last"]).contains("The sale is live"));
    assert_eq!(sandbox.run(&["show"]).status.code(), Some(2));
    assert_eq!(sandbox.run(&["show", "5e55"]).status.code(), Some(2));
}

#[test]
fn a_session_is_found_by_words_of_its_title() {
    let sandbox = demo();
    let page = sandbox.ok(&["show", "reviews FOR"]);
    assert!(page.starts_with("# Reviews for teas\n"), "{page}");
    let fails = |words: &str| {
        let output = sandbox.run(&["show", words]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let several = fails("e");
    assert!(
        several.contains("matches several sessions") && several.contains("5e55"),
        "{several}"
    );
    let none = fails("no such title");
    assert!(none.contains("sessions"), "{none}");
}

#[test]
fn parts_of_a_session_can_be_left_out() {
    let sandbox = demo();
    let show = |flags: &[&str]| {
        let page = [&["show", "5e550013", "--format", "terminal"], flags].concat();
        sandbox.ok(&page)
    };
    let short = show(&[]);
    assert!(short.contains("● Write") && short.contains("+3 -0") && short.contains("◆ sub-agent"));
    assert!(short.contains("$0.53 · 371,777 tokens"), "{short}");
    let full = show(&["--tools", "full"]);
    assert!(full.len() > short.len() && full.contains("  + "), "{full}");
    let none = show(&["--no-tools"]);
    assert!(!none.contains('●') && !none.contains('◆') && none.contains("Three good rules."));
    let thinking = |flags: &[&str]| {
        let all = [&["show", "5e550005", "--format", "terminal"], flags].concat();
        sandbox.ok(&all).contains("thinking: ")
    };
    assert!(thinking(&[]) && !thinking(&["--no-thinking"]));
}

#[test]
fn a_session_is_one_page_of_html() {
    let sandbox = demo();
    let file = sandbox.path("session.html");
    sandbox.ok(&[
        "show",
        "5e550013",
        "--format",
        "html",
        "--out",
        file.to_str().unwrap(),
    ]);
    let page = std::fs::read_to_string(file).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    assert!(page.contains("default-src 'none'") && !page.contains("<script"));
    assert!(page.contains("<span class=\"added\">+ "));
    let anchors = page.matches("<article id=\"message-").count();
    assert!(anchors > 5, "{anchors}");
    assert!(page.contains("turn $0."), "{page}");
}

#[test]
fn a_wrong_statement_is_pointed_at_and_a_name_suggested() {
    let sandbox = demo();
    for (sql, expected) in [
        (
            "select model,\n  cost_us from daily_costs",
            "cc-etl: no such column: cost_us\n    cost_us from daily_costs\n    ^--- error here\ndid you mean cost_usd?\n",
        ),
        (
            "select model from daily_cost",
            "cc-etl: no such table: daily_cost\ndid you mean daily_costs?\n",
        ),
        (
            "select model fro daily_costs where",
            "cc-etl: near \"daily_costs\": syntax error\n  select model fro daily_costs where\n                   ^--- error here\n",
        ),
        ("", "cc-etl: there is no statement to run"),
        (" -- nothing", "cc-etl: there is no statement to run"),
    ] {
        let output = sandbox.run(&["query", "--sql", sql]);
        assert_eq!(output.status.code(), Some(2));
        let message = text(&output.stderr);
        assert!(message.starts_with(expected), "{sql}\n{message}");
    }
}

#[test]
fn sql_can_do_nothing_but_read() {
    let sandbox = demo();
    let file = sandbox.path("stolen.db");
    let file = file.to_str().unwrap();
    let before = std::fs::metadata(sandbox.database()).unwrap().len();
    let attempts = include_str!("escape_attempts.txt").replace("STOLEN", file);
    let refused: Vec<&str> = attempts.lines().collect();
    assert_eq!(refused.len(), 43);
    for sql in &refused {
        let output = sandbox.run(&["query", "--sql", sql]);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{sql}\n{}{}",
            text(&output.stdout),
            text(&output.stderr)
        );
    }
    // The same through the server for Claude Code.
    let calls = refused.iter().map(|sql| {
        let call = serde_json::json!({"name": "query", "arguments": {"sql": sql}});
        serde_json::json!({"jsonrpc": "2.0", "id": sql, "method": "tools/call", "params": call})
    });
    let answers = talk(
        &sandbox,
        &calls.map(|call| call.to_string()).collect::<Vec<_>>(),
    );
    assert_eq!(answers.len(), refused.len());
    for answer in answers {
        assert_eq!(answer["result"]["isError"], true, "{answer}");
    }
    assert!(!std::path::Path::new(file).exists());
    assert_eq!(std::fs::metadata(sandbox.database()).unwrap().len(), before);
    sandbox.check();
}

/// Sends lines to `cc-etl mcp`, and reads an answer to each before the input ends.
fn talk(sandbox: &Sandbox, lines: &[String]) -> Vec<serde_json::Value> {
    use std::io::{BufRead, BufReader, Write};
    let mut command = sandbox.command(&["mcp"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    for line in lines {
        writeln!(input, "{line}").unwrap();
    }
    let answers = BufReader::new(server.stdout.take().unwrap())
        .lines()
        .take(lines.len());
    let answers = answers
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    drop(input);
    assert!(server.wait().unwrap().success());
    answers
}

#[test]
fn clients_with_and_without_a_handshake_are_served() {
    let sandbox = demo();
    let request = |id: i64, method: &str, params: serde_json::Value| {
        serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
            .to_string()
    };
    let version = serde_json::json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let answer = |line: String| talk(&sandbox, &[line]).remove(0);
    let initialized = answer(request(
        1,
        "initialize",
        serde_json::json!({"protocolVersion": "2025-06-18"}),
    ));
    assert_eq!(initialized["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(initialized["result"]["serverInfo"]["name"], "cc-etl");
    let unknown = answer(request(
        1,
        "initialize",
        serde_json::json!({"protocolVersion": "2030-01-01"}),
    ));
    assert_eq!(unknown["result"]["protocolVersion"], "2025-11-25");
    let discovered = answer(request(
        2,
        "server/discover",
        serde_json::json!({"_meta": version}),
    ));
    assert_eq!(discovered["result"]["supportedVersions"][0], "2026-07-28");
    assert_eq!(discovered["result"]["resultType"], "complete");
    let tools = answer(request(
        3,
        "tools/list",
        serde_json::json!({"_meta": version}),
    ));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 6);
    let refused =
        serde_json::json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}});
    assert_eq!(
        answer(request(4, "tools/list", refused))["error"]["code"],
        -32022
    );
    assert_eq!(answer("{".to_string())["error"]["code"], -32700);
    assert_eq!(
        answer(request(5, "no/such", serde_json::json!({})))["error"]["code"],
        -32601
    );
    let call = serde_json::json!({"name": "ask", "arguments": {"question": "daily", "limit": 2}});
    let rows = answer(request(6, "tools/call", call));
    let rows = rows["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        rows.contains("\"cost_usd\":") && rows.contains("Only 2 rows"),
        "{rows}"
    );
}

#[test]
fn a_result_that_is_too_large_is_refused() {
    let sandbox = demo();
    for sql in [
        "with recursive a(n) as (select 1 union all select n + 1 from a) select randomblob(1000000) from a",
        "select length(zeroblob(1000000000))",
    ] {
        let output = sandbox.run(&["query", "--sql", sql, "--format", "jsonl"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn an_endless_query_times_out() {
    let sandbox = demo();
    let endless =
        "with recursive a(n) as (select 1 union all select n + 1 from a) select count(*) from a";
    let output = sandbox.run(&["query", "--sql", endless, "--timeout", "1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("--timeout"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn the_timeout_holds_within_one_call_of_a_function() {
    let sandbox = demo();
    for slow in [
        "select printf('%.*c',900000,'a') like printf('%%%.*c',900,'a%')",
        "select printf('%.*c',9000000,'a') like printf('%%%.*c%%b',900,'a')",
        "select instr(printf('%.*c',3000000,'a'), printf('%.*c',1500000,'a') || 'b')",
        "select length(replace(printf('%.*c',3000000,'a'), printf('%.*c',1500000,'a') || 'b', 'c'))",
    ] {
        let begun = std::time::Instant::now();
        let output = sandbox.run(&["query", "--sql", slow, "--timeout", "1"]);
        let seconds = begun.elapsed().as_secs_f64();
        assert!(seconds < 4.0, "{slow}: {seconds} s");
        if output.status.code() != Some(0) {
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(
                message.contains("--timeout") || message.contains("too complex"),
                "{message}"
            );
        }
    }
    let long = "select printf('%.*c',900000,'a') like printf('%%%.*c',40000,'a%')";
    let output = sandbox.run(&["query", "--sql", long, "--timeout", "1"]);
    assert_eq!(output.status.code(), Some(2));
}

/// Responses around midnight, by their session and time.
const RESPONSES: &[(&str, &str)] = &[
    // The clock goes forward in New York at 07:00 UTC.
    ("spring", "2026-03-08T04:59:59.999Z"),
    ("spring", "2026-03-08T05:00:00.000Z"),
    ("spring", "2026-03-09T03:59:59.999Z"),
    ("spring", "2026-03-09T04:00:00.000Z"),
    // It goes back at 06:00 UTC.
    ("autumn", "2026-11-01T03:59:59.999Z"),
    ("autumn", "2026-11-01T04:00:00.000Z"),
    ("autumn", "2026-11-02T04:59:59.999Z"),
    ("autumn", "2026-11-02T05:00:00.000Z"),
    // On Lord Howe Island it goes back by half an hour at 15:00 UTC.
    ("island", "2026-04-04T12:59:59.999Z"),
    ("island", "2026-04-04T13:00:00.000Z"),
    ("island", "2026-04-05T13:29:59.999Z"),
    ("island", "2026-04-05T13:30:00.000Z"),
];

/// The local days of `RESPONSES`, and how many responses they have.
const DAYS: &[(&str, &[&str])] = &[
    (
        "UTC",
        &[
            "2026-03-08|2",
            "2026-03-09|2",
            "2026-04-04|2",
            "2026-04-05|2",
            "2026-11-01|2",
            "2026-11-02|2",
        ],
    ),
    (
        "America/New_York",
        &[
            "2026-03-07|1",
            "2026-03-08|2",
            "2026-03-09|1",
            "2026-04-04|2",
            "2026-04-05|2",
            "2026-10-31|1",
            "2026-11-01|2",
            "2026-11-02|1",
        ],
    ),
    (
        "Asia/Kolkata",
        &[
            "2026-03-08|2",
            "2026-03-09|2",
            "2026-04-04|2",
            "2026-04-05|2",
            "2026-11-01|2",
            "2026-11-02|2",
        ],
    ),
    (
        "Australia/Lord_Howe",
        &[
            "2026-03-08|2",
            "2026-03-09|2",
            "2026-04-04|1",
            "2026-04-05|2",
            "2026-04-06|1",
            "2026-11-01|2",
            "2026-11-02|2",
        ],
    ),
];

#[test]
fn days_are_those_of_the_time_zone() {
    let sandbox = Sandbox::new();
    let mut lines = String::new();
    for (number, (session, time)) in RESPONSES.iter().enumerate() {
        let record = json!({
            "type": "assistant", "uuid": format!("uuid-{number}"), "parentUuid": null, "sessionId": session,
            "timestamp": time, "cwd": "/w", "requestId": format!("req_{number}"),
            "message": {
                "id": format!("msg_{number}"), "role": "assistant", "model": "claude-opus-4-6",
                "content": [{"type": "tool_use", "id": format!("toolu_{number}"), "name": "Bash", "input": {"command": "ls"}}],
                "usage": {"input_tokens": 1, "output_tokens": 1}
            }
        });
        lines.push_str(&format!("{record}\n"));
    }
    sandbox.write("projects/-w/spring.jsonl", &lines);
    sandbox.sync();
    let questions = [
        "select response_date, sum(response_count) from daily_costs group by 1 order by 1",
        "select activity_date, sum(response_count) from bi_days group by 1 order by 1",
        "select activity_date, sum(response_count) from bi_session_days group by 1 order by 1",
        "select activity_date, sum(call_count) from bi_tools group by 1 order by 1",
        "select called_date, count(*) from tool_calls group by 1 order by 1",
    ];
    for (zone, days) in DAYS {
        sandbox.ok(&["config", "time-zone", zone]);
        for question in questions {
            // This connection has none of the functions of the program.
            assert_eq!(sandbox.query(question), *days, "{zone}: {question}");
            let printed = sandbox.ok(&["query", "--sql", question, "--format", "csv"]);
            let printed: Vec<String> = printed
                .lines()
                .skip(1)
                .map(|line| line.replace(',', "|"))
                .collect();
            assert_eq!(printed, *days, "{zone}: {question}");
        }
        sandbox.check();
        // A first sync in that zone gives the same.
        let fresh = Sandbox::new();
        fresh.write("projects/-w/spring.jsonl", &lines);
        let home = fresh.home();
        let mut sync = fresh.command(&["sync", "--source", home.to_str().unwrap()]);
        assert!(sync.env("TZ", zone).output().unwrap().status.success());
        assert_eq!(fresh.ok(&["config", "time-zone"]).trim(), *zone);
        assert_eq!(fresh.hash(), sandbox.hash(), "{zone}");
    }
}

#[test]
fn the_time_zone_outlives_syncs_and_rebuilds() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    sandbox.ok(&["config", "time-zone", "asia/kolkata"]);
    let mut sync = sandbox.command(&["sync", "--demo", "--quiet"]);
    assert!(
        sync.env("TZ", "Europe/Berlin")
            .output()
            .unwrap()
            .status
            .success()
    );
    sandbox.ok(&["rebuild", "--quiet"]);
    assert!(sandbox.ok(&["config"]).contains("time-zone  Asia/Kolkata"));
    sandbox.ok(&["check", "--deep"]);
    // Offsets of another version of the tz database are replaced, and what depends on them is derived again.
    let hash = sandbox.hash();
    let days =
        "select activity_date from bi_days union all select said_date from bi_feedback order by 1";
    let derived = sandbox.query(days);
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch(
            "update time_zone_offsets set utc_offset = '-11:00';
            update bi_feedback set said_date = null;",
        )
        .unwrap();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    assert_eq!(sandbox.query(days), derived);
    assert_eq!(sandbox.hash(), hash);
    let unknown = sandbox.run(&["config", "time-zone", "Berlin"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("Europe/Berlin"));
    // A zone that the tz database does not have is UTC.
    let elsewhere = Sandbox::new();
    let mut sync = elsewhere.command(&["sync", "--demo", "--quiet"]);
    assert!(sync.env("TZ", "<XXX>-3").output().unwrap().status.success());
    assert_eq!(elsewhere.ok(&["config", "time-zone"]).trim(), "UTC");
}

#[test]
fn dates_are_parsed_and_times_printed_in_the_time_zone() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["sync", "--demo", "--quiet"]);
    sandbox.ok(&["config", "time-zone", "Australia/Lord_Howe", "--quiet"]);
    let moment = "select '2026-10-03T15:30:00.000Z' as said_at, '2026-10-03T15:30:00.000Z' as text";
    let table = sandbox.ok(&["query", "--sql", moment]);
    assert!(
        table.contains("2026-10-04 02:30  2026-10-03T15:30:00.000Z"),
        "{table}"
    );
    assert!(
        table.contains("times are in Australia/Lord_Howe"),
        "{table}"
    );
    let csv = sandbox.ok(&["query", "--sql", moment, "--format", "csv"]);
    assert_eq!(
        csv.lines().last(),
        Some("2026-10-03T15:30:00.000Z,2026-10-03T15:30:00.000Z")
    );
    assert!(
        sandbox
            .ok(&["show", "--last"])
            .contains("Australia/Lord_Howe")
    );
    assert!(sandbox.ok(&["status"]).contains("Australia/Lord_Howe"));
    assert!(
        sandbox
            .ok(&["search", "helper"])
            .contains("Australia/Lord_Howe")
    );

    let asked = |since: &str, until: &str| {
        let (since, until) = (format!("since={since}"), format!("until={until}"));
        let question = [
            "query",
            "recent_sessions",
            "--limit",
            "1000",
            "--format",
            "jsonl",
            "--param",
            &since,
            "--param",
            &until,
        ];
        sandbox.ok(&question).trim().lines().count()
    };
    let all = asked("", "");
    assert!(all > 10);
    assert_eq!(asked("2026", "last year"), 0);
    assert_eq!(asked("2020", "today"), all);
    let october = asked("2026-10", "2026-10");
    assert_eq!(asked("2026-10-01", "2026-10-31"), october);
    assert!(october > 0 && october < all, "{october} of {all}");
    for arguments in [
        &["query", "recent_sessions", "--param", "since=garbage"][..],
        &["search", "helper", "--since", "garbage"],
        &["search", "helper", "--until", "3"],
    ] {
        let refused = sandbox.run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let said = text(&refused.stderr);
        assert!(
            said.contains("2026-W46") && said.contains("yesterday"),
            "{said}"
        );
    }
    let refused = sandbox.run(&["query", "last_prompts", "--param", "limit=abc"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("whole number"));
}

#[test]
fn periods_end_today_without_a_day() {
    let sandbox = Sandbox::new();
    let record = |id: &str, session: &str, days: &str| {
        json!({
            "type": "assistant", "uuid": id, "parentUuid": null, "sessionId": session, "timestamp": clock(days), "requestId": id,
            "message": {
                "id": format!("msg_{id}"), "role": "assistant", "model": "claude-opus-4-6", "content": [],
                "usage": {"input_tokens": 1_000_000, "output_tokens": 0}
            }
        })
    };
    let lines = [
        record("a", "s", "+0 days"),
        record("b", "t", "-1 days"),
        record("c", "s", "-8 days"),
    ];
    let lines = lines.map(|line| format!("{line}\n"));
    sandbox.write("projects/-w/s.jsonl", lines.concat());
    sandbox.sync();
    let periods = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let rows = sandbox.ok(&[&["query", "periods", "--json"], arguments].concat());
        serde_json::from_str(&rows).unwrap()
    };
    let now = periods(&[]);
    let sessions = |row: &serde_json::Value| row["session_count"].as_i64().unwrap();
    assert_eq!([sessions(&now[0]), sessions(&now[1])], [1, 2]);
    assert_eq!(now[0]["cost_usd"], now[0]["before_usd"]);
    assert_eq!(
        now[1]["cost_usd"].as_f64(),
        now[1]["before_usd"].as_f64().map(|cost| 2.0 * cost)
    );
    for period in periods(&["--param", "today=2020-01-01"]) {
        assert_eq!(sessions(&period), 0);
    }
}

/// The clock, changed by a modifier of SQLite's date functions.
fn clock(modifier: &str) -> String {
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    memory
        .query_row(
            "select strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?1)",
            [modifier],
            |row| row.get(0),
        )
        .unwrap()
}

#[test]
fn the_last_sync_is_the_last_run_even_with_nothing_new() {
    let sandbox = Sandbox::new();
    sandbox.write("projects/-w/s.jsonl", "");
    sandbox.sync();
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    connection
        .execute_batch(
            "update sync_runs set finished_at = '2020-01-01T00:00:00.000Z';
            update files set last_synced_at = '2020-01-01T00:00:00.000Z'",
        )
        .unwrap();
    let last_sync = || {
        let status = sandbox.ok(&["status"]);
        let line = status.lines().find(|line| line.starts_with("last sync"));
        line.unwrap().to_string()
    };
    fs::write(sandbox.path("test.db.lock"), "").unwrap();
    assert!(
        last_sync().contains("2020-01-01 00:00 UTC"),
        "{}",
        last_sync()
    );
    sandbox.sync();
    assert!(last_sync().contains("seconds ago"), "{}", last_sync());
    assert!(!sandbox.ok(&["doctor"]).contains("2020-01-01"));
    // What is not a time is ignored.
    fs::write(sandbox.path("test.db.lock"), "yesterday").unwrap();
    assert!(last_sync().contains("2020-01-01"), "{}", last_sync());
}
