#!/usr/bin/env python3
"""Lets the official Python client of the Model Context Protocol talk to `cc-etl mcp`, in both eras of the protocol.

    tests/mcp_client.py PROGRAM [DATABASE]

Without a database, the demo is used. Needs the package `mcp`.
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

ESCAPES = [
    "delete from messages", "drop table messages", "attach 'x.db' as x", "vacuum into 'stolen.db'", "pragma writable_schema = 1",
    "select load_extension('x')", "select readfile('/etc/passwd')", "select writefile('x', 'y')", "create table x (y)",
    "select 1; select 2", "begin", "detach main",
]


async def talk(program, database, mode, bad):
    """Calls every tool."""
    server = StdioServerParameters(command=program, args=["mcp", "--db", database])

    def expect(holds, what):
        if not holds:
            bad.append(f"{mode}: {what}")

    async with Client(stdio_client(server), mode=mode) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        expect(tools == {"search", "show", "questions", "ask", "schema", "query"}, f"the tools are {tools}")

        async def call(name, is_error=False, /, **arguments):
            begun = time.monotonic()
            result = await client.call_tool(name, arguments)
            took = time.monotonic() - begun
            text = result.content[0].text
            expect(result.is_error == is_error, f"{name} {arguments}: {text[:200]}")
            expect(took < 1, f"{name} took {took:.2f} s")
            expect(len(text) < 50_000, f"{name} returns {len(text)} characters")
            return text

        questions = await call("questions")
        expect("daily:" in questions, "no question `daily`")
        found = [json.loads(line) for line in (await call("search", words="rounding")).splitlines()]
        expect(found, "nothing was found")
        for hit in found[:1]:
            page = await call("show", session=hit["session_id"])
            expect(page.startswith("# "), f"show returns {page[:80]}")
            await call("show", session=hit["session_id"], tools=True)
        rows = await call("ask", question="daily", parameters={"since": "2026-10"}, limit=3)
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
            await call("query", True, sql=sql)


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
        for mode in ["auto", "legacy"]:
            asyncio.run(talk(program, database, mode, bad))
        cancellation(program, database, bad)
    print("\n".join(bad) or "ok: every tool answers the official client, with and without a handshake")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
