#!/usr/bin/env python3
"""Spark and Dask clusters on this machine give exactly the records of one scan.

usage: clusters.py [--large-mb N] [--kill also|only] [--only NAME] [--s3-mb N] PATH...

The files beneath each PATH are scanned once by `urlspool.scan`, and then in splits by `urlspool.spark` and `urlspool.dask`:

    local-cluster   Spark in two executors of their own, local-cluster[2,1,1024]
    standalone      a Spark master and two workers, which are processes of this machine
    dask            a Dask scheduler and two worker processes

With --large-mb an mbox of N MB is made by repeating the mboxes of PATH, and read as well; it is removed at the end. With --kill also
each engine runs a second time, and a worker is killed in the middle of the job; with --kill only there is no first time. With --s3-mb the mboxes of PATH, up to N MB, are put into a
local S3 server and read from there. Identifiers, paths and offsets of all records are compared, as many times as they occur.

Needs the package urlspool in this Python, and `pip install duckdb pyarrow`; for Spark `pyspark` and Java 17; for Dask
`dask[dataframe,distributed]`; for S3 `s3fs` and `moto[server,s3]`. What is not there is skipped; the exit code is 77 if nothing was
tried.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import multiprocessing
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from typing import Any

FIELDS = ["id", "source.path", "source.start", "message.start"]
SPLIT_BYTES = 32 << 20
READ = "select id, {path} as path, source.start as start, message.start as message from read_parquet('{files}')"


class Input:
    """Roots, the records of one scan of them, and the options to read them."""

    def __init__(self, roots: list[str], records: pathlib.Path, storage_options: dict[str, Any] | None = None) -> None:
        self.roots = roots
        self.records = records
        self.storage_options = storage_options


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
    """Counts the records that only one side has. Returns the number of equal ones in words; raises if any differ."""
    import duckdb

    # The same file has another path in a store.
    path = "source.path" if given.storage_options is None else "parse_filename(source.path)"
    expected = READ.format(path=path, files=given.records)
    found = READ.format(path=path, files=output / "*.parquet")
    database = duckdb.connect()
    database.execute("set threads = 1; set memory_limit = '3GB'")
    one_side = "select count(*) from ({0} except all {1})"
    [missing] = database.execute(one_side.format(expected, found)).fetchone()
    [added] = database.execute(one_side.format(found, expected)).fetchone()
    [records] = database.execute(f"select count(*) from ({expected})").fetchone()
    if missing or added or not records:
        raise AssertionError(f"of {records} records {missing} are missing, and {added} are not of the scan")
    return f"{records} records are those of one scan"


def descendants(process: int) -> Iterator[int]:
    """The processes that a process started, and those that these started."""
    with contextlib.suppress(OSError):
        for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from descendants(child)


def command_of(process: int) -> str:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    return ""


class Killer(threading.Thread):
    """Kills one process as soon as tasks are done and others are not."""

    def __init__(self, finished_tasks: Callable[[], int], victims: Callable[[], list[int]]) -> None:
        super().__init__(daemon=True)
        self.finished_tasks = finished_tasks
        self.victims = victims
        self.job_ended = threading.Event()
        self.killed: str | None = None

    def run(self) -> None:
        while not self.job_ended.wait(0.05):
            finished = self.finished_tasks()
            victims = self.victims() if 2 <= finished else []
            if victims:
                os.kill(victims[0], signal.SIGKILL)
                self.killed = f"process {victims[0]} killed after {finished} tasks"
                return


@contextlib.contextmanager
def spark_session(master: str, folder: pathlib.Path) -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, SPARK_HOME=str(spark_home()))
    builder = SparkSession.builder.master(master).appName("urlspool")
    for key, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.local.dir": str(folder / "spark"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.log.level": "OFF",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    try:
        yield session
    finally:
        session.stop()


def spark_home() -> pathlib.Path:
    [folder] = importlib.util.find_spec("pyspark").submodule_search_locations  # type: ignore[union-attr, misc]
    return pathlib.Path(folder)


def run_spark(session: Any, given: Input, output: pathlib.Path, victims: Callable[[], list[int]] | None) -> str:
    import urlspool.spark

    status = session.sparkContext.statusTracker()

    def finished_tasks() -> int:
        stages = [status.getStageInfo(stage) for stage in status.getActiveStageIds()]
        # The plan of the tasks is a stage of few tasks.
        return max((stage.numCompletedTasks for stage in stages if stage and 4 <= stage.numTasks), default=0)

    scan = urlspool.spark.scan(
        session, given.roots, {"fields": FIELDS}, split_size=SPLIT_BYTES, storage_options=given.storage_options
    )
    return watched(lambda: scan.records.write.parquet(str(output)), finished_tasks, victims)


def watched(job: Callable[[], object], finished_tasks: Callable[[], int], victims: Callable[[], list[int]] | None) -> str:
    """Runs a job; with `victims` kills one of them in the middle. Returns how it went."""
    killer = Killer(finished_tasks, victims) if victims else None
    if killer:
        killer.start()
    begun = time.monotonic()
    job()
    seconds = time.monotonic() - begun
    if not killer:
        return f"{seconds:.0f} s"
    killer.job_ended.set()
    killer.join()
    if killer.killed is None:
        raise AssertionError("the job ended before a worker could be killed; use more data")
    return f"{seconds:.0f} s, {killer.killed}"


def local_cluster(given: Input, output: pathlib.Path, folder: pathlib.Path, kill: bool) -> str:
    def executors() -> list[int]:
        found = descendants(os.getpid())
        return [process for process in found if "CoarseGrainedExecutorBackend" in command_of(process)]

    with spark_session("local-cluster[2,1,1024]", folder) as session:
        return run_spark(session, given, output, executors if kill else None)


def standalone(given: Input, output: pathlib.Path, folder: pathlib.Path, kill: bool) -> str:
    port = free_port()
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(spark_home())}

    def start(role: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [spark_home() / "bin" / "spark-class", f"org.apache.spark.deploy.{role}", "--host", "127.0.0.1", *arguments]
        with open(folder / "spark.log", "ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    address = f"spark://127.0.0.1:{port}"
    started = [start("master.Master", "--port", str(port), "--webui-port", "0")]
    try:
        wait_for(port)
        for number in range(2):
            place = str(folder / f"worker{number}")
            started.append(start("worker.Worker", "-c", "1", "-m", "1g", "-d", place, "--webui-port", "0", address))

        def worker_and_executor() -> list[int]:
            worker = started[1].pid
            tree = [worker, *descendants(worker)]
            busy = [process for process in tree if "CoarseGrainedExecutorBackend" in command_of(process)]
            # The worker goes with its executor, and none takes its place.
            if busy:
                os.kill(worker, signal.SIGKILL)
            return busy

        with spark_session(address, folder) as session:
            return run_spark(session, given, output, worker_and_executor if kill else None)
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def dask_cluster(given: Input, output: pathlib.Path, folder: pathlib.Path, kill: bool) -> str:
    import dask
    import dask.dataframe
    import urlspool.dask
    from distributed import Client, LocalCluster

    dask.config.set({"temporary-directory": str(folder / "dask"), "dataframe.convert-string": False})
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit="2GB", dashboard_address=None, host="127.0.0.1"
    )
    with cluster, Client(cluster):
        frame = urlspool.dask.scan(
            given.roots, {"fields": FIELDS}, split_size=SPLIT_BYTES, storage_options=given.storage_options
        )

        def finished_tasks() -> int:
            return len(list(output.glob("*.parquet")))

        def busy_workers() -> list[int]:
            return [worker.pid for worker in cluster.workers.values() if worker.pid][:1]

        return watched(lambda: frame.to_parquet(str(output)), finished_tasks, busy_workers if kill else None)


ENGINES: dict[str, Callable[[Input, pathlib.Path, pathlib.Path, bool], str]] = {
    "local-cluster": local_cluster,
    "standalone": standalone,
    "dask": dask_cluster,
}


@contextlib.contextmanager
def s3_server(files: list[pathlib.Path], max_bytes: int) -> Iterator[tuple[list[pathlib.Path], dict[str, Any]]]:
    """A local S3 server with the first files, up to so many bytes."""
    import s3fs

    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        endpoint = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
        options = {"key": "a", "secret": "b", "client_kwargs": endpoint}
        store = s3fs.S3FileSystem(**options)
        urllib.request.urlopen(urllib.request.Request(f"{endpoint['endpoint_url']}/mail", method="PUT")).close()
        stored: dict[str, pathlib.Path] = {}
        for path in files:
            # An object is compared by the name of its file.
            if path.stat().st_size <= max_bytes and path.name not in stored:
                max_bytes -= path.stat().st_size
                store.put_file(str(path), f"mail/{path.name}")
                stored[path.name] = path
        yield list(stored.values()), options
    finally:
        server.kill()
        server.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens at port {port}")


def mboxes(paths: list[str]) -> list[pathlib.Path]:
    """The files beneath the paths that can be divided, the smallest first."""
    from urlspool._urlspool import is_splittable

    found = []
    for path in map(pathlib.Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file():
                with open(file, "rb") as opened:
                    if is_splittable(opened.read(64 << 10)):
                        found.append(file)
    return sorted(found, key=lambda file: (file.stat().st_size, str(file)))


def write_large_mbox(files: list[pathlib.Path], path: pathlib.Path, size: int) -> None:
    """Repeats mboxes until the file has `size` bytes."""
    written = 0
    with open(path, "wb") as out:
        while written < size:
            for file in files:
                with open(file, "rb") as source:
                    shutil.copyfileobj(source, out, 1 << 20)
                written = out.tell()
                if size <= written:
                    break
    print(f"large mbox: {written / 1e6:.0f} MB", flush=True)


def missing_for(name: str) -> str | None:
    """The reason for which an engine cannot be tried."""
    modules = {"dask": ["dask.dataframe", "distributed", "pandas"]}.get(name, ["pyspark", "pandas"])
    for module in modules:
        if importlib.util.find_spec(module.split(".")[0]) is None:
            return f"{module} is not installed"
    return None if name == "dask" or shutil.which("java") else "java is not installed"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PATH")
    parser.add_argument("--large-mb", type=int, default=0)
    parser.add_argument("--s3-mb", type=int, default=0)
    parser.add_argument("--kill", choices=["no", "also", "only"], default="no")
    parser.add_argument("--only", choices=list(ENGINES))
    options = parser.parse_args()
    for module in ("duckdb", "pyarrow", "urlspool"):
        if importlib.util.find_spec(module) is None:
            print(f"SKIPPED: {module} is not installed")
            return 77
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        counts = run_all(options, pathlib.Path(name))
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return 1 if counts["failed"] else 0 if counts["passed"] else 77


def run_all(options: argparse.Namespace, folder: pathlib.Path) -> dict[str, int]:
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    files = mboxes(options.paths)
    roots = [os.path.abspath(path) for path in options.paths]
    if options.large_mb:
        large = folder / "large.mbox"
        write_large_mbox(files, large, options.large_mb * 1_000_000)
        roots.append(str(large))
    given = Input(roots, folder / "expected.parquet")
    scan_once(roots, given.records)
    for name in ENGINES if options.only is None else [options.only]:
        for kill in {"no": [False], "also": [False, True], "only": [True]}[options.kill]:
            attempt(name, given, folder, kill, counts)
    if options.s3_mb:
        if importlib.util.find_spec("moto") is None or importlib.util.find_spec("s3fs") is None:
            print("SKIPPED: S3: moto or s3fs is not installed")
            counts["skipped"] += 1
            return counts
        with s3_server(files, options.s3_mb * 1_000_000) as (stored, storage_options):
            records = folder / "expected-s3.parquet"
            scan_once([str(file) for file in stored], records)
            given = Input(["s3://mail"], records, storage_options)
            for name in ["local-cluster", "dask"] if options.only is None else [options.only]:
                attempt(name, given, folder, False, counts)
    return counts


def attempt(name: str, given: Input, folder: pathlib.Path, kill: bool, counts: dict[str, int]) -> None:
    title = name + (" from S3" if given.storage_options else "") + (" with a worker killed" if kill else "")
    missing = missing_for(name)
    if missing:
        print(f"SKIPPED: {title}: {missing}", flush=True)
        counts["skipped"] += 1
        return
    output = folder / "output"
    shutil.rmtree(output, ignore_errors=True)
    # In a process of its own: one Python has one Java machine, which may not outlive a failure.
    engine = multiprocessing.get_context("spawn").Process(target=run_engine, args=(name, given, output, folder, kill, title))
    engine.start()
    engine.join()
    counts["failed" if engine.exitcode else "passed"] += 1


def run_engine(name: str, given: Input, output: pathlib.Path, folder: pathlib.Path, kill: bool, title: str) -> None:
    warnings.simplefilter("ignore")
    try:
        how = ENGINES[name](given, output, folder, kill)
        print(f"{title}: {compare(given, output)}; {how}", flush=True)
    except Exception as error:  # An engine has errors of many types.
        print(f"FAILED: {title}: {type(error).__name__}: {error}", flush=True)
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main())
