"""Invents the exports of a team: Parquet files in the layout of `cc-etl export`, by month and machine.

A session of the team is a copy of one of a real export, its template, with fresh ids and another day; columns and types are
those of the template's files. Each machine works on 220 days of the year, with as many sessions a day as the template has
per developer-day. One session in a hundred is also on another machine, which has 60 % of it. The same arguments give the
same files.
"""

import json
import re
from concurrent.futures import ProcessPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

EXPORT_SQL = Path(__file__).resolve().parents[2] / "sql/export"
FIRST_DAY = date(2025, 11, 1)
DAYS = 365
WORKING_DAYS = 220
SHARED = 0.01  # of the sessions of a machine
SHARED_PART = 0.6  # of the rows of such a session
NULL = -1


class Template:
    """The rows of exports, sorted by session."""

    def __init__(self, exports, wanted=()):
        self.tables, self.ids = {}, {}
        self.wanted = wanted
        for name, times, kinds in data_sets():
            files = sorted(file for out in exports for file in out.glob(f"v1/{name}/**/*.parquet"))
            schema = pq.read_schema(files[0])
            tables = [pq.ParquetFile(file).read() for file in files]
            self.tables[name] = (pa.concat_tables(tables).cast(schema), times, kinds)
        self.drop_copies()
        sessions = self.tables["dim_session"][0]
        is_used = pc.and_(pc.is_valid(sessions["started_at"]), pc.greater(sessions["message_count"], 0))
        self.sessions = {id: number for number, id in enumerate(sessions.filter(is_used)["session_id"].to_pylist())}
        self.starts = days_of(sessions.filter(is_used)["started_at"])
        self.developer_days = count_developer_days(self.tables["fact_message"][0])
        self.sort_by_session()
        self.number_ids()

    def drop_copies(self):
        """Two exports may hold a session: one row of it is enough."""
        sessions, *rest = self.tables["dim_session"]
        firsts = np.unique(np.array(sessions["session_id"].to_pylist()), return_index=True)[1]
        self.tables["dim_session"] = (sessions.take(firsts), *rest)

    def sort_by_session(self):
        """Where the rows of each session are."""
        self.ranges = {}
        for name, (table, times, kinds) in self.tables.items():
            if "session_id" not in table.column_names:
                continue
            numbers = np.array([self.sessions.get(id, -1) for id in table["session_id"].to_pylist()])
            order = np.argsort(numbers, kind="stable")
            order = order[numbers[order] >= 0]
            self.tables[name] = (table.take(order).combine_chunks(), times, kinds)
            edges = np.searchsorted(numbers[order], np.arange(len(self.sessions) + 1))
            self.ranges[name] = (edges[:-1], np.diff(edges))

    def number_ids(self):
        """Numbers the ids of all columns together, so that references stay references."""
        known = {}
        for name, (table, _, kinds) in self.tables.items():
            for column in table.column_names:
                if kinds[column] == "id":
                    values = table[column].to_pylist()
                    codes = [NULL if value is None else known.setdefault(value, len(known)) for value in values]
                    self.ids[name, column] = np.array(codes, dtype=np.int64)
        shapes = {}
        self.shape_of = np.array([shapes.setdefault(shape(id), len(shapes)) for id in known], dtype=np.int64)
        self.shapes = list(shapes)


def data_sets():
    """The facts and dimensions with their times and the kinds of their columns, as `sql/export` declares them."""
    for file in sorted(EXPORT_SQL.glob("*.sql")):
        text = file.read_text()
        time = re.search(r"^-- Time: (\w+)", text, re.M)
        yield file.stem, time and time[1], dict(re.findall(r"^--   (\w+) (\w+)$", text, re.M))


