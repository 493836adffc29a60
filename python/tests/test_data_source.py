"""The data source of Spark: `spark.read.format("urlspool")`."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import urlspool
from conftest import mailbox, program

datasource = pytest.importorskip("pyspark.sql.datasource", reason="Spark 4 is not installed")

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus" / "mail"


def expected(folder: Path, **options: Any) -> list[str]:
    with pytest.warns(urlspool.ScanWarning):
        return sorted(record["id"] for record in urlspool.scan(folder, **options))


def ids(frame: Any) -> list[str]:
    return sorted(row.id for row in frame.select("id").collect())


def test_a_scan_is_a_format(spark: Any, mail: Path) -> None:
    import urlspool.spark

    frame = spark.read.format("urlspool").option("split_size", 100_000).load(str(mail))
    records = urlspool.spark.scan(spark, mail, split_size=100_000).records
    assert frame.schema == records.schema
    assert frame.rdd.getNumPartitions() > 5
    assert ids(frame) == expected(mail)
    same = ["id", "url", "key", "message.date", "repairs", "source", "author"]
    assert frame.select(*same).exceptAll(records.select(*same)).count() == 0
    few = spark.read.format("urlspool").options(fields="id,message.date",
                                                schemes="ftp", no_html="true")
    few = few.load([str(mail / "a.mbox"), str(mail / "b.gz")])
    assert few.columns == ["id", "message"] and few.schema["message"].dataType.names == ["date"]
    assert few.count() == 3100
    # The columns of a schema are the fields that are read.
    named = spark.read.format("urlspool").schema("url string, id string").load(str(mail / "b.gz"))
    assert {row.url[:17] for row in named.collect()} == {"http://a.example/", "ftp://b.example/%"}


def test_options_are_checked_on_the_driver(tmp_path: Path) -> None:
    from urlspool._data_source import UrlspoolDataSource

    for options, error in [
        ({"rules": "strict"}, "invalid value 'strict' for 'rules'"),
        ({"rulez": "wide"}, "unknown option 'rulez'"),
        ({"slim": "yes"}, "slim must be true or false, not 'yes'"),
        ({"unique": "run"}, "holds within a split only"),
    ]:
        with pytest.raises((TypeError, ValueError), match=error):
            source = UrlspoolDataSource({"path": str(tmp_path), **options})
            source.reader(source.schema())
    with pytest.raises(ValueError, match="name files or folders"):
        UrlspoolDataSource({}).schema()


FILTERS = [
    "scheme = 'ftp'",
    "scheme in ('gopher', 'news', 'no scheme')",
    "host = 'b.example' and message.date >= timestamp'1996-01-01 00:00:00'",
    "message.date < timestamp'1995-01-01 00:00:01' and message.year > 1990",
    "message.date = timestamp'1994-01-01 00:00:00' or host is null",
    "message.year = 1995 and scheme <> 'http' and host = 'B.EXAMPLE'",
]


@pytest.mark.parametrize("condition", FILTERS)
def test_pushed_filters_change_no_record(spark: Any, mail: Path, condition: str) -> None:
    reader = spark.read.format("urlspool").option("fields",
                                                  "id,url,scheme,host,message.date,message.year")
    frame = reader.load([str(mail / "a.mbox"), str(CORPUS)]).where(condition)
    found = ids(frame)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert ids(frame) == found
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_filters_become_options_of_the_scan(mail: Path) -> None:
    from urlspool._data_source import _FilteredScan, _Request
    from urlspool._splits import columns_of

    types = pytest.importorskip("pyspark.sql.pandas.types")
    noon = datetime(1996, 1, 1, 12, tzinfo=timezone.utc)
    filters = [
        datasource.In(("scheme",), ("ftp", "http")),
        datasource.EqualTo(("host",), "b.example"),
        datasource.GreaterThan(("message", "date"), noon),
        datasource.LessThanOrEqual(("message", "year"), 1997),
        datasource.EqualTo(("scheme",), "ftp"),
        datasource.EqualTo(("host",), "no host"),
        datasource.IsNotNull(("host",)),
        datasource.Not(datasource.EqualTo(("host",), "c.example")),
    ]
    request = _Request({"path": str(mail / "a.mbox"), "fields": "url,message.year"})
    scan = _FilteredScan(request, types.from_arrow_schema(columns_of(request.options)))
    assert list(scan.pushFilters(filters)) == filters
    assert request.options == {
        "threads": 1,
        "fields": "url,message.year",
        "schemes": ["ftp", "http"],
        "host": ["b.example"],
        "since": "1996-01-01",
        "until": "1997",
    }
    found = [row for part in scan.partitions() for batch in scan.read(part)
             for row in batch.to_pylist()]
    assert {row["url"][:16] for row in found} == {"ftp://b.example/"}
    assert {row["message"]["year"] for row in found} == {1996, 1997} and len(found) == 666


def test_a_stream_reads_each_segment_once(spark: Any, tmp_path: Path) -> None:
    spool, out = tmp_path / "spool", tmp_path / "out"
    spool.mkdir()
    (spool / "a.mbox").write_bytes(mailbox(300))

    def watch() -> None:
        done = program("watch", "--once", "--from-start", "-o", out, spool)
        assert done.returncode == 0, done.stderr

    def stream() -> int:
        frame = spark.readStream.format("urlspool").load(str(out))
        writer = frame.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = writer.trigger(availableNow=True).start(str(tmp_path / "urls"), format="parquet")
        assert query.awaitTermination(120)
        return int(spark.read.parquet(str(tmp_path / "urls")).count())

    watch()
    assert stream() == 600 and stream() == 600
    (spool / "b.mbox").write_bytes(mailbox(900, body_lines=1)[-90_000:])
    watch()
    segment = max(out.glob("[0-9]*.jsonl"))
    new = segment.read_bytes().splitlines(keepends=True)
    # A compressed segment may consist of several frames.
    pa = pytest.importorskip("pyarrow")
    frames = [pa.compress(b"".join(part), "zstd", asbytes=True) for part in (new[:100], new[100:])]
    segment.with_suffix(".jsonl.zst").write_bytes(b"".join(frames))
    segment.unlink()
    gone = '{"type":"gone","mailbox":"a","mailbox_b64":null,"digests":["0"]}\n'
    (out / "0000000003.jsonl").write_text(gone)
    assert stream() == 600 + len(new) and len(new) > 500
    read = spark.read.parquet(str(tmp_path / "urls"))
    scanned = spark.read.format("urlspool").load(str(spool))
    assert read.schema == scanned.schema
    same = ["id", "url", "message", "parts", "author"]
    assert read.select(*same).exceptAll(scanned.select(*same)).count() == 0


def write_with_an_executor_killed(roots: list[str], output: str, folder: str) -> None:
    """Writes the records of a scan by two executors, one of which is killed after two tasks."""
    sys.path.insert(0, str(ROOT / "tests" / "tools"))
    from cluster_engines import command_of, descendants, spark_session, watched

    def executors() -> list[int]:
        found = descendants(os.getpid())
        return [process for process in found
                if "CoarseGrainedExecutorBackend" in command_of(process)]

    with spark_session("local-cluster[2,1,1024]", Path(folder)) as session:
        status = session.sparkContext.statusTracker()

        def finished_tasks() -> int:
            stages = [status.getStageInfo(stage) for stage in status.getActiveStageIds()]
            return max((stage.numCompletedTasks for stage in stages if stage), default=0)

        reader = session.read.format("urlspool").options(fields="id,source.path,source.start",
                                                         partitions="20")
        frame = reader.option("split_size", 20_000).load(roots)
        print(watched(lambda: frame.write.parquet(output), finished_tasks, executors))


def test_a_killed_executor_changes_no_record(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    pytest.importorskip("pandas", reason="pandas is not installed")
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "a.mbox").write_bytes(mailbox(3000))
    roots = [str(tmp_path / "mail"), str(CORPUS)]
    # One Python has one Java machine, and the other tests use theirs.
    worker = multiprocessing.get_context("spawn").Process(
        target=write_with_an_executor_killed, args=(roots, str(tmp_path / "out"), str(tmp_path))
    )
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    rows = pa.read_table(tmp_path / "out").to_pylist()
    found = Counter((row["id"], row["source"]["path"], row["source"]["start"]) for row in rows)
    records = urlspool.scan(roots, fields=["id", "source.path", "source.start"])
    assert found == Counter(
        (record["id"], record["source"]["path"], record["source"]["start"]) for record in records
    )
