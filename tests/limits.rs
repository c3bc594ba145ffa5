//! Budgets, the status line and samples of limits.

mod sandbox;

use sandbox::Sandbox;
use sandbox::records::*;
use serde_json::{Value, json};

/// A home with a response of 1.5 USD now, in the project `w`.
fn spent_now() -> Sandbox {
    let now = json!({"timestamp": now("+0 minutes")});
    session(&[response("u1", "m1", 99_998, now)])
}

/// The current time, moved by a modifier of SQLite.
fn now(modifier: &str) -> String {
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    let time = format!("select strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '{modifier}')");
    sandbox::query(&memory, &time).remove(0)
}

fn json_of(printed: &str) -> Value {
    serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

const STATUS: &str = "select period, project, spent_usd, spent_share, state from budget_status order by period, project";

#[test]
fn a_budget_is_compared_with_what_its_period_has_cost() {
    let sandbox = spent_now();
    assert!(
        sandbox
            .ok(&["budget", "list"])
            .contains("there is no budget")
    );
    sandbox.ok(&["budget", "check"]);
    sandbox.ok(&["budget", "set", "1", "--per", "month"]);
    let set = sandbox.ok(&["budget", "set", "3.00", "--per", "month"]);
    assert_eq!(set.trim(), "3.00 USD per month for all projects");
    sandbox.ok(&["budget", "set", "$1", "--per", "day", "--project", "W"]);
    assert_eq!(
        sandbox.query(STATUS),
        ["day|w|1.5|1.5|over", "month||1.5|0.5|within"].map(|row| {
            match now("+0 minutes")[8..10].parse() {
                // Early in a month, the projection is higher than the budget.
                Ok(1..=15) => row.replace("within", "ahead"),
                _ => row.to_string(),
            }
        })
    );
    let rows = json_of(&sandbox.ok(&["budget", "list", "--json"]));
    assert_eq!(rows[0]["state"], "over");
    assert_eq!(rows[1]["project"], "all projects");
    let failed = sandbox.run(&["budget", "check", "--json"]);
    assert_eq!(failed.status.code(), Some(3));
    assert_eq!(json_of(&sandbox::text(&failed.stdout)), rows);
    let message = sandbox::text(&failed.stderr);
    assert!(
        message.contains("budget of 1.00 USD per day for w: 1.50 spent, which exceeds it"),
        "{message}"
    );
    sandbox.ok(&["budget", "remove", "--per", "day", "--project", "w"]);
    sandbox.ok(&["budget", "check"]);
    let missing = sandbox.run(&["budget", "remove", "--per", "day"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn a_budget_of_another_project_or_of_an_earlier_day_is_not_spent() {
    let sandbox = Sandbox::new();
    let old = json!({"timestamp": now("-40 days"), "cwd": "/w/tea"});
    sandbox.write(
        "projects/-w-tea/a.jsonl",
        response("u1", "m1", 99_998, old).to_string(),
    );
    let new = json!({"timestamp": now("+0 minutes"), "cwd": "/w/teapot", "sessionId": S2});
    sandbox.write(
        "projects/-w-teapot/b.jsonl",
        response("u2", "m2", 99_998, new).to_string(),
    );
    sandbox.sync();
    for project in ["tea", "teapot"] {
        sandbox.ok(&["budget", "set", "9", "--per", "day", "--project", project]);
    }
    assert_eq!(
        sandbox.query("select project, spent_usd, unpriced_count from budget_status order by 1"),
        ["tea|0|0", "teapot|1.5|0"]
    );
    let several = sandbox.run(&["budget", "set", "9", "--per", "day", "--project", "te"]);
    assert!(sandbox::text(&several.stderr).contains("tea, teapot"));
    let unknown = sandbox.run(&["budget", "set", "9", "--per", "day", "--project", "coffee"]);
    assert_eq!(unknown.status.code(), Some(2));
    for amount in ["0", "-1", "nan", "inf", "1e10", "much"] {
        let refused = sandbox.run(&["budget", "set", "--per", "day", "--", amount]);
        assert_eq!(refused.status.code(), Some(2), "{amount}");
    }
}

#[test]
fn the_projection_is_what_is_spent_over_the_part_of_the_period_that_has_passed() {
    let sandbox = spent_now();
    for period in ["day", "week", "month"] {
        sandbox.ok(&["budget", "set", "9", "--per", period]);
    }
    let projected = "
        select period, abs(projected_usd * elapsed_share - spent_usd) < 0.001 * projected_usd,
            elapsed_share between 0 and 1, period_end_date >= period_start_date
        from budget_status order by 1";
    assert_eq!(
        sandbox.query(projected),
        ["day|1|1|1", "month|1|1|1", "week|1|1|1"]
    );
    let days = "
        select period, julianday(period_end_date) - julianday(period_start_date) + 1, strftime('%w', period_start_date)
        from budget_status where period <> 'month' order by 1";
    assert_eq!(sandbox.query(days)[1], "week|7|1");
}

#[test]
fn budgets_survive_a_rebuild_and_are_shown_by_the_overview_and_the_report() {
    let sandbox = spent_now();
    let page = |name: &str| {
        let page = sandbox.path(name);
        sandbox.ok(&["report", "--out", page.to_str().unwrap()]);
        std::fs::read_to_string(page).unwrap()
    };
    assert!(!page("before.html").contains("Budgets"));
    sandbox.ok(&["budget", "set", "1", "--per", "day"]);
    sandbox.ok(&["rebuild"]);
    assert_eq!(sandbox.query(STATUS), ["day||1.5|1.5|over"]);
    assert!(page("after.html").contains("Budgets"));
    let overview = json_of(&sandbox.ok(&["--json"]));
    assert_eq!(overview["budgets"][0]["spent_usd"], 1.5);
    let shown = sandbox.ok(&[]);
    assert!(shown.contains("which exceeds it"), "{shown}");
}

#[test]
fn the_active_block_is_found_without_the_sums_of_earlier_blocks() {
    let mut lines: Vec<Value> = (0..2000)
        .map(|number| {
            let moment = json!({"timestamp": now(&format!("-{} minutes", 60 + number * 7))});
            response(&format!("u{number}"), &format!("m{number}"), 5, moment)
        })
        .collect();
    lines.push(response(
        "u",
        "m",
        5,
        json!({"timestamp": now("-1 minutes"), "message": {
        "id": "m", "model": "claude-opus-5", "usage": {"input_tokens": 1, "output_tokens": 7}}}),
    ));
    let sandbox = session(&lines);
    let connection = sandbox.connection();
    let row = |sql: &str| {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = statement.query_row([], |row| {
            (0..columns)
                .map(|column| row.get::<_, rusqlite::types::Value>(column))
                .collect::<Result<Vec<_>, _>>()
        });
        (
            row.unwrap(),
            statement.get_status(rusqlite::StatementStatus::VmStep),
        )
    };
    let columns = "
        started_at, ended_at, last_response_at, models, response_count, total_tokens, cost_usd, unpriced_count, tokens_per_minute,
        hourly_cost_usd, burn_level";
    let last = "ended_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
    let (all, all_steps) = row(&format!(
        "select {columns} from usage_blocks where is_active"
    ));
    let (active, steps) = row(&format!("select {columns} from _blocks where {last}"));
    assert_eq!(all, active);
    assert!(steps < all_steps / 5, "{steps} of {all_steps}");
}
