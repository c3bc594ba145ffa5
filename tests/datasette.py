"""Drives Datasette in a real browser, and asks every question in three programs.

    tests/datasette.py [--screenshots DIR] [--database FILE] [--binary CC_ETL]

Needs chromium and sqlite3; installs Datasette (0.65 and the 1.0 alpha), the dashboards and Playwright under target/.
With --database, the pages of that database are timed instead, and none may take a second.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
CC_ETL = ROOT / "target/release/cc-etl"
PACKAGES = {
    "datasette-0.65": ["datasette==0.65.5", "datasette-dashboards==0.8.0", "playwright==1.65.0"],
    "datasette-1.0": ["datasette==1.0a41"],
}
# What parameters are set to in the second round, so that the answer is another one.
PARAMETERS = {
    "limit": "3",
    "since": "2026-09-01",
    "until": "2026-10-10",
    "project": "tea",
    "words": "steep* OR price",
    "tool": "Bash",
    "session": "5e55",
    "active": "no",
    "by": "effort",
    "cause": "pause",
    "today": "2026-10-20",
    "uuid": None,  # one of the database
}


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--screenshots", type=pathlib.Path)
    arguments.add_argument("--database", type=pathlib.Path)
    arguments.add_argument("--binary", type=pathlib.Path, default=CC_ETL)
    arguments = arguments.parse_args()
    globals()["CC_ETL"] = arguments.binary.resolve()
    stable, alpha = (environment(name, packages) for name, packages in PACKAGES.items())
    if "playwright" not in sys.modules and pathlib.Path(sys.prefix) != stable:
        os.execv(stable / "bin/python", [stable / "bin/python", *sys.argv])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if arguments.database:
            with Server(stable, arguments.database.resolve(), folder) as server:
                time_pages(server, arguments.database)
            return
        database = folder / "demo.db"
        run(CC_ETL, "sync", "--demo", "--quiet", "--db", database)
        for installed in (stable, alpha):
            end_with_cc_etl(installed, database, folder)
        start_without_datasette(stable, database, folder)
        with Server(stable, database, folder) as server:
            ask_everywhere(server, database)
            browse(server, arguments.screenshots)
            print(f"ok      dashboards: {look_at_dashboards(server, arguments.screenshots)}")
        with Server(alpha, database, folder) as server:
            ask_everywhere(server, database)
            browse(server, None)
        for installed in (stable, alpha):
            attack(installed, folder)


def environment(name, packages):
    """A Python environment with these packages, made anew when they change."""
    path = ROOT / "target" / name
    stamp = path / "packages"
    if not stamp.exists() or stamp.read_text() != " ".join(packages):
        shutil.rmtree(path, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", path], check=True)
        subprocess.run([path / "bin/pip", "install", "--quiet", *packages], check=True)
        stamp.write_text(" ".join(packages))
    return path


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, text=True, **options)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def await_that(condition, what):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit(f"not within 30 s: {what}")


def answers(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def end_with_cc_etl(environment, database, folder):
    """Datasette ends with cc-etl, whatever ends that, and leaves no files behind."""
    for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        port, temporary = free_port(), folder / f"tmp-{environment.name}-{ending.name}"
        temporary.mkdir()
        process = subprocess.Popen(
            [CC_ETL, "datasette", "--db", database, "--", "--port", str(port)], text=True, stdout=subprocess.PIPE,
            env={**os.environ, "PATH": f"{environment}/bin:{os.environ['PATH']}", "TMPDIR": str(temporary)},
            stderr=subprocess.DEVNULL, start_new_session=True,
        )
        await_that(lambda: answers(port), "Datasette answers")
        # To cc-etl alone, not to its group.
        process.send_signal(ending)
        code = process.wait(10)
        await_that(lambda: not answers(port), f"Datasette ends after {ending.name}")
        assert "Press Ctrl-C to end it" in process.stdout.read()
        if ending != signal.SIGKILL:
            left = [path.name for path in temporary.iterdir() if path.name.startswith("cc-etl-")]
            assert (code, left) == (0, []), f"{ending.name}: exit code {code}, {left}"
    print(f"ok      {environment.name}: ends with cc-etl on SIGINT, SIGTERM and SIGKILL")


def start_without_datasette(environment, database, folder):
    """uvx runs Datasette where it is not installed; without both, the error says what to install."""
    programs = folder / "programs"
    programs.mkdir()
    command = [CC_ETL, "datasette", "--db", database, "--", "--version"]
    failed = subprocess.run(command, env={**os.environ, "PATH": str(programs)}, text=True, capture_output=True)
    assert failed.returncode == 2 and "pip install" in failed.stderr, failed
    uvx = programs / "uvx"
    uvx.write_text(f"""#!/bin/sh
