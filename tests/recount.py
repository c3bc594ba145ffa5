#!/usr/bin/env python3
"""Counts Claude Code homes a second time and compares the result with a cc-etl database.

It proves that `cc-etl sync` neither lost nor invented anything: lines, messages, copies, events, rejected
fragments, tool calls and their results, parents, API responses and their tokens, each counted here from
the files alone and there with plain SQL. It shares no code with the importer, only the documented rules,
so a fault has to be made twice, in two languages, to go unseen.

    python3 tests/recount.py HOME [HOME ...] --db FILE     compare; exit 0 if all is equal, else 1
    python3 tests/recount.py HOME [HOME ...] --counts      print the counts of the files as JSON

The database must come from syncing exactly these homes as they are now: it also keeps what its sources
have lost since, and that is not counted here.
"""

import argparse
import json
import os
import re
import sqlite3
import sys
from collections import Counter
from pathlib import Path

KNOWN_TYPES = set("""
    user assistant system attachment progress summary custom-title ai-title agent-name agent-color agent-setting
    tag last-prompt permission-mode mode queue-operation file-history-snapshot file-history-delta pr-link
    frame-link worktree-state relocated continued-in bridge-session cost-state content-replacement
    fork-context-ref history-suppression ended-by-model observer-ref attribution-snapshot task-summary
    speculation-accept marble-origami-commit marble-origami-snapshot marble-origami-reset isolation-latch
    atis-latch dev-mods memory-mode api-request-shape api-request-blob artifact-autoreact-ledger
    artifact-comment-monitor saved_hook_context launched started result failed
""".split())

DEEPEST = 1000
LARGEST = 2**63 - 1
TOKEN_KINDS = ("input", "output", "cache_write", "cache_read")

# What stands in the place of a record for a fragment that is none.
REJECTED = "rejected"
INCOMPLETE_TAIL = "incomplete_tail"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("homes", nargs="+", metavar="HOME", help="a Claude home, as given to cc-etl sync")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--db", metavar="FILE", help="compare with this database")
    wanted.add_argument("--counts", action="store_true", help="print the counts of the files as JSON")
    arguments = parser.parse_args()

    # The JSON parser recurses once per level; depth() then draws the exact border.
    sys.setrecursionlimit(4 * DEEPEST)
    # A number of any length is JSON, so its length must not make a record broken.
    sys.set_int_max_str_digits(0)

    files_say = count_homes(arguments.homes)
    if arguments.counts:
        print(json.dumps(files_say, indent=1))
        return 0
    return compare(files_say, count_database(arguments.db))


def compare(files_say, database_says):
    """Prints both sides, line by line; a count that one side does not have is 0 there."""
    names = list(files_say | database_says)
    width = max(map(len, names))
    print(f"{'what':{width}}  {'files say':>15}  {'database says':>15}")
    different = 0
    for name in names:
        ours, theirs = files_say.get(name, 0), database_says.get(name, 0)
        different += ours != theirs
        print(f"{name:{width}}  {ours:>15}  {theirs:>15}  {'ok' if ours == theirs else 'DIFFERENT'}")
    print(f"{len(names)} counts, {different} different")
    return 1 if different else 0


# --- Homes, files, lines ---


def count_homes(homes):
    counts = Counter({name: 0 for name in SINGLE})
    elected = {}  # uuid -> its message, as summary() keeps it
    winners = {}  # key of an API response -> (rank, model, tokens) of the line that gives its usage
    for home in sorted(map(os.path.abspath, homes)):
        for path in transcripts(home):
            count_file(home, path, counts, elected, winners)
    count_messages(elected, counts)
    count_responses(winners, counts)
    return {name: counts[name] for name in [*SINGLE, *sorted(counts.keys() - SINGLE.keys())]}


def transcripts(home):
    """The files of one home, relative to it. Links are not followed, so a loop of them is no danger."""
    found = [Path(home, "history.jsonl")]
    for folder, _, names in os.walk(Path(home, "projects")):
        found += [Path(folder, name) for name in names if name.endswith(".jsonl")]
    return sorted(path.relative_to(home).as_posix() for path in found if path.is_file() and not path.is_symlink())


def count_file(home, path, counts, elected, winners):
    counts["files"] += 1
    last_of_uuid = {}
    with open(os.path.join(home, path), "rb") as file:
        # A binary file is cut at b"\n" and nowhere else: U+2028 and a lone \r are part of a line.
        for number, line in enumerate(file):
            terminated = line.endswith(b"\n")
            line = line.removesuffix(b"\n")
            if number == 0:
                line = line.removeprefix(b"\xef\xbb\xbf")
            line = line.strip(b" \t\r")
            counts["lines"] += terminated or line != b""
            counts["blank lines"] += terminated and line == b""
            # Bytes that are no UTF-8 become lone surrogates, which whole_object() refuses.
            for piece in pieces(line.decode("utf-8", "surrogateescape"), terminated):
                if isinstance(piece, str):
                    counts["rejected fragments"] += 1
                    counts["incomplete tails"] += piece == INCOMPLETE_TAIL
                elif path == "history.jsonl":
                    counts["history prompts"] += 1
                elif text(piece.get("uuid")) and "parentUuid" in piece:
                    # Each chain line is a copy until count_messages() takes the elected ones off.
                    counts["message copies"] += 1
                    last_of_uuid[piece["uuid"]] = summary(piece, path, home, number)
                    count_usage(piece, path, number, counts, winners)
                else:
                    counts[f"events {label(piece.get('type'))}"] += 1
                    count_usage(piece, path, number, counts, winners)
    for uuid, line in last_of_uuid.items():
        if uuid not in elected or line["order"] < elected[uuid]["order"]:
            elected[uuid] = line


