"""Three machines with overlapping homes, and one database that has everything."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CC_ETL = Path(os.environ.get("CC_ETL", "target/release/cc-etl")).resolve()

# The homes are dealt out as three parts, and each is on two machines: what is cut on the last one is whole on another.
MACHINES = {"alpha": (0, 1), "beta": (1, 2), "gamma": (2, 0)}


@dataclass
class Team:
    """What three machines exported to one folder, and a database with the history of all of them."""

    folder: Path
    databases: list
    merged: Path
    options: list

    def rows(self, sql):
        """The rows of a query in the database that has everything."""
        output = cc_etl("query", "--db", self.merged, "--timeout", "600", "--format", "jsonl", "--sql", sql)
        return [json.loads(line) for line in output.splitlines()]

    def export(self, database, *arguments):
        return cc_etl("export", "--quiet", "--db", database, *self.options, *arguments)


def cc_etl(*arguments):
    command = [CC_ETL, *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(homes, work, options):
    """Exports three machines, each with its own database, and merges these databases."""
    databases = [work / f"{name}.db" for name in MACHINES]
    for database, (name, places) in zip(databases, MACHINES.items()):
        for home in homes_of(places, homes):
            sync(database, name, home)
    merged = work / "merged.db"
    cc_etl("merge", "--quiet", "--db", merged, *databases)
    return export(Team(work / "export", databases, merged, options))


def cut(team, homes, work):
    """The same team, but the files of the last machine have only 60 % of their lines."""
    *databases, whole = team.databases
    name = whole.stem
    for number, source in enumerate(homes_of(MACHINES[name], homes)):
        home = work / f"home-{number}"
        shutil.copytree(source, home)
        for file in home.rglob("*.jsonl"):
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(lines[: len(lines) * 6 // 10]))
        sync(work / whole.name, name, home)
    return export(Team(work / "export", [*databases, work / whole.name], team.merged, team.options))


# Sessions of the demo that begin with a copy of another session: resumed and forked.
COPIES = ("5e550003-", "5e550026-", "5e550028-", "5e550030-")


def split_copies(home, work, options):
    """Two machines: sessions that were forked or resumed are on one, and what they were copied from on the other."""
    shutil.copytree(home, work / "alpha")
    for file in list((work / "alpha").rglob("*.jsonl")):
        if file.name.startswith(COPIES):
            target = work / "beta" / file.relative_to(work / "alpha")
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)
    databases = [work / "alpha.db", work / "beta.db"]
    for database in databases:
        sync(database, database.stem, work / database.stem)
    cc_etl("merge", "--quiet", "--db", work / "merged.db", *databases)
    return export(Team(work / "export", databases, work / "merged.db", options))


def compact(team, work):
    """The same team, read from the copy with one file per data set that examples/engines/duckdb.md makes."""
    page = Path("examples/engines/duckdb.md").read_text()
    (command,) = re.findall(r"^## Compaction$.*?^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (work / "team").symlink_to(team.folder)
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(["bash", "-euc", command], check=True, cwd=work, env=os.environ | {"PATH": programs})
    return Team(work / "compact", team.databases, team.merged, team.options)


def export(team):
    for database in team.databases:
        team.export(database, "--format", "parquet", "--out", team.folder)
    return team


def homes_of(places, homes):
    return [home for place in places for home in homes[place::3]]


def sync(database, machine, home):
    cc_etl("sync", "--quiet", "--db", database, "--machine", machine, "--source", home)


def parts_of(home, work):
    """Three homes out of one: its projects are dealt out, with the lines of history.jsonl about them."""
    parts = [work / f"part-{number}" for number in range(3)]
    projects = sorted(path for path in (home / "projects").iterdir() if path.is_dir())
    for number, part in enumerate(parts):
        for project in projects[number::3]:
            shutil.copytree(project, part / "projects" / project.name)
    with open(home / "history.jsonl", "rb") as history:
        for line in history:
            directory = json.loads(line)["project"].replace("/", "-")
            places = [part for part in parts if (part / "projects" / directory).is_dir()]
            with open((places or parts)[0] / "history.jsonl", "ab") as file:
                file.write(line)
    return parts
