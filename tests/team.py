#!/usr/bin/env python3
"""What the dbt project and the dashboards of a team show, compared with the database of the machine that has everything.

    python3 tests/team.py part HOME FOLDER          copies a home with 60 % of the lines of each transcript
    python3 tests/team.py check DATABASE WAREHOUSE  DATABASE has the whole home, WAREHOUSE what dbt built of both exports

Staging: the models are the views of sql/portable/owned.sql, word for word. Marts: their figures are those of SQLite's views.
Superset: as in tests/bi_examples.py. Grafana: every query has rows within its time range and none outside of it; they run in
DuckDB, and tests/engines runs the same views in PostgreSQL. Telemetry: the joins find what is only on one side. Needs duckdb and PyYAML: tests/team installs them.
"""

import json
import math
import os
import re
import shutil
import sqlite3
import sys
from pathlib import Path

from bi_examples import ALWAYS, BEFORE, EXAMPLES, check_superset

PORTABLE = EXAMPLES.parent / "sql/portable/owned.sql"


def main(command, *arguments):
    {"part": copy_part, "check": check}[command](*arguments)


def copy_part(home, folder):
    shutil.copytree(home, folder)
    for file in Path(folder).glob("projects/**/*.jsonl"):
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(lines[: math.ceil(len(lines) * 0.6)]))


def check(database, warehouse):
    import duckdb

    sqlite = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    team = duckdb.connect(warehouse, read_only=True)
    print(f"ok      dbt: {check_staging()}, {check_marts(sqlite, team)}")
    print(f"ok      Superset, team: {check_superset(EXAMPLES / 'team/superset/dashboard', team, declared_columns)}")
    print(f"ok      Grafana, team: {check_grafana(team)}")
    print(f"ok      telemetry: {check_telemetry(team)}")


def check_staging():
    views = dict(re.findall(r"^create view (\w+) as\n(.*?);$", PORTABLE.read_text(), re.S | re.M))
    models = {file.stem: as_view(file.read_text()) for file in (EXAMPLES / "dbt/models/staging").glob("*.sql")}
    assert views.keys() == models.keys(), f"{views.keys() ^ models.keys()} is only in one of them"
    for name, sql in views.items():
        assert sql.strip() == models[name].strip(), f"{name} is not as in {PORTABLE.name}: {models[name]}"
    return f"{len(models)} staging models"


def as_view(model):
    """The SQL of a model, with names of tables instead of references."""
    return re.sub(r"\{\{ (?:source\('cc_etl', |ref\()'(\w+)'\) \}\} as \1\b", r"\1", model)


MARTS = {
    "daily_costs": (
        "select response_date, coalesce(model, ''), sum(response_count), sum(cost_usd) from daily_costs group by 1, 2",
        "select cast(local_day as varchar), coalesce(model, ''), sum(response_count), sum(cost_usd) from daily_costs group by 1, 2",
    ),
    "sessions": (
        """select session_id, prompt_count, tool_call_count, lines_added, response_count, cost_usd, started_date
        from session_overview""",
        """select session_id, prompt_count, tool_call_count, lines_added, response_count, cost_usd, cast(local_day as varchar)
        from sessions""",
    ),
    "daily_tools": (
        """select coalesce(name, ''), sum(call_count), sum(ok_count), sum(error_count), sum(denied_count), sum(stopped_count),
            sum(pending_count), sum(result_bytes)
        from tool_stats group by 1""",
        """select coalesce(tool_name, ''), sum(call_count), sum(ok_count), sum(error_count), sum(denied_count), sum(stopped_count),
            sum(pending_count), sum(result_bytes)
        from daily_tools group by 1""",
    ),
    "daily_feedback": (
        "select said_date, coalesce(project, ''), kind, count(*) from feedback group by 1, 2, 3",
        """select cast(local_day as varchar), coalesce(project, ''), kind, sum(signal_count)
        from daily_feedback group by 1, 2, 3""",
    ),
}