# --- Salvage: the records of a line ---


def pieces(line, terminated):
    """The records of a line and, for each fragment that is none, the reason.

    In a last line without newline nothing is searched behind a fragment, for the rest of it may still come.
    """
    position = nul_runs = 0
    while (position := skip(BLANKS, line, position)) < len(line):
        if line[position] == "\0":
            position = skip(NULS, line, position)
            nul_runs += 1
            continue
        whole = whole_object(line, position)
        if not whole and not terminated:
            yield INCOMPLETE_TAIL
            return
        yield from [REJECTED] * nul_runs
        nul_runs = 0
        record, position = whole or (REJECTED, start_of_salvage(line, position))
        yield record
    if nul_runs:
        yield from [REJECTED] * nul_runs if terminated else [INCOMPLETE_TAIL]


def start_of_salvage(line, start):
    """Where, behind the broken head at start, whole records go on to the end of the line; else that end."""
    candidate = line.find('{"', start + 1)
    while candidate != -1:
        first = first_of_whole_rest(line, candidate)
        if first and looks_like_record(first):
            # A record cut behind a comma leaves its follower where a value may stand; three keys tell it apart.
            if {"uuid", "parentUuid", "sessionId"} <= first.keys() or not at_place_of_value(line[start:candidate]):
                return candidate
        candidate = line.find('{"', candidate + 1)
    return len(line)


def first_of_whole_rest(line, position):
    """The object at position, if from there on whole objects, blanks and NULs fill the line."""
    first = None
    while position < len(line):
        whole = whole_object(line, position)
        if not whole:
            return None
        first = first or whole[0]
        position = skip(BLANKS_AND_NULS, line, whole[1])
    return first


def looks_like_record(record):
    known = text(record.get("type")) in KNOWN_TYPES
    return known or {"uuid", "parentUuid"} <= record.keys() or {"display", "timestamp"} <= record.keys()


def at_place_of_value(head):
    """Whether what follows this piece of JSON would be a value inside it, not a new beginning."""
    behind_strings = 0
    for string in STRING.finditer(head):
        if not string["closed"]:
            return False
        behind_strings = string.end()
    return head[behind_strings:].rstrip(" \t\r").endswith((":", ",", "["))


def whole_object(line, position):
    """The JSON object that starts here and the place behind it, or None."""
    if line[position] != "{":
        return None
    try:
        record, end = JSON.raw_decode(line, position)
    except (ValueError, RecursionError):
        return None
    if not line.isascii() and NO_UTF8.search(line, position, end):
        return None
    # Only a text with many brackets can be deep, and looking is slow.
    if line.count("{", position, end) + line.count("[", position, end) > DEEPEST and depth(record) > DEEPEST:
        return None
    return record, end


def depth(value):
    """How many objects and arrays stand in each other, without recursion."""
    level, values = 0, [value]
    while containers := [value for value in values if isinstance(value, (dict, list))]:
        level += 1
        values = [inner for outer in containers for inner in (outer.values() if isinstance(outer, dict) else outer)]
    return level


def skip(pattern, line, position):
    return pattern.match(line, position).end()


# NaN and Infinity are no JSON: int() raises the ValueError that makes their object broken.
JSON = json.JSONDecoder(parse_constant=int)
BLANKS = re.compile(r"[ \t\r]*")
NULS = re.compile(r"\0*")
BLANKS_AND_NULS = re.compile(r"[ \t\r\0]*")
NO_UTF8 = re.compile("[\udc80-\udcff]")
STRING = re.compile(r'"(?:[^"\\]+|\\.)*+(?P<closed>"?)', re.DOTALL)


# --- Messages, parents, tools ---


