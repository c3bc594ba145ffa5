#!/usr/bin/env python3
"""Runs the commands of pages in examples/engines, and compares their output with that of the page.

    tests/engines/pages.py PAGE...        UPDATE_GOLDEN=1 writes the outputs

A block ```sh or ```python is run in one folder for all pages; what the block ```text after it has, it must print. A block
```python file=NAME is a module for others. PostgreSQL is a server of this script.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from engines import PostgreSqlServer
from machines import CC_ETL

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(sh|python)(?: file=(\S+))?\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def main(pages):
    is_right = True
    with tempfile.TemporaryDirectory(prefix="cc-etl-pages.") as work:
        work = Path(work)
        (work / "bin").mkdir()
        (work / "bin/cc-etl").symlink_to(CC_ETL)
        (work / "sql").symlink_to(ROOT / "sql")
        server = PostgreSqlServer() if "postgresql" in pages else None
        environment = os.environ | {
            "PATH": f"{work}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(work),
            "XDG_DATA_HOME": str(work / "data"),
            "TZ": "UTC",
        }
        if server:
            environment |= {"PGHOST": str(server.home), "PGUSER": server.USER, "PGDATABASE": server.DATABASE}
        try:
            for page in ["README", *pages]:
                is_right = run(ROOT / f"examples/engines/{page}.md", work, environment) and is_right
        finally:
            if server:
                server.close()
    return 0 if is_right else 1


def run(page, work, environment):
    """Runs the blocks of a page. Returns whether they print what the page says."""
    text = page.read_text()
    outputs = [output_of(block, work, environment) for block in BLOCK.finditer(text)]
    wrong = [(block, output) for block, output in zip(BLOCK.finditer(text), outputs) if output != (block[4] or "")]
    if os.environ.get("UPDATE_GOLDEN"):
        for block, output in reversed(wrong):
            assert block[4] is not None, f"{page.name} has a command with an output, and no block for it: {output}"
            text = text[: block.start(4)] + output + text[block.end(4) :]
        page.write_text(text)
        return True
    for block, output in wrong:
        print(f"FAILED  {page.name}\n{block[3]}prints\n{output}and not\n{block[4] or ''}")
    print(f"{'FAILED ' if wrong else 'ok     '} {page.name}: {len(outputs)} commands")
    return not wrong


def output_of(block, work, environment):
    language, file, text = block[1], block[2], block[3]
    if file:
        (work / file).write_text(text)
        return ""
    command = {"sh": ["bash", "-euo", "pipefail", "-c", text], "python": [sys.executable, "-W", "ignore", "-c", text]}[language]
    return subprocess.run(command, check=True, cwd=work, env=environment, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
