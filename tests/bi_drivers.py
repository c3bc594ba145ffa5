#!/usr/bin/env python3
"""Reads every bi_ table as BI tools do, over ODBC and over JDBC, and compares it with what SQLite says.

    python3 tests/bi_drivers.py DATABASE

For each column: the type that the driver reports, each value, the sum of a BIGINT, and a filter with parameters whose
bounds lie on values of the column, for that is where a driver that writes times differently goes wrong. Rows are added
to the database that hold what a demo does not: numbers over 32 bits, milliseconds, NULL wherever it is allowed.

Needs pyodbc with libsqliteodbc, and JPype1 with Java and libxerial-sqlite-jdbc-java: tests/bi_tools installs them.
"""

import sqlite3
import sys
from datetime import date, datetime
from pathlib import Path

import jpype
import pyodbc

# The declared types, and how a value that SQLite stores under them is meant.
MEANING = {
    "DATE": date.fromisoformat,
    "TIMESTAMP": datetime.fromisoformat,
    "BIGINT": int,
    "DOUBLE": float,
    "BOOLEAN": bool,
    "TEXT": str,
}
FILTERS = {"DATE": "between ? and ?", "TIMESTAMP": ">= ? and {column} < ?", "BIGINT": "between ? and ?"}
OVER_32_BITS = 2**53 + 1  # nor can a double hold it


def main(database):
    add_extremes(database)
    truth = read_truth(database)
    is_right = True
    for driver in (Odbc(database), Jdbc(database)):
        report, faults = check(driver, truth)
        print("FAILED " if faults else "ok     ", driver, report)
        for fault in faults:
            print("       ", fault)
        is_right = is_right and not faults
    return 0 if is_right else 1


def add_extremes(database):
    with sqlite3.connect(database) as connection:
        for table, columns in declared(connection).items():
            for extreme in (filled, empty):
                values = [extreme(type, is_required) for _, type, is_required in columns]
                connection.execute(f"insert into {table} values ({', '.join('?' * len(values))})", values)


def filled(type, _):
    return {
        "DATE": "2038-01-20",
        "TIMESTAMP": "2038-01-19 03:14:08.001",
        "BIGINT": OVER_32_BITS,
        "DOUBLE": 123456789.012345,
        "BOOLEAN": 1,
        "TEXT": "t\u00e9a \u8336 \U0001f375",
    }[type]


def empty(type, is_required):
    if not is_required:
        return None
    return {"BIGINT": -OVER_32_BITS, "DOUBLE": 0.0, "BOOLEAN": 0, "TEXT": ""}[type]


def declared(connection):
    """The columns of each bi_ table: name, declared type, whether it is required."""
    tables = connection.execute("select name from sqlite_schema where type = 'table' and name glob 'bi_*'").fetchall()
    return {
        table: [column[1:4] for column in connection.execute(f"pragma table_info({table})")]
        for (table,) in tables
    }


def read_truth(database):
    """What SQLite holds: {table: {column: (declared type, values in the order of rowid)}}"""
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return {
            table: {
                name: (
                    type,
                    [
                        None if value is None else MEANING[type](value)
                        for (value,) in connection.execute(f"select {name} from {table} order by rowid")
                    ],
                )
                for name, type, _ in columns
            }
            for table, columns in declared(connection).items()
        }


def check(driver, truth):
    columns = values = filters = 0
    types, faults = {}, []
    if not driver.refuses("update bi_days set model = ''"):
        faults.append("the connection is not read-only")
    for table, of_table in truth.items():
        for name, (type, expected) in of_table.items():
            column = f"{table}.{name}"
            reported, found = driver.read(f"select {name} from {table} order by rowid", type)
            types.setdefault(type, set()).add(reported)
            if reported not in driver.TYPES[type]:
                faults.append(f"{column}: {type} is reported as {reported}")
            wrong = [(a, b) for a, b in zip(expected, found, strict=True) if a != b or a.__class__ is not b.__class__]
            if wrong:
                faults.append(f"{column}: {len(wrong)} wrong values, at first {wrong[0][1]!r} for {wrong[0][0]!r}")
            columns += 1
            values += len(found)
            if type == "BIGINT":
                total = driver.total(f"select sum({name}) from {table} where {name} > 0")
                if total != sum(value for value in expected if value and value > 0):
                    faults.append(f"{column}: the sum is {total}")
            if type in FILTERS:
                sql = f"select count(*) from {table} where {name} " + FILTERS[type].format(column=name)
                for low, high, meant in bounds_on_values(type, expected):
                    counted = driver.count(sql, type, low, high)
                    if counted != meant:
                        faults.append(f"{column} from {low} to {high}: {counted} rows for {meant}")
                    filters += 1
    shown = ", ".join(f"{type} as {'/'.join(sorted(reported))}" for type, reported in sorted(types.items()))
    return f"{len(truth)} tables, {columns} columns, {values} values, {filters} filters; {shown}", faults


