//! The rules of the format, each as a small home and what becomes of it.

mod sandbox;

use sandbox::Sandbox;
use sandbox::records::*;
use serde_json::{Value, json};

// --- usage

#[test]
fn a_response_on_several_lines_counts_its_last_number() {
    let sandbox = session(&[
        response("a", "msg_m", 30, at("10:00:00")),
        response("b", "msg_m", 453, at("10:00:01")),
    ]);
    assert_eq!(
        sandbox.query("select output_tokens, line_count from api_responses"),
        ["453|2"]
    );
    assert_eq!(
        sandbox.query("select is_counted, duplicate_reason from usage_lines order by line_number"),
        ["0|streaming", "1|NULL"]
    );
}

#[test]
fn a_synthetic_message_is_no_api_call() {
    let mut line = response("a", "msg_m", 0, json!({}));
    line["message"]["model"] = json!("<synthetic>");
    let sandbox = session(&[line]);
    assert_eq!(sandbox.count("select count(*) from api_responses"), 0);
    assert_eq!(sandbox.count("select count(*) from messages"), 1);
}

#[test]
fn without_a_message_id_the_uuid_names_the_response() {
    let mut line = response("a", "msg_m", 5, json!({}));
    line["message"].as_object_mut().unwrap().remove("id");
    assert_eq!(
        session(&[line]).query("select api_message_id from api_responses"),
        ["a"]
    );
}

#[test]
fn cache_writes_are_the_greater_of_the_flat_number_and_the_split() {
    let mut line = response("a", "msg_m", 5, json!({}));
    line["message"]["usage"]["cache_creation"] =
        json!({"ephemeral_5m_input_tokens": 70, "ephemeral_1h_input_tokens": 30});
    assert_eq!(
        session(&[line]).query("select cache_write_tokens, cache_write_5m_tokens, cache_write_1h_tokens from api_responses"),
        ["100|70|30"]
    );
}

#[test]
fn a_fork_copies_lines_and_counts_nothing_twice() {
    let original = response("a", "msg_m", 7, json!({}));
    let copy = response(
        "a",
        "msg_m",
        7,
        json!({"sessionId": S2, "forkedFrom": {"sessionId": S1, "messageUuid": "a"}}),
    );
    let sandbox = imported(&[
        (&file(S1), &[original]),
        (
            &file(S2),
            &[copy, user("b", "go on", json!({"sessionId": S2}))],
        ),
    ]);
    assert_eq!(
        sandbox.query("select session_id, output_tokens from api_responses"),
        [format!("{S1}|7")]
    );
    assert_eq!(
        sandbox.query("select reason, is_different, session_id from message_copies"),
        [format!("fork_copy|0|{S2}")]
    );
    assert_eq!(
        sandbox.query(&format!(
            "select forked_from_session_id from sessions where session_id = '{S2}'"
        )),
        [S1]
    );
}

#[test]
fn a_fork_with_new_uuids_counts_nothing_twice() {
    let copy = response(
        "b",
        "msg_m",
        7,
        json!({"sessionId": S2, "forkedFrom": {"sessionId": S1, "messageUuid": "a"}}),
    );
    let sandbox = imported(&[
        (&file(S1), &[response("a", "msg_m", 7, json!({}))]),
        (&file(S2), &[copy]),
    ]);
    assert_eq!(sandbox.count("select count(*) from api_responses"), 1);
    assert_eq!(sandbox.count("select count(*) from messages"), 2);
    assert_eq!(
        sandbox.query("select duplicate_reason from usage_lines where is_counted = 0"),
        ["fork_copy"]
    );
}

#[test]
fn a_side_question_that_replays_the_conversation_counts_nothing() {
    // The replay has another requestId, and more output than the line it repeats.
    let replay = response(
        "r",
        "msg_m",
        9,
        json!({"isSidechain": true, "agentId": "aside_question-1", "requestId": "req_other"}),
    );
    let sandbox = imported(&[
        (&file(S1), &[response("a", "msg_m", 7, json!({}))]),
        (
            &format!("projects/-w/{S1}/subagents/agent-aside_question-1.jsonl"),
            &[replay],
        ),
    ]);
    assert_eq!(
        sandbox.query("select output_tokens, agent_run_id from api_responses"),
        ["7|NULL"]
    );
    assert_eq!(
        sandbox.query("select duplicate_reason from usage_lines where is_counted = 0"),
        ["sidechain_replay"]
    );
    assert_eq!(
        sandbox.query("select internal_kind from agents"),
        ["side_question"]
    );
}

#[test]
fn an_agent_whose_file_is_gone_is_paid_for_by_its_progress() {
    let progress = record(
        "p",
        None,
        json!({"type": "progress", "parentToolUseID": "toolu_1", "data": {"type": "agent_progress", "agentId": "a1234567",
            "message": {"uuid": "e", "type": "assistant", "timestamp": "2026-01-10T09:59:00.000Z", "message": {
                "id": "msg_m", "model": "claude-haiku-4-5", "usage": {"input_tokens": 3, "output_tokens": 4}}}}}),
    );
    let sandbox = session(std::slice::from_ref(&progress));
    assert_eq!(
        sandbox.query(
            "select output_tokens, agent_id from api_responses join agents using (agent_run_id)"
        ),
        ["4|a1234567"]
    );
    // With its file the same response counts once, by the agent's own line.
    let own = response(
        "e",
        "msg_m",
        4,
        json!({"isSidechain": true, "agentId": "a1234567"}),
    );
    let both = imported(&[
        (&file(S1), &[progress]),
        (
            &format!("projects/-w/{S1}/subagents/agent-a1234567.jsonl"),
            &[own],
        ),
    ]);
    assert_eq!(both.count("select count(*) from api_responses"), 1);
    assert_eq!(
        both.query("select duplicate_reason from usage_lines where is_counted = 0"),
        ["progress_echo"]
    );
}

// --- copies and threads

#[test]
fn of_one_uuid_in_two_files_the_earlier_line_is_the_message() {
    let early = user("a", "early", at("10:00:00"));
    let late = user(
        "a",
        "late",
        json!({"timestamp": "2026-01-11T10:00:00.000Z", "sessionId": S2}),
    );
    let sandbox = imported(&[(&file(S1), &[late]), (&file(S2), &[early])]);
    assert_eq!(sandbox.query("select text from content_blocks"), ["early"]);
    assert_eq!(
        sandbox.query("select is_different from message_copies"),
        ["1"]
    );
}

#[test]
fn the_beginning_of_a_very_long_text_can_be_found_and_all_of_it_is_kept() {
    let text = |first: &str| format!("{first} {} zither", "tea ".repeat(300_000));
    let lines = |word: &str, time: &str| {
        [
            user("u1", &text(word), at(time)),
            call("u2", "toolu_1", "Bash", json!({"command": text(word)})),
        ]
        .map(|line| format!("{line}\n"))
        .concat()
    };
    let sandbox = Sandbox::new();
    sandbox.write(&file(S2), lines("xylophone", "11:00:00"));
    sandbox.sync();
    let found = |word: &str| {
        sandbox.count(&format!(
            "select count(*) from search where search match '{word}'"
        ))
    };
    assert_eq!(
        ["xylophone", "zither", "tea"].map(found),
        [2, 0, 2],
        "the first million characters"
    );
    // Another line takes its place: what was put into the index is what is taken out.
    sandbox.write(&file(S1), lines("kettledrum", "09:00:00"));
    sandbox.sync();
    assert_eq!(["xylophone", "kettledrum", "zither"].map(found), [0, 2, 0]);
    assert_eq!(
        sandbox.query(
            "select length(text), substr(text, -6), length(first_prompt), length(command), length(input_json ->> 'command')
            from content_blocks join messages using (message_id) join sessions using (session_id)
            join tool_uses on tool_uses.tool_use_id = 'toolu_1'
            where uuid = 'u1'"
        ),
        ["1200018|zither|1000000|1000000|1200018"]
    );
    assert_eq!(
        sandbox.query("select length(text) from prompts"),
        ["1000000"]
    );
    sandbox.check();
}

#[test]
fn of_one_uuid_in_one_file_the_last_line_is_the_message() {
    let sandbox = session(&[
        user("a", "first", at("10:00:00")),
        user("a", "again", at("10:05:00")),
    ]);
    assert_eq!(
        sandbox
            .query("select text, line_number from messages join content_blocks using (message_id)"),
        ["again|2"]
    );
    assert_eq!(
        sandbox.query("select reason, line_number from message_copies"),
        ["same_file_replay|1"]
    );
}

