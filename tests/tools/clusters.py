#!/usr/bin/env python3
"""Checks that local Spark and Dask clusters produce exactly the records of one scan.

usage: clusters.py [--large-mb N] [--kill also|only] [--only NAME] [--s3 also|only] PATH...

    local-cluster   Spark in two separate executors, local-cluster[2,1,1024]
    standalone      a Spark master and two workers, as local processes
    dask            a Dask scheduler and two worker processes

--large-mb adds an mbox of N MB, made by repeating the mboxes of PATH. With --kill also, each engine
runs a second time, and a worker is killed during the job; with --kill only, there is no first run.
With --s3 also, all files below PATH are also read from a local in-memory S3 server by local-cluster
and dask; with --s3 only, from nowhere else. Compares identifiers, paths and offsets of all records,
including how often each occurs. Missing engines are skipped.
"""

import argparse, importlib.util, multiprocessing, os, pathlib, shutil, sys, tempfile, time, warnings

from cluster_engines import ENGINES, FIELDS, missing_for
from cluster_inputs import BUCKET, Input, mboxes, s3_server, write_large_mbox
from world import SKIPPED, finish, results, skip

READ = ("select id, {path} as path, source.start as start, "
        "message.start as message from read_parquet('{files}')")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--large-mb", type=int, default=0)
    parser.add_argument("--s3", choices=["no", "also", "only"], default="no")
    parser.add_argument("--kill", choices=["no", "also", "only"], default="no")
    parser.add_argument("--only", choices=list(ENGINES))
    options = parser.parse_args()
    for module in ("duckdb", "pyarrow", "urlspool"):
        if importlib.util.find_spec(module) is None:
            print(f"SKIPPED: {module} is not installed")
            sys.exit(SKIPPED)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        if options.s3 != "only":
            run_local(options, pathlib.Path(name))
        if options.s3 != "no":
            run_s3(options, pathlib.Path(name))
    finish()


def run_local(options: argparse.Namespace, folder: pathlib.Path) -> None:
    roots = [os.path.abspath(path) for path in options.paths]
    if options.large_mb:
        large = folder / "large.mbox"
        write_large_mbox(mboxes(roots), large, options.large_mb * 1_000_000)
        roots.append(str(large))
    given = Input(roots, folder / "expected.parquet")
    scan_once(roots, given.records)
    for name in ENGINES if options.only is None else [options.only]:
        for kill in {"no": [False], "also": [False, True], "only": [True]}[options.kill]:
            attempt(name, given, folder, kill)


def run_s3(options: argparse.Namespace, folder: pathlib.Path) -> None:
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("s3fs") is None:
        return skip("S3", "moto or s3fs is not installed")
    # Without the large mbox, because the server copies the whole object for each range.
    roots = [os.path.abspath(path) for path in options.paths]
    records = folder / "expected-s3.parquet"
    scan_once(roots, records)
    with s3_server(roots) as storage_options:
        given = Input([BUCKET + root for root in roots], records, storage_options)
        for name in ["local-cluster", "dask"] if options.only is None else [options.only]:
            attempt(name, given, folder, False)


def attempt(name: str, given: Input, folder: pathlib.Path, kill: bool) -> None:
    title = name + (" from S3" if given.storage_options
                    else "") + (" with a worker killed" if kill else "")
    missing = missing_for(name)
    if missing:
        return skip(title, missing)
    output = folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    # In a separate process: one Python has one Java machine, which must not outlive a failure.
    engine = multiprocessing.get_context("spawn").Process(
        target=run_engine, args=(name, given, output, folder, kill, title))
    engine.start()
    engine.join()
    results["failed" if engine.exitcode else "passed"] += 1


def run_engine(name: str, given: Input, output: pathlib.Path,
               folder: pathlib.Path, kill: bool, title: str) -> None:
    warnings.simplefilter("ignore")
    try:
        how = ENGINES[name](given, output, folder, kill)
        print(f"{title}: {compare(given, output)}; {how}", flush=True)
    except Exception as error:  # An engine has errors of many types.
        print(f"FAILED: {title}: {type(error).__name__}: {error}", flush=True)
        sys.exit(1)


def scan_once(roots: list[str], records: pathlib.Path) -> None:
    """Writes the records of one scan, read in batches."""
    import pyarrow as pa
    import pyarrow.parquet
    import urlspool

    begun = time.monotonic()
    reader = pa.RecordBatchReader.from_stream(urlspool.scan(roots, fields=FIELDS))
    with pyarrow.parquet.ParquetWriter(records, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    print(f"one scan: {time.monotonic() - begun:.0f} s", flush=True)


def compare(given: Input, output: pathlib.Path) -> str | None:
    """Raises if one side has other records. Returns the number of equal records in words."""
    import duckdb

    store = "" if given.storage_options is None else BUCKET
    expected = READ.format(path=f"'{store}' || source.path", files=given.records)
    found = READ.format(path="source.path", files=output / "*.parquet")
    database = duckdb.connect()
    database.execute("set threads = 1; set memory_limit = '3GB'")
    one_side = "select count(*) from ({0} except all {1})"
    [missing] = database.execute(one_side.format(expected, found)).fetchone()
    [added] = database.execute(one_side.format(found, expected)).fetchone()
    [records] = database.execute(f"select count(*) from ({expected})").fetchone()
    if missing or added or not records:
        raise AssertionError(f"of {records} records {missing} are missing, "
                             f"and {added} are not of the scan")
    return f"{records} records equal one scan"


if __name__ == "__main__":
    main()