def shape(id):
    """What ids like this have in common: what is before the last underscore, the length of the rest, its dashes."""
    prefix, rest = re.fullmatch(r"(.*_)?(.*)", id, re.S).groups(default="")
    is_hexadecimal = re.fullmatch(r"[0-9a-f-]*", rest) is not None
    return prefix, len(rest), tuple(match.start() for match in re.finditer("-", rest)), is_hexadecimal


def days_of(times):
    return np.array(pc.cast(times, pa.timestamp("us", "UTC")).to_numpy().astype("datetime64[D]").astype(np.int64))


def count_developer_days(messages):
    pairs = pa.table({"machine": messages["machine"], "day": messages["day"]})
    return pairs.filter(pc.is_valid(pairs["day"])).group_by(["machine", "day"]).aggregate([]).num_rows


def invent(exports, out, machines, wanted, seed=1):
    """Writes the files of the wanted data sets, and returns the number of developer-days."""
    template = Template(exports, wanted)
    with ProcessPoolExecutor(2, initializer=start, initargs=(template, out, machines, seed)) as pool:
        return sum(pool.map(write_machine, range(machines), chunksize=4))


def start(*arguments):
    global TEMPLATE, OUT, MACHINES, SEED
    TEMPLATE, OUT, MACHINES, SEED = arguments


def picks_of(machine):
    """The sessions of a machine: template, first day, number."""
    random = np.random.default_rng([SEED, machine])
    days = np.sort(random.choice(DAYS, WORKING_DAYS, replace=False))
    counts = random.poisson(len(TEMPLATE.sessions) / TEMPLATE.developer_days, WORKING_DAYS)
    counts = np.maximum(counts, 1)
    sessions = random.integers(0, len(TEMPLATE.sessions), counts.sum())
    numbers = machine * 1_000_000 + np.arange(counts.sum())
    return sessions, np.repeat(days, counts), numbers


def write_machine(machine):
    sessions, days, numbers = picks_of(machine)
    own = len(sessions)
    others = picks_of((machine + 1) % MACHINES)
    shared = int(len(others[0]) * SHARED) if MACHINES > 1 else 0
    picks = tuple(np.concatenate([a, b[:shared]]) for a, b in zip((sessions, days, numbers), others))
    name = f"{machine:016x}"
    for data_set, (table, time, _) in TEMPLATE.tables.items():
        if data_set in TEMPLATE.wanted:
            rows, pick = rows_of(data_set, picks[0], own)
            columns = [column_of(data_set, field, rows, pick, picks, own, name).cast(field.type) for field in table.schema]
            write(pa.table(columns, schema=table.schema), data_set, time, name)
    return WORKING_DAYS


