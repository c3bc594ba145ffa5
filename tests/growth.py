"""Proves that a session loses nothing while it grows, on real moments of real sessions.

Usage: python3 tests/growth.py FOLDER CC_ETL, where FOLDER holds sessions as they were at several moments: either
<session>/<moment>/<session>.jsonl or <case>/turn-<n>.jsonl with the agents of the turn under turn-<n>/. The moments of
a session are put into the same place of a home one after the other, and synced each time. After every moment, each
message that any moment has shown so far must be in the database, and restore must give back the last moment.
"""

import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile


def moments_of(folder):
    """The moments of each session, in order: a list of {path in the home: file}."""
    sessions = {}
    for path in sorted(folder.rglob("*.jsonl")):
        parts = path.relative_to(folder).parts
        turn = next((part for part in parts if re.fullmatch(r"turn-\d+(\.jsonl)?", part)), None)
        if turn:
            case = "/".join(parts[: parts.index(turn)])
            moment = turn.removesuffix(".jsonl")
            rest = parts[parts.index(turn) + 1 :]
            session = "5e550001-0000-4000-8000-000000000001"
            target = "/".join(("projects/-growth", session, *rest)) if rest else f"projects/-growth/{session}.jsonl"
        else:
            case, moment = "/".join(parts[:-2]), parts[-2]
            target = f"projects/-growth/{parts[-1]}"
        sessions.setdefault(case, {}).setdefault(moment, {})[target] = path
    return {case: [moments[name] for name in sorted(moments)] for case, moments in sessions.items()}


def objects(path):
    """The objects of a file, glued ones included, by a reading of its own."""
    decoder = json.JSONDecoder()
    for line in path.read_bytes().split(b"\n"):
        text = line.decode("utf-8").strip()
        while text:
            try:
                value, end = decoder.raw_decode(text)
            except json.JSONDecodeError:
                break
            yield value
            text = text[end:].strip()


def messages(path):
    """The uuids of the chain records of a file."""
    return {o["uuid"] for o in objects(path) if isinstance(o, dict) and o.get("uuid") and "parentUuid" in o}


def main():
    folder, cc_etl = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).resolve())
    failed = False
    for case, moments in moments_of(folder).items():
        with tempfile.TemporaryDirectory() as work:
            home, database = pathlib.Path(work) / "home", f"{work}/growth.db"
            expected = set()
            generations = 0
            for moment in moments:
                for target, source in moment.items():
                    (home / target).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, home / target)
                    expected |= messages(source)
                subprocess.run([cc_etl, "sync", "--quiet", "--db", database, "--source", home], check=True)
                subprocess.run([cc_etl, "check", "--quiet", "--db", database], check=True)
                connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
                found = {uuid for (uuid,) in connection.execute("select uuid from messages")}
                generations = connection.execute("select max(generation) from files").fetchone()[0]
                connection.close()
                if found != expected:
                    failed = True
                    print(f"FAILED  {case}: {len(expected - found)} messages lost, {len(found - expected)} invented")
            restored = f"{work}/restored"
            subprocess.run([cc_etl, "restore", "--quiet", "--db", database, "--out", restored], check=True)
            same = subprocess.run(["diff", "-r", home, restored]).returncode == 0
            failed |= not same
            print(
                f"{'ok' if same else 'FAILED':<7} {case}: {len(moments)} moments, {len(expected)} messages, "
                f"{generations} version{'s' if generations > 1 else ''}"
            )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
