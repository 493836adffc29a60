#!/usr/bin/env python3
"""Loads one file of records with the default settings of several programs, and compares their
counts.

    urlspool scan FOLDER > urls.jsonl
    python3 tests/tools/load_records.py urls.jsonl [--urlspool BINARY]

DuckDB guesses types from all lines, and then uses the table of `urlspool generate schema`, as
PostgreSQL and pyarrow do. Each program counts the records, the records `where mismatch`, and the
records of the most frequent hosts. Missing programs are reported.
"""

import argparse, collections, importlib.util, json, sqlite3, time

from postgresql import Postgresql, initdb
from world import finish, output, report, skip

TOP = 5  # number of compared hosts


def expected(path):
    records, mismatches, hosts = 0, 0, collections.Counter()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            records += 1
            mismatches += record["mismatch"] is True
            hosts[record["host"]] += 1
    del hosts[None]
    return summary(records, mismatches, hosts.items())


def summary(records, mismatches, hosts):
    hosts = sorted(((host, int(count)) for host, count in hosts), key=lambda row: (-row[1], row[0]))
    return {"records": int(records), "mismatches": int(mismatches), "hosts": hosts[:TOP]}


def jq(path, _):
    def count(program):
        return int(output("jq", "-n", program, path))

    grouped = output("jq", "-r", "select(.host != null) | .host", path, text=True).split("\n")[:-1]
    return summary(
        count("reduce inputs as $_ (0; . + 1)"),
        count("reduce (inputs | select(.mismatch)) as $_ (0; . + 1)"),
        collections.Counter(grouped).items(),
    )


def sql(rows):
    """The three counts in portable SQL. `rows` runs a query and returns its rows."""
    return summary(
        rows("SELECT count(*) FROM urls")[0][0],
        rows("SELECT count(*) FROM urls WHERE mismatch")[0][0],
        rows("SELECT host, count(*) FROM urls WHERE host IS NOT NULL GROUP BY host"),
    )


def duckdb_guess(path, _):
    import duckdb

    db = duckdb.connect()
    # Without `sample_size`, types are guessed from the first 20,480 lines. Since version 2, a field
    # that is null in all of these silently loses its values.
    db.execute(f"CREATE TABLE urls AS SELECT * FROM read_json('{path}', sample_size = -1)")
    return sql(lambda query: db.execute(query).fetchall())


def duckdb_schema(path, schema):
    import duckdb

    db = duckdb.connect()
    db.execute(schema("duckdb"))
    db.execute(f"COPY urls FROM '{path}' (FORMAT json, ARRAY false)")
    return sql(lambda query: db.execute(query).fetchall())


def pandas(path, _):
    import pandas

    table = pandas.read_json(path, lines=True)
    mismatches = (table["mismatch"] == True).sum()  # noqa: E712
    return summary(len(table), mismatches, table.groupby("host").size().items())


def sqlite(path, _):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE lines (record TEXT)")
    with open(path, encoding="utf-8") as lines:
        db.executemany("INSERT INTO lines VALUES (?)", ((line,) for line in lines))
    db.execute(
        "CREATE VIEW urls AS SELECT record->>'host' AS host, "
        "record->>'mismatch' AS mismatch FROM lines"
    )
    return sql(lambda query: db.execute(query).fetchall())


def pyarrow(path, schema):
    import pyarrow as pa
    import pyarrow.json

    declared = eval(schema("arrow"), {"pa": pa})
    options = pyarrow.json.ParseOptions(explicit_schema=declared)
    table = pyarrow.json.read_json(path, parse_options=options)
    assert table.schema.equals(declared), "pyarrow added or changed a column"
    counts = table.group_by("host").aggregate([("host", "count")]).to_pylist()
    return summary(
        table.num_rows,
        table.filter(pa.compute.field("mismatch")).num_rows,
        [(row["host"], row["host_count"]) for row in counts if row["host"] is not None],
    )


def postgresql(path, schema):
    if initdb() is None:
        raise ModuleNotFoundError("initdb")
    server = Postgresql("records")
    try:
        server.psql(schema("postgresql"))
        copy = "COPY urls (record) FROM STDIN WITH (FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')"
        with open(path, encoding="utf-8") as lines:
            server.psql(lines, "-q", "-c", copy)
        return sql(server.rows)
    finally:
        server.stop()


LOADERS = [jq, duckdb_guess, duckdb_schema, pandas, sqlite, postgresql, pyarrow]
NEEDS = {"duckdb_guess": "duckdb", "duckdb_schema": "duckdb",
         "pandas": "pandas", "pyarrow": "pyarrow"}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("records", help="file of records")
    arguments.add_argument("--urlspool", default="urlspool", help="the program, for its schemas")
    given = arguments.parse_args()

    def schema(language):
        return output(given.urlspool, "generate", "schema", "--format", language, text=True)

    want = expected(given.records)
    print(f"{'expected':16}{want['records']:>9} records {want['mismatches']:>6} mismatches  "
          f"{want['hosts'][:2]}")
    for loader in LOADERS:
        name = loader.__name__
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            skip(name, "not installed")
            continue
        begin = time.monotonic()
        try:
            got = loader(given.records, schema)
        except (FileNotFoundError, ModuleNotFoundError) as error:
            skip(name, f"not installed: {error}")
            continue
        except Exception as error:
            got = error
        report(name, got == want, f"{got}, {time.monotonic() - begin:.1f} s")
    finish()


if __name__ == "__main__":
    main()
