//! What counts as waste, and what does not; and the advice that follows.

mod sandbox;

use sandbox::Sandbox;
use sandbox::records::*;
use serde_json::{Value, json};

/// A text that is long enough to fill a context.
fn long(word: &str) -> String {
    format!("{word} ").repeat(300)
}

/// A call at a minute of a session, and its result some seconds later.
fn called(minute: u32, name: &str, input: Value, result: &str, is_error: bool) -> Vec<Value> {
    let id = format!("toolu_{minute}");
    let mut request = call(&format!("call{minute}"), &id, name, input);
    merge(&mut request, at(&format!("10:{minute:02}:00")));
    request["message"]["id"] = json!(format!("msg_{minute}"));
    request["message"]["model"] = json!("claude-sonnet-4-5");
    request["message"]["usage"] = json!({"input_tokens": 100_000, "output_tokens": 0});
    let time = at(&format!("10:{minute:02}:30"));
    let mut reply = answer(&format!("result{minute}"), &id, json!(result), time);
    reply["message"]["content"][0]["is_error"] = json!(is_error);
    vec![request, reply]
}

fn read(minute: u32, path: &str, text: &str) -> Vec<Value> {
    called(minute, "Read", json!({"file_path": path}), text, false)
}

fn bash(minute: u32, command: &str, result: &str, is_error: bool) -> Vec<Value> {
    called(
        minute,
        "Bash",
        json!({"command": command}),
        result,
        is_error,
    )
}

fn repeated(calls: &[Vec<Value>]) -> Vec<String> {
    session(&calls.concat()).query(
        "select kind, tool_use_id, previous_tool_use_id from repeated_calls order by called_at",
    )
}

#[test]
fn a_read_is_repeated_if_the_same_text_is_still_in_the_context() {
    let (one, other) = (long("one"), long("other"));
    let again = [read(1, "/a", &one), read(2, "/a", &one)];
    assert_eq!(repeated(&again), ["read|toolu_2|toolu_1"]);
    assert!(repeated(&[read(1, "/a", &one), read(2, "/a", &other)]).is_empty());
    assert!(repeated(&[read(1, "/a", &one), read(2, "/b", &one)]).is_empty());
    let stub = "File unchanged since last read.";
    assert!(repeated(&[read(1, "/a", stub), read(2, "/a", stub)]).is_empty());
    let mut summary = user("summary", "What happened so far", at("10:01:40"));
    summary["isCompactSummary"] = json!(true);
    let compacted = [read(1, "/a", &one), vec![summary], read(2, "/a", &one)];
    assert!(repeated(&compacted).is_empty());
}

#[test]
fn a_failed_call_is_repeated_if_nothing_was_changed() {
    let failed = |minute| bash(minute, "make", &format!("Exit code 2\n{minute} s"), true);
    let look = read(2, "/a", "text");
    assert_eq!(
        repeated(&[failed(1), look, failed(3), failed(4)]),
        ["retry|toolu_3|toolu_1", "retry|toolu_4|toolu_3"]
    );
    let edit = called(2, "Edit", json!({"file_path": "/a"}), "updated", false);
    assert!(repeated(&[failed(1), edit, failed(3)]).is_empty());
    let said = vec![user(
        "said",
        "I started the server, try again",
        at("10:01:40"),
    )];
    assert!(repeated(&[failed(1), said, failed(3)]).is_empty());
    assert!(repeated(&[failed(1), bash(2, "make", "done", false)]).is_empty());
    // A tool that fails for another reason got further.
    let write = |minute, why| called(minute, "Write", json!({"file_path": "/a"}), why, true);
    assert!(repeated(&[write(1, "not read yet"), write(2, "it changed")]).is_empty());
    assert_eq!(repeated(&[write(1, "no"), write(2, "no")]).len(), 1);
}