[ "$1 $2 $3 $4 $5" = "--from datasette<1 --with datasette-dashboards datasette" ] || exit 9
shift 5
exec {environment}/bin/datasette "$@"
""")
    uvx.chmod(0o755)
    port = free_port()
    process = subprocess.Popen(
        [*command[:-1], "--port", str(port)], env={**os.environ, "PATH": str(programs)}, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, start_new_session=True,
    )
    await_that(lambda: answers(port), "Datasette answers through uvx")
    process.terminate()
    assert process.wait(10) == 0 and "with uvx" in process.stdout.read()
    await_that(lambda: not answers(port), "Datasette ends with uvx")
    print("ok      uvx runs Datasette where it is not installed")


class Server:
    """Datasette, started by cc-etl."""

    def __init__(self, environment, database, folder):
        port = free_port()
        self.name = environment.name
        self.url = f"http://127.0.0.1:{port}"
        self.database = f"{self.url}/{urllib.parse.quote(database.stem)}"
        self.log = folder / "datasette.log"
        path = f"{environment}/bin:{os.environ['PATH']}"
        command = [CC_ETL, "datasette", "--db", database, "--out", folder / environment.name, "--serve"]
        self.process = subprocess.Popen(
            [*command, "--", "--port", str(port)],
            env={**os.environ, "PATH": path}, stdout=self.log.open("w"), stderr=subprocess.STDOUT, start_new_session=True,
        )

    def __enter__(self):
        for _ in range(300):
            try:
                urllib.request.urlopen(self.url).close()
                return self
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"datasette did not start:\n{self.log.read_text()}")

    def __exit__(self, *_):
        os.killpg(self.process.pid, 15)
        self.process.wait()

    def rows(self, query, parameters):
        given = urllib.parse.urlencode({**parameters, "_shape": "arrays", "_size": "max"})
        with urllib.request.urlopen(f"{self.database}/{query}.json?{given}") as answer:
            return json.load(answer)["rows"]


def ask_everywhere(server, database):
    """Every question gives the same answer in sqlite3, in Datasette and in cc-etl, with parameters unset and set."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    PARAMETERS["uuid"] = connection.execute("select min(uuid) from messages where type = 'assistant'").fetchone()[0]
    queries = sorted((ROOT / "queries").glob("*.sql"))
    asked = changed = 0
    for path in queries:
        sql = path.read_text()
        names = re.findall(r"^-- :(\w+)(?: \w+)? - ", sql, re.M)
        unset = compare(server, database, path, sql, {name: None for name in names})
        asked += 1
        if names:
            given = compare(server, database, path, sql, {name: PARAMETERS[name] for name in names})
            asked += 1
            changed += given != unset
    assert changed > 20, f"only {changed} answers changed with their parameters"
    print(f"ok      {server.name}: {len(queries)} questions, {asked} answers, the same in sqlite3, Datasette and cc-etl")


