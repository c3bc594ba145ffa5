//! Each figure has one definition: views, BI tables and checks agree, on odd lines too.

mod sandbox;

use sandbox::Sandbox;
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

/// A laptop and a desktop: a session on each, one that both hold, and lines without a session.
#[test]
fn every_view_that_aggregates_has_the_machine_of_the_session() {
    let sandbox = Sandbox::new();
    let lines = |machine: &str, session: serde_json::Value, minute: u8| -> String {
        let given = json!({"sessionId": session, "timestamp": format!("2026-01-10T10:{minute:02}:00.000Z")});
        let id = |kind: &str| format!("{kind}-{machine}-{minute}");
        let with = |mut line: serde_json::Value| {
            merge(&mut line, given.clone());
            format!("{line}\n")
        };
        [
            response(&id("u"), &format!("msg_{}", id("m")), 5, json!({})),
            call(&id("c"), &id("t"), "Read", json!({"file_path": "/w/a"})),
            call(&id("b"), &id("s"), "Bash", json!({"command": "ls"})),
        ]
        .map(with)
        .concat()
    };
    let shared = "5e550003-0000-4000-8000-000000000003";
    for (machine, own, minute) in [("laptop", S1, 1), ("desktop", S2, 2)] {
        sandbox.write(&file(own), lines(machine, json!(own), minute));
        // The laptop has its first message.
        sandbox.write(&file(shared), lines(machine, json!(shared), 10 + minute));
        sandbox.write(NOTES, lines(machine, json!(null), 20 + minute));
        sandbox.sync_with(&["--machine", machine]);
        std::fs::remove_dir_all(sandbox.home()).unwrap();
    }
    sandbox.check();
    let counts = ["desktop|2", "laptop|4"];
    for view in [
        "response_costs",
        "daily_costs",
        "session_costs",
        "project_costs",
        "model_costs",
        "agent_costs",
        "branch_costs",
        "bi_days",
        "bi_session_days",
    ] {
        let count = match view {
            "response_costs" => "count(*)",
            _ => "sum(response_count)",
        };
        let sql = format!("select machine, {count} from {view} group by 1 order by 1");
        assert_eq!(sandbox.query(&sql), counts, "{view}");
    }
    for (view, count, tool) in [
        ("tool_stats", "sum(call_count)", "name = 'Read'"),
        ("bi_tools", "sum(call_count)", "tool_name = 'Read'"),
        ("tool_calls", "count(*)", "name = 'Read'"),
        ("command_stats", "sum(call_count)", "first_word = 'ls'"),
        ("denial_stats", "sum(call_count)", "command_prefix = 'ls'"),
        ("file_stats", "sum(read_count)", "file_path = '/w/a'"),
    ] {
        let sql = format!("select machine, {count} from {view} where {tool} group by 1 order by 1");
        assert_eq!(sandbox.query(&sql), counts, "{view}");
    }
    for view in ["session_overview", "session_costs", "bi_sessions"] {
        let sql = format!("select machine from {view} where session_id = '{shared}'");
        assert_eq!(sandbox.query(&sql), ["laptop"], "{view}");
    }
    // A line is of the machine that has it.
    assert_eq!(
        sandbox.query("select machine, line_count from duplicate_usage order by 1"),
        ["desktop|3", "laptop|3"]
    );
    // Questions add the machines up.
    let rows = |question: &str| sandbox.ok(&["query", question, "--format", "csv"]);
    assert!(rows("daily_model_costs").contains("2026-01-10,claude-sonnet-4-5,6,"));
    assert!(rows("agents_by_type").contains("main,0,6,"));
    assert!(rows("uncounted_usage").contains("counted,6,6,"));
    assert!(rows("expensive_branches").contains(",main,"));
    assert!(rows("never_denied").contains("Bash,ls,,6"));
    assert_eq!(rows("expensive_days").lines().count(), 2);
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

#[test]
fn a_block_ends_five_hours_after_its_full_hour_and_a_gap_is_longer_than_five_hours() {
    let times = [
        "2026-01-10T10:40:00.000Z",
        // At the end of the block, and after it, but not five hours after the first response or the one before.
        "2026-01-10T15:00:00.000Z",
        "2026-01-10T15:00:00.001Z",
        // Five hours without a response are no gap, and a millisecond more is one.
        "2026-01-10T20:00:00.001Z",
        "2026-01-11T01:00:00.002Z",
    ];
    let mut lines: Vec<_> = (times.iter().enumerate())
        .map(|(n, time)| {
            let (uuid, id) = (format!("u{n}"), format!("m{n}"));
            response(&uuid, &id, 5, json!({"timestamp": time}))
        })
        .collect();
    // A copy of a response is none, and one without a time is in no block.
    lines.push(response(
        "u8",
        "m0",
        5,
        json!({"timestamp": "2026-01-10T12:00:00.000Z"}),
    ));
    lines.push(response("u9", "m9", 5, json!({"timestamp": null})));
    let sandbox = session(&lines);
    let blocks = "
        select substr(started_at, 9), substr(ended_at, 9), is_gap, is_active, response_count, total_tokens, tokens_per_minute, burn_level
        from usage_blocks";
    assert_eq!(
        sandbox.query(blocks),
        [
            "10T10:00:00.000Z|10T15:00:00.000Z|0|0|2|30|0.115|normal",
            // A single response has no rate.
            "10T15:00:00.000Z|10T20:00:00.000Z|0|0|1|15|NULL|NULL",
            "10T20:00:00.000Z|11T01:00:00.000Z|0|0|1|15|NULL|NULL",
            "11T01:00:00.001Z|11T01:00:00.002Z|1|0|0|0|NULL|NULL",
            "11T01:00:00.000Z|11T06:00:00.000Z|0|0|1|15|NULL|NULL",
        ]
    );
}

#[test]
fn the_burn_level_counts_input_and_output_but_not_the_cache() {
    let line = |uuid: &str, id: &str, time: &str, output: i64| {
        let usage = json!({
            "input_tokens": 0, "output_tokens": output,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 1_000_000
        });
        let mut line = response(uuid, id, 0, at(time));
        line["message"]["usage"] = usage;
        line
    };
    for (output, level) in [
        (1999, "normal"),
        (2000, "moderate"),
        (4999, "moderate"),
        (5000, "high"),
    ] {
        let sandbox = session(&[
            line("u1", "m1", "10:00:00", 0),
            line("u2", "m2", "10:01:00", output),
        ]);
        let block = "select tokens_per_minute, burn_level from usage_blocks";
        let expected = format!("{}|{level}", 2_000_000 + output);
        assert_eq!(sandbox.query(block), [expected]);
    }
}

#[test]
fn the_active_block_is_projected_to_its_end() {
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    let now = &sandbox::query(&memory, "select datetime('now')")[0];
    let ago = |minutes: i64| {
        let time = format!("select strftime('%Y-%m-%dT%H:%M:%fZ', '{now}', '-{minutes} minutes')");
        json!({"timestamp": sandbox::query(&memory, &time)[0]})
    };
    let sandbox = session(&[
        response("u1", "m1", 5, ago(600)),
        response("u2", "m2", 5, ago(590)),
        response("u3", "m3", 5, ago(30)),
        response("u4", "m4", 5, ago(10)),
    ]);
    let states = "select is_gap, is_active, remaining_minutes is null, projected_total_tokens is null from usage_blocks";
    assert_eq!(sandbox.query(states), ["0|0|1|1", "1|0|1|1", "0|1|0|0"]);
    let active = "
        select
            total_tokens, tokens_per_minute, largest_share, remaining_minutes between 209 and 300,
            projected_total_tokens = cast(round(30 + 1.5 * remaining_minutes) as integer),
            projected_cost_usd = round(cost_usd + cost_usd / 20 * remaining_minutes, 6)
        from usage_blocks where is_active";
    assert_eq!(sandbox.query(active), ["30|1.5|1|1|1|1"]);
    let printed = sandbox.ok(&["blocks", "--active", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1, "{printed}");
    assert_eq!(rows[0]["state"], "active");
    let table = sandbox.ok(&["blocks", "--width", "200"]);
    for part in [
        "The active block ends at ",
        ": 30 tokens and <0.01 USD so far, 2 tokens per minute (normal); at this rate ",
    ] {
        assert!(table.contains(part), "{table}");
    }
    let all = sandbox.ok(&["blocks", "--recent", "--format", "jsonl"]);
    assert_eq!(all.lines().count(), 3, "{all}");
}

#[test]
fn turns_read_only_their_own_messages_and_responses() {
    let sandbox = session(&[user("u1", "one", json!({}))]);
    for sql in [
        "select * from turns",
        "select * from turns where session_id = 's'",
        "select * from turns order by started_at desc limit 1",
    ] {
        let plan = sandbox
            .query(&format!("explain query plan {sql}"))
            .join("\n");
        let range = "(session_id=? AND responded_at>? AND responded_at<?)";
        assert!(plan.contains(range), "{plan}");
        for table in ["messages", "api_responses"] {
            assert!(!plan.contains(&format!("SCAN {table}")), "{sql}\n{plan}");
        }
    }
}