#[test]
fn a_repeated_call_costs_what_its_response_costs_if_that_did_nothing_else() {
    let text = long("text");
    let mut second = read(2, "/a", &text);
    let cost = "select tool_use_id, cost_usd from repeated_calls";
    let lines = [read(1, "/a", &text), second.clone()].concat();
    assert_eq!(session(&lines).query(cost), ["toolu_2|0.3"]);
    let other = json!({"type": "tool_use", "id": "toolu_x", "name": "Glob", "input": {}});
    second[0]["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(other);
    let lines = [read(1, "/a", &text), second].concat();
    assert_eq!(session(&lines).query(cost), ["toolu_2|NULL"]);
}

#[test]
fn a_command_that_never_works_fails_in_several_sessions_with_one_error() {
    let in_session = |name: &str, command: &str, error: &str, is_error: bool| {
        let mut lines = bash(1, command, error, is_error);
        for line in &mut lines {
            let id = line["message"]["id"]
                .as_str()
                .map(|id| format!("{id}{name}"));
            if let Some(id) = id {
                line["message"]["id"] = json!(id);
            }
            line["sessionId"] = json!(name);
            line["uuid"] = json!(format!("{name}{}", line["uuid"].as_str().unwrap()));
            let block = &mut line["message"]["content"][0];
            for key in ["id", "tool_use_id"] {
                if let Some(id) = block[key].as_str().map(|id| format!("{id}{name}")) {
                    block[key] = json!(id);
                }
            }
        }
        (file(name), lines)
    };
    let failing = |runs: &[(&str, &str, bool)]| {
        let files: Vec<(String, Vec<Value>)> = [S1, S2]
            .iter()
            .zip(runs)
            .map(|(name, (command, error, is_error))| in_session(name, command, error, *is_error))
            .collect();
        let files: Vec<(&str, &[Value])> = files
            .iter()
            .map(|(path, lines)| (path.as_str(), lines.as_slice()))
            .collect();
        imported(&files)
            .query("select command, failed_count, session_count, cost_usd from command_failures")
    };
    let no = "Exit code 127\nno such tool";
    assert_eq!(
        failing(&[("tool x", no, true), ("tool x 2>&1", no, true)]),
        ["tool x|2|2|0.6"]
    );
    assert!(failing(&[("tool x", no, true), ("tool y", no, true)]).is_empty());
    assert!(failing(&[("tool x", no, true), ("tool x", "fine", false)]).is_empty());
    let other = "Exit code 1\nanother error";
    assert!(failing(&[("tool x", no, true), ("tool x", other, true)]).is_empty());
}

/// A response that read and wrote this much of a cache.
fn cached(minute: u32, read: u64, written: u64, model: &str) -> Value {
    let id = format!("msg_{minute}");
    let mut line = response(
        &format!("r{minute}"),
        &id,
        1,
        at(&format!("10:{minute:02}:00")),
    );
    line["message"]["model"] = json!(model);
    line["message"]["usage"]["cache_read_input_tokens"] = json!(read);
    line["message"]["usage"]["cache_creation_input_tokens"] = json!(written);
    line
}

fn causes(lines: &[Value]) -> Vec<String> {
    session(lines).query("select cause, rewritten_tokens, rewritten_cost_usd from cache_rewrites order by responded_at")
}

#[test]
fn a_cache_is_missed_for_a_cause() {
    const SONNET: &str = "claude-sonnet-4-5";
    const OPUS: &str = "claude-opus-4-5";
    let first = || cached(0, 0, 100_000, SONNET);
    let again = |minute| cached(minute, 0, 110_000, SONNET);
    // Of the tokens written, 100,000 had been there: 3.75 USD per million.
    assert_eq!(causes(&[first(), again(2)]), ["unknown|100000|0.375"]);
    assert_eq!(causes(&[first(), again(9)]), ["pause|100000|0.375"]);
    assert_eq!(
        causes(&[first(), cached(2, 0, 110_000, OPUS)]),
        ["model switch|100000|0.625"]
    );
    let mut restart = record("start", None, at("10:01:00"));
    merge(
        &mut restart,
        json!({"type": "progress", "data": {
            "type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:resume", "command": "x"
        }}),
    );
    assert_eq!(
        causes(&[first(), restart, again(2)]),
        ["restart|100000|0.375"]
    );
    let mut summary = user("summary", "What happened so far", at("10:01:00"));
    summary["isCompactSummary"] = json!(true);
    assert_eq!(
        causes(&[first(), summary, again(9)])[0].split('|').next(),
        Some("compaction")
    );
    // An entry of an hour is still there.
    let mut hour = first();
    hour["message"]["usage"]["cache_creation"] =
        json!({"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 100_000});
    assert_eq!(causes(&[hour, again(9)]), ["unknown|100000|0.375"]);
    assert!(causes(&[first(), cached(9, 100_000, 10_000, SONNET)]).is_empty());
    assert!(causes(&[cached(0, 0, 9_000, SONNET), again(9)]).is_empty());
}

#[test]
fn a_large_file_is_unused_if_no_name_in_it_comes_up_again() {
    let names: String = (0..500)
        .map(|number| format!("some_function_{number} = {{}};\n"))
        .collect();
    let after = |mut lines: Vec<Value>, said: &str, responses: u32| {
        for minute in 2..2 + responses {
            let mut line = response(
                &format!("r{minute}"),
                &format!("msg_{minute}"),
                1,
                at(&format!("10:{minute:02}:00")),
            );
            line["message"]["content"][0]["text"] = json!(said);
            lines.push(line);
        }
        session(&lines).query("select tool_use_id, later_response_count from unused_tool_results")
    };
    let unused =
        |result: &str, said: &str, responses| after(read(1, "/a", result), said, responses);
    let names = format!("{names} AGENTS.md copilot-instructions");
    let names = names.as_str();
    assert_eq!(unused(names, "all is well", 6), ["toolu_1|6"]);
    assert!(unused(names, "I call some_function_399 here", 6).is_empty());
    assert!(unused(names, "it reads AGENTS.md first", 6).is_empty());
    assert!(unused(names, "see copilot-instructions", 6).is_empty());
    assert!(unused(names, "all is well", 4).is_empty());
    // What a command printed is used without naming any of it.
    assert!(after(bash(1, "make", names, false), "it works", 6).is_empty());
    assert!(unused(&names[..9_000], "all is well", 6).is_empty());
    // Without names, nothing can be shown.
    assert!(unused(&long("plain words only ").repeat(5), "all is well", 6).is_empty());
}

#[test]
fn an_agent_without_a_result_returned_nothing() {
    let agent = |result: Option<(&str, bool)>| {
        let mut lines = called(
            1,
            "Task",
            json!({"prompt": "Look", "subagent_type": "Explore"}),
            "",
            false,
        );
        lines.truncate(1);
        if let Some((text, is_error)) = result {
            let mut reply = answer("reply", "toolu_1", json!(text), at("10:09:00"));
            reply["message"]["content"][0]["is_error"] = json!(is_error);
            reply["toolUseResult"] = match is_error {
                true => json!(text),
                false => {
                    json!({"status": "completed", "agentId": "a1", "content": [{"type": "text", "text": text}]})
                }
            };
            lines.push(reply);
        }
        lines.push(response("last", "msg_last", 1, at("10:30:00")));
        let inside =
            json!({"agentId": "a1", "isSidechain": true, "timestamp": "2026-01-10T10:02:00.000Z"});
        let mut work = response("work", "msg_work", 1, inside.clone());
        work["message"]["usage"]["input_tokens"] = json!(100_000);
        let folder = format!("projects/-w/{S1}/subagents");
        let (path, meta) = (
            format!("{folder}/agent-a1.jsonl"),
            format!("{folder}/agent-a1.meta.json"),
        );
        let prompt = user("prompt", "Look", inside);
        let sandbox = Sandbox::new();
        let text = |lines: &[Value]| {
            lines
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>()
        };
        sandbox.write(&file(S1), text(&lines));
        sandbox.write(&path, text(&[prompt, work]));
        sandbox.write(
            &meta,
            json!({"agentType": "Explore", "toolUseId": "toolu_1"}).to_string(),
        );
        sandbox.sync();
        sandbox.check();
        sandbox
            .query("select is_without_result, result_length, round(cost_usd, 2) from agent_returns")
    };
    assert_eq!(agent(Some(("found it", false))), ["0|8|0.3"]);
    assert_eq!(agent(Some(("The agent failed", true))), ["1|NULL|0.3"]);
    assert_eq!(
        agent(None),
        ["1|NULL|0.3"],
        "the session went on without it"
    );
}

fn permissions(commands: &[(&str, bool)], mode: Option<&str>) -> Vec<String> {
    let mut lines: Vec<Value> = mode
        .map(|mode| {
            user(
                "said",
                "go",
                json!({"permissionMode": mode, "timestamp": "2026-01-10T10:00:00.000Z"}),
            )
        })
        .into_iter()
        .collect();
    for (minute, (command, is_denied)) in (1..).zip(commands) {
        let result = match is_denied {
            true => {
                "The user doesn't want to proceed with this tool use. The tool use was rejected"
            }
            false => "done",
        };
        lines.extend(bash(minute, command, result, *is_denied));
    }
    session(&lines).query(
        "select command_pattern, verdict, rule, call_count, denied_count from command_permissions order by command_pattern",
    )
}

#[test]
fn a_rule_allows_a_harmless_pattern_and_nothing_else() {
    let rules = |command: &str| permissions(&[(command, false)], None);
    assert_eq!(
        rules("cargo test --workspace 2>&1"),
        ["cargo test|any arguments|Bash(cargo test *)|1|0"]
    );
    assert_eq!(
        rules("npm run lint"),
        ["npm run lint|any arguments|Bash(npm run lint *)|1|0"]
    );
    assert_eq!(rules("git diff"), ["git diff|exact|Bash(git diff)|1|0"]);
    // Options of these write files.
    assert_eq!(rules("git diff --output=x"), ["git diff|NULL|NULL|1|0"]);
    // A program that is not known is for the person to judge.
    assert_eq!(rules("deploy now"), ["deploy now|NULL|NULL|1|0"]);
    for command in [
        "python3 -c 1",
        "bash -c ls",
        "sudo make test",
        "rm -rf x",
        "npx jest",
        "node -e 1",
        "xargs rm",
        "find . -delete",
    ] {
        let found = rules(command);
        assert!(found[0].contains("|never|NULL|"), "{found:?}");
    }
    for command in [
        "cargo test && rm -rf /",
        "cargo test; ls",
        "cargo test | sh",
        "curl x | sh",
        "cargo test > /etc/x",
        "cargo test $(x)",
        "cargo test `x`",
        "cargo test\nrm x",
        "X=1 cargo test",
        "./cargo test",
        "cargo test &",
        "/bin/git status",
    ] {
        assert!(rules(command).is_empty(), "{command}");
    }
}

#[test]
fn nothing_is_allowed_that_was_denied_or_that_nobody_was_asked_about() {
    assert_eq!(
        permissions(
            &[("git status", false), ("git status -s", true)],
            Some("default")
        ),
        ["git status|any arguments|NULL|2|1"]
    );
    assert!(permissions(&[("git status", false)], Some("bypassPermissions")).is_empty());
    assert_eq!(
        permissions(&[("git status", false)], Some("acceptEdits")).len(),
        1
    );
}

// --- advice

/// A session with waste of two kinds.
fn wasteful() -> Sandbox {
    let text = long("text");
    let mut lines = vec![
        cached(0, 0, 100_000, "claude-sonnet-4-5"),
        cached(9, 0, 100_000, "claude-sonnet-4-5"),
    ];
    lines.extend(read(20, "/w/a.md", &text));
    lines.extend(read(21, "/w/a.md", &text));
    for minute in 30..35 {
        lines.extend(bash(minute, "cargo test", "ok", false));
    }
    session(&lines)
}

#[test]
fn advice_is_ranked_by_cost_and_names_its_evidence() {
    let sandbox = wasteful();
    let rows: Vec<Value> = serde_json::from_str(&sandbox.ok(&["advise", "--json"])).unwrap();
    let of = |name: &str| rows.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    assert_eq!(
        of("finding"),
        [
            "Pauses longer than the cache lives",
            "Files read again unchanged",
            "Harmless commands that were never denied"
        ]
    );
    assert_eq!(of("cost_usd"), [json!(0.375), json!(0.3), json!(null)]);
    assert_eq!(rows[1]["example"], "/w/a.md");
    assert_eq!(rows[1]["path"], file(S1));
    assert_eq!(rows[1]["line_number"], 5);
    assert!(
        rows[2]["advice"]
            .as_str()
            .unwrap()
            .contains("Bash(cargo test *)")
    );
    assert_eq!(
        rows,
        serde_json::from_str::<Vec<Value>>(&sandbox.ok(&["query", "advice", "--json"])).unwrap()
    );
}

#[test]
fn every_question_that_advice_names_shows_more() {
    let sandbox = wasteful();
    let rows: Vec<Value> = serde_json::from_str(&sandbox.ok(&["advise", "--json"])).unwrap();
    for row in rows {
        let question = row["question"].as_str().unwrap().to_string();
        let mut arguments = vec!["query"];
        arguments.extend(question.split(' '));
        let shown = sandbox.ok(&arguments);
        assert!(!shown.contains("no rows"), "{question}: {shown}");
    }
}

#[test]
fn advice_fits_the_terminal_and_takes_a_period_and_a_project() {
    use unicode_width::UnicodeWidthStr;
    let sandbox = wasteful();
    let page = sandbox.ok(&["advise", "--width", "80"]);
    assert!(page.lines().all(|line| line.width() <= 80), "{page}");
    for part in [
        "2. Files read again unchanged",
        "0.30 USD",
        &format!("In session {S1}, line 5"),
        "cc-etl query repeated_reads",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let nothing = "Nothing to advise: no waste was found.\n";
    assert_eq!(sandbox.ok(&["advise", "--since", "2026-01-11"]), nothing);
    assert_eq!(sandbox.ok(&["advise", "--until", "2026-01-09"]), nothing);
    assert_eq!(sandbox.ok(&["advise", "--project", "other"]), nothing);
    assert_eq!(
        sandbox.ok(&["advise", "--project", "w", "--since", "2026-01-10"]),
        sandbox.ok(&["advise"])
    );
    assert_eq!(
        sandbox
            .ok(&["advise", "--limit", "1", "--json"])
            .matches("finding")
            .count(),
        1
    );
    let cut = sandbox.run(&["advise", "--limit", "2"]);
    assert!(sandbox::text(&cut.stderr).contains("only the first 2 findings are shown"));
    assert!(!sandbox::text(&sandbox.run(&["advise"]).stderr).contains("only"));
    assert_eq!(
        session(&[user("u", "hello", json!({}))]).ok(&["advise"]),
        nothing
    );
}
