"""Measures how much a team's exports weigh, and how long questions take on them.

Usage: tests/bench/team [--machines 500] [--home DIR]... [--out DIR]

Exports each home (default: the demo) with the profiles metrics and full: bytes per developer-day. Invents twelve months of
the data sets that the questions need, for that many machines, from these exports (invent_team.py), and compacts responses
and calls: copies removed, a file a month, and the costs of each day. Then asks on DuckDB and ClickHouse, two threads each.
Prints tables. 500 machines need 8 GB of disk and of memory. With --out the data stay there, and are used again by the next
run; else they are deleted.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).resolve().parent))
import invent_team

REPOSITORY = Path(__file__).resolve().parents[2]
CC_ETL = REPOSITORY / "target/release/cc-etl"
PORTABLE = REPOSITORY / "sql/portable"
THREADS = 2
FACTS = ("fact_response", "fact_tool_call")
OWNED = ("session_owners", "owned_response", "owned_tool_call")
SLOW = 5  # seconds: a question that takes longer is asked once


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machines", type=int, default=500)
    parser.add_argument("--home", type=Path, action="append", default=[])
    parser.add_argument("--out", type=Path, help="keep the data here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cc-etl-team.") as work:
        out = arguments.out or Path(work)
        exports = export(arguments.home or [REPOSITORY / "examples/home"], Path(work))
        weigh(exports)
        prepare(exports, out, arguments)
        ask(out)


# --- how much it weighs


def export(homes, work):
    exports = {}
    for number, home in enumerate(homes):
        database = work / f"{number}.db"
        run("sync", "--db", database, "--source", home, "--machine", f"m{number}")
        for profile in ("metrics", "full"):
            folder = work / f"{profile}-{number}"
            run("export", "--db", database, "--format", "parquet", "--out", folder, "--profile", profile, "--key", work / "key")
            exports.setdefault(profile, []).append(folder)
    return exports


def run(*arguments):
    subprocess.run([CC_ETL, "--quiet", *arguments], check=True)


def weigh(exports):
    template = invent_team.Template(exports["metrics"])
    days = template.developer_days
    rows = {name: table.num_rows for name, (table, *_) in template.tables.items() if name.startswith("fact_")}
    print(f"{days} developer-days; rows per day: " + ", ".join(f"{name} {count / days:.0f}" for name, count in rows.items()))
    print("\n| profile | kB per developer-day | GB a year for 500 developers, 220 days |\n|---|---|---|")
    for profile, folders in exports.items():
        size = sum(file.stat().st_size for folder in folders for file in folder.rglob("*.parquet")) / days
        print(f"| {profile} | {size / 1e3:.0f} | {size * 500 * 220 / 1e9:.1f} |")


# --- the data


def prepare(exports, out, arguments):
    note = out / "made_of.json"
    made_of = json.dumps([arguments.machines, [str(home) for home in arguments.home]])
    if note.exists() and note.read_text() == made_of:
        return
    started = time.perf_counter()
    days = invent_team.invent(exports["metrics"], out, arguments.machines, ("dim_session", *FACTS))
    files = list(out.glob("v1/**/*.parquet"))
    size = sum(file.stat().st_size for file in files)
    print(f"\n{arguments.machines} machines, {days:,} developer-days, {len(files):,} files, {size / 1e9:.1f} GB, invented in "
          f"{time.perf_counter() - started:.0f} s")
    compact(out)
    note.write_text(made_of)


def compact(out):
    """Writes the facts without copies, in the order of questions, a file a month; and the costs of each day."""
    engine = DuckDB(out, "v1")
    shutil.rmtree(out / "compact", ignore_errors=True)
    started, used = time.perf_counter(), processor_time()
    engine.connection.execute("create table owners as from session_owners")
    for fact in FACTS:
        owned = fact.replace("fact_", "owned_")
        view = dict(owned_views())[owned].replace("session_owners", "owners").replace(f"from {fact}", "from month")
        view = view.replace(f"{fact}.", "month.")
        (out / "compact" / fact).mkdir(parents=True)
        for month in sorted(out.glob(f"v1/{fact}/*")):
            engine.connection.execute(f"create or replace temp view month as from read_parquet('{month}/*.parquet')")
            engine.connection.execute(f"""copy (select * exclude (place) from ({view}) order by local_day, machine, session_id)
                to '{out}/compact/{fact}/{month.name.removeprefix("month=")}.parquet' (format parquet, compression zstd)""")
    daily = (PORTABLE / "daily_project_costs.sql").read_text()
    engine.connection.execute(f"create or replace view owned_response as from read_parquet('{out}/compact/fact_response/*.parquet')")
    engine.connection.execute(f"copy ({daily}) to '{out}/compact/daily_project_costs.parquet' (format parquet, compression zstd)")
    size = sum(file.stat().st_size for file in out.glob("compact/**/*.parquet"))
    print(f"compacted to {size / 1e9:.2f} GB in {time.perf_counter() - started:.0f} s, {processor_time() - used:.0f} s of CPU")


def owned_views():
    """The statements of sql/portable/owned.sql: name and query."""
    for statement in (PORTABLE / "owned.sql").read_text().split(";\n"):
        _, found, view = statement.partition("create view ")
        if found:
            name, _, query = view.partition(" as\n")
            yield name, query


# --- the questions


def questions(engine):
    """What is asked, and of which files."""
    session, day = engine.rows("select session_id, cast(local_day as varchar) from fact_response order by cost_usd desc limit 1")[0]
    of_session = f"select model, count(*), sum(cost_usd) from fact_response where session_id = '{session}' group by model"
    of_day = f"select model, count(*), sum(cost_usd) from fact_response where local_day = '{day}' group by model"
    daily = "select local_day, model, count(*), sum(cost_usd) from {} group by local_day, model"
    stats = (PORTABLE / "tool_stats.sql").read_text()
    return [
        ("daily cost by model, as exported", "v1", daily.format("fact_response")),
        ("daily cost by model, without copies", "v1", (PORTABLE / "daily_costs.sql").read_text()),
        ("tool stats, without copies", "v1", stats),
        ("a session", "v1", of_session),
        ("a day", "v1", of_day),
        ("daily cost by model", "compact", daily.format("fact_response")),
        ("tool stats", "compact", stats.replace("owned_tool_call", "fact_tool_call")),
        ("a session", "compact", of_session),
        ("a day", "compact", of_day),
        ("daily cost by model, from the costs of each day", "compact", DAILY_OF_SUMS),
    ]


DAILY_OF_SUMS = """
    select response_date, model, sum(response_count), sum(cost_usd)
    from daily_project_costs
    group by response_date, model"""


def ask(out):
    engines = {"DuckDB": DuckDB, "ClickHouse": ClickHouse}
    asked = questions(DuckDB(out, "compact"))
    print("\n| question | files | " + " | ".join(f"{name}: s, CPU s" for name in engines) + " |\n|---|---|" + "---|" * len(engines))
    answers = {}
    for name, layout, sql in asked:
        cells = []
        for title, engine in engines.items():
            wall, used, rows = measure(engine(out, layout), sql)
            answers.setdefault((name, layout), {})[title] = rows
            cells.append(f"{wall:.2f}, {used:.2f}")
        print(f"| {name} | {'by month and machine' if layout == 'v1' else 'compacted'} | {' | '.join(cells)} |", flush=True)
    for asked, rows in answers.items():
        assert len(set(rows.values())) == 1, f"{asked}: numbers of rows {rows}"


def measure(engine, sql):
    """The median of three runs after a first one, or that one if it is slow; and the number of rows."""
    runs = []
    while not runs or (len(runs) < 4 and runs[0][0] < SLOW):
        started, used = time.perf_counter(), processor_time()
        rows = len(engine.rows(sql))
        runs.append((time.perf_counter() - started, processor_time() - used))
    warm = runs[1:] or runs
    return statistics.median(wall for wall, _ in warm), statistics.median(used for _, used in warm), rows


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def files_of(out, layout):
    """The files of each data set by name."""
    if layout == "compact":
        return {path.stem: f"{out}/compact/{path.stem}{'/*' if path.is_dir() else ''}.parquet"
                for path in (out / "compact").resolve().iterdir()}
    return {path.name: f"{path}/{'month=*/' if path.name.startswith('fact_') else ''}*.parquet"
            for path in (out / "v1").resolve().iterdir() if path.is_dir()}


class DuckDB:
    def __init__(self, out, layout):
        self.connection = duckdb.connect(config={"threads": THREADS, "memory_limit": "6GB"})
        self.connection.execute(f"set temp_directory = '{out.resolve()}/spill'")
        for name, files in files_of(out, layout).items():
            self.connection.execute(f"create view {name} as from read_parquet('{files}')")
        define_views(self.connection.execute, layout)

    def rows(self, sql):
        return self.connection.execute(sql).fetchall()


class ClickHouse:
    session = None

    def __init__(self, out, layout):
        from chdb.session import Session

        if ClickHouse.session:
            ClickHouse.session.close()
        ClickHouse.session = Session()
        self.run = ClickHouse.session.query
        # Without a limit it would sort all responses of the team in memory.
        self.run(f"set max_threads = {THREADS}, max_bytes_before_external_sort = {2 << 30}, max_bytes_ratio_before_external_sort = 0")
        for name, files in files_of(out, layout).items():
            self.run(f"create view {name} as select * from file('{files}', 'Parquet')")
        define_views(self.run, layout)

    def rows(self, sql):
        return str(self.run(sql, "CSV")).splitlines()


def define_views(execute, layout):
    if layout == "v1":
        for name, query in owned_views():
            if name in OWNED:
                execute(f"create view {name} as\n{query}")


if __name__ == "__main__":
    main()
