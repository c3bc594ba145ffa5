#!/usr/bin/env python3
"""Asks every portable question in every engine, and compares the rows with those of the views in SQLite.

    tests/engines/compare.py ENGINE... --homes [HOME]...

Three machines export to one folder; every home is on two of them. The database that says what is true has merged all three. Then the
same with the files of one machine cut to 60 % of their lines: the rows must stay those of the whole. Then sessions are on another machine
than those that they were forked or resumed from: no response and no call may count twice.

The truth of a question is the query of its name in `sqlite/` or `queries/`, else the view of its name. Sums of doubles may differ by 1e-6.
"""

import argparse
import decimal
import re
import sys
import tempfile
import time
from datetime import UTC, date, datetime
from pathlib import Path

import machines
import schemas
from engines import ENGINES, DuckDb

ROOT = Path(__file__).resolve().parents[2]
PORTABLE = ROOT / "sql/portable"
DEMO = ROOT / "examples/home"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("engines", nargs="+", choices=[engine.name for engine in ENGINES])
    arguments.add_argument("--homes", nargs="*", type=Path)
    arguments = arguments.parse_args()
    engines = [engine for engine in ENGINES if engine.name in arguments.engines]
    faults = []
    with tempfile.TemporaryDirectory(prefix="cc-etl-engines.") as work:
        work = Path(work)
        homes = arguments.homes or machines.parts_of(DEMO, work / "demo")
        for profile, options in {"full": ["--profile", "full"], "metrics": ["--names", "--key", work / "key"]}.items():
            (work / profile / "cut").mkdir(parents=True)
            team = machines.build(homes, work / profile, options)
            faults += schemas.check(team.folder, profile)
            truth = {question: expected_rows(team, question) for question in questions()}
            if not arguments.homes:
                faults += [f"{question} has no rows in the demo, which proves nothing" for question, rows in truth.items() if not rows]
            damaged = machines.cut(team, homes, work / profile / "cut")
            for engine in engines:
                faults += compare(engine, team, truth, f"{profile}, whole")
                faults += compare(engine, damaged, truth, f"{profile}, cut")
            compacted = machines.compact(team, work / profile)
            faults += schemas.check(compacted.folder, profile)
            faults += compare(DuckDb, compacted, truth, f"{profile}, compact")
        if not arguments.homes:
            (work / "copies").mkdir()
            team = machines.split_copies(DEMO, work / "copies", ["--profile", "full"])
            truth = {question: expected_rows(team, question) for question in questions() if question not in SEEN_FROM_ONE_MACHINE}
            faults += compare(DuckDb, team, truth, "copies apart")
    for fault in faults:
        print("FAILED ", fault)
    return 1 if faults else 0


# Where a session continues one that only another machine has, its turns, its duration and what its prompts are about are as its own
# machine sees them: it lacks what came before, and has only copies of it.
SEEN_FROM_ONE_MACHINE = {"feedback_by_kind", "session_overview", "turn_stats", "turns"}


def questions():
    """The text of each question."""
    return {path.stem: path.read_text() for path in sorted(PORTABLE.glob("*.sql")) if path.name != "owned.sql"}


def views():
    """The statements of owned.sql, which engines take one at a time."""
    return re.findall(r"^create view .*?(?=;$)", (PORTABLE / "owned.sql").read_text(), re.MULTILINE | re.DOTALL)


def expected_rows(team, question):
    for folder in ("tests/engines/sqlite", "queries"):
        path = ROOT / folder / f"{question}.sql"
        if path.exists():
            return team.rows(path.read_text())
    return team.rows(f"select * from {question}")


def compare(engine, team, truth, what):
    """Asks an engine every question of the truth. Returns what differs."""
    faults = []
    opened = engine(team)
    try:
        for view in views():
            opened.define(view)
        texts = questions()
        row_count, seconds = 0, 0.0
        for name, expected in truth.items():
            began = time.monotonic()
            rows = opened.ask(texts[name])
            seconds += time.monotonic() - began
            row_count += len(rows)
            difference = difference_of(rows, expected, HASHED if what.startswith("metrics") else set())
            if difference:
                faults.append(f"{engine.name}, {what}, {name}: {difference}")
    finally:
        opened.close()
    state = f"{len(truth) - len(faults)} of {len(truth)} questions equal"
    print(f"{engine.name:12} {what:16} {state}, {row_count} rows, {seconds:.2f} s", flush=True)
    return faults


# Columns that the profile metrics hashes even if it shows names.
HASHED = {"project_path"}


def difference_of(rows, expected, hashed):
    """The first difference, or None. The order of rows does not matter."""
    if len(rows) != len(expected):
        return f"{len(rows)} rows, not {len(expected)}"
    if not rows:
        return None
    unknown = set(rows[0]) - set(expected[0])
    if unknown:
        return f"columns that SQLite has not: {', '.join(sorted(unknown))}"
    # Sums of doubles come last, because they are only nearly equal.
    columns = sorted(set(rows[0]) - hashed, key=lambda column: (column.endswith("_usd"), column))
    for found, meant in zip(sorted_rows(rows, columns), sorted_rows(expected, columns)):
        for column, value, other in zip(columns, found, meant):
            if not is_equal(value, other):
                return f"{column} is {value!r}, not {other!r}, in {dict(zip(columns, found))}"
    return None


def sorted_rows(rows, columns):
    values = [[plain(row[column]) for column in columns] for row in rows]
    return sorted(values, key=lambda row: [(value is not None, str(type(value)), value) for value in row])


def plain(value):
    """A value as SQLite has it."""
    if isinstance(value, datetime):
        value = value.astimezone(UTC) if value.tzinfo else value
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def is_equal(value, other):
    if isinstance(value, float) or isinstance(other, float):
        return value is not None and other is not None and abs(value - other) <= 1e-6
    return value == other


if __name__ == "__main__":
    sys.exit(main())