def bounds_on_values(type, values):
    """From a value to another and from it to itself, with the number of values between them."""
    known = sorted(value for value in values if value is not None)
    quarter = len(known) // 4
    for low, high in [(known[quarter], known[-1 - quarter]), (known[0], known[-1]), (known[-1], known[-1])]:
        yield low, high, sum(low <= value < high if type == "TIMESTAMP" else low <= value <= high for value in known)


class Odbc:
    """As Power BI and Excel read. A sum has no declared type: it has 64 bits only with BigInt=1, a BIGINT always."""

    TYPES = {
        "DATE": {"SQL_TYPE_DATE date"},
        "TIMESTAMP": {"SQL_TYPE_TIMESTAMP datetime"},
        "BIGINT": {"SQL_BIGINT int"},
        "DOUBLE": {"SQL_DOUBLE float"},
        "BOOLEAN": {"SQL_BIT bool"},
        "TEXT": {"SQL_LONGVARCHAR str", "SQL_WLONGVARCHAR str"},
    }
    NAMES = {getattr(pyodbc, name): name for names in TYPES.values() for name in (each.split()[0] for each in names)}

    def __init__(self, database):
        source = f"Driver=SQLite3;Database=file:{database}?mode=ro"
        self.connection = pyodbc.connect(source, autocommit=True)
        self.of_sums = pyodbc.connect(source + ";BigInt=1", autocommit=True)

    def __str__(self):
        return "ODBC " + self.connection.getinfo(pyodbc.SQL_DRIVER_VER)

    def refuses(self, sql):
        try:
            self.connection.execute(sql)
        except pyodbc.Error as error:
            return "readonly" in str(error)

    def read(self, sql, type):
        """The type as the catalog and the result name it, and the values."""
        _, column, _, table, *_ = sql.split()
        (in_catalog,) = self.connection.cursor().columns(table=table, column=column).fetchall()
        cursor = self.connection.execute(sql)
        of_result = cursor.description[0][1].__name__
        reported = f"{self.NAMES.get(in_catalog.data_type, in_catalog.data_type)} {of_result}"
        return reported, [value for (value,) in cursor]

    def count(self, sql, type, *parameters):
        return self.connection.execute(sql, *parameters).fetchval()

    def total(self, sql):
        return self.of_sums.execute(sql).fetchval()


class Jdbc:
    """As DBeaver and other Java programs read. Times are bound as text only with date_class=TEXT, and a connection has
    one format for them: its own is that of a TIMESTAMP, a DATE needs another."""

    TYPES = {
        "DATE": {"DATE"},
        "TIMESTAMP": {"TIMESTAMP"},
        "BIGINT": {"BIGINT"},
        "DOUBLE": {"DOUBLE"},
        "BOOLEAN": {"BOOLEAN"},
        "TEXT": {"VARCHAR"},
    }

    def __init__(self, database):
        # A zone that is not UTC and has summer time: what is read must not depend on it.
        jpype.startJVM("-Duser.timezone=Australia/Lord_Howe", classpath=["/usr/share/java/sqlite-jdbc.jar"])
        self.sql = jpype.JPackage("java").sql
        url = f"jdbc:sqlite:file:{database}?open_mode=1&date_class=TEXT"
        self.connection = self.sql.DriverManager.getConnection(url)
        self.of_dates = self.sql.DriverManager.getConnection(url + "&date_string_format=yyyy-MM-dd")
        self.names = {field.getInt(None): str(field.getName()) for field in self.sql.Types.class_.getFields()}

    def __str__(self):
        return "JDBC " + str(self.connection.getMetaData().getDriverVersion())

    def refuses(self, sql):
        try:
            self.connection.createStatement().executeUpdate(sql)
        except self.sql.SQLException as error:
            return "READONLY" in str(error)

    def prepare(self, sql, type):
        return (self.of_dates if type == "DATE" else self.connection).prepareStatement(sql)

    def read(self, sql, type):
        rows = self.prepare(sql, type).executeQuery()
        reported = self.names[rows.getMetaData().getColumnType(1)]
        get = {
            "DATE": lambda: MEANING["DATE"](str(rows.getDate(1))),
            "TIMESTAMP": lambda: MEANING["TIMESTAMP"](str(rows.getTimestamp(1).toLocalDateTime())),
            "BIGINT": lambda: int(rows.getLong(1)),
            "DOUBLE": lambda: float(rows.getDouble(1)),
            "BOOLEAN": lambda: bool(rows.getBoolean(1)),
            "TEXT": lambda: str(rows.getString(1)),
        }[type]
        values = []
        while rows.next():
            values.append(None if rows.getObject(1) is None else get())
        return reported, values

    def count(self, sql, type, *parameters):
        statement = self.prepare(sql, type)
        for place, value in enumerate(parameters, 1):
            match type:
                case "DATE":
                    statement.setDate(place, self.sql.Date.valueOf(str(value)))
                case "TIMESTAMP":
                    statement.setTimestamp(place, self.sql.Timestamp.valueOf(str(value)))
                case "BIGINT":
                    statement.setLong(place, value)
        return self.first(statement)

    def total(self, sql):
        return self.first(self.connection.prepareStatement(sql))

    def first(self, statement):
        rows = statement.executeQuery()
        rows.next()
        return int(rows.getLong(1))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
