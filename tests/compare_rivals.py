"""Compares our totals with those of two other tools, per day and model, and our blocks with those of ccusage, and names the
reason of every difference.

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
                unexplained += compare_blocks(home, path)
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


def compare_blocks(home, path):
    """Start, end, tokens and cost of blocks, and the gaps between them."""
    database = ours(path, "UTC")
    rows = json.loads(run([PROGRAM, "blocks", "--json", "--db", path]))
    theirs = blocks_of_ccusage(home)
    mine = {row["started_at"]: row for row in rows if row["state"] != "gap"}
    blocks = {block["startTime"]: block for block in theirs if not block["isGap"]}
    equal, unexplained = 0, 0
    for start in sorted(mine.keys() | blocks.keys()):
        row, block = mine.get(start), blocks.get(start)
        if row and block and is_same_block(row, block):
            equal += 1
            continue
        reason = explain_block(database, home, row, block)
        print(f"  block {start}: ours {block_tokens(row)}, ccusage {their_block_tokens(block)}: {reason or 'NO REASON FOUND'}")
        unexplained += reason is None
    gaps = {(row["started_at"], row["ended_at"]) for row in rows if row["state"] == "gap"}
    their_gaps = {(block["startTime"], block["endTime"]) for block in theirs if block["isGap"]}
    if gaps != their_gaps:
        is_explained = their_gaps == gaps_of_ccusage(database, home)
        reason = "it takes another line of a response, or reads fewer or more" if is_explained else "NO REASON FOUND"
        print(f"  gaps: {len(gaps - their_gaps)} differ: {reason}")
        unexplained += not is_explained
    print(f"  blocks of {home.name}: {equal} of {len(mine)} equal, {unexplained} differences without a reason; "
          f"gaps: {len(gaps & their_gaps)} of {len(gaps)} equal")
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


def blocks_of_ccusage(home):
    printed = run(
        [rivals.NPM / "ccusage", "claude", "blocks", "--json", "--offline", "--timezone", "UTC"],
        env=os.environ | {"CLAUDE_CONFIG_DIR": str(home)})
    return json.loads(printed)["blocks"]


def is_same_block(row, block):
    # The question rounds to four decimals.
    return row["ended_at"] == block["endTime"] and block_tokens(row) == their_block_tokens(block) and same_money(
        row["cost_usd"], block["costUSD"], 6e-5)


def block_tokens(row):
    return tuple(row[name] for name in TOKENS) if row else (0, 0, 0, 0)


def their_block_tokens(block):
    names = ("inputTokens", "outputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
    return tuple(block["tokenCounts"][name] for name in names) if block else (0, 0, 0, 0)


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


LINES = """
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
"""


def counted_lines(database, key):
    """The counted lines of a day and model, with what is special about them."""
    return database.execute(
        f"""
        {LINES}
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


def same_money(cost, theirs, tolerance=1e-6):
    """An unknown price is NULL here and 0 there."""
    return abs((cost or 0.0) - theirs) < tolerance


def explain_money(database, key, cost, theirs):
    reason = why_money_differs(database, "response_date is ? and model is ?", key, cost, theirs)
    lines = [f"{line['path']}:{line['line_number']}" for line in counted_lines(database, key)]
    return reason, lines


def why_money_differs(database, condition, values, cost, theirs):
    """Rules that differ: only responses they apply to may be there, and their part must make the difference plausible."""
    row = database.execute(
        f"""
        select sum(is_long_context) as long_count, sum(web_search_cost_usd) as search_usd,
            sum(geo_multiplier <> 1.0) as geo_count, sum(tier_multiplier <> 1.0) as batch_count,
            sum(recorded_cost_usd is not null) as recorded_count, sum(cost_usd is null) as unpriced_count,
            group_concat(distinct model) as models
        from response_costs where {condition}
        """, values).fetchone()
    if row["search_usd"] and abs(cost - row["search_usd"] - theirs) < 1e-6:
        return "web searches, which it does not price"
    if row["long_count"]:
        return "long context: it splits each kind of token at 200k, we price the whole request"
    if row["geo_count"] or row["batch_count"]:
        return "inference in the US or batches, which it does not price"
    if row["recorded_count"]:
        return "costUSD on the line"
    if row["unpriced_count"]:
        return "a model without a price, which costs nothing there"
    if re.search(r"[./:@]", row["models"] or ""):
        return "a provider's own price for the model; ours is that of the first party"
    return None


def explain_block(database, home, row, block):
    """Whether a block differs exactly by what ccusage does not read. It is None if a block has no such start."""
    if row is None or (block and row["ended_at"] != block["endTime"]):
        return None
    times = database.execute(
        "select first_response_at, ended_at from usage_blocks where not is_gap and started_at = ?", (row["started_at"],)).fetchone()
    lines = database.execute(
        f"""
        {LINES}
        where (usage_lines.is_counted or usage_lines.duplicate_reason = 'sidechain_replay')
            and api_responses.responded_at between ? and ?
        """, tuple(times))
    reasons, change = set(), [0, 0, 0, 0]
    for line in lines:
        is_again = not line["is_counted"]
        reason = "a sidechain that repeats its conversation, which it counts again" if is_again else why_its_blocks_skip(home, line)
        if reason:
            reasons.add(reason)
            sign = 1 if is_again else -1
            change = [have + sign * (line[name] or 0) for have, name in zip(change, TOKENS)]
    if tuple(map(sum, zip(block_tokens(row), change))) != their_block_tokens(block):
        return None
    if reasons:
        return " and ".join(sorted(reasons))
    return why_money_differs(database, "responded_at between ? and ?", tuple(times), row["cost_usd"], block["costUSD"])


def why_its_blocks_skip(home, line):
    if line["is_progress"]:
        return "an agent whose only trace is progress records, which are in its days but not in its blocks"
    return why_ccusage_skips(home, line)


def gaps_of_ccusage(database, home):
    """The gaps between the lines that ccusage counts: of each response the first line with the most tokens."""
    counted = {}
    for line in database.execute(LINES):
        if why_its_blocks_skip(home, line) or line["sent_at"] is None:
            continue
        rank = (-sum(line[name] or 0 for name in TOKENS), line["sent_at"])
        counted[line["api_response_id"]] = min(rank, counted.get(line["api_response_id"], rank))
    # There a message that Claude Code itself wrote, without usage, is in a block too.
    written_here = database.execute(
        "select sent_at from messages where type = 'assistant' and api_response_id is null and sent_at is not null")
    times = [time for _, time in counted.values()] + [time for time, in written_here]
    times = sorted(datetime.fromisoformat(time.replace("Z", "+00:00")) for time in times)
    hours = timedelta(hours=5)
    written = lambda time: time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        (written(last + hours), written(following))
        for last, following in zip(times, times[1:]) if following - last > hours
    }


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
