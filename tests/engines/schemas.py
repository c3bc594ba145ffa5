"""The types of the Parquet files, read back with pyarrow."""

import re
from pathlib import Path

import pyarrow
import pyarrow.parquet

EXPORT = Path(__file__).resolve().parents[2] / "sql/export"
TYPES = {
    "integer": pyarrow.int64(),
    "double": pyarrow.float64(),
    "boolean": pyarrow.bool_(),
    "date": pyarrow.date32(),
    "timestamp": pyarrow.timestamp("us", tz="UTC"),
}


def check(folder, profile):
    """Every file has the columns and types that sql/export declares for the profile. Returns what differs."""
    faults = []
    files = sorted((folder / "v1").rglob("*.parquet"))
    for path in files:
        name = path.relative_to(folder / "v1").parts[0]
        meant = declared(name, profile)
        schema = pyarrow.parquet.read_schema(path)
        found = {field.name: field.type for field in schema}
        if found != meant:
            faults.append(f"{path}: {set(found.items()) ^ set(meant.items())}")
    expected = {path.stem for path in EXPORT.glob("*.sql")}
    read = {path.relative_to(folder / "v1").parts[0] for path in files}
    if read != expected:
        faults.append(f"data sets without files: {expected - read}")
    print(f"pyarrow      {profile}: {len(read)} data sets, {len(files)} files, {len(faults)} with other types")
    return faults


def declared(name, profile):
    columns = re.findall(r"^--   (\w+) (\w+)$", (EXPORT / f"{name}.sql").read_text(), re.MULTILINE)
    return {
        column: TYPES.get(kind, pyarrow.string())
        for column, kind in columns
        if kind != "content" or profile == "full"
    }
