//! Each figure has one definition: views, BI tables and checks agree, on odd lines too.

mod sandbox;

use sandbox::records::*;
use serde_json::json;

/// A transcript whose name is no session id: its lines have the session that they name.
const NOTES: &str = "projects/-w/notes.jsonl";

#[test]
fn a_prompt_without_a_session_and_one_of_a_session_without_a_name_are_two_signals() {
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
    assert_eq!(sandbox.count("select count(*) from feedback"), 4);
    assert_eq!(sandbox.count("select count(*) from bi_feedback"), 4);
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
fn costs_of_any_size_add_up() {
    let costs = [1e15, 0.1, 1e-9, 123_456_789.123_456_7, 9e14, 0.3];
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
        sandbox.count("select count(*) from response_costs where cost_usd > 0"),
        costs.len() as i64
    );
}
