"""Spark and Dask against one scan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import urlspool
from conftest import mailbox


def expected(folder: Path) -> list[str]:
    with pytest.warns(urlspool.ScanWarning):
        return sorted(record["id"] for record in urlspool.scan(folder))


def test_spark_gives_the_records_of_one_scan(spark: Any, mail: Path, tmp_path: Path) -> None:
    import urlspool.spark

    scan = urlspool.spark.scan(spark, mail, split_size=100_000).cache()
    rows = scan.records.select("id").collect()
    assert sorted(row.id for row in rows) == expected(mail)
    [event] = scan.events.collect()
    assert event.kind == "damage" and event.source.path.endswith("c.gz")
    scan.records.write.parquet(str(tmp_path / "out"))
    read = spark.read.parquet(str(tmp_path / "out"))
    assert read.count() == len(rows)
    assert read.schema == scan.records.schema
    links = {row.key: row for row in urlspool.spark.links(read).collect()}
    first = links["http://a.example/0"]
    # Copies of a message have one digest.
    assert (first.records, first.messages) == (3, 1)
    assert first.first.year == 1990 and first.host == "a.example"
    scan.unpersist()


def test_spark_writes_the_records_of_one_scan(spark: Any, mail: Path, tmp_path: Path) -> None:
    import urlspool.spark

    scan = urlspool.spark.scan(spark, mail, split_size=100_000)
    written = scan.write_parquet(tmp_path / "out")
    read = spark.read.parquet(str(tmp_path / "out"))
    assert sorted(row.id for row in read.select("id").collect()) == expected(mail)
    assert read.schema == scan.records.schema
    assert (written.records, written.events) == (read.count(), 1)
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names[:2] == ["_SUCCESS", "_events"] and len(names) == 2 + written.files
    assert all(name.startswith("part-") and name.endswith(".parquet") for name in names[2:])
    [event] = spark.read.json(str(tmp_path / "out" / "_events")).collect()
    assert event.kind == "damage" and event.source.path.endswith("c.gz")
    # A folder that is not empty is left untouched.
    with pytest.raises(FileExistsError, match="out is not empty"):
        scan.write_parquet(tmp_path / "out")
    with pytest.raises(ValueError, match="nope"):
        scan.write_parquet(tmp_path / "new", compression="nope")
    assert not (tmp_path / "new").exists()
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    assert urlspool.spark.scan(spark, nothing).write_parquet(tmp_path / "none").files == 0


def test_a_part_that_is_written_again_replaces_itself(mail: Path, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    from urlspool._parts import begin_parts, write_part
    from urlspool._splits import plan

    splits, columns = plan(mail, 100_000), pa.schema(urlspool.schema())
    begin_parts(str(tmp_path / "out"), {}, "zstd")
    first = write_part(str(tmp_path / "out"), {}, splits, {}, {}, columns, "zstd")
    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert len(files) == 2 and first["records"] == len(expected(mail))
    assert write_part(str(tmp_path / "out"), {}, splits, {}, {}, columns, "zstd") == first
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*")
            if path.is_file()} == files
    # A failed call leaves no file behind.
    with pytest.raises(ValueError):
        write_part(str(tmp_path / "out"), {}, splits[:1], {}, {"rules": "nope"}, columns, "zstd")
    assert {path for path in (tmp_path / "out").rglob("*") if path.is_file()} == set(files)


def test_spark_takes_options_and_balances_tasks(spark: Any, mail: Path, tmp_path: Path) -> None:
    import urlspool.spark

    options = {"schemes": ["ftp"], "fields": ["url", "message.date"]}
    records = urlspool.spark.scan(spark, [mail], options, split_size=100_000, partitions=2).records
    assert records.columns == ["url", "message"]
    assert {row.url[:4] for row in records.collect()} == {"ftp:"}
    assert urlspool.spark.scan(spark, tmp_path).records.count() == 0
    with pytest.raises(ValueError, match="strict"):
        urlspool.spark.scan(spark, mail, {"rules": "strict"})


def test_dask_gives_the_records_of_one_scan(mail: Path, tmp_path: Path) -> None:
    pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    import dask
    import urlspool.dask

    with dask.config.set(scheduler="threads"), pytest.warns(urlspool.ScanWarning):
        frame = urlspool.dask.scan(mail, split_size=100_000)
        assert frame.npartitions > 5
        assert sorted(frame["id"].compute()) == expected(mail)
    assert len(urlspool.dask.scan(tmp_path).compute()) == 0


def test_dask_reads_evidence_once_and_not_while_it_plans(tmp_path: Path) -> None:
    pytest.importorskip("dask.dataframe", reason="Dask is not installed")
    import dask
    import urlspool.dask
    from urlspool._splits import _evidence

    (tmp_path / "mail").mkdir()
    for number in range(20):
        (tmp_path / "mail" / f"{number}").write_text("Subject: x\n\nhttp://a.example/lamp\n"
                                                     "wick burns and the oil\n")
    (tmp_path / "list").write_text("http://a.example/lampwick\n")
    _evidence.cache_clear()
    with dask.config.set(scheduler="threads"):
        frame = urlspool.dask.scan(tmp_path / "mail", {"evidence": tmp_path / "list"},
                                   partitions=10)
        assert _evidence.cache_info().misses == 0
        assert set(frame["url"].compute()) == {"http://a.example/lampwick"}
    assert _evidence.cache_info().misses == 1


def test_objects_of_s3_are_read_in_ranges(mail: Path) -> None:
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    import boto3
    import fsspec
    from urlspool._splits import plan, scan_splits

    thread = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    thread.start()
    try:
        host, port = thread.get_host_and_port()
        options = {
            "key": "a",
            "secret": "b",
            "client_kwargs": {"endpoint_url": f"http://{host}:{port}", "region_name": "us-east-1"},
        }
        store = fsspec.filesystem("s3", **options)
        boto3.client(
            "s3",
            endpoint_url=f"http://{host}:{port}",
            aws_access_key_id="a",
            aws_secret_access_key="b",
            region_name="us-east-1",
        ).create_bucket(Bucket="mail")
        for path in mail.iterdir():
            store.pipe(f"mail/{path.name}", path.read_bytes())
        splits = plan("s3://mail", 100_000, options)
        assert len(splits) > 5
        with pytest.warns(urlspool.ScanWarning):
            found = [record["id"] for records in scan_splits(splits, options, {})
                     for record in records]
        assert sorted(found) == expected(mail)
    finally:
        thread.stop()
