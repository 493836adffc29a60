"""Local Spark and Dask clusters that scan an input in splits, with a worker killed on request."""

import contextlib, importlib.util, os, pathlib, shutil, signal, subprocess, sys, threading, time
from collections.abc import Callable, Iterator
from typing import Any

from cluster_inputs import Input, wait_for
from world import free_port

FIELDS = ["id", "source.path", "source.start", "message.start"]
SPLIT_BYTES = 8 << 20
EXECUTOR = "CoarseGrainedExecutorBackend"


def descendants(process: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from descendants(child)


def command_of(process: int) -> str:
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{process}/cmdline").read_bytes().replace(
            b"\0", b" ").decode("utf-8", "replace")
    return ""


class Killer(threading.Thread):
    """Kills one process as soon as some tasks, but not all, are done."""

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

    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable,
                      SPARK_HOME=str(spark_home()))
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
    [folder] = importlib.util.find_spec("pyspark").submodule_search_locations
    return pathlib.Path(folder)


def run_spark(session: Any, given: Input, output: pathlib.Path,
              victims: Callable[[], list[int]] | None) -> str:
    import urlspool.spark

    status = session.sparkContext.statusTracker()

    def finished_tasks() -> int:
        stages = [status.getStageInfo(stage) for stage in status.getActiveStageIds()]
        # Planning the tasks is a stage with few tasks.
        return max((stage.numCompletedTasks for stage in stages if stage and 4 <= stage.numTasks),
                   default=0)

    scan = urlspool.spark.scan(
        session, given.roots, {"fields": FIELDS}, split_size=SPLIT_BYTES,
        storage_options=given.storage_options
    )
    return watched(lambda: scan.records.write.parquet(str(output)), finished_tasks, victims)


def watched(job: Callable[[], object], finished_tasks: Callable[[], int],
            victims: Callable[[], list[int]] | None) -> str:
    """Runs a job, and kills one of `victims` during it, if given. Describes the run."""
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
        return [process for process in found if EXECUTOR in command_of(process)]

    with spark_session("local-cluster[2,1,1024]", folder) as session:
        return run_spark(session, given, output, executors if kill else None)


def standalone(given: Input, output: pathlib.Path, folder: pathlib.Path, kill: bool) -> str:
    port = free_port()
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(spark_home())}

    def start(role: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [spark_home() / "bin" / "spark-class", f"org.apache.spark.deploy.{role}",
                   "--host", "127.0.0.1", *arguments]
        with open(folder / "spark.log", "ab") as log:
            return subprocess.Popen(command, env=environment,
                                    stdout=log, stderr=log, start_new_session=True)

    address = f"spark://127.0.0.1:{port}"
    started = [start("master.Master", "--port", str(port), "--webui-port", "0")]
    try:
        wait_for(port)
        for number in range(2):
            place = str(folder / f"worker{number}")
            started.append(start("worker.Worker", "-c", "1",
                                 "-m", "1g", "-d", place, "--webui-port", "0", address))

        def worker_and_executor() -> list[int]:
            worker = started[1].pid
            tree = [worker, *descendants(worker)]
            busy = [process for process in tree if EXECUTOR in command_of(process)]
            # The worker disappears with its executor and is not replaced.
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

    dask.config.set({"temporary-directory": str(folder / "dask"),
                     "dataframe.convert-string": False})
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit="2GB",
        dashboard_address=None, host="127.0.0.1"
    )
    with cluster, Client(cluster):
        frame = urlspool.dask.scan(
            given.roots, {"fields": FIELDS}, split_size=SPLIT_BYTES,
            storage_options=given.storage_options
        )

        def finished_tasks() -> int:
            return len(list(output.glob("*.parquet")))

        def busy_workers() -> list[int]:
            return [worker.pid for worker in cluster.workers.values() if worker.pid][:1]

        return watched(lambda: frame.to_parquet(str(output)),
                       finished_tasks, busy_workers if kill else None)


ENGINES: dict[str, Callable[[Input, pathlib.Path, pathlib.Path, bool], str]] = {
    "local-cluster": local_cluster,
    "standalone": standalone,
    "dask": dask_cluster,
}


def missing_for(name: str) -> str | None:
    modules = {"dask": ["dask.dataframe", "distributed", "pandas"]}.get(name, ["pyspark", "pandas"])
    for module in modules:
        if importlib.util.find_spec(module.split(".")[0]) is None:
            return f"{module} is not installed"
    return None if name == "dask" or shutil.which("java") else "java is not installed"
