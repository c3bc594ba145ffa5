"""Compares our totals with those of two other tools, per day and model, and names the reason of every difference.

Usage: python3 tests/compare_rivals.py HOME [HOME ...]

Runs ccusage 20.0.24 and agentsview 0.46.1 (installed into target/rivals, which needs npm and the network) and
target/release/cc-etl on each home. Exits with 1 if a difference to ccusage has no reason, in tokens or, where the rules
are the same, in money. The reasons are read off the lines themselves, and the lines are listed.
"""

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import rivals
from rivals import REPOSITORY, run


def main():
    homes = [Path(home).resolve() for home in sys.argv[1:]]
    if not homes:
        sys.exit(__doc__)
    problems = rivals.install(["ccusage", "agentsview"])
    if problems:
        sys.exit(f"cannot be installed: {problems}")
    unexplained = 0
    with tempfile.TemporaryDirectory() as folder:
        homes.append(home_over_clock_changes(Path(folder)))
        for home in homes:
            with tempfile.TemporaryDirectory() as work:
                path = sync(home, Path(work))
                unexplained += sum(compare(home, Path(work), path, zone) for zone in ZONES)
    sys.exit(1 if unexplained else 0)


# Daylight saving time of an hour, none, and of half an hour.
ZONES = ["UTC", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe"]


def home_over_clock_changes(folder):
    """A home with a response every half hour of a year: days of 23, 23.5, 24.5 and 25 hours."""
    home = folder / "clock-changes"
    (home / "projects" / "-w").mkdir(parents=True)
    moment = datetime(2025, 10, 1, tzinfo=timezone.utc)
    with open(home / "projects" / "-w" / "5e550001-0000-4000-8000-000000000001.jsonl", "w") as lines:
        for number in range(2 * 24 * 410):
            line = {
                "type": "assistant", "uuid": f"uuid-{number}", "sessionId": "5e550001-0000-4000-8000-000000000001",
                "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.000Z", "requestId": f"req_{number}",
                "message": {
                    "id": f"msg_{number}", "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [],
                    "usage": {
                        "input_tokens": 1, "output_tokens": 1 + number % 7, "cache_creation_input_tokens": 0,
                        "cache_read_input_tokens": 0,
                    },
                },
            }
            lines.write(json.dumps(line, separators=(",", ":")) + "\n")
            moment += timedelta(minutes=30)
    return home


def compare(home, work, path, zone):
    database = ours(path, zone)
    mine = {(row["day"], row["model"]): row for row in by_day_and_model(database)}
    ccusage = of_ccusage(home, zone)
    # The other tool is compared once: its days are not in question.
    agentsview = of_agentsview(home, work) if zone == "UTC" else None
    print(f"\n{home.name} in {zone}: {len(mine)} days and models")
    equal, unexplained = 0, 0
    for key in sorted(mine.keys() | ccusage.keys() | (agentsview or {}).keys(), key=str):
        row = mine.get(key)
        tokens = tuple(row[name] for name in TOKENS) if row else (0, 0, 0, 0)
        cost = row["cost"] if row else None
        their_tokens, their_cost = ccusage.get(key, ((0, 0, 0, 0), 0.0))
        other_tokens = tokens if agentsview is None else agentsview.get(key, (0, 0, 0, 0))
        problems = []
        if their_tokens != tokens:
            problems.append(("ccusage", their_tokens, *explain_tokens(database, home, key, tokens, their_tokens)))
        elif not same_money(cost, their_cost):
            problems.append(("ccusage", f"${their_cost:.6f}", *explain_money(database, key, cost, their_cost)))
        if other_tokens != tokens:
            problems.append(("agentsview", other_tokens, *explain_agentsview(database, home, key, tokens, other_tokens)))
        if not problems:
            equal += 1
            continue
        print(f"  {key[0]} {key[1]}: ours {tokens} {'no price' if cost is None else f'${cost:.6f}'}")
        for tool, theirs, reason, lines in problems:
            print(f"    {tool} {theirs}: {reason or 'NO REASON FOUND'}")
            for line in lines[:3]:
                print(f"      {line}")
            if len(lines) > 3:
                print(f"      and {len(lines) - 3} more lines")
            unexplained += reason is None and tool == "ccusage"
    print(f"  {equal} equal, {unexplained} differences to ccusage without a reason")
    return unexplained


# --- the three tools

PROGRAM = REPOSITORY / "target/release/cc-etl"
TOKENS = ("input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens")


def sync(home, work):
    path = work / "ours.db"
    subprocess.run([PROGRAM, "sync", "--quiet", "--db", path, "--source", home], check=True, stderr=subprocess.DEVNULL)
    return path


def ours(path, zone):
    """The database, with its days in a zone. The views are read by Python's SQLite, and must say what the program says."""
    subprocess.run([PROGRAM, "config", "time-zone", zone, "--quiet", "--db", path], check=True)
    database = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    database.row_factory = sqlite3.Row
    days = "select response_date, sum(response_count) as responses from daily_costs group by 1 order by 1"
    printed = run([PROGRAM, "query", "--sql", days, "--format", "json", "--db", path])
    assert json.loads(printed) == [dict(row) for row in database.execute(days)]
    return database


def by_day_and_model(database):
    sums = ", ".join(f"coalesce(sum({name}), 0) as {name}" for name in TOKENS)
    return database.execute(
        f"select response_date as day, model, {sums}, sum(cost_usd) as cost from response_costs group by 1, 2")


def of_ccusage(home, zone):
    printed = run(
        [rivals.NPM / "ccusage", "claude", "daily", "--json", "--offline", "--timezone", zone],
        env=os.environ | {"CLAUDE_CONFIG_DIR": str(home)})
    totals = {}
    for day in json.loads(printed)["daily"]:
        for entry in day["modelBreakdowns"]:
            # A fast request is a model of its own there; here it is a column.
            key = (day["date"], entry["modelName"].removesuffix("-fast"))
            tokens = (entry["inputTokens"], entry["outputTokens"], entry["cacheCreationTokens"], entry["cacheReadTokens"])
            known, cost = totals.get(key, ((0, 0, 0, 0), 0.0))
            totals[key] = (tuple(map(sum, zip(known, tokens))), cost + entry["cost"])
    return totals


def of_agentsview(home, work):
    environment = os.environ | {
        "HOME": str(work), "AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_TELEMETRY_ENABLED": "0",
        "CLAUDE_PROJECTS_DIR": str(home / "projects")}
    program = rivals.PYPI / "agentsview"
    subprocess.run([program, "sync"], env=environment, capture_output=True)
    printed = run([program, "usage", "daily", "--json", "--all", "--offline", "--no-sync", "--timezone", "UTC"], env=environment)
    return {
        (day["date"], entry["modelName"]):
            (entry["inputTokens"], entry["outputTokens"], entry["cacheCreationTokens"], entry["cacheReadTokens"])
        for day in json.loads(printed)["daily"] or [] for entry in day["modelBreakdowns"]
    }


# --- reasons


def counted_lines(database, key):
    """The counted lines of a day and model, with what is special about them."""
    return database.execute(
        """
        select usage_lines.*, files.path,
            (
                select count(*) from messages
                where messages.file_id = usage_lines.file_id and messages.line_number = usage_lines.line_number
            ) + (
                select count(*) from events
                where events.file_id = usage_lines.file_id and events.line_number = usage_lines.line_number
            ) + (
                select count(*) from rejected_lines
                where rejected_lines.file_id = usage_lines.file_id and rejected_lines.line_number = usage_lines.line_number
            ) as piece_count
        from usage_lines
        join api_responses using (api_response_id)
        join files using (file_id)
        where usage_lines.is_counted
            and (
                select response_costs.response_date
                from response_costs
                where response_costs.api_response_id = api_responses.api_response_id
            ) is ?
            and api_responses.model is ?
        """, key).fetchall()


def explain_tokens(database, home, key, tokens, theirs):
    """Whether the difference is exactly what ccusage does not read."""
    reasons, lines, unread = set(), [], [0, 0, 0, 0]
    for line in counted_lines(database, key):
        reason = why_ccusage_skips(home, line)
        if reason:
            reasons.add(reason)
            lines.append(f"{line['path']}:{line['line_number']}")
            unread = [have + (line[name] or 0) for have, name in zip(unread, TOKENS)]
    if tuple(have - gone for have, gone in zip(tokens, unread)) == theirs and reasons:
        return " and ".join(sorted(reasons)), lines
    return None, lines


def why_ccusage_skips(home, line):
    if line["piece_count"] > 1:
        return "a damaged line, of which we save the whole records"
    with open(home / line["path"], "rb") as file:
        file.seek(line["byte_offset"])
        raw = file.readline()
    if re.search(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}", raw):
        return "a lone surrogate, which it does not parse"
    if b'"usage": {' in raw:
        return "JSON with blanks behind colons, which it passes over"
    return None


def same_money(cost, theirs):
    """An unknown price is NULL here and 0 there."""
    return abs((cost or 0.0) - theirs) < 1e-6


def explain_money(database, key, cost, theirs):
    """Rules that differ: only responses they apply to may be there, and their part must make the difference plausible."""
    row = database.execute(
        """
        select sum(is_long_context) as long_count, sum(web_search_cost_usd) as search_usd,
            sum(geo_multiplier <> 1.0) as geo_count, sum(tier_multiplier <> 1.0) as batch_count,
            sum(recorded_cost_usd is not null) as recorded_count, sum(cost_usd is null) as unpriced_count
        from response_costs where response_date is ? and model is ?
        """, key).fetchone()
    reasons = []
    if row["search_usd"] and abs(cost - row["search_usd"] - theirs) < 1e-6:
        reasons.append("web searches, which it does not price")
    elif row["long_count"]:
        reasons.append("long context: it splits each kind of token at 200k, we price the whole request")
    elif row["geo_count"] or row["batch_count"]:
        reasons.append("inference in the US or batches, which it does not price")
    elif row["recorded_count"]:
        reasons.append("costUSD on the line")
    elif row["unpriced_count"]:
        reasons.append("a model without a price, which costs nothing there")
    elif re.search(r"[./:@]", key[1] or ""):
        reasons.append("a provider's own price for the model; ours is that of the first party")
    lines = [f"{line['path']}:{line['line_number']}" for line in counted_lines(database, key)]
    return (" and ".join(reasons) or None), lines


def explain_agentsview(database, home, key, tokens, theirs):
    """Parts that agentsview leaves out, or counts twice, alone or together."""
    lines = counted_lines(database, key)
    progress = [line for line in lines if line["is_progress"]]
    own = [line for line in lines if not line["is_progress"]]
    flat = [line for line in own if re.fullmatch(r"projects/[^/]+/agent-[^/]+", line["path"])]
    damaged = [line for line in own if line["piece_count"] > 1]
    advisors = database.execute(
        "select * from response_costs where kind = 'advisor' and response_date is ? and model is ?", key).fetchall()
    replays = database.execute(
        "select * from usage_lines where duplicate_reason = 'sidechain_replay' and substr(sent_at, 1, 10) is ? and model is ?",
        key).fetchall()
    candidates = [
        ("leaves out agents whose only trace is progress records", -1, progress),
        ("leaves out the agent files of 2.0", -1, flat),
        ("leaves out damaged lines", -1, damaged),
        ("leaves out advisors", -1, advisors),
        ("counts what a sidechain repeats", 1, replays),
    ]
    candidates = [candidate for candidate in candidates if candidate[2]]
    for mask in range(1, 1 << len(candidates)):
        chosen = [candidate for bit, candidate in enumerate(candidates) if mask >> bit & 1]
        change = [sum(sign * (row[name] or 0) for _, sign, rows in chosen for row in rows) for name in TOKENS]
        if tuple(map(sum, zip(tokens, change))) == theirs:
            return "it " + " and ".join(name for name, _, _ in chosen), []
    return None, []


if __name__ == "__main__":
    main()
