"""Other tools that read Claude Code's transcripts, or any JSON lines: their versions, and how they are installed.

They go into target/rivals and need npm, pip and the network. What cannot be installed is named by `install` and missing
for those who ask.
"""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
FOLDER = REPOSITORY / "target" / "rivals"
NPM = FOLDER / "node_modules" / ".bin"
PYPI = FOLDER / "venv" / "bin"

# The program, and the packages that bring it.
NPM_PACKAGES = {"ccusage": ["ccusage@20.0.24", "@ccusage/ccusage-linux-x64@20.0.24"]}
PYPI_PACKAGES = {
    "agentsview": ["agentsview==0.46.1"],
    "sqlite-utils": ["sqlite-utils==4.2.1"],
    "claude-code-to-sqlite": ["claude-code-to-sqlite==0.1.0"],
    "duckdb": ["duckdb==2.0.0"],
}


def install(names):
    """Installs programs that are not there. Returns why some could not be, by name."""
    problems = {}
    for name in names:
        try:
            if name in NPM_PACKAGES and not (NPM / name).exists():
                FOLDER.mkdir(parents=True, exist_ok=True)
                (FOLDER / "package.json").write_text('{"private": true}')
                run(["npm", "install", "--silent", "--no-audit", "--no-fund", *NPM_PACKAGES[name]], cwd=FOLDER)
            elif name in PYPI_PACKAGES and not is_installed(name):
                if not (PYPI / "python").exists():
                    run([sys.executable, "-m", "venv", PYPI.parent])
                run([PYPI / "python", "-m", "pip", "install", "--quiet", *PYPI_PACKAGES[name]])
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip()
            problems[name] = said.splitlines()[-1] if said else "it could not be installed"
    return problems


def is_installed(name):
    if name == "duckdb":  # a library
        return bool(list(PYPI.parent.glob("lib/*/site-packages/duckdb")))
    return (PYPI / name).exists()


def run(command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