#[test]
fn a_resumed_session_of_old_versions_begins_with_the_lines_of_the_one_before() {
    let sandbox = imported(&[
        (&file(S1), &[user("a", "hello", json!({}))]),
        (
            &file(S2),
            &[
                user("a", "hello", json!({})),
                user("b", "go on", json!({"sessionId": S2})),
            ],
        ),
    ]);
    assert_eq!(
        sandbox.query("select reason from message_copies"),
        ["resume_copy"]
    );
    assert_eq!(
        sandbox.query(&format!(
            "select resumed_from_session_id from sessions where session_id = '{S2}'"
        )),
        [S1]
    );
}

#[test]
fn a_parent_may_stand_behind_its_child_and_in_another_file() {
    let sandbox = imported(&[
        (
            &file(S1),
            &[
                record("b", Some("a"), json!({"type": "user"})),
                user("a", "x", json!({})),
            ],
        ),
        (
            &file(S2),
            &[
                record("c", Some("b"), json!({"type": "user"})),
                record("d", Some("gone"), json!({"type": "user"})),
            ],
        ),
    ]);
    assert_eq!(
        sandbox.query("select m.uuid, p.uuid from messages m left join messages p on p.message_id = m.parent_message_id order by 1"),
        ["a|NULL", "b|a", "c|b", "d|NULL"]
    );
    assert_eq!(
        sandbox.query("select from_id, missing_id from orphans where reference = 'parent message'"),
        ["d|gone"]
    );
}

#[test]
fn a_summary_belongs_to_the_session_that_holds_its_leaf() {
    let summary = json!({"type": "summary", "summary": "About tea", "leafUuid": "a"});
    let sandbox = imported(&[
        (&file(S1), &[user("a", "x", json!({}))]),
        (&file(S2), &[summary]),
    ]);
    assert_eq!(
        sandbox.query(&format!(
            "select title from sessions where session_id = '{S1}'"
        )),
        ["About tea"]
    );
}

#[test]
fn the_last_title_wins_and_the_persons_over_the_models() {
    let ai = |title: &str| json!({"type": "ai-title", "aiTitle": title, "sessionId": S1});
    let custom = json!({"type": "custom-title", "customTitle": "mine", "sessionId": S1});
    let sandbox = session(&[ai("one"), user("a", "x", json!({})), ai("two")]);
    assert_eq!(sandbox.query("select title from sessions"), ["two"]);
    let sandbox = session(&[custom, user("a", "x", json!({})), ai("two")]);
    assert_eq!(
        sandbox.query("select title, ai_title from sessions"),
        ["mine|two"]
    );
}

#[test]
fn a_session_is_called_by_what_the_person_said_first_and_not_by_a_command() {
    let command = |uuid: &str, name: &str, arguments: &str| {
        let text = format!(
            "<command-name>{name}</command-name>\n<command-message>{name}</command-message>\n<command-args>{arguments}</command-args>"
        );
        user(uuid, &text, at("10:00:00"))
    };
    let output = |uuid: &str, parent: &str| {
        user(
            uuid,
            "<local-command-stdout>Set.</local-command-stdout>",
            json!({"parentUuid": parent, "timestamp": "2026-01-10T10:00:01.000Z"}),
        )
    };
    let said = user("z", "\n \tfix the test\r\nplease", at("10:05:00"));
    let title = |lines: &[Value]| session(lines).query("select title from sessions").remove(0);
    assert_eq!(
        title(&[command("a", "/clear", ""), said.clone()]),
        "fix the test"
    );
    assert_eq!(
        title(&[command("a", "/review", ""), said.clone()]),
        "fix the test"
    );
    // Commands that Claude does not answer.
    assert_eq!(
        title(&[
            command("a", "/model", "opus"),
            output("b", "a"),
            said.clone()
        ]),
        "fix the test"
    );
    // Arguments are the person's words.
    assert_eq!(
        title(&[command("a", "/review", "the cart"), said]),
        "/review the cart"
    );
    assert_eq!(
        title(&[command("a", "/clear", "")]),
        "session 5e550001 (/clear)"
    );
    assert_eq!(
        title(&[user("a", "/home/w/x is wrong", json!({}))]),
        "/home/w/x is wrong"
    );
    let plan = json!({"planContent": "# Cut the cart"});
    assert_eq!(
        title(&[user(
            "a",
            "Implement the following plan:\n\n# Cut the cart\n\nFirst",
            plan
        )]),
        "Cut the cart"
    );
}

#[test]
fn a_session_whose_transcript_is_gone_is_called_by_its_history() {
    let sandbox = Sandbox::new();
    let typed = |display: &str, ms: i64| json!({"display": display, "timestamp": 1_768_039_200_000i64 + ms, "project": "/w", "sessionId": S1});
    let lines = [
        typed("/clear", 0),
        typed(" ", 1),
        typed("count the teas", 2),
        typed("and the cups", 3),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write("history.jsonl", lines);
    sandbox.write(
        &agent_file("a1234567"),
        format!("{}\n", agents_prompt("a1234567")),
    );
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select title, first_prompt from session_overview"),
        ["count the teas|count the teas"]
    );
}

#[test]
fn a_compaction_knows_the_message_before_it_and_its_summary() {
    let boundary = record(
        "b",
        None,
        json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
        "logicalParentUuid": "a", "compactMetadata": {"trigger": "auto", "preTokens": 100, "postTokens": 10}}),
    );
    let summary = user(
        "s",
        "This session is being continued from a previous conversation",
        json!({"parentUuid": "b", "isCompactSummary": true}),
    );
    let mut summary = summary;
    summary["parentUuid"] = json!("b");
    let sandbox = session(&[user("a", "x", json!({})), boundary, summary]);
    assert_eq!(
        sandbox.query("select trigger, tokens_before, tokens_after, logical_parent_message_id is not null, summary is not null from compactions"),
        ["auto|100|10|1|1"]
    );
}

// --- agents

const PROMPT: &str = "Look at the tests";

fn agent_file(id: &str) -> String {
    format!("projects/-w/{S1}/subagents/agent-{id}.jsonl")
}

fn agents_prompt(id: &str) -> Value {
    user(
        "x1",
        PROMPT,
        json!({"isSidechain": true, "agentId": id, "timestamp": "2026-01-10T10:00:05.000Z"}),
    )
}

fn spawn(id: &str) -> Value {
    call(
        "c1",
        id,
        "Agent",
        json!({"prompt": PROMPT, "description": "tests", "subagent_type": "Explore"}),
    )
}

fn link(sandbox: &Sandbox) -> String {
    sandbox
        .query("select link_method, spawned_by_tool_use_id from agents")
        .join(",")
}

