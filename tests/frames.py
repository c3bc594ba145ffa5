#!/usr/bin/env python3
"""Reads every table and view with the libraries of Python, as examples/python/README.md says, and compares the numbers of rows.

    python3 tests/frames.py CC_ETL DATABASE

Each library also reads what it can with its default settings. tests/bi_tools installs them.
"""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import adbc_driver_sqlite.dbapi
import connectorx
import duckdb
import pandas
import polars
import sqlite_utils
from duckdb_extensions import import_extension

ALL = "type in ('table', 'view')"
TABLES = "type = 'table'"
ROLLUPS = "name glob 'bi_*'"


def main(cc_etl, database):
    faults = []
    for library, kind, read in LIBRARIES:
        counts = relations(database, kind)
        failed = []
        for name, count in counts.items():
            try:
                found = read(database, name)
                if found != count:
                    failed.append(f"{library}, {name}: {found} rows, not {count}")
            except Exception as error:
                failed.append(f"{library}, {name}: {type(error).__name__}: {str(error)[:300]}")
        if not failed:
            print(f"ok      {library}: {len(counts)} of {len(counts)} where {kind}")
        faults += failed
    faults += tables_only(cc_etl, database)
    for fault in faults:
        print("FAILED ", fault)
    return 1 if faults else 0


def relations(database, kind):
    with closing(sqlite3.connect(database)) as connection:
        names = connection.execute(
            f"select name from pragma_table_list where schema = 'main' and {kind} and name not like 'sqlite_%' order by 1"
        ).fetchall()
        count = lambda name: connection.execute(f"select count(*) from {name}").fetchone()[0]
        return {name: count(name) for (name,) in names}


def polars_sqlite3(database, name, **options):
    with closing(sqlite3.connect(database)) as connection:
        return polars.read_database(f"select * from {name}", connection, **options).height


def polars_all_rows(database, name):
    return polars_sqlite3(database, name, infer_schema_length=None)


def polars_uri(database, name):
    return polars.read_database_uri(f"select * from {name}", f"sqlite://{database}").height


def polars_adbc(database, name):
    return polars.read_database_uri(f"select * from {name}", f"sqlite:///{database}", engine="adbc").height


def read_pandas(database, name):
    with closing(sqlite3.connect(database)) as connection:
        return len(pandas.read_sql_query(f"select * from {name}", connection))


def read_connectorx(database, name):
    return len(connectorx.read_sql(f"sqlite://{database}", f"select * from {name}"))


def read_adbc(database, name, **options):
    with adbc_driver_sqlite.dbapi.connect(database) as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**options)
        cursor.execute(f"select * from {name}")
        return cursor.fetch_arrow_table().num_rows


def adbc_one_batch(database, name):
    return read_adbc(database, name, **{"adbc.sqlite.query.batch_rows": "100000000"})


def read_sqlite_utils(database, name):
    return sum(1 for _ in sqlite_utils.Database(database)[name].rows)


LIBRARIES = [
    ("pandas", ALL, read_pandas),
    ("sqlite-utils", ALL, read_sqlite_utils),
    ("Polars with all rows", ALL, polars_all_rows),
    ("Polars", ROLLUPS, polars_sqlite3),
    ("Polars with a URI", TABLES, polars_uri),
    ("Polars with ADBC", ROLLUPS, polars_adbc),
    ("connectorx", TABLES, read_connectorx),
    ("ADBC with one batch", ALL, adbc_one_batch),
    ("ADBC", ROLLUPS, read_adbc),
]


def tables_only(cc_etl, database):
    """DuckDB lists and reads the tables of a copy without views, and a database of the data sets."""
    folder = Path(database).parent
    copy, sets = folder / "tables.db", folder / "sets.db"
    for arguments in (["backup", copy, "--tables-only", "--overwrite"], ["export", "--format", "sqlite", "--profile", "full", "--out", sets]):
        subprocess.run([cc_etl, "--quiet", "--db", database, *arguments], check=True)
    import_extension("sqlite_scanner")
    faults = []
    for file, least in ((copy, 40), (sets, 13)):
        with duckdb.connect(str(folder / "own.duckdb")) as connection:
            connection.execute(f"attach '{file}' as history (type sqlite, read_only)")
            names = [name for (name,) in connection.execute("show tables from history").fetchall()]
            if len(names) < least:
                faults.append(f"DuckDB lists only {len(names)} tables of {file.name}")
            with closing(sqlite3.connect(file)) as truth:
                for name in names:
                    found = len(connection.execute(f"select * from history.{name}").fetchall())
                    count = truth.execute(f"select count(*) from {name}").fetchone()[0]
                    if found != count:
                        faults.append(f"DuckDB reads {found} rows of {name}, not {count}")
        print(f"ok      DuckDB: lists and reads {len(names)} tables of {file.name}")
    return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
