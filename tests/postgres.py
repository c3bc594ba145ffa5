#!/usr/bin/env python3
"""Loads `cc-etl export --format postgres` into a PostgreSQL of its own, and compares it with what SQLite says.

    python3 tests/postgres.py CC_ETL

The demo is the home of two machines, of which one has only a part of it. Both load at once into an empty database, and again
several times at once. The server is Debian's, runs as an unprivileged user in a temporary folder, and listens on a socket there.
"""

import csv
import glob
import io
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "examples/home"
PROGRAMS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]

# A sum over a data set, and what SQLite's views say. Each database has one machine.
FIGURES = [
    ("sum(cost_usd) from fact_response", "sum(cost_usd) from response_costs"),
    ("sum(total_tokens) from fact_response", "sum(total_tokens) from response_costs"),
    ("count(*) from fact_tool_call", "count(*) from tool_calls"),
    ("sum(duration_ms) from fact_tool_call", "sum(duration_ms) from tool_calls"),
    ("sum(cost_usd) from fact_turn", "sum(cost_usd) from turns"),
    ("sum(tool_call_count) from fact_turn", "sum(tool_call_count) from turns"),
    ("sum(lines_added) from fact_file_change", "sum(lines_added) from file_changes"),
    ("sum(message_count) from dim_session", "sum(message_count) from session_overview"),
    ("count(*) from fact_prompt", "count(*) from prompts"),
    ("count(*) from fact_feedback", "count(*) from feedback"),
    ("count(*) from fact_feedback where is_trivial", "count(*) from feedback where is_trivial"),
    ("count(*) from dim_agent", "count(*) from agents"),
    ("sum(input_usd) from dim_price", "sum(input_usd) from model_prices"),
    (
        "count(distinct local_day) from fact_response",
        "count(distinct response_date) from response_costs",
    ),
    (
        "extract(epoch from max(sent_at)) from fact_message",
        "unixepoch(max(sent_at), 'subsec') from messages",
    ),
]


def main(cc_etl):
    work = Path(tempfile.mkdtemp(prefix="cc-etl-postgres."))
    try:
        machines = {name: Machine(cc_etl, work, name, folders) for name, folders in HOMES.items()}
        with Server(work / "server") as server:
            several_machines_load_at_once(server, machines)
            nothing_changes_without_a_commit(server, machines)
            profiles_do_not_mix(server, machines)
            a_new_column_is_added(server, machines)
            a_machine_is_deleted_with_its_rows(server, machines)
            text_arrives_as_it_is(server, work, machines)
    finally:
        shutil.rmtree(work)


HOMES = {"laptop": None, "Ann's desktop": 2}


class Machine:
    """A database of one machine, with the first projects of the demo."""

    def __init__(self, cc_etl, work, name, project_count):
        home = work / f"home of {name}"
        shutil.copytree(HOME, home)
        projects = sorted((home / "projects").iterdir())
        for project in projects[project_count or len(projects) :]:
            shutil.rmtree(project)
        self.name = name
        self.database = work / f"{name}.db"
        self.key = work / "key"
        self.cc_etl = [cc_etl, "--quiet", "--db", self.database]
        subprocess.run([*self.cc_etl, "sync", "--source", home, "--machine", name], check=True, stderr=subprocess.DEVNULL)

    def script(self, *arguments):
        command = [*self.cc_etl, "export", "--format", "postgres", "--key", self.key, *arguments]
        return subprocess.run(command, check=True, capture_output=True).stdout

    def ask(self, sql):
        # Other versions of SQLite round other halves up.
        query = [*self.cc_etl, "query", "--format", "csv", "--sql", f"select {sql}"]
        return subprocess.run(query, check=True, capture_output=True, text=True).stdout.split()[-1]


