#!/usr/bin/env python3
"""Lets the official Python client of the Model Context Protocol talk to `cc-etl mcp`, in both eras of the protocol.

    tests/mcp_client.py PROGRAM [DATABASE]

Without a database, the demo is used; with one, no call may take more than a second. Needs the package `mcp`. tests/mcp_client.mjs is the
same for the npm clients.
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

ESCAPES = pathlib.Path(__file__).with_name("escape_attempts.txt").read_text().splitlines()


class Session:
    """A client, and how long its calls take."""

    def __init__(self, client, mode, is_timed, bad):
        self.client, self.mode, self.is_timed, self.bad = client, mode, is_timed, bad
        self.slowest = (0, "")

    def expect(self, holds, what):
        if not holds:
            self.bad.append(f"{self.mode}: {what}")

    async def call(self, name, is_error=False, /, **arguments):
        begun = time.monotonic()
        result = await self.client.call_tool(name, arguments)
        took = time.monotonic() - begun
        self.slowest = max(self.slowest, (took, name))
        text = result.content[0].text
        self.expect(result.is_error == is_error, f"{name} {arguments}: {text[:200]}")
        self.expect(took < 1 or not self.is_timed, f"{name} took {took:.2f} s")
        self.expect(len(text) < 50_000, f"{name} returns {len(text)} characters")
        return text


async def talk(program, database, mode, is_demo, bad):
    """Calls every tool."""
    server = StdioServerParameters(command=program, args=["mcp", "--db", database])
    async with Client(stdio_client(server), mode=mode) as client:
        session = Session(client, mode, not is_demo, bad)
        call, expect = session.call, session.expect
        tools = {tool.name for tool in (await client.list_tools()).tools}
        expect(tools == {"search", "show", "questions", "ask", "schema", "query"}, f"the tools are {tools}")

        questions = await call("questions")
        expect("daily:" in questions, "no question `daily`")
        longest = "select title from sessions where not is_empty order by julianday(ended_at) - julianday(started_at) desc limit 1"
        title = json.loads(await call("query", sql=longest))["title"]
        hits = (await call("search", words=max(title.split(), key=len))).splitlines()
        found = [json.loads(hit) for hit in hits if hit.startswith("{")]
        expect(found, "nothing was found")
        for hit in found[:1]:
            page = await call("show", session=hit["session_id"])
            expect(page.startswith("# "), f"show returns {page[:80]}")
            await call("show", session=hit["session_id"], tools=True)
        rows = await call("ask", question="daily", parameters={"until": "2026-10"}, limit=3)
        expect("cost_usd" in rows, f"ask returns {rows[:200]}")
        expect("session_overview" in await call("schema"), "no overview of the schema")
        expect("cost_usd" in await call("schema", name="session_overview"), "no columns")
        expect("total" in await call("query", sql="select count(*) as total from messages"), "no rows")
        many = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 9999) select i, hex(zeroblob(500)) from n"
        expect("Only" in await call("query", sql=many, limit=9999), "a large result has no note")
        expect("did you mean" in await call("query", True, sql="select cost_us from daily_costs"), "an error that does not teach")
        await call("ask", True, question="no_such")
        await call("ask", True, question="daily", parameters={"since": "garbage"})
        await call("show", True, session="no such session")
        await call("search", True)
        for sql in ESCAPES:
            await call("query", True, sql=sql.replace("STOLEN", f"{database}.stolen"))
        if is_demo:
            await past_fix(call, expect)
        return session.slowest


async def past_fix(call, expect):
    """What Claude does with the tools: it finds how something was fixed before, what that cost, and the change itself."""
    hits = [json.loads(line) for line in (await call("search", words="button twice")).splitlines()]
    sessions = {hit["session_id"] for hit in hits}
    expect(len(sessions) == 1, f"the fix is not found: {hits}")
    session_id = sessions.pop()
    costs = await call("query", sql=f"select title, cost_usd from session_costs where session_id = '{session_id}'")
    expect(json.loads(costs)["cost_usd"] > 0, f"the fix has no cost: {costs}")
    page = await call("show", session=session_id, tools=True)
    expect("The checkout button can be pressed twice" in page, "the prompt is not shown")
    expect("button.disabled = true" in page, "the change is not shown")
    files = await call("query", sql=f"""
        select file_changes.file_path, file_changes.lines_added, file_changes.lines_removed, tool_uses.input_json
        from file_changes join tool_uses using (tool_use_id) join messages using (message_id) where session_id = '{session_id}'""")
    change = json.loads(files.splitlines()[0])
    expect(change["lines_added"] > 0 and "new_string" in change["input_json"], f"the change is not found: {files}")


def raw(program, database, messages, lines):
    """Sends messages and returns this many answers; then closes the input, and the program has to end."""
    process = subprocess.Popen([program, "mcp", "--db", database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for message in messages:
        process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(lines)]
    process.stdin.close()
    process.wait(5)
    return answers


def cancellation(program, database, bad):
    """A call that is cancelled ends, and the next one is answered."""
    slow = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
    call = lambda number, sql: {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "query", "arguments": {"sql": sql}}}
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    begun = time.monotonic()
    answers = raw(program, database, ["not JSON", {"jsonrpc": "2.0", "id": 9, "method": "no/such"}, call(1, slow), cancel, call(2, "select 2 as two")], 3)
    if [answer["id"] for answer in answers] != [None, 9, 2] or time.monotonic() - begun > 3:
        bad.append(f"cancelling: {answers}")
    unknown = {"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}}}
    [answer] = raw(program, database, [unknown], 1)
    if answer["error"]["code"] != -32022:
        bad.append(f"an unknown version: {answer}")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        database = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "demo.db")
        if len(sys.argv) == 2:
            subprocess.run([program, "sync", "--demo", "--quiet", "--db", database], check=True)
        bad = []
        took, tool = max(asyncio.run(talk(program, database, mode, len(sys.argv) == 2, bad)) for mode in ["auto", "legacy"])
        cancellation(program, database, bad)
        if os.path.exists(f"{database}.stolen"):
            bad.append("a statement wrote a file")
    ok = f"ok: every tool answers the official client, with and without a handshake; the slowest call, of {tool}, took {took * 1000:.0f} ms"
    print("\n".join(bad) or ok)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
