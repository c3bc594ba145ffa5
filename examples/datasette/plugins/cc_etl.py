"""Datasette plugin of cc-etl, for Datasette 0.65 and 1.0. `cc-etl datasette` writes it.

It links ids to what they name, shows a session as a page to read, and puts questions and dashboards on the index page. The
templates escape all text; nothing here builds HTML from text of a conversation but `link`, which escapes it.
"""

import importlib.util
import os
import signal
import sys
import threading
import time

import markupsafe
from datasette import hookimpl
from datasette.utils import tilde_decode, tilde_encode

# The table that the column of this name, or one that ends with it, refers to.
KEYS = {"session_id": "sessions", "message_id": "messages", "tool_use_id": "tool_uses", "agent_run_id": "agents"}

# These are of the API, not of a table.
IDS_OF_THE_API = {"api_message_id", "interrupted_message_id"}

# The columns to show first. The others keep their order, but those without a value on the page come last.
FIRST = {
    "conversation": ["text", "thinking", "tool_calls", "tool_results", "type", "prompt_kind", "model", "sent_at"],
    "feedback": ["text", "kind", "said_at"],
    "messages": ["prompt_text", "type", "prompt_kind", "model", "sent_at", "session_id"],
    "prompts": ["text", "kind", "delivery", "said_at"],
    "session_overview": ["title", "project", "cost_usd", "started_date"],
    "sessions": ["title", "first_prompt", "started_at"],
    "tool_calls": ["name", "command", "file_path", "outcome", "result", "called_at"],
    "turns": ["prompt", "cost_usd", "tool_call_count", "duration_ms", "started_at"],
}

MESSAGES_PER_PAGE = 200
LATEST_SESSIONS = 10
# Longer texts are cut, with a link to the whole.
TEXT_LENGTH = 20_000
RESULT_LENGTH = 4_000


@hookimpl
def startup(datasette):
    if os.environ.get("CC_ETL_END_WITH_STDIN"):
        threading.Thread(target=end_with_stdin, daemon=True).start()


