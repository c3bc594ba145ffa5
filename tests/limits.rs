//! Budgets, the status line and samples of limits.

mod sandbox;

use sandbox::Sandbox;
use sandbox::records::*;
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

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
    let rows = json_of(&sandbox.ok(&["budget", "--json"]));
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

/// Runs the status line with this on standard input. It must succeed whatever that is.
fn status_line(sandbox: &Sandbox, input: &[u8]) -> String {
    let mut child = sandbox
        .command(&["statusline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let line = sandbox::text(&output.stdout);
    assert_eq!(line.lines().count(), 1, "{line}");
    line.trim_end().to_string()
}

/// What Claude Code 2.1.80 and later give it.
fn input(five_hours: f64, resets_at: Value) -> Value {
    json!({
        "session_id": S1, "transcript_path": "/h/projects/-w/s.jsonl", "cwd": "/w", "version": "2.1.80",
        "model": {"id": "claude-opus-5", "display_name": "Opus 5"}, "workspace": {"current_dir": "/w", "project_dir": "/w"},
        "cost": {"total_cost_usd": 0.75, "total_duration_ms": 45000},
        "context_window": {"context_window_size": 200_000, "used_percentage": 8.4},
        "rate_limits": {
            "five_hour": {"used_percentage": five_hours, "resets_at": resets_at},
            "seven_day": {"used_percentage": 41, "resets_at": "2026-12-01T10:00:00Z"},
        },
    })
}

fn seconds(modifier: &str) -> Value {
    let memory = rusqlite::Connection::open_in_memory().unwrap();
    let time = format!("select unixepoch('now', '{modifier}')");
    json!(sandbox::query(&memory, &time)[0].parse::<i64>().unwrap())
}

#[test]
fn the_status_line_shows_what_is_known() {
    let sandbox = session(&[
        response("u0", "m0", 9_998, json!({"timestamp": now("-20 minutes")})),
        response("u1", "m1", 89_998, json!({"timestamp": now("-10 minutes")})),
    ]);
    let line = status_line(
        &sandbox,
        input(23.5, seconds("+90 minutes")).to_string().as_bytes(),
    );
    let parts: Vec<&str> = line.split(" | ").collect();
    assert_eq!(parts[..2], ["Opus 5", "$0.75 session"]);
    assert!(
        parts[2] == "$1.50 today" || now("-20 minutes")[..10] != now("+0 minutes")[..10],
        "{line}"
    );
    // Ten minutes ago a block may have ended.
    let block = "select 'block' from usage_blocks where is_active and response_count = 2";
    if !sandbox.query(block).is_empty() {
        assert!(
            parts[3].starts_with("$1.50 block, ") && parts[3].contains(" left, $9.00/h"),
            "{line}"
        );
    }
    assert_eq!(parts[4], "context 8%");
    assert!(
        parts[5].starts_with("limits 5 h 24% (resets in 1 h ") && parts[5].ends_with("), 7 d 41%"),
        "{line}"
    );
    assert_eq!(parts.len(), 6);
    sandbox.ok(&["budget", "set", "1", "--per", "month"]);
    let line = status_line(&sandbox, b"{}");
    assert!(
        line.contains("over budget of 1.00 USD per month for all projects"),
        "{line}"
    );
}

#[test]
fn any_input_gives_a_status_line() {
    let sandbox = Sandbox::new();
    let input = input(5.0, json!(1_738_425_600));
    let without_database = status_line(&sandbox, input.to_string().as_bytes());
    assert_eq!(
        without_database,
        "Opus 5 | $0.75 session | context 8% | limits 5 h 5%, 7 d 41%"
    );
    sandbox.write(
        "projects/-w/s.jsonl",
        response("u1", "m1", 5, json!({})).to_string(),
    );
    sandbox.sync();
    for (given, shown) in [
        (&b""[..], "$0.00 today"),
        (b"null", "$0.00 today"),
        (b"{\"model\"", "$0.00 today"),
        (b"\xff\xfe", "$0.00 today"),
        (b"[1, 2]", "$0.00 today"),
        (br#"{"model": 5, "cost": "x", "context_window": [], "rate_limits": {"five_hour": 7}}"#, "$0.00 today"),
        (br#"{"model": {"display_name": "A\n\u001b[31mB"}}"#, "A \\u{1b}[31mB | $0.00 today"),
        (br#"{"model": {"display_name": " ", "id": "claude-x"}}"#, "claude-x | $0.00 today"),
        (br#"{"model": {"id": "claude-x"}, "cost": {"total_cost_usd": null}}"#, "claude-x | $0.00 today"),
        (
            br#"{"context_window": {"context_window_size": 200, "current_usage": {"input_tokens": 20, "cache_read_input_tokens": 30}}}"#,
            "$0.00 today | context 25%",
        ),
    ] {
        assert_eq!(status_line(&sandbox, given), shown, "{given:?}");
    }
    std::fs::write(sandbox.database(), "no database").unwrap();
    assert_eq!(
        status_line(&sandbox, b"{}"),
        "cc-etl has no history yet: run cc-etl sync"
    );
}

#[test]
fn the_status_line_does_not_wait_for_a_lock() {
    let sandbox = spent_now();
    let connection = rusqlite::Connection::open(sandbox.database()).unwrap();
    // Readers of a write-ahead log do not wait for its writer, but for this one.
    connection
        .execute_batch(
            "pragma locking_mode = exclusive; begin exclusive; update settings set value = value",
        )
        .unwrap();
    let begun = std::time::Instant::now();
    let line = status_line(
        &sandbox,
        input(5.0, json!(1_738_425_600)).to_string().as_bytes(),
    );
    assert!(line.starts_with("Opus 5 | $0.75 session"), "{line}");
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    drop(connection);
    sandbox.sync();
    assert_eq!(sandbox.count("select count(*) from limit_samples"), 2);
}

#[test]
fn two_identical_samples_are_one_row_and_nothing_is_lost() {
    let sandbox = spent_now();
    let show = |percentage: f64, end: Value| {
        status_line(&sandbox, input(percentage, end).to_string().as_bytes())
    };
    let samples = || {
        sandbox.query(
            "select limit_name, used_percentage, resets_at from limit_samples order by 1, 2, 3",
        )
    };
    show(5.0, json!(1_738_425_600));
    show(5.0, json!(1_738_425_600));
    sandbox.sync();
    let first = [
        "five_hour|5|2025-02-01T16:00:00.000Z",
        "seven_day|41|2026-12-01T10:00:00.000Z",
    ];
    assert_eq!(samples(), first);
    let spool = sandbox.path("test.db.limits");
    assert_eq!(std::fs::read_to_string(&spool).unwrap(), "");
    // The same value, at an end that differs by less than a minute, and written as text; then another period, and a session that waits.
    show(5.0, json!("2025-02-01T15:59:59.7Z"));
    assert_eq!(std::fs::read_to_string(&spool).unwrap(), "");
    show(5.5, json!(1_738_425_600));
    show(5.0, json!(1_738_443_600));
    show(5.5, json!(1_738_425_600));
    let waiting = std::fs::read_to_string(&spool).unwrap();
    assert_eq!(waiting.lines().count(), 2, "{waiting}");
    sandbox.sync();
    // A sync that was killed before it emptied the file.
    std::fs::write(&spool, waiting + "{\"torn").unwrap();
    sandbox.sync();
    let all = [
        first[0],
        "five_hour|5|2025-02-01T21:00:00.000Z",
        "five_hour|5.5|2025-02-01T16:00:00.000Z",
        first[1],
    ];
    assert_eq!(samples(), all);
    sandbox.ok(&["rebuild"]);
    assert_eq!(samples(), all);
    sandbox.check();
}

#[test]
fn usage_between_two_samples_is_that_of_the_responses_between_them() {
    let sandbox = session(&[
        response("u1", "m1", 99_998, at("10:30:00")),
        response("u2", "m2", 199_998, at("11:00:00")),
        response("u3", "m3", 5, at("11:30:00")),
        response("u4", "m4", 5, at("12:30:00")),
    ]);
    rusqlite::Connection::open(sandbox.database())
        .unwrap()
        .execute_batch(
            "insert into limit_samples (limit_name, used_percentage, resets_at, sampled_at) values
                ('five_hour', 10, '2026-01-10T15:00:00.000Z', '2026-01-10T10:30:00.000Z'),
                ('five_hour', 16, '2026-01-10T15:00:00.000Z', '2026-01-10T11:00:00.000Z'),
                ('five_hour', 17, '2026-01-10T15:00:00.000Z', '2026-01-10T11:10:00.000Z'),
                ('seven_day', 4, '2026-01-11T00:00:00.000Z', '2026-01-10T12:00:00.000Z'),
                ('other', 4, '2026-01-11T00:00:00.000Z', '2026-01-10T12:00:00.000Z');",
        )
        .unwrap();
    let usage = "
        select limit_name, substr(previous_at, 9, 8), added_percentage, response_count, total_tokens, cost_usd, percent_per_usd
        from limit_usage order by limit_name, sampled_at";
    assert_eq!(
        sandbox.query(usage),
        [
            // From the start of its period on.
            "five_hour|10T10:00|10|1|100008|1.5|6.6667",
            "five_hour|10T10:30|6|1|200008|3|2",
            "five_hour|10T11:00|1|0|0|NULL|NULL",
            "other|NULL|4|0|0|NULL|NULL",
            "seven_day|04T00:00|4|3|300031|4.500105|0.8889",
        ]
    );
}

#[test]
fn the_status_line_is_installed_on_request_and_removed_byte_for_byte() {
    let sandbox = Sandbox::new();
    let (home, settings) = (sandbox.path("claude"), sandbox.path("claude/settings.json"));
    std::fs::create_dir(&home).unwrap();
    let hook = |arguments: &[&str]| {
        let folder = ["--config-dir", home.to_str().unwrap()];
        sandbox.run(&[&["hook"], arguments, &folder[..]].concat())
    };
    let read = || std::fs::read_to_string(&settings).ok();
    let mine = "{\n\t\"model\": \"opus\"\n}";
    for before in [None, Some(mine)] {
        if let Some(text) = before {
            std::fs::write(&settings, text).unwrap();
        }
        assert!(hook(&["install"]).status.success());
        assert!(!read().unwrap().contains("statusLine"));
        assert!(hook(&["install", "--statusline"]).status.success());
        let installed = read().unwrap();
        // Without the option, what is installed stays.
        assert!(hook(&["install"]).status.success());
        assert_eq!(read().unwrap(), installed);
        assert!(sandbox::text(&hook(&["status"]).stdout).contains(" statusline"));
        let command = json_of(&installed)["statusLine"]["command"]
            .as_str()
            .unwrap()
            .to_string();
        assert!(command.contains("/cc-etl statusline --db "), "{command}");
        assert!(hook(&["remove"]).status.success());
        assert_eq!(read().as_deref(), before);
    }
    let other =
        "{\"statusLine\": {\"type\": \"command\", \"command\": \"input | cc-etl statusline\"}}";
    std::fs::write(&settings, other).unwrap();
    let refused = hook(&["install", "--statusline"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(sandbox::text(&refused.stderr).contains("--replace-statusline"));
    assert_eq!(read().as_deref(), Some(other));
    assert!(hook(&["remove"]).status.success());
    assert_eq!(read().as_deref(), Some(other));
    assert!(hook(&["install", "--replace-statusline"]).status.success());
    assert!(!read().unwrap().contains("input |"));
}
