#!/usr/bin/env python3
"""Measures Arrow and Parquet: rates, sizes, memory, and the counts of other programs.

usage: arrow_figures.py BINARY [--rounds N] [--threads N] [--large-mb N] PATH...

    rates       the fastest round in wall-clock and processor seconds, and the maximum resident
                memory. The commands take turns
    sizes       the Parquet file has at most a tenth of the bytes of the JSON lines, if these have
                at least 10 MB
    counts      records, records per host and records per year are equal in the JSON lines and in
                both Parquet outputs
    memory      with --large-mb: maximum resident memory of the scans to Parquet and of
                `scan_stream` over the mboxes of PATH, repeated to N MB and to a quarter of that. It
                may grow by at most 48 MiB. With one file per year, all open at once, it may be at
                most 448 MiB
"""

import argparse, importlib.util, json, os, pathlib, shlex, shutil, subprocess, sys, tempfile, time
from collections import Counter
from typing import Any, NamedTuple

from cluster_engines import spark_session
from cluster_inputs import mboxes, write_large_mbox

SETUP = """
import sys, warnings, urlspool
warnings.simplefilter("ignore")
output, threads, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
"""
TO_PYARROW = "import pyarrow; print(pyarrow.table(urlspool.scan(paths, threads=threads)).num_rows)"
TO_POLARS = "import polars; print(polars.DataFrame(urlspool.scan(paths, threads=threads)).height)"
READ_PYARROW = """
import pyarrow as pa, pyarrow.json
options = pyarrow.json.ParseOptions(explicit_schema=pa.schema(urlspool.schema()))
read = pyarrow.json.ReadOptions(use_threads=1 < threads)
print(pyarrow.json.read_json(output, read_options=read, parse_options=options).num_rows)
"""
READ_POLARS = "import polars; print(polars.read_ndjson(output, infer_schema_length=None).height)"
READ_DUCKDB = """
import duckdb
duckdb.sql(f"set threads = {threads}")
print(duckdb.sql(f"from read_json('{output}')").to_arrow_table().num_rows)
"""
STREAM = """
import pyarrow as pa
with open(paths[0], "rb") as file:
    stream = urlspool.scan_stream(file, threads=threads)
    print(sum(map(len, pa.RecordBatchReader.from_stream(stream))))
"""


class Outputs:
    def __init__(self, folder: pathlib.Path) -> None:
        self.lines = str(folder / "records.jsonl")
        self.zstd = str(folder / "records.jsonl.zst")
        self.parquet = str(folder / "records.parquet")
        self.years = str(folder / "years")


class Counts(NamedTuple):
    """Number of records per host and per year, without records that have none."""

    records: int
    hosts: dict[str, int]
    years: dict[str, int]


class Figure:
    """Lowest resource use of a command, and the number of rows that it printed."""

    def __init__(self, command: list[str], threads: int, output: str | None = None) -> None:
        self.command = command
        self.environment = {**os.environ, "POLARS_MAX_THREADS": str(threads)}
        # The command would not replace this folder.
        self.output = output
        self.seconds = self.processor_seconds = float("inf")
        self.resident_mib = 0
        self.printed = ""

    def run(self) -> None:
        if self.output:
            shutil.rmtree(self.output, ignore_errors=True)
        begun = time.monotonic()
        process = subprocess.Popen(self.command, env=self.environment,
                                   stdout=subprocess.PIPE, text=True)
        assert process.stdout
        with process.stdout:
            self.printed = process.stdout.read().strip()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        # Damaged input has its own exit code.
        if process.returncode not in (0, 1):
            raise SystemExit(f"{self.command} ended with {process.returncode}")
        self.seconds = min(self.seconds, time.monotonic() - begun)
        self.processor_seconds = min(self.processor_seconds, usage.ru_utime + usage.ru_stime)
        self.resident_mib = max(self.resident_mib, usage.ru_maxrss >> 10)


