#!/usr/bin/env python3
"""Cost of a job in Spark beside one `scan --format parquet` of the same files.

usage: spark_cost.py BINARY [--threads N] [--rounds N] [--split-mb N] PATH...

Three ways write the records of PATH... as Parquet with zstd, in turns, on N threads, `local[N]` in Spark:

    scan            `BINARY scan --format parquet -j N`
    write_parquet   `urlspool.spark.scan(...).write_parquet(folder)`
    DataFrame       `urlspool.spark.scan(...).records.write.parquet(folder)`

The first job of the session is cold: it starts Python processes and compiles code; it is printed by itself. Of the others the median
of the rounds, in seconds of the clock and of the processor, and the ratios to `scan`. All write the same number of records.
BINARY needs the feature `parquet`. Needs the package urlspool in this Python, `pip install pyspark pyarrow pandas`, and Java 17. The exit
code is 77 if they are not installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

from cluster_engines import descendants, spark_session


class Cost(NamedTuple):
    """Seconds of the clock and of the processor."""

    wall: float
    processor: float


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--split-mb", type=int, default=128)
    options = parser.parse_args()
    missing = [module for module in ("pyarrow", "pyspark", "urlspool") if importlib.util.find_spec(module) is None]
    if missing or shutil.which("java") is None:
        print(f"SKIPPED: not installed: {', '.join(missing) or 'java'}")
        return 77
    paths = [os.path.abspath(path) for path in options.paths]
    with tempfile.TemporaryDirectory() as name, spark_session(f"local[{options.threads}]", pathlib.Path(name)) as session:
        return compare(options, paths, pathlib.Path(name), session)


def compare(options: argparse.Namespace, paths: list[str], folder: pathlib.Path, session: object) -> int:
    import urlspool.spark

    lines, output = folder / "scan.parquet", folder / "output"

    def scan() -> object:
        return urlspool.spark.scan(session, paths, split_size=options.split_mb << 20)

    ways: dict[str, Callable[[], object]] = {
        "scan": lambda: run_scan(options, paths, lines),
        "write_parquet": lambda: scan().write_parquet(output),
        "DataFrame": lambda: scan().records.write.parquet(str(output)),
    }
    cold = measured(ways["write_parquet"])
    print(f"the first job of the session, write_parquet: {cold.wall:.1f} s, {cold.processor:.1f} s of the processor", flush=True)
    costs: dict[str, list[Cost]] = {way: [] for way in ways}
    counts: dict[str, int] = {}
    for number in range(options.rounds + 1):
        for way, job in ways.items():
            shutil.rmtree(output, ignore_errors=True)
            cost = measured(job)
            # The first round of each way is not warm.
            if number:
                costs[way].append(cost)
            counts[way] = rows(lines if way == "scan" else output)
    print(f"{counts['scan']} records, {options.threads} threads, {options.rounds} rounds, medians:")
    medians = {way: Cost(*(statistics.median(values) for values in zip(*found))) for way, found in costs.items()}
    for way, median in medians.items():
        wall, processor = median.wall / medians["scan"].wall, median.processor / medians["scan"].processor
        print(f"{way}: {median.wall:.2f} s ({wall:.2f}), {median.processor:.2f} s of the processor ({processor:.2f})")
    if len(set(counts.values())) != 1 or not counts["scan"]:
        print(f"FAILED: the numbers of records differ: {counts}")
        return 1
    return 0


def run_scan(options: argparse.Namespace, paths: list[str], output: pathlib.Path) -> None:
    output.unlink(missing_ok=True)
    command = [options.binary, "scan", "-q", "-j", str(options.threads), "--format", "parquet", "-o", str(output), *paths]
    # 1 says that something was damaged.
    if subprocess.run(command).returncode not in (0, 1):
        raise AssertionError(f"the scan failed: {' '.join(command)}")


def rows(place: pathlib.Path) -> int:
    """Number of the records in a Parquet file, or in those of a folder."""
    import pyarrow.parquet

    files = [place] if place.is_file() else sorted(place.glob("*.parquet"))
    return sum(pyarrow.parquet.read_metadata(file).num_rows for file in files)


def measured(job: Callable[[], object]) -> Cost:
    begun, used = time.monotonic(), processor_time()
    job()
    return Cost(time.monotonic() - begun, processor_time() - used)


def processor_time() -> float:
    """Processor time of this process, of the processes that it started, and of those that these started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = 0
    for process in descendants(os.getpid()):
        try:
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        # utime, stime, and both of children that ended (proc(5)).
        ticks += sum(map(int, fields[11:15]))
    return time.process_time() + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