def end_with_stdin():
    """Ends Datasette when `cc-etl datasette` ends, in whichever way: only that closes the pipe."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    # An open connection delays the end.
    time.sleep(2)
    os._exit(0)


def is_ours(datasette, database):
    return (datasette.plugin_config("cc-etl") or {}).get("database") == database


# Ids in tables


@hookimpl
def render_cell(row, value, column, table, database, datasette):
    # Where Datasette knows the foreign key, the value is a dict, and it links the label itself.
    if isinstance(value, (str, int)) and value != "" and is_ours(datasette, database):
        for key, target in KEYS.items():
            if (column == key or column.endswith(f"_{key}")) and column not in IDS_OF_THE_API:
                session = session_of(row) if target == "messages" else None
                if session is not None:
                    return link(message_url(datasette, database, session, value), value)
                return link(datasette.urls.row(database, target, tilde_encode(str(value))), value)
    return None


def session_of(row):
    try:
        session = row["session_id"]
    except (KeyError, IndexError):
        return None
    return session["value"] if isinstance(session, dict) else session


def message_url(datasette, database, session, message):
    page = datasette.urls.row(database, "sessions", tilde_encode(str(session)))
    return f"{page}?_message={message}#m{message}"


def link(url, text):
    return markupsafe.Markup('<a href="{}">{}</a>').format(str(url), text)


# What the templates need


@hookimpl
def extra_template_vars(template, database, table, view_name, request, datasette):
    async def variables():
        page = {"cc_etl_arrange": arrange, "cc_etl_hide": hide, "cc_etl_drop_empty": drop_empty}
        config = datasette.plugin_config("cc-etl") or {}
        if view_name == "index" and config.get("database") in datasette.databases:
            page["cc_etl_index"] = await index(datasette, config)
        if view_name == "row" and table == "sessions" and is_ours(datasette, database):
            page["cc_etl_session"] = await session_page(datasette, database, request)
        if view_name == "row" and table == "messages" and is_ours(datasette, database):
            page["cc_etl_message"] = await message_page(datasette, database, request)
        return page

    return variables


def arrange(table, display_columns, display_rows):
    """Puts the columns to read first, and those without a value on this page last. The lists are those of the page."""
    first = FIRST.get(table, [])
    rows = list(display_rows or [])
    filled = {cell["column"] for row in rows for cell in row if cell["raw"] not in (None, "")}

    def place(name, is_key):
        if is_key:
            return (0, 0)
        if name in filled and name in first:
            return (1, first.index(name))
        return (2, 0) if name in filled or not rows else (3, 0)

    keys = {column["name"] for column in display_columns or [] if column.get("is_pk") or column["name"] == "Link"}
    if display_columns:
        display_columns.sort(key=lambda column: place(column["name"], column["name"] in keys))
    for row in rows:
        row.cells.sort(key=lambda cell: place(cell["column"], cell["column"] in keys))
    return ""


def hide(views):
    """Takes internal views off the list; internal tables are hidden by the metadata."""
    # Since 1.0 a view is an object.
    name = lambda view: view["name"] if isinstance(view, dict) else view.name
    views[:] = [view for view in views if not name(view).startswith("_")]
    return ""


def drop_empty(links):
    links[:] = [link for link in links if link["count"]]
    return ""


def local(column, pattern="%Y-%m-%d %H:%M"):
    return f"""strftime('{pattern}', {column}, (
        select utc_offset from time_zone_offsets where begins_at <= {column} order by begins_at desc limit 1))"""


async def select(datasette, database, sql, **parameters):
    result = await datasette.get_database(database).execute(sql, parameters)
    return [dict(row) for row in result.rows]


async def index(datasette, config):
    database = config["database"]
    has_dashboards = importlib.util.find_spec("datasette_dashboards") is not None
    dashboards = datasette.plugin_config("datasette-dashboards") or {}
    sessions = await select(datasette, database, f"""
        select session_id, project, coalesce(nullif(title, ''), first_prompt, session_id) as title, cost_usd,
            {local('started_at')} as started_at
        from session_overview order by session_overview.started_at desc limit {LATEST_SESSIONS}""")
    for session in sessions:
        session["url"] = datasette.urls.row(database, "sessions", tilde_encode(session["session_id"]))
        session["cost"] = money(session["cost_usd"])
        session["title"] = cut(first_line(session["title"]), 100)[0]
    return {
        "database": database,
        "has_dashboards": has_dashboards,
        "dashboards": [
            {"url": datasette.urls.path(f"/-/dashboards/{name}"), **dashboard} for name, dashboard in dashboards.items()
        ],
        "groups": [
            {"name": name, "questions": [
                {"url": datasette.urls.query(database, question), "title": title} for question, title in questions.items()
            ]}
            for name, questions in config["questions"].items()
        ],
        "sessions": sessions,
    }


# A session


async def session_page(datasette, database, request):
    """The parts of a session's page; None for a session without a message."""
    session = tilde_decode(request.url_vars["pks"])
    facts = await select(datasette, database, f"""
        select *, {local('started_at')} as started_at_local, (select value from settings where setting = 'time_zone') as zone
        from session_overview where session_id = :session""", session=session)
    if not facts:
        return None
    facts = facts[0]
    page_url = datasette.urls.row(database, "sessions", tilde_encode(session))

    agents = await select(datasette, database, """
        select agents.agent_run_id, agents.agent_type, agents.description, agents.status, agents.spawned_by_tool_use_id,
            costs.cost_usd
        from agents
        left join (
            select agent_run_id, sum(cost_usd) as cost_usd from response_costs where session_id = :session group by agent_run_id
        ) as costs on costs.agent_run_id = agents.agent_run_id
        where agents.session_id = :session
        order by agents.started_at, agents.agent_id""", session=session)
    for agent in agents:
        agent["url"] = f"{page_url}?_agent={agent['agent_run_id']}"
        agent["cost"] = money(agent["cost_usd"])
        agent["name"] = " ".join(filter(None, [agent["agent_type"] or "sub-agent", agent["description"]]))

    messages = await select(datasette, database, """
        select message_id, agent_run_id from conversation
        where session_id = :session order by sent_at, file_id, line_number""", session=session)
    agent_of = {message["message_id"]: message["agent_run_id"] for message in messages}
    wanted = number(request.args.get("_message"))
    agent_id = agent_of.get(wanted, number(request.args.get("_agent")))
    thread = [message for message, agent in agent_of.items() if agent == agent_id]
    place = {message: position // MESSAGES_PER_PAGE + 1 for position, message in enumerate(thread)}
    page_count = max(1, -(-len(thread) // MESSAGES_PER_PAGE))
    page = min(max(place.get(wanted) or number(request.args.get("_page")) or 1, 1), page_count)
    shown = thread[(page - 1) * MESSAGES_PER_PAGE:page * MESSAGES_PER_PAGE]

    def page_link(number):
        thread_of = f"_agent={agent_id}&" if agent_id is not None else ""
        return f"{page_url}?{thread_of}_page={number}"

    turns = await select(datasette, database, f"""
        select turn_number, message_id, prompt, cost_usd, tool_call_count, duration_ms, is_interrupted,
            {local('started_at')} as started_at
        from turns where session_id = :session order by turn_number""", session=session)
    for turn in turns:
        turn["url"] = message_url(datasette, database, session, turn["message_id"])
        turn["prompt"] = cut(first_line(turn["prompt"]), 120)[0] or "(no text)"
        turn["cost"], turn["duration"] = money(turn["cost_usd"]), duration(turn["duration_ms"])
    turn_of = {turn["message_id"]: turn for turn in turns}

    tools = await select(datasette, database, """
        select name, count(*) as call_count, sum(outcome_group = 'error') as error_count,
            sum(outcome_group = 'denied') as denied_count, sum(run_ms) as run_ms
        from tool_calls where session_id = :session group by name order by call_count desc, name""", session=session)
    for tool in tools:
        tool["duration"] = duration(tool["run_ms"])

    return {
        "title": cut(first_line(facts["title"] or facts["first_prompt"] or session), 200)[0],
        "facts": describe(facts),
        "agents": agents,
        "agent": next((agent for agent in agents if agent["agent_run_id"] == agent_id), None),
        "url": page_url,
        "turns": turns,
        "tools": tools,
        "messages": await read_messages(datasette, database, shown, turn_of, agents),
        "message_count": len(thread),
        "page": page,
        "page_count": page_count,
        "previous": page_link(page - 1) if page > 1 else None,
        "next": page_link(page + 1) if page < page_count else None,
    }


async def message_page(datasette, database, request):
    """What a message says, which its row does not have, and its place in the session."""
    rows = await select(datasette, database, """
        select session_id, message_id, text from messages left join _message_texts using (message_id)
        where message_id = :message""", message=number(request.url_vars["pks"]))
    for row in rows:
        row["url"] = row["session_id"] and message_url(datasette, database, row["session_id"], row["message_id"])
        return row
    return None


async def read_messages(datasette, database, ids, turn_of, agents):
    """The messages with something to read, in this order, with their tool calls."""
    wanted = f"({', '.join(map(str, ids)) or 'null'})"
    rows = await select(datasette, database, f"""
        select message_id, type, subtype, prompt_kind, model, text, thinking, {local('sent_at')} as sent_at,
            prompt_kind in (select prompt_kind from prompt_kinds where is_prompt) as is_prompt
        from conversation where message_id in {wanted}""")
    calls = await select(datasette, database, f"""
        select tool_use_id, message_id, name, outcome, outcome_group, denial_reason, run_ms, result,
            coalesce(command, file_path, pattern, url, query, description, skill) as what
        from tool_calls where message_id in {wanted} order by called_at, tool_use_id""")
    spawned = {}
    for agent in agents:
        spawned.setdefault(agent["spawned_by_tool_use_id"], []).append(agent)
    calls_of = {}
    for call in calls:
        call["url"] = datasette.urls.row(database, "tool_uses", tilde_encode(call["tool_use_id"]))
        call["what"], call["more_what"] = cut(call["what"], RESULT_LENGTH)
        call["result"], call["more_result"] = cut(call["result"], RESULT_LENGTH)
        call["duration"] = duration(call["run_ms"])
        call["agents"] = spawned.get(call["tool_use_id"], [])
        calls_of.setdefault(call["message_id"], []).append(call)
    rows = {row["message_id"]: row for row in rows}
    messages = []
    for message in (rows[id] for id in ids if id in rows):
        message["calls"] = calls_of.get(message["message_id"], [])
        if not any((message["text"], message["thinking"], message["calls"])):
            continue
        message["url"] = datasette.urls.row(database, "messages", str(message["message_id"]))
        message["text"], message["more_text"] = cut(message["text"], TEXT_LENGTH)
        message["thinking"], message["more_thinking"] = cut(message["thinking"], TEXT_LENGTH)
        message["turn"] = turn_of.get(message["message_id"])
        message["role"], message["speaker"] = speaker(message)
        messages.append(message)
    return messages


def speaker(message):
    if message["type"] == "assistant":
        return "claude", "Claude"
    if message["is_prompt"]:
        return "person", "Prompt"
    kind = message["subtype"] or message["prompt_kind"] or ""
    return "machine", " · ".join(filter(None, ["Claude Code", kind.replace("machine", "").replace("_", " ")]))


def describe(facts):
    tokens = sum(facts[f"{kind}_tokens"] for kind in ("input", "output", "cache_write", "cache_read"))
    cost = "unknown" if facts["cost_usd"] is None else money(facts["cost_usd"])
    files = f"{facts['changed_file_count'] or 0:,}"
    if facts["changed_file_count"]:
        files += f" (+{facts['lines_added'] or 0:,} −{facts['lines_removed'] or 0:,} lines)"
    calls = f"{facts['tool_call_count'] or 0:,}"
    if facts["tool_error_count"]:
        calls += f" ({facts['tool_error_count']:,} failed)"
    described = [
        ("Cost", cost),
        ("Started", f"{facts['started_at_local'] or ''} {facts['zone'] or ''}".strip()),
        ("Duration", duration(1000 * (facts["duration_s"] or 0))),
        ("Project", facts["project"]),
        ("Branch", facts["git_branch"]),
        ("Models", (facts["models"] or "").replace(",", ", ")),
        ("Tokens", f"{tokens:,}"),
        ("Prompts", f"{facts['prompt_count'] or 0:,}"),
        ("Tool calls", calls),
        ("Changed files", files),
    ]
    return [(name, value) for name, value in described if value]


def number(text):
    return int(text) if text and text.isdecimal() else None


def first_line(text):
    return next((line.strip() for line in (text or "").splitlines() if line.strip()), "")


def cut(text, length):
    """The beginning of a text, and how many characters are left out."""
    text = "" if text is None else str(text)
    return text[:length], max(0, len(text) - length)


def money(amount):
    return "" if amount is None else f"${amount:,.2f}"


def duration(milliseconds):
    if not milliseconds:
        return ""
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} m" if hours else f"{minutes} m {seconds} s"