def rows_of(data_set, sessions, own):
    """The rows of the template that a machine has copies of, and the place of the session of each in its picks."""
    table, time, _ = TEMPLATE.tables[data_set]
    if data_set not in TEMPLATE.ranges:
        rows = np.flatnonzero(distinct_rows(table))
        return rows, np.zeros(len(rows), dtype=np.int64)
    starts, counts = (part[sessions] for part in TEMPLATE.ranges[data_set])
    if time:
        counts = np.where(np.arange(len(counts)) < own, counts, np.ceil(counts * SHARED_PART).astype(np.int64))
    rows = np.repeat(starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(counts.sum())
    return rows, np.repeat(np.arange(len(sessions)), counts)


def column_of(data_set, field, rows, pick, picks, own, machine):
    table, _, kinds = TEMPLATE.tables[data_set]
    sessions, days, numbers = picks
    if field.name == "machine":
        return pa.array(np.full(len(rows), machine))
    if (data_set, field.name) in TEMPLATE.ids:
        return fresh_ids(TEMPLATE.ids[data_set, field.name][rows], numbers[pick])
    column = table[field.name].combine_chunks().take(pa.array(rows))
    if kinds[field.name] in ("timestamp", "date") and data_set in TEMPLATE.ranges:
        return shift(column, day_number(FIRST_DAY) + days[pick] - TEMPLATE.starts[sessions[pick]])
    if (data_set, field.name) == ("dim_session", "message_count"):
        part = np.where(pick < own, 1, SHARED_PART)
        return pa.array(np.ceil(column.to_numpy(zero_copy_only=False) * part).astype(np.int64))
    return column


def distinct_rows(table):
    """Whether no earlier row differs only by its machine."""
    seen, is_first = set(), []
    for row in table.drop_columns(["machine"]).to_pylist():
        key = json.dumps(row, default=str)
        is_first.append(key not in seen)
        seen.add(key)
    return np.array(is_first)


def day_number(day):
    return (day - date(1970, 1, 1)).days


def shift(column, days):
    is_date = pa.types.is_date32(column.type)
    numbers = column.cast(pa.int32() if is_date else pa.int64()).to_numpy(zero_copy_only=False)
    is_null = np.array(column.is_null())
    moved = np.where(is_null, 0, numbers).astype(np.int64) + days * (1 if is_date else 86_400_000_000)
    return pa.array(moved.astype(np.int32 if is_date else np.int64), mask=is_null).cast(column.type)


HEXADECIMAL = np.frombuffer(b"0123456789abcdef" * 4, dtype=np.uint8)
LETTERS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789xY", dtype=np.uint8)


def fresh_ids(codes, numbers):
    """An id for each code of the template and number of a copy; of the shape of the template's id."""
    places = [np.flatnonzero(codes == NULL)]
    parts = [pa.nulls(len(places[0]), pa.string())]
    shapes = np.where(codes == NULL, NULL, TEMPLATE.shape_of[codes])
    for number in np.unique(shapes[shapes != NULL]):
        place = np.flatnonzero(shapes == number)
        places.append(place)
        parts.append(ids_of_shape(codes[place].astype(np.uint64), numbers[place].astype(np.uint64), *TEMPLATE.shapes[number]))
    order = np.empty(len(codes), dtype=np.int64)
    order[np.concatenate(places)] = np.arange(len(codes))
    return pa.concat_arrays(parts).take(pa.array(order))


def ids_of_shape(codes, numbers, prefix, length, dashes, is_hexadecimal):
    prefix = np.frombuffer(prefix.encode(), dtype=np.uint8)
    text = np.empty((len(codes), len(prefix) + length), dtype=np.uint8)
    text[:, : len(prefix)] = prefix
    alphabet = HEXADECIMAL if is_hexadecimal else LETTERS
    for first in range(0, length, 10):
        word = mix(codes * np.uint64(0x9E3779B97F4A7C15) + mix(numbers + np.uint64((first + 1) << 40)))
        for place in range(first, min(first + 10, length)):
            text[:, len(prefix) + place] = alphabet[(word >> np.uint64(6 * (place - first))) & np.uint64(63)]
    for dash in dashes:
        text[:, len(prefix) + dash] = ord("-")
    offsets = np.arange(len(codes) + 1, dtype=np.int32) * text.shape[1]
    return pa.StringArray.from_buffers(len(codes), pa.py_buffer(offsets), pa.py_buffer(text))


def mix(word):
    """The mixing of splitmix64."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def write(table, data_set, time, machine):
    folder = OUT / "v1" / data_set
    if time is None:
        return write_file(table, folder / f"{machine}.parquet")
    table = table.sort_by(time)
    times = table[time].combine_chunks()
    months = times.to_numpy(zero_copy_only=False).astype("datetime64[M]")
    names, firsts = np.unique(months, return_index=True)
    order = np.argsort(firsts)
    names, firsts = names[order], [*firsts[order], len(months)]
    for name, first, last in zip(names, firsts, firsts[1:]):
        month = "0000-00" if np.isnat(name) else str(name)
        write_file(table.slice(first, last - first), folder / f"month={month}" / f"{machine}.parquet")


def write_file(table, file):
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, file, compression="zstd", compression_level=3, row_group_size=1 << 17)