#[test]
fn an_agent_is_linked_by_its_meta_file_first() {
    let other = answer(
        "r1",
        "toolu_2",
        json!("done"),
        json!({"toolUseResult": {"agentId": "a1234567", "status": "completed"}}),
    );
    let sandbox = Sandbox::new();
    let lines: String = [
        spawn("toolu_1"),
        call("c2", "toolu_2", "Agent", json!({"prompt": "other"})),
        other,
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    sandbox.write(&file(S1), lines);
    sandbox.write(
        &agent_file("a1234567"),
        format!("{}\n", agents_prompt("a1234567")),
    );
    sandbox.write(
        &agent_file("a1234567").replace(".jsonl", ".meta.json"),
        r#"{"agentType":"Explore","toolUseId":"toolu_1"}"#,
    );
    sandbox.sync();
    sandbox.check();
    assert_eq!(link(&sandbox), "meta|toolu_1");
}

#[test]
fn an_agent_is_linked_by_the_result_of_its_call() {
    let done = answer(
        "r1",
        "toolu_1",
        json!("done"),
        json!({"toolUseResult": {"agentId": "a1234567", "status": "completed"}}),
    );
    let sandbox = imported(&[
        (&file(S1), &[spawn("toolu_1"), done]),
        (&agent_file("a1234567"), &[agents_prompt("a1234567")]),
    ]);
    assert_eq!(link(&sandbox), "result|toolu_1");
    assert_eq!(
        sandbox.query("select agent_type, description, status from agents"),
        ["Explore|tests|completed"]
    );
}

#[test]
fn an_agent_that_never_returned_is_linked_by_its_progress() {
    let progress = record(
        "p1",
        None,
        json!({"type": "progress", "parentToolUseID": "toolu_1",
        "data": {"type": "agent_progress", "agentId": "a1234567"}}),
    );
    let sandbox = imported(&[
        (&file(S1), &[spawn("toolu_1"), progress]),
        (&agent_file("a1234567"), &[agents_prompt("a1234567")]),
    ]);
    assert_eq!(link(&sandbox), "progress|toolu_1");
}

#[test]
fn an_agent_in_the_background_is_linked_and_ended_by_its_notification() {
    let text = "<task-notification>\n<task-id>a1234567</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n<status>completed</status>\n<summary>done</summary>\n<result>All green</result>\n</task-notification>";
    let notice = user("n1", text, json!({"origin": {"kind": "task-notification"}}));
    let sandbox = imported(&[
        (&file(S1), &[spawn("toolu_1"), notice]),
        (&agent_file("a1234567"), &[agents_prompt("a1234567")]),
    ]);
    assert_eq!(link(&sandbox), "notification|toolu_1");
    assert_eq!(
        sandbox.query("select status, result from agent_tree"),
        ["completed|All green"]
    );
}

#[test]
fn a_nested_agent_is_linked_by_the_text_of_the_result() {
    let inner = json!({"isSidechain": true, "agentId": "a7654321"});
    let mut spawned = call("c2", "toolu_2", "Agent", json!({"prompt": "deeper"}));
    merge(&mut spawned, inner.clone());
    let mut returned = answer(
        "r2",
        "toolu_2",
        json!([{"type": "text", "text": "ok"}, {"type": "text", "text": "agentId: a1234567 (for resuming)"}]),
        json!({}),
    );
    merge(&mut returned, inner);
    let sandbox = imported(&[
        (&file(S1), &[user("u", "hi", json!({}))]),
        (&agent_file("a7654321"), &[spawned, returned]),
        (
            &agent_file("a1234567"),
            &[user(
                "x9",
                "deeper",
                json!({"isSidechain": true, "agentId": "a1234567"}),
            )],
        ),
    ]);
    assert_eq!(
        sandbox.query("select a.agent_id, a.link_method, p.agent_id from agents a left join agents p on p.agent_run_id = a.parent_agent_run_id order by 1"),
        ["a1234567|text|a7654321", "a7654321|none|NULL"]
    );
}

#[test]
fn an_agent_is_linked_by_its_prompt_where_nothing_names_its_call() {
    let teammate =
        format!("<teammate-message teammate_id=\"team-lead\">\n{PROMPT}\n</teammate-message>");
    let sandbox = imported(&[
        (&file(S1), &[spawn("toolu_1")]),
        (
            &agent_file("anames-1234567"),
            &[user(
                "x1",
                &teammate,
                json!({"isSidechain": true, "agentId": "anames-1234567"}),
            )],
        ),
    ]);
    assert_eq!(link(&sandbox), "prompt|toolu_1");
    assert_eq!(
        sandbox.query("select link_confidence from agents"),
        ["likely"]
    );
}

#[test]
fn equal_prompts_are_linked_in_the_order_of_time() {
    let sidechain = |uuid: &str, time: &str| {
        user(
            uuid,
            PROMPT,
            json!({"isSidechain": true, "timestamp": time}),
        )
    };
    let mut second = call("c2", "toolu_2", "Task", json!({"prompt": PROMPT}));
    merge(&mut second, at("10:05:00"));
    let sandbox = session(&[
        spawn("toolu_1"),
        second,
        sidechain("x2", "2026-01-10T10:06:00.000Z"),
        sidechain("x1", "2026-01-10T10:01:00.000Z"),
    ]);
    assert_eq!(
        sandbox.query("select agent_id, layout, spawned_by_tool_use_id from agents order by 1"),
        ["inline-x1|inline|toolu_1", "inline-x2|inline|toolu_2"]
    );
}

#[test]
fn an_inline_agent_has_all_lines_below_its_root() {
    let mut child = record(
        "x2",
        Some("x1"),
        json!({"type": "assistant", "isSidechain": true}),
    );
    merge(&mut child, at("10:00:06"));
    let root = user("x1", PROMPT, json!({"isSidechain": true}));
    let sandbox = session(&[user("u", "hi", json!({})), root, child]);
    assert_eq!(
        sandbox.query(
            "select count(*), count(distinct agent_run_id) from messages where agent_run_id is not null"
        ),
        ["2|1"]
    );
}

#[test]
fn a_warm_up_is_no_work() {
    let warmup = user(
        "x1",
        "Warmup",
        json!({"isSidechain": true, "agentId": "abcdef1"}),
    );
    let sandbox = imported(&[("projects/-w/agent-abcdef1.jsonl", &[warmup])]);
    assert_eq!(
        sandbox.query("select layout, internal_kind from agents"),
        ["flat|warmup"]
    );
}

#[test]
fn parents_that_go_round_in_a_circle_harm_nothing() {
    let meta = |parent: &str| format!(r#"{{"agentType":"x","parentAgentId":"{parent}"}}"#);
    let sandbox = Sandbox::new();
    for (id, other, uuid) in [("aaaaaa1", "aaaaaa2", "x1"), ("aaaaaa2", "aaaaaa1", "x2")] {
        let line = user(uuid, "work", json!({"isSidechain": true, "agentId": id}));
        sandbox.write(&agent_file(id), format!("{line}\n"));
        sandbox.write(&agent_file(id).replace(".jsonl", ".meta.json"), meta(other));
    }
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select agent_id from agent_tree order by 1"),
        ["aaaaaa1", "aaaaaa2"]
    );
}

#[test]
fn an_agent_without_a_line_has_a_row_if_something_names_it() {
    let known_by_result = answer(
        "r1",
        "toolu_1",
        json!("done"),
        json!({"toolUseResult": {"agentId": "a1111111", "content": [], "totalTokens": 5}}),
    );
    let known_by_progress = record(
        "p1",
        None,
        json!({"type": "progress", "parentToolUseID": "toolu_2",
        "data": {"type": "agent_progress", "agentId": "a2222222", "message": {"uuid": "e1", "type": "assistant",
            "message": {"id": "msg_e", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 1, "output_tokens": 2}}}}}),
    );
    let notice = |uuid: &str, task: &str, call: &str| {
        let text = format!(
            "<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>completed</status>\n</task-notification>"
        );
        user(
            uuid,
            &text,
            json!({"origin": {"kind": "task-notification"}}),
        )
    };
    let quoted = answer(
        "r4",
        "toolu_4",
        json!("agentId: a9999999 (in a log)"),
        json!({}),
    );
    let sandbox = Sandbox::new();
    let lines = [
        spawn("toolu_1"),
        known_by_result,
        call("c2", "toolu_2", "Task", json!({"prompt": "count"})),
        known_by_progress,
        call("c3", "toolu_3", "Agent", json!({"prompt": "sleep"})),
        notice("n3", "a3333333", "toolu_3"),
        // Neither is an agent: a command that a notice tells of, and an id in the output of a command.
        call("c4", "toolu_4", "Bash", json!({"command": "cat log"})),
        quoted,
        notice("n4", "b4444444", "toolu_4"),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write(&file(S1), lines);
    sandbox.write(
        &agent_file("a5555555").replace(".jsonl", ".meta.json"),
        r#"{"agentType":"Plan"}"#,
    );
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query(
            "select agent_id, layout, link_method, status, status_source from agents order by 1"
        ),
        [
            "a1111111|NULL|result|completed|result",
            "a2222222|NULL|progress|NULL|NULL",
            "a3333333|NULL|notification|completed|notification",
            "a5555555|NULL|none|NULL|NULL"
        ]
    );
    sandbox.write(
        &agent_file("a1111111"),
        format!("{}\n", agents_prompt("a1111111")),
    );
    sandbox.sync();
    assert_eq!(
        sandbox.query("select layout from agents where agent_id = 'a1111111'"),
        ["nested"]
    );
}

#[test]
fn an_agent_that_returned_is_completed_and_one_that_was_launched_is_not() {
    let status = |text: &str, given: Value| {
        let sandbox = imported(&[
            (
                &file(S1),
                &[
                    spawn("toolu_1"),
                    answer("r1", "toolu_1", json!(text), given),
                ],
            ),
            (&agent_file("a1234567"), &[agents_prompt("a1234567")]),
        ]);
        sandbox.query("select status from agents").remove(0)
    };
    let returned =
        json!({"toolUseResult": {"content": [{"type": "text", "text": "3"}], "totalTokens": 5}});
    assert_eq!(status("There are 3.", returned), "completed");
    assert_eq!(status("There are 3.", json!({})), "completed");
    assert_eq!(
        status(
            "Async agent launched successfully.\nagentId: a1234567",
            json!({})
        ),
        "NULL"
    );
    assert_eq!(
        status(
            "Async agent launched successfully.",
            json!({"toolUseResult": {"isAsync": true, "status": "async_launched", "agentId": "a1234567"}})
        ),
        "NULL"
    );
    assert_eq!(status("Spawned successfully.\nname: x", json!({})), "NULL");
}

