//! Money that can be proved: a home whose costs are known by hand, and prices that can be corrected.

mod sandbox;

use sandbox::Sandbox;
use sandbox::records::{answer, file, imported, merge, user};
use serde_json::{Value, json};

const S1: &str = "5e550001-0000-4000-8000-000000000001";
const S2: &str = "5e550002-0000-4000-8000-000000000002";

const HAIKU: &str = "claude-haiku-4-5-20251001";
const SONNET: &str = "claude-sonnet-4-5-20250929";

/// A line of an answer: its uuid, the answer's id, the model, the usage, and what else the line says.
fn line(uuid: &str, id: &str, model: &str, usage: Value, given: Value) -> Value {
    let mut line = json!({
        "parentUuid": null, "isSidechain": false, "type": "assistant", "uuid": uuid, "sessionId": S1, "cwd": "/w",
        "version": "2.1.200", "gitBranch": "main", "timestamp": "2026-01-10T10:00:00.000Z", "requestId": format!("req_{id}"),
        "message": {"id": id, "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": "end_turn", "usage": usage},
    });
    for (key, value) in given.as_object().unwrap() {
        match value {
            Value::Null => line.as_object_mut().unwrap().remove(key),
            other => line
                .as_object_mut()
                .unwrap()
                .insert(key.clone(), other.clone()),
        };
    }
    line
}

fn input(tokens: i64) -> Value {
    json!({"input_tokens": tokens, "output_tokens": 0})
}