def check_marts(sqlite, team):
    count = 0
    for mart, (ours, theirs) in MARTS.items():
        expected = sorted(sqlite.execute(ours), key=without_costs)
        found = sorted(team.execute(theirs).fetchall(), key=without_costs)
        assert expected, mart
        differences = [pair for pair in zip(expected, found) if not is_same(*pair)]
        assert len(expected) == len(found) and not differences, f"{mart}: {len(found)} rows for {len(expected)}, {differences[:3]}"
        count += len(found)
    return f"{count} rows of {len(MARTS)} marts"


def without_costs(row):
    return repr([value for value in row if not isinstance(value, float)])


def is_same(row, other):
    """Views round costs to a millionth, marts do not."""
    return all(
        math.isclose(a, b, abs_tol=1e-5) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(row, other, strict=True)
    )


def declared_columns(team, table):
    return {name: type for name, type, *_ in team.execute(f"describe {table}").fetchall()}


def check_grafana(team):
    team.execute(f"create temp view dim_machine as from read_parquet('{os.environ['CC_ETL_EXPORT']}/v1/dim_machine/*.parquet')")
    dashboard = json.loads((EXAMPLES / "team/grafana/dashboard.json").read_text())
    targets = [(panel["title"], target) for panel in dashboard["panels"] for target in panel.get("targets", [])]
    for title, target in targets:
        rows = within(team, target["rawSql"], *ALWAYS)
        assert rows and any(value for value in rows[0].values()), f"{title}: {rows}"
        is_series = target["format"] == "time_series"
        assert is_series == ("time" in rows[0]), f"{title}: {list(rows[0])}"
        silent = within(team, target["rawSql"], *BEFORE)
        assert not any(value for row in silent for value in row.values()), f"{title} ignores the time range: {silent}"
    return f"{len(targets)} queries"


def within(team, sql, first, last):
    """The rows of a query of Grafana, which puts the time range into its text as in its documentation."""
    sql = re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 between '{first}T00:00:00Z' and '{last}T00:00:00Z'", sql)
    assert "$" not in sql, f"a variable that is not known: {sql}"
    cursor = team.execute(sql)
    return [dict(zip((column for column, *_ in cursor.description), row)) for row in cursor.fetchall()]


def check_telemetry(team):
    """Telemetry that lacks one of the requests, has one more, and knows the account of some sessions."""
    team.execute("""
        create temp table telemetry as
        select 'api_request' as event_name, session_id, request_id, null as tool_use_id, null as prompt_id,
            case when session_id < '5e550010' then 'account' end as user_account_uuid, cost_usd, null as duration_ms
        from (select *, row_number() over (order by request_id) as number from owned_response where request_id is not null)
        where number > 1
        union all select 'api_request', null, 'req_title', null, null, null, 0.5, null
        union all select 'tool_result', session_id, null, tool_use_id, null, null, null, run_ms from owned_tool_call
        union all select 'user_prompt', session_id, null, null, prompt_id, null, null, null from owned_turn
    """)
    statements = team.extract_statements((EXAMPLES / "team/telemetry.sql").read_text())
    requests, tools, accounts, prompts = [team.execute(statement).fetchall() for statement in statements]
    counts = {found: count for found, count, *_ in requests}
    assert counts["only in transcripts"] == counts["only in telemetry"] == 1 < counts["in both"], requests
    assert all(theirs == ours for *_, theirs, ours in tools) and sum(count for _, _, count, *_ in tools) == single(
        team, "select count(*) from owned_tool_call"), tools
    assert len(accounts) == 2 and math.isclose(
        sum(cost for *_, cost in accounts), single(team, "select sum(cost_usd) from owned_response")), accounts
    turns = sum(count for _, _, count, *_ in prompts)
    assert turns == single(team, "select count(prompt_id) from owned_turn") > 0, f"{turns} turns"
    return f"{len(statements)} queries"


def single(team, sql):
    return team.execute(sql).fetchone()[0]


if __name__ == "__main__":
    main(*sys.argv[1:])