// --- hooks

fn hook_progress(uuid: &str, run: &str, event: &str, command: &str) -> Value {
    record(
        uuid,
        None,
        json!({"type": "progress", "toolUseID": run, "parentToolUseID": run,
        "data": {"type": "hook_progress", "hookEvent": event, "hookName": event, "command": command}}),
    )
}

#[test]
fn a_hook_that_two_kinds_of_records_tell_of_ran_once() {
    let summary = record(
        "s1",
        None,
        json!({"type": "system", "subtype": "stop_hook_summary", "toolUseID": "run-1", "hookCount": 2,
        "hookInfos": [{"command": "notify", "durationMs": 40}, {"command": "lint"}], "preventedContinuation": false}),
    );
    let success = record(
        "a1",
        None,
        json!({"type": "attachment", "attachment": {"type": "hook_success", "hookEvent": "PostToolUse",
        "hookName": "PostToolUse:Edit", "command": "format", "toolUseID": "toolu_1", "durationMs": 7}, "toolUseID": "toolu_1"}),
    );
    let sandbox = session(&[
        hook_progress("p1", "run-1", "Stop", "notify"),
        hook_progress("p2", "run-1", "Stop", "lint"),
        summary,
        // Another run, which no summary tells of.
        hook_progress("p3", "run-2", "Stop", "lint"),
        // The same command is set up twice for this event.
        hook_progress("p4", "toolu_1", "PreToolUse", "format"),
        hook_progress("p5", "toolu_1", "PreToolUse", "format"),
        hook_progress("p6", "toolu_1", "PostToolUse", "format"),
        success,
    ]);
    assert_eq!(
        sandbox.query(
            "select hook_event, command, run_count, max_duration_ms from hook_stats order by 1, 2"
        ),
        [
            "PostToolUse|format|1|7",
            "PreToolUse|format|2|NULL",
            "Stop|lint|2|NULL",
            "Stop|notify|1|40"
        ]
    );
}

// --- bytes

#[test]
fn a_byte_that_is_not_utf8_costs_no_record() {
    let sandbox = Sandbox::new();
    let said = user("a", "caf@ or tea", json!({})).to_string();
    let line = [said.replace('@', "\u{e9}").into_bytes(), b"\n".to_vec()].concat();
    // The same letter in Latin-1.
    let line: Vec<u8> = line
        .into_iter()
        .filter(|byte| *byte != 0xc3)
        .map(|byte| if byte == 0xa9 { 0xe9 } else { byte })
        .collect();
    let todo = b"[{\"content\":\"caf\xe9\",\"status\":\"pending\"}]";
    let path = sandbox.write(&file(S1), &line);
    sandbox.write(&format!("todos/{S1}.json"), todo);
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query(
            "select messages.prompt_kind, text from messages join content_blocks using (message_id)"
        ),
        ["human|caf\u{fffd} or tea"]
    );
    assert_eq!(sandbox.query("select content from todos"), ["caf\u{fffd}"]);
    assert_eq!(
        sandbox.query("select reason, hex(raw), line_number, byte_offset from rejected_lines order by line_number desc, byte_offset desc"),
        [
            format!("invalid_utf8|E9|1|{}", line.iter().position(|byte| *byte == 0xe9).unwrap()),
            "invalid_utf8|E9|1|16".to_string()
        ]
    );
    // The archive has the byte, and a copy of the message the same text.
    let copy = String::from_utf8_lossy(&line).replace(S1, S2);
    sandbox.write(&file(S2), copy);
    sandbox.sync();
    assert_eq!(
        sandbox.query("select is_different from message_copies"),
        ["0"]
    );
    std::fs::remove_file(path).unwrap();
    let restored = sandbox.path("restored");
    sandbox.ok(&["restore", S1, "--out", restored.to_str().unwrap()]);
    sandbox.ok(&["check", "--deep"]);
    let found = walk(&restored)
        .into_iter()
        .find(|path| path.ends_with(format!("{S1}.jsonl")))
        .unwrap();
    assert_eq!(std::fs::read(found).unwrap(), line);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let inner = paths.map(|path| {
        if path.is_dir() {
            walk(&path)
        } else {
            vec![path]
        }
    });
    inner.flatten().collect()
}

// --- references

#[test]
fn a_reference_is_resolved_whatever_arrives_first() {
    let about = record(
        "p1",
        None,
        json!({"type": "progress", "toolUseID": "toolu_1", "parentToolUseID": "toolu_1",
        "data": {"type": "bash_progress", "output": "x"}}),
    );
    let hook = hook_progress("p2", "run-1", "Stop", "lint");
    let done = answer(
        "r1",
        "toolu_1",
        json!("done"),
        json!({"toolUseResult": {"agentId": "a1234567", "status": "completed"}}),
    );
    let first = format!("{about}\n{hook}\n{done}\n");
    let later = format!("{}\n", spawn("toolu_1"));
    let session_of_history = json!({"display": "hi", "timestamp": 1_700_000_000_000i64, "project": "/w", "sessionId": S2});
    let found = |sandbox: &Sandbox| {
        sandbox.check();
        sandbox.query("select source_tool_use_id, tool_use_id from messages where source_tool_use_id is not null union all select source_tool_use_id, tool_use_id from agent_links")
    };
    let sandbox = Sandbox::new();
    sandbox.write("projects/-w/one.jsonl", &first);
    sandbox.sync();
    assert_eq!(
        found(&sandbox),
        ["toolu_1|NULL", "run-1|NULL", "toolu_1|NULL"]
    );
    sandbox.write("projects/-w/two.jsonl", &later);
    sandbox.write("history.jsonl", format!("{session_of_history}\n"));
    sandbox.sync();
    assert_eq!(
        found(&sandbox),
        ["toolu_1|toolu_1", "run-1|NULL", "toolu_1|toolu_1"]
    );
    let together = Sandbox::new();
    together.write("projects/-w/one.jsonl", &first);
    together.write("projects/-w/two.jsonl", &later);
    together.write("history.jsonl", format!("{session_of_history}\n"));
    together.sync();
    assert_eq!(together.hash(), sandbox.hash());
}

#[test]
fn an_empty_session_has_a_row_and_is_in_no_view() {
    let mut synthetic = response("b", "m", 0, json!({"sessionId": S2}));
    synthetic["message"]["model"] = json!("<synthetic>");
    let sandbox = Sandbox::new();
    sandbox.write(&file(S1), format!("{}\n", user("a", "hello", json!({}))));
    sandbox.write(&file(S2), format!("{synthetic}\n"));
    sandbox.write(
        "todos/other-agent-other.json",
        r#"[{"content":"x","status":"pending"}]"#,
    );
    sandbox.write(
        "projects/-w/folder/subagents/agent-a1234567.meta.json",
        r#"{"agentType":"Explore"}"#,
    );
    sandbox.write("projects/-w/large/tool-results/toolu_9.txt", "output");
    sandbox.write(
        "projects/-w/flow/workflows/wf_1.json",
        r#"{"runId":"wf_1"}"#,
    );
    sandbox.write(
        "projects/-w/sessions-index.json",
        r#"{"version":1,"entries":[{"sessionId":"indexed","summary":"x"}]}"#,
    );
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select session_id from sessions where is_empty order by 1"),
        [S2, "flow", "folder", "indexed", "large", "other"]
    );
    for view in ["session_overview", "session_activity", "bi_sessions"] {
        assert_eq!(
            sandbox.query(&format!("select session_id from {view}")),
            [S1],
            "{view}"
        );
    }
}

#[test]
fn the_session_of_an_agent_is_what_its_lines_say() {
    let line = user(
        "x1",
        "work",
        json!({"isSidechain": true, "agentId": "aaaaaa1", "sessionId": S2}),
    );
    let sandbox = imported(&[(&agent_file("aaaaaa1"), &[line])]);
    assert_eq!(sandbox.query("select session_id from agents"), [S2]);
}

// --- what the person said