def summary(record, path, home, number):
    """What is kept of a chain line; of the lines of one uuid in several files the first in order is the message."""
    timestamp = record.get("timestamp")
    blocks = []
    if record.get("type") in ("user", "assistant"):
        content = member(record, "message").get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return {
        # A line without time is never the earliest.
        "order": (timestamp, path, home, number) if isinstance(timestamp, str) else ("\U0010ffff", path, home, number),
        "type": record.get("type"),
        "parent": record["parentUuid"],
        "tool uses": [(block.get("id"), block.get("name")) for block in blocks if block.get("type") == "tool_use"],
        "tool results": [block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"],
    }


def count_messages(elected, counts):
    tools = {}
    # In order, so that of two calls with one id the earliest gives the name.
    for message in sorted(elected.values(), key=lambda message: message["order"]):
        counts["message copies"] -= 1
        counts[f"messages {label(message['type'])}"] += 1
        if isinstance(message["parent"], str):
            counts["parents resolved" if message["parent"] in elected else "parents unresolved"] += 1
        for tool_use_id, name in message["tool uses"]:
            if text(tool_use_id):
                tools.setdefault(tool_use_id, name)
    for name in tools.values():
        counts[f"tool uses {label(name)}"] += 1
    for message in elected.values():
        for tool_use_id in message["tool results"]:
            counts["tool results matched" if text(tool_use_id) in tools else "tool results unmatched"] += 1


def member(record, name):
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def text(value):
    """The value if it is a text with something in it, else None."""
    return value if isinstance(value, str) and value else None


def label(value):
    """A value as text columns keep it: no NUL, no lone surrogate, and nothing that is not text."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", value) if isinstance(value, str) else "(none)"


# --- Usage ---


def count_usage(record, path, number, counts, winners):
    """Lets a line that carries usage compete for its API response: the winner gives the whole usage."""
    carrier, is_sidechain = record, record.get("isSidechain") is True
    if record.get("type") == "progress" and member(record, "data").get("type") == "agent_progress":
        # An agent's line as its parent saw it go by, perhaps the only trace of that agent.
        carrier, is_sidechain = member(member(record, "data"), "message"), True
    message = member(carrier, "message")
    if not isinstance(message.get("usage"), dict) or message.get("model") == "<synthetic>":
        return
    counts["usage lines"] += 1
    # A line without a uuid is named by what it says.
    name = text(carrier.get("uuid")) or text(record.get("uuid")) or repr(record)
    key = text(message.get("id")) or name
    if not key.startswith("msg_") and key != name:
        # Gateways repeat their ids. Runs of lines without a request are not recounted here.
        key = (key, text(carrier.get("requestId")) or name)
    tokens = tokens_of(message["usage"])
    # The path only settles what the rule leaves open: equal lines of two files.
    rank = (not is_sidechain, tokens["output"], sum(tokens.values()), number, path)
    # Of two records glued on one line the later wins.
    if key not in winners or rank >= winners[key][0]:
        winners[key] = (rank, message.get("model"), tokens)


def tokens_of(usage):
    split = member(usage, "cache_creation")
    written = lenient(split.get("ephemeral_5m_input_tokens")) + lenient(split.get("ephemeral_1h_input_tokens"))
    return {
        "input": lenient(usage.get("input_tokens")),
        "output": lenient(usage.get("output_tokens")),
        "cache_write": max(lenient(usage.get("cache_creation_input_tokens")), written),
        "cache_read": lenient(usage.get("cache_read_input_tokens")),
    }


def lenient(value):
    """A count of tokens: gateways write strings and null, and what is no sensible number counts nothing."""
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LARGEST:
        return 0
    return int(value)


def count_responses(winners, counts):
    for _, model, tokens in winners.values():
        counts[f"api responses {label(model)}"] += 1
        for kind in TOKEN_KINDS:
            counts[f"{kind} tokens {label(model)}"] += tokens[kind]


# --- The database ---

# A home has other files too, and only these two kinds are counted here.
FROM_FILES = "from files where path = 'history.jsonl' or path glob 'projects/*.jsonl'"

SINGLE = {
    "files": f"select count(*) {FROM_FILES}",
    "lines": f"select coalesce(sum(line_count), 0) {FROM_FILES}",
    "blank lines": f"select coalesce(sum(blank_line_count), 0) {FROM_FILES}",
    "rejected fragments": "select count(*) from rejected_lines",
    "incomplete tails": "select count(*) from rejected_lines where reason = 'incomplete_tail'",
    "history prompts": "select count(*) from history_prompts",
    "message copies": "select count(*) from message_copies",
    "parents resolved": "select count(*) from messages where parent_message_id is not null",
    "parents unresolved": "select count(*) from messages where parent_uuid is not null and parent_message_id is null",
    "tool results matched": "select count(*) from tool_results where tool_use_id is not null",
    "tool results unmatched": "select count(*) from tool_results where tool_use_id is null",
    "usage lines": "select count(*) from usage_lines",
}

BY_VALUE = {
    "messages": "select type, count(*) from messages group by type",
    "events": "select type, count(*) from events group by type",
    "tool uses": "select name, count(*) from tool_uses group by name",
    "api responses": "select model, count(*) from api_responses where kind = 'message' group by model",
}
for kind in TOKEN_KINDS:
    BY_VALUE[f"{kind} tokens"] = f"select model, coalesce(sum({kind}_tokens), 0) from api_responses where kind = 'message' group by model"


def count_database(path):
    # Read-only: a recount must not be able to change, or create, what it checks.
    database = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
    counts = {what: database.execute(sql).fetchone()[0] for what, sql in SINGLE.items()}
    for what, sql in BY_VALUE.items():
        counts |= {f"{what} {label(value)}": count for value, count in database.execute(sql)}
    database.close()
    return counts


if __name__ == "__main__":
    sys.exit(main())