def python(code: str, outputs: Outputs, threads: int, paths: list[str]) -> Figure:
    return Figure([sys.executable, "-c", SETUP + code, outputs.lines, str(threads), *paths],
                  threads)


def rates(options: argparse.Namespace, outputs: Outputs) -> int:
    """Prints rates and sizes. Returns the number of failures."""
    threads, paths = options.threads, options.paths
    scan = [options.binary, "scan", "-q", f"-j{threads}", *paths]
    to_parquet = [*scan, "--format", "parquet"]
    compressed = f"{shlex.join(scan)} | zstd -qf1 -o {outputs.zstd}"
    figures = {
        "scan to JSON lines": Figure([*scan, "-o", outputs.lines], threads),
        "scan to JSON lines, zstd": Figure(["sh", "-c", compressed], threads),
        "scan to Parquet": Figure([*to_parquet, "-o", outputs.parquet], threads),
        "scan to Parquet by year": Figure([*to_parquet, "--partition", "year", "-o", outputs.years],
                                          threads, outputs.years),
        "scan into pyarrow": python(TO_PYARROW, outputs, threads, paths),
        "scan into polars": python(TO_POLARS, outputs, threads, paths),
        "JSON lines into pyarrow": python(READ_PYARROW, outputs, threads, paths),
        "JSON lines into polars": python(READ_POLARS, outputs, threads, paths),
        "JSON lines into DuckDB": python(READ_DUCKDB, outputs, threads, paths),
    }
    for _ in range(options.rounds):
        for figure in figures.values():
            figure.run()
    with open(outputs.lines, "rb") as file:
        records = sum(1 for _ in file)
    print(f"{'':24} {'seconds':>8} {'processor':>9} {'records/s':>9} {'MiB':>5}")
    for name, figure in figures.items():
        rate = records / figure.seconds
        print(f"{name:24} {figure.seconds:8.2f} {figure.processor_seconds:9.2f} {rate:9.0f} "
              f"{figure.resident_mib:5}", flush=True)
    failed = sum(figure.printed not in ("", str(records)) for figure in figures.values())
    lines, zstd, parquet = map(os.path.getsize, (outputs.lines, outputs.zstd, outputs.parquet))
    print(f"{records} records: JSON lines {lines} bytes, {zstd} compressed, Parquet {parquet}: "
          f"{100 * parquet / lines:.1f} %")
    return failed + (10_000_000 <= lines < 10 * parquet)


def counts(outputs: Outputs, folder: pathlib.Path) -> int:
    """Compares the counts of other programs with the JSON lines. Returns the number of failures."""
    expected = counts_of_lines(outputs.lines)
    found = {
        "pyarrow": counts_of_pyarrow(outputs),
        "polars": counts_of_polars(outputs),
        "DuckDB": counts_of_duckdb(outputs),
    }
    if importlib.util.find_spec("pyspark") and shutil.which("java"):
        with spark_session("local[1]", folder) as session:
            found["Spark"] = counts_of_spark(session, outputs)
    else:
        print("SKIPPED: Spark is not installed")
    for reader, their in found.items():
        equal = "as in" if their == expected else "UNLIKE"
        sizes = f"{their.records} records, {len(their.hosts)} hosts, {len(their.years)} years"
        print(f"{reader} reads {sizes} in the Parquet files, {equal} the JSON lines", flush=True)
    return sum(their != expected for their in found.values())


def counts_of_lines(lines: str) -> Counts:
    hosts, years = Counter[str](), Counter[str]()
    records = 0
    with open(lines, "rb") as file:
        for line in file:
            record = json.loads(line)
            records += 1
            if record["host"] is not None:
                hosts[record["host"]] += 1
            years[year(record["message"]["date"] and record["message"]["date"].split("-")[0])] += 1
    return Counts(records, dict(hosts), dict(years))


def year(value: object) -> str:
    """A year as text. Readers turn folder names into numbers if all of them are numeric."""
    return "undated" if value in (None, "undated") else str(int(str(value)))