#[test]
fn text_beside_a_tool_result_is_the_persons() {
    let mut line = answer("r1", "toolu_1", json!("ok"), json!({"version": "2.1.30"}));
    line["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "text", "text": "use the other one"}));
    let mut interrupted = answer("r2", "toolu_2", json!("ok"), json!({}));
    interrupted["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(json!({"type": "text", "text": "[Request interrupted by user for tool use]"}));
    let sandbox = session(&[line, interrupted]);
    assert_eq!(
        sandbox.query("select kind, delivery, text from prompts"),
        ["human|beside_result|use the other one"]
    );
}

fn queue(operation: &str, content: Option<&str>, time: &str) -> Value {
    let mut line = json!({"type": "queue-operation", "operation": operation, "sessionId": S1,
        "timestamp": format!("2026-01-10T{time}.000Z")});
    if let Some(content) = content {
        line["content"] = json!(content);
    }
    line
}

#[test]
fn before_2_1_97_a_prompt_typed_meanwhile_stands_in_the_queue_only() {
    let old = json!({"version": "2.1.49"});
    let sandbox = session(&[
        user("a", "start", old.clone()),
        queue("enqueue", Some("and the docs"), "10:00:01"),
        queue("remove", None, "10:00:02"),
        queue("enqueue", Some("never mind"), "10:00:03"),
        queue("popAll", None, "10:00:04"),
    ]);
    assert_eq!(
        sandbox.query("select delivery, text from prompts order by said_at"),
        ["user|start", "queue_only|and the docs"]
    );
    let newer = session(&[
        user("a", "start", json!({})),
        queue("enqueue", Some("and the docs"), "10:00:01"),
        queue("remove", None, "10:00:02"),
    ]);
    assert_eq!(newer.query("select text from prompts"), ["start"]);
}

#[test]
fn a_queued_prompt_counts_once_where_it_is_delivered() {
    let old = json!({"version": "2.1.49", "timestamp": "2026-01-10T10:00:05.000Z"});
    let sandbox = session(&[
        user("a", "start", json!({"version": "2.1.49"})),
        queue("enqueue", Some("and the docs"), "10:00:01"),
        queue("remove", None, "10:00:02"),
        user("b", "and the docs", old),
    ]);
    assert_eq!(
        sandbox.query("select delivery, text from prompts order by said_at"),
        ["user|start", "user|and the docs"]
    );
    let attachment = record(
        "q",
        None,
        json!({"type": "attachment", "attachment": {"type": "queued_command",
        "prompt": "and the docs", "commandMode": "prompt"}}),
    );
    let newer = session(&[
        queue("enqueue", Some("and the docs"), "09:59:00"),
        queue("remove", None, "09:59:30"),
        attachment,
    ]);
    assert_eq!(
        newer.query("select delivery, text from prompts"),
        ["queued|and the docs"]
    );
}

#[test]
fn no_later_text_that_contains_a_queued_prompt_carries_it() {
    let old = |uuid: &str, text: &str, time: &str| {
        let mut line = user(uuid, text, json!({"version": "2.1.49"}));
        merge(&mut line, at(time));
        line
    };
    let mut summary = old(
        "s",
        "This session is being continued from a previous conversation. The person said: ok",
        "10:00:05",
    );
    merge(&mut summary, json!({"isCompactSummary": true}));
    let lines = [
        old("a", "start", "10:00:00"),
        queue("enqueue", Some("ok"), "10:00:01"),
        queue("enqueue", Some("\n ok, and the docs\n"), "10:00:02"),
        queue("remove", None, "10:00:03"),
        queue("remove", None, "10:00:03"),
        summary,
        old("b", "look at it", "10:00:06"),
        old("c", "ok", "10:00:07"),
    ];
    let sandbox = session(&lines);
    let said = [
        "user|start",
        "queue_only|ok",
        "queue_only|ok, and the docs",
        "user|look at it",
        "user|ok",
    ];
    let query = "select delivery, text from prompts order by said_at";
    assert_eq!(sandbox.query(query), said);
    // Another version of the file has the same operations: nothing is said twice.
    let text: String = lines
        .iter()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    sandbox.write(&file(S1), text);
    sandbox.sync();
    sandbox.check();
    assert_eq!(sandbox.query(query), said);
    assert_eq!(
        sandbox.query("select fate, count(*) from queue_entries group by 1"),
        ["copy|2", "queue_only|2"]
    );
}

#[test]
fn since_2_1_246_a_removal_says_whether_a_running_turn_absorbed_the_prompt() {
    let mut absorbed = queue("remove", Some("and the docs"), "10:00:03");
    merge(&mut absorbed, json!({"reason": "absorbed_mid_turn"}));
    let mut dropped = queue("remove", Some("and the tests"), "10:00:03");
    merge(&mut dropped, json!({"reason": "cleared"}));
    let sandbox = session(&[
        user("a", "start", json!({"version": "2.1.250"})),
        queue("enqueue", Some("and the tests"), "10:00:01"),
        queue("enqueue", Some("and the docs"), "10:00:02"),
        absorbed,
        dropped,
    ]);
    assert_eq!(
        sandbox.query("select fate, text from queue_entries order by queued_at"),
        ["removed|and the tests", "queue_only|and the docs"]
    );
}

#[test]
fn answers_and_reasons_are_the_persons() {
    let asked = call("c1", "toolu_1", "AskUserQuestion", json!({"questions": []}));
    let answered = answer(
        "r1",
        "toolu_1",
        json!("User has answered"),
        json!({"toolUseResult": {"answers": {"Add hooks?": "later"}}}),
    );
    let rejected = answer(
        "r2",
        "toolu_2",
        json!(
            "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse the helper"
        ),
        json!({}),
    );
    let sandbox = session(&[
        asked,
        answered,
        call("c2", "toolu_2", "Edit", json!({})),
        rejected,
    ]);
    assert_eq!(
        sandbox.query("select kind, question, text from prompts order by kind"),
        ["answer|Add hooks?|later", "rejection|NULL|use the helper"]
    );
}

#[test]
fn replies_to_questions_are_rows_and_never_json() {
    let questions = json!({"questions": [
        {"question": "Which \"tea\"?", "header": "Tea", "multiSelect": true,
            "options": [{"label": "green"}, {"label": "white, weak"}, {"label": "black"}]},
        {"question": "Which cup?", "header": "Cup", "multiSelect": false, "options": [{"label": "big"}]},
        {"question": "How hot?", "header": "Heat", "multiSelect": true, "options": [{"label": "90"}, {"label": "80"}]},
        {"question": "When?", "header": "When", "options": []},
    ]});
    let replied = |id: &str, returned: Value| {
        answer(
            &format!("r{id}"),
            id,
            json!("User has answered your questions"),
            json!({"toolUseResult": returned}),
        )
    };
    let sandbox = session(&[
        call("c1", "t1", "AskUserQuestion", questions.clone()),
        replied(
            "t1",
            json!({"answers": {"Which \"tea\"?": "green, white, weak", "Which cup?": "mine ", "How hot?": ["90", "80"]},
                "annotations": {"Which cup?": {"notes": "mine"}, "How hot?": {"notes": "not boiling"}}}),
        ),
        call("c2", "t2", "AskUserQuestion", questions.clone()),
        replied(
            "t2",
            json!({"answers": {"Which \"tea\"?": "green, or what you have"}, "response": "I would rather have coffee"}),
        ),
        call("c3", "t3", "AskUserQuestion", questions),
        // Nobody was there.
        replied(
            "t3",
            json!({"answers": {"Which cup?": "big"}, "afkTimeoutMs": 60000}),
        ),
    ]);
    assert_eq!(
        sandbox.query("select tool_use_id, question, reply, kind, is_option from question_replies where reply is not null order by 1, question_number, kind, reply"),
        [
            "t1|Which \"tea\"?|green|answer|1",
            "t1|Which \"tea\"?|white, weak|answer|1",
            "t1|Which cup?|mine |answer|0",
            "t1|How hot?|80|answer|1",
            "t1|How hot?|90|answer|1",
            "t1|How hot?|not boiling|note|0",
            "t2|NULL|I would rather have coffee|response|0",
            "t2|Which \"tea\"?|green, or what you have|answer|0",
        ]
    );
    assert_eq!(
        sandbox.query("select tool_use_id, question from question_replies where reply is null order by 1, question_number"),
        [
            "t1|When?",
            "t3|Which \"tea\"?",
            "t3|Which cup?",
            "t3|How hot?",
            "t3|When?"
        ]
    );
    assert_eq!(
        sandbox.query("select count(*), count(distinct text) from feedback where kind = 'answer'"),
        ["8|8"]
    );
}

/// What becomes of prompts that follow a response: the kind of each and whether it is trivial.
fn judged(texts: &[&str]) -> Vec<String> {
    let mut lines = vec![response("a", "m1", 5, json!({}))];
    for (number, text) in texts.iter().enumerate() {
        let time = format!("10:{:02}:{:02}", 1 + number / 60, number % 60);
        lines.push(user(&format!("u{number:03}"), text, at(&time)));
    }
    session(&lines).query("select kind, is_trivial from feedback order by said_at")
}

#[test]
fn a_correction_names_the_rule_and_the_phrase() {
    let lines = [
        response("a", "m1", 5, json!({})),
        user("u1", "ok, hmm, but that is the old cup", at("10:01:00")),
        user("u2", "the lid fails and leaks", at("10:02:00")),
        user(
            "u3",
            "This should pour warm tea, however it only pours water without leaves",
            at("10:03:00"),
        ),
        user("u4", "another cup", at("10:04:00")),
    ];
    let sandbox = session(&lines);
    assert_eq!(
        sandbox.query("select correction_reason from feedback order by said_at"),
        [
            "opens with: but",
            "states: fails",
            "states: however, only, should, without",
            "NULL"
        ]
    );
    // The reasons are stored, and are the same without that.
    let stored = "select correction_reason from _correction_reasons join messages using (message_id) order by sent_at";
    assert_eq!(
        sandbox.query(stored),
        [
            "opens with: but",
            "states: fails",
            "states: however, only, should, without",
            "NULL"
        ]
    );
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    let judged = "select count(*) from feedback where correction_reason is not null";
    connection
        .execute_batch("delete from _correction_reasons")
        .unwrap();
    assert_eq!(sandbox.query(judged), ["3"]);
    // What is new is judged by the next sync.
    sandbox.write(
        "projects/-w/later.jsonl",
        user("u5", "no, use the other cup", at("10:05:00")).to_string(),
    );
    sandbox.sync();
    assert_eq!(sandbox.query(stored), ["opens with: no"]);
    // A phrase that the person disabled is not used.
    rusqlite::Connection::open(sandbox.database())
        .unwrap()
        .execute_batch(
            "update correction_phrases set is_used = 0 where correction_phrase in ('but', 'fails')",
        )
        .unwrap();
    assert_eq!(
        sandbox.query("select count(*) from feedback where kind = 'correction'"),
        ["2"]
    );
    sandbox.sync();
    assert_eq!(
        sandbox.query("select count(*), count(correction_reason) from _correction_reasons"),
        ["5|2"]
    );
}

#[test]
fn a_correction_opens_with_a_phrase_or_states_a_problem() {
    let quoted = format!("{} the tea does not pour", "cup of tea ".repeat(40));
    let corrections = [
        "no, use the other cup",
        "No\nuse the other cup",
        "But that is the old cup",
        "ok, but it should be green",
        "you forgot the lid",
        "It doesn’t pour",
        "why did you drop it?",
        "the tests are still red",
        "the tea comes out cold, it does not work in the morning",
        "hmm, so, we still have leaves in the cup",
        "The first cup is fine. The second one is broken",
        "I doubt that this pours",
        "the cup isn't there",
        "Error: no tea in the pot",
        "нет, другую чашку",
        "Не работает",
        "不对，用另一个杯子",
        "杯子还是不行",
        "no funciona la tetera",
        "non, l'autre tasse",
        "não, a outra xícara",
        "nein, die andere Tasse",
        "لا، الكوب الآخر",
        "नहीं, दूसरा कप",
        "না, অন্য কাপ",
        "نہیں، دوسرا کپ",
        "bukan cangkir itu",
        "違う、別のカップ",
        "问题是杯子",
        "the problem is the lid",
        "All good, but I would take the green cup",
        "it works now, but the lid is broken",
        quoted.leak(),
    ];
    assert_eq!(
        judged(&corrections),
        vec!["correction|0"; corrections.len()]
    );
    let far = format!(
        "look at the cup {} it does not work",
        "and the pot ".repeat(20)
    );
    let others = [
        "add a test for the cup",
        "note the colour", // "no" is a part of a word
        "butter the bread",
        "nothing else, thanks to all",
        "stillness is a virtue",
        "are the review comments still valid?",
        "не".repeat(2).leak(),
        far.leak(),
        "para el té usa otra taza",
        "can you check that the lid isn't broken", // a request
        "yes, the lid is broken, use the other one", // a reply
        "why is the tea missing",                  // a question
        "sorry, I missed that the lid is broken",  // the person corrects themselves
        "the lid could be blue, or red",           // one hint
        "could the tea be red, but without sugar, or only warm?", // hints in a question
        "the questioner is right",                 // fillers are whole words
        "the kettle next to the missing cup",      // what is missing is only named
        "this error came with the old cup",
        "given that we can't open the lid, a spoon", // not of what was done
        "it works now, and the lid is blue",
    ];
    assert_eq!(judged(&others), vec!["prompt|0"; others.len()]);
    // Without a response before it nothing is corrected.
    let first = session(&[user("u1", "no, use the other cup", json!({}))]);
    assert_eq!(first.query("select kind from feedback"), ["prompt"]);
}

#[test]
fn a_trivial_text_is_one_or_two_of_the_list_in_any_language() {
    let trivial = [
        "y",
        "agreed",
        "Ok, proceed.",
        "ok proceed",
        "Yes!",
        "yes, please continue",
        "great - thanks!",
        "\n continue \n",
        "\u{1}\u{2}\u{1b}\u{7f}",
        "\u{1}y\u{1}",
        "?",
        "да",
        "sí",
        "oui, merci",
        "好的。",
        "はい",
        "हाँ",
        "نعم",
        "হ্যাঁ",
        "sim",
        "ہاں",
        "ya",
        "weiter",
        "no",
    ];
    assert_eq!(judged(&trivial), vec!["prompt|1"; trivial.len()]);
    let others = [
        "ok, rename it",
        "yes to the first, and rename it",
        "commit",
        "continue with the docs",
        "go to the kitchen",
        "是不是要重命名",
    ];
    assert_eq!(judged(&others), vec!["prompt|0"; others.len()]);
    let long = format!("yes{} rename it", " ".repeat(1200));
    assert_eq!(judged(&[&long]), ["prompt|0"]);
}

/// A call of a tool, its result, and the mark that follows in the thread.
fn interrupted(tool: &str, result: Value, given: Value, mark: &str) -> Sandbox {
    let mut called = call("c", "toolu_1", tool, json!({"command": "sleep 9"}));
    called["message"]["model"] = json!("claude-opus-4-6");
    let mut ended = answer("r", "toolu_1", result, at("10:00:01"));
    ended["parentUuid"] = json!("c");
    merge(&mut ended["message"]["content"][0], given);
    let hook = record(
        "h",
        Some("r"),
        json!({"type": "progress", "data": {"type": "hook_progress"}, "timestamp": "2026-01-10T10:00:01.000Z"}),
    );
    let mut stopped = user("m", mark, at("10:00:02"));
    stopped["parentUuid"] = json!("h");
    session(&[
        user("p", "go", json!({"timestamp": "2026-01-10T09:00:00.000Z"})),
        called,
        ended,
        hook,
        stopped,
    ])
}

#[test]
fn the_mark_that_follows_a_result_says_that_the_call_was_stopped() {
    let tool_mark = "[Request interrupted by user for tool use]";
    let mark = "[Request interrupted by user]";
    let failed = json!({"is_error": true});
    let killed = "Exit code 137\nso far";
    for (tool, result, given, mark, expected) in [
        ("Bash", killed, &failed, tool_mark, "interrupted|Bash"),
        ("Bash", killed, &failed, mark, "interrupted|Bash"),
        (
            "mcp__a__b",
            "no",
            &failed,
            tool_mark,
            "interrupted|mcp__a__b",
        ),
        // It failed by itself, and then the response to it was stopped.
        ("Bash", "Exit code 1\nno", &failed, mark, "error|NULL"),
        // It ran to its end all the same.
        ("Bash", "ok", &json!({}), tool_mark, "ok|Bash"),
        ("Bash", "ok", &json!({}), mark, "ok|NULL"),
    ] {
        let sandbox = interrupted(tool, json!(result), given.clone(), mark);
        assert_eq!(
            sandbox.query(
                "select tool_results.outcome, feedback.tool_name from tool_results, feedback where feedback.kind = 'interruption'"
            ),
            [expected],
            "{tool} {result} {mark}"
        );
        assert_eq!(
            sandbox.query("select model from feedback where kind = 'interruption'"),
            ["claude-opus-4-6"]
        );
        assert_eq!(
            sandbox.query("select interruption_count from session_overview union all select interruption_count from session_feedback union all select interruption_count from bi_sessions"),
            ["1", "1", "1"]
        );
    }
    // A denial leaves the same mark, and is the signal.
    let denied = interrupted(
        "Bash",
        json!("The user doesn't want to proceed with this tool use."),
        failed.clone(),
        tool_mark,
    );
    assert_eq!(
        denied.query("select kind, tool_name from feedback where kind <> 'prompt'"),
        ["denial|Bash"]
    );
}

#[test]
fn an_interruption_before_any_response_has_the_model_of_the_response_before_it() {
    let mut stopped = user("m", "[Request interrupted by user]", at("10:00:03"));
    stopped["parentUuid"] = json!("p");
    let mut failed = response("e", "x", 0, at("10:00:01"));
    failed["message"]["model"] = json!("<synthetic>");
    let sandbox = session(&[
        response("a", "m1", 5, json!({})),
        failed,
        user("p", "go on", at("10:00:02")),
        stopped,
    ]);
    assert_eq!(
        sandbox.query("select kind, model, tool_name from feedback where kind = 'interruption'"),
        ["interruption|claude-sonnet-4-5|NULL"]
    );
}

#[test]
fn a_plan_handed_over_links_two_sessions() {
    let text = format!(
        "Implement the following plan:\n\n# Plan\n\nIf you need specific details from before exiting plan mode, read the full transcript at: /h/{S1}.jsonl"
    );
    let sandbox = imported(&[
        (&file(S1), &[user("a", "plan it", json!({}))]),
        (&file(S2), &[user("b", &text, json!({"sessionId": S2}))]),
    ]);
    assert_eq!(
        sandbox.query(&format!(
            "select plan_session_id from sessions where session_id = '{S2}'"
        )),
        [S1]
    );
    assert_eq!(
        sandbox.query("select prompt_kind from messages where uuid = 'b'"),
        ["machine"]
    );
}

#[test]
fn a_line_of_the_history_is_matched_to_its_message_or_said_to_be_a_draft() {
    let sandbox = Sandbox::new();
    sandbox.write(
        &file(S1),
        format!("{}\n", user("a", "fix the test", at("10:00:01"))),
    );
    let ms = 1_768_039_200_000i64; // 2026-01-10T10:00:00Z
    let lines: String = [
        json!({"display": "fix the test", "timestamp": ms, "project": "/w", "sessionId": S1}),
        json!({"display": "never sent", "timestamp": ms, "project": "/w", "sessionId": S1}),
        json!({"display": "long ago", "timestamp": 1_700_000_000_000i64, "project": "/w", "sessionId": S2}),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    sandbox.write("history.jsonl", lines);
    sandbox.sync();
    assert_eq!(
        sandbox.query("select display, match_kind from history_prompts order by line_number"),
        [
            "fix the test|matched",
            "never sent|draft",
            "long ago|swept_or_draft"
        ]
    );
    assert_eq!(
        sandbox.query("select prompt_date, is_only_in_history from history_coverage order by 1"),
        ["2023-11-14|1", "2026-01-10|0"]
    );
}

#[test]
fn a_line_of_the_history_in_two_homes_was_said_once() {
    let typed = |display: &str, ms: i64| {
        json!({"display": display, "timestamp": ms, "project": "/w", "sessionId": S1}).to_string()
    };
    let said = 1_768_039_200_000i64;
    let line = typed("fix the test", said);
    // The same words at another time, and other words at the same time, are other prompts.
    let history = [&line, &typed("fix the test", said + 1), &typed("go", said)]
        .map(|line| format!("{line}\n"));
    let count = "select count(*) from prompts union all select count(*) from feedback union all select count(*) from bi_feedback";
    let sandbox = Sandbox::new();
    sandbox.write("history.jsonl", history.concat());
    sandbox.sync_with(&["--machine", "old"]);
    sandbox.sync_with(&["--machine", "new"]);
    assert_eq!(sandbox.query(count), ["3", "3", "3"]);
    // Both homes have it, and the machine is always the same.
    assert_eq!(sandbox.count("select count(*) from history_prompts"), 6);
    assert_eq!(
        sandbox.query("select distinct machine from bi_feedback"),
        ["new"]
    );
    sandbox.check();
}

#[test]
fn a_prompt_known_only_from_the_history_was_said() {
    const S3: &str = "5e550003-0000-4000-8000-000000000003";
    let ms = 1_768_039_200_000i64; // 2026-01-10T10:00:00Z
    let typed = |display: &str, session: &str| {
        json!({"display": display, "timestamp": ms, "project": "/w", "sessionId": session})
            .to_string()
    };
    let history = [
        typed("\n fix\tthe test \n", S1), // in its transcript, with other white space
        typed("and the docs", S1),        // only in the queue
        typed("never sent", S1),
        typed("/model opus", S2), // of this session only an agent is left
        typed("!ls", S2),
        typed("  ", S2),
        typed("y", S3),
    ]
    .join("\n");
    let agent = user(
        "x1",
        "work",
        json!({"isSidechain": true, "agentId": "aaaaaa1", "sessionId": S2}),
    );
    let lines = [
        user(
            "a",
            "fix the test",
            json!({"version": "2.1.49", "timestamp": "2026-01-10T10:00:01.000Z"}),
        ),
        queue("enqueue", Some("and the docs"), "10:00:02"),
        queue("remove", None, "10:00:03"),
    ];
    let sandbox = Sandbox::new();
    sandbox.write("history.jsonl", format!("{history}\n"));
    sandbox.sync();
    sandbox.check();
    // Nothing else is there yet.
    assert_eq!(
        sandbox.count("select count(*) from prompts where delivery = 'history'"),
        6
    );
    let transcript: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write(&file(S1), transcript);
    sandbox.write(
        &format!("projects/-w/{S2}/subagents/agent-aaaaaa1.jsonl"),
        format!("{agent}\n"),
    );
    sandbox.sync();
    sandbox.check();
    assert_eq!(
        sandbox.query("select match_kind from history_prompts order by line_number"),
        [
            "matched",
            "matched",
            "draft",
            "swept_or_draft",
            "swept_or_draft",
            "swept_or_draft",
            "swept_or_draft"
        ]
    );
    assert_eq!(
        sandbox.query("select kind, delivery, text, command_name, command_arguments from prompts where agent_run_id is null order by file_id, line_number"),
        [
            "slash_command|history|/model opus|/model|opus",
            "bash_command|history|!ls|NULL|NULL",
            "human|history|y|NULL|NULL",
            "human|user|fix the test|NULL|NULL",
            "human|queue_only|and the docs|NULL|NULL",
        ]
    );
    assert_eq!(
        sandbox.query("select feedback.kind, is_trivial, display from feedback join history_prompts using (history_prompt_id) order by history_prompts.line_number"),
        ["prompt|1|/model opus", "prompt|0|!ls", "prompt|1|y"]
    );
    assert_eq!(
        sandbox.query(&format!("select session_id, kind, is_trivial from bi_feedback where session_id <> '{S1}' order by 1, 3")),
        [
            format!("{S2}|prompt|0"),
            format!("{S2}|prompt|1"),
            format!("{S3}|prompt|1")
        ]
    );
}

#[test]
fn every_signal_names_its_line() {
    let mut called = call("c", "toolu_1", "Bash", json!({"command": "ls"}));
    merge(&mut called, at("10:00:05"));
    let sandbox = imported(&[
        (
            &file(S1),
            &[
                user("a", "start", json!({"version": "2.1.49"})),
                queue("enqueue", Some("and the docs"), "10:00:02"),
                queue("remove", None, "10:00:03"),
                user("m", "[Request interrupted by user]", at("10:00:04")),
                called,
                answer(
                    "r",
                    "toolu_1",
                    json!("The user doesn't want to proceed with this tool use."),
                    at("10:00:06"),
                ),
            ],
        ),
        (
            "history.jsonl",
            &[
                json!({"display": "go", "timestamp": 1_700_000_000_000i64, "project": "/w", "sessionId": S2}),
            ],
        ),
    ]);
    assert_eq!(
        sandbox.query(
            "select feedback.kind, files.kind, line_number, (message_id is not null) + (event_id is not null) + (history_prompt_id is not null)
            from feedback join files using (file_id) order by 2, 3"
        ),
        [
            "prompt|history|1|1",
            "prompt|session|1|1",
            "queued_prompt|session|2|1",
            "interruption|session|4|1",
            "denial|session|6|1"
        ]
    );
}

#[test]
fn a_pasted_text_is_found_in_the_cache_by_its_name() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "history.jsonl",
        r#"{"display":"[Pasted text #1 +9 lines]","pastedContents":{"1":{"id":1,"type":"text","contentHash":"a4834933d8c8586f"}},"timestamp":1776199291703,"project":"/w"}"#,
    );
    sandbox.write("paste-cache/a4834933d8c8586f.txt", "nine lines");
    sandbox.sync();
    assert_eq!(
        sandbox.query("select pastes.content from pasted_contents join pastes using (paste_id)"),
        ["nine lines"]
    );
}

// --- tools and projects

#[test]
fn a_failed_edit_changed_nothing_and_an_agents_edit_is_told_by_its_input() {
    let edit = |uuid: &str, id: &str| {
        call(
            uuid,
            id,
            "Edit",
            json!({"file_path": "/w/a", "old_string": "a", "new_string": "b\nc"}),
        )
    };
    let mut failed = answer(
        "r1",
        "toolu_1",
        json!("<tool_use_error>String to replace not found in file.</tool_use_error>"),
        json!({}),
    );
    failed["message"]["content"][0]["is_error"] = json!(true);
    let sandbox = session(&[
        edit("c1", "toolu_1"),
        failed,
        edit("c2", "toolu_2"),
        answer("r2", "toolu_2", json!("updated"), json!({})),
    ]);
    assert_eq!(
        sandbox.query(
            "select tool_use_id, lines_added, lines_removed, line_count_source from file_changes"
        ),
        ["toolu_2|2|1|input"]
    );
}

#[test]
fn a_file_that_an_agent_wrote_is_new_if_the_text_of_the_result_says_so() {
    let write = |number: i64| {
        let id = format!("toolu_{number}");
        let input = json!({"file_path": format!("/w/{number}"), "content": "one\ntwo\nthree\n"});
        call(&format!("c{number}"), &id, "Write", input)
    };
    let result = |number: i64, text: &str, given: Value| {
        answer(
            &format!("r{number}"),
            &format!("toolu_{number}"),
            json!(text),
            given,
        )
    };
    let created = "File created successfully at: /w/1 (file state is current in your context)";
    let sandbox = session(&[
        write(1),
        result(1, created, json!({})),
        write(2),
        result(2, "The file /w/2 has been updated successfully.", json!({})),
        // A text that quotes the sentence, and a structured result, which wins.
        write(3),
        result(3, "note: File created successfully at: /w/3", json!({})),
        write(4),
        result(
            4,
            created,
            json!({"toolUseResult": {"type": "update", "filePath": "/w/4", "structuredPatch":
            [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}]}}),
        ),
    ]);
    assert_eq!(
        sandbox.query(
            "select file_path, kind, lines_added, lines_removed, line_count_source from file_changes order by 1"
        ),
        [
            "/w/1|create|3|0|input",
            "/w/2|update|NULL|NULL|NULL",
            "/w/3|update|NULL|NULL|NULL",
            "/w/4|update|1|1|patch"
        ]
    );
}