def compare(server, database, path, sql, parameters):
    given = {name: value for name, value in parameters.items() if value is not None}
    ours = run(
        CC_ETL, "query", path.stem, "--db", database, "--format", "json",
        *(word for name, value in given.items() for word in ("--param", f"{name}={value}")), capture_output=True,
    )
    ours = [list(row.values()) for row in json.loads(ours.stdout)]
    quoted = lambda value: "'" + value.replace("'", "''") + "'"
    settings = [f'.parameter set :{name} "{quoted(value)}"' for name, value in given.items()]
    shell = run(
        "sqlite3", "-readonly", "-json", database, input="\n".join([".parameter init", *settings, sql]), capture_output=True,
    )
    shell = [list(row.values()) for row in json.loads(shell.stdout or "[]")]
    # Datasette gives an empty text for what is not set.
    pages = server.rows(path.stem, {name: value or "" for name, value in parameters.items()})
    for program, theirs in [("sqlite3", shell), ("Datasette", pages)]:
        assert same(ours, theirs), f"{path.name} {given}: cc-etl\n{ours[:3]}\n{program}\n{theirs[:3]}"
    return ours


def same(ours, theirs):
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        # Versions of SQLite round a 5 at the end up or down.
        decimals = max(len(repr(number).partition(".")[2]) for number in (ours, theirs))
        return math.isclose(ours, theirs, rel_tol=1e-12, abs_tol=1.01 * 10**-decimals)
    return ours == theirs


class Browser:
    """A page of a headless Chromium."""

    def __enter__(self):
        from playwright.sync_api import sync_playwright

        self.playwright = sync_playwright().start()
        quiet = ["background-networking", "component-update", "sync", "quic", "gpu"]
        self.browser = self.playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--no-first-run", *(f"--disable-{what}" for what in quiet)],
        )
        return self.browser.new_page(viewport={"width": 1300, "height": 900})

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()


def browse(server, screenshots):
    """Walks as a person would, and reads what the page shows."""
    with Browser() as page:

        def shows(*texts, name=None):
            page.wait_for_load_state()
            content = page.inner_text("body")
            for text in texts:
                assert text in content, f"{server.name}: {page.url} does not show {text!r}:\n{content[:2000]}"
            if screenshots:
                screenshots.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=screenshots / f"{name}.png", full_page=True)

        page.goto(server.url)
        shows("Claude Code history", "demo", "Most expensive sessions", "Latest sessions", name="index")
        page.click("a:text-is('demo')")
        shows("Queries", "session_overview", name="database")
        assert page.locator("a:text-matches('^_')").count() == 0, "internal tables or views are listed"
        # A session, its row, and what refers to it; a reference is shown by its label and leads on.
        page.goto(f"{server.database}/sessions?title__contains=Cart")
        shows("Cart choice and sorting by steeping time", "tea-shop", "One row per sessionId", name="sessions")
        page.click("table.rows-and-columns tbody td.col-session_id a")
        shows("Cart choice and sorting by steeping time", "Cost", "$", "Prompt", "Claude", "Tool calls", name="session")
        # Each turn leads to its prompt.
        page.click("summary:has-text('cost, tool calls and duration')")
        page.click("details[open] tbody a >> nth=0")
        page.wait_for_selector(".message.person:target")
        page.click("summary:has-text('what refers to it')")
        page.click("li:has-text('from session_id in messages') a")
        shows("Cart choice and sorting by steeping time", name="messages")
        # The thread of a sub-agent, from its call.
        page.goto(f"{server.database}/sessions?title=Reviews+for+teas")
        page.click("table.rows-and-columns tbody td.col-session_id a")
        page.click(".message .agent a >> nth=0")
        shows("Sub-agent: database-designer Propose review table", "Back to the session", name="agent")
        # Text comes first, and ids of sessions, messages and calls are links in views and queries.
        for view, first in [("conversation", "text"), ("prompts", "text"), ("turns", "prompt"), ("tool_calls", "name")]:
            page.goto(f"{server.database}/{view}")
            shows(name=view)
            headers = page.eval_on_selector_all("th[data-column]", "headers => headers.map(header => header.dataset.column)")
            assert headers[0] == first, f"{view}: {headers}"
        assert "/tool_uses/" in page.get_attribute("td.col-tool_use_id a >> nth=0", "href")
        page.goto(f"{server.database}/conversation?_sort=sent_at&prompt_kind=human")
        page.click("td.col-message_id a >> nth=0")
        page.wait_for_selector(".message.person:target")
        # The row of a message has its text, and leads back.
        said = page.inner_text(".message.person:target pre.text")
        page.click(".message.person:target header a")
        page.wait_for_selector("a:text-is('In its session')")
        shows(said, name="message")
        # A question, with another parameter.
        page.goto(f"{server.database}/expensive_sessions")
        rows = "table.rows-and-columns tbody tr"
        shows("agents included", "limit: rows to show; 20 without it", name="question")
        assert "/sessions/" in page.get_attribute("td.col-session_id a >> nth=0", "href")
        assert page.locator(rows).count() == 20
        page.fill("input[name=limit]", "3")
        page.click("input[type=submit]")
        page.wait_for_url("**limit=3**")
        assert page.locator(rows).count() == 3, page.url
        # Words.
        page.goto(f"{server.database}/_search_texts")
        page.fill("input[name=_search]", "steeping")
        page.press("input[name=_search]", "Enter")
        page.wait_for_url("**_search=steeping**")
        found = page.locator(rows)
        assert found.count() > 0 and all("steeping" in text.lower() for text in found.all_inner_texts())
        shows("rows where search matches", name="search")
    print(f"ok      {server.name}: index, session with its rows, question, search in Chromium")