def counted(records: int, hosts: list[tuple[str, int]], years: list[tuple[object, int]]) -> Counts:
    return Counts(
        records,
        {host: number for host, number in hosts if host is not None},
        {year(value): number for value, number in years},
    )


def counts_of_pyarrow(outputs: Outputs) -> Counts:
    import pyarrow.dataset

    whole = pyarrow.dataset.dataset(outputs.parquet).to_table(columns=["id", "host"])
    by_year = pyarrow.dataset.dataset(outputs.years, partitioning="hive").to_table(columns=["year"])
    hosts = whole.group_by("host").aggregate([([], "count_all")]).to_pydict()
    years = by_year.group_by("year").aggregate([([], "count_all")]).to_pydict()
    return counted(
        whole.num_rows, [*zip(hosts["host"], hosts["count_all"])],
        [*zip(years["year"], years["count_all"])]
    )


def counts_of_polars(outputs: Outputs) -> Counts:
    import polars

    whole = polars.scan_parquet(outputs.parquet).select("id", "host").collect()
    by_year = polars.scan_parquet(outputs.years, hive_partitioning=True,
                                  try_parse_hive_dates=False).select("year").collect()
    return counted(whole.height, whole.group_by("host").len().rows(),
                   by_year.group_by("year").len().rows())


def counts_of_duckdb(outputs: Outputs) -> Counts:
    import duckdb

    by_year = f"read_parquet('{outputs.years}/*/*.parquet', hive_partitioning = true)"
    [[records]] = duckdb.sql(f"select count(id) from '{outputs.parquet}'").fetchall()
    return counted(
        records,
        duckdb.sql(f"select host, count(*) from '{outputs.parquet}' group by all").fetchall(),
        duckdb.sql(f"select year, count(*) from {by_year} group by all").fetchall(),
    )


def counts_of_spark(session: Any, outputs: Outputs) -> Counts:
    whole = session.read.parquet(outputs.parquet)
    by_year = session.read.parquet(outputs.years)
    return counted(
        whole.where("id is not null").count(),
        [tuple(row) for row in whole.groupBy("host").count().collect()],
        [tuple(row) for row in by_year.groupBy("year").count().collect()],
    )


def memory(options: argparse.Namespace, folder: pathlib.Path) -> int:
    """Prints the memory of scans of two sizes. Returns the number of scans that use too much."""
    resident: dict[str, list[int]] = {}
    folder = folder / "memory"
    folder.mkdir()
    outputs, threads = Outputs(folder), options.threads
    large = folder / "large.mbox"
    for megabytes in (options.large_mb // 4, options.large_mb):
        write_large_mbox(mboxes(options.paths), large, megabytes * 1_000_000)
        to_parquet = [options.binary, "scan", "-q", f"-j{options.threads}", str(large),
                      "--format", "parquet"]
        figures = {
            "scan to Parquet": Figure([*to_parquet, "-o", outputs.parquet], threads),
            "scan to Parquet by year": Figure(
                [*to_parquet, "--partition", "year", "-o", outputs.years], threads, outputs.years),
            "scan_stream into Arrow batches": python(STREAM, outputs, threads, [str(large)]),
        }
        for name, figure in figures.items():
            figure.run()
            print(f"{name}: {figure.seconds:.1f} s, {figure.resident_mib} MiB at most", flush=True)
            resident.setdefault(name, []).append(figure.resident_mib)
    shutil.rmtree(folder)
    [_, by_year] = resident.pop("scan to Parquet by year")
    return (448 < by_year) + sum(small + 48 < big for small, big in resident.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--large-mb", type=int, default=0)
    options = parser.parse_args()
    for module in ("duckdb", "polars", "pyarrow", "urlspool"):
        if importlib.util.find_spec(module) is None:
            print(f"SKIPPED: {module} is not installed")
            return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        outputs = Outputs(folder)
        failed = rates(options, outputs)
        # Before the counts, because a child starts with at least the memory of its parent.
        if options.large_mb:
            failed += memory(options, folder)
        failed += counts(outputs, folder)
    print(f"{0 if failed else 1} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