#[test]
fn a_goal_has_a_description_and_a_sandboxed_command_says_so() {
    let goal = |id: &str, name: &str| call(id, id, name, json!({"condition": "all tests pass"}));
    let run = |id: &str, given: Value| {
        [
            call(id, id, "Bash", json!({"command": "ls"})),
            answer(
                &format!("r{id}"),
                id,
                json!("x"),
                json!({"toolUseResult": given}),
            ),
        ]
    };
    let mut lines = vec![
        goal("t1", "ProposeGoal"),
        goal("t2", "SetGoal"),
        goal("t3", "mcp__x__wait"),
    ];
    lines.extend(run(
        "t4",
        json!({"stdout": "x", "keptInSandboxByCheck": true}),
    ));
    lines.extend(run(
        "t5",
        json!({"stdout": "x", "keptInSandboxByCheck": "host"}),
    ));
    let sandbox = session(&lines);
    assert_eq!(
        sandbox.query(
            "select tool_uses.tool_use_id, description, is_kept_in_sandbox, details_json like '%kept%' from tool_uses left join tool_results using (tool_result_id) order by 1"
        ),
        [
            "t1|all tests pass|NULL|NULL",
            "t2|all tests pass|NULL|NULL",
            "t3|NULL|NULL|NULL",
            "t4|NULL|1|1",
            "t5|NULL|NULL|1"
        ]
    );
}