HOSTILE = """</pre></details></script>"'><script>window.ran = 1</script><img src=x onerror="window.ran = 1">{{ 7 * 7 }}‮"""
SESSION = "5e550000-0000-4000-8000-00000000dead"


def write_hostile_home(home):
    """A session in which every text that a page shows attacks the page."""
    times = (f"2026-10-01T08:00:{second:02}.000Z" for second in range(60))
    common = {"sessionId": SESSION, "cwd": f"/home/dev/{HOSTILE}", "gitBranch": HOSTILE, "version": "2.1.0", "isSidechain": False}
    usage = {"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

    def line(uuid, parent, kind, content, **fields):
        role = {"role": kind, "content": content, **fields}
        return {**common, "type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": next(times), "message": role}

    call = {"type": "tool_use", "id": "toolu_hostile", "name": f"mcp__{HOSTILE}__{HOSTILE}", "input": {"command": HOSTILE}}
    words = [{"type": "thinking", "thinking": HOSTILE, "signature": ""}, {"type": "text", "text": HOSTILE}, call]
    result = {"type": "tool_result", "tool_use_id": "toolu_hostile", "is_error": True, "content": HOSTILE}
    lines = [
        line("u1", None, "user", HOSTILE),
        {**line("a1", "u1", "assistant", words, id="msg_1", model=HOSTILE, usage=usage), "requestId": "req_1"},
        line("u2", "a1", "user", [result]),
        {"type": "custom-title", "customTitle": HOSTILE, "sessionId": SESSION},
    ]
    transcript = home / "projects" / "-home-dev-hostile" / f"{SESSION}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))


def attack(environment, folder):
    """Text of a conversation stays text on every page."""
    folder = folder / f"hostile-{environment.name}"
    home, database = folder / "home", folder / "hostile.db"
    write_hostile_home(home)
    run(CC_ETL, "sync", "--source", home, "--quiet", "--db", database)
    with Server(environment, database, folder) as server, Browser() as page:
        paths = [f"/sessions/{SESSION}", *(f"/{name}" for name in (
            "sessions", "session_overview", "conversation", "messages", "prompts", "tool_calls", "turns", "_search_texts",
            "messages/1", "messages/2", "tool_uses/toolu_hostile", "recent_sessions", "last_prompts", "models", "failed_tools"))]
        urls = [server.url, *(server.database + path for path in paths)]
        if environment.name == "datasette-0.65":
            urls += [f"{server.url}/-/dashboards/{name}" for name in ("cost", "tools", "feedback")]
        for url in urls:
            page.goto(url)
            page.wait_for_load_state("networkidle")
            page.eval_on_selector_all("details", "all => all.forEach(details => details.open = true)")
            assert page.evaluate("window.ran") is None, f"{url} runs text of a conversation"
            assert page.locator("img[src=x]").count() == 0, f"{url} has text of a conversation as HTML"
            assert "\n49" not in page.inner_text("body"), f"{url} renders text of a conversation as a template"
            if url.endswith(SESSION):
                # Title, branch, model, prompt, thinking, response, command, result.
                shown = page.inner_text("body").count("<script>window.ran = 1</script>")
                assert shown >= 8, f"{url} shows {shown} of the texts:\n{page.inner_text('body')}"
    print(f"ok      {environment.name}: hostile text stays text on {len(urls)} pages")


def look_at_dashboards(server, screenshots):
    """Each metric has a number and each chart is drawn."""
    with Browser() as page:
        page.goto(f"{server.url}/-/dashboards")
        names = [link.rsplit("/", 1)[1] for link in page.eval_on_selector_all(
            "a[href*='/-/dashboards/']", "links => links.map(link => link.href)")]
        assert sorted(set(names)) == ["cost", "feedback", "tools"], names
        drawn = 0
        for name in sorted(set(names)):
            page.goto(f"{server.url}/-/dashboards/{name}")
            # A metric is a number, a chart has bars.
            cards = page.locator(".dashboard-card")
            for card in cards.all():
                shown = card.locator(".mark-rect.role-mark path, .dashboard-card-chart > div > p:text-matches('[0-9]')")
                shown.first.wait_for(state="attached", timeout=20000)
            drawn += cards.count()
            if screenshots:
                page.screenshot(path=screenshots / f"dashboard-{name}.png", full_page=True)
        # A year is drawn by weeks, which begin on Monday, and three days by days.
        for span, is_weekly in [("", True), ("?since=2026-10-05&until=2026-10-07", False)]:
            page.goto(f"{server.url}/-/dashboards/cost{span}")
            labels = page.locator("#chart-cost-periods .role-axis-label text")
            labels.first.wait_for(state="attached", timeout=20000)
            days = re.findall(r"\d+ [A-Z][a-z]{2} 20\d\d", " ".join(labels.all_text_contents()))
            begins = [datetime.datetime.strptime(day, "%d %b %Y") for day in days]
            assert len(begins) > 1, days
            if is_weekly:
                assert all(begin.weekday() == 0 for begin in begins), days
            else:
                assert all(after - before == datetime.timedelta(days=1) for before, after in zip(begins, begins[1:])), days
            if screenshots:
                page.screenshot(path=screenshots / f"cost-{'weeks' if is_weekly else 'days'}.png", full_page=True)
    return f"{len(set(names))} with {drawn} metrics and charts"


def time_pages(server, database):
    """Opens every table, view, question and dashboard, and says how long each page took."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    names = [name for (name,) in connection.execute(
        "select name from sqlite_schema where type in ('table', 'view') and name not glob 'sqlite_*'"
        " and name not glob 'search' and name not glob 'search_[cdi]*'")]
    session = connection.execute(
        "select session_id from messages group by 1 order by count(*) desc limit 1").fetchone()[0]
    paths = [f"{server.database}/{name}" for name in [*names, *(path.stem for path in (ROOT / "queries").glob("*.sql"))]]
    paths += [f"{server.database}/sessions/{session}", f"{server.database}/messages?session_id={session}",
              f"{server.database}/_search_texts?_search=error", server.url, server.database]
    for name, spec in dashboards(server).items():
        paths += [f"{server.url}/-/dashboards/{name}"]
    times = []
    for path in paths:
        begun = time.monotonic()
        with urllib.request.urlopen(path) as answer:
            answer.read()
        times.append((time.monotonic() - begun, path))
    times.sort(reverse=True)
    for seconds, path in times[:5]:
        print(f"        {seconds:.2f} s  {path.removeprefix(server.url)}")
    assert times[0][0] < 1, "a page took a second or more"
    print(f"ok      {len(times)} pages, the slowest {times[0][0]:.2f} s")


def dashboards(server):
    with urllib.request.urlopen(f"{server.url}/-/metadata.json") as answer:
        return json.load(answer)["plugins"]["datasette-dashboards"]


if __name__ == "__main__":
    main()
