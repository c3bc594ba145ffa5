//! Each figure has one definition: views, BI tables and checks agree, on odd lines too.

mod sandbox;

use sandbox::records::*;
use serde_json::json;

/// A transcript whose name is no session id: its lines have the session that they name.
const NOTES: &str = "projects/-w/notes.jsonl";

#[test]
fn a_session_without_an_id_is_no_session() {
    let sandbox = imported(&[(
        NOTES,
        &[
            user("u1", "one", json!({"sessionId": ""})),
            user("u2", "two", json!({"sessionId": null})),
        ],
    )]);
    let more = [
        user("u3", "three", json!({"sessionId": null})).to_string(),
        user("u4", "four", json!({"sessionId": ""})).to_string(),
    ];
    sandbox.write("projects/-w/more.jsonl", more.join("\n"));
    sandbox.sync();
    sandbox.check();
    assert_eq!(sandbox.count("select count(*) from sessions"), 0);
    assert_eq!(sandbox.count("select count(*) from feedback"), 4);
    assert_eq!(sandbox.count("select count(*) from bi_feedback"), 4);
    assert_eq!(
        sandbox.query("select uuid from messages where extra_json ->> '$.sessionId' = ''"),
        ["u1", "u4"]
    );
}

#[test]
fn a_tool_or_model_without_a_name_and_one_named_nothing_agree_with_the_bi_tables() {
    let sandbox = session(&[
        call("u1", "t1", "", json!({})),
        record(
            "u2",
            None,
            json!({"type": "assistant", "message": {"role": "assistant", "content": [
                {"type": "tool_use", "id": "t2", "input": {}}
            ]}}),
        ),
        response(
            "u3",
            "m1",
            5,
            json!({"message": {"id": "m1", "model": "", "usage": {"output_tokens": 5}}}),
        ),
        response(
            "u4",
            "m2",
            7,
            json!({"message": {"id": "m2", "usage": {"output_tokens": 7}}}),
        ),
    ]);
    assert_eq!(
        sandbox.query("select name, call_count from tool_stats order by name"),
        ["NULL|1", "|1"]
    );
    assert_eq!(sandbox.query("select sum(call_count) from bi_tools"), ["2"]);
    assert_eq!(
        sandbox.query("select model, output_tokens from daily_costs order by model"),
        ["NULL|7", "|5"]
    );
    assert_eq!(
        sandbox.query("select model, output_tokens from bi_days"),
        ["|12"]
    );
}

#[test]
fn costs_of_any_size_add_up_and_those_that_cannot_stay_json() {
    let costs = [
        1e6,
        0.1,
        1e-9,
        123_456.123_456_7,
        9e5,
        0.3,
        1e15,
        -1.0,
        1e300,
    ];
    let lines: Vec<_> = costs
        .iter()
        .enumerate()
        .map(|(number, cost)| {
            let sent_at = format!("2026-01-1{}T10:00:00.000Z", number % 3);
            let given = json!({"costUSD": cost, "timestamp": sent_at});
            response(&format!("u{number}"), &format!("m{number}"), 5, given)
        })
        .collect();
    let sandbox = session(&lines);
    assert_eq!(
        sandbox.count("select count(*) from api_responses where recorded_cost_usd >= 0"),
        6
    );
    assert_eq!(
        sandbox.query(
            "select uuid from messages where extra_json ->> '$.costUSD' is not null order by uuid"
        ),
        ["u6", "u7", "u8"]
    );
}

/// Two rows of it are more than 64 bits hold.
const HUGE: i64 = i64::MAX;