#[test]
fn a_call_is_followed_by_the_next_one_of_the_same_agent() {
    let step = |id: &str, time: &str, given: Value| {
        let mut line = call(id, id, "Bash", json!({"command": "ls"}));
        merge(&mut line, at(time));
        merge(&mut line, given);
        line
    };
    let mut both = step("t2", "10:00:02", json!({}));
    let second = json!({"type": "tool_use", "id": "t3", "name": "Read", "input": {}});
    both["message"]["content"]
        .as_array_mut()
        .unwrap()
        .push(second);
    let agents = |id: &str, time: &str| {
        step(
            id,
            time,
            json!({"isSidechain": true, "agentId": "a1234567"}),
        )
    };
    let sandbox = imported(&[
        (
            &file(S1),
            &[
                step("t1", "10:00:01", json!({})),
                both,
                // At the same time, and written later.
                step("t4", "10:00:02", json!({})),
                step("t6", "10:00:09", json!({})),
                // Written last, called before that.
                step("t5", "10:00:08", json!({})),
            ],
        ),
        (
            &file(S2),
            &[step("u1", "10:00:03", json!({"sessionId": S2}))],
        ),
        (
            &agent_file("a1234567"),
            &[agents("v1", "10:00:01"), agents("v2", "10:00:05")],
        ),
    ]);
    assert_eq!(
        sandbox.query("select tool_use_id, next_tool_use_id from tool_calls order by 1"),
        [
            "t1|t2", "t2|t3", "t3|t4", "t4|t5", "t5|t6", "t6|NULL", "u1|NULL", "v1|v2", "v2|NULL"
        ]
    );
}