class Server:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self.user = None
        if os.getuid() == 0:
            # PostgreSQL refuses to run as root.
            self.user = "postgres"
            folder.parent.chmod(0o755)
            shutil.chown(folder, self.user)

    def __enter__(self):
        data = self.folder / "data"
        self.run("initdb", "-D", data, "-U", "team", "-E", "UTF8", "--no-sync", "--auth", "trust")
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off"
        self.run("pg_ctl", "-D", data, "-l", self.folder / "log", "-w", "-o", options, "start")
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")

    def run(self, program, *arguments):
        command = [f"{PROGRAMS}/{program}", *arguments]
        if self.user:
            command = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def psql(self, database="postgres"):
        return [f"{PROGRAMS}/psql", "--no-psqlrc", "-h", self.folder, "-U", "team", "-d", database]

    def load(self, script, database="postgres"):
        return subprocess.run(self.psql(database), input=script, capture_output=True)

    def load_at_once(self, scripts):
        loads = []
        for script in scripts:
            file = tempfile.TemporaryFile()
            file.write(script)
            file.seek(0)
            loads.append(subprocess.Popen(self.psql(), stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
        for load in loads:
            out, err = load.communicate()
            assert (load.returncode, out, err) == (0, b"", b""), (load.returncode, out, err)

    def rows(self, sql, database="postgres"):
        copy = f"copy ({sql}) to stdout with (format csv)"
        done = subprocess.run([*self.psql(database), "-c", copy], check=True, capture_output=True)
        return list(csv.reader(io.StringIO(done.stdout.decode(), newline="")))

    def ask(self, sql, machine):
        quoted = machine.replace("'", "''")
        condition = "and" if " where " in sql else "where"
        return self.rows(f"select {sql} {condition} machine = '{quoted}'")[0][0]

    def content(self):
        """All rows of all tables but the time of the load."""
        tables = self.rows("select tablename from pg_tables where schemaname = 'public' order by 1")
        content = {table: sorted(self.rows(f"select * from {table}")) for (table,) in tables}
        content["cc_etl_exports"] = [row[:-1] for row in content["cc_etl_exports"]]
        return content


def several_machines_load_at_once(server, machines):
    scripts = [machine.script("--profile", "full") for machine in machines.values()]
    server.load_at_once(scripts)
    expect_figures(server, machines)
    first = server.content()
    for _ in range(3):
        server.load_at_once(scripts * 3)
    assert server.content() == first
    expect_figures(server, machines)
    tables = {name for name in first if name != "cc_etl_exports"}
    assert tables == {path.stem for path in (ROOT / "sql/export").glob("*.sql")}
    keys = server.rows("select count(*) from pg_constraint where contype = 'p' and connamespace = 'public'::regnamespace")
    assert int(keys[0][0]) == len(tables) + 1
    print(f"ok      {sum(map(len, first.values())):,} rows of two machines: loaded at once, again 18 times at once")


def expect_figures(server, machines):
    for name, machine in machines.items():
        for exported, expected in FIGURES:
            found, truth = float(server.ask(exported, name)), float(machine.ask(expected))
            assert truth > 0 and math.isclose(found, truth, rel_tol=1e-9), (name, exported, found, truth)


def nothing_changes_without_a_commit(server, machines):
    before = server.content()
    script = machines["laptop"].script("--profile", "full")
    for part in (script[: len(script) // 2], script[: script.rindex(b"commit")]):
        server.load(part)
        assert server.content() == before
    lines = script.split(b"\n")
    lines.insert(len(lines) - 100, b"not a row")
    assert server.load(b"\n".join(lines)).returncode == 3
    assert server.content() == before
    print("ok      a script that is cut off or wrong changes nothing")


def profiles_do_not_mix(server, machines):
    before = server.content()
    refused = server.load(machines["laptop"].script())
    assert refused.returncode == 3 and b"another profile" in refused.stderr, refused.stderr
    assert server.content() == before
    subprocess.run([*server.psql(), "-c", "create schema metrics"], check=True, capture_output=True)
    os.environ["PGOPTIONS"] = "-c search_path=metrics"
    server.load_at_once([machine.script() for machine in machines.values()])
    total = server.rows("select sum(cost_usd) from fact_response")
    columns = server.rows("select column_name from information_schema.columns where table_schema = 'metrics'")
    del os.environ["PGOPTIONS"]
    assert total == server.rows("select sum(cost_usd) from fact_response")
    assert ["text"] not in columns and ["cost_usd"] in columns
    assert server.content() == before
    print("ok      another profile is refused, and has room in a schema of its own")


def a_new_column_is_added(server, machines):
    before = server.content()
    sql = "alter table fact_turn drop column model; drop table fact_prompt"
    subprocess.run([*server.psql(), "-c", sql], check=True, capture_output=True)
    scripts = [machine.script("--profile", "full") for machine in machines.values()]
    server.load_at_once(scripts * 2)
    found = server.content()
    # The column is the last one now.
    assert sorted(map(sorted, found.pop("fact_turn"))) == sorted(map(sorted, before.pop("fact_turn")))
    assert found == before
    print("ok      a table and a column that are missing are created by the loads of a newer version")


def a_machine_is_deleted_with_its_rows(server, machines):
    sql = "delete from dim_machine where machine = 'laptop'"
    subprocess.run([*server.psql(), "-c", sql], check=True, capture_output=True)
    rows = [row for rows in server.content().values() for row in rows]
    assert rows and not any("laptop" in row for row in rows)
    print("ok      one row of dim_machine takes all rows of a machine with it")


def text_arrives_as_it_is(server, work, machines):
    """Text with every character that COPY or a terminal interprets, and times that PostgreSQL writes in another way."""
    machine = machines["laptop"]
    said = "tab\t, lines\r\n\\.\n\\N \\x41 'quote' \"double\" \x1b[31m red \u202e \U0001f375 $$ \x01\x7f {columns} :name"
    odd = {"uuid": "00000001-0000-4000-8000-0000000000aa", "said": said}
    with sqlite3.connect(machine.database) as connection:
        connection.execute("update messages set sent_at = '0000-01-01T00:00:00.001Z' where message_id = 1")
        connection.execute("update content_blocks set text = ?", [odd["said"]])
        expected = dict(connection.execute("select uuid, text from _message_texts join messages using (message_id)"))
    assert said in expected.values()
    subprocess.run([*server.psql(), "-c", "create database odd"], check=True, capture_output=True)
    done = server.load(machine.script("--profile", "full"), "odd")
    assert done.returncode == 0, done.stderr
    found = {uuid: text for uuid, text in server.rows("select uuid, text from fact_message", "odd")}
    for uuid, text in expected.items():
        assert (found[uuid] or None) == (text or None), (found[uuid], text)
    day = server.rows("select min(day), min(sent_at at time zone 'UTC') from fact_message", "odd")
    assert day == [["0001-01-01 BC", "0001-01-01 00:00:00.001 BC"]], day
    print("ok      text and times arrive as they are")


if __name__ == "__main__":
    main(sys.argv[1])
