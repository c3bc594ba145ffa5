"""A generated home, the program to run on it, and the checks after a fault.

The program is target/release/cc-etl, or CC_ETL.
"""

import datetime
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BEGUN = datetime.datetime(2026, 1, 1, 10)
PROGRAM = os.environ.get("CC_ETL", str(REPOSITORY / "target/release/cc-etl"))


def folder(name):
    """A new folder, in memory if possible, because faults are the same there."""
    place = "/dev/shm" if os.path.isdir("/dev/shm") else None
    return pathlib.Path(tempfile.mkdtemp(prefix=f"cc-etl-{name}-", dir=place))


def session_id(number):
    return f"5e55{number:04d}-0000-4000-8000-{number:012d}"


def record(generator, session, number, sidechain=False):
    """A line of a transcript: prompts, responses with usage, calls and their results."""
    uuid = f"{session[:8]}-{number:06d}{'-a' if sidechain else ''}"
    common = {
        "parentUuid": f"{session[:8]}-{number - 1:06d}" if number else None,
        "uuid": uuid,
        "sessionId": session,
        "isSidechain": sidechain,
        "timestamp": f"{BEGUN + datetime.timedelta(minutes=number):%Y-%m-%dT%H:%M:%S}.000Z",
        "version": "2.1.0",
        "cwd": "/w",
        "gitBranch": "main",
    }
    words = " ".join(generator.choice(["tea", "kettle", "leaf", "cup", "steam", "water"]) for _ in range(20))
    kind = number % 4
    if kind == 0:
        body = {"type": "user", "message": {"role": "user", "content": words}}
    elif kind == 1:
        content = [{"type": "tool_use", "id": f"toolu_{uuid}", "name": "Bash", "input": {"command": f"echo {words}"}}]
        body = {"type": "assistant", "requestId": f"req_{uuid}", "message": answer(generator, uuid, content)}
    elif kind == 2:
        result = {"type": "tool_result", "tool_use_id": f"toolu_{session[:8]}-{number - 1:06d}", "content": words * 4}
        body = {
            "type": "user",
            "message": {"role": "user", "content": [result]},
            "toolUseResult": {"stdout": words * 4, "stderr": "", "interrupted": False},
        }
    else:
        body = {
            "type": "assistant",
            "requestId": f"req_{uuid}",
            "message": answer(generator, uuid, [{"type": "text", "text": words}]),
        }
    if sidechain:
        common["agentId"] = "a0000001"
    return json.dumps({**common, **body}) + "\n"


def answer(generator, uuid, content):
    usage = {
        "input_tokens": generator.randrange(100),
        "output_tokens": generator.randrange(1000),
        "cache_read_input_tokens": generator.randrange(10000),
    }
    return {
        "id": f"msg_{uuid}",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "usage": usage,
        "stop_reason": "end_turn",
        "content": content,
    }


def make_home(home, files=12, lines=30, seed=1):
    """A home with a number of files: sessions, one with an agent, the history, and a damaged file."""
    generator = random.Random(seed)
    projects = home / "projects/-w"
    projects.mkdir(parents=True)
    for number in range(files - 2):
        session = session_id(number)
        content = "".join(record(generator, session, line) for line in range(lines))
        if number == 0:
            content += '{"type":"pr-link","prNu' + record(generator, session, lines) + "\0" * 300 + "\n"
        (projects / f"{session}.jsonl").write_text(content)
    agents = projects / session_id(0) / "subagents"
    agents.mkdir(parents=True)
    content = "".join(record(generator, session_id(0), line, True) for line in range(lines))
    (agents / "agent-a0000001.jsonl").write_text(content)
    prompts = [{"display": f"prompt {n}", "timestamp": 1767225600000 + n, "project": "/w"} for n in range(lines)]
    (home / "history.jsonl").write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))


def grow_home(home, lines=30, seed=2):
    """Changes between two syncs: files grow, one is rewritten, one is deleted, one is new."""
    generator = random.Random(seed)
    transcripts = sorted((home / "projects/-w").glob("*.jsonl"))
    for number, path in enumerate(transcripts):
        session = path.stem
        if number == 1:
            path.write_text("".join(record(generator, session, line) for line in range(5, lines)))
        elif number == 2:
            path.unlink()
        else:
            with path.open("a") as file:
                file.writelines(record(generator, session, line) for line in range(lines + 1, 2 * lines))
    session = session_id(99)
    content = "".join(record(generator, session, line) for line in range(lines))
    # The last line is incomplete.
    (home / "projects/-w" / f"{session}.jsonl").write_text(content + '{"parentUuid":null,"uuid":"unfin')


def run(*arguments, database, **options):
    """Runs the program."""
    environment = {**os.environ, "CC_ETL_DB": str(database), "HOME": "/nonexistent"}
    environment.pop("CLAUDE_CONFIG_DIR", None)
    return subprocess.run(
        [PROGRAM, *map(str, arguments)], env=environment, capture_output=True, text=True, errors="replace", **options
    )


def sync(home, database, *arguments, **options):
    return run("sync", "--quiet", "--source", home, *arguments, database=database, **options)


def content_hash(database):
    result = run("check", "--hash", database=database)
    assert result.returncode == 0, result.stderr
    return result.stdout


def damage(database):
    """The findings of `check`; empty if the database is intact or does not exist."""
    if not os.path.exists(database):
        return None
    result = run("check", "--quiet", database=database)
    return None if result.returncode == 0 else result.stdout + result.stderr


def sums(database):
    """Facts that can only grow: rows of messages and copies, and archived bytes by file version."""
    if not os.path.exists(database):
        return {}
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        files = connection.execute("select source_id || path || generation, archived_bytes from files").fetchall()
        uuids = connection.execute("select 'message ' || uuid, 1 from messages").fetchall()
        return dict(files + uuids)
    finally:
        connection.close()


def lost(before, after):
    """The facts that are missing or smaller than before."""
    return [name for name, amount in before.items() if after.get(name, -1) < amount]


def copy_database(source, target):
    """Copies a database that is not open, with its journal."""
    for suffix in ["", "-wal", "-shm", ".lock", ".building", ".building-wal", ".building-shm"]:
        left = pathlib.Path(f"{target}{suffix}")
        left.unlink(missing_ok=True)
        if suffix in ["", "-wal"] and os.path.exists(f"{source}{suffix}"):
            shutil.copy(f"{source}{suffix}", left)