#[test]
fn a_call_without_an_answer_is_pending() {
    let sandbox = session(&[call("c1", "toolu_1", "Bash", json!({"command": "ls"}))]);
    assert_eq!(
        sandbox.query("select name, command, outcome from tool_calls"),
        ["Bash|ls|pending"]
    );
}

#[test]
fn a_call_that_a_fork_repeats_stays_with_its_first_message() {
    let copy = record(
        "c9",
        None,
        json!({"type": "assistant", "timestamp": "2026-01-12T10:00:00.000Z", "sessionId": S2,
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]}}),
    );
    let sandbox = imported(&[
        (
            &file(S1),
            &[call("c1", "toolu_1", "Bash", json!({"command": "ls"}))],
        ),
        (&file(S2), &[copy]),
    ]);
    assert_eq!(
        sandbox.query("select uuid from tool_uses join messages using (message_id)"),
        ["c1"]
    );
    assert_eq!(sandbox.count("select count(*) from tool_use_copies"), 1);
}

#[test]
fn a_persisted_output_is_looked_for_in_the_sessions_own_folder_only() {
    let text = "<persisted-output>\nOutput too large. Full output saved to: /elsewhere/tool-results/b1.txt\n\nPreview";
    let sandbox = Sandbox::new();
    sandbox.write(
        &file(S1),
        format!(
            "{}\n{}\n",
            call("c1", "toolu_1", "Bash", json!({})),
            answer("r1", "toolu_1", json!(text), json!({}))
        ),
    );
    sandbox.write(
        &format!("projects/-w/{S1}/tool-results/b1.txt"),
        "all of it",
    );
    sandbox.write(
        &format!("projects/-w/{S2}/tool-results/b1.txt"),
        "another's",
    );
    sandbox.sync();
    assert_eq!(
        sandbox.query("select f.content from tool_results r join messages using (message_id) join tool_result_files f on f.session_id = messages.session_id and f.name = r.persisted_name"),
        ["all of it"]
    );
}

#[test]
fn a_project_is_known_by_the_working_directory_and_never_decoded() {
    let in_folder =
        |path: &str, cwd: &str| (path.to_string(), vec![user("a", "x", json!({"cwd": cwd}))]);
    for ((path, lines), expected) in [
        (
            in_folder(&format!("projects/-w-my-app/{S1}.jsonl"), "/w/my-app"),
            "/w/my-app|my-app",
        ),
        (
            in_folder(&format!("projects/-w-my-app/{S1}.jsonl"), "/w/my.app/src"),
            "/w/my.app|my.app",
        ),
        (
            in_folder(&format!("projects/C--code-bot/{S1}.jsonl"), r"C:\code\bot"),
            r"C:\code\bot|bot",
        ),
        (
            in_folder(&format!("projects/given-name/{S1}.jsonl"), "/w/app"),
            "NULL|given-name",
        ),
        (
            in_folder(
                &format!("projects/-w-app--claude-worktrees-fix/{S1}.jsonl"),
                "/w/app/.claude/worktrees/fix",
            ),
            "/w/app/.claude/worktrees/fix|app",
        ),
    ] {
        let sandbox = imported(&[(&path, &lines)]);
        assert_eq!(sandbox.query("select path, name from projects"), [expected]);
    }
}