/// The home of the fixture: each letter is an answer.
fn home() -> Sandbox {
    let sandbox = Sandbox::new();
    let sonnet_write = |output: i64| {
        json!({"input_tokens": 0, "output_tokens": output, "cache_creation_input_tokens": 1000,
            "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 0}})
    };
    let none = json!({});
    let e = |given: Value| {
        line(
            "e1",
            "msg_e",
            "claude-opus-4-5",
            json!({"input_tokens": 100_000, "output_tokens": 10_000}),
            given,
        )
    };
    let agent = json!({"isSidechain": true, "agentId": "aaaaaaaaaaaaaaaaa"});
    let q = json!({"input_tokens": 5, "output_tokens": 6});
    let echo = |uuid: &str, agent_id: &str, id: &str, usage: &Value| {
        json!({"parentUuid": null, "isSidechain": false, "type": "progress", "uuid": uuid, "sessionId": S1, "cwd": "/w",
            "version": "2.1.200", "timestamp": "2026-01-10T10:00:00.000Z", "toolUseID": "x", "parentToolUseID": "toolu_p",
            "data": {"type": "agent_progress", "agentId": agent_id, "message": {"type": "assistant", "uuid": format!("echo-{id}"),
                "timestamp": "2026-01-10T10:00:00.000Z",
                "message": {"id": id, "role": "assistant", "model": HAIKU, "content": [], "usage": usage}}}})
    };
    let first = [
        line("a1", "msg_a", SONNET, sonnet_write(1), none.clone()),
        line("a2", "msg_a", SONNET, sonnet_write(50), none.clone()),
        line("a3", "msg_a", SONNET, sonnet_write(1000), none.clone()),
        line(
            "b1",
            "msg_b",
            SONNET,
            json!({"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 100_000,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 100_000}}),
            none.clone(),
        ),
        line(
            "c1",
            "c0c0c0c0-0000-4000-8000-000000000001",
            "<synthetic>",
            input(0),
            none.clone(),
        ),
        line(
            "d1",
            "msg_d",
            HAIKU,
            json!({"input_tokens": 1_000_000, "output_tokens": 0, "server_tool_use": {"web_search_requests": 2}}),
            none.clone(),
        ),
        e(none.clone()),
        line(
            "f1",
            "msg_f",
            "claude-opus-4-6",
            json!({"input_tokens": 100_000, "output_tokens": 10_000, "speed": "fast"}),
            none.clone(),
        ),
        line(
            "g1",
            "msg_g",
            SONNET,
            json!({"input_tokens": 150_000, "output_tokens": 1000, "cache_read_input_tokens": 150_000}),
            none.clone(),
        ),
        line(
            "h1",
            "msg_h",
            "some-unknown-model",
            json!({"input_tokens": 10, "output_tokens": 10}),
            none.clone(),
        ),
        line(
            "i1",
            "msg_i",
            SONNET,
            json!({"input_tokens": 100_000, "output_tokens": 0, "service_tier": "batch"}),
            none.clone(),
        ),
        line(
            "l1",
            "msg_l",
            HAIKU,
            input(1000),
            json!({"requestId": "req_one"}),
        ),
        line(
            "l2",
            "msg_l",
            HAIKU,
            input(1000),
            json!({"requestId": "req_two"}),
        ),
        line(
            "m1",
            "msg_m",
            HAIKU,
            json!({"input_tokens": 0, "output_tokens": 7}),
            json!({"requestId": null}),
        ),
        line(
            "m2",
            "msg_m",
            HAIKU,
            json!({"input_tokens": 0, "output_tokens": 9}),
            json!({"requestId": null}),
        ),
        line(
            "n1",
            "msg_n",
            SONNET,
            json!({"input_tokens": 1000, "output_tokens": 100, "iterations": [
            {"type": "message", "input_tokens": 1000, "output_tokens": 100},
            {"type": "advisor_message", "model": "claude-opus-4-5", "input_tokens": 2000, "output_tokens": 300}]}),
            none.clone(),
        ),
        json!({"type": "cost-state", "sessionId": S1, "totalCostUSD": 12.5, "hasUnknownModelCost": true,
            "modelUsage": {}, "startTime": 1_768_039_200_000i64}),
        echo(
            "p1",
            "abbbbbbbbbbbbbbbb",
            "msg_p",
            &json!({"input_tokens": 3, "output_tokens": 4}),
        ),
        echo("q1", "aaaaaaaaaaaaaaaaa", "msg_q", &q),
    ];
    let second = [line(
        "a9",
        "msg_a",
        SONNET,
        sonnet_write(1000),
        json!({"sessionId": S2, "timestamp": "2026-01-11T10:00:00.000Z"}),
    )];
    let mut replay = agent.clone();
    replay["requestId"] = json!("req_replay");
    let mut replayed = e(replay);
    replayed["uuid"] = json!("e9");
    let nested = [
        replayed,
        line(
            "j1",
            "msg_j",
            HAIKU,
            json!({"input_tokens": 1_000_000, "output_tokens": 1000}),
            agent.clone(),
        ),
        line("q2", "msg_q", HAIKU, q, agent.clone()),
    ];
    let flat = [line(
        "k1",
        "msg_k",
        HAIKU,
        input(2_000_000),
        json!({"isSidechain": true, "agentId": "1234abcd"}),
    )];
    for (path, lines) in [
        (format!("projects/-w/{S1}.jsonl"), &first[..]),
        (format!("projects/-w/{S2}.jsonl"), &second[..]),
        (
            format!("projects/-w/{S1}/subagents/agent-aaaaaaaaaaaaaaaaa.jsonl"),
            &nested[..],
        ),
        ("projects/-w/agent-1234abcd.jsonl".to_string(), &flat[..]),
    ] {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        sandbox.write(&path, text);
    }
    sandbox.sync();
    sandbox.check();
    sandbox
}

/// The cost of an answer, as the view gives it.
fn cost(sandbox: &Sandbox, id: &str) -> String {
    sandbox
        .query(&format!(
            "select cost_usd from response_costs where api_message_id = '{id}'"
        ))
        .join(",")
}

#[test]
fn the_fixture_costs_what_it_costs() {
    let home = home();
    // A: one answer on three lines and a copy in another session.
    assert_eq!(
        home.query("select output_tokens, line_count, session_id from api_responses where api_message_id = 'msg_a'"),
        [format!("1000|4|{S1}")]
    );
    assert_eq!(
        cost(&home, "msg_a"),
        (1000.0 * 15.0 / 1e6 + 1000.0 * 3.75 / 1e6).to_string()
    );
    assert_eq!(cost(&home, "msg_b"), "0.6");
    assert_eq!(
        home.count("select count(*) from api_responses where model = '<synthetic>'"),
        0
    );
    assert_eq!(cost(&home, "msg_d"), "1.02");
    assert_eq!(
        home.query("select input_cost_usd, web_search_cost_usd from response_costs where api_message_id = 'msg_d'"),
        ["1|0.02"]
    );
    assert_eq!(cost(&home, "msg_e"), "0.75");
    assert_eq!(
        home.query("select duplicate_reason from usage_lines join api_responses using (api_response_id) where api_message_id = 'msg_e' and not is_counted"),
        ["sidechain_replay"]
    );
    assert_eq!(cost(&home, "msg_f"), "4.5");
    assert_eq!(cost(&home, "msg_g"), "1.0125");
    assert_eq!(
        home.count("select is_long_context from response_costs where api_message_id = 'msg_g'"),
        1
    );
    assert_eq!(cost(&home, "msg_h"), "NULL");
    assert_eq!(
        home.query("select model, response_count from unpriced_usage"),
        ["some-unknown-model|1"]
    );
    assert_eq!(cost(&home, "msg_i"), "0.15");
    // J: the sub-agent's own answer.
    assert_eq!(cost(&home, "msg_j"), "1.005");
    assert_eq!(
        home.query("select response_costs.session_id, agent_id from response_costs join agents using (agent_run_id) where api_message_id = 'msg_j'"),
        [format!("{S1}|aaaaaaaaaaaaaaaaa")]
    );
    // K: an old agent's file beside the session.
    assert_eq!(cost(&home, "msg_k"), "2");
    assert_eq!(
        home.query("select session_id from response_costs where api_message_id = 'msg_k'"),
        [S1]
    );
    assert_eq!(
        home.count("select line_count from api_responses where api_message_id = 'msg_l'"),
        2
    );
    assert_eq!(cost(&home, "msg_l"), "0.001");
    assert_eq!(
        home.count("select output_tokens from api_responses where api_message_id = 'msg_m'"),
        9
    );
    // N: an advisor with a model of its own.
    assert_eq!(
        home.query("select kind, model, input_tokens, output_tokens, cost_usd from response_costs where api_message_id like 'msg_n%' order by kind"),
        ["advisor|claude-opus-4-5|2000|300|0.0175", "message|claude-sonnet-4-5-20250929|1000|100|0.0045"]
    );
    // O: what Claude Code noted of the session.
    assert_eq!(
        home.query("select session_id, noted_cost_usd, reason from cost_reconciliation"),
        [format!("{S1}|12.5|a model without a price")]
    );
    // P: an agent of whom only progress is left. Q: one whose own line is there.
    assert_eq!(
        home.query("select agent_id, input_tokens, output_tokens from api_responses join agents using (agent_run_id) where api_message_id = 'msg_p'"),
        ["abbbbbbbbbbbbbbbb|3|4"]
    );
    assert_eq!(
        home.query("select is_progress, is_counted, duplicate_reason from usage_lines join api_responses using (api_response_id) where api_message_id = 'msg_q' order by 1"),
        ["0|1|NULL", "1|0|progress_echo"]
    );
    assert_eq!(
        home.count("select count(*) from api_responses where kind = 'message'"),
        15
    );
}

#[test]
fn costs_add_up_however_they_are_grouped() {
    let home = home();
    let total = home.query("select round(sum(cost_usd), 4) from response_costs");
    for view in [
        "daily_costs",
        "session_costs",
        "project_costs",
        "model_costs",
        "agent_costs",
        "branch_costs",
    ] {
        assert_eq!(
            home.query(&format!("select round(sum(cost_usd), 4) from {view}")),
            total,
            "{view}"
        );
    }
}

#[test]
fn a_corrected_price_shows_at_once_and_survives() {
    let home = home();
    let file = home.path("prices.csv");
    std::fs::write(&file, "model,valid_from,input_usd,output_usd,source\nsome-unknown-model,,2,4,their page\nclaude-opus-4-5,2026-01-01,10,50,\n").unwrap();
    home.ok(&["prices", "import", file.to_str().unwrap()]);
    let corrected = |home: &Sandbox| (cost(home, "msg_h"), cost(home, "msg_e"));
    let expected = ("0.00006".to_string(), "1.5".to_string());
    assert_eq!(corrected(&home), expected);
    assert_eq!(
        home.query("select price_origin, price_valid_from from response_costs where api_message_id = 'msg_e'"),
        ["user|2026-01-01"]
    );
    home.ok(&["rebuild"]);
    assert_eq!(corrected(&home), expected);
    home.sync();
    assert_eq!(corrected(&home), expected);
    // A second import corrects the first.
    std::fs::write(
        &file,
        "model,valid_from,input_usd,output_usd\nclaude-opus-4-5,2026-01-01,5,25\n",
    )
    .unwrap();
    home.ok(&["prices", "import", file.to_str().unwrap()]);
    assert_eq!(cost(&home, "msg_e"), "0.75");
}

#[test]
fn the_list_of_prices_can_be_edited_and_imported() {
    let home = home();
    let list = home.ok(&["prices", "list", "--format", "csv"]);
    let file = home.path("prices.csv");
    std::fs::write(&file, list).unwrap();
    let before = home.query("select api_message_id, cost_usd from response_costs order by 1");
    home.ok(&["prices", "import", file.to_str().unwrap()]);
    assert_eq!(
        home.query("select api_message_id, cost_usd from response_costs order by 1"),
        before
    );
    assert!(home.count("select count(*) from model_prices where origin = 'user'") > 20);
}

#[test]
fn a_price_holds_from_its_day_on() {
    let sandbox = Sandbox::new();
    let at = |uuid: &str, day: &str| {
        line(
            uuid,
            &format!("msg_{uuid}"),
            "m",
            json!({"input_tokens": 1_000_000, "output_tokens": 0}),
            json!({"timestamp": format!("{day}T10:00:00.000Z")}),
        )
    };
    let lines: String = [
        at("a", "2025-12-01"),
        at("b", "2026-02-15"),
        at("c", "2026-03-15"),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    sandbox.write(&format!("projects/-w/{S1}.jsonl"), lines);
    sandbox.sync();
    let file = sandbox.path("prices.json");
    std::fs::write(&file, r#"[{"model":"m","valid_from":"2026-02-01","input_usd":1,"output_usd":1},{"model":"m","valid_from":"2026-03-01","input_usd":2,"output_usd":2}]"#).unwrap();
    sandbox.ok(&["prices", "import", file.to_str().unwrap()]);
    // Before the first price of a model, that one holds.
    assert_eq!(
        sandbox.query("select cost_usd from response_costs order by responded_at"),
        ["1", "1", "2"]
    );
}

#[test]
fn a_file_without_sense_is_refused_with_its_reason() {
    let home = home();
    let file = home.path("prices.csv");
    std::fs::write(&file, "model,input_usd\nm,1\n").unwrap();
    let output = home.run(&["prices", "import", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        sandbox::text(&output.stderr).contains("output_usd"),
        "{}",
        sandbox::text(&output.stderr)
    );
}

#[test]
fn recorded_money_is_preferred_and_shown_apart() {
    let sandbox = Sandbox::new();
    let old = line(
        "a",
        "msg_a",
        "claude-sonnet-4-20250514",
        input(1_000_000),
        json!({"costUSD": 2.5, "version": "1.0.3"}),
    );
    sandbox.write(&format!("projects/-w/{S1}.jsonl"), format!("{old}\n"));
    sandbox.sync();
    assert_eq!(
        sandbox.query("select computed_cost_usd, recorded_cost_usd, cost_usd from response_costs"),
        ["6|2.5|2.5"]
    );
    assert_eq!(
        sandbox.query("select recorded_difference_usd from cost_reconciliation"),
        ["-3.5"]
    );
}

/// One response of a model on a day, with a thousand tokens of output and of each way of caching, and as much input as makes the prompt
/// this long.
fn priced(model: &str, day: &str, prompt: i64) -> Value {
    let name = format!("msg_{model}_{day}_{prompt}");
    let usage = json!({"input_tokens": prompt - 3000, "output_tokens": 1000, "cache_read_input_tokens": 1000,
        "cache_creation": {"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 1000}});
    line(
        &name,
        &name,
        model,
        usage,
        json!({"timestamp": format!("{day}T10:00:00.000Z")}),
    )
}

#[test]
fn every_model_costs_what_its_price_was_on_that_day() {
    // Input, output, writes for five minutes and for an hour, reads: USD per million tokens.
    let opus_4_6 = [5.0, 25.0, 6.25, 10.0, 0.5];
    let sonnet_4_6 = [3.0, 15.0, 3.75, 6.0, 0.3];
    let haiku = [0.1, 0.5, 0.125, 0.2, 0.01];
    let opus_5 = [5.0, 25.0, 6.25, 10.0, 0.5];
    let regional = opus_5.map(|rate| rate * 1.1);
    let cases = [
        ("claude-haiku-5-5", "2026-10-08", 100_000, haiku),
        (
            "claude-haiku-5-5",
            "2026-10-08",
            100_001,
            haiku.map(|rate| rate * 5.0),
        ),
        (
            "claude-sonnet-5-5",
            "2026-09-28",
            10_000,
            [2.0, 10.0, 2.5, 4.0, 0.2],
        ),
        (
            "claude-sonnet-5-5",
            "2026-10-06",
            10_000,
            [2.0, 10.0, 2.5, 4.0, 0.2],
        ),
        (
            "claude-sonnet-5-5",
            "2026-10-07",
            10_000,
            [2.0, 10.0, 2.5, 4.0, 0.1],
        ),
        ("claude-sonnet-4-6", "2026-03-12", 200_000, sonnet_4_6),
        (
            "claude-sonnet-4-6",
            "2026-02-17",
            200_001,
            [6.0, 22.5, 7.5, 12.0, 0.6],
        ),
        (
            "claude-sonnet-4-6",
            "2026-03-12",
            200_001,
            [6.0, 22.5, 7.5, 12.0, 0.6],
        ),
        ("claude-sonnet-4-6", "2026-03-13", 200_001, sonnet_4_6),
        (
            "claude-opus-4-6",
            "2026-03-12",
            200_001,
            [10.0, 37.5, 12.5, 20.0, 1.0],
        ),
        ("claude-opus-4-6", "2026-03-13", 200_001, opus_4_6),
        (
            "us.anthropic.claude-opus-5-v1:0",
            "2026-08-01",
            10_000,
            regional,
        ),
        ("eu.anthropic.claude-opus-5", "2026-08-01", 10_000, regional),
        ("jp.anthropic.claude-opus-5", "2026-08-01", 10_000, regional),
        ("au.anthropic.claude-opus-5", "2026-08-01", 10_000, regional),
        (
            "apac.anthropic.claude-opus-5",
            "2026-08-01",
            10_000,
            regional,
        ),
        (
            "us-gov.anthropic.claude-opus-5",
            "2026-08-01",
            10_000,
            opus_5.map(|rate| rate * 1.2),
        ),
        (
            "projects/p/locations/us-east5/publishers/anthropic/models/claude-opus-5@default",
            "2026-08-01",
            10_000,
            regional,
        ),
        (
            "global.anthropic.claude-opus-5",
            "2026-08-01",
            10_000,
            opus_5,
        ),
        (
            "eu.anthropic.claude-haiku-5-5",
            "2026-11-01",
            100_001,
            haiku.map(|rate| rate * 5.5),
        ),
        // Before 4.5 a region made no difference.
        (
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            "2025-08-01",
            10_000,
            sonnet_4_6,
        ),
    ];
    let lines = cases.map(|(model, day, prompt, _)| priced(model, day, prompt));
    let sandbox = imported(&[(&file(S1), &lines)]);
    for (model, day, prompt, [input, output, write_5m, write_1h, read]) in cases {
        let cost =
            ((prompt - 3000) as f64 * input + 1000.0 * (output + write_5m + write_1h + read)) / 1e6;
        let id = format!("msg_{model}_{day}_{prompt}");
        let costs = sandbox.query(&format!(
            "select printf('%.6f', cost_usd) from response_costs where api_message_id = '{id}'"
        ));
        assert_eq!(costs, [format!("{cost:.6}")], "{model} {day} {prompt}");
    }
    // Without a published price there is no cost.
    let unknown = ["claude-fable-5-2", "claude-mythos-5-2"];
    let sandbox = imported(&[(
        &file(S1),
        &unknown.map(|model| priced(model, "2026-11-10", 10_000)),
    )]);
    assert_eq!(
        sandbox.count("select count(*) from response_costs where cost_usd is null"),
        2
    );
}

#[test]
fn a_check_of_prices_names_models_without_one_or_with_an_old_one() {
    let lines = [
        priced("claude-opus-5", "2026-08-01", 10_000),
        priced("claude-opus-5-5", "2027-08-01", 10_000),
        priced("us.anthropic.claude-fable-9-v1:0", "2026-11-10", 10_000),
        priced("claude-2.1", "2026-11-10", 10_000),
    ];
    let sandbox = imported(&[(&file(S1), &lines)]);
    let check = || sandbox.ok(&["prices", "check", "--format", "csv"]);
    assert_eq!(
        check(),
        "model,problem,response_count,unpriced_count,last_response,price_from,price_checked_on,import_as\n\
        claude-2.1,a rate is missing,1,1,2026-11-10,2023-11-21,2026-11-19,claude-2-1\n\
        us.anthropic.claude-fable-9-v1:0,no price,1,1,2026-11-10,,,us.anthropic.claude-fable-9-v1:0\n\
        claude-opus-5-5,old price,1,0,2027-08-01,2026-01-01,2026-11-19,claude-opus-5-5\n"
    );
    assert!(
        sandbox
            .ok(&["prices", "check"])
            .contains("cc-etl prices import")
    );
    // Partial prices are enough: what is missing is derived.
    let prices = sandbox.path("prices.csv");
    std::fs::write(
        &prices,
        "model,input_usd,output_usd,checked_on\nclaude-fable-9,10,50,\nclaude-opus-5-5,2,,2027-07-01\nclaude-2-1,,,\n",
    )
    .unwrap();
    sandbox.ok(&["prices", "import", prices.to_str().unwrap()]);
    assert_eq!(
        sandbox.query("select priced_model, iif(cost_usd is null, 'unknown', printf('%.6f', cost_usd)) from response_costs where price_origin = 'user' order by 1"),
        [
            "claude-2-1|unknown".to_string(),
            format!("claude-fable-9|{:.6}", (7000.0 * 10.0 + 1000.0 * (50.0 + 12.5 + 20.0 + 1.0)) / 1e6),
            format!("claude-opus-5-5|{:.6}", (7000.0 * 2.0 + 1000.0 * (10.0 + 2.5 + 4.0 + 0.1)) / 1e6),
        ]
    );
    assert!(check().lines().count() == 2);
}

#[test]
fn searches_are_counted_by_the_results_of_their_calls() {
    let sandbox = Sandbox::new();
    let mut call = line(
        "a",
        "msg_a",
        SONNET,
        json!({"input_tokens": 0, "output_tokens": 0, "server_tool_use": {"web_search_requests": 0}}),
        json!({}),
    );
    call["message"]["content"] = json!([{"type": "tool_use", "id": "toolu_1", "name": "WebSearch", "input": {"query": "tea"}}]);
    let answer = json!({"parentUuid": "a", "uuid": "b", "type": "user", "sessionId": S1, "timestamp": "2026-01-10T10:00:09.000Z",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}]},
        "toolUseResult": {"query": "tea", "results": [], "durationSeconds": 1.5, "searchCount": 3}});
    sandbox.write(&format!("projects/-w/{S1}.jsonl"), format!("{call}\n"));
    sandbox.sync();
    assert_eq!(cost(&sandbox, "msg_a"), "0");
    sandbox.write(
        &format!("projects/-w/{S1}.jsonl"),
        format!("{call}\n{answer}\n"),
    );
    sandbox.sync();
    sandbox.check();
    assert_eq!(cost(&sandbox, "msg_a"), "0.03");
    // Older versions do not say how many: then the count is not known, and not 0.
    let mut older = answer;
    older["toolUseResult"] = json!({"query": "tea", "results": [], "durationSeconds": 1.5});
    let sandbox = Sandbox::new();
    sandbox.write(
        &format!("projects/-w/{S1}.jsonl"),
        format!("{call}\n{older}\n"),
    );
    sandbox.sync();
    assert_eq!(
        sandbox.query("select web_search_count is null from api_responses"),
        ["1"]
    );
}

#[test]
fn a_placeholder_is_flagged_and_estimated_beside_the_recorded_number() {
    let sandbox = Sandbox::new();
    let answer = |uuid: &str, text: &str, version: &str, stop: Value, output: i64| {
        let mut line = line(
            uuid,
            &format!("msg_{uuid}"),
            SONNET,
            json!({"input_tokens": 0, "output_tokens": output}),
            json!({"version": version}),
        );
        line["message"]["content"] = json!([{"type": "text", "text": text}]);
        line["message"]["stop_reason"] = stop;
        line
    };
    let long = "x".repeat(680);
    let lines: String = [
        answer("a", &long, "2.1.19", Value::Null, 3),
        answer("b", "short", "2.1.19", Value::Null, 40),
        answer("c", "short", "2.1.60", json!("end_turn"), 40),
        answer("d", &long, "2.1.140", json!("end_turn"), 3),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect();
    sandbox.write(&format!("projects/-w/{S1}.jsonl"), lines);
    sandbox.sync();
    assert_eq!(
        sandbox.query("select api_message_id, usage_quality, output_tokens, estimated_output_tokens from api_responses order by 1"),
        ["msg_a|placeholder|3|200", "msg_b|suspect|40|2", "msg_c|final|40|NULL", "msg_d|placeholder|3|NULL"]
    );
    assert_eq!(
        sandbox.query("select cost_usd, estimated_cost_usd from response_costs where api_message_id in ('msg_a', 'msg_b') order by api_message_id"),
        ["0.000045|0.003", "0.0006|0.0006"]
    );
}

/// Sessions of a gateway that gives every response the same id. Each response has two lines, with the result of a tool in
/// between, and follows a prompt.
fn gateway(id: &str, tokens: impl Fn(usize) -> i64, given: impl Fn(usize) -> Value) -> Sandbox {
    let mut files = Vec::new();
    for session in 1..=3 {
        let session_id = format!("5e55000{session}-0000-4000-8000-00000000000{session}");
        let mut lines = Vec::new();
        for number in 1..=3 {
            let name = |part: &str| format!("{part}-{session}-{number}");
            let own = json!({"sessionId": session_id});
            let usage =
                |output: i64| json!({"input_tokens": tokens(number), "output_tokens": output});
            let half = |part: &str, output: i64| {
                let mut line = line(&name(part), id, SONNET, usage(output), given(number));
                merge(&mut line, own.clone());
                line
            };
            lines.push(user(&name("prompt"), "make tea", own.clone()));
            lines.push(half("first", 10));
            lines.push(answer(
                &name("result"),
                &name("call"),
                json!("done"),
                own.clone(),
            ));
            lines.push(half("second", 10 * number as i64));
        }
        files.push((file(&session_id), lines));
    }
    let files: Vec<(&str, &[Value])> = (files.iter())
        .map(|(path, lines)| (path.as_str(), lines.as_slice()))
        .collect();
    imported(&files)
}

const RESPONSES: &str = "select count(*), sum(line_count), sum(output_tokens) from api_responses";

#[test]
fn an_id_that_a_gateway_repeats_names_a_response_in_its_request_or_a_run_of_lines() {
    let without_request = |_| json!({"requestId": null});
    for tokens in [|_| 100, |number: usize| number as i64] {
        let sandbox = gateway("response", tokens, without_request);
        sandbox.check();
        assert_eq!(sandbox.query(RESPONSES), ["9|18|180"]);
        assert_eq!(
            sandbox.query("select distinct duplicate_reason from usage_lines where not is_counted"),
            ["same_run"]
        );
        // A resumed session repeats the lines.
        let copy = std::fs::read_to_string(sandbox.home().join(file(S1))).unwrap();
        sandbox.write(&file(S2.replace('2', "9").as_str()), &copy);
        sandbox.sync();
        sandbox.check();
        assert_eq!(sandbox.query(RESPONSES), ["9|24|180"]);
        // Their halves come in two syncs.
        let part: String = copy.split_inclusive('\n').take(6).collect();
        let halves = Sandbox::new();
        halves.write(&file(S1), part);
        halves.sync();
        assert_eq!(halves.query(RESPONSES), ["2|3|20"]);
        halves.write(&file(S1), copy);
        halves.sync();
        halves.check();
        assert_eq!(halves.query(RESPONSES), ["3|6|60"]);
    }
    // Within a request the tokens need not be equal, and one response follows the other without a prompt.
    let sandbox = gateway(
        "response",
        |_| 0,
        |number| json!({"requestId": format!("req_{}", number % 2)}),
    );
    assert_eq!(sandbox.query(RESPONSES), ["2|18|50"]);
    assert_eq!(
        sandbox.query("select duplicate_reason, count(*) from usage_lines where not is_counted group by 1 order by 1"),
        ["resume_copy|12", "same_request|4"]
    );
    // Where no tokens are reported, the result of a tool ends a response.
    let sandbox = gateway("response", |_| 0, without_request);
    assert_eq!(sandbox.query(RESPONSES), ["18|18|270"]);
    // The ids of the API are unique: sessions, requests and tokens do not matter.
    let sandbox = gateway("msg_1", |number| number as i64, without_request);
    assert_eq!(sandbox.query(RESPONSES), ["1|18|30"]);
}

#[test]
fn a_line_with_usage_and_without_a_uuid_is_counted() {
    let bare = |id: &str, output: i64| {
        json!({"type": "assistant", "sessionId": S1, "timestamp": "2026-01-10T10:00:00.000Z", "costUSD": 0.25,
            "message": {"id": id, "model": SONNET, "role": "assistant", "usage": {"input_tokens": 1, "output_tokens": output}}})
    };
    let own = line(
        "a",
        "msg_a",
        SONNET,
        json!({"input_tokens": 1, "output_tokens": 5}),
        json!({}),
    );
    // One response on two lines, one that has a message too, and two that have no id, one of them twice.
    let lines = [
        bare("msg_b", 10),
        bare("msg_b", 20),
        own,
        bare("msg_a", 7),
        bare("", 30),
        bare("", 30),
        bare("", 40),
    ];
    let sandbox = imported(&[(&file(S1), &lines)]);
    sandbox.check();
    assert_eq!(
        sandbox.query("select api_responses.output_tokens, line_count, cost_usd, api_responses.session_id is not null, api_responses.message_id is not null from api_responses join response_costs using (api_response_id) order by 1"),
        ["7|2|0.25|1|1", "20|2|0.25|1|0", "30|2|0.25|1|0", "40|1|0.25|1|0"]
    );
    assert_eq!(
        sandbox.query("select duplicate_reason, event_id is null from usage_lines where not is_counted order by line_number"),
        ["streaming|0", "streaming|1", "streaming|0"]
    );
    assert_eq!(sandbox.query("select count(*) from events"), ["6"]);
}

#[test]
fn a_turn_has_what_its_responses_cost_and_the_context_at_its_end() {
    let at = |second: &str| json!({"timestamp": format!("2026-01-10T10:00:{second}.000Z")});
    let usage = |input: i64, read: i64| json!({"input_tokens": input, "output_tokens": 100, "cache_read_input_tokens": read, "cache_creation_input_tokens": 1000});
    let response = |uuid: &str, model: &str, input: i64, read: i64, second: &str| {
        line(
            uuid,
            &format!("msg_{uuid}"),
            model,
            usage(input, read),
            at(second),
        )
    };
    let worktree = "/w/cli/.worktrees/1";
    let mut lines = vec![
        user("p1", "make tea", at("01")),
        response("a", SONNET, 10, 0, "02"),
        response("b", HAIKU, 20, 5000, "03"),
        user("p2", "and cake", at("10")),
        response("c", SONNET, 30, 7000, "11"),
        user("p3", "thanks", at("20")),
    ];
    for line in &mut lines {
        line["cwd"] = json!(worktree);
    }
    let mut agent = response("d", HAIKU, 40, 0, "04");
    merge(
        &mut agent,
        json!({"isSidechain": true, "agentId": "a1234567"}),
    );
    let sandbox = imported(&[
        (&format!("projects/-w-cli--worktrees-1/{S1}.jsonl"), &lines),
        (
            &format!("projects/-w-cli--worktrees-1/{S1}/subagents/agent-a1234567.jsonl"),
            &[agent],
        ),
    ]);
    sandbox.check();
    let rows = sandbox.query(
        "select turn_number, project, model, input_tokens, total_tokens, context_tokens, cost_usd, unpriced_count from turns order by 1",
    );
    let sonnet = |input: f64, read: f64| (input * 3.0 + 1500.0 + 3750.0 + read * 0.3) / 1e6;
    let haiku = |input: f64, read: f64| (input + 500.0 + 1250.0 + read * 0.1) / 1e6;
    let first = sonnet(10.0, 0.0) + haiku(20.0, 5000.0) + haiku(40.0, 0.0);
    let expected = [
        format!("1|cli|{HAIKU}|70|8370|6020|{first}|0"),
        format!("2|cli|{SONNET}|30|8130|8030|{}|0", sonnet(30.0, 7000.0)),
        "3|cli|NULL|0|0|NULL|NULL|0".to_string(),
    ];
    assert_eq!(rows, expected);
    // Without a cache, writes and reads would have been input. The first response only wrote.
    assert_eq!(
        sandbox.query("select project, cache_savings_usd from response_costs where api_message_id in ('msg_a', 'msg_c') order by 2"),
        [
            format!("cli|{}", (1000.0 * 3.0 - 3750.0) / 1e6),
            format!("cli|{}", (8000.0 * 3.0 - 3750.0 - 2100.0) / 1e6),
        ]
    );
    let savings = sandbox.query("select round(sum(cache_savings_usd), 6) from response_costs");
    for view in [
        "daily_costs",
        "session_costs",
        "project_costs",
        "model_costs",
        "session_overview",
    ] {
        let sum = format!("select round(sum(cache_savings_usd), 6) from {view}");
        assert_eq!(sandbox.query(&sum), savings, "{view}");
    }
    assert_eq!(sandbox.query("select project from project_costs"), ["cli"]);
}
