#!/usr/bin/env python3
"""Runs what examples/ holds for BI tools on a database, so that a change of the schema cannot break it unseen.

    python3 tests/bi_examples.py DATABASE

Superset: every dataset has the columns and types of its table, every chart asks for columns and metrics that are there,
and the dashboard shows every chart. Grafana: every query answers within a time range and is silent outside of it.
DuckDB: every question is answered. Needs PyYAML and duckdb with its extension: tests/bi_tools installs them.
"""

import json
import re
import sqlite3
import sys
from pathlib import Path

import duckdb
import yaml

EXAMPLES = Path(__file__).parent.parent / "examples"
ALWAYS = ("1970-01-02", "2100-01-01")
BEFORE = ("1970-01-02", "1970-01-03")


def main(database):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    print(f"ok      Superset: {check_superset(EXAMPLES / 'superset/dashboard', connection, declared_columns)}")
    print(f"ok      Grafana: {check_grafana(connection)}")
    print(f"ok      DuckDB {duckdb.__version__}: {check_duckdb(database)}")


def declared_columns(connection, table):
    columns = {name: type for _, name, type, *_ in connection.execute(f"pragma table_info({table})")}
    columns.pop("title", None)  # the only text that people or Claude wrote: not for a dashboard
    return columns


def check_superset(export, connection, declared_columns):
    """The files of a dashboard, a connection, and a function that returns the types of a table's columns by name."""
    datasets = {}
    for dataset in read_all(export / "datasets"):
        table = dataset["table_name"]
        computed = {column["column_name"]: column["expression"] for column in dataset["columns"] if "expression" in column}
        columns = {column["column_name"]: column["type"] for column in dataset["columns"]}
        declared = declared_columns(connection, table)
        stored = {name: type for name, type in columns.items() if name not in computed}
        assert stored == declared, f"{table}: columns of the dataset {columns}, of the table {declared}"
        metrics = {metric["metric_name"]: metric["expression"] for metric in dataset["metrics"]}
        datasets[dataset["uuid"]] = (table, columns, metrics)
        for name, expression in computed.items():
            starts = {start for (start,) in connection.execute(f"select {expression} from {table} where said_date is not null")}
            assert starts and all(re.fullmatch(r"\d{4}-\d\d-\d\d 00:00:00\.000", start) for start in starts), f"{name}: {starts}"
    charts = set()
    for chart in read_all(export / "charts"):
        name, params = chart["slice_name"], chart["params"]
        table, columns, metrics = datasets[chart["dataset_uuid"]]
        wanted = [params.get("x_axis"), *params.get("groupby", [])]
        wanted += [filter.get("subject") for filter in params["adhoc_filters"]]
        measures = [*params.get("metrics", []), params.get("metric"), params.get("timeseries_limit_metric")]
        assert all(column in columns for column in wanted if column), f"{name}: {wanted}"
        # Other times are UTC, and would give days of UTC.
        axis = params.get("x_axis") or ""
        assert not axis.endswith("_at") or axis in ("day_began_at", "week_began_at"), f"{name}: {axis}"
        assert all(metric in metrics for metric in measures if metric), f"{name}: {measures}"
        for metric in filter(None, measures):
            (value,) = connection.execute(f"select {metrics[metric]} from {table}").fetchone()
            assert value is not None, f"{name}: {metric} is NULL"
        charts.add(chart["uuid"])
    (dashboard,) = read_all(export / "dashboards")
    parts = [part for part in dashboard["position"].values() if isinstance(part, dict)]
    shown = {part["meta"]["uuid"] for part in parts if part["type"] == "CHART"}
    assert shown == charts, f"charts that are not shown or not there: {shown ^ charts}"
    return f"{len(datasets)} datasets, {len(charts)} charts"


def read_all(folder):
    return [yaml.safe_load(file.read_text()) for file in sorted(folder.rglob("*.yaml"))]


def check_grafana(connection):
    dashboard = json.loads((EXAMPLES / "grafana/dashboard.json").read_text())
    queries = [(panel["title"], target) for panel in dashboard["panels"] for target in panel.get("targets", [])]
    for title, target in queries:
        rows = within(connection, target["rawQueryText"], *ALWAYS)
        assert rows and all(None not in row.values() for row in rows if "cost_usd" not in row), f"{title}: {rows}"
        for column in target["timeColumns"]:
            assert all(isinstance(row[column], int) for row in rows), f"{title}: {column} is not in seconds"
        silent = within(connection, target["rawQueryText"], *BEFORE)
        assert not any(value for row in silent for value in row.values()), f"{title} ignores the time range: {silent}"
    return f"{len(queries)} queries"


def within(connection, sql, first, last):
    """The rows of a query of Grafana, which puts the time range into its text as milliseconds."""
    for variable, day in (("$__from", first), ("$__to", last)):
        (seconds,) = connection.execute("select unixepoch(?)", (day,)).fetchone()
        sql = sql.replace(variable, str(seconds * 1000))
    assert "$" not in sql, f"a variable that is not known: {sql}"
    cursor = connection.execute(sql)
    return [dict(zip((column for column, *_ in cursor.description), row)) for row in cursor]


def check_duckdb(database):
    from duckdb_extensions import import_extension

    import_extension("sqlite_scanner")
    sql = (EXAMPLES / "duckdb/questions.sql").read_text().replace("'cc-etl.db'", f"'{database}'")
    connection = duckdb.connect()
    answers = 0
    for statement in connection.extract_statements(sql):
        rows = connection.execute(statement).fetchall()
        if statement.type == duckdb.StatementType.SELECT:
            assert rows, statement.query
            answers += 1
    try:
        connection.execute("delete from cc.bi_days")
    except duckdb.InvalidInputException:
        return f"{answers} answers"
    raise AssertionError("the database is not attached read-only")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
