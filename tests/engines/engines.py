"""The engines. Each opens what a team exported, defines views, and returns the rows of a question as dictionaries."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def data_sets(folder):
    """The name and the folder of each data set."""
    return [(path.name, path) for path in sorted((folder / "v1").iterdir()) if path.is_dir()]


class DuckDb:
    name = "duckdb"

    def __init__(self, team):
        import duckdb

        self.connection = duckdb.connect()
        for name, place in data_sets(team.folder):
            self.define(f"create view {name} as select * from read_parquet('{place}/**/*.parquet', hive_partitioning = false)")

    def define(self, view):
        self.connection.execute(view)

    def ask(self, question):
        return self.connection.execute(question).to_arrow_table().to_pylist()

    def close(self):
        self.connection.close()


class DataFusion:
    name = "datafusion"

    def __init__(self, team):
        import datafusion

        self.context = datafusion.SessionContext()
        for name, place in data_sets(team.folder):
            self.define(f"create external table {name} stored as parquet location '{place}/'")

    def define(self, view):
        self.context.sql(view).collect()

    def ask(self, question):
        return self.context.sql(question).to_arrow_table().to_pylist()

    def close(self):
        pass


class ClickHouse:
    name = "clickhouse"

    def __init__(self, team):
        from chdb import session

        self.session = session.Session()
        # As the standard has it: a row without a partner has NULL.
        self.define("set join_use_nulls = 1")
        self.define("create database team")
        self.define("use team")
        for name, place in data_sets(team.folder):
            self.define(f"create view {name} as select * from file('{place}/**/*.parquet', Parquet)")

    def define(self, view):
        self.session.query(view)

    def ask(self, question):
        import pyarrow.ipc

        answer = self.session.query(question, "Arrow").bytes()
        return pyarrow.ipc.open_file(answer).read_all().to_pylist()

    def close(self):
        self.session.close()


class Polars:
    name = "polars"

    def __init__(self, team):
        import polars

        self.context = polars.SQLContext()
        for name, place in data_sets(team.folder):
            self.context.register(name, polars.scan_parquet(place / "**/*.parquet", hive_partitioning=False))

    def define(self, view):
        # Polars has no `create view`, but a query that is registered is one.
        heading, query = view.split(" as\n", 1)
        self.context.register(heading.split()[-1], self.context.execute(query))

    def ask(self, question):
        return self.context.execute(question, eager=True).to_dicts()

    def close(self):
        pass


class Spark:
    name = "spark"

    def __init__(self, team):
        from pyspark.sql import SparkSession

        self.home = tempfile.mkdtemp(prefix="cc-etl-spark.")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": self.home,
        }
        self.session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
        for name, place in data_sets(team.folder):
            self.define(f"create view {name} as select * from parquet.`{place}`")

    def define(self, view):
        self.session.sql(view)

    def ask(self, question):
        return self.session.sql(question).toArrow().to_pylist()

    def close(self):
        self.session.stop()
        shutil.rmtree(self.home)


class PostgreSqlServer:
    """A server in a temporary folder. It listens on a socket there, and runs as an unprivileged user."""

    USER = "team"
    DATABASE = "postgres"

    def __init__(self):
        *_, self.programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        self.home = Path(tempfile.mkdtemp(prefix="cc-etl-postgresql."))
        # It refuses to run as root.
        self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.getuid() == 0 else {}
        if self.user:
            shutil.chown(self.home, self.user["user"], self.user["group"])
        self.run("initdb", f"--username={self.USER}", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", self.home / "data")
        options = f"-c listen_addresses= -c unix_socket_directories={self.home} -c fsync=off"
        self.run("pg_ctl", "start", "--wait", "--silent", "-D", self.home / "data", "-l", self.home / "log", "-o", options)

    def run(self, program, *arguments):
        command = [self.programs / program, *arguments]
        subprocess.run(command, check=True, cwd=self.home, stdout=subprocess.DEVNULL, **self.user)

    def close(self):
        self.run("pg_ctl", "stop", "--silent", "-D", self.home / "data", "--mode=immediate")
        shutil.rmtree(self.home)


class PostgreSql:
    name = "postgresql"

    def __init__(self, team):
        import psycopg2

        self.server = PostgreSqlServer()
        place = {"host": str(self.server.home), "user": self.server.USER, "dbname": self.server.DATABASE}
        command = ["psql", "--quiet", "--no-psqlrc", " ".join(f"{key}={value}" for key, value in place.items())]
        for database in team.databases:
            subprocess.run(command, check=True, input=team.export(database, "--format", "postgres"), text=True)
        self.connection = psycopg2.connect(**place, options="-c timezone=UTC")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()

    def define(self, view):
        self.cursor.execute(view)

    def ask(self, question):
        self.cursor.execute(question)
        names = [column.name for column in self.cursor.description]
        return [dict(zip(names, row)) for row in self.cursor]

    def close(self):
        self.connection.close()
        self.server.close()


ENGINES = [DuckDb, DataFusion, PostgreSql, ClickHouse, Polars, Spark]