#[test]
fn numbers_whose_sum_overflows_stay_json_and_stop_no_sync() {
    let usage = json!({
        "input_tokens": HUGE, "output_tokens": HUGE, "cache_read_input_tokens": -1, "cache_creation_input_tokens": HUGE,
        "cache_creation": {"ephemeral_5m_input_tokens": HUGE, "ephemeral_1h_input_tokens": HUGE},
        "server_tool_use": {"web_search_requests": HUGE}, "output_tokens_details": {"thinking_tokens": HUGE},
        "iterations": [{"type": "advisor_message", "model": "m", "input_tokens": HUGE, "output_tokens": HUGE}],
    });
    let returned = json!({"durationMs": HUGE, "persistedOutputSize": HUGE, "bytes": HUGE, "codeText": "OK", "searchCount": HUGE,
        "filePath": "/w/a", "gitDiff": {"additions": HUGE, "deletions": HUGE}});
    let hooks =
        json!([{"command": "h", "durationMs": HUGE}, {"command": "h", "durationMs": "HUGE"}]);
    let mut lines = Vec::new();
    for number in 0..2 {
        let id = |kind: &str| format!("{kind}{number}");
        lines.push(response(
            &id("r"),
            &id("m"),
            5,
            json!({"durationMs": HUGE, "message": {"id": id("m"), "model": "m", "usage": usage, "content": []}}),
        ));
        lines.push(call(
            &id("c"),
            &id("t"),
            "Edit",
            json!({"file_path": "/w/a"}),
        ));
        lines.push(answer(
            &id("a"),
            &id("t"),
            json!("ok"),
            json!({"toolUseResult": returned}),
        ));
        lines.push(record(
            &id("h"),
            None,
            json!({"type": "system", "subtype": "stop_hook_summary", "hookInfos": hooks, "durationMs": HUGE}),
        ));
    }
    let sandbox = session(&lines);
    let statistics = json!({"dailyActivity": [{"date": "2026-01-10", "messageCount": HUGE}],
        "dailyModelTokens": [{"date": "2026-01-10", "tokensByModel": {"m": HUGE}}],
        "modelUsage": {"m": {"inputTokens": HUGE, "costUSD": 1e300}}, "totalSessions": HUGE});
    sandbox.write("stats-cache.json", statistics.to_string());
    sandbox.sync();
    sandbox.check();
    for (column, table) in [
        ("output_tokens", "api_responses"),
        ("output_tokens", "usage_lines"),
        ("duration_ms", "messages"),
        ("duration_ms", "tool_results"),
        ("message_count", "usage_statistics"),
    ] {
        let kept = format!("select count(*) from {table} where {column} is not null");
        assert_eq!(sandbox.count(&kept), 0, "{kept}");
    }
    let json = sandbox
        .query("select extra_json from usage_lines limit 1")
        .concat();
    assert_eq!(json.matches(&HUGE.to_string()).count(), 9, "{json}");
    let json = sandbox
        .query("select group_concat(extra_json) from usage_statistics")
        .concat();
    assert_eq!(json.matches(&HUGE.to_string()).count(), 4, "{json}");
    for (view, _) in cc_etl::database::VIEWS {
        sandbox.query(&format!("select * from {view}"));
    }
}

#[test]
fn a_call_counts_in_the_same_group_in_every_view() {
    let bash = |uuid: &str, id: &str| call(uuid, id, "Bash", json!({"command": "ls -l"}));
    let failed = |uuid: &str, id: &str, text: &str, given| {
        let mut line = answer(uuid, id, json!(text), given);
        line["message"]["content"][0]["is_error"] = json!(true);
        line
    };
    let sandbox = session(&[
        bash("u1", "t1"),
        answer("a1", "t1", json!("ok"), at("10:00:03")),
        bash("u2", "t2"),
        failed("a2", "t2", "Exit code 1", at("10:00:05")),
        bash("u3", "t3"),
        failed(
            "a3",
            "t3",
            "<tool_use_error>InputValidationError: no</tool_use_error>",
            at("10:01:00"),
        ),
        bash("u4", "t4"),
        // Before its call: the clock was set back.
        bash("u5", "t5"),
        answer("a5", "t5", json!("ok"), at("09:00:00")),
    ]);
    let groups = "select tool_use_id, outcome, outcome_group, duration_ms, run_ms from tool_calls order by 1";
    assert_eq!(
        sandbox.query(groups),
        [
            "t1|ok|ok|3000|3000",
            "t2|error|error|5000|5000",
            "t3|invalid_input|error|60000|NULL",
            "t4|pending|pending|NULL|NULL",
            "t5|ok|ok|NULL|NULL"
        ]
    );
    let stats = "select ok_count, error_count, invalid_input_count, pending_count, error_rate, p95_duration_ms from tool_stats";
    assert_eq!(sandbox.query(stats), ["2|2|1|1|0.5|5000"]);
    let table =
        "select ok_count, error_count, pending_count, timed_count, duration_ms from bi_tools";
    assert_eq!(sandbox.query(table), ["2|2|1|2|8000"]);
    let commands = "select ok_count, error_count, error_rate, total_duration_ms from command_stats";
    assert_eq!(sandbox.query(commands), ["2|2|0.5|8000"]);
    assert_eq!(
        sandbox.query("select tool_error_count from session_overview"),
        ["2"]
    );
}

#[test]
fn an_outcome_without_a_row_fails_a_check_and_counts_as_other() {
    let sandbox = session(&[
        call("u1", "t1", "Bash", json!({})),
        answer("a1", "t1", json!("ok"), json!({})),
    ]);
    rusqlite::Connection::open(sandbox.database())
        .unwrap()
        .execute_batch("update tool_results set outcome = 'vanished'")
        .unwrap();
    assert_eq!(
        sandbox.query("select outcome, outcome_group from tool_calls"),
        ["vanished|other"]
    );
    let output = sandbox.run(&["check"]);
    assert!(sandbox::text(&output.stdout).contains("FAILED  words are known"));
}
